/* A whole ResourceManager on ports of its own, with a state store in a temporary directory: the
 * fixture of the tests that play NodeManagers and ApplicationMasters by posting their events. */
#ifndef SELVEDGE_TESTS_UNIT_RM_LITE_RM_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_RM_LITE_RM_FIXTURE_H

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/text.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/requests/rm-app-manager.h"
#include "rm-lite/rm.h"
#include "rm-lite/store/store.h"
#include "wire/exit-status.h"
#include "wire/ipc/methods.h"

#define F(x) HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_##x
#define W(x) HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__##x

struct fix {
    sd_event *event;
    struct sv_conf *conf;
    struct rm *rm;
    const char *const (*keys)[2]; /* configuration of the test; ends with NULL */
    char dir[64];
};

static inline int remove_one(const char *path, const struct stat *st, int flag, struct FTW *f)
{
    (void)st;
    (void)flag;
    (void)f;
    return remove(path);
}

static inline void start(struct fix *f)
{
    static const char *const services[] = { "address", "scheduler.address",
                                            "resource-tracker.address", "admin.address",
                                            "webapp.address" };
    struct sv_error err = { 0 };

    f->conf = sv_conf_new();
    assert_non_null(f->conf);
    for (size_t i = 0; i < SV_ARRAY_LEN(services); i++) {
        char key[80];

        (void)snprintf(key, sizeof(key), "yarn.resourcemanager.%s", services[i]);
        assert_int_equal(sv_conf_set(f->conf, key, "127.0.0.1:0"), 0);
    }
    assert_int_equal(sv_conf_set(f->conf, "selvedge.rm.state-dir", f->dir), 0);
    assert_int_equal(sv_conf_set(f->conf, "selvedge.node-secret.file", ""), 0);
    assert_int_equal(sv_conf_set(f->conf, "selvedge.rm.unprotected-nodes", "127.0.0.0/8"), 0);
    assert_int_equal(
        sv_conf_set(f->conf, "yarn.scheduler.capacity.maximum-am-resource-percent", "1"), 0);
    for (const char *const(*k)[2] = f->keys; k && (*k)[0]; k++)
        assert_int_equal(sv_conf_set(f->conf, (*k)[0], (*k)[1]), 0);
    if (rm_new(f->event, f->conf, &f->rm, &err) < 0)
        fail_msg("%s", err.text);
}

static inline void stop(struct fix *f)
{
    f->rm = rm_free(f->rm);
    f->conf = sv_conf_free(f->conf);
}

static inline void setup_with(struct fix *f, const char *const (*keys)[2])
{
    memset(f, 0, sizeof(*f));
    f->keys = keys;
    (void)snprintf(f->dir, sizeof(f->dir), "%s", "/tmp/test-rm-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_true(sd_event_new(&f->event) >= 0);
    start(f);
}

static inline void setup(struct fix *f)
{
    setup_with(f, NULL);
}

static inline void teardown(struct fix *f)
{
    stop(f);
    sd_event_unref(f->event);
    (void)nftw(f->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Commits and posts *_SAVED until nothing is left. */
static inline void settle(struct fix *f)
{
    for (int i = 0; i < 20; i++)
        rm_store_flush(f->rm);
}

static inline void heartbeat(struct fix *f, struct rm_node *n)
{
    struct rm_sched_event ev = { .type = RM_SCHED_NODE_HEARTBEAT,
                                 .node_heartbeat = { .node = &n->id } };

    assert_int_equal(rm_schedule(f->rm, &ev, NULL), 0);
    settle(f);
}

static inline struct rm_node *add_node(struct fix *f, int i)
{
    struct yarn_node_id id = { .port = 1 };
    struct rm_node *n;

    (void)snprintf(id.host, sizeof(id.host), "127.0.0.%d", i);
    n = rm_node_new(f->rm, &id);
    n->http = rm_strdup("127.0.0.1:8042");
    n->version = rm_strdup("3.4.2");
    n->total = (struct rm_res){ 8192, 8 };
    rm_node_post_health(n, RM_NODE_EV_STARTED, true);
    assert_int_equal(n->state, RM_NODE_ST_RUNNING);
    heartbeat(f, n);
    return n;
}

struct submission {
    Hadoop__Yarn__ApplicationSubmissionContextProto ctx;
    Hadoop__Yarn__ApplicationIdProto id;
    Hadoop__Yarn__ResourceProto res;
    struct yarn_app_id app_id;
};

/* A submission of 1 GiB and one core for the master, with the next id; a test changes it. */
static inline void submission_init(struct fix *f, struct submission *s)
{
    *s = (struct submission){ .ctx = HADOOP__YARN__APPLICATION_SUBMISSION_CONTEXT_PROTO__INIT,
                              .id = HADOOP__YARN__APPLICATION_ID_PROTO__INIT,
                              .res = HADOOP__YARN__RESOURCE_PROTO__INIT,
                              .app_id = { f->rm->started_ms, ++f->rm->last_app } };
    s->id.has_id = s->id.has_cluster_timestamp = true;
    s->id.id = s->app_id.id;
    s->id.cluster_timestamp = s->app_id.cluster_ts;
    s->res.has_memory = s->res.has_virtual_cores = true;
    s->res.memory = 1024;
    s->res.virtual_cores = 1;
    s->ctx.application_id = &s->id;
    s->ctx.resource = &s->res;
    s->ctx.has_unmanaged_am = s->ctx.has_maxappattempts = true;
    s->ctx.maxappattempts = 2;
}

static inline struct rm_app *submit_ctx(struct fix *f, struct submission *s)
{
    struct sv_error err = { 0 };
    const char *class;

    if (rm_app_submit(f->rm, &s->ctx, "ann", &class, &err) < 0)
        fail_msg("%s", err.text);
    settle(f);
    return rm_app_find(f->rm, s->app_id);
}

static inline struct rm_app *submit(struct fix *f, bool unmanaged, int attempts)
{
    struct submission s;

    submission_init(f, &s);
    s.ctx.unmanaged_am = unmanaged;
    s.ctx.maxappattempts = attempts;
    return submit_ctx(f, &s);
}

static inline void run_master(struct fix *f, struct rm_app *app)
{
    assert_int_equal(app->current->state, RM_ATT_ST_ALLOCATED);
    assert_int_equal(app->current->master->state, RM_CON_ST_ACQUIRED);
    rm_attempt_post(app->current, RM_ATT_EV_LAUNCHED, NULL);
    rm_container_post(app->current->master, RM_CON_EV_LAUNCHED);
    settle(f);
    assert_int_equal(app->state, RM_APP_ST_ACCEPTED);
    app->current->registered = true;
    rm_attempt_post(app->current, RM_ATT_EV_REGISTERED, NULL);
    settle(f);
    assert_int_equal(app->state, RM_APP_ST_RUNNING);
}

static inline void kill_app(struct fix *f, struct rm_app *app)
{
    rm_app_post(app, RM_APP_EV_KILL, "Application was killed by user ann");
    settle(f);
}

/* Asks for `count` containers of 1 GiB and one core and lets every node heartbeat: they are
 * allocated, not pulled. */
static inline void ask_containers(struct fix *f, struct rm_app *app, int count)
{
    struct rm_ask ask = { .priority = 1,
                          .allocation_id = -1,
                          .name = RM_ANY,
                          .capability = { 1024, 1 },
                          .count = count,
                          .relax = true };
    struct rm_sched_event ev = { .type = RM_SCHED_ASK,
                                 .ask = { .app = app->id, .asks = &ask, .n_asks = 1 } };

    assert_int_equal(rm_schedule(f->rm, &ev, NULL), 0);
    for (int i = 0; i < count; i++)
        for (struct rm_node *n = f->rm->nodes; n; n = n->hh.next)
            if (n->in_sched)
                heartbeat(f, n);
}

/* The ApplicationMaster pulls the first of its new containers. */
static inline struct rm_container *pull_container(struct rm_attempt *att)
{
    struct rm_container *c = att->fresh;

    assert_non_null(c);
    DL_DELETE2(att->fresh, c, f_prev, f_next);
    c->in_fresh = false;
    rm_container_post(c, RM_CON_EV_ACQUIRED);
    assert_int_equal(c->state, RM_CON_ST_ACQUIRED);
    return c;
}

#endif
