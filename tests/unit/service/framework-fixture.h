/* A framework's engine on the fake cluster of engine-fixture.h: roles by hand, and what its master
 * does for one task. */
#ifndef SELVEDGE_TESTS_UNIT_SERVICE_FRAMEWORK_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_SERVICE_FRAMEWORK_FIXTURE_H

#include "service/engine/framework.h"
#include "tests/unit/service/engine-fixture.h"

#define ROLES 3

struct framework {
    struct svc_fw_descriptor d;
    struct svc_fw_role roles[ROLES];
    struct svc_fw_setup setup;
    struct svc_limits limits;
    struct sv_arena *a;
    uint64_t seed;
};

static const char *const role_names[ROLES] = { "PS", "worker", "~x" };

/* Roles of one task each: no retry, one failed task ends the application. */
_unused_ static void framework_init(struct framework *f, size_t n)
{
    memset(f, 0, sizeof(*f));
    f->d = (struct svc_fw_descriptor){ .version = 1,
                                       .user = "alice",
                                       .queue = "default",
                                       .roles = f->roles,
                                       .n_roles = n,
                                       .max_lost = -2,
                                       .max_exceed = 2 };
    for (size_t i = 0; i < n; i++)
        f->roles[i] = (struct svc_fw_role){ .name = role_names[i],
                                            .tasks = 1,
                                            .min_failed = 1,
                                            .entry_point = "true",
                                            .resource = { .cpus = 1, .memory_mb = 128 } };
    f->setup =
        (struct svc_fw_setup){ .descriptor = &f->d, .times = SVC_FW_TIMES_DEFAULT, .wall_ms = 0 };
    f->limits = (struct svc_limits)SVC_LIMITS_DEFAULT;
    f->seed = 1;
}

_unused_ static struct svc_setup framework_setup(struct framework *f)
{
    struct svc_setup setup = { .policy = &svc_framework_policy,
                               .limits = f->limits,
                               .seed = f->seed,
                               .framework = &f->setup };
    struct svc_definition *d;
    struct svc_options *options;

    f->a = sv_arena_free(f->a);
    f->a = sv_arena_new(0);
    assert_non_null(f->a);
    assert_int_equal(svc_fw_definition(&f->d, f->a, &d, &options, NULL), 0);
    setup.definition = d;
    setup.options = options;
    return setup;
}

/* An engine that is not started yet. */
_unused_ static void framework_make(struct world *w, struct framework *f)
{
    struct svc_setup setup = framework_setup(f);

    world_make(w, &setup);
    w->now = 1000;
}

_unused_ static void framework_start(struct world *w, struct framework *f)
{
    framework_make(w, f);
    world_start(w);
}

_unused_ static void framework_free(struct world *w, struct framework *f)
{
    world_free(w);
    f->a = sv_arena_free(f->a);
}

_unused_ static struct svc_fw_view view_of(const struct world *w, const char *instance)
{
    struct svc_fw_view v = { .role = SIZE_MAX };

    if (svc_fw_view(w->e, instance, &v) < 0)
        v.task.state = SVC_FW_N_TASK_STATES; /* there is none */
    return v;
}

_unused_ static enum svc_fw_task_state task_state(const struct world *w, const char *instance)
{
    return view_of(w, instance).task.state;
}

_unused_ static struct svc_fw_end end_of(const struct world *w)
{
    struct svc_fw_end end;

    svc_fw_end(w->e, &end);
    return end;
}

_unused_ static struct ask *ask_for(struct world *w, const char *instance)
{
    for (size_t i = 0; i < w->n_asks; i++)
        if (!strcmp(w->ask[i].asked_for, instance))
            return &w->ask[i];
    return NULL;
}

/* Its request is answered on the host; returns the container. */
_unused_ static size_t allocate_for(struct world *w, const char *instance, const char *host)
{
    struct ask *a = ask_for(w, instance);
    size_t i;

    if (!a)
        fail_msg("nothing is asked for %s", instance);
    i = offer(w, a, host);
    deliver(w, i);
    return i;
}

_unused_ static size_t run_task(struct world *w, const char *instance)
{
    size_t i = allocate_for(w, instance, "h0");

    started(w, i);
    assert_int_equal(task_state(w, instance), SVC_FW_CONTAINER_RUNNING);
    return i;
}

_unused_ static void ended_with(struct world *w, size_t i, int32_t status, const char *why)
{
    box_gone(w, i);
    svc_engine_completed(w->e, w->now, box_id(i), status, why);
    carry_out(w);
}

_unused_ static int migrate(struct world *w, size_t i)
{
    int r = svc_fw_migrate(w->e, w->now, box_id(i), NULL);

    carry_out(w);
    return r;
}

/* The ResourceManager lists all containers that live, but for `without`. */
_unused_ static void list_containers(struct world *w, size_t without)
{
    for (size_t k = 0; k < w->n_alive; k++) {
        struct yarn_container_id id = box_id(w->alive[k]);

        if (w->alive[k] != without)
            svc_fw_listed(w->e, w->now, &id, 1);
    }
    svc_fw_list_end(w->e, w->now, true);
    carry_out(w);
}

#endif
