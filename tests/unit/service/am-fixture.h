/* A service whose instances run, without YARN: a plan, an engine and the table of containers, for
 * the tests of what shows and steers them. */
#ifndef SELVEDGE_TESTS_UNIT_SERVICE_AM_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_SERVICE_AM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "common/conf.h"
#include "service/am/facts/containers.h"
#include "service/am/launch/plan.h"

struct am_fixture {
    struct sv_conf *conf;
    struct svc_plan *plan;
    struct svc_engine *engine;
    struct svc_containers containers;
    int64_t next; /* number of the next container */
};

static const struct yarn_node_id am_node = { "node1", 8041 };

/* Answers the engine's requests, and reports that each container started and is ready. */
static inline void am_fixture_settle(struct am_fixture *f)
{
    const struct svc_op *ops;
    struct svc_op copy[512];
    size_t n;

    for (ops = svc_engine_ops(f->engine, &n); n > 0; ops = svc_engine_ops(f->engine, &n)) {
        assert_true(n <= SV_ARRAY_LEN(copy));
        memcpy(copy, ops, n * sizeof(*ops));
        for (size_t i = 0; i < n; i++) {
            const struct yarn_container_id id = copy[i].container;

            if (copy[i].type == SVC_OP_ASK)
                for (int64_t k = 0; k < copy[i].count; k++) {
                    const struct svc_allocated a = { .container = { { { 1, 1 }, 1 }, ++f->next },
                                                     .node = am_node,
                                                     .request = copy[i].request,
                                                     .priority = copy[i].priority };

                    assert_non_null(svc_containers_add(&f->containers, a.container, &am_node,
                                                       &f->plan->resolved->components[0].resource,
                                                       "node1:8042"));
                    svc_engine_allocated(f->engine, 1, &a);
                }
            else if (copy[i].type == SVC_OP_LAUNCH)
                svc_engine_started(f->engine, 1, id);
            else if (copy[i].type == SVC_OP_CHECK)
                svc_engine_ready(f->engine, 1, id, true);
            else if (copy[i].type == SVC_OP_STOP || copy[i].type == SVC_OP_RELEASE) {
                svc_containers_remove(&f->containers, id);
                svc_engine_completed(f->engine, 1, id, -105, "stopped");
            } else if (copy[i].type == SVC_OP_TIMER && copy[i].at <= 1)
                svc_engine_timer(f->engine, 1);
        }
    }
}

static inline void am_fixture_new(struct am_fixture *f, const char *json)
{
    struct sv_error err = { 0 };
    struct svc_setup setup = { .policy = &svc_yarn_policy, .seed = 1 };

    *f = (struct am_fixture){ .conf = sv_conf_new() };
    if (svc_plan_new(json, strlen(json), f->conf, &f->plan, &err) < 0)
        fail_msg("%s", err.text);
    setup.definition = f->plan->resolved;
    setup.options = f->plan->options;
    setup.limits = f->plan->limits;
    if (svc_engine_new(&setup, &f->engine, &err) < 0)
        fail_msg("%s", err.text);
    svc_engine_start(f->engine, 1);
    am_fixture_settle(f);
}

static inline void am_fixture_free(struct am_fixture *f)
{
    svc_engine_free(f->engine);
    svc_plan_free(f->plan);
    svc_containers_clear(&f->containers);
    sv_conf_free(f->conf);
}

#endif
