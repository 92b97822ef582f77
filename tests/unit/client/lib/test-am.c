/* Tests client/lib/am.c with am-register.c and am-allocate.c: what a registration says, containers
 * of earlier attempts, restarts of the ResourceManager, nodes, and the end. */
#include "tests/unit/client/am-fixture.h"

/* Its containers get the job's tokens, and never the master's own. */
static void test_tokens(void **state)
{
    struct cluster *w = *state;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_credentials c;
    size_t n;
    const uint8_t *p = cli_am_tokens(w->am, &n);

    assert_non_null(p);
    assert_int_equal(yarn_credentials_parse(p, n, a, &c, NULL), 0);
    assert_int_equal(c.n_tokens, 1);
    assert_string_equal(c.tokens[0].token.kind, YARN_KIND_HDFS_DELEGATION);
    assert_string_equal(c.tokens[0].token.service, "127.0.0.1:9000");
}

/* ---- Registration ---- */

static void register_with(struct cluster *w, const RegisterRequest *q, RegisterResponse *out,
                          struct sv_arena *a)
{
    Hadoop__Yarn__ApplicationACLMapProto *acl = sv_new(a, Hadoop__Yarn__ApplicationACLMapProto);

    assert_string_equal(q->host, "host");
    assert_int_equal(q->rpc_port, 4711);
    assert_string_equal(q->tracking_url, "http://host/");
    hadoop__yarn__application_aclmap_proto__init(acl);
    acl->has_accesstype = true;
    acl->accesstype = HADOOP__YARN__APPLICATION_ACCESS_TYPE_PROTO__APPACCESS_MODIFY_APP;
    acl->acl = sv_arena_strdup(a, "ann staff");
    out->application_acls = sv_newn(a, Hadoop__Yarn__ApplicationACLMapProto *, 1);
    out->application_acls[0] = acl;
    out->n_application_acls = 1;
    out->maximumcapability =
        yarn_resource_to(a, (struct yarn_resource){ .memory_mb = 8192, .vcores = 4 });
    *(size_t *)w->test = q->n_placement_constraints;
    if (q->n_placement_constraints) {
        assert_string_equal(q->placement_constraints[0]->allocation_tags[0], "web");
        assert_string_equal(q->placement_constraints[0]
                                ->placement_constraint->simpleconstraint->targetexpressions[0]
                                ->targetvalues[0],
                            "db");
    }
}

static void test_registration(void **state)
{
    struct cluster *w = *state;
    const struct cli_constraint apart = { .type = CLI_ANTI_AFFINITY,
                                          .tags = (const char *const[]){ "db" },
                                          .n_tags = 1 };
    const struct cli_tagged_constraint one = { .tags = (const char *const[]){ "web" },
                                               .n_tags = 1,
                                               .constraint = &apart };
    const struct cli_constraint bad = { .type = CLI_AND };
    const struct cli_tagged_constraint wrong = { one.tags, 1, &bad };
    size_t constraints = 99;
    struct sv_error err = { 0 };

    w->test = &constraints;
    w->on_register = register_with;
    w->secure = true;
    assert_int_equal(cli_am_constraints(w->am, &wrong, 1, &err), -EINVAL);
    assert_non_null(strstr(err.text, "children"));
    assert_int_equal(cli_am_constraints(w->am, &one, 1, NULL), 0);
    run_registered(w);
    assert_int_equal(constraints, 1);
    assert_int_equal(cli_am_constraints(w->am, &one, 1, &err), -EALREADY);
    assert_int_equal(w->registered.maximum.memory_mb, 8192);
    assert_string_equal(w->registered.queue, "root.a");
    assert_string_equal(w->registered.modify_acl, "ann staff");
    assert_null(w->registered.view_acl);
    assert_int_equal(w->registered.client_key_len, sizeof(CLIENT_KEY) - 1);
    assert_memory_equal(w->registered.client_key, CLIENT_KEY, sizeof(CLIENT_KEY) - 1);
    assert_int_equal(cli_am_attempt(w->am).attempt, 1);
}

static void key_too_long(struct cluster *w, const RegisterRequest *q, RegisterResponse *out,
                         struct sv_arena *a)
{
    (void)w, (void)q;
    out->client_to_am_token_master_key.data = sv_arena_alloc(a, 65);
    out->client_to_am_token_master_key.len = 65;
}

/* Without the key it would serve clients without tokens. */
static void test_unusable_key(void **state)
{
    struct cluster *w = *state;

    w->secure = true;
    w->on_register = key_too_long;
    assert_int_equal(cli_am_register(w->am, "host", 1, ""), 0);
    RUN_UNTIL(w, w->n_lost == 1);
    assert_int_equal(w->n_registered, 0);
}

/* ---- Containers of earlier attempts ---- */

static void two_previous(struct cluster *w, const RegisterRequest *q, RegisterResponse *out,
                         struct sv_arena *a)
{
    (void)q;
    out->containers_from_previous_attempts = sv_newn(a, Hadoop__Yarn__ContainerProto *, 3);
    for (int i = 0; i < 2; i++) {
        Hadoop__Yarn__ContainerProto *m = container_message(w, a, 7 + i, 1, 40 + i);

        m->id = yarn_container_id_to(a, container(1, 7 + i));
        m->container_token = NULL;
        m->allocation_tags = sv_newn(a, char *, 1);
        m->allocation_tags[0] = sv_arena_strdup(a, "web");
        m->n_allocation_tags = 1;
        m->has_version = true;
        m->version = 3;
        out->containers_from_previous_attempts[i] = m;
    }
    out->containers_from_previous_attempts[2] = sv_new(a, Hadoop__Yarn__ContainerProto);
    hadoop__yarn__container_proto__init(out->containers_from_previous_attempts[2]); /* unusable */
    out->n_containers_from_previous_attempts = 3;
    out->nm_tokens_from_previous_attempts = sv_newn(a, Hadoop__Yarn__NMTokenProto *, 1);
    out->nm_tokens_from_previous_attempts[0] = nm_token_message(w, a);
    out->n_nm_tokens_from_previous_attempts = 1;
}

static void one_more_previous(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                              struct sv_arena *a)
{
    (void)q;
    out->containers_from_previous_attempts = sv_newn(a, Hadoop__Yarn__ContainerProto *, 2);
    for (int i = 0; i < 2; i++) { /* one of them is known */
        out->containers_from_previous_attempts[i] = container_message(w, a, 8, 1, 41);
        out->containers_from_previous_attempts[i]->id =
            yarn_container_id_to(a, container(1, 8 + i));
    }
    out->n_containers_from_previous_attempts = 2;
    w->on_allocate = NULL;
}

/* Ends of the attempt before: of one that was handed back, and of one that was not, twice. */
static void previous_ends(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                          struct sv_arena *a)
{
    static const int64_t ids[] = { 9, 30, 30 };

    (void)q;
    out->completed_container_statuses =
        sv_newn(a, Hadoop__Yarn__ContainerStatusProto *, SV_ARRAY_LEN(ids));
    for (size_t i = 0; i < SV_ARRAY_LEN(ids); i++) {
        Hadoop__Yarn__ContainerStatusProto *m = sv_new(a, Hadoop__Yarn__ContainerStatusProto);

        hadoop__yarn__container_status_proto__init(m);
        m->container_id = yarn_container_id_to(a, container(1, ids[i]));
        m->has_exit_status = true;
        m->exit_status = -100;
        out->completed_container_statuses[i] = m;
    }
    out->n_completed_container_statuses = SV_ARRAY_LEN(ids);
    w->on_allocate = NULL;
}

static void test_previous_containers(void **state)
{
    struct cluster *w = *state;
    const struct cli_launch launch = { .command = "true" };
    const struct cli_allocation *c;

    w->on_register = two_previous;
    run_registered(w);
    assert_int_equal(w->n_recovered, 2);
    assert_int_equal(yarn_container_id_cmp(w->recovered[0], container(1, 7)), 0);
    assert_int_equal(w->allocation.request_id, 41);
    assert_string_equal(w->tag, "web");
    c = cli_am_container(w->am, container(1, 7));
    assert_int_equal(c->version, 3);
    assert_int_equal(cli_am_start(w->am, container(1, 7), &launch), -EALREADY);
    /* Its node's token came with the registration. */
    assert_int_equal(cli_am_stop(w->am, container(1, 7)), 0);
    RUN_UNTIL(w, w->node_calls == 1);
    assert_string_equal(w->node_method, "stopContainers");
    w->on_allocate = one_more_previous;
    RUN_UNTIL(w, w->n_recovered == 3);
    assert_int_equal(yarn_container_id_cmp(w->recovered[2], container(1, 9)), 0);
    run_heartbeats(w);
    assert_int_equal(w->n_recovered, 3);
    w->on_allocate = previous_ends;
    RUN_UNTIL(w, w->n_completed == 2);
    run_heartbeats(w);
    assert_int_equal(w->n_completed, 2);
    assert_int_equal(cli_am_repeated(w->am), 1);
}

static int second_attempt(void **state)
{
    *state = cluster_new(2);
    return 0;
}

/* The answer to the registration was lost, and with it the list of running containers: a master
 * that takes them over must not go on. */
static void test_lost_registration(void **state)
{
    struct cluster *w = *state;

    w->refuse_register = JAVA_IO_EXCEPTION; /* stands for the lost one */
    assert_int_equal(cli_am_register(w->am, "host", 1, ""), 0);
    RUN_UNTIL(w, w->refuse_register == NULL);
    w->refuse_register = JAVA_INVALID_AM_REQUEST;
    RUN_UNTIL(w, w->n_lost == 1);
    assert_non_null(strstr(w->text, "its answer was lost"));
}

static void test_lost_first_registration(void **state)
{
    struct cluster *w = *state;

    w->refuse_register = JAVA_IO_EXCEPTION;
    assert_int_equal(cli_am_register(w->am, "host", 1, ""), 0);
    RUN_UNTIL(w, w->refuse_register == NULL);
    w->refuse_register = JAVA_INVALID_AM_REQUEST;
    RUN_UNTIL(w, w->n_registered == 1);
    run_heartbeats(w);
    assert_int_equal(w->n_lost, 0);
}

/* ---- Types of resources ---- */

static void with_types(struct cluster *w, const RegisterRequest *q, RegisterResponse *out,
                       struct sv_arena *a)
{
    static const char *const names[] = { "memory-mb", "vcores", "acme.com/fpga", "disk" };
    static const char *const units[] = { "Mi", "", "", "Gi" };

    (void)w, (void)q;
    out->resource_types = sv_newn(a, Hadoop__Yarn__ResourceTypeInfoProto *, 4);
    for (int i = 0; i < 4; i++) {
        Hadoop__Yarn__ResourceTypeInfoProto *t = sv_new(a, Hadoop__Yarn__ResourceTypeInfoProto);

        hadoop__yarn__resource_type_info_proto__init(t);
        t->name = sv_arena_strdup(a, names[i]);
        t->units = sv_arena_strdup(a, units[i]);
        out->resource_types[i] = t;
    }
    out->n_resource_types = 4;
}

static void test_resource_types(void **state)
{
    static const struct yarn_types none;
    struct cluster *w = *state;
    struct yarn_resource r = { .memory_mb = 1, .vcores = 1 };

    w->on_register = with_types;
    run_registered(w);
    assert_int_equal(yarn_types()->n, 2);
    assert_int_equal(yarn_types_index(yarn_types(), "acme.com/fpga"), 0);
    r.extra[yarn_types_index(yarn_types(), "disk")] = 20;
    assert_int_equal(cli_am_want(w->am, 0, r, 1), 0);
    run_asked(w);
    assert_int_equal(w->last->ask[0]->capability->n_resource_value_map, 1);
    assert_string_equal(w->last->ask[0]->capability->resource_value_map[0]->key, "disk");
    assert_string_equal(w->last->ask[0]->capability->resource_value_map[0]->units, "Gi");
    assert_int_equal(w->last->ask[0]->capability->resource_value_map[0]->value, 20);
    yarn_types_set(&none);
}

/* ---- Heartbeats ---- */

static void put_node(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                     struct sv_arena *a)
{
    static const struct {
        int type, state;
    } rows[] = {
        { HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_USABLE,
          HADOOP__YARN__NODE_STATE_PROTO__NS_RUNNING },
        { HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_UNUSABLE,
          HADOOP__YARN__NODE_STATE_PROTO__NS_UNHEALTHY },
        { HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_DECOMMISSIONING,
          HADOOP__YARN__NODE_STATE_PROTO__NS_DECOMMISSIONING },
        { -1, HADOOP__YARN__NODE_STATE_PROTO__NS_RUNNING }, /* Hadoop 2 */
        { -1, HADOOP__YARN__NODE_STATE_PROTO__NS_LOST },
        { -1, HADOOP__YARN__NODE_STATE_PROTO__NS_DECOMMISSIONING },
    };
    const struct yarn_node_id id = { .host = "n1", .port = 8041 };
    Hadoop__Yarn__NodeReportProto *m = sv_new(a, Hadoop__Yarn__NodeReportProto);
    const int i = *(int *)w->test;

    (void)q;
    hadoop__yarn__node_report_proto__init(m);
    m->nodeid = yarn_node_id_to(a, &id);
    m->has_node_update_type = rows[i].type >= 0;
    m->node_update_type = (Hadoop__Yarn__NodeUpdateTypeProto)SV_MAX(rows[i].type, 0);
    m->has_node_state = true;
    m->node_state = (Hadoop__Yarn__NodeStateProto)rows[i].state;
    m->rackname = sv_arena_strdup(a, "/r1");
    out->updated_nodes = sv_newn(a, Hadoop__Yarn__NodeReportProto *, 1);
    out->updated_nodes[0] = m;
    out->n_updated_nodes = 1;
    out->limit = yarn_resource_to(a, (struct yarn_resource){ .memory_mb = 777, .vcores = 7 });
    out->has_num_cluster_nodes = true;
    out->num_cluster_nodes = 12;
    w->on_allocate = NULL;
}

static void test_nodes(void **state)
{
    static const enum cli_node_change changes[] = {
        CLI_NODE_USABLE, CLI_NODE_UNUSABLE, CLI_NODE_DECOMMISSIONING,
        CLI_NODE_USABLE, CLI_NODE_UNUSABLE, CLI_NODE_DECOMMISSIONING,
    };
    struct cluster *w = *state;

    run_registered(w);
    for (int i = 0; i < 6; i++) {
        w->test = &i;
        w->on_allocate = put_node;
        RUN_UNTIL(w, w->n_nodes == i + 1);
        assert_int_equal(w->node.change, changes[i]);
        assert_string_equal(w->node.id.host, "n1");
    }
    assert_int_equal(cli_am_headroom(w->am).memory_mb, 777);
    assert_int_equal(cli_am_cluster_nodes(w->am), 12);
}

static void test_tracking_url(void **state)
{
    struct cluster *w = *state;

    run_registered(w);
    assert_int_equal(cli_am_tracking_url(w->am, "http://elsewhere/"), 0);
    run_asked(w);
    assert_string_equal(w->last->tracking_url, "http://elsewhere/");
}

/* ---- Releases ---- */

static void give(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                 struct sv_arena *a)
{
    (void)q;
    allocate_one(w, out, a, container_message(w, a, *(int *)w->test, 0, -1));
    w->on_allocate = NULL;
}

static void end(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                struct sv_arena *a)
{
    (void)q;
    complete_one(w, out, a, *(int *)w->test, -100);
    w->on_allocate = NULL;
}

/* A release is told until the ResourceManager reports its end, also over its restart. */
/* Both lists, and once more: what is wanted is repeated with each heartbeat. */
static void want_back(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                      struct sv_arena *a)
{
    const bool strict = *(bool *)w->test;
    Hadoop__Yarn__PreemptionMessageProto *m = sv_new(a, Hadoop__Yarn__PreemptionMessageProto);
    Hadoop__Yarn__PreemptionContractProto *soft = sv_new(a, Hadoop__Yarn__PreemptionContractProto);
    Hadoop__Yarn__StrictPreemptionContractProto *hard =
        sv_new(a, Hadoop__Yarn__StrictPreemptionContractProto);
    Hadoop__Yarn__PreemptionContainerProto **list =
        sv_newn(a, Hadoop__Yarn__PreemptionContainerProto *, 2);

    (void)q;
    hadoop__yarn__preemption_message_proto__init(m);
    hadoop__yarn__preemption_contract_proto__init(soft);
    hadoop__yarn__strict_preemption_contract_proto__init(hard);
    for (int i = 0; i < 2; i++) { /* one that it has, one that it has not */
        list[i] = sv_new(a, Hadoop__Yarn__PreemptionContainerProto);
        hadoop__yarn__preemption_container_proto__init(list[i]);
        list[i]->id = container_message(w, a, i ? 99 : 2, 0, -1)->id;
    }
    soft->container = hard->container = list;
    soft->n_container = hard->n_container = 2;
    m->contract = strict ? NULL : soft;
    m->strictcontract = strict ? hard : NULL;
    out->preempt = m;
    w->n_wanted_back++;
}

static void test_preemption(void **state)
{
    bool strict = false;
    int number = 2;
    struct cluster *w = *state;

    run_registered(w);
    w->test = &number;
    w->on_allocate = give;
    RUN_UNTIL(w, w->n_allocated == 1);
    w->test = &strict;
    w->on_allocate = want_back;
    RUN_UNTIL(w, w->n_wanted_back == 3);
    assert_int_equal(w->n_preempted, 1);
    strict = true;
    w->n_wanted_back = 0;
    RUN_UNTIL(w, w->n_wanted_back == 3);
    assert_int_equal(w->n_preempted, 2);
    assert_true(w->strictly);
    assert_int_equal(w->preempted.id, 2);
    w->on_allocate = NULL;
}

static void test_release(void **state)
{
    struct cluster *w = *state;
    int id = 2;

    w->test = &id;
    run_registered(w);
    w->on_allocate = give;
    RUN_UNTIL(w, w->n_allocated == 1);
    assert_int_equal(cli_am_release(w->am, container(1, 2)), 0);
    assert_int_equal(cli_am_release(w->am, container(1, 2)), -ENOENT);
    assert_null(cli_am_container(w->am, container(1, 2)));
    run_asked(w);
    assert_int_equal(w->last->n_release, 1);
    run_heartbeats(w);
    w->refuse_allocate = JAVA_AM_NOT_REGISTERED;
    run_asked(w);
    assert_int_equal(w->last->n_release, 1);
    w->on_allocate = end;
    RUN_UNTIL(w, w->on_allocate == NULL);
    run_heartbeats(w);
    assert_int_equal(w->n_completed, 0);
    w->on_allocate = end; /* once more: a correct cluster, as it was released */
    RUN_UNTIL(w, w->on_allocate == NULL);
    run_heartbeats(w);
    assert_int_equal(cli_am_repeated(w->am), 0);
    const int asking = w->asking;

    w->refuse_allocate = JAVA_AM_NOT_REGISTERED;
    RUN_UNTIL(w, w->n_resynced == 2);
    run_heartbeats(w);
    assert_int_equal(w->asking, asking);
}

/* An end is reported once; what is known of ended containers is bounded. */
static void test_ends(void **state)
{
    struct cluster *w = *state;
    int id = 2;

    w->test = &id;
    run_registered(w);
    for (id = 2; id < 12; id++) {
        w->on_allocate = give;
        RUN_UNTIL(w, w->n_allocated == id - 1);
        w->on_allocate = end;
        RUN_UNTIL(w, w->n_completed == id - 1);
        assert_int_equal(w->exit_status, -100);
    }
    id = 5;
    w->on_allocate = end;
    RUN_UNTIL(w, w->on_allocate == NULL);
    run_heartbeats(w);
    assert_int_equal(cli_am_repeated(w->am), 1);
    w->on_allocate = give; /* an ended one does not come back */
    RUN_UNTIL(w, w->on_allocate == NULL);
    run_heartbeats(w);
    assert_int_equal(w->n_allocated, 10);
}

/* ---- The end ---- */

static void test_finish(void **state)
{
    struct cluster *w = *state;

    run_registered(w);
    assert_int_equal(cli_am_finish(w->am, CLI_FINAL_SUCCEEDED, "done"), 0);
    RUN_UNTIL(w, w->n_finished == 1);
    assert_int_equal(cli_am_finish(w->am, CLI_FINAL_SUCCEEDED, "done"), -ENOTCONN);
}

static void shut_down(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                      struct sv_arena *a)
{
    (void)w, (void)q, (void)a;
    out->has_a_m_command = true;
    out->a_m_command = HADOOP__YARN__AMCOMMAND_PROTO__AM_SHUTDOWN;
}

static void test_shut_down(void **state)
{
    struct cluster *w = *state;

    run_registered(w);
    w->on_allocate = shut_down;
    RUN_UNTIL(w, w->n_lost == 1);
}

static void resync(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                   struct sv_arena *a)
{
    (void)q, (void)a;
    out->has_a_m_command = true;
    out->a_m_command = HADOOP__YARN__AMCOMMAND_PROTO__AM_RESYNC;
    w->on_allocate = NULL;
}

static void test_resync_command(void **state)
{
    struct cluster *w = *state;

    run_registered(w);
    w->on_allocate = resync;
    RUN_UNTIL(w, w->n_resynced == 1);
    assert_int_equal(w->registrations, 2);
    assert_int_equal(w->n_lost, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, cluster_set_up, cluster_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_tokens),
        T(test_registration),
        T(test_unusable_key),
        cmocka_unit_test_setup_teardown(test_previous_containers, second_attempt,
                                        cluster_tear_down),
        cmocka_unit_test_setup_teardown(test_lost_registration, second_attempt, cluster_tear_down),
        T(test_lost_first_registration),
        T(test_resource_types),
        T(test_nodes),
        T(test_preemption),
        T(test_tracking_url),
        T(test_release),
        T(test_ends),
        T(test_finish),
        T(test_shut_down),
        T(test_resync_command),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
