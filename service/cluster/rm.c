/* Calls to the ResourceManager, each waited for. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/str.h"
#include "service/cluster/internal.h"
#include "service/cluster/kerberos-conf.h"
#include "service/cluster/login.h"

#define POLL_MS 200    /* between two questions whether an application has ended */
#define POLL_MIN_MS 25 /* after a kill, which is quick as a rule: then twice as long each time */

static void on_away(const struct sv_error *err, int64_t wait_ms, const char *next, void *userdata)
{
    struct svc_cluster *c = userdata;

    (void)wait_ms;
    (void)next;
    (void)snprintf(c->away, sizeof(c->away), "%.500s", err->text);
}

int svc_cluster_rm(struct svc_cluster *c, struct sv_error *err)
{
    const struct svc_kerberos_conf *k = c->cfg.kerberos;
    int r = 0;

    if (k)
        r = svc_login_open(c, err);
    if (r == 0 && !c->rm)
        r = k ? cli_rm_new_secure(c->event, c->cfg.conf, svc_login_rm(c->login), k->qop_mask,
                                  c->cfg.user, &c->rm, err)
              : cli_rm_new(c->event, c->cfg.conf, c->cfg.user, &c->rm, err);
    if (r == 0)
        cli_rm_on_away(c->rm, on_away, c);
    return r;
}

/* The error of an exception, by its class. */
static int error_of(const char *exception, int status)
{
    static const struct {
        const char *class;
        int error;
    } known[] = {
        { "ApplicationNotFoundException", -ENOENT },
        { "AccessControlException", -EACCES },
        { "AuthorizationException", -EACCES },
    };

    for (size_t i = 0; status == -EREMOTEIO && i < SV_ARRAY_LEN(known); i++)
        if (sv_streq(exception, known[i].class))
            return known[i].error;
    return status;
}

int svc_cluster_rm_end(struct svc_cluster *c, int r, struct svc_wait *w)
{
    if (r < 0)
        return sv_error_errno(w->err, r, "ResourceManager");
    r = svc_wait_for(c, w);
    if (r < 0) { /* ends the call, whose callback writes into *w */
        c->rm = cli_rm_free(c->rm);
        return sv_error_set(w->err, r, "the ResourceManager does not answer%s%s",
                            *c->away ? ": " : " in time", c->away);
    }
    return error_of(cli_rm_exception(c->rm), w->status);
}

/* ---- Reports ---- */

static void on_number(int status, const struct cli_report *reports, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct svc_wait *w = userdata;

    (void)reports;
    if (status == 0)
        *(size_t *)w->out = n;
    svc_wait_end(w, status, err);
}

int svc_rm_live(void *b, const char *service, struct sv_error *err)
{
    struct svc_cluster *c = b;
    char tag[80];
    struct cli_app_filter f = { .users = { c->cfg.user },
                                .types = { "yarn-service" },
                                .tags = { tag },
                                .n_users = 1,
                                .n_types = 1,
                                .n_tags = 1 };
    size_t n = 0;
    struct svc_wait w = { .err = err, .out = &n };
    int r = svc_cluster_rm(c, err);

    if (r < 0)
        return r;
    (void)snprintf(tag, sizeof(tag), "name: %.63s", service);
    cli_app_filter_live(&f);
    r = svc_cluster_rm_end(c, cli_rm_applications_where(c->rm, &f, on_number, &w), &w);
    return r < 0 ? r : n > 0;
}

/* Keeps the token for the master of the application, instead of the one before. */
static int keep_token(struct svc_cluster *c, struct yarn_app_id app, const struct yarn_token *t)
{
    struct sv_arena *a = t ? sv_arena_new(0) : NULL;

    c->token_arena = sv_arena_wipe(c->token_arena);
    if (!t)
        return 0;
    c->client_token = (struct yarn_token){
        .id = a ? sv_arena_memdup(a, t->id, t->id_len) : NULL,
        .id_len = t->id_len,
        .password = a ? sv_arena_memdup(a, t->password, t->password_len) : NULL,
        .password_len = t->password_len,
        .kind = YARN_KIND_CLIENT_AM,
        .service = "",
    };
    c->token_app = app;
    c->token_arena = a;
    return c->client_token.id && c->client_token.password ? 0 : -ENOMEM;
}

struct asked { /* for a report */
    struct svc_cluster *c;
    struct svc_app *app;
};

static void on_report(int status, const struct cli_report *reports, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct svc_wait *w = userdata;
    const struct asked *k = w->out;
    struct svc_app *app = k->app;

    if (status == 0 && n == 1) {
        status = keep_token(k->c, reports->id, reports->client_token);
        *app = (struct svc_app){ .id = reports->id,
                                 .state = reports->state,
                                 .lifetime_left_s = reports->lifetime_left_s };
        if (reports->rpc_port > 0 && reports->rpc_port <= UINT16_MAX &&
            strlen(reports->host) < sizeof(app->host)) {
            (void)snprintf(app->host, sizeof(app->host), "%s", reports->host);
            app->port = (uint16_t)reports->rpc_port;
        }
    }
    svc_wait_end(w, status, err);
}

int svc_rm_report(void *b, struct yarn_app_id id, struct svc_app *ret, struct sv_error *err)
{
    struct svc_cluster *c = b;
    struct svc_app app = { 0 };
    struct asked k = { c, &app };
    struct svc_wait w = { .err = err, .out = &k };
    int r = svc_cluster_rm(c, err);

    if (r == 0)
        r = svc_cluster_rm_end(c, cli_rm_report(c->rm, id, on_report, &w), &w);
    if (r == 0)
        *ret = app;
    return r;
}

int svc_rm_ended(void *b, struct yarn_app_id id, int64_t ms, struct sv_error *err)
{
    int64_t end = sv_now_ms() + ms;
    struct svc_app app;

    for (;;) {
        int r = svc_rm_report(b, id, &app, err);

        if (r == -ENOENT || (r == 0 && cli_app_ended(app.state)))
            return 1;
        if (r < 0)
            return r;
        if (sv_now_ms() >= end)
            return 0;
        r = svc_wait_ms(b, POLL_MS);
        if (r < 0)
            return sv_error_set(err, r, "the application has not ended in time");
    }
}

/* ---- Changes ---- */

static void on_killed(int status, bool killed, const struct sv_error *err, void *userdata)
{
    struct svc_wait *w = userdata;

    if (status == 0)
        *(bool *)w->out = killed;
    svc_wait_end(w, status, err);
}

/* Repeated until it is done, as by Hadoop's client. */
int svc_rm_kill(void *b, struct yarn_app_id id, const char *why, struct sv_error *err)
{
    struct svc_cluster *c = b;
    bool killed = false;
    int64_t ms = POLL_MIN_MS;
    int r = svc_cluster_rm(c, err);

    while (r == 0 && !killed) {
        struct svc_wait w = { .err = err, .out = &killed };

        r = svc_cluster_rm_end(c, cli_rm_kill(c->rm, id, why, on_killed, &w), &w);
        if (r == 0 && !killed && (r = svc_wait_ms(c, ms)) < 0)
            (void)sv_error_set(err, r, "the application could not be killed in time");
        ms = SV_MIN(2 * ms, (int64_t)POLL_MS);
    }
    return r;
}

static void on_done(int status, const struct sv_error *err, void *userdata)
{
    svc_wait_end(userdata, status, err);
}

int svc_rm_set_lifetime(void *b, struct yarn_app_id id, int64_t seconds, struct sv_error *err)
{
    struct svc_cluster *c = b;
    struct svc_wait w = { .err = err };
    int r = svc_cluster_rm(c, err);

    return r < 0 ? r
                 : svc_cluster_rm_end(c, cli_rm_set_lifetime(c->rm, id, seconds, on_done, &w), &w);
}
