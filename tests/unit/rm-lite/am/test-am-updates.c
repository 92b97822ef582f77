/* rm-lite/am/am-updates.c, fsm/container-update.c: updates of running containers, from the request
 * to the new token, and what their nodes' reports and the time make of them. */
#include "tests/unit/rm-lite/peer-calls.h"

#include "rm-lite/am/am-updates.h"
#include "rm-lite/periodic.h"

#define UPDATE(x) HADOOP__YARN__CONTAINER_UPDATE_TYPE_PROTO__##x
#define TYPE(x) HADOOP__YARN__EXECUTION_TYPE_PROTO__##x

typedef Hadoop__Yarn__AllocateResponseProto Answer;

static const char *const keys[][2] = {
    { "yarn.resourcemanager.opportunistic-container-allocation.enabled", "true" },
    { "yarn.scheduler.capacity.user-limit-factor", "-1" },
    { NULL, NULL },
};

struct running { /* a container of 1 GiB beside its master on a node of 8 */
    struct fix f;
    struct sv_arena *a;
    struct rm_node *n;
    struct rm_app *app;
    struct rm_container *c;
};

static void begin(struct running *r)
{
    setup_with(&r->f, keys);
    r->f.rm->hold_until_ms = 0;
    r->a = sv_arena_new((size_t)64 << 20);
    r->n = add_node(&r->f, 1);
    r->app = submit(&r->f, false, 2);
    run_master(&r->f, r->app);
    ask_containers(&r->f, r->app, 1);
    r->c = pull_container(r->app->current);
    rm_container_post(r->c, RM_CON_EV_LAUNCHED);
    assert_int_equal(r->c->state, RM_CON_ST_RUNNING);
}

static void finish(struct running *r)
{
    sv_arena_free(r->a);
    teardown(&r->f);
}

/* One update of the container; type and size or execution type. */
static const Answer *update(struct running *r, int type, int64_t mem, int64_t vcores)
{
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__UpdateContainerRequestProto one =
        HADOOP__YARN__UPDATE_CONTAINER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__UpdateContainerRequestProto *list[] = { &one };

    one.container_id = yarn_container_id_to(r->a, r->c->id);
    one.container_version = r->c->version;
    one.update_type = (Hadoop__Yarn__ContainerUpdateTypeProto)type;
    if (mem)
        one.capability = yarn_resource_to(r->a, (struct yarn_resource){ mem, (int)vcores, 0 });
    one.has_execution_type = !mem;
    one.execution_type =
        type == UPDATE(DEMOTE_EXECUTION_TYPE) ? TYPE(OPPORTUNISTIC) : TYPE(GUARANTEED);
    q.has_response_id = true;
    q.response_id = r->app->current->response_id;
    q.update_requests = list;
    q.n_update_requests = 1;
    return master_must(&r->f, r->a, r->app->current, "allocate", &q.base,
                       &hadoop__yarn__allocate_response_proto__descriptor);
}

static void is(const Answer *m, int type, int32_t version, int64_t mem)
{
    assert_int_equal(m->n_update_errors, 0);
    assert_int_equal(m->n_updated_containers, 1);
    assert_int_equal(m->updated_containers[0]->update_type, type);
    assert_int_equal(m->updated_containers[0]->container->version, version);
    assert_int_equal(m->updated_containers[0]->container->resource->memory, mem);
    assert_non_null(m->updated_containers[0]->container->container_token);
}

static void refused(const Answer *m, const char *why)
{
    assert_int_equal(m->n_updated_containers, 0);
    assert_int_equal(m->n_update_errors, 1);
    assert_string_equal(m->update_errors[0]->reason, why);
}

static int64_t used(struct running *r)
{
    struct rm_app_usage u;

    assert_int_equal(rm_sched_app_usage(r->f.rm->sched, r->app->id, &u), 0);
    return u.used.mem;
}

static void reported(struct running *r, int64_t mem, int32_t version)
{
    rm_container_post_size(r->c, RM_CON_EV_NM_DONE_CHANGE_RESOURCE, (struct rm_res){ mem, 1 },
                           version);
}

/* The timers, as if the time of the token was over. The clock goes on for the connections. */
static void expire(struct running *r)
{
    assert_true(r->c->expires_ms > 0);
    r->c->expires_ms = 1;
    rm_periodic_run(r->f.rm);
    settle(&r->f);
}

static void test_increase_and_decrease(void **state)
{
    struct running r;

    (void)state;
    begin(&r);
    is(update(&r, UPDATE(INCREASE_RESOURCE), 3072, 1), UPDATE(INCREASE_RESOURCE), 1, 3072);
    assert_int_equal(used(&r), 4096);
    assert_int_equal(r.app->live.mem, 4096);
    assert_int_equal(r.c->confirmed.mem, 1024);
    assert_true(r.c->expires_ms > 0);
    assert_null(r.n->to_update); /* its master tells the node */
    reported(&r, 3072, 1);
    assert_int_equal(r.c->expires_ms, 0);
    assert_int_equal(r.c->confirmed.mem, 3072);
    is(update(&r, UPDATE(DECREASE_RESOURCE), 2048, 1), UPDATE(DECREASE_RESOURCE), 2, 2048);
    assert_int_equal(used(&r), 3072);
    assert_non_null(r.n->to_update);
    assert_null(r.n->to_update->next);
    is(update(&r, UPDATE(DECREASE_RESOURCE), 1024, 1), UPDATE(DECREASE_RESOURCE), 3, 1024);
    assert_null(r.n->to_update->next); /* the node gets the last one */
    assert_null(r.app->updated);
    finish(&r);
}

/* An increase that its master does not use ends with its token; the part that it has used stays. */
static void test_rollback(void **state)
{
    struct running r;
    const Answer *m;

    (void)state;
    begin(&r);
    is(update(&r, UPDATE(INCREASE_RESOURCE), 2048, 1), UPDATE(INCREASE_RESOURCE), 1, 2048);
    is(update(&r, UPDATE(INCREASE_RESOURCE), 4096, 1), UPDATE(INCREASE_RESOURCE), 2, 4096);
    reported(&r, 2048, 1); /* with the first token */
    rm_periodic_run(r.f.rm);
    assert_int_equal(used(&r), 5120);
    expire(&r);
    assert_int_equal(used(&r), 3072);
    assert_int_equal(r.c->state, RM_CON_ST_RUNNING);
    assert_int_equal(r.c->resource.mem, 2048);
    assert_non_null(r.n->to_update);
    m = master_allocate(&r.f, r.a, r.app->current, NULL, 0);
    is(m, UPDATE(DECREASE_RESOURCE), 3, 2048);
    assert_int_equal(r.c->expires_ms, 0);
    finish(&r);
}

/* The node has more than it should: after a decrease that it has not got yet, or with a token of an
 * earlier ResourceManager. */
static void test_node_has_more(void **state)
{
    struct running r;

    (void)state;
    begin(&r);
    reported(&r, 4096, 2);
    assert_int_equal(r.c->resource.mem, 1024);
    assert_int_equal(r.c->version, 3); /* above what the node has: it takes the token */
    assert_non_null(r.n->to_update);
    is(master_allocate(&r.f, r.a, r.app->current, NULL, 0), UPDATE(DECREASE_RESOURCE), 3, 1024);
    reported(&r, 4096, 2); /* told already */
    assert_int_equal(r.c->version, 3);
    finish(&r);
}

static void test_refused(void **state)
{
    struct running r;

    (void)state;
    begin(&r);
    refused(update(&r, UPDATE(INCREASE_RESOURCE), 1024, 1), "RESOURCE_OUTSIDE_ALLOWED_RANGE");
    refused(update(&r, UPDATE(DECREASE_RESOURCE), 2048, 1), "RESOURCE_OUTSIDE_ALLOWED_RANGE");
    refused(update(&r, UPDATE(DECREASE_RESOURCE), 1024, 2), "RESOURCE_OUTSIDE_ALLOWED_RANGE");
    refused(update(&r, UPDATE(INCREASE_RESOURCE), 1 << 20, 1), "RESOURCE_OUTSIDE_ALLOWED_RANGE");
    r.n->total.mem = 4096; /* the maximum allows it, its node does not */
    refused(update(&r, UPDATE(INCREASE_RESOURCE), 5120, 1), "RESOURCE_OUTSIDE_ALLOWED_RANGE");
    assert_int_equal(r.c->version, 0);
    assert_int_equal(used(&r), 2048);
    finish(&r);
}

/* OPPORTUNISTIC, it is not counted; GUARANTEED again, it waits for room. */
static void test_execution_type(void **state)
{
    struct running r;
    const Answer *m;

    (void)state;
    begin(&r);
    m = update(&r, UPDATE(DEMOTE_EXECUTION_TYPE), 0, 0);
    is(m, UPDATE(DEMOTE_EXECUTION_TYPE), 1, 1024);
    assert_int_equal(m->updated_containers[0]->container->execution_type, TYPE(OPPORTUNISTIC));
    assert_int_equal(used(&r), 1024); /* its master's */
    assert_int_equal(r.app->live.mem, 2048);
    assert_null(r.n->to_update);
    m = update(&r, UPDATE(DEMOTE_EXECUTION_TYPE), 0, 0);
    assert_int_equal(m->n_update_errors, 1);
    m = update(&r, UPDATE(INCREASE_RESOURCE), 2048, 1);
    assert_int_equal(m->n_update_errors, 1);
    ask_containers(&r.f, r.app, 7);
    m = update(&r, UPDATE(PROMOTE_EXECUTION_TYPE), 0, 0);
    assert_int_equal(m->n_update_errors + m->n_updated_containers, 0);
    refused(update(&r, UPDATE(PROMOTE_EXECUTION_TYPE), 0, 0), "UPDATE_OUTSTANDING_ERROR");
    rm_container_post_exit(r.app->containers->p_prev, RM_CON_EV_KILL, YARN_EXIT_ABORTED, "");
    m = master_allocate(&r.f, r.a, r.app->current, NULL, 0);
    is(m, UPDATE(PROMOTE_EXECUTION_TYPE), 2, 1024);
    assert_false(r.c->opportunistic);
    finish(&r);
}

/* Nobody is told of the update of a container that has ended, and its status has the new size. */
static void test_end_of_an_updated_container(void **state)
{
    struct running r;
    struct rm_done *d;
    struct yarn_container_id id;

    (void)state;
    begin(&r);
    rm_container_post_size(r.c, RM_CON_EV_CHANGE_RESOURCE, (struct rm_res){ 512, 1 }, 0);
    assert_ptr_equal(r.app->updated, r.c);
    id = r.c->id;
    rm_container_post_exit(r.c, RM_CON_EV_FINISHED, 0, "");
    assert_null(r.app->updated);
    d = rm_done_find(r.f.rm, id);
    assert_int_equal(d->resource.mem, 512);
    assert_int_equal(r.app->live.mem, 1024);
    assert_int_equal(used(&r), 1024);
    finish(&r);
}

static void test_too_many(void **state)
{
    struct running r;
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__UpdateContainerRequestProto one =
        HADOOP__YARN__UPDATE_CONTAINER_REQUEST_PROTO__INIT;
    struct yarn_token token;
    struct sv_error err = { 0 };
    const char *class = "";
    const Answer *m;

    (void)state;
    begin(&r);
    one.container_id = yarn_container_id_to(r.a, r.c->id);
    one.update_type = UPDATE(DECREASE_RESOURCE);
    one.capability = yarn_resource_to(r.a, (struct yarn_resource){ 1024, 1, 0 });
    q.has_response_id = true;
    q.response_id = r.app->current->response_id;
    q.n_update_requests = RM_AM_UPDATES_MAX + 1;
    q.update_requests =
        sv_newn(r.a, Hadoop__Yarn__UpdateContainerRequestProto *, q.n_update_requests);
    for (size_t i = 0; i < q.n_update_requests; i++)
        q.update_requests[i] = &one;
    assert_int_equal(rm_token_amrm(r.a, r.app->current, &token), 0);
    struct peer_call call = { .protocol = YARN_APPLICATION_MASTER_PROTOCOL,
                              .method = "allocate",
                              .port = r.f.rm->am_port,
                              .token = &token,
                              .request = &q.base,
                              .answer = &hadoop__yarn__allocate_response_proto__descriptor };
    assert_null(peer_ask(&r.f, r.a, &call, &class, &err));
    assert_string_equal(class, JAVA_INVALID_RESOURCE_REQUEST);
    q.n_update_requests--;
    m = peer_must(&r.f, r.a, &call);
    assert_int_equal(m->n_updated_containers, 1);
    assert_int_equal(m->n_update_errors, RM_AM_UPDATES_MAX - 1);
    assert_string_equal(m->update_errors[0]->reason, "UPDATE_OUTSTANDING_ERROR");
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_increase_and_decrease),
        cmocka_unit_test(test_rollback),
        cmocka_unit_test(test_node_has_more),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_execution_type),
        cmocka_unit_test(test_end_of_an_updated_container),
        cmocka_unit_test(test_too_many),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
