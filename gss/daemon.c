/* See daemon.h. Hostile: the helper, whose words and times may be anything. */
#include "gss/daemon.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "gss/keytab-check.h"
#include "wire/ipc/backoff.h"

#define REST_FIRST_MS 1000
#define REST_MAX_MS 4000 /* to ask the helper costs no KDC anything */
/* The helper renews at 50 to 80 % of what is left of a ticket's life. */
#define LOOK_PERCENT 85
#define LOOK_MIN_MS 1000
/* Longer and later ones are not believed, which only means a look more. */
#define LIFE_MAX_MS (366LL * 86400 * 1000)
#define END_MAX_S (1LL << 40)

struct sgss_daemon {
    struct sgss_daemon_config cfg; /* its texts are not used after the start */
    char *principal, *socket;
    char **argv; /* NULL-terminated; `n_argv` texts */
    size_t n_argv;
    struct sgss_client *client;
    sd_event_source *timer;
    uint64_t until;    /* of the ticket */
    uint64_t life;     /* the helper's start that is known */
    bool asked;        /* a login has not been answered yet */
    bool answered;     /* one has */
    unsigned failures; /* in a row */
    char words[SV_ERROR_TEXT_MAX], said[SV_ERROR_TEXT_MAX];
};

/* ---- State ---- */

/* 0: it has ended. */
static int64_t left_ms(uint64_t until)
{
    const int64_t now = sv_wall_ms(), end = (int64_t)SV_MIN(until, (uint64_t)END_MAX_S) * 1000;

    return SV_MIN(SV_MAX(end - now, (int64_t)0), (int64_t)LIFE_MAX_MS);
}

static void set_state(struct sgss_daemon *d, uint64_t until, const char *words)
{
    const bool same = d->until == until && sv_streq(d->words, words);

    d->until = until;
    snprintf(d->words, sizeof(d->words), "%s", words);
    if (!same && d->cfg.changed)
        d->cfg.changed(d->cfg.userdata);
}

static void tell(struct sgss_daemon *d, const char *text)
{
    snprintf(d->said, sizeof(d->said), "%s", text);
    if (d->cfg.told)
        d->cfg.told(text, d->cfg.userdata);
}

static void arm(struct sgss_daemon *d, int64_t in_ms)
{
    (void)sd_event_source_set_time_relative(d->timer, (uint64_t)in_ms * 1000);
    (void)sd_event_source_set_enabled(d->timer, SD_EVENT_ONESHOT); /* ours, ignoring */
}

/* ---- Login ---- */

static void failed(struct sgss_daemon *d, const char *words)
{
    const int64_t first = d->cfg.rest_ms ? d->cfg.rest_ms : REST_FIRST_MS;

    arm(d, ipc_backoff_ms(first, REST_MAX_MS, d->failures, ipc_backoff_noise()));
    if (d->failures < 64)
        d->failures++;
    if (!sv_streq(words, d->said)) /* the helper's inability was told before */
        tell(d, words);
    set_state(d, 0, words);
}

/* A ticket that was there at the last look as well should have been renewed meanwhile. */
static void succeeded(struct sgss_daemon *d, uint64_t until)
{
    const bool late = d->until == until;
    const int64_t left = left_ms(until);

    d->failures = 0;
    d->said[0] = 0;
    arm(d, SV_MAX(late ? SV_MIN(left / 4, (int64_t)REST_MAX_MS) : left / 100 * LOOK_PERCENT,
                  (int64_t)LOOK_MIN_MS));
    set_state(d, until,
              late ? "the ticket has not been renewed in time; selvedge-gss says why" : "");
}

static void on_login(uint64_t until, const char *words, void *userdata)
{
    struct sgss_daemon *d = userdata;
    char text[SV_ERROR_TEXT_MAX];

    d->asked = false;
    d->answered = true;
    if (left_ms(until) > 0) {
        succeeded(d, until);
        return;
    }
    if (until)
        snprintf(text, sizeof(text), "the ticket of %s has ended", d->principal);
    else
        snprintf(text, sizeof(text), "%s", words && *words ? words : "no ticket");
    failed(d, text);
}

static int log_in(struct sgss_daemon *d, struct sv_error *err)
{
    int r = sgss_client_login(d->client, d->principal, on_login, d, err);

    d->asked = r >= 0;
    return r;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sgss_daemon *d = userdata;
    struct sv_error err = { 0 };

    (void)source, (void)usec;
    if (!d->asked && log_in(d, &err) < 0)
        failed(d, err.text);
    return 0;
}

/* The helper's tickets end with it. A new one is asked at once. */
static void on_told(const char *text, void *userdata)
{
    struct sgss_daemon *d = userdata;
    const struct sgss_client_state now = sgss_client_state(d->client);

    tell(d, text);
    if (!now.runs) {
        set_state(d, 0, text);
    } else if (d->life != now.starts) {
        d->life = now.starts;
        d->failures = 0;
        arm(d, 0);
    }
}

/* ---- Start and end ---- */

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

static int put(struct sgss_daemon *d, const char *text)
{
    d->argv[d->n_argv] = strdup(text);
    return d->argv[d->n_argv++] ? 0 : -ENOMEM;
}

static int put_all(struct sgss_daemon *d, const char *option, const char *const *list)
{
    int r = 0;

    for (size_t i = 0; r >= 0 && list && list[i]; i++) {
        r = put(d, option);
        if (r >= 0)
            r = put(d, list[i]);
    }
    return r;
}

/* More directories than the helper takes: none is left out in silence. */
static int make_argv(struct sgss_daemon *d, struct sv_error *err)
{
    const struct sgss_daemon_config *c = &d->cfg;
    const size_t n_keytabs = count(c->keytabs), n_dirs = count(c->local_dirs);
    int r;

    if (n_keytabs == 0 || n_keytabs > SGSS_KEYTABS_MAX)
        return sv_error_set(err, -EINVAL, "%s: %zu keytabs, between 1 and %d are possible",
                            c->helper, n_keytabs, SGSS_KEYTABS_MAX);
    if (n_dirs > SGSS_LOCAL_DIRS_MAX)
        return sv_error_set(err, -E2BIG, "%s: %zu directories of jobs, at most %d are possible",
                            c->helper, n_dirs, SGSS_LOCAL_DIRS_MAX);
    d->argv = calloc(2 * (n_keytabs + n_dirs + 2), sizeof(*d->argv));
    r = d->argv ? put(d, c->helper) : -ENOMEM;
    if (r >= 0)
        r = put_all(d, "--keytab", c->keytabs);
    if (r >= 0)
        r = put_all(d, "--local-dir", c->local_dirs);
    if (r >= 0 && c->krb5_conf)
        r = put_all(d, "--krb5-conf", (const char *const[]){ c->krb5_conf, NULL });
    return r < 0 ? sv_error_set(err, r, "out of memory") : 0;
}

static int copy_texts(struct sgss_daemon *d, struct sv_error *err)
{
    d->principal = strdup(d->cfg.principal);
    d->socket = d->cfg.socket ? strdup(d->cfg.socket) : NULL;
    if (!d->principal || (d->cfg.socket && !d->socket))
        return sv_error_set(err, -ENOMEM, "out of memory");
    return d->socket ? 0 : make_argv(d, err);
}

static int start(struct sgss_daemon *d, struct sv_error *err)
{
    const struct sgss_client_config client = { .event = d->cfg.event,
                                               .socket = d->socket,
                                               .argv = d->argv,
                                               .told = on_told,
                                               .userdata = d,
                                               .rest_ms = d->cfg.rest_ms };
    int r = sd_event_add_time_relative(d->cfg.event, &d->timer, CLOCK_BOOTTIME, 0, 0, on_timer, d);

    if (r >= 0)
        r = sd_event_source_set_enabled(d->timer, SD_EVENT_OFF);
    if (r < 0)
        return sv_error_errno(err, r, "timer");
    r = sgss_client_new(&client, &d->client, err);
    if (r < 0)
        return r;
    d->life = sgss_client_state(d->client).starts;
    return log_in(d, err);
}

int sgss_daemon_new(const struct sgss_daemon_config *cfg, struct sgss_daemon **ret,
                    struct sv_error *err)
{
    struct sgss_daemon *d = calloc(1, sizeof(*d));
    int r;

    if (!d)
        return sv_error_set(err, -ENOMEM, "out of memory");
    d->cfg = *cfg;
    r = copy_texts(d, err);
    if (r >= 0)
        r = start(d, err);
    if (r < 0) {
        sgss_daemon_free(d);
        return r;
    }
    snprintf(d->words, sizeof(d->words), "the first login of %s is under way", d->principal);
    *ret = d;
    return 0;
}

struct sgss_daemon *sgss_daemon_free(struct sgss_daemon *d)
{
    if (!d)
        return NULL;
    sgss_client_free(d->client);
    sd_event_source_disable_unref(d->timer);
    for (size_t i = 0; i < d->n_argv; i++)
        free(d->argv[i]);
    free(d->argv);
    free(d->principal);
    free(d->socket);
    free(d);
    return NULL;
}

struct sgss_client *sgss_daemon_client(struct sgss_daemon *d)
{
    return d->client;
}

const char *sgss_daemon_principal(const struct sgss_daemon *d)
{
    return d->principal;
}

struct sgss_daemon_state sgss_daemon_state(const struct sgss_daemon *d)
{
    const bool valid = left_ms(d->until) > 0;

    return (struct sgss_daemon_state){ .until = valid ? d->until : 0,
                                       .words =
                                           valid || *d->words ? d->words : "the ticket has ended",
                                       .pending = !d->answered,
                                       .helper = sgss_client_state(d->client) };
}

/* ---- Services ---- */

static int initiate(const struct sgss_service *s, const char *server,
                    char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret,
                    struct sv_error *err)
{
    int r;

    if (strlen(server) >= IPC_PRINCIPAL_MAX)
        return sv_error_set(err, -EACCES, "the server's Kerberos principal is longer than %d bytes",
                            IPC_PRINCIPAL_MAX - 1);
    r = sgss_client_initiator(s->daemon->client, s->daemon->principal, server, ret);
    if (r < 0)
        return sv_error_errno(err, r, "handshake with %s", server);
    snprintf(ret_server, IPC_PRINCIPAL_MAX, "%s", server);
    return 0;
}

static int on_handshake(const struct ipc_kerberos *k, const char *host,
                        char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret)
{
    const struct sgss_service *s = k->userdata;
    struct sv_server_name name = s->server;
    char server[SV_PRINCIPAL_MAX + 1];
    int r;

    name.host = host;
    r = sv_principal_of_server(&name, server);
    return r < 0 ? r : initiate(s, server, ret_server, ret, NULL);
}

/* Hostile: `offered`. */
static int on_offer(const struct ipc_kerberos *k, const char *host, const char *offered,
                    char ret_server[IPC_PRINCIPAL_MAX], struct gssapi_handshake **ret,
                    struct sv_error *err)
{
    const struct sgss_service *s = k->userdata;
    struct sv_server_name name = s->server;
    char server[SV_PRINCIPAL_MAX + 1];
    int r;

    name.host = host;
    r = sv_principal_recognize(&name, s->daemon->principal, offered, server, err);
    return r < 0 ? r : initiate(s, server, ret_server, ret, err);
}

void sgss_service_init(struct sgss_service *s, struct sgss_daemon *d, const char *key,
                       const char *configured, const char *pattern, const char *own_host)
{
    *s = (struct sgss_service){
        .ipc = { .principal = d->principal,
                 .handshake = on_handshake,
                 .recognize = on_offer,
                 .userdata = s },
        .daemon = d,
        .server = { .key = key, .configured = configured, .pattern = pattern, .own_host = own_host }
    };
}
