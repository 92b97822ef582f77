/* Submissions and kills of frameworks' masters: a process each, as the framework's user; see
 * frameworks.h. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "common/log.h"
#include "service/cluster/framework.h"
#include "service/engine/exit-table.h"
#include "service/server/frameworks-internal.h"

#define NAME_MAX_BYTES 1024 /* of an application's name */

#define WORKS_OF_USER 4 /* at once: the others of SVC_LR_WORKS_AT_ONCE are other users' */

struct framework_work {
    struct svc_flight *flight;
    bool submit;
    char app[YARN_ID_TEXT_MAX];
    char user[SVC_FW_NAME_MAX + 1];
    char framework[SVC_FW_NAME_MAX + 1]; /* whose files are touched; "": none */
    struct framework_work *prev, *next;
};

/* A kill waits for the submission of the application, and for one another the works that touch the
 * same files. */
static int admit(const struct svc_frameworks *s, const char *user, const char *app,
                 const char *framework)
{
    const struct framework_work *w;
    int n = 0;

    DL_FOREACH (s->works, w) {
        if (strcmp(w->app, app) == 0 || (*framework && strcmp(w->framework, framework) == 0))
            return -EALREADY;
        n += strcmp(w->user, user) == 0;
    }
    return n < WORKS_OF_USER ? 0 : -EAGAIN;
}

/* `o` is taken. */
static int start(struct svc_frameworks *s, const char *user, bool submit, const char *app,
                 const char *framework, json_t *o)
{
    struct framework_work *w = calloc(1, sizeof(*w));
    char *body = o ? json_dumps(o, JSON_COMPACT) : NULL;
    struct svc_request q = { .user = user,
                             .method = "LAUNCHER",
                             .uri = submit ? "/submit" : "/kill",
                             .body = body,
                             .body_len = body ? strlen(body) : 0,
                             .launcher = true };
    const char *why;
    int r = w && body ? svc_flight_new(s->cfg.flights, &q, &w->flight, &why) : -ENOMEM;

    if (body)
        explicit_bzero(body, strlen(body)); /* the token */
    free(body);
    json_decref(o);
    if (r < 0) {
        free(w);
        return r;
    }
    w->submit = submit;
    (void)snprintf(w->app, sizeof(w->app), "%s", app);
    (void)snprintf(w->user, sizeof(w->user), "%s", user);
    (void)snprintf(w->framework, sizeof(w->framework), "%s", framework);
    DL_APPEND(s->works, w);
    return 0;
}

int svc_frameworks_submit(void *u, const struct svc_framework *f)
{
    struct svc_frameworks *s = u;
    const struct svc_lr_settings *set = s->cfg.settings;
    const char *user = f->st.user ? f->st.user : f->d->user;
    char app[YARN_ID_TEXT_MAX], token[SVC_LR_TOKEN_TEXT], name[NAME_MAX_BYTES];
    json_t *o;
    int r = admit(s, user, yarn_app_id_text(f->st.app, app), f->name);

    if (r == 0)
        r = svc_lr_token(s->l, f, token);
    if (r < 0)
        return r;
    (void)snprintf(name, sizeof(name), "[%s]_[%d]_[%s]_[%s]_[%s]", f->name, f->d->version,
                   svc_lr_client_name(f->client), f->client_host, f->client_user);
    o = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s?, s:i, s:i, s:i, s:s, s:s, s:I, s:I, s:I, s:o}",
                  "framework", f->name, "version", f->d->version, "app", app, "name", name, "queue",
                  f->d->queue, "label", f->d->master_label, "memory", f->d->master.memory_mb,
                  "cpus", f->d->master.cpus, "gpus", f->d->master.gpus, "link", s->link, "token",
                  token, "attempts", (json_int_t)set->am_attempts, "validity",
                  (json_int_t)set->am_validity_s, "priority", (json_int_t)set->am_priority,
                  "descriptor", svc_fw_json(f->d));
    explicit_bzero(token, sizeof(token));
    return start(s, user, true, app, f->name, o);
}

int svc_frameworks_kill(void *u, const char *app, const char *user, const char *framework)
{
    int r = admit(u, user, app, framework ? framework : "");

    if (r < 0)
        return r;
    return start(u, user, false, app, framework ? framework : "",
                 framework ? json_pack("{s:s, s:s}", "app", app, "framework", framework)
                           : json_pack("{s:s}", "app", app));
}

static int32_t code_of(unsigned status)
{
    switch (status) {
    case SVC_WORK_DONE:
        return 0;
    case SVC_WORK_REFUSED:
    case 403: /* the user is no account */
        return SVC_FW_EXIT_SUBMIT_REJECTED;
    case SVC_WORK_AWAY:
    case 504: /* it took too long */
        return SVC_FW_EXIT_SUBMIT_IO;
    default:
        return SVC_FW_EXIT_SUBMIT_UNKNOWN;
    }
}

static void finish(struct svc_frameworks *s, struct framework_work *w, struct svc_answer *a)
{
    json_t *o = a->body ? json_loadb(a->body, a->body_len, 0, NULL) : NULL;
    const char *why = json_string_value(json_object_get(o, "diagnostics"));
    struct yarn_app_id app;

    if (w->submit && yarn_app_id_parse(w->app, &app) == 0) {
        svc_lr_on_submitted(s->l, app, code_of(a->status), why ? why : "");
    } else {
        if (a->status != SVC_WORK_DONE)
            sv_log_warning("%s: was not killed: %s", w->app, why ? why : "");
        /* A refusal is not tried for ever. */
        svc_lr_on_killed(s->l, w->app, a->status < 500);
    }
    json_decref(o);
}

void svc_frameworks_collect(struct svc_frameworks *s)
{
    struct framework_work *w, *tmp;
    struct svc_answer a;

    DL_FOREACH_SAFE (s->works, w, tmp) {
        if (!svc_flight_take(w->flight, &a))
            continue;
        DL_DELETE(s->works, w);
        svc_flight_leave(w->flight);
        finish(s, w, &a);
        free(a.body);
        free(w);
    }
}

void svc_frameworks_leave(struct svc_frameworks *s)
{
    struct framework_work *w, *tmp;

    DL_FOREACH_SAFE (s->works, w, tmp) {
        svc_flight_leave(w->flight);
        free(w);
    }
    s->works = NULL;
}
