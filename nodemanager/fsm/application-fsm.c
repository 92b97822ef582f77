/* See application-fsm.h. */
#include "nodemanager/fsm/application-fsm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/resources/mcs.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/store/state-store.h"

/* True while the helper or a container still creates directories: if deleted now, they would
 * reappear. */
static bool is_busy(const struct nm_app *a)
{
    if (a->initing)
        return true;
    for (const struct nm_app_member *m = a->members; m; m = m->hh.next)
        if (!nm_container_is_done(m->c))
            return true;
    return false;
}

/* ---- actions --------------------------------------------------------------------------------*/

struct app_step { /* argument of an action */
    struct nm_app_services *services;
    const char *text; /* the event's; NULL = none */
};

/* A request to the helper. The application may have ended when the answer arrives: it is looked up
 * by name. */
struct nm_app_init {
    struct nm_app_init *prev, *next;
    struct nm_app_services *services;
    struct nm_context *ctx;
    char text[YARN_ID_TEXT_MAX];
    uint32_t local_dirs, log_dirs;
    bool again; /* for a directory that returned: no event follows */
};

static void init_free(struct nm_app_init *q)
{
    DL_DELETE(q->services->inits, q);
    free(q);
}

void nm_app_free_inits(struct nm_app_services *services)
{
    while (services->inits)
        init_free(services->inits);
}

/* With Kerberos a container runs as its submitter, and this is the first thing that needs him. */
static const char *remedy(const struct nm_app *a, const struct exe_failure *f)
{
    if (!a->ctx->conf->kerberos.own.on ||
        (f->status != EXE_STATUS_USER_UNKNOWN && f->status != EXE_STATUS_USER_REFUSED))
        return "";
    return "; in a cluster with Kerberos containers run as their submitter, who needs an account "
           "on each node, with an id from min.user.id of container-executor.cfg on, or a name in "
           "its allowed.system.users";
}

static void on_init_done(const struct exe_failure *f, void *userdata)
{
    struct nm_app_init *q = userdata;
    struct nm_app *a = nm_app_find(q->ctx, q->text);
    _cleanup_free_ char *why = NULL;

    if (a)
        a->initing--;
    if (a && !f) {
        a->local_dirs |= q->local_dirs;
        a->log_dirs |= q->log_dirs;
    }
    if (a && f) {
        nm_health_launch_failed(q->ctx->health, a->id, f);
        if (sv_asprintf(&why,
                        "Application %s initialization failed (exitCode=%d) with output: %s%s",
                        a->text, f->exit_code, f->text, remedy(a, f)) < 0)
            why = NULL;
    }
    if (a && !q->again)
        nm_app_post(a, NM_APP_EV_APPLICATION_INITED, f ? why ?: "out of memory" : NULL);
    else if (a && f)
        sv_log(SV_LOG_WARNING, a->text, "%s; continuing without the directory", why ?: f->text);
    init_free(q);
}

/* Requests the missing directories of the application from the helper. */
static int request_dirs(struct nm_app_services *services, struct nm_app *a, bool again)
{
    struct nm_app_init *q = calloc(1, sizeof(*q));
    int r;

    if (!q)
        return -ENOMEM;
    *q = (struct nm_app_init){ .services = services,
                               .ctx = a->ctx,
                               .local_dirs = nm_dirs_local_usable(a->ctx->dirs),
                               .log_dirs = nm_dirs_log_usable(a->ctx->dirs),
                               .again = again };
    memcpy(q->text, a->text, sizeof(q->text));
    r = exe_init_app(a->ctx->exe, a->id, a->run_as, a->user, q->local_dirs, q->log_dirs,
                     a->categories, on_init_done, q);
    if (r < 0) {
        free(q);
        return r;
    }
    DL_APPEND(services->inits, q);
    a->initing++;
    return 0;
}

void nm_apps_make_dirs(struct nm_context *ctx, struct nm_app_services *services)
{
    for (struct nm_app *a = ctx->apps; a; a = a->hh.next) {
        int r = a->state == NM_APP_INITING || a->state == NM_APP_RUNNING
                    ? request_dirs(services, a, true)
                    : 0;

        if (r < 0)
            sv_log(SV_LOG_WARNING, a->text, "%s: cannot use a recovered local directory: %s",
                   a->text, strerror(-r));
    }
}

void nm_apps_lose_dir(struct nm_context *ctx, int index)
{
    for (struct nm_app *a = ctx->apps; a; a = a->hh.next)
        a->local_dirs &= ~(1u << index);
}

static int act_init(void *o, int event, void *arg)
{
    const struct app_step *s = arg;
    struct nm_app *a = o;
    struct sv_error err = { 0 };
    int r;

    (void)event;
    r = nm_mcs_assign(s->services->mcs, a, &err);
    if (r >= 0 && (!nm_dirs_local_usable(a->ctx->dirs) || !nm_dirs_log_usable(a->ctx->dirs)))
        r = sv_error_set(&err, -ENOSPC, "No good directory for %s: all %s-dirs failed their checks",
                         a->text, nm_dirs_local_usable(a->ctx->dirs) ? "log" : "local");
    if (r >= 0)
        r = request_dirs(s->services, a, false);
    if (r < 0)
        nm_app_post(a, NM_APP_EV_APPLICATION_INITED, err.code < 0 ? err.text : strerror(-r));
    return NM_APP_INITING;
}

static int act_stay(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    return ((struct nm_app *)o)->state;
}

/* Once: with this event of the application and the end of its initialization both may be due. */
static void post_init(struct nm_container *c)
{
    if (c->state != NM_CONTAINER_NEW || !c->recorded || c->init_posted)
        return;
    c->init_posted = true;
    nm_container_post(c, NM_CONTAINER_EV_INIT, NULL);
}

static int act_container_init(void *o, int event, void *arg)
{
    const char *id = ((const struct app_step *)arg)->text;
    struct nm_app *a = o;
    struct nm_container *c = id ? nm_container_find(a->ctx, id) : NULL;

    if (c && c->app == a && c->recorded && c->state == NM_CONTAINER_NEW) {
        /* Retries: the cause of earlier containers' failure may be gone. */
        if (a->init_error && !a->initing)
            return act_init(o, event, arg);
        post_init(c);
    }
    return a->state;
}

static void init_containers(struct nm_app *a, const char *error)
{
    free(a->init_error);
    a->init_error = error ? strdup(error) : NULL;
    if (error)
        sv_log(SV_LOG_ERR, a->text, "%s: %s", a->text, error);
    for (struct nm_app_member *m = a->members; m; m = m->hh.next)
        post_init(m->c);
}

static int act_inited(void *o, int event, void *arg)
{
    (void)event;
    init_containers(o, ((const struct app_step *)arg)->text);
    return NM_APP_RUNNING;
}

static void clean_resources(struct nm_app *a, const struct nm_app_services *services)
{
    nm_aux_app_stop(services->aux, a);
    nm_amrm_app_stopped(services->amrm, a->id);
    nm_localization_app_finished(services->localization, a);
    nm_deletion_app(services->deletion, a);
    nm_app_post(a, NM_APP_EV_RESOURCES_CLEANEDUP, NULL);
}

static void record_finish(struct nm_app *a)
{
    int r;

    if (a->finish_recorded)
        return;
    a->finish_recorded = true;
    r = nm_store_app_finished(a->ctx->store, a->text);
    if (r < 0)
        sv_log(SV_LOG_ERR, a->text, "%s: cannot record end in state store: %s", a->text,
               strerror(-r));
}

static int act_finish(void *o, int event, void *arg)
{
    const struct app_step *s = arg;
    struct nm_app *a = o;
    _cleanup_free_ char *why = NULL;

    (void)event;
    record_finish(a);
    if (!is_busy(a)) {
        clean_resources(a, s->services);
        return NM_APP_RESOURCES_CLEANINGUP;
    }
    if (sv_asprintf(&why, "Container killed on application-finish event: %s",
                    s->text ? s->text : "") < 0)
        why = NULL;
    for (struct nm_app_member *m = a->members; m; m = m->hh.next)
        if (!nm_container_is_done(m->c))
            nm_container_kill(m->c, YARN_EXIT_KILLED_AFTER_APP_COMPLETION,
                              why ?: "Container killed on application-finish event");
    return NM_APP_FINISHING_CONTAINERS_WAIT;
}

static int act_last_container(void *o, int event, void *arg)
{
    struct nm_app *a = o;

    (void)event;
    if (is_busy(a))
        return NM_APP_FINISHING_CONTAINERS_WAIT;
    clean_resources(a, ((const struct app_step *)arg)->services);
    return NM_APP_RESOURCES_CLEANINGUP;
}

/* The application finished meanwhile: recovered containers, which have waited for INIT to be
 * adopted, get it; the others end. */
static int act_inited_late(void *o, int event, void *arg)
{
    init_containers(o, ((const struct app_step *)arg)->text);
    return act_last_container(o, event, arg);
}

static int act_cleaned(void *o, int event, void *arg)
{
    const struct nm_app_services *services = ((const struct app_step *)arg)->services;
    struct nm_app *a = o;
    int r;

    (void)event;
    nm_secrets_app_finished(a->ctx->secrets, a->id);
    if (services->updater)
        nm_updater_app_finished(services->updater, a);
    nm_aggregation_app_finished(services->aggregation, a); /* recorded together with … */
    nm_credentials_app_finished(a->ctx->credentials, a->text);
    r = nm_store_app_remove(a->ctx->store, a->text); /* … this */
    if (r < 0)
        sv_log(SV_LOG_ERR, a->text, "%s: cannot remove from state store: %s", a->text,
               strerror(-r));
    return NM_APP_FINISHED;
}

static int act_forget(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    nm_app_remove(o);
    return NM_APP_FINISHED;
}

/* ---- table ----------------------------------------------------------------------------------*/

static const char *const event_names[NM_APP_N_EVENTS] = {
    [NM_APP_EV_INIT_APPLICATION] = "INIT_APPLICATION",
    [NM_APP_EV_INIT_CONTAINER] = "INIT_CONTAINER",
    [NM_APP_EV_APPLICATION_INITED] = "APPLICATION_INITED",
    [NM_APP_EV_CONTAINER_FINISHED] = "APPLICATION_CONTAINER_FINISHED",
    [NM_APP_EV_FINISH_APPLICATION] = "FINISH_APPLICATION",
    [NM_APP_EV_RESOURCES_CLEANEDUP] = "APPLICATION_RESOURCES_CLEANEDUP",
    [NM_APP_EV_LOG_HANDLING_FINISHED] = "APPLICATION_LOG_HANDLING_FINISHED",
};

#define S(x) NM_APP_##x
#define E(x) NM_APP_EV_##x

static const struct sv_fsm_cell cells[NM_APP_N_STATES][NM_APP_N_EVENTS] = {
    [S(NEW)][E(INIT_APPLICATION)] = { act_init, S(INITING), { 0 } },
    [S(NEW)][E(FINISH_APPLICATION)] = { act_finish,
                                        S(FINISHING_CONTAINERS_WAIT),
                                        { S(RESOURCES_CLEANINGUP) } }, /* recovered */
    [S(NEW)][E(INIT_CONTAINER)] = { act_stay, S(NEW), { 0 } },
    [S(NEW)][E(CONTAINER_FINISHED)] = { act_stay, S(NEW), { 0 } }, /* stopped immediately */

    [S(INITING)][E(INIT_CONTAINER)] = { act_stay, S(INITING), { 0 } },
    [S(INITING)][E(APPLICATION_INITED)] = { act_inited, S(RUNNING), { 0 } },
    [S(INITING)][E(FINISH_APPLICATION)] = { act_finish,
                                            S(FINISHING_CONTAINERS_WAIT),
                                            { S(RESOURCES_CLEANINGUP) } },
    [S(INITING)][E(CONTAINER_FINISHED)] = { act_stay, S(INITING), { 0 } },

    [S(RUNNING)][E(INIT_CONTAINER)] = { act_container_init, S(RUNNING), { S(INITING) } },
    [S(RUNNING)][E(CONTAINER_FINISHED)] = { act_stay, S(RUNNING), { 0 } },
    [S(RUNNING)][E(FINISH_APPLICATION)] = { act_finish,
                                            S(FINISHING_CONTAINERS_WAIT),
                                            { S(RESOURCES_CLEANINGUP) } },

    [S(FINISHING_CONTAINERS_WAIT)][E(CONTAINER_FINISHED)] = { act_last_container,
                                                              S(FINISHING_CONTAINERS_WAIT),
                                                              { S(RESOURCES_CLEANINGUP) } },
    [S(FINISHING_CONTAINERS_WAIT)][E(INIT_CONTAINER)] = { act_stay,
                                                          S(FINISHING_CONTAINERS_WAIT),
                                                          { 0 } },
    [S(FINISHING_CONTAINERS_WAIT)][E(APPLICATION_INITED)] = { act_inited_late,
                                                              S(FINISHING_CONTAINERS_WAIT),
                                                              { S(RESOURCES_CLEANINGUP) } },
    [S(FINISHING_CONTAINERS_WAIT)][E(FINISH_APPLICATION)] = { act_stay,
                                                              S(FINISHING_CONTAINERS_WAIT),
                                                              { 0 } },

    [S(RESOURCES_CLEANINGUP)][E(RESOURCES_CLEANEDUP)] = { act_cleaned, S(FINISHED), { 0 } },
    [S(RESOURCES_CLEANINGUP)][E(CONTAINER_FINISHED)] = { act_stay, S(RESOURCES_CLEANINGUP), { 0 } },
    [S(RESOURCES_CLEANINGUP)][E(INIT_CONTAINER)] = { act_stay, S(RESOURCES_CLEANINGUP), { 0 } },
    [S(RESOURCES_CLEANINGUP)][E(APPLICATION_INITED)] = { act_stay, S(RESOURCES_CLEANINGUP), { 0 } },
    [S(RESOURCES_CLEANINGUP)][E(FINISH_APPLICATION)] = { act_stay, S(RESOURCES_CLEANINGUP), { 0 } },

    [S(FINISHED)][E(LOG_HANDLING_FINISHED)] = { act_forget, S(FINISHED), { 0 } },
    [S(FINISHED)][E(CONTAINER_FINISHED)] = { act_stay, S(FINISHED), { 0 } },
    [S(FINISHED)][E(APPLICATION_INITED)] = { act_stay, S(FINISHED), { 0 } },
    [S(FINISHED)][E(FINISH_APPLICATION)] = { act_stay, S(FINISHED), { 0 } },
};

static const struct sv_fsm fsm = {
    .name = "application",
    .n_states = NM_APP_N_STATES,
    .n_events = NM_APP_N_EVENTS,
    .state_names = nm_app_state_names,
    .event_names = event_names,
    .cells = &cells[0][0],
};

const struct sv_fsm *nm_app_fsm(void)
{
    return &fsm;
}

void nm_app_handle(const struct sv_event *event, void *userdata)
{
    struct app_step step = { .services = userdata, .text = event->text };
    struct nm_app *a = event->object;
    int was = a->state;

    if (sv_fsm_run(&fsm, &a->state, event->type, a, &step) < 0)
        sv_log(SV_LOG_WARNING, a->text,
               "%s: Can't handle this event at current state: Current: "
               "[%s], eventType: [%s]",
               a->text, nm_app_state_name(was), event_names[event->type]);
    else if (was != a->state)
        sv_log(SV_LOG_INFO, a->text, "Application %s transitioned from %s to %s", a->text,
               nm_app_state_name(was), nm_app_state_name(a->state));
}
