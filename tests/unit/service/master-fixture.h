/* A master without YARN, files or network: the functions of client/lib and of its worker are
 * wrapped, note how they are called, and answer when the test wants. What is real: engine, plan,
 * table of containers, checks, status, and the files of service/am/ between them. */
#ifndef SELVEDGE_TESTS_UNIT_SERVICE_MASTER_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_SERVICE_MASTER_FIXTURE_H

#include "tests/unit/service/am-calls.h"

#include "common/conf.h"
#include "service/am/master-internal.h"

#define MF_JOBS_MAX 64

static struct {
    struct svc_master m;
    struct svc_am_options options;
    struct sv_conf *conf;
    int64_t next; /* number of the next container */
    struct {
        struct yarn_container_id id;
        svc_launched_fn launched;
        svc_stored_fn stored;
    } jobs[MF_JOBS_MAX];
    size_t n_jobs;
    struct { /* queries of a container's status, not answered yet */
        struct yarn_container_id id;
        cli_status_fn fn;
    } queries[MF_JOBS_MAX];
    size_t n_queries;
} mf;

/* ---- client/lib ---- */

int __wrap_cli_am_ask(struct cli_am *am, const struct cli_ask *a, struct sv_error *err);
int __wrap_cli_am_ask(struct cli_am *am, const struct cli_ask *a, struct sv_error *err)
{
    (void)am;
    (void)err;
    am_note("ask(%lld=%d of %lld MiB, priority %d) ", (long long)a->request_id, a->count,
            (long long)a->resource.memory_mb, a->priority);
    return 0;
}

int __wrap_cli_am_schedule(struct cli_am *am, const struct cli_scheduling_request *q,
                           struct sv_error *err);
int __wrap_cli_am_schedule(struct cli_am *am, const struct cli_scheduling_request *q,
                           struct sv_error *err)
{
    (void)am;
    (void)err;
    am_note("schedule(%lld=%d tag %s%s) ", (long long)q->request_id, q->count, q->tags[0],
            q->constraint ? " constrained" : "");
    return 0;
}

int __wrap_cli_am_cancel(struct cli_am *am, int32_t priority, int64_t request);
int __wrap_cli_am_cancel(struct cli_am *am, int32_t priority, int64_t request)
{
    (void)am;
    (void)priority;
    am_note("cancel(%lld) ", (long long)request);
    return 0;
}

void __wrap_cli_am_progress(struct cli_am *am, float progress);
void __wrap_cli_am_progress(struct cli_am *am, float progress)
{
    (void)am;
    am_note("progress(%d%%) ", (int)(progress * 100));
}

int __wrap_cli_am_status(struct cli_am *am, struct yarn_container_id id, cli_status_fn fn,
                         void *userdata);
int __wrap_cli_am_status(struct cli_am *am, struct yarn_container_id id, cli_status_fn fn,
                         void *userdata)
{
    (void)am;
    assert_ptr_equal(userdata, &mf.m);
    assert_true(mf.n_queries < MF_JOBS_MAX);
    mf.queries[mf.n_queries].id = id;
    mf.queries[mf.n_queries++].fn = fn;
    return 0;
}

/* ---- The worker ---- */

int __wrap_svc_work_launch(struct svc_work *w, struct yarn_container_id id,
                           const struct svc_launch_request *q, svc_launched_fn fn, void *userdata);
int __wrap_svc_work_launch(struct svc_work *w, struct yarn_container_id id,
                           const struct svc_launch_request *q, svc_launched_fn fn, void *userdata)
{
    (void)w;
    (void)userdata;
    assert_true(mf.n_jobs < MF_JOBS_MAX);
    mf.jobs[mf.n_jobs].id = id;
    mf.jobs[mf.n_jobs].stored = NULL;
    mf.jobs[mf.n_jobs++].launched = fn;
    am_note("prepare(%s) ", q->instance);
    return 0;
}

int __wrap_svc_work_replace(struct svc_work *w, const char *name, struct sv_buf *bytes,
                            svc_stored_fn fn, void *userdata);
int __wrap_svc_work_replace(struct svc_work *w, const char *name, struct sv_buf *bytes,
                            svc_stored_fn fn, void *userdata)
{
    (void)w;
    (void)userdata;
    assert_true(mf.n_jobs < MF_JOBS_MAX && bytes->len > 0);
    sv_buf_free(bytes);
    mf.jobs[mf.n_jobs].launched = NULL;
    mf.jobs[mf.n_jobs++].stored = fn;
    am_note("store(%s) ", name);
    return 0;
}

/* ---- The test's side ---- */

/* Ends all jobs of the worker with this status. */
static inline void mf_jobs(int status)
{
    static const struct cli_launch launch;
    struct sv_error err = { 0 };

    if (status < 0)
        (void)sv_error_set(&err, status, "no such file");
    for (size_t i = 0; i < mf.n_jobs; i++)
        if (mf.jobs[i].launched)
            mf.jobs[i].launched(mf.jobs[i].id, status, &launch, &err, &mf.m);
        else
            mf.jobs[i].stored(0, &err, &mf.m);
    mf.n_jobs = 0;
}

/* Turns and jobs until there are none; `status` of the jobs. */
static inline void mf_settle(int status)
{
    for (am_turn(mf.m.event); mf.n_jobs > 0; am_turn(mf.m.event))
        mf_jobs(status);
}

/* Answers what nodes are asked, until the instance is ready. */
static inline void mf_ready(const char *instance);

/* Allocates one container for a request; its number. */
static inline int64_t mf_allocate(int64_t request, int32_t priority)
{
    const struct cli_allocation c = { .id = am_container(++mf.next),
                                      .node = { "node1", 8041 },
                                      .http_address = "node1:8042",
                                      .priority = priority,
                                      .request_id = request };

    svc_master_yarn_ops.allocated(NULL, &c, &mf.m);
    return mf.next;
}

static inline void mf_completed(int64_t number, int32_t exit_status)
{
    svc_master_yarn_ops.completed(NULL, am_container(number), exit_status, "it ended", &mf.m);
}

static inline void mf_registered(void)
{
    const struct cli_registration r = { .queue = "default" };

    svc_master_yarn_ops.registered(NULL, &r, &mf.m);
}

/* A container from its allocation to READY; its number. */
static inline int64_t mf_run(int64_t request, int32_t priority)
{
    int64_t number = mf_allocate(request, priority);
    struct svc_instance_view v;

    mf_settle(0);
    svc_master_yarn_ops.started(NULL, am_container(number), 0, NULL, &mf.m);
    assert_int_equal(svc_engine_find_container(mf.m.engine, am_container(number), &v), 0);
    mf_ready(v.name);
    return number;
}

/* The request and priority of a component, as the engine numbers them. */
static inline void mf_assert_log(const char *part)
{
    if (!strstr(am_calls.log, part))
        fail_msg("\"%s\" is not in: %s", part, am_calls.log);
}

static inline enum svc_instance_state mf_state(const char *instance)
{
    struct svc_instance_view v;

    assert_int_equal(svc_engine_find(mf.m.engine, instance, &v), 0);
    return v.state;
}

static inline void mf_ready(const char *instance)
{
    static const struct cli_container_status answer = { .ips = "10.1.2.3", .host = "ctr-1.site" };
    size_t n;

    for (int i = 0; i < 100 && mf_state(instance) != SVC_INSTANCE_READY; i++) {
        assert_true(sd_event_run(mf.m.event, 1000000) >= 0);
        n = mf.n_queries;
        mf.n_queries = 0;
        for (size_t k = 0; k < n; k++)
            mf.queries[k].fn(NULL, mf.queries[k].id, 0, &answer, NULL, &mf.m);
    }
    assert_int_equal(mf_state(instance), SVC_INSTANCE_READY);
}

static inline void mf_new(const char *json)
{
    struct sv_error err = { 0 };
    struct svc_checks_config checks = { .interval_ms = 1000, .report = svc_master_checked };
    struct svc_setup setup = { .policy = &svc_yarn_policy, .seed = 1 };
    struct svc_master *m = &mf.m;

    memset(&mf, 0, sizeof(mf));
    memset(&am_calls, 0, sizeof(am_calls));
    mf.options = (struct svc_am_options){ .name = "shop", .user = "alice" };
    mf.conf = sv_conf_new();
    m->options = &mf.options;
    m->definition_file = "shop.json";
    if (svc_plan_new(json, strlen(json), mf.conf, &m->plan, &err) < 0)
        fail_msg("%s", err.text);
    m->version = m->plan->stored->version;
    setup.definition = m->plan->resolved;
    setup.options = m->plan->options;
    setup.limits = m->plan->limits;
    assert_int_equal(svc_engine_new(&setup, &m->engine, &err), 0);
    assert_int_equal(sd_event_new(&m->event), 0);
    m->tokens = svc_tokens_new(NULL);
    assert_non_null(m->tokens);
    checks.userdata = m;
    assert_int_equal(svc_checks_new(m->event, &checks, &m->checks, &err), 0);
    assert_int_equal(
        svc_status_new(m->event, m->engine, &m->containers, svc_master_status_done, m, &m->status),
        0);
    assert_int_equal(svc_status_definition(m->status, m->plan->stored), 0);
    assert_true(svc_master_operations_new(m) >= 0);
    assert_int_equal(svc_master_names_new(m, mf.conf), 0);
}

static inline void mf_free(void)
{
    struct svc_master *m = &mf.m;

    while (mf.n_jobs > 0) /* the loop may have ended */
        mf_jobs(0);
    svc_checks_free(m->checks);
    svc_addresses_free(m->addresses);
    svc_status_free(m->status);
    sd_event_source_disable_unref(m->turn);
    sd_event_source_disable_unref(m->engine_timer);
    sd_event_source_disable_unref(m->localized_timer);
    sd_event_source_disable_unref(m->exit_timer);
    svc_engine_free(m->engine);
    svc_tokens_free(m->tokens);
    svc_plan_free(m->plan);
    svc_names_free(m->names);
    svc_containers_clear(&m->containers);
    svc_containers_clear(&m->expected);
    sd_event_unref(m->event);
    sv_conf_free(mf.conf);
}

#endif
