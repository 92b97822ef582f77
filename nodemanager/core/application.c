/* Applications: object and state machine. An application exists here from its first container until
 * the ResourceManager says that it is over and its logs are handled. */
#include "nodemanager/core/application.h"

#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/nm.h"
#include "nodemanager/resources/mcs.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/services/log-handler.h"
#include "nodemanager/store/state-store.h"

static struct nm_app *app_free(struct nm_app *a)
{
    if (!a)
        return NULL;
    free(a->user);
    free(a->run_as);
    free(a->view_acl);
    free(a->modify_acl);
    free(a->init_error);
    free(a);
    return NULL;
}

int nm_app_new(struct nm *nm, struct yarn_app_id id, const char *user, struct nm_app **ret)
{
    struct nm_app *a = calloc(1, sizeof(*a));

    if (!a)
        return -ENOMEM;
    a->nm = nm;
    a->id = id;
    yarn_app_id_text(id, a->text);
    a->state = NM_APP_NEW;
    a->start_ms = sv_wall_ms();
    a->user = strdup(user);
    a->run_as = strdup(nm->conf.limit_users ? nm->conf.local_user : user);
    if (!a->user || !a->run_as) {
        app_free(a);
        return -ENOMEM;
    }
    *ret = a;
    return 0;
}

void nm_app_add(struct nm_app *a)
{
    HASH_ADD_STR(a->nm->apps, text, a);
}

void nm_app_remove(struct nm_app *a)
{
    struct nm_app_member *m, *tmp;

    HASH_ITER (hh, a->members, m, tmp) {
        HASH_DEL(a->members, m);
        m->c->app = NULL;
        free(m);
    }
    HASH_DEL(a->nm->apps, a);
    a->next_dead = a->nm->dead_apps;
    a->nm->dead_apps = a;
}

void nm_app_free_dead(struct nm *nm)
{
    while (nm->dead_apps) {
        struct nm_app *a = nm->dead_apps;

        nm->dead_apps = a->next_dead;
        app_free(a);
    }
}

struct nm_app *nm_app_find(struct nm *nm, const char *text)
{
    struct nm_app *a = NULL;

    HASH_FIND_STR(nm->apps, text, a);
    return a;
}

int nm_app_join(struct nm_app *a, struct nm_container *c)
{
    struct nm_app_member *m = calloc(1, sizeof(*m));

    if (!m)
        return -ENOMEM;
    m->c = c;
    HASH_ADD_KEYPTR(hh, a->members, c->text, strlen(c->text), m);
    return 0;
}

void nm_app_leave(struct nm_app *a, struct nm_container *c)
{
    struct nm_app_member *m = NULL;

    HASH_FIND_STR(a->members, c->text, m);
    if (m) {
        HASH_DEL(a->members, m);
        free(m);
    }
}

/* Something of it is at work that makes directories: deleted now, they would come again. */
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

/* The answer of the helper; the application may be gone by now, so it is found again by name. */
struct nm_app_init {
    struct nm_app_init *prev, *next;
    struct nm *nm;
    char text[YARN_ID_TEXT_MAX];
};

static void init_free(struct nm_app_init *q)
{
    DL_DELETE(q->nm->app_inits, q);
    free(q);
}

void nm_app_free_inits(struct nm *nm)
{
    while (nm->app_inits)
        init_free(nm->app_inits);
}

static void on_init_done(const struct exe_failure *f, void *userdata)
{
    struct nm_app_init *q = userdata;
    struct nm_app *a = nm_app_find(q->nm, q->text);
    _cleanup_free_ char *why = NULL;

    if (a)
        a->initing = false;
    if (a && f) {
        if (f->node_unhealthy)
            nm_set_unhealthy(q->nm, f->text);
        if (sv_asprintf(&why, "Application %s initialization failed (exitCode=%d) with output: %s",
                        a->text, f->exit_code, f->text) < 0)
            why = NULL;
    }
    if (a)
        nm_post_app(a, NM_APP_EV_APPLICATION_INITED, f ? why ?: "out of memory" : NULL);
    init_free(q);
}

static int act_init(void *o, int event, void *arg)
{
    struct nm_app *a = o;
    struct nm_app_init *q = calloc(1, sizeof(*q));
    struct sv_error err = { 0 };
    int r = -ENOMEM;

    (void)event;
    (void)arg;
    if (q)
        r = nm_mcs_assign(a->nm->mcs, a, &err);
    if (r >= 0) {
        q->nm = a->nm;
        memcpy(q->text, a->text, sizeof(q->text));
        r = exe_init_app(a->nm->exe, a->id, a->run_as, nm_dirs_local_mask(a->nm->dirs),
                         nm_dirs_log_mask(a->nm->dirs), a->categories, on_init_done, q);
    }
    if (r < 0) {
        free(q);
        nm_post_app(a, NM_APP_EV_APPLICATION_INITED, err.code < 0 ? err.text : strerror(-r));
    } else {
        DL_APPEND(a->nm->app_inits, q);
        a->initing = true;
    }
    return NM_APP_INITING;
}

static int act_container_waits(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    return ((struct nm_app *)o)->state;
}

static int act_container_init(void *o, int event, void *arg)
{
    struct nm_app *a = o;
    struct nm_container *c = arg ? nm_container_find(a->nm, arg) : NULL;

    (void)event;
    if (c && c->app == a && c->recorded && c->state == NM_CONTAINER_NEW)
        nm_post_container(c, NM_CONTAINER_EV_INIT, 0, NULL);
    return a->state;
}

static void init_containers(struct nm_app *a, const char *error)
{
    if (error) {
        free(a->init_error);
        a->init_error = strdup(error);
        sv_log(SV_LOG_ERR, a->text, "%s: %s", a->text, error);
    }
    for (struct nm_app_member *m = a->members; m; m = m->hh.next)
        if (m->c->state == NM_CONTAINER_NEW && m->c->recorded)
            nm_post_container(m->c, NM_CONTAINER_EV_INIT, 0, NULL);
}

static int act_inited(void *o, int event, void *arg)
{
    (void)event;
    init_containers(o, arg);
    return NM_APP_RUNNING;
}

static void clean_resources(struct nm_app *a)
{
    nm_localization_app_finished(a);
    nm_deletion_app(a);
    nm_post_app(a, NM_APP_EV_RESOURCES_CLEANEDUP, NULL);
}

static void record_finish(struct nm_app *a)
{
    if (a->finish_recorded)
        return;
    a->finish_recorded = true;
    if (nm_store_app_finished(a->nm->store, a->text) < 0)
        sv_log(SV_LOG_ERR, a->text, "%s: its end is not on record", a->text);
}

static int act_finish(void *o, int event, void *arg)
{
    struct nm_app *a = o;
    _cleanup_free_ char *why = NULL;

    (void)event;
    record_finish(a);
    if (!is_busy(a)) {
        clean_resources(a);
        return NM_APP_RESOURCES_CLEANINGUP;
    }
    if (sv_asprintf(&why, "Container killed on application-finish event: %s",
                    arg ? (const char *)arg : "") < 0)
        why = NULL;
    for (struct nm_app_member *m = a->members; m; m = m->hh.next)
        if (!nm_container_is_done(m->c))
            nm_container_kill(m->c, YARN_EXIT_KILLED_AFTER_APP_COMPLETION,
                              why ?: "Container killed on application-finish event");
    return NM_APP_FINISHING_CONTAINERS_WAIT;
}

static int act_container_gone(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    return ((struct nm_app *)o)->state;
}

static int act_last_container(void *o, int event, void *arg)
{
    struct nm_app *a = o;

    (void)event;
    (void)arg;
    if (is_busy(a))
        return NM_APP_FINISHING_CONTAINERS_WAIT;
    clean_resources(a);
    return NM_APP_RESOURCES_CLEANINGUP;
}

/* Finished meanwhile: recovered containers have waited to learn whether they run; the others are
 * over. */
static int act_inited_late(void *o, int event, void *arg)
{
    init_containers(o, arg);
    return act_last_container(o, event, NULL);
}

static int act_cleaned(void *o, int event, void *arg)
{
    struct nm_app *a = o;

    (void)event;
    (void)arg;
    nm_secrets_app_finished(a->nm->secrets, a->id);
    nm_updater_app_finished(a->nm->updater, a);
    nm_log_handler_app_finished(a->nm->logs, a);        /* recorded together with … */
    if (nm_store_app_remove(a->nm->store, a->text) < 0) /* … this */
        sv_log(SV_LOG_ERR, a->text, "%s: could not be taken out of the state store", a->text);
    return NM_APP_FINISHED;
}

static int act_forget(void *o, int event, void *arg)
{
    struct nm_app *a = o;

    (void)event;
    (void)arg;
    nm_app_remove(a);
    return NM_APP_FINISHED;
}

/* ---- table ----------------------------------------------------------------------------------*/

static const char *const state_names[NM_APP_N_STATES] = {
    [NM_APP_NEW] = "NEW",
    [NM_APP_INITING] = "INITING",
    [NM_APP_RUNNING] = "RUNNING",
    [NM_APP_FINISHING_CONTAINERS_WAIT] = "FINISHING_CONTAINERS_WAIT",
    [NM_APP_RESOURCES_CLEANINGUP] = "APPLICATION_RESOURCES_CLEANINGUP",
    [NM_APP_FINISHED] = "FINISHED",
};

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
    [S(NEW)][E(INIT_CONTAINER)] = { act_container_waits, S(NEW), { 0 } },
    [S(NEW)][E(CONTAINER_FINISHED)] = { act_container_gone, S(NEW), { 0 } }, /* stopped at once */

    [S(INITING)][E(INIT_CONTAINER)] = { act_container_waits, S(INITING), { 0 } },
    [S(INITING)][E(APPLICATION_INITED)] = { act_inited, S(RUNNING), { 0 } },
    [S(INITING)][E(FINISH_APPLICATION)] = { act_finish,
                                            S(FINISHING_CONTAINERS_WAIT),
                                            { S(RESOURCES_CLEANINGUP) } },
    [S(INITING)][E(CONTAINER_FINISHED)] = { act_container_gone, S(INITING), { 0 } },

    [S(RUNNING)][E(INIT_CONTAINER)] = { act_container_init, S(RUNNING), { 0 } },
    [S(RUNNING)][E(CONTAINER_FINISHED)] = { act_container_gone, S(RUNNING), { 0 } },
    [S(RUNNING)][E(FINISH_APPLICATION)] = { act_finish,
                                            S(FINISHING_CONTAINERS_WAIT),
                                            { S(RESOURCES_CLEANINGUP) } },

    [S(FINISHING_CONTAINERS_WAIT)][E(CONTAINER_FINISHED)] = { act_last_container,
                                                              S(FINISHING_CONTAINERS_WAIT),
                                                              { S(RESOURCES_CLEANINGUP) } },
    [S(FINISHING_CONTAINERS_WAIT)][E(INIT_CONTAINER)] = { act_container_gone,
                                                          S(FINISHING_CONTAINERS_WAIT),
                                                          { 0 } },
    [S(FINISHING_CONTAINERS_WAIT)][E(APPLICATION_INITED)] = { act_inited_late,
                                                              S(FINISHING_CONTAINERS_WAIT),
                                                              { S(RESOURCES_CLEANINGUP) } },
    [S(FINISHING_CONTAINERS_WAIT)][E(FINISH_APPLICATION)] = { act_container_gone,
                                                              S(FINISHING_CONTAINERS_WAIT),
                                                              { 0 } },

    [S(RESOURCES_CLEANINGUP)][E(RESOURCES_CLEANEDUP)] = { act_cleaned, S(FINISHED), { 0 } },
    [S(RESOURCES_CLEANINGUP)][E(CONTAINER_FINISHED)] = { act_container_gone,
                                                         S(RESOURCES_CLEANINGUP),
                                                         { 0 } },
    [S(
        RESOURCES_CLEANINGUP)][E(INIT_CONTAINER)] = { act_container_gone,
                                                      S(RESOURCES_CLEANINGUP),
                                                      { 0 } },
    [S(RESOURCES_CLEANINGUP)][E(APPLICATION_INITED)] = { act_container_gone,
                                                         S(RESOURCES_CLEANINGUP),
                                                         { 0 } },
    [S(RESOURCES_CLEANINGUP)][E(FINISH_APPLICATION)] = { act_container_gone,
                                                         S(RESOURCES_CLEANINGUP),
                                                         { 0 } },

    [S(FINISHED)][E(LOG_HANDLING_FINISHED)] = { act_forget, S(FINISHED), { 0 } },
    [S(FINISHED)][E(CONTAINER_FINISHED)] = { act_container_gone, S(FINISHED), { 0 } },
    [S(FINISHED)][E(APPLICATION_INITED)] = { act_container_gone, S(FINISHED), { 0 } },
    [S(FINISHED)][E(FINISH_APPLICATION)] = { act_container_gone, S(FINISHED), { 0 } },
};

static const struct sv_fsm fsm = {
    .name = "application",
    .n_states = NM_APP_N_STATES,
    .n_events = NM_APP_N_EVENTS,
    .state_names = state_names,
    .event_names = event_names,
    .cells = &cells[0][0],
};

const struct sv_fsm *nm_app_fsm(void)
{
    return &fsm;
}

const char *nm_app_state_name(int state)
{
    return state > 0 && state < NM_APP_N_STATES ? state_names[state] : "?";
}

void nm_app_handle(struct nm_app *a, int event, const char *text)
{
    int was = a->state, r;

    r = sv_fsm_run(&fsm, &a->state, event, a, (void *)(uintptr_t)text);
    if (r < 0)
        sv_log(SV_LOG_WARNING, a->text,
               "%s: Can't handle this event at current state: Current: "
               "[%s], eventType: [%s]",
               a->text, nm_app_state_name(was), event_names[event]);
    else if (was != a->state)
        sv_log(SV_LOG_INFO, a->text, "Application %s transitioned from %s to %s", a->text,
               nm_app_state_name(was), nm_app_state_name(a->state));
}

void nm_app_finish(struct nm_app *a, const char *why)
{
    nm_post_app(a, NM_APP_EV_FINISH_APPLICATION, why);
}
