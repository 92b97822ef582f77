/* fsm/: walks every declared edge of the container and application state machines, and every
 * refused event. The services that the actions use are stubs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "executor/exe.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/core/system-credentials.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/fsm/application-fsm.h"
#include "nodemanager/fsm/container-fsm.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/launch/container-cleanup.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/launch/relaunch.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/mcs.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/store/state-store.h"

/* ---- stubs of the services --------------------------------------------------------------------*/

static struct {
    int localize;              /* result of nm_localization_request */
    int freeze;                /* result of nm_cleanup_freeze */
    int again, exits_released; /* nm_relaunch_after, nm_launch_release */
    int done, launched, cleanups, released, share_released, deleted, app_inits, app_cleaned;
    int log_finished;
    int posted_container, posted_app; /* last events */
    char done_exit[32];
} seen;

int nm_store_app_finished(struct nm_store *s, const char *app)
{
    (void)s;
    (void)app;
    return 0;
}
int nm_store_app_remove(struct nm_store *s, const char *app)
{
    (void)s;
    (void)app;
    return 0;
}
void nm_aux_container_init(struct nm_aux *x, struct nm_container *c)
{
    (void)x;
    (void)c;
}
void nm_aux_container_stop(struct nm_aux *x, struct nm_container *c)
{
    (void)x;
    (void)c;
}
void nm_aux_app_stop(struct nm_aux *x, const struct nm_app *a)
{
    (void)x;
    (void)a;
}
int nm_store_container_killed(struct nm_store *s, const char *id, int code)
{
    (void)s;
    (void)id;
    (void)code;
    return 0;
}
int nm_store_container_done(struct nm_store *s, const char *id, int code, int64_t ms, const char *d)
{
    (void)s;
    (void)id;
    (void)ms;
    (void)d;
    seen.done++;
    (void)snprintf(seen.done_exit, sizeof(seen.done_exit), "%d", code);
    return 0;
}
int nm_localization_request(struct nm_localization *l, struct nm_container *c, struct sv_error *err)
{
    (void)l;
    (void)c;
    return seen.localize < 0 ? sv_error_set(err, seen.localize, "refused") : seen.localize;
}
void nm_localization_release(struct nm_localization *l, struct nm_container *c)
{
    (void)l;
    (void)c;
    seen.released++;
}
void nm_localization_app_finished(struct nm_localization *l, const struct nm_app *a)
{
    (void)l;
    (void)a;
    seen.app_cleaned++;
}
void nm_deletion_container(struct nm_deletion *d, struct nm_container *c)
{
    (void)d;
    (void)c;
    seen.deleted++;
}
void nm_deletion_app(struct nm_deletion *d, struct nm_app *a)
{
    (void)d;
    (void)a;
}
void nm_launch_start(struct nm_launcher *l, struct nm_container *c)
{
    (void)l;
    if (c->recovering) /* adopted */
        c->launch.exe = (struct exe_container *)(uintptr_t)8;
    seen.launched++;
}
void nm_launch_release(struct nm_container *c)
{
    c->launch.exit.again = false;
    seen.exits_released++;
}
void nm_relaunch_after(struct nm_container *c, int64_t ms)
{
    (void)c;
    (void)ms;
    seen.again++;
}
int nm_store_container_request(struct nm_store *s, const char *id,
                               int (*fn)(const void *request, size_t len, void *u), void *u)
{
    (void)s;
    (void)id;
    (void)fn;
    (void)u;
    return -ENOENT;
}
int nm_cleanup_freeze(struct nm_container *c, bool frozen)
{
    if (seen.freeze >= 0)
        c->launch.frozen = frozen;
    return seen.freeze;
}
void nm_cleanup_container(struct nm_container *c)
{
    (void)c;
    seen.cleanups++;
}
void nm_updater_container_done(struct nm_updater *u, struct nm_container *c)
{
    (void)u;
    (void)c;
}
void nm_updater_app_finished(struct nm_updater *u, const struct nm_app *a)
{
    (void)u;
    (void)a;
}
void nm_credentials_app_finished(struct nm_credentials *c, const char *app)
{
    (void)c;
    (void)app;
}
void nm_secrets_app_finished(struct nm_secrets *s, struct yarn_app_id app)
{
    (void)s;
    (void)app;
}
void nm_aggregation_app_finished(struct nm_log_aggregation *g, struct nm_app *a)
{
    (void)g;
    (void)a;
    seen.log_finished++;
}
void nm_aggregation_container_done(struct nm_log_aggregation *g, const struct nm_container *c)
{
    (void)g;
    (void)c;
}
uint32_t nm_dirs_local_usable(const struct nm_dirs *d)
{
    (void)d;
    return 1;
}
uint32_t nm_dirs_log_usable(const struct nm_dirs *d)
{
    (void)d;
    return 1;
}
void nm_assign_release(struct nm_assignments *a, struct nm_container *c)
{
    (void)a;
    (void)c;
    seen.share_released++;
}
void nm_health_launch_failed(struct nm_health *h, struct yarn_app_id app,
                             const struct exe_failure *f)
{
    (void)h;
    (void)app;
    (void)f;
}
int nm_mcs_assign(struct nm_mcs *m, struct nm_app *a, struct sv_error *err)
{
    (void)m;
    (void)a;
    (void)err;
    return 0;
}
int exe_init_app(struct exe *x, struct yarn_app_id app, const char *user, const char *name,
                 uint32_t l, uint32_t g, const uint16_t *categories, exe_done done, void *userdata)
{
    (void)x;
    (void)app;
    (void)user, (void)name;
    (void)l;
    (void)g;
    (void)categories;
    (void)done;
    (void)userdata;
    seen.app_inits++;
    return 0;
}
void nm_audit_success(const char *u, const char *ip, const char *o, const char *t,
                      const struct nm_container *c)
{
    (void)u;
    (void)ip;
    (void)o;
    (void)t;
    (void)c;
}
void nm_audit_failure(const char *u, const char *ip, const char *o, const char *t, const char *w,
                      const struct nm_container *c)
{
    (void)u;
    (void)ip;
    (void)o;
    (void)t;
    (void)w;
    (void)c;
}

/* ---- fixtures -------------------------------------------------------------------------------*/

static struct nm_conf conf = { .diagnostics_max = 10000 };
static struct nm_context ctx;
static struct nm_container_services container_services;
static struct nm_app_services app_services;

/* Posted events are recorded, not handled. */
static void note_container(const struct sv_event *event, void *userdata)
{
    (void)userdata;
    seen.posted_container = event->type;
}

static void note_app(const struct sv_event *event, void *userdata)
{
    (void)userdata;
    seen.posted_app = event->type;
}

static void handle(struct nm_container *c, int event, int code, const char *text)
{
    const struct nm_container_exit exit = { .code = code };

    nm_container_handle(&(struct sv_event){ .type = event,
                                            .object = c,
                                            .text = text,
                                            .payload = &exit,
                                            .payload_size = sizeof(exit) },
                        &container_services);
}

static void handle_app(struct nm_app *a, int event, const char *text)
{
    nm_app_handle(&(struct sv_event){ .type = event, .object = a, .text = text }, &app_services);
}

static void pack(uint8_t *buf, size_t *len)
{
    Hadoop__Yarn__StartContainerRequestProto q;
    Hadoop__Yarn__ContainerLaunchContextProto clc;

    hadoop__yarn__start_container_request_proto__init(&q);
    hadoop__yarn__container_launch_context_proto__init(&clc);
    q.container_launch_context = &clc;
    *len = hadoop__yarn__start_container_request_proto__pack(&q, buf);
}

static struct nm_container *new_container(struct nm_app *app)
{
    struct yarn_container_token t = { .container = { { { 1, 1 }, 1 }, 1 }, .resource = { 64, 1 } };
    struct nm_container *c;
    uint8_t buf[256];
    size_t len;

    pack(buf, &len);
    assert_int_equal(nm_container_new(&ctx, &t, buf, len, &c), 0);
    c->recorded = true;
    assert_int_equal(nm_app_join(app, c), 0);
    nm_container_add(c, app);
    return c;
}

static struct nm_app *new_app(void)
{
    struct nm_app *a;

    assert_int_equal(nm_app_new(&ctx, (struct yarn_app_id){ 1, 1 }, "alice", &a), 0);
    nm_app_add(a);
    return a;
}

static void drop(struct nm_app *a, struct nm_container *c)
{
    if (c)
        nm_container_remove(c);
    if (ctx.apps)
        nm_app_remove(a);
    sv_dispatcher_run(ctx.dispatcher); /* frees them */
    nm_app_free_inits(&app_services);
}

/* ---- walks ----------------------------------------------------------------------------------*/

#define VARIANTS 64

/* Different conditions, so that actions with a choice make every choice. */
static void vary(struct nm_container *c, int variant)
{
    memset(&seen, 0, sizeof(seen));
    seen.freeze = variant & 1 ? -ESRCH : 0;
    seen.localize = variant & 1 ? 1 : variant & 2 ? -EINVAL : 0;
    if (variant & 4)
        c->recovered = NM_RECOVERED_COMPLETED;
    if (variant & 8)
        c->launch.exe = (struct exe_container *)(uintptr_t)8; /* never dereferenced */
    c->recovering = variant & 16;
    c->launch.exit.again = variant & 32;
    if (c->recovering && !(variant & 7))
        c->recovered = NM_RECOVERED_LAUNCHED;
}

static void walk_container(void **state)
{
    const struct sv_fsm *fsm = nm_container_fsm();
    bool reached[NM_CONTAINER_N_STATES][NM_CONTAINER_N_EVENTS][NM_CONTAINER_N_STATES] = { 0 };

    (void)state;
    for (int s = 1; s < fsm->n_states; s++) {
        for (int e = 1; e < fsm->n_events; e++) {
            const struct sv_fsm_cell *cell = &fsm->cells[s * fsm->n_events + e];

            for (int v = 0; v < VARIANTS; v++) {
                struct nm_app *a = new_app();
                struct nm_container *c = new_container(a);

                vary(c, v);
                c->state = s;
                handle(c, e, 3, "why");
                if (!cell->next)
                    assert_int_equal(c->state, s);
                else
                    reached[s][e][c->state] = true;
                c->launch.exe = NULL;
                drop(a, c);
            }
            if (!cell->next)
                continue;
            assert_true(reached[s][e][cell->next]);
            for (size_t i = 0; i < SV_ARRAY_LEN(cell->alt); i++)
                assert_true(!cell->alt[i] || reached[s][e][cell->alt[i]]);
            for (int n = 1; n < fsm->n_states; n++)
                assert_true(!reached[s][e][n] || n == cell->next || n == cell->alt[0] ||
                            n == cell->alt[1] || n == cell->alt[2]);
        }
    }
}

static void walk_app(void **state)
{
    const struct sv_fsm *fsm = nm_app_fsm();
    bool reached[NM_APP_N_STATES][NM_APP_N_EVENTS][NM_APP_N_STATES] = { 0 };

    (void)state;
    for (int s = 1; s < fsm->n_states; s++) {
        for (int e = 1; e < fsm->n_events; e++) {
            const struct sv_fsm_cell *cell = &fsm->cells[s * fsm->n_events + e];

            for (int v = 0; v < 8; v++) {
                struct nm_app *a = new_app();
                struct nm_container *c = v & 1 ? new_container(a) : NULL;
                bool named = c && v & 4; /* by the event, of an application without directories */

                memset(&seen, 0, sizeof(seen));
                if (c && v & 2)
                    c->state = NM_CONTAINER_DONE;
                a->state = s;
                a->init_error = named ? strdup("none") : NULL;
                if (named)
                    c->recorded = true;
                handle_app(a, e, named ? c->text : v & 2 ? "why" : NULL);
                if (!cell->next)
                    assert_int_equal(a->state, s);
                else
                    reached[s][e][a->state] = true;
                drop(a, c);
            }
            if (!cell->next)
                continue;
            assert_true(reached[s][e][cell->next]);
            assert_true(!cell->alt[0] || reached[s][e][cell->alt[0]]);
        }
    }
}

/* ---- paths ----------------------------------------------------------------------------------*/

static void killed_by_master(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_RUNNING;
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.cleanups, 1);
    handle(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, YARN_EXIT_TERMINATED, "exit 143");
    assert_int_equal(c->exit_code, YARN_EXIT_KILLED_BY_APPMASTER);
    assert_int_equal(seen.deleted, 1);
    handle(c, NM_CONTAINER_EV_RESOURCES_CLEANEDUP, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_DONE);
    assert_string_equal(seen.done_exit, "-105");
    assert_non_null(strstr(c->diagnostics, "]by master\n["));
    drop(a, c);
}

/* A kill between a failed launch and the record of the failure: it ends once, by the event of the
 * failure. */
static void killed_while_failure_is_recorded(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_SCHEDULED;
    c->launch.exit.event = NM_CONTAINER_EV_EXITED_WITH_FAILURE;
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.posted_container, 0);
    c->launch.exit.event = 0;
    handle(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, 24, "no launch");
    assert_int_equal(c->state, NM_CONTAINER_EXITED_WITH_FAILURE);
    assert_int_equal(seen.released, 1);
    assert_int_equal(seen.deleted, 1);
    handle(c, NM_CONTAINER_EV_RESOURCES_CLEANEDUP, 0, NULL);
    assert_int_equal(seen.done, 1);
    drop(a, c);
}

/* A stop in the same loop iteration as the start. */
static void killed_before_application_init(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->recorded = false;
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_DONE);
    assert_int_equal(seen.posted_app, NM_APP_EV_CONTAINER_FINISHED);
    assert_int_equal(seen.share_released, 1);
    assert_int_equal(
        nm_app_fsm()->cells[NM_APP_NEW * NM_APP_N_EVENTS + NM_APP_EV_CONTAINER_FINISHED].next,
        NM_APP_NEW);
    handle_app(a, NM_APP_EV_CONTAINER_FINISHED, c->text);
    assert_int_equal(a->state, NM_APP_NEW);
    drop(a, c);
}

static void killed_externally(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    c->state = NM_CONTAINER_RUNNING;
    handle(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, YARN_EXIT_FORCE_KILLED, "exit 137");
    assert_int_equal(c->state, NM_CONTAINER_EXITED_WITH_FAILURE);
    assert_int_equal(c->exit_code, YARN_EXIT_FORCE_KILLED);
    assert_non_null(strstr(c->diagnostics, "]Killed by external signal\n"));
    drop(a, c);
}

/* A failure that the store records as followed by another launch. */
static void retried(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_RUNNING;
    c->retry.policy = HADOOP__YARN__CONTAINER_RETRY_POLICY_PROTO__RETRY_ON_ALL_ERRORS;
    c->launch.exit.again = true;
    handle(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, 7, "why");
    assert_int_equal(c->state, NM_CONTAINER_RELAUNCHING);
    assert_int_equal(c->exit_code, 7); /* as Hadoop: of the last attempt */
    assert_non_null(strstr(c->diagnostics, "]Diagnostic message from attempt : \n["));
    assert_true(seen.again == 1 && !c->launch.exit.again);
    assert_int_equal(seen.released + seen.deleted + seen.exits_released + seen.done, 0);
    handle(c, NM_CONTAINER_EV_LAUNCHED, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_RUNNING);
    handle(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, 8, "why");
    assert_int_equal(c->state, NM_CONTAINER_EXITED_WITH_FAILURE);
    assert_true(seen.released == 1 && seen.exits_released == 1);
    drop(a, c);
}

/* A container that an operator freezes is PAUSED, and RUNNING once it is thawed; a cgroup that
 * cannot be frozen changes nothing. */
static void paused(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_RUNNING;
    seen.freeze = -EIO;
    sv_log_set_level((enum sv_log_level)0);
    handle(c, NM_CONTAINER_EV_PAUSE, 0, "by joe");
    sv_log_set_level(SV_LOG_ERR);
    assert_true(c->state == NM_CONTAINER_RUNNING && seen.posted_container == 0);
    seen.freeze = 0;
    handle(c, NM_CONTAINER_EV_PAUSE, 0, "by joe");
    assert_int_equal(c->state, NM_CONTAINER_PAUSING);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_PAUSED);
    handle(c, NM_CONTAINER_EV_PAUSED, 0, NULL);
    assert_true(c->state == NM_CONTAINER_PAUSED && c->launch.frozen);
    assert_non_null(strstr(c->diagnostics, "]by joe\n"));
    handle(c, NM_CONTAINER_EV_RESUME, 0, "by joe");
    assert_int_equal(c->state, NM_CONTAINER_RESUMING);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_RESUMED);
    handle(c, NM_CONTAINER_EV_RESUMED, 0, NULL);
    assert_true(c->state == NM_CONTAINER_RUNNING && !c->launch.frozen);
    c->state = NM_CONTAINER_SCHEDULED; /* as the last daemon left it */
    handle(c, NM_CONTAINER_EV_RECOVER_PAUSED, 0, NULL);
    assert_true(c->state == NM_CONTAINER_PAUSED && !c->clc);
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_true(c->state == NM_CONTAINER_KILLING && seen.cleanups == 1);
    drop(a, c);
}

/* A stop before the next launch: no process, it ends at once. */
static void killed_before_relaunch(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_RELAUNCHING;
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_RESOURCES_CLEANEDUP);
    assert_true(seen.released == 1 && seen.exits_released == 1 && seen.cleanups == 0);
    drop(a, c);
}

static void waits_for_record(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->recorded = false;
    a->state = NM_APP_INITING;
    handle_app(a, NM_APP_EV_APPLICATION_INITED, NULL);
    assert_int_equal(seen.posted_container, 0);
    c->recorded = true;
    handle_app(a, NM_APP_EV_INIT_CONTAINER, c->text);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_INIT);
    seen.posted_container = 0; /* handled in a later turn, behind the same event again */
    handle_app(a, NM_APP_EV_INIT_CONTAINER, c->text);
    assert_int_equal(seen.posted_container, 0);
    drop(a, c);
}

/* The directories are not deleted while the helper still creates them. */
static void not_cleaned_during_init(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    c->state = NM_CONTAINER_DONE;
    a->state = NM_APP_INITING;
    a->initing = true;
    handle_app(a, NM_APP_EV_FINISH_APPLICATION, "killed");
    assert_int_equal(a->state, NM_APP_FINISHING_CONTAINERS_WAIT);
    handle_app(a, NM_APP_EV_CONTAINER_FINISHED, c->text);
    assert_int_equal(a->state, NM_APP_FINISHING_CONTAINERS_WAIT);
    a->initing = false;
    handle_app(a, NM_APP_EV_APPLICATION_INITED, NULL);
    assert_int_equal(a->state, NM_APP_RESOURCES_CLEANINGUP);
    drop(a, c);
}

/* Creates a recovered container whose resources the cache has lost. */
static struct nm_container *recovered_container(struct nm_app *a, int recovered)
{
    struct nm_container *c = new_container(a);

    memset(&seen, 0, sizeof(seen));
    c->recovering = true;
    c->recovered = recovered;
    return c;
}

static void recovered_without_resources(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = recovered_container(a, NM_RECOVERED_LAUNCHED);

    (void)state;
    seen.localize = -EINVAL;
    handle(c, NM_CONTAINER_EV_INIT, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_LOCALIZING);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_RESOURCE_FAILED);
    handle(c, NM_CONTAINER_EV_RESOURCE_FAILED, 0, "gone");
    assert_int_equal(c->state, NM_CONTAINER_SCHEDULED);
    assert_int_equal(seen.launched, 1);
    assert_int_equal(seen.released + seen.deleted + seen.done, 0);
    c->launch.exe = NULL;
    drop(a, c);
}

static void requested_without_resources(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = recovered_container(a, NM_RECOVERED_REQUESTED);

    (void)state;
    c->state = NM_CONTAINER_LOCALIZING;
    handle(c, NM_CONTAINER_EV_RESOURCE_FAILED, 0, "gone");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.launched, 1);
    assert_int_equal(seen.cleanups, 1);
    assert_int_equal(seen.deleted + seen.done, 0);
    c->launch.exe = NULL;
    drop(a, c);
}

static void recovered_killed_while_localizing(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = recovered_container(a, NM_RECOVERED_LAUNCHED);

    (void)state;
    c->state = NM_CONTAINER_LOCALIZING;
    handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.launched, 1);
    assert_int_equal(seen.cleanups, 1);
    assert_int_equal(seen.released + seen.deleted + seen.done, 0);
    c->launch.exe = NULL;
    drop(a, c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walk_container),
        cmocka_unit_test(walk_app),
        cmocka_unit_test(killed_by_master),
        cmocka_unit_test(killed_externally),
        cmocka_unit_test(killed_while_failure_is_recorded),
        cmocka_unit_test(killed_before_application_init),
        cmocka_unit_test(retried),
        cmocka_unit_test(paused),
        cmocka_unit_test(killed_before_relaunch),
        cmocka_unit_test(waits_for_record),
        cmocka_unit_test(recovered_without_resources),
        cmocka_unit_test(requested_without_resources),
        cmocka_unit_test(recovered_killed_while_localizing),
        cmocka_unit_test(not_cleaned_during_init),
    };
    struct sv_error err;
    int r;

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    if (nm_context_open(&ctx, NULL, &conf, &err) < 0)
        return 1;
    sv_dispatcher_register(ctx.dispatcher, NM_MACHINE_CONTAINER, note_container, NULL);
    sv_dispatcher_register(ctx.dispatcher, NM_MACHINE_APP, note_app, NULL);
    r = cmocka_run_group_tests(tests, NULL, NULL);
    nm_context_close(&ctx);
    return r;
}
