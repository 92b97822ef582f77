/* resources/container-scheduler.c with a node of 10 MB. Events and kills are noted in the place of
 * being handled; end() and the like play the state machine. For the tests of the scheduler. */
#ifndef SELVEDGE_TESTS_SCHEDULER_FIXTURE_H
#define SELVEDGE_TESTS_SCHEDULER_FIXTURE_H

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/resources/container-scheduler.h"

enum { GUARANTEED = 1, OPPORTUNISTIC = 2 };

static struct nm_conf conf;
static struct nm_context ctx;
static struct nm_scheduler *scheduler;
static struct nm_container containers[1100];
static int n_containers;
static int steps_left = INT_MAX; /* of the turn */
static char happened[65536];     /* "start 1, kill 2, …" */

static inline void note(const char *what, const struct nm_container *c)
{
    size_t used = strlen(happened);

    (void)snprintf(happened + used, sizeof(happened) - used, "%s%s %d", used ? ", " : "", what,
                   (int)(c - containers));
}

int64_t __wrap_sv_loop_spent_ms(void);
void __wrap_nm_container_post(struct nm_container *c, int event, const char *text);
void __wrap_nm_container_kill(struct nm_container *c, int exit_code, const char *why);

int64_t __wrap_sv_loop_spent_ms(void)
{
    return steps_left-- > 0 ? 0 : 5;
}

void __wrap_nm_container_post(struct nm_container *c, int event, const char *text)
{
    assert_non_null(text);
    assert_true(event == NM_CONTAINER_EV_PAUSE || event == NM_CONTAINER_EV_RESUME);
    note(event == NM_CONTAINER_EV_PAUSE ? "pause" : "resume", c);
}

void __wrap_nm_container_kill(struct nm_container *c, int exit_code, const char *why)
{
    assert_int_equal(exit_code, YARN_EXIT_KILLED_BY_CONTAINER_SCHEDULER);
    c->kill_requested = true;
    note(!strcmp(why, "Opportunistic container queue is full.")           ? "refuse"
         : !strcmp(why, "Container De-queued to meet NM queuing limits.") ? "shed"
                                                                          : "kill",
         c);
}

static inline void on_start(void *userdata, struct nm_container *c)
{
    assert_ptr_equal(userdata, &ctx);
    c->state = NM_CONTAINER_RUNNING;
    note("start", c);
}

/* All that has happened since the last call. */
static inline void expect(const char *what)
{
    assert_string_equal(happened, what);
    happened[0] = 0;
}

static inline void expect_figures(int guaranteed, int opportunistic, int running, int64_t memory_mb)
{
    struct nm_scheduler_figures f;

    nm_scheduler_figures(scheduler, &f);
    assert_int_equal(f.queued_guaranteed, guaranteed);
    assert_int_equal(f.queued_opportunistic, opportunistic);
    assert_int_equal(f.running, running);
    assert_int_equal(f.memory_mb, memory_mb);
}

static inline struct nm_container *make(int type, int64_t memory_mb, int32_t vcores)
{
    struct nm_container *c = &containers[n_containers];

    *c = (struct nm_container){ .ctx = &ctx,
                                .state = NM_CONTAINER_SCHEDULED,
                                .execution_type = type,
                                .began_opportunistic = type == OPPORTUNISTIC,
                                .resource = { memory_mb, vcores } };
    (void)snprintf(c->text, sizeof(c->text), "%d", n_containers++);
    return c;
}

static inline struct nm_container *add(int type, int64_t memory_mb)
{
    struct nm_container *c = make(type, memory_mb, 1);

    nm_scheduler_add(scheduler, c, false);
    return c;
}

/* Its process has ended. */
static inline void end(struct nm_container *c)
{
    nm_scheduler_ending(scheduler, c);
    nm_scheduler_leave(scheduler, c);
    nm_scheduler_leave(scheduler, c);
}

static inline void pause_done(struct nm_container *c)
{
    c->state = NM_CONTAINER_PAUSED;
    c->launch.frozen = true;
    nm_scheduler_paused(scheduler, c);
}

static inline void resume_done(struct nm_container *c)
{
    c->state = NM_CONTAINER_RESUMING;
    c->launch.frozen = false;
    nm_scheduler_resumed(scheduler, c);
    c->state = NM_CONTAINER_RUNNING;
}

static inline void update(struct nm_container *c, int type)
{
    c->execution_type = type;
    nm_scheduler_updated(scheduler, c);
}

static inline void again(void)
{
    nm_scheduler_free(scheduler);
    scheduler = nm_scheduler_new(&ctx);
    assert_non_null(scheduler);
    nm_scheduler_on_start(scheduler, on_start, &ctx);
    happened[0] = 0;
    n_containers = 0;
}

/* A node of 10 MB and 100 virtual cores. */
static inline int set_up(_unused_ void **state)
{
    conf.queue_max = 3;
    conf.queue_policy = NM_QUEUE_BY_LENGTH;
    conf.queue_pauses = false;
    ctx.total = (struct yarn_resource){ 10, 100 };
    ctx.stopping = false;
    steps_left = INT_MAX;
    again();
    return 0;
}

#define TEST(f) cmocka_unit_test_setup(f, set_up)

static inline int run_group(const struct CMUnitTest *tests, size_t n)
{
    struct sv_error err;
    int r;

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    if (nm_context_open(&ctx, NULL, &conf, &err) < 0)
        return 1;
    r = _cmocka_run_group_tests("container scheduler", tests, n, NULL, NULL);
    nm_scheduler_free(scheduler);
    nm_context_close(&ctx);
    return r;
}

#endif
