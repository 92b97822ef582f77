/* See library.h: the client of the ResourceManager, on top of client.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "client/http/fetch.h"
#include "client/http/node-url.h"
#include "client/lib/library-internal.h"

#define WATCH_US 250000

/* ---- Open and close ---- */

struct lib_wait { /* waits for the end of an application */
    struct lib_wait *prev, *next;
    struct lib_rm *rm;
    struct yarn_app_id app;
    sd_event_source *timer;
    selvedge_reports_fn fn;
    void *userdata;
    bool asks; /* a report was requested */
};

static void wait_free(struct lib_wait *w)
{
    DL_DELETE(w->rm->waits, w);
    sd_event_source_disable_unref(w->timer);
    free(w);
}

static void rm_destroy(struct lib_object *o)
{
    struct lib_rm *rm = (struct lib_rm *)o;
    struct lib_wait *w, *tmp;

    o->depth++;              /* prevents a callback from destroying it again */
    cli_lib_tokens_free(rm); /* they use the client's login */
    cli_rm_free(rm->client); /* open calls end with -ECANCELED */
    cli_fetch_free(rm->fetch);
    DL_FOREACH_SAFE (rm->waits, w, tmp) {
        w->fn(-ECANCELED, cli_lib_reason(-ECANCELED, NULL), NULL, 0, w->userdata);
        wait_free(w);
    }
    sv_conf_free(rm->conf);
    free(rm->user);
    free(rm);
}

/* The keys in place of the configuration's. */
static int set_login(struct sv_conf *conf, const struct selvedge_login *login, struct sv_error *err)
{
    const struct {
        const char *key, *value;
    } keys[] = {
        { "selvedge.client.kerberos.principal", login->principal },
        { "selvedge.client.kerberos.keytab", login->keytab },
        { "hadoop.security.kerberos.ticket.cache.path", login->cache },
    };
    int r = 0;

    for (size_t i = 0; r >= 0 && i < SV_ARRAY_LEN(keys); i++)
        if (keys[i].value)
            r = sv_conf_set(conf, keys[i].key, keys[i].value);
    return r < 0 ? sv_error_errno(err, r, "login") : 0;
}

static int open_rm(struct lib_rm *rm, struct lib_loop *l, const struct selvedge_login *login,
                   struct sv_error *err)
{
    int r = cli_lib_conf(login->conf_dir, &rm->conf, err);

    if (r >= 0)
        r = set_login(rm->conf, login, err);
    if (r >= 0)
        r = cli_rm_new(cli_lib_event(l), rm->conf, login->user, &rm->client, err);
    if (r >= 0 && login->user && !(rm->user = strdup(login->user)))
        r = sv_error_errno(err, -ENOMEM, "user");
    return r;
}

int selvedge_rm_open_as(selvedge_loop loop, const struct selvedge_login *login, selvedge_rm *ret,
                        struct selvedge_error *err)
{
    struct lib_loop *l = cli_lib_loop_of(loop);
    struct selvedge_login copy = SELVEDGE_LOGIN;
    struct sv_error own = { 0 };
    struct lib_rm *rm;
    int r;

    if (!l)
        return -EBADF;
    if (!ret || !login || login->struct_size < sizeof(login->struct_size) ||
        login->struct_size > sizeof(copy))
        return -EINVAL;
    memcpy(&copy, login, login->struct_size);
    rm = calloc(1, sizeof(*rm));
    if (!rm)
        return -ENOMEM;
    r = open_rm(rm, l, &copy, &own);
    if (r < 0) {
        cli_rm_free(rm->client);
        sv_conf_free(rm->conf);
        free(rm->user);
        free(rm);
        (void)cli_lib_error(err, &own);
        return r;
    }
    cli_scheme_set(rm->conf);
    ret->id = cli_lib_add(&rm->o, LIB_RM, l, rm_destroy);
    return 0;
}

int selvedge_rm_open(selvedge_loop loop, const char *conf_dir, const char *user, selvedge_rm *ret,
                     struct selvedge_error *err)
{
    struct selvedge_login login = SELVEDGE_LOGIN;

    login.conf_dir = conf_dir;
    login.user = user;
    return selvedge_rm_open_as(loop, &login, ret, err);
}

int selvedge_rm_close(selvedge_rm handle)
{
    struct lib_object *o = cli_lib_find(handle.id, LIB_RM);

    return o ? cli_lib_close(o) : -EBADF;
}

/* ---- Requests ---- */

struct lib_request *cli_lib_request_new(struct lib_rm *rm, void *userdata)
{
    struct lib_request *q = calloc(1, sizeof(*q));

    if (q) {
        q->rm = rm;
        q->userdata = userdata;
    }
    return q;
}

void cli_lib_request_free(struct lib_request *q)
{
    sv_arena_free(q->arena);
    free(q);
}

int cli_lib_begun(int r, struct lib_request *q)
{
    if (r < 0)
        cli_lib_request_free(q);
    return r < 0 ? r : 0;
}

/* ---- Reports ---- */

static struct selvedge_report report_of(const struct cli_report *r, char app[YARN_ID_TEXT_MAX],
                                        char attempt[YARN_ID_TEXT_MAX])
{
    *attempt = '\0';
    if (r->attempt.attempt > 0)
        yarn_attempt_id_text(r->attempt, attempt);
    return (struct selvedge_report){
        .app = yarn_app_id_text(r->id, app),
        .attempt = attempt,
        .user = r->user,
        .queue = r->queue,
        .name = r->name,
        .type = r->type,
        .state = cli_app_state_name(r->state),
        .final = cli_final_name(r->final),
        .diagnostics = r->diagnostics,
        .tracking_url = r->tracking_url,
        .start_ms = r->start_ms,
        .finish_ms = r->finish_ms,
        .progress = (double)r->progress,
        .memory_mb = r->used_memory_mb,
        .vcores = r->used_vcores,
        .containers = r->used_containers,
        .ended = cli_app_ended(r->state),
    };
}

static void tell_reports(struct lib_rm *rm, selvedge_reports_fn fn, void *userdata, int status,
                         const struct cli_report *reports, size_t n, const struct sv_error *err)
{
    _cleanup_free_ struct selvedge_report *list = calloc(n + 1, sizeof(*list));
    _cleanup_free_ char *ids = calloc(n + 1, 2 * (size_t)YARN_ID_TEXT_MAX);

    if (!list || !ids)
        status = -ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++)
        list[i] = report_of(&reports[i], ids + 2 * i * YARN_ID_TEXT_MAX,
                            ids + (2 * i + 1) * YARN_ID_TEXT_MAX);
    rm->o.depth++;
    fn(status, cli_lib_reason(status, err), list, status < 0 ? 0 : n, userdata);
    rm->o.depth--;
}

static void on_reports(int status, const struct cli_report *reports, size_t n,
                       const struct sv_error *err, void *userdata)
{
    struct lib_request *q = userdata;

    tell_reports(q->rm, q->reports, q->userdata, status, reports, n, err);
    cli_lib_request_free(q);
}

int selvedge_rm_report(selvedge_rm handle, const char *app, selvedge_reports_fn fn, void *userdata)
{
    struct lib_rm *rm = cli_lib_rm(handle);
    struct yarn_app_id id;
    struct lib_request *q;

    if (!rm)
        return -EBADF;
    if (!app || !fn || yarn_app_id_parse(app, &id) < 0)
        return -EINVAL;
    q = cli_lib_request_new(rm, userdata);
    if (!q)
        return -ENOMEM;
    q->reports = fn;
    return cli_lib_begun(cli_rm_report(rm->client, id, on_reports, q), q);
}

int selvedge_rm_list(selvedge_rm handle, const char *user, int live, selvedge_reports_fn fn,
                     void *userdata)
{
    struct lib_rm *rm = cli_lib_rm(handle);
    struct lib_request *q;

    if (!rm)
        return -EBADF;
    if (!fn)
        return -EINVAL;
    q = cli_lib_request_new(rm, userdata);
    if (!q)
        return -ENOMEM;
    q->reports = fn;
    return cli_lib_begun(cli_rm_applications(rm->client, user, live != 0, on_reports, q), q);
}

/* ---- Waiting for completion ---- */

static void on_watched(int status, const struct cli_report *reports, size_t n,
                       const struct sv_error *err, void *userdata)
{
    struct lib_wait *w = userdata;

    w->asks = false;
    if (status >= 0 && n == 1 && !cli_app_ended(reports[0].state)) {
        status = sd_event_source_set_time_relative(w->timer, WATCH_US);
        if (status >= 0)
            status = sd_event_source_set_enabled(w->timer, SD_EVENT_ONESHOT);
        if (status >= 0)
            return;
        n = 0;
    }
    if (status == -ECANCELED)
        return; /* the handle is being destroyed, which reports it */
    tell_reports(w->rm, w->fn, w->userdata, status, reports, n, err);
    wait_free(w);
}

static int on_watch(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct lib_wait *w = userdata;
    int r;

    (void)s;
    (void)usec;
    if (w->asks)
        return 0;
    w->asks = true;
    r = cli_rm_report(w->rm->client, w->app, on_watched, w);
    if (r < 0)
        on_watched(r, NULL, 0, NULL, w);
    return 0;
}

int selvedge_rm_wait(selvedge_rm handle, const char *app, selvedge_reports_fn fn, void *userdata)
{
    struct lib_rm *rm = cli_lib_rm(handle);
    struct yarn_app_id id;
    struct lib_wait *w;
    int r;

    if (!rm)
        return -EBADF;
    if (!app || !fn || yarn_app_id_parse(app, &id) < 0)
        return -EINVAL;
    w = calloc(1, sizeof(*w));
    if (!w)
        return -ENOMEM;
    *w = (struct lib_wait){ .rm = rm, .app = id, .fn = fn, .userdata = userdata };
    DL_APPEND(rm->waits, w);
    r = sd_event_add_time_relative(cli_lib_event(rm->o.loop), &w->timer, CLOCK_MONOTONIC, 0, 1000,
                                   on_watch, w);
    if (r < 0)
        wait_free(w);
    return r < 0 ? r : 0;
}

/* ---- Kill ---- */

static void on_killed(int status, bool killed, const struct sv_error *err, void *userdata)
{
    struct lib_request *q = userdata;

    (void)killed; /* or it will be: the ResourceManager has accepted the request */
    q->rm->o.depth++;
    q->done(status, cli_lib_reason(status, err), q->userdata);
    q->rm->o.depth--;
    cli_lib_request_free(q);
}

int selvedge_rm_kill(selvedge_rm handle, const char *app, const char *why, selvedge_done_fn fn,
                     void *userdata)
{
    struct lib_rm *rm = cli_lib_rm(handle);
    struct yarn_app_id id;
    struct lib_request *q;

    if (!rm)
        return -EBADF;
    if (!app || !fn || yarn_app_id_parse(app, &id) < 0)
        return -EINVAL;
    q = cli_lib_request_new(rm, userdata);
    if (!q)
        return -ENOMEM;
    q->done = fn;
    return cli_lib_begun(cli_rm_kill(rm->client, id, why, on_killed, q), q);
}

/* ---- Priority ---- */

static void on_priority(int status, int32_t priority, const struct sv_error *err, void *userdata)
{
    (void)priority; /* the cluster's maximum may have lowered it */
    on_killed(status, false, err, userdata);
}

int selvedge_rm_set_priority(selvedge_rm handle, const char *app, int32_t priority,
                             selvedge_done_fn fn, void *userdata)
{
    struct lib_rm *rm = cli_lib_rm(handle);
    struct yarn_app_id id;
    struct lib_request *q;

    if (!rm)
        return -EBADF;
    if (!app || !fn || priority < 0 || yarn_app_id_parse(app, &id) < 0)
        return -EINVAL;
    q = cli_lib_request_new(rm, userdata);
    if (!q)
        return -ENOMEM;
    q->done = fn;
    return cli_lib_begun(cli_rm_priority(rm->client, id, priority, on_priority, q), q);
}
