/* Containers: object, state machine, what heartbeats say of them. Driven by events of the queue in
 * nm.c. Texts come from users (commands, paths in diagnostics) and are only ever data here. */
#include "nodemanager/core/container.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/str.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/nm.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/store/state-store.h"

/* ---- object ---------------------------------------------------------------------------------*/

static struct nm_container *container_free(struct nm_container *c)
{
    if (!c)
        return NULL;
    sd_event_source_disable_unref(c->kill_timer);
    sv_arena_free(c->arena);
    free(c->node_label);
    nm_assign_release(c);
    free(c->cpus);
    free(c->mems);
    free(c->numa);
    free(c->unassigned);
    free(c->diagnostics);
    free(c->pending_text);
    free(c);
    return NULL;
}

static int unpack_request(struct nm_container *c, const uint8_t *request, size_t len)
{
    Hadoop__Yarn__StartContainerRequestProto *m;

    c->arena = sv_arena_new(0);
    if (!c->arena)
        return -ENOMEM;
    m = hadoop__yarn__start_container_request_proto__unpack(sv_arena_protobuf(c->arena), len,
                                                            request);
    if (!m || !m->container_launch_context)
        return -EBADMSG;
    c->clc = m->container_launch_context;
    return 0;
}

int nm_container_new(struct nm *nm, const struct yarn_container_token *t, const uint8_t *request,
                     size_t request_len, struct nm_container **ret)
{
    struct nm_container *c = calloc(1, sizeof(*c));
    int r = -ENOMEM;

    if (!c)
        return -ENOMEM;
    c->nm = nm;
    c->id = t->container;
    yarn_container_id_text(c->id, c->text);
    c->state = NM_CONTAINER_NEW;
    c->resource = t->resource;
    c->priority = t->priority;
    c->version = t->version;
    c->execution_type = t->execution_type;
    c->container_type = t->container_type;
    c->allocation_request_id = t->allocation_request_id;
    c->creation_ms = t->creation_ms;
    c->exit_code = YARN_EXIT_INVALID;
    c->kill_code = YARN_EXIT_INVALID;
    c->local_dir = c->log_dir = -1;
    c->start_ms = sv_wall_ms();
    c->node_label = strdup(t->node_label);
    c->diagnostics = strdup("");
    if (c->node_label && c->diagnostics)
        r = unpack_request(c, request, request_len);
    if (r < 0) {
        container_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

void nm_container_add(struct nm_container *c, struct nm_app *app)
{
    c->app = app;
    HASH_ADD_STR(c->nm->containers, text, c);
}

void nm_container_remove(struct nm_container *c)
{
    if (c->app)
        nm_app_leave(c->app, c);
    c->app = NULL;
    HASH_DEL(c->nm->containers, c);
    c->next_dead = c->nm->dead_containers;
    c->nm->dead_containers = c;
}

void nm_container_discard(struct nm_container *c)
{
    container_free(c);
}

void nm_container_free_dead(struct nm *nm)
{
    while (nm->dead_containers) {
        struct nm_container *c = nm->dead_containers;

        nm->dead_containers = c->next_dead;
        container_free(c);
    }
}

struct nm_container *nm_container_find(struct nm *nm, const char *text)
{
    struct nm_container *c = NULL;

    HASH_FIND_STR(nm->containers, text, c);
    return c;
}

/* As ContainerImpl.addDiagnostics: each text is stamped; the oldest characters go first. */
void nm_container_add_diagnostics(struct nm_container *c, const char *text)
{
    int64_t now = sv_wall_ms(), max = c->nm->conf.diagnostics_max;
    time_t secs = (time_t)(now / 1000);
    char stamp[32], *joined = NULL;
    struct tm tm;

    localtime_r(&secs, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
    if (sv_asprintf(&joined, "%s[%s.%03d]%s", c->diagnostics, stamp, (int)(now % 1000), text) < 0)
        return; /* out of memory: the container ends all the same */
    if (max > 0 && strlen(joined) > (size_t)max) {
        const char *cut = joined + strlen(joined) - (size_t)max;

        while ((*cut & 0xc0) == 0x80) /* never inside a UTF-8 character: this is sent as a string */
            cut++;
        memmove(joined, cut, strlen(cut) + 1);
    }
    free(c->diagnostics);
    c->diagnostics = joined;
}

static void add_line(struct nm_container *c, const char *text)
{
    _cleanup_free_ char *line = NULL;

    if (text && sv_asprintf(&line, "%s\n", text) >= 0)
        nm_container_add_diagnostics(c, line);
}

/* ---- actions --------------------------------------------------------------------------------*/

/* Gives back the cache and the work directory; the machine goes on when that is under way. */
static void clean_up(struct nm_container *c)
{
    nm_localization_release(c);
    nm_deletion_container(c);
    nm_post_container(c, NM_CONTAINER_EV_RESOURCES_CLEANEDUP, 0, NULL);
}

static int act_diagnostics(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    add_line(c, arg);
    return c->state;
}

static int act_ignore(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    return ((struct nm_container *)o)->state;
}

/* The end of every container: recorded, then told to the application and, by a heartbeat at once,
 * to the ResourceManager. */
static int act_done(void *o, int event, void *arg)
{
    struct nm_container *c = o;
    struct nm *nm = c->nm;

    (void)event;
    (void)arg;
    if (!c->finish_ms)
        c->finish_ms = sv_wall_ms();
    if (c->recovered != NM_RECOVERED_COMPLETED &&
        nm_store_container_done(nm->store, c->text, c->exit_code, c->finish_ms, c->diagnostics) < 0)
        sv_log(SV_LOG_ERR, c->text, "%s: its end is not on record", c->text);
    c->arena = sv_arena_free(c->arena);
    c->clc = NULL;
    if (c->exit_code == YARN_EXIT_SUCCESS)
        nm_audit_success(c->app ? c->app->user : "", NULL, "Container Finished - Succeeded",
                         "ContainerImpl", c);
    else if (c->kill_requested)
        nm_audit_success(c->app ? c->app->user : "", NULL, "Container Finished - Killed",
                         "ContainerImpl", c);
    else
        nm_audit_failure(c->app ? c->app->user : "", NULL, "Container Finished - Failed",
                         "ContainerImpl", "Container failed with state: EXITED_WITH_FAILURE", c);
    if (c->app)
        nm_post_app(c->app, NM_APP_EV_CONTAINER_FINISHED, c->text);
    nm_updater_container_done(nm->updater, c);
    return NM_CONTAINER_DONE;
}

static int fail_localization(struct nm_container *c, const char *why)
{
    add_line(c, why);
    sv_log(SV_LOG_WARNING, c->text, "%s: localization failed: %s", c->text, why);
    clean_up(c);
    return NM_CONTAINER_LOCALIZATION_FAILED;
}

static int act_init(void *o, int event, void *arg)
{
    struct nm_container *c = o;
    struct sv_error err = { 0 };
    int r;

    if (c->recovered == NM_RECOVERED_COMPLETED)
        return act_done(c, event, arg);
    if (c->recovered == NM_RECOVERED_REQUESTED && c->kill_requested && !c->recovering) {
        c->exit_code = c->kill_code;
        add_line(c, "Container is killed before being launched.");
        return act_done(c, event, arg);
    }
    if (c->app->init_error && !c->recovering)
        return fail_localization(c, c->app->init_error);
    r = nm_localization_request(c, &err);
    if (r < 0)
        return fail_localization(c, err.text);
    if (r == 0)
        return NM_CONTAINER_LOCALIZING;
    nm_launch_start(c);
    return NM_CONTAINER_SCHEDULED;
}

static int act_localized(void *o, int event, void *arg)
{
    (void)event;
    (void)arg;
    nm_launch_start(o);
    return NM_CONTAINER_SCHEDULED;
}

static int act_localization_failed(void *o, int event, void *arg)
{
    (void)event;
    return fail_localization(o, arg ? arg : "localization failed");
}

static int act_launched(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    (void)arg;
    /* From here on the request is needed no more: the process has it. */
    c->arena = sv_arena_free(c->arena);
    c->clc = NULL;
    return NM_CONTAINER_RUNNING;
}

static int act_success(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    (void)arg;
    c->exit_code = YARN_EXIT_SUCCESS;
    clean_up(c);
    return NM_CONTAINER_EXITED_WITH_SUCCESS;
}

static int act_failure(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    c->exit_code = c->pending_code;
    add_line(c, arg);
    clean_up(c);
    return NM_CONTAINER_EXITED_WITH_FAILURE;
}

/* Somebody else than this daemon has sent the signal. */
static int act_killed_externally(void *o, int event, void *arg)
{
    int next = act_failure(o, event, arg);

    nm_container_add_diagnostics(o, "Killed by external signal\n");
    return next;
}

static int act_killed(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    if (c->exit_code == YARN_EXIT_INVALID)
        c->exit_code = c->pending_code;
    add_line(c, arg);
    clean_up(c);
    return NM_CONTAINER_CLEANEDUP_AFTER_KILL;
}

static int act_kill_new(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    add_line(c, arg);
    if (c->recovering) /* it may run already: the adoption, which INIT begins, ends it */
        return NM_CONTAINER_NEW;
    c->exit_code = c->kill_code;
    nm_container_add_diagnostics(c, "Container is killed before being launched.\n");
    return act_done(c, event, NULL);
}

static int act_kill_before_running(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    c->exit_code = c->kill_code;
    add_line(c, arg);
    if (c->exe ||
        c->pending_event) { /* the helper is at work: let it finish, then end what it has
                             * started; or the launch has failed, and this is about to be told */
        nm_launch_cleanup(c);
    } else {
        nm_container_add_diagnostics(c, "Container is killed before being launched.\n");
        clean_up(c);
    }
    return NM_CONTAINER_KILLING;
}

static int act_kill(void *o, int event, void *arg)
{
    struct nm_container *c = o;

    (void)event;
    c->exit_code = c->kill_code;
    add_line(c, arg);
    nm_launch_cleanup(c);
    return NM_CONTAINER_KILLING;
}

/* ---- table ----------------------------------------------------------------------------------*/

static const char *const state_names[NM_CONTAINER_N_STATES] = {
    [NM_CONTAINER_NEW] = "NEW",
    [NM_CONTAINER_LOCALIZING] = "LOCALIZING",
    [NM_CONTAINER_LOCALIZATION_FAILED] = "LOCALIZATION_FAILED",
    [NM_CONTAINER_SCHEDULED] = "SCHEDULED",
    [NM_CONTAINER_RUNNING] = "RUNNING",
    [NM_CONTAINER_KILLING] = "KILLING",
    [NM_CONTAINER_EXITED_WITH_SUCCESS] = "EXITED_WITH_SUCCESS",
    [NM_CONTAINER_EXITED_WITH_FAILURE] = "EXITED_WITH_FAILURE",
    [NM_CONTAINER_CLEANEDUP_AFTER_KILL] = "CONTAINER_CLEANEDUP_AFTER_KILL",
    [NM_CONTAINER_DONE] = "DONE",
};

static const char *const event_names[NM_CONTAINER_N_EVENTS] = {
    [NM_CONTAINER_EV_INIT] = "INIT_CONTAINER",
    [NM_CONTAINER_EV_KILL] = "KILL_CONTAINER",
    [NM_CONTAINER_EV_UPDATE_DIAGNOSTICS] = "UPDATE_DIAGNOSTICS_MSG",
    [NM_CONTAINER_EV_RESOURCE_LOCALIZED] = "RESOURCE_LOCALIZED",
    [NM_CONTAINER_EV_RESOURCE_FAILED] = "RESOURCE_FAILED",
    [NM_CONTAINER_EV_LAUNCHED] = "CONTAINER_LAUNCHED",
    [NM_CONTAINER_EV_EXITED_WITH_SUCCESS] = "CONTAINER_EXITED_WITH_SUCCESS",
    [NM_CONTAINER_EV_EXITED_WITH_FAILURE] = "CONTAINER_EXITED_WITH_FAILURE",
    [NM_CONTAINER_EV_KILLED_ON_REQUEST] = "CONTAINER_KILLED_ON_REQUEST",
    [NM_CONTAINER_EV_RESOURCES_CLEANEDUP] = "CONTAINER_RESOURCES_CLEANEDUP",
};

#define S(x) NM_CONTAINER_##x
#define E(x) NM_CONTAINER_EV_##x
#define STAY(state, event) [S(state)][E(event)] = { act_ignore, S(state), { 0 } }
#define DIAG(state) [S(state)][E(UPDATE_DIAGNOSTICS)] = { act_diagnostics, S(state), { 0 } }

static const struct sv_fsm_cell cells[NM_CONTAINER_N_STATES][NM_CONTAINER_N_EVENTS] = {
    [S(NEW)][E(INIT)] = { act_init,
                          S(LOCALIZING),
                          { S(SCHEDULED), S(LOCALIZATION_FAILED), S(DONE) } },
    [S(NEW)][E(KILL)] = { act_kill_new, S(DONE), { S(NEW) } },
    DIAG(NEW),

    [S(LOCALIZING)][E(RESOURCE_LOCALIZED)] = { act_localized, S(SCHEDULED), { 0 } },
    [S(LOCALIZING)][E(RESOURCE_FAILED)] = { act_localization_failed,
                                            S(LOCALIZATION_FAILED),
                                            { 0 } },
    [S(LOCALIZING)][E(KILL)] = { act_kill_before_running, S(KILLING), { 0 } },
    DIAG(LOCALIZING),

    [S(LOCALIZATION_FAILED)][E(RESOURCES_CLEANEDUP)] = { act_done, S(DONE), { 0 } },
    STAY(LOCALIZATION_FAILED, KILL),
    STAY(LOCALIZATION_FAILED, RESOURCE_LOCALIZED),
    STAY(LOCALIZATION_FAILED, RESOURCE_FAILED),
    DIAG(LOCALIZATION_FAILED),

    [S(SCHEDULED)][E(LAUNCHED)] = { act_launched, S(RUNNING), { 0 } },
    [S(SCHEDULED)][E(EXITED_WITH_FAILURE)] = { act_failure, S(EXITED_WITH_FAILURE), { 0 } },
    [S(SCHEDULED)][E(KILL)] = { act_kill_before_running, S(KILLING), { 0 } },
    DIAG(SCHEDULED),

    [S(RUNNING)][E(EXITED_WITH_SUCCESS)] = { act_success, S(EXITED_WITH_SUCCESS), { 0 } },
    [S(RUNNING)][E(EXITED_WITH_FAILURE)] = { act_failure, S(EXITED_WITH_FAILURE), { 0 } },
    [S(RUNNING)][E(KILLED_ON_REQUEST)] = { act_killed_externally, S(EXITED_WITH_FAILURE), { 0 } },
    [S(RUNNING)][E(KILL)] = { act_kill, S(KILLING), { 0 } },
    DIAG(RUNNING),

    [S(KILLING)][E(KILLED_ON_REQUEST)] = { act_killed, S(CLEANEDUP_AFTER_KILL), { 0 } },
    [S(KILLING)][E(EXITED_WITH_SUCCESS)] = { act_success, S(EXITED_WITH_SUCCESS), { 0 } },
    [S(KILLING)][E(EXITED_WITH_FAILURE)] = { act_failure, S(EXITED_WITH_FAILURE), { 0 } },
    [S(KILLING)][E(RESOURCES_CLEANEDUP)] = { act_done, S(DONE), { 0 } },
    STAY(KILLING, KILL),
    STAY(KILLING, LAUNCHED),
    STAY(KILLING, RESOURCE_LOCALIZED),
    STAY(KILLING, RESOURCE_FAILED),
    DIAG(KILLING),

    [S(EXITED_WITH_SUCCESS)][E(RESOURCES_CLEANEDUP)] = { act_done, S(DONE), { 0 } },
    STAY(EXITED_WITH_SUCCESS, KILL),
    DIAG(EXITED_WITH_SUCCESS),
    [S(EXITED_WITH_FAILURE)][E(RESOURCES_CLEANEDUP)] = { act_done, S(DONE), { 0 } },
    STAY(EXITED_WITH_FAILURE, KILL),
    DIAG(EXITED_WITH_FAILURE),
    [S(CLEANEDUP_AFTER_KILL)][E(RESOURCES_CLEANEDUP)] = { act_done, S(DONE), { 0 } },
    STAY(CLEANEDUP_AFTER_KILL, KILL),
    DIAG(CLEANEDUP_AFTER_KILL),

    STAY(DONE, INIT),
    STAY(DONE, KILL),
    DIAG(DONE),
};

static const struct sv_fsm fsm = {
    .name = "container",
    .n_states = NM_CONTAINER_N_STATES,
    .n_events = NM_CONTAINER_N_EVENTS,
    .state_names = state_names,
    .event_names = event_names,
    .cells = &cells[0][0],
};

const struct sv_fsm *nm_container_fsm(void)
{
    return &fsm;
}

const char *nm_container_state_name(int state)
{
    return state > 0 && state < NM_CONTAINER_N_STATES ? state_names[state] : "?";
}

void nm_container_handle(struct nm_container *c, int event, int code, const char *text)
{
    int was = c->state, r;

    if (event == NM_CONTAINER_EV_KILL && c->kill_code == YARN_EXIT_INVALID)
        c->kill_code = code;
    else if (event == NM_CONTAINER_EV_EXITED_WITH_FAILURE ||
             event == NM_CONTAINER_EV_KILLED_ON_REQUEST)
        c->pending_code = code;
    r = sv_fsm_run(&fsm, &c->state, event, c, (void *)(uintptr_t)text);
    if (r < 0)
        sv_log(SV_LOG_WARNING, c->text,
               "%s: Can't handle this event at current state: Current: "
               "[%s], eventType: [%s]",
               c->text, nm_container_state_name(was), event_names[event]);
    else if (was != c->state)
        sv_log(SV_LOG_DEBUG, c->text, "Container %s transitioned from %s to %s", c->text,
               nm_container_state_name(was), nm_container_state_name(c->state));
}

void nm_container_kill(struct nm_container *c, int exit_code, const char *why)
{
    if (c->state == NM_CONTAINER_DONE)
        return;
    if (!c->kill_requested && c->recovered != NM_RECOVERED_COMPLETED) {
        c->kill_requested = true;
        c->kill_code = exit_code;
        if (nm_store_container_killed(c->nm->store, c->text, exit_code) < 0)
            sv_log(SV_LOG_ERR, c->text, "%s: its kill is not on record", c->text);
    }
    nm_post_container(c, NM_CONTAINER_EV_KILL, exit_code, why);
}

bool nm_container_is_done(const struct nm_container *c)
{
    return c->state == NM_CONTAINER_DONE;
}

/* ---- what others see ------------------------------------------------------------------------*/

static Hadoop__Yarn__ContainerSubStateProto sub_state(int state)
{
    switch (state) {
    case NM_CONTAINER_NEW:
    case NM_CONTAINER_LOCALIZING:
    case NM_CONTAINER_SCHEDULED:
        return HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_SCHEDULED;
    case NM_CONTAINER_RUNNING:
    case NM_CONTAINER_KILLING:
        return HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_RUNNING;
    case NM_CONTAINER_DONE:
        return HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_DONE;
    default:
        return HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_COMPLETING;
    }
}

static Hadoop__Yarn__StringStringMapProto *attribute(struct sv_arena *a, const char *key,
                                                     const char *value)
{
    Hadoop__Yarn__StringStringMapProto *m = sv_new(a, Hadoop__Yarn__StringStringMapProto);

    if (!m)
        return NULL;
    hadoop__yarn__string_string_map_proto__init(m);
    m->key = (char *)(uintptr_t)key;
    m->value = (char *)(uintptr_t)value;
    return m;
}

Hadoop__Yarn__ContainerStatusProto *nm_container_status(const struct nm_container *c,
                                                        struct sv_arena *a)
{
    Hadoop__Yarn__ContainerStatusProto *m = sv_new(a, Hadoop__Yarn__ContainerStatusProto);

    if (!m)
        return NULL;
    hadoop__yarn__container_status_proto__init(m);
    m->container_id = yarn_container_id_to(a, c->id);
    m->has_state = true;
    m->state = c->state == NM_CONTAINER_DONE ? HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE
                                             : HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
    m->diagnostics = sv_arena_strdup(a, c->diagnostics);
    m->has_exit_status = true;
    m->exit_status = c->exit_code;
    m->capability = yarn_resource_to(a, c->resource);
    m->has_executiontype = true;
    m->executiontype = (Hadoop__Yarn__ExecutionTypeProto)c->execution_type;
    m->has_container_sub_state = true;
    m->container_sub_state = sub_state(c->state);
    if (c->state == NM_CONTAINER_RUNNING) { /* host network: the node's own name */
        m->container_attributes = sv_newn(a, Hadoop__Yarn__StringStringMapProto *, 2);
        if (!m->container_attributes)
            return NULL;
        m->n_container_attributes = 2;
        m->container_attributes[0] = attribute(a, "HOST", c->nm->node_id.host);
        m->container_attributes[1] = attribute(a, "IP", c->nm->node_id.host);
        if (!m->container_attributes[0] || !m->container_attributes[1])
            return NULL;
    }
    return m->container_id && m->diagnostics && m->capability ? m : NULL;
}

Hadoop__Yarn__NMContainerStatusProto *nm_container_nm_status(const struct nm_container *c,
                                                             struct sv_arena *a)
{
    Hadoop__Yarn__NMContainerStatusProto *m = sv_new(a, Hadoop__Yarn__NMContainerStatusProto);

    if (!m)
        return NULL;
    hadoop__yarn__nmcontainer_status_proto__init(m);
    m->container_id = yarn_container_id_to(a, c->id);
    m->has_container_state = true;
    m->container_state = c->state == NM_CONTAINER_DONE
                             ? HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE
                             : HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
    m->resource = yarn_resource_to(a, c->resource);
    m->priority = sv_new(a, Hadoop__Yarn__PriorityProto);
    if (!m->priority)
        return NULL;
    hadoop__yarn__priority_proto__init(m->priority);
    m->priority->has_priority = true;
    m->priority->priority = c->priority;
    m->diagnostics = sv_arena_strdup(a, c->diagnostics);
    m->has_container_exit_status = true;
    m->container_exit_status = c->exit_code;
    m->has_creation_time = true;
    m->creation_time = c->creation_ms;
    if (*c->node_label)
        m->nodelabelexpression = sv_arena_strdup(a, c->node_label);
    m->has_version = true;
    m->version = c->version;
    m->has_executiontype = true;
    m->executiontype = (Hadoop__Yarn__ExecutionTypeProto)c->execution_type;
    m->has_allocation_request_id = true;
    m->allocation_request_id = c->allocation_request_id;
    return m->container_id && m->resource && m->diagnostics ? m : NULL;
}
