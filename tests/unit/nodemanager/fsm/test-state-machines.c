/* Walks every declared edge of the container and application machines, and every refused event.
 * Everything that the actions ask of other components is played here. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/log.h"
#include "executor/exe.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/audit-logger.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/token-secret-managers.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/launch/container-launch.h"
#include "nodemanager/nm.h"
#include "nodemanager/resources/mcs.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/deletion-service.h"
#include "nodemanager/services/localization.h"
#include "nodemanager/services/log-handler.h"
#include "nodemanager/store/state-store.h"

/* ---- the components around the machines -----------------------------------------------------*/

static struct {
    int localize; /* what nm_localization_request answers */
    int done, launched, cleanups, released, deleted, app_inits, app_cleaned, log_finished;
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
int nm_localization_request(struct nm_container *c, struct sv_error *err)
{
    (void)c;
    return seen.localize < 0 ? sv_error_set(err, seen.localize, "refused") : seen.localize;
}
void nm_localization_release(struct nm_container *c)
{
    (void)c;
    seen.released++;
}
void nm_localization_app_finished(struct nm_app *a)
{
    (void)a;
    seen.app_cleaned++;
}
void nm_deletion_container(struct nm_container *c)
{
    (void)c;
    seen.deleted++;
}
void nm_deletion_app(struct nm_app *a)
{
    (void)a;
}
void nm_launch_start(struct nm_container *c)
{
    (void)c;
    seen.launched++;
}
void nm_launch_cleanup(struct nm_container *c)
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
void nm_secrets_app_finished(struct nm_secrets *s, struct yarn_app_id app)
{
    (void)s;
    (void)app;
}
void nm_log_handler_app_finished(struct nm_log_handler *h, struct nm_app *a)
{
    (void)h;
    (void)a;
    seen.log_finished++;
}
uint32_t nm_dirs_local_mask(const struct nm_dirs *d)
{
    (void)d;
    return 1;
}
uint32_t nm_dirs_log_mask(const struct nm_dirs *d)
{
    (void)d;
    return 1;
}
void nm_set_unhealthy(struct nm *nm, const char *why)
{
    (void)nm;
    (void)why;
}
int nm_mcs_assign(struct nm_mcs *m, struct nm_app *a, struct sv_error *err)
{
    (void)m;
    (void)a;
    (void)err;
    return 0;
}
int exe_init_app(struct exe *x, struct yarn_app_id app, const char *user, uint32_t l, uint32_t g,
                 const uint16_t *categories, exe_done done, void *userdata)
{
    (void)x;
    (void)app;
    (void)user;
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
void nm_post_container(struct nm_container *c, int event, int code, const char *text)
{
    (void)c;
    (void)code;
    (void)text;
    seen.posted_container = event;
}
void nm_post_app(struct nm_app *a, int event, const char *text)
{
    (void)a;
    (void)text;
    seen.posted_app = event;
}

/* ---- objects --------------------------------------------------------------------------------*/

static struct nm nm;

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
    assert_int_equal(nm_container_new(&nm, &t, buf, len, &c), 0);
    c->recorded = true;
    assert_int_equal(nm_app_join(app, c), 0);
    nm_container_add(c, app);
    return c;
}

static struct nm_app *new_app(void)
{
    struct nm_app *a;

    assert_int_equal(nm_app_new(&nm, (struct yarn_app_id){ 1, 1 }, "alice", &a), 0);
    nm_app_add(a);
    return a;
}

static void drop(struct nm_app *a, struct nm_container *c)
{
    if (c)
        nm_container_remove(c);
    if (nm.apps)
        nm_app_remove(a);
    nm_container_free_dead(&nm);
    nm_app_free_dead(&nm);
    nm_app_free_inits(&nm);
}

/* ---- walks ----------------------------------------------------------------------------------*/

#define VARIANTS 32

/* Different circumstances, so that actions with a choice make every choice. */
static void circumstances(struct nm_container *c, int variant)
{
    memset(&seen, 0, sizeof(seen));
    seen.localize = variant & 1 ? 1 : variant & 2 ? -EINVAL : 0;
    if (variant & 4)
        c->recovered = NM_RECOVERED_COMPLETED;
    if (variant & 8)
        c->exe = (struct exe_container *)(uintptr_t)8; /* never looked into */
    c->recovering = variant & 16;
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

                circumstances(c, v);
                c->state = s;
                nm_container_handle(c, e, 3, "why");
                if (!cell->next)
                    assert_int_equal(c->state, s);
                else
                    reached[s][e][c->state] = true;
                c->exe = NULL;
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

            for (int v = 0; v < 4; v++) {
                struct nm_app *a = new_app();
                struct nm_container *c = v & 1 ? new_container(a) : NULL;

                memset(&seen, 0, sizeof(seen));
                if (c && v & 2)
                    c->state = NM_CONTAINER_DONE;
                a->state = s;
                nm_app_handle(a, e, v & 2 ? "why" : NULL);
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

/* ---- what the paths leave behind --------------------------------------------------------------*/

static void killed_by_master(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_RUNNING;
    nm_container_handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.cleanups, 1);
    nm_container_handle(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, YARN_EXIT_TERMINATED, "exit 143");
    assert_int_equal(c->exit_code, YARN_EXIT_KILLED_BY_APPMASTER);
    assert_int_equal(seen.deleted, 1);
    nm_container_handle(c, NM_CONTAINER_EV_RESOURCES_CLEANEDUP, 0, NULL);
    assert_int_equal(c->state, NM_CONTAINER_DONE);
    assert_string_equal(seen.done_exit, "-105");
    assert_non_null(strstr(c->diagnostics, "]by master\n["));
    drop(a, c);
}

/* Between the launch that failed and the record of that: it ends once, by what is about to be told.
 */
static void killed_while_its_failure_is_recorded(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->state = NM_CONTAINER_SCHEDULED;
    c->pending_event = NM_CONTAINER_EV_EXITED_WITH_FAILURE;
    nm_container_handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_KILLING);
    assert_int_equal(seen.posted_container, 0);
    c->pending_event = 0;
    nm_container_handle(c, NM_CONTAINER_EV_EXITED_WITH_FAILURE, 24, "no launch");
    assert_int_equal(c->state, NM_CONTAINER_EXITED_WITH_FAILURE);
    assert_int_equal(seen.released, 1);
    assert_int_equal(seen.deleted, 1);
    nm_container_handle(c, NM_CONTAINER_EV_RESOURCES_CLEANEDUP, 0, NULL);
    assert_int_equal(seen.done, 1);
    drop(a, c);
}

/* A stop that comes in the same turn of the loop as the start. */
static void killed_before_its_application_begins(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->recorded = false;
    nm_container_handle(c, NM_CONTAINER_EV_KILL, YARN_EXIT_KILLED_BY_APPMASTER, "by master");
    assert_int_equal(c->state, NM_CONTAINER_DONE);
    assert_int_equal(seen.posted_app, NM_APP_EV_CONTAINER_FINISHED);
    assert_int_equal(
        nm_app_fsm()->cells[NM_APP_NEW * NM_APP_N_EVENTS + NM_APP_EV_CONTAINER_FINISHED].next,
        NM_APP_NEW);
    nm_app_handle(a, NM_APP_EV_CONTAINER_FINISHED, c->text);
    assert_int_equal(a->state, NM_APP_NEW);
    drop(a, c);
}

static void killed_from_outside(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    c->state = NM_CONTAINER_RUNNING;
    nm_container_handle(c, NM_CONTAINER_EV_KILLED_ON_REQUEST, YARN_EXIT_FORCE_KILLED, "exit 137");
    assert_int_equal(c->state, NM_CONTAINER_EXITED_WITH_FAILURE);
    assert_int_equal(c->exit_code, YARN_EXIT_FORCE_KILLED);
    assert_non_null(strstr(c->diagnostics, "]Killed by external signal\n"));
    drop(a, c);
}

static void diagnostics_keep_the_end(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    nm.conf.diagnostics_max = 200;
    for (int i = 0; i < 100; i++)
        nm_container_add_diagnostics(c, "\xc3\xa4\xc3\xb6 0123456789\n");
    assert_true(strlen(c->diagnostics) <= 200);
    assert_true((c->diagnostics[0] & 0xc0) != 0x80);
    nm.conf.diagnostics_max = 10000;
    drop(a, c);
}

static void waits_for_its_record(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    memset(&seen, 0, sizeof(seen));
    c->recorded = false;
    a->state = NM_APP_INITING;
    nm_app_handle(a, NM_APP_EV_APPLICATION_INITED, NULL);
    assert_int_equal(seen.posted_container, 0);
    c->recorded = true;
    nm_app_handle(a, NM_APP_EV_INIT_CONTAINER, c->text);
    assert_int_equal(seen.posted_container, NM_CONTAINER_EV_INIT);
    drop(a, c);
}

/* Its directories are not deleted while the helper still makes them. */
static void not_cleaned_while_made(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);

    (void)state;
    c->state = NM_CONTAINER_DONE;
    a->state = NM_APP_INITING;
    a->initing = true;
    nm_app_handle(a, NM_APP_EV_FINISH_APPLICATION, "killed");
    assert_int_equal(a->state, NM_APP_FINISHING_CONTAINERS_WAIT);
    nm_app_handle(a, NM_APP_EV_CONTAINER_FINISHED, c->text);
    assert_int_equal(a->state, NM_APP_FINISHING_CONTAINERS_WAIT);
    a->initing = false;
    nm_app_handle(a, NM_APP_EV_APPLICATION_INITED, NULL);
    assert_int_equal(a->state, NM_APP_RESOURCES_CLEANINGUP);
    drop(a, c);
}

static void statuses(void **state)
{
    struct nm_app *a = new_app();
    struct nm_container *c = new_container(a);
    _cleanup_arena_ struct sv_arena *arena = sv_arena_new(0);
    Hadoop__Yarn__ContainerStatusProto *m;

    (void)state;
    c->state = NM_CONTAINER_KILLING;
    m = nm_container_status(c, arena);
    assert_int_equal(m->state, HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING);
    assert_int_equal(m->container_sub_state, HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_RUNNING);
    c->state = NM_CONTAINER_DONE;
    m = nm_container_status(c, arena);
    assert_int_equal(m->state, HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE);
    assert_non_null(nm_container_nm_status(c, arena));
    drop(a, c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walk_container),
        cmocka_unit_test(walk_app),
        cmocka_unit_test(killed_by_master),
        cmocka_unit_test(killed_from_outside),
        cmocka_unit_test(killed_while_its_failure_is_recorded),
        cmocka_unit_test(killed_before_its_application_begins),
        cmocka_unit_test(diagnostics_keep_the_end),
        cmocka_unit_test(waits_for_its_record),
        cmocka_unit_test(not_cleaned_while_made),
        cmocka_unit_test(statuses),
    };

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    nm.conf.diagnostics_max = 10000;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
