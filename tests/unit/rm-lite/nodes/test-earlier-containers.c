/* Containers that an earlier ResourceManager allocated and that begin after their node's
 * registration: the ResourceManager takes them over from a heartbeat. */
#include "tests/unit/rm-lite/peer-calls.h"

static const void *node_must(struct fix *f, struct sv_arena *a, const char *method,
                             const ProtobufCMessage *request,
                             const ProtobufCMessageDescriptor *answer)
{
    return peer_must(f, a,
                     &(struct peer_call){ .protocol = YARN_RESOURCE_TRACKER_PROTOCOL,
                                          .method = method,
                                          .port = f->rm->tracker_port,
                                          .user = "yarn",
                                          .request = request,
                                          .answer = answer });
}

static const Hadoop__Yarn__RegisterNodeManagerResponseProto *node_register(struct fix *f,
                                                                           struct sv_arena *a)
{
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;

    q.node_id = yarn_node_id_to(a, &(struct yarn_node_id){ .host = "127.0.0.1", .port = 1 });
    q.resource = yarn_resource_to(a, (struct yarn_resource){ 8192, 8 });
    q.has_http_port = true;
    q.http_port = 8042;
    return node_must(f, a, "registerNodeManager", &q.base,
                     &hadoop__yarn__register_node_manager_response_proto__descriptor);
}

/* With an earlier container, whose state is also among those of the node. */
static const Hadoop__Yarn__NodeHeartbeatResponseProto *
node_heartbeat(struct fix *f, struct sv_arena *a, struct yarn_container_id id, int state, int code)
{
    Hadoop__Yarn__NodeHeartbeatRequestProto q = HADOOP__YARN__NODE_HEARTBEAT_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeStatusProto node = HADOOP__YARN__NODE_STATUS_PROTO__INIT;
    Hadoop__Yarn__NMContainerStatusProto earlier = HADOOP__YARN__NMCONTAINER_STATUS_PROTO__INIT,
                                         *earliers[] = { &earlier };
    Hadoop__Yarn__ContainerStatusProto status = HADOOP__YARN__CONTAINER_STATUS_PROTO__INIT,
                                       *statuses[] = { &status };

    node.node_id = yarn_node_id_to(a, &(struct yarn_node_id){ .host = "127.0.0.1", .port = 1 });
    node.has_response_id = true;
    node.response_id = f->rm->nodes->response_id;
    status.container_id = earlier.container_id = yarn_container_id_to(a, id);
    status.has_state = earlier.has_container_state = true;
    status.state = earlier.container_state = (Hadoop__Yarn__ContainerStateProto)state;
    status.has_exit_status = earlier.has_container_exit_status = true;
    status.exit_status = earlier.container_exit_status = code;
    earlier.resource = yarn_resource_to(a, (struct yarn_resource){ 512, 1 });
    node.containersstatuses = statuses;
    node.n_containersstatuses = 1;
    q.node_status = &node;
    q.selvedge_earlier_containers = earliers;
    q.n_selvedge_earlier_containers = 1;
    return node_must(f, a, "nodeHeartbeat", &q.base,
                     &hadoop__yarn__node_heartbeat_response_proto__descriptor);
}

/* An application whose master registers with the ResourceManager of today. */
static struct rm_attempt *restarted(struct fix *f, struct sv_arena *a)
{
    struct yarn_app_id app;

    setup(f);
    add_node(f, 1);
    app = submit(f, true, 1)->id;
    settle(f);
    stop(f);
    start(f);
    assert_true(f->rm->epoch > 0);
    assert_true(node_register(f, a)->selvedge_takes_earlier);
    master_register(f, a, rm_app_find(f->rm, app)->current);
    settle(f);
    return rm_app_find(f->rm, app)->current;
}

static void test_it_runs(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__AllocateResponseProto *said;
    struct yarn_container_id id = { .id = 7 };
    struct rm_attempt *att;
    struct fix f;

    (void)state;
    att = restarted(&f, a);
    id.attempt = att->id;
    assert_int_equal(
        node_heartbeat(&f, a, id, HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING, -1000)
            ->n_containers_to_cleanup,
        0);
    assert_int_equal(rm_container_find(f.rm, id)->state, RM_CON_ST_RUNNING);
    assert_int_equal(rm_container_find(f.rm, id)->resource.mem, 512);
    node_heartbeat(&f, a, id, HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE, 3);
    assert_null(rm_container_find(f.rm, id));
    said = master_allocate(&f, a, att, NULL, 0);
    assert_int_equal(said->n_completed_container_statuses, 1);
    assert_int_equal(said->completed_container_statuses[0]->exit_status, 3);
    teardown(&f);
}

/* Before the first heartbeat after its start. */
static void test_it_has_ended(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__AllocateResponseProto *said;
    struct yarn_container_id id = { .id = 8 };
    struct rm_attempt *att;
    struct fix f;

    (void)state;
    att = restarted(&f, a);
    id.attempt = att->id;
    node_heartbeat(&f, a, id, HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE, 0);
    said = master_allocate(&f, a, att, NULL, 0);
    assert_int_equal(said->n_completed_container_statuses, 1);
    assert_int_equal(said->completed_container_statuses[0]->exit_status, 0);
    said = master_allocate(&f, a, att, NULL, 0);
    assert_int_equal(said->n_completed_container_statuses, 0);
    teardown(&f);
}

/* A container of this ResourceManager's epoch, or of an application that is not there, ends. */
static void test_it_is_not_known(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_container_id id = { .id = 9 };
    struct fix f;

    (void)state;
    id.attempt = restarted(&f, a)->id;
    id.id |= f.rm->epoch << RM_EPOCH_SHIFT;
    assert_true(node_heartbeat(&f, a, id, HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING, -1000)
                    ->n_containers_to_cleanup > 0);
    id.id = 9;
    id.attempt.app.id += 100;
    assert_true(node_heartbeat(&f, a, id, HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING, -1000)
                    ->n_containers_to_cleanup > 0);
    assert_null(rm_container_find(f.rm, id));
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_runs),
        cmocka_unit_test(test_it_has_ended),
        cmocka_unit_test(test_it_is_not_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
