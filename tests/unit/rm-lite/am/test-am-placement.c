/* rm-lite/am/am-placement.c: SchedulingRequests over the wire under each handler, their tags in the
 * container, its token and after a restart, and rejected ones. */
#include "tests/unit/rm-lite/peer-calls.h"

#include "tests/unit/rm-lite/placement-fixture.h"

#define HANDLER "yarn.resourcemanager.placement-constraints.handler"
#define C_RUNNING HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING

typedef Hadoop__Yarn__AllocateResponseProto Answer;

static const char *const disabled[][2] = { { HANDLER, "disabled" }, { NULL, NULL } };
static const char *const waiting[][2] = {
    { HANDLER, "scheduler" },
    { "yarn.scheduler.capacity.user-limit-factor", "-1" },
    { "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms", "0" },
    { NULL, NULL },
};
static const char *const processor[][2] = {
    { HANDLER, "placement-processor" },
    { "yarn.scheduler.capacity.user-limit-factor", "-1" },
    { "yarn.resourcemanager.placement-constraints.retry-attempts", "2" },
    { NULL, NULL },
};

struct session { /* a running master on node 1 of two */
    struct fix f;
    struct sv_arena *a;
    struct rm_app *app;
    struct yarn_token token;
    const char *class;
    struct sv_error err;
};

static void begin(struct session *s, const char *const (*keys)[2])
{
    struct submission sub;

    memset(s, 0, sizeof(*s));
    setup_with(&s->f, keys);
    s->f.rm->hold_until_ms = 0;
    s->a = sv_arena_new((size_t)64 << 20);
    add_node(&s->f, 1);
    submission_init(&s->f, &sub);
    sub.ctx.has_keep_containers_across_application_attempts = true;
    sub.ctx.keep_containers_across_application_attempts = true;
    s->app = submit_ctx(&s->f, &sub);
    run_master(&s->f, s->app);
    add_node(&s->f, 2);
}

static void finish(struct session *s)
{
    sv_arena_free(s->a);
    teardown(&s->f);
}

static const void *call(struct session *s, const char *method, const ProtobufCMessage *q,
                        const ProtobufCMessageDescriptor *answer)
{
    s->err = (struct sv_error){ 0 };
    assert_int_equal(rm_token_amrm(s->a, s->app->current, &s->token), 0);
    return peer_ask(&s->f, s->a,
                    &(struct peer_call){ .protocol = YARN_APPLICATION_MASTER_PROTOCOL,
                                         .method = method,
                                         .port = s->f.rm->am_port,
                                         .token = &s->token,
                                         .request = q,
                                         .answer = answer },
                    &s->class, &s->err);
}

/* NULL: refused */
static const Answer *allocate(struct session *s, Request *one)
{
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;

    q.has_response_id = true;
    q.response_id = s->app->current->response_id;
    q.scheduling_requests = &one;
    q.n_scheduling_requests = one ? 1 : 0;
    return call(s, "allocate", &q.base, &hadoop__yarn__allocate_response_proto__descriptor);
}

static bool registers(struct session *s, Constraint *c)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__PlacementConstraintMapEntryProto *m = rule(s->a, "zk", c);

    s->app->current->registered = false;
    q.placement_constraints = &m;
    q.n_placement_constraints = 1;
    return call(s, "registerApplicationMaster", &q.base,
                &hadoop__yarn__register_application_master_response_proto__descriptor);
}

static void refused(struct session *s, const char *why)
{
    assert_string_equal(s->class, JAVA_YARN_EXCEPTION);
    if (!strstr(s->err.text, why))
        fail_msg("\"%s\" is not in \"%s\"", why, s->err.text);
}

static void test_disabled(void **state)
{
    struct session s;

    (void)state;
    begin(&s, disabled);
    assert_null(allocate(&s, request(s.a, 1, 1, "zk", NULL)));
    refused(&s, "Found non empty SchedulingRequest in AllocateRequest for application=appattempt_");
    refused(&s, "Rejecting this allocate operation");
    assert_false(registers(&s, away_from(s.a, "zk")));
    refused(&s, "Found non empty placement constraints map in RegisterApplicationMasterRequest");
    finish(&s);
}

static void test_unknown_handler(void **state)
{
    struct sv_conf *conf = sv_conf_new();
    struct rm_conf out;
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(sv_conf_set(conf, HANDLER, "both"), 0);
    assert_int_equal(rm_conf_read(conf, &out, &err), -EINVAL);
    assert_non_null(strstr(err.text, HANDLER "=both: is not disabled, scheduler or"));
    sv_conf_free(conf);
}

static void test_tags_of_a_container(void **state)
{
    struct yarn_container_token t;
    const Hadoop__Yarn__ContainerProto *c;
    const Answer *m;
    struct session s;

    (void)state;
    begin(&s, waiting);
    m = allocate(&s, request(s.a, 7, 3, "zk", away_from(s.a, "zk")));
    assert_non_null(m);
    assert_int_equal(m->n_allocated_containers, 2);
    assert_int_equal(m->n_rejected_scheduling_requests, 0);
    assert_string_not_equal(m->allocated_containers[0]->nodeid->host,
                            m->allocated_containers[1]->nodeid->host);
    c = m->allocated_containers[0];
    assert_int_equal(c->allocation_request_id, 7);
    assert_int_equal(c->n_allocation_tags, 1);
    assert_string_equal(c->allocation_tags[0], "zk");
    assert_int_equal(yarn_container_token_decode(c->container_token->identifier.data,
                                                 c->container_token->identifier.len, &t, &s.err),
                     0);
    assert_int_equal(t.n_tags, 1);
    assert_string_equal(t.tags, "zk");
    /* The third waits, and can be taken back. */
    for (int i = 0; i < 5; i++) {
        m = allocate(&s, NULL);
        assert_int_equal(m->n_allocated_containers + m->n_rejected_scheduling_requests, 0);
    }
    assert_non_null(allocate(&s, request(s.a, 7, 0, "zk", away_from(s.a, "zk"))));
    finish(&s);
}

static void test_invalid_requests(void **state)
{
    Request *q;
    struct session s;

    (void)state;
    begin(&s, waiting);
    q = request(s.a, 1, 1, "zk", NULL);
    q->executiontype = sv_new(s.a, Hadoop__Yarn__ExecutionTypeRequestProto);
    hadoop__yarn__execution_type_request_proto__init(q->executiontype);
    q->executiontype->has_execution_type = true;
    q->executiontype->execution_type = HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC;
    assert_null(allocate(&s, q));
    refused(&s, "Only GUARANTEED execution type is supported.");
    q = request(s.a, 1, 1, "zk", NULL);
    q->resourcesizing = NULL;
    assert_null(allocate(&s, q));
    refused(&s, "No ResourceSizing found");
    q = request(s.a, 1, 1, "zk", NULL);
    q->resourcesizing->resources->memory = 1 << 30;
    assert_null(allocate(&s, q));
    assert_string_equal(s.class, JAVA_INVALID_RESOURCE_REQUEST);
    assert_null(allocate(&s, request(s.a, 1, 1, "zk", tags(s.a, "cell", 0, 0, NULL, "a"))));
    refused(&s, "scope cell");
    assert_non_null(allocate(&s, request(s.a, 1, 1, "zk", NULL))); /* nothing has changed */
    assert_null(allocate(&s, request(s.a, 1, -1, "zk", NULL)));
    refused(&s, "must be >= 0");
    finish(&s);
}

static void test_rejected(void **state)
{
    const Hadoop__Yarn__RejectedSchedulingRequestProto *r;
    const Answer *m;
    struct session s;

    (void)state;
    begin(&s, processor);
    m = allocate(&s, request(s.a, 7, 5, "zk", away_from(s.a, "zk")));
    assert_int_equal(m->n_allocated_containers, 2);
    m = allocate(&s, NULL);
    assert_int_equal(m->n_rejected_scheduling_requests, 0);
    m = allocate(&s, NULL);
    assert_int_equal(m->n_rejected_scheduling_requests, 1);
    r = m->rejected_scheduling_requests[0];
    assert_int_equal(r->reason, HADOOP__YARN__REJECTION_REASON_PROTO__RRP_COULD_NOT_PLACE_ON_NODE);
    assert_int_equal(r->request->allocationrequestid, 7);
    assert_int_equal(r->request->resourcesizing->numallocations, 3);
    assert_int_equal(r->request->resourcesizing->resources->memory, 1024);
    assert_string_equal(r->request->allocationtags[0], "zk");
    assert_non_null(r->request->placementconstraint->simpleconstraint);
    m = allocate(&s, NULL);
    assert_int_equal(m->n_rejected_scheduling_requests, 0);
    finish(&s);
}

/* The constraint of the registration for the tag; Hadoop's DistributedShell sends it so. */
static void test_registered(void **state)
{
    const Answer *m;
    struct session s;

    (void)state;
    begin(&s, waiting);
    assert_false(registers(&s, tags(s.a, "cell", 0, 0, NULL, "a")));
    refused(&s, "scope cell");
    assert_true(registers(&s, away_from(s.a, "zk")));
    settle(&s.f);
    m = allocate(&s, request(s.a, 1, 5, "zk", NULL));
    assert_int_equal(m->n_allocated_containers, 2);
    finish(&s);
}

/* A node of the former start registers with a running container. */
static void node_registers(struct session *s, int i, struct yarn_container_id id, const char *tag)
{
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NMContainerStatusProto st = HADOOP__YARN__NMCONTAINER_STATUS_PROTO__INIT;
    Hadoop__Yarn__NMContainerStatusProto *list[] = { &st };
    Hadoop__Yarn__NodeIdProto node = HADOOP__YARN__NODE_ID_PROTO__INIT;
    struct yarn_node_id known = { .port = 1 };
    char host[32], *tag_list[] = { (char *)(uintptr_t)tag };

    (void)snprintf(host, sizeof(host), "127.0.0.%d", i);
    node.host = host;
    node.has_port = q.has_http_port = true;
    node.port = 1;
    q.node_id = &node;
    q.http_port = 8042;
    q.nm_version = (char *)(uintptr_t) "3.4.2";
    q.resource = yarn_resource_to(s->a, (struct yarn_resource){ 8192, 8, 0 });
    if (tag) {
        st.container_id = yarn_container_id_to(s->a, id);
        st.has_container_state = st.has_allocation_request_id = true;
        st.container_state = C_RUNNING;
        st.allocation_request_id = 7;
        st.resource = yarn_resource_to(s->a, (struct yarn_resource){ 1024, 1, 0 });
        st.allocation_tags = tag_list;
        st.n_allocation_tags = 1;
        q.container_statuses = list;
        q.n_container_statuses = 1;
    }
    (void)peer_must(
        &s->f, s->a,
        &(struct peer_call){ .protocol = YARN_RESOURCE_TRACKER_PROTOCOL,
                             .method = "registerNodeManager",
                             .port = s->f.rm->tracker_port,
                             .user = "yarn",
                             .request = &q.base,
                             .answer =
                                 &hadoop__yarn__register_node_manager_response_proto__descriptor });
    (void)snprintf(known.host, sizeof(known.host), "%s", host);
    assert_non_null(rm_node_find(s->f.rm, &known));
    heartbeat(&s->f, rm_node_find(s->f.rm, &known));
}

/* The master registers again before the node of its tagged container does: the next answer has the
 * container only if an earlier attempt started it, and its tag keeps others away in any case. */
static void test_restart(void **state)
{
    const Answer *m;
    struct yarn_container_id id;
    struct yarn_app_id app;
    struct session s;

    (void)state;
    begin(&s, waiting);
    app = s.app->id;
    m = allocate(&s, request(s.a, 7, 1, "zk", away_from(s.a, "zk")));
    assert_int_equal(m->n_allocated_containers, 1);
    assert_int_equal(yarn_container_id_from(m->allocated_containers[0]->id, &id), 0);
    settle(&s.f);
    stop(&s.f);
    start(&s.f);
    s.f.rm->hold_until_ms = 0;
    settle(&s.f);
    s.app = rm_app_find(s.f.rm, app);
    assert_non_null(s.app);
    node_registers(&s, 2, id, "zk");
    settle(&s.f);
    assert_string_equal(rm_container_find(s.f.rm, id)->tags[0], "zk");
    assert_int_equal(rm_container_find(s.f.rm, id)->allocation_id, 7);
    s.app->current->registered = true;
    rm_attempt_post(s.app->current, RM_ATT_EV_REGISTERED, NULL);
    settle(&s.f);
    m = allocate(&s, request(s.a, 8, 2, "zk", away_from(s.a, "zk")));
    assert_non_null(m);
    assert_int_equal(m->n_allocated_containers, 0); /* the only node has the tag */
    node_registers(&s, 3, id, NULL);
    m = allocate(&s, NULL);
    assert_int_equal(m->n_allocated_containers, 1);
    assert_string_equal(m->allocated_containers[0]->nodeid->host, "127.0.0.3");
    assert_int_equal(m->n_containers_from_previous_attempts, 0);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_unknown_handler),
        cmocka_unit_test(test_tags_of_a_container),
        cmocka_unit_test(test_invalid_requests),
        cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_registered),
        cmocka_unit_test(test_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
