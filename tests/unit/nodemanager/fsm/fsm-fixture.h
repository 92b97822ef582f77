/* State machines of fsm/ with stubs of the services that their actions use; posted events are
 * noted, not handled. For the tests of fsm/. */
#ifndef SELVEDGE_TESTS_FSM_FIXTURE_H
#define SELVEDGE_TESTS_FSM_FIXTURE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "executor/exe.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
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
#include "nodemanager/launch/live-links.h"
#include "nodemanager/launch/relaunch.h"
#include "nodemanager/logs/log-aggregation.h"
#include "nodemanager/resources/assignments.h"
#include "nodemanager/resources/container-scheduler.h"
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
    bool no_request, kept;
    int aborted, replaced, replaced_by, forgotten, links;
    nm_store_fn waiter; /* of nm_store_after_commit */
    void *waiter_data;
    int done, launched, cleanups, released, share_released, deleted, app_inits, app_cleaned;
    int log_finished;
    int schedule_launched, schedule_paused, schedule_resumed, schedule_ending, schedule_left;
    int posted_container, posted_app; /* last events */
    char done_exit[32];
} seen;

static inline void pack(uint8_t *buf, size_t *len)
{
    Hadoop__Yarn__StartContainerRequestProto q;
    Hadoop__Yarn__ContainerLaunchContextProto clc;

    hadoop__yarn__start_container_request_proto__init(&q);
    hadoop__yarn__container_launch_context_proto__init(&clc);
    q.container_launch_context = &clc;
    *len = hadoop__yarn__start_container_request_proto__pack(&q, buf);
}

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
void nm_amrm_app_stopped(struct nm_amrm *p, struct yarn_app_id app)
{
    (void)p;
    (void)app;
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
void nm_scheduler_add(struct nm_scheduler *s, struct nm_container *c, bool again)
{
    (void)s;
    (void)c;
    assert_false(again);
    seen.launched++;
}
void nm_scheduler_launched(struct nm_scheduler *s, struct nm_container *c, bool frozen)
{
    (void)s;
    (void)c;
    (void)frozen;
    seen.schedule_launched++;
}
void nm_scheduler_paused(struct nm_scheduler *s, struct nm_container *c)
{
    (void)s;
    (void)c;
    seen.schedule_paused++;
}
void nm_scheduler_resumed(struct nm_scheduler *s, struct nm_container *c)
{
    (void)s;
    (void)c;
    seen.schedule_resumed++;
}
void nm_scheduler_ending(struct nm_scheduler *s, struct nm_container *c)
{
    (void)s;
    (void)c;
    seen.schedule_ending++;
}
void nm_scheduler_leave(struct nm_scheduler *s, struct nm_container *c)
{
    (void)s;
    (void)c;
    seen.schedule_left++;
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
int nm_store_container_request(struct nm_store *s, const char *id, enum nm_stored_request which,
                               int (*fn)(const void *request, size_t len, void *u), void *u)
{
    uint8_t buf[256];
    size_t len;

    (void)s;
    (void)id;
    (void)which;
    if (seen.no_request)
        return -ENOENT;
    pack(buf, &len);
    return fn(buf, len, u);
}
int nm_store_container_reinit(struct nm_store *s, const char *id, int reinit, const void *next,
                              size_t len)
{
    (void)s;
    (void)id;
    (void)next;
    (void)len;
    assert_int_equal(reinit, NM_REINIT_NONE);
    seen.aborted++;
    return 0;
}
int nm_store_container_reinit_kills(struct nm_store *s, const char *id)
{
    (void)s;
    (void)id;
    return seen.localize == -EINVAL ? -EIO : 0;
}
/* The commit is now. */
int nm_store_after_commit(struct nm_store *s, nm_store_fn fn, void *userdata)
{
    (void)s;
    seen.waiter = fn;
    seen.waiter_data = userdata;
    return 0;
}
int nm_localization_next(struct nm_localization *l, struct nm_container *c,
                         enum nm_resources_role role,
                         const Hadoop__Yarn__ContainerLaunchContextProto *clc, struct sv_error *err)
{
    struct nm_localizing *z;

    (void)l;
    assert_non_null(clc);
    if (seen.localize < 0)
        return sv_error_set(err, seen.localize, "refused");
    if (seen.localize == 0)
        assert_int_equal(nm_resources_add(c, 77, role, NULL, 0, &z), 0);
    return seen.localize;
}
void nm_localization_replace(struct nm_localization *l, struct nm_container *c,
                             enum nm_resources_role by, bool keep)
{
    (void)l;
    (void)c;
    seen.replaced_by = by;
    seen.kept = keep;
    seen.replaced++;
}
void nm_localization_forget(struct nm_localization *l, struct nm_container *c,
                            enum nm_resources_role role)
{
    (void)l;
    (void)c;
    assert_int_equal(role, NM_RESOURCES_NEXT);
    seen.forgotten++;
}
void nm_live_links(struct nm_container *c)
{
    (void)c;
    seen.links++;
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
static inline void note_container(const struct sv_event *event, void *userdata)
{
    (void)userdata;
    seen.posted_container = event->type;
}

static inline void note_app(const struct sv_event *event, void *userdata)
{
    (void)userdata;
    seen.posted_app = event->type;
}

static inline void handle(struct nm_container *c, int event, int code, const char *text)
{
    const struct nm_container_exit exit = { .code = code };

    nm_container_handle(&(struct sv_event){ .type = event,
                                            .object = c,
                                            .text = text,
                                            .payload = &exit,
                                            .payload_size = sizeof(exit) },
                        &container_services);
}

static inline void handle_app(struct nm_app *a, int event, const char *text)
{
    nm_app_handle(&(struct sv_event){ .type = event, .object = a, .text = text }, &app_services);
}

static inline struct nm_container *new_container(struct nm_app *app)
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

static inline struct nm_app *new_app(void)
{
    struct nm_app *a;

    assert_int_equal(nm_app_new(&ctx, (struct yarn_app_id){ 1, 1 }, "alice", &a), 0);
    nm_app_add(a);
    return a;
}

static inline void drop(struct nm_app *a, struct nm_container *c)
{
    if (seen.waiter)
        seen.waiter(seen.waiter_data, -ESHUTDOWN);
    seen.waiter = NULL;
    while (c && c->localizing)
        nm_resources_drop(c, c->localizing);
    if (c)
        nm_container_remove(c);
    if (ctx.apps)
        nm_app_remove(a);
    sv_dispatcher_run(ctx.dispatcher); /* frees them */
    nm_app_free_inits(&app_services);
}

static inline int run_group(const struct CMUnitTest *tests, size_t n)
{
    struct sv_error err;
    int r;

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    if (nm_context_open(&ctx, NULL, &conf, &err) < 0)
        return 1;
    sv_dispatcher_register(ctx.dispatcher, NM_MACHINE_CONTAINER, note_container, NULL);
    sv_dispatcher_register(ctx.dispatcher, NM_MACHINE_APP, note_app, NULL);
    r = _cmocka_run_group_tests("fsm", tests, n, NULL, NULL);
    nm_context_close(&ctx);
    return r;
}

#endif
