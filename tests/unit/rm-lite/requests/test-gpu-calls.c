/* yarn.io/gpu over real connections: from a node's registration to the token of a container, and
 * back from a node that reports the container after a restart of the ResourceManager. */
#include "tests/unit/rm-lite/peer-calls.h"

#include "proto/yarn_token.pb-c.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/scheduler/scheduler.h"

#define GPU "yarn.io/gpu"

static const char *const keys[][2] = { { "yarn.resource-types", GPU }, { NULL, NULL } };

/* As a node or master writes it: with the map's row and nothing of this tree's types. */
static Hadoop__Yarn__ResourceProto *with_gpus(struct sv_arena *a, int64_t mb, int64_t gpus)
{
    Hadoop__Yarn__ResourceProto *m = yarn_resource_to(a, (struct yarn_resource){ mb, 1 });
    Hadoop__Yarn__ResourceInformationProto *row = sv_new(a, Hadoop__Yarn__ResourceInformationProto);

    hadoop__yarn__resource_information_proto__init(row);
    row->key = (char *)(uintptr_t)GPU;
    row->has_value = true;
    row->value = gpus;
    m->resource_value_map = sv_newn(a, Hadoop__Yarn__ResourceInformationProto *, 1);
    m->resource_value_map[0] = row;
    m->n_resource_value_map = 1;
    return m;
}

static int64_t gpus_of(const Hadoop__Yarn__ResourceProto *m)
{
    for (size_t i = 0; m && i < m->n_resource_value_map; i++)
        if (strcmp(m->resource_value_map[i]->key, GPU) == 0)
            return m->resource_value_map[i]->value;
    return -1;
}

static Hadoop__Yarn__NMContainerStatusProto *
running(struct sv_arena *a, struct yarn_container_id id, int64_t mb, int64_t gpus)
{
    Hadoop__Yarn__NMContainerStatusProto *m = sv_new(a, Hadoop__Yarn__NMContainerStatusProto);

    hadoop__yarn__nmcontainer_status_proto__init(m);
    m->container_id = yarn_container_id_to(a, id);
    m->has_container_state = true;
    m->container_state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
    m->resource = with_gpus(a, mb, gpus);
    return m;
}

/* Registers a node of 8 GiB, 8 cores and four GPUs. */
static struct rm_node *node_joins(struct fix *f, struct sv_arena *a,
                                  Hadoop__Yarn__NMContainerStatusProto **containers, size_t n)
{
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    const struct yarn_node_id id = { .host = "127.0.0.1", .port = 1 };
    const Hadoop__Yarn__RegisterNodeManagerResponseProto *m;
    struct rm_node *node;

    q.node_id = yarn_node_id_to(a, &id);
    q.resource = with_gpus(a, 8192, 4);
    q.resource->virtual_cores = 8;
    q.nm_version = (char *)(uintptr_t) "3.4.2";
    q.container_statuses = containers;
    q.n_container_statuses = n;
    m = peer_must(f, a,
                  &(struct peer_call){
                      .protocol = YARN_RESOURCE_TRACKER_PROTOCOL,
                      .method = "registerNodeManager",
                      .port = f->rm->tracker_port,
                      .user = "yarn",
                      .request = &q.base,
                      .answer = &hadoop__yarn__register_node_manager_response_proto__descriptor });
    assert_int_equal(m->nodeaction, HADOOP__YARN__NODE_ACTION_PROTO__NORMAL);
    node = rm_node_find(f->rm, &id);
    assert_non_null(node);
    return node;
}

static int64_t used_gpus(struct fix *f, const struct rm_node *n)
{
    struct rm_node_usage use;

    assert_int_equal(rm_sched_node_usage(f->rm->sched, &n->id, &use), 0);
    return use.used.extra[0];
}

static void check_token(const Hadoop__Common__TokenProto *t, int64_t gpus)
{
    Hadoop__Yarn__ContainerTokenIdentifierProto *m =
        hadoop__yarn__container_token_identifier_proto__unpack(NULL, t->identifier.len,
                                                               t->identifier.data);

    assert_non_null(m);
    assert_int_equal(gpus_of(m->resource), gpus);
    hadoop__yarn__container_token_identifier_proto__free_unpacked(m, NULL);
}

static void test_from_node_to_container_and_back(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__RegisterApplicationMasterResponseProto *registered;
    const Hadoop__Yarn__AllocateResponseProto *m;
    Hadoop__Yarn__NMContainerStatusProto *kept[2];
    struct yarn_container_id id, master;
    struct rm_container *c;
    struct rm_node *n;
    struct rm_app *app;
    struct yarn_app_id app_id;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    f.rm->hold_until_ms = 0;
    n = node_joins(&f, a, NULL, 0);
    assert_int_equal(n->total.extra[0], 4);
    heartbeat(&f, n);
    app = submit(&f, false, 2);
    app_id = app->id;
    rm_attempt_post(app->current, RM_ATT_EV_LAUNCHED, NULL);
    rm_container_post(app->current->master, RM_CON_EV_LAUNCHED);
    settle(&f);
    registered = master_register(&f, a, app->current);
    assert_int_equal(registered->n_resource_types, 3);
    assert_string_equal(registered->resource_types[2]->name, GPU);
    settle(&f);

    m = master_allocate(&f, a, app->current, with_gpus(a, 1024, 3), 2);
    assert_int_equal(m->n_allocated_containers, 1); /* four GPUs are not enough for both */
    assert_int_equal(gpus_of(m->allocated_containers[0]->resource), 3);
    check_token(m->allocated_containers[0]->container_token, 3);
    assert_int_equal(yarn_container_id_from(m->allocated_containers[0]->id, &id), 0);
    assert_int_equal(used_gpus(&f, n), 3);

    master = app->current->master_id;
    stop(&f);
    start(&f);
    kept[0] = running(a, master, 1024, 0);
    kept[1] = running(a, id, 1024, 3);
    n = node_joins(&f, a, kept, 2);
    c = rm_container_find(f.rm, id);
    assert_non_null(c);
    assert_int_equal(c->resource.extra[0], 3);
    assert_int_equal(used_gpus(&f, n), 3);
    app = rm_app_find(f.rm, app_id);
    assert_int_equal(app->live.extra[0], 3);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_from_node_to_container_and_back),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests_name("gpu-calls", tests, NULL, NULL);
}
