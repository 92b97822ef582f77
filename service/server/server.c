/* See server.h. */
#include "service/server/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "common/listen-fds.h"
#include "common/log.h"
#include "common/str.h"
#include "common/web/conf-dump.h"
#include "common/web/http-listen.h"
#include "common/web/http.h"
#include "common/web/rest-reply.h"
#include "common/web/series.h"
#include "common/web/web-gate.h"
#include "common/web/web-user.h"
#include "gss/daemon.h"
#include "service/server/flight.h"
#include "service/server/frameworks.h"
#include "service/server/relay.h"
#include "service/server/series.h"

struct svc_server {
    const struct svc_conf *conf;
    struct svc_flights flights;
    struct sv_web_gate gate;
    struct sv_http_gate open_gate;     /* the gate, but for masters of frameworks */
    struct svc_frameworks *frameworks; /* NULL: this is no FrameworkLauncher */
    struct sv_http *port, *relayed;
    struct svc_relay *relay;
    struct waiter *waiters;
    struct sgss_daemon *kerberos;     /* for callers' tickets; NULL: without Kerberos */
    struct sv_web_acceptor *acceptor; /* likewise */
};

/* ---- Answers of the server's own ---- */

static int say(struct sv_http_response *ret, unsigned status, const char *why)
{
    ret->status = status;
    ret->content_type = SV_JSON_TYPE;
    if (sv_asprintf(&ret->body, "{\"diagnostics\":\"%s\"}", why) < 0)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    return 0;
}

/* A page of another origin can send any other type without asking a browser's permission. */
static bool is_json(const struct sv_http_request *req)
{
    const char *type = sv_http_header(req, "Content-Type");
    size_t n = strlen("application/json");

    return type && strncasecmp(type, "application/json", n) == 0 && strchr("; ", type[n]);
}

static bool has_body(const char *method)
{
    return strcmp(method, "PUT") == 0 || strcmp(method, "POST") == 0;
}

/* ---- Requests ---- */

struct waiter { /* a request that waits for its process, or for another change of its user's */
    struct svc_server *s;
    struct svc_flight *flight; /* NULL: for the other one */
    struct sv_http_caller *caller;
    char *user;
    struct waiter *prev, *next;
};

static void waiter_free(void *data)
{
    struct waiter *w = data;

    DL_DELETE(w->s->waiters, w);
    if (w->flight)
        svc_flight_leave(w->flight);
    free(w->user);
    free(w);
}

static struct waiter *waiter_new(struct svc_server *s, const struct sv_http_request *req,
                                 const char *user)
{
    struct waiter *w = calloc(1, sizeof(*w));
    char *copy = w ? strdup(user) : NULL;

    if (!copy) {
        free(w);
        return NULL;
    }
    *w = (struct waiter){ .s = s, .caller = req->caller, .user = copy };
    DL_APPEND(s->waiters, w);
    *req->kept = (struct sv_http_kept){ w, waiter_free };
    return w;
}

static int give_answer(const struct waiter *w, struct sv_http_response *ret)
{
    struct svc_answer a;

    if (!svc_flight_take(w->flight, &a))
        return -EAGAIN;
    ret->status = a.status;
    ret->content_type = SV_JSON_TYPE;
    ret->body = a.body;
    ret->body_len = a.body_len;
    return 0;
}

static int begin(struct svc_server *s, const struct sv_http_request *req, const char *user,
                 struct sv_http_response *ret)
{
    const struct svc_request q = { .user = user,
                                   .method = req->method,
                                   .uri = req->uri,
                                   .body = req->body,
                                   .body_len = req->body_len };
    struct waiter *w = req->kept->data;
    const char *why = NULL;
    int r;

    if (w && w->flight)
        return give_answer(w, ret);

    if (!*user)
        return say(ret, 401, "who calls is not known: authentication is required");
    if (has_body(req->method) && !is_json(req))
        return say(ret, 415, "Content-Type must be application/json");
    if (!w)
        w = waiter_new(s, req, user);
    r = w ? svc_flight_new(&s->flights, &q, &w->flight, &why) : -ENOMEM;
    if (r == -EBUSY)
        return say(ret, 503, why);
    return r < 0 ? r : -EAGAIN;
}

static int answer_metrics(const struct svc_server *s, struct sv_http_response *ret)
{
    struct sv_buf text = SV_BUF_INIT(1 << 20);
    int r = svc_series(&s->flights, s->frameworks, &text);

    if (r < 0) {
        sv_buf_free(&text);
        return r;
    }
    ret->status = 200;
    ret->content_type = SV_PROMETHEUS_TYPE;
    ret->body = (char *)text.data;
    ret->body_len = text.len;
    return 0;
}

static int answer_root(struct svc_server *s, const struct sv_http_request *req,
                       struct sv_http_response *ret)
{
    if (strcmp(req->path, "/conf") == 0)
        return sv_conf_answer(s->conf->conf, req, ret);
    if ((strcmp(req->path, "/metrics") == 0 || strcmp(req->path, "/prom") == 0) &&
        (strcmp(req->method, "GET") == 0 || strcmp(req->method, "HEAD") == 0))
        return answer_metrics(s, ret);
    return say(ret, 404, "no such path: the API is below /app/v1/services");
}

static bool is_for_frameworks(const struct svc_server *s, const struct sv_http_request *req)
{
    return s->frameworks && (svc_frameworks_takes(req->uri) || svc_frameworks_is_link(req->uri));
}

static int on_port(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    struct svc_server *s = userdata;
    char user[SV_AUTH_USER_MAX];

    if (!svc_api_takes(req->uri) && is_for_frameworks(s, req)) {
        sv_web_user(&s->conf->auth, req, user);
        return svc_frameworks_answer(s->frameworks, req, user, ret);
    }
    if (!svc_api_takes(req->uri))
        return answer_root(s, req, ret);
    if (!req->kept->data && s->frameworks && svc_frameworks_stands_by(s->frameworks))
        return svc_frameworks_away(s->frameworks, req, true, ret);
    sv_web_user(&s->conf->auth, req, user);
    return begin(s, req, user, ret);
}

static int on_relayed(const struct sv_http_request *req, struct sv_http_response *ret,
                      void *userdata)
{
    struct svc_server *s = userdata;
    const char *user = sv_http_header(req, SVC_RELAY_USER);

    if (!svc_api_takes(req->uri))
        return answer_root(s, req, ret);
    if (!req->kept->data && s->frameworks && svc_frameworks_stands_by(s->frameworks))
        return svc_frameworks_away(s->frameworks, req, false, ret);
    return begin(s, req, user && sv_web_is_user_name(user) ? user : "", ret);
}

/* Not the masters of frameworks, which wait on the same port for something else. */
static void on_ended(void *userdata)
{
    struct svc_server *s = userdata;
    struct waiter *w;

    if (s->frameworks)
        svc_frameworks_woken(s->frameworks);
    DL_FOREACH (s->waiters, w)
        if (w->flight ? svc_flight_answered(w->flight) : !svc_flights_change(&s->flights, w->user))
            sv_http_wake(w->caller);
}

/* ---- Start and end ---- */

static void on_told(const char *text, void *userdata)
{
    (void)userdata;
    sv_log_warning("Kerberos: %s", text);
}

/* Masters of frameworks have no tickets, but tokens of the launcher. */
static int check_open(const struct sv_http_request *req, struct sv_http_response *ret,
                      void *userdata)
{
    struct svc_server *s = userdata;

    if (s->frameworks && svc_frameworks_is_link(req->uri))
        return 0;
    return s->gate.http.check(req, ret, s->gate.http.userdata);
}

/* Tickets of callers are judged by a selvedge-gss of the server's; requests have their own. */
static int open_gate(struct svc_server *s, sd_event *event, struct sv_error *err)
{
    const struct svc_kerberos_conf *k = &s->conf->kerberos;
    const char *const keytabs[] = { k->keytab,
                                    sv_streq(k->keytab, k->web_keytab) ? NULL : k->web_keytab,
                                    NULL };
    const struct sgss_daemon_config cfg = { .event = event,
                                            .principal = k->principal,
                                            .helper = k->helper,
                                            .keytabs = keytabs,
                                            .krb5_conf = k->krb5_conf,
                                            .told = on_told };
    int r = k->on ? sgss_daemon_new(&cfg, &s->kerberos, err) : 0;

    if (r >= 0 && k->on)
        r = sgss_client_web_acceptor(sgss_daemon_client(s->kerberos), k->web_principal,
                                     &s->acceptor);
    if (r < 0)
        return err->code
                   ? sv_error_wrap(err, "Kerberos")
                   : sv_error_errno(err, r, "principal %s of the web server", k->web_principal);
    sv_web_gate_init(&s->gate, &(struct sv_web_gate_config){ .auth = &s->conf->auth,
                                                             .login = &s->conf->login,
                                                             .acceptor = s->acceptor,
                                                             .rules = k->rules });
    s->open_gate = (struct sv_http_gate){ check_open, s, s->gate.http.head_max };
    return 0;
}

static int open_port(struct svc_server *s, sd_event *event, const struct sv_listen_fds *held,
                     struct sv_error *err)
{
    int fd = -1, r = sv_listen_fds_take(held, SVC_WEB_SOCKET, s->conf->host, s->conf->port,
                                        "yarn.service.api-server.address is", &fd, err);

    if (r >= 0 && fd < 0)
        r = fd = http_listen(s->conf->host, s->conf->port, err);
    if (r >= 0)
        r = sv_http_new_on(event, fd, &s->open_gate, on_port, s, &s->port, err);
    if (r >= 0)
        sv_http_set_body_max(s->port, "/", SVC_JSON_MAX);
    return r;
}

static int open_frameworks(struct svc_server *s, sd_event *event, struct sv_error *err)
{
    const struct svc_frameworks_config cfg = { .event = event,
                                               .conf = s->conf,
                                               .settings = &s->conf->frameworks,
                                               .flights = &s->flights,
                                               .kerberos = s->kerberos,
                                               .port = sv_http_port(s->port) };

    return s->conf->frameworks.enabled ? svc_frameworks_new(&cfg, &s->frameworks, err) : 0;
}

static int open_relay(struct svc_server *s, sd_event *event, struct sv_error *err)
{
    int r = sv_http_new_fed(event, 0, NULL, on_relayed, s, &s->relayed, err);

    if (r < 0)
        return r;
    sv_http_set_body_max(s->relayed, "/", SVC_JSON_MAX);
    return svc_relay_new(event, s->conf->socket, s->conf->relay_user, s->relayed, &s->relay, err);
}

int svc_server_new(sd_event *event, const struct svc_conf *conf, const struct sv_listen_fds *held,
                   struct svc_spawner *spawner, struct svc_server **ret, struct sv_error *err)
{
    struct svc_server *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return sv_error_errno(err, -ENOMEM, "server");
    s->conf = conf;
    s->flights = (struct svc_flights){
        .event = event, .conf = conf, .spawner = spawner, .ended = on_ended, .userdata = s
    };
    r = open_gate(s, event, err);
    if (r >= 0)
        r = open_port(s, event, held, err);
    if (r >= 0)
        r = open_frameworks(s, event, err);
    if (r >= 0)
        r = open_relay(s, event, err);
    if (r < 0) {
        (void)svc_server_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct svc_server *svc_server_free(struct svc_server *s)
{
    if (s) {
        s->relay = svc_relay_free(s->relay);
        s->relayed = sv_http_free(s->relayed);
        s->port = sv_http_free(s->port);
        s->frameworks = svc_frameworks_free(s->frameworks);
        s->acceptor = sv_web_acceptor_free(s->acceptor);
        s->kerberos = sgss_daemon_free(s->kerberos);
        svc_flights_free(&s->flights);
        free(s);
    }
    return NULL;
}

uint16_t svc_server_port(const struct svc_server *s)
{
    return sv_http_port(s->port);
}
