/* federation/amrm/relay.c: what a ResourceManager is told, once and after restarts. */
#include "tests/unit/federation/relay-fixture.h"

/* ---- By hand ---- */

static void folded(void **state)
{
    request_proto *m;

    (void)state;
    assert_false(fed_relay_has_news(relay));
    ask(1, 0, "*", 5);
    ask(1, 0, "h1", 5);
    bar("h2", true);
    part->has_progress = true;
    part->progress = 0.25f;
    part->tracking_url = (char[]){ "http://am" };
    take();
    ask(1, 0, "*", 3);
    bar("h2", false);
    take();
    assert_true(fed_relay_has_news(relay));
    m = make();
    assert_int_equal(m->n_ask, 2);
    assert_string_equal(m->ask[0]->resource_name, "*");
    assert_int_equal(m->ask[0]->num_containers, 3);
    assert_int_equal(m->blacklist_request->n_blacklist_additions, 0);
    assert_int_equal(m->blacklist_request->n_blacklist_removals, 1);
    assert_true(m->progress == 0.25f);
    assert_string_equal(m->tracking_url, "http://am");
    assert_int_equal(m->response_id, 0);
    answered(new_answer(1));
    assert_false(fed_relay_has_news(relay));
    m = make();
    assert_int_equal(m->response_id, 1);
    assert_int_equal(m->n_ask, 0);
    assert_null(m->blacklist_request);
}

/* Lost: the request is sent again as it was, though there is more to say. */
static void sent_again(void **state)
{
    request_proto *m;

    (void)state;
    ask(1, 0, "*", 5);
    take();
    assert_int_equal(make()->n_ask, 1);
    ask(1, 0, "*", 9);
    ask(2, 0, "*", 1);
    take();
    m = make();
    assert_int_equal(m->n_ask, 1);
    assert_int_equal(m->ask[0]->num_containers, 5);
    fed_relay_expect(relay, 41);
    m = make();
    assert_int_equal(m->response_id, 41);
    assert_int_equal(m->ask[0]->num_containers, 5);
    answered(new_answer(42));
    m = make();
    assert_int_equal(m->response_id, 42);
    assert_int_equal(m->n_ask, 2);
    assert_int_equal(m->ask[0]->num_containers, 9);
    answered(new_answer(43));
    fed_relay_expect(relay, 50);
    assert_int_equal(make()->response_id, 50);
}

static void restarted(void **state)
{
    request_proto *m;

    (void)state;
    ask(1, 0, "*", 5);
    ask(2, 0, "*", 0);
    ask(3, 0, "h1", 4);
    bar("h2", true);
    bar("h3", false);
    part->release[part->n_release++] = id_of(1);
    part->release[part->n_release++] = id_of(2);
    take();
    assert_int_equal(make()->n_ask, 3);
    answered(new_answer(7));
    ask(3, 0, "h1", 0);
    take();
    assert_int_equal(make()->n_ask, 1);
    {
        answer_proto *a = new_answer(8);

        complete(a, 1);
        answered(a);
    }
    fed_relay_resync(relay);
    m = make();
    assert_int_equal(m->response_id, 0);
    assert_int_equal(m->n_ask, 1);
    assert_int_equal(m->ask[0]->num_containers, 5);
    assert_int_equal(m->n_release, 1);
    assert_int_equal(m->blacklist_request->n_blacklist_additions, 1);
    assert_int_equal(m->blacklist_request->n_blacklist_removals, 0);
    fed_relay_resync(relay); /* once more, before it was answered */
    assert_int_equal(make()->n_ask, 1);
}

/* Allocated containers are not asked for again after a restart. */
static void allocations(void **state)
{
    answer_proto *a;
    request_proto *m;

    (void)state;
    ask(1, 4, "*", 2);
    ask(1, 4, "h1", 2);
    ask(1, 5, "*", 2);
    take();
    (void)make();
    a = new_answer(1);
    allocate(a, 1, 4);
    allocate(a, 1, 4);
    allocate(a, 1, 5);
    allocate(a, 9, 9); /* nobody asked */
    answered(a);
    fed_relay_resync(relay);
    m = make();
    assert_int_equal(m->n_ask, 1); /* of the first group nothing is wanted, the host neither */
    assert_int_equal(m->ask[0]->allocation_request_id, 5);
    assert_int_equal(m->ask[0]->num_containers, 1);
    /* The master has changed it meanwhile: its word counts. */
    ask(1, 5, "*", 7);
    take();
    a = new_answer(1);
    allocate(a, 1, 5);
    answered(a);
    assert_int_equal(make()->ask[0]->num_containers, 7);
}

/* A container that clashes with another member's is given back, and another one asked for. */
static void exchanges(void **state)
{
    answer_proto *a;
    Hadoop__Yarn__ContainerProto *c;
    request_proto *m;

    (void)state;
    ask(1, 4, "*", 2);
    take();
    (void)make();
    a = new_answer(1);
    c = allocate(a, 1, 4);
    answered(a);
    assert_int_equal(fed_relay_exchange(relay, c), 0);
    m = make();
    assert_int_equal(m->n_release, 1);
    assert_int_equal(m->ask[0]->num_containers, 2);
    a = new_answer(2);
    allocate(a, 1, 4);
    c = allocate(a, 1, 4);
    answered(a); /* all there: the ask is forgotten */
    c->resource = yarn_resource_to(arena, (struct yarn_resource){ .memory_mb = 64, .vcores = 1 });
    assert_int_equal(fed_relay_exchange(relay, c), 0);
    m = make();
    assert_int_equal(m->n_ask, 1);
    assert_string_equal(m->ask[0]->resource_name, "*");
    assert_int_equal(m->ask[0]->num_containers, 1);
    assert_int_equal(m->ask[0]->capability->memory, 64);
    assert_int_equal(m->ask[0]->allocation_request_id, 4);
    assert_int_equal(m->ask[0]->priority->priority, 1);
}

/* A refused request is not said again, what the master has changed since is. */
static void refused(void **state)
{
    request_proto *m;

    (void)state;
    ask(1, 0, "*", 5);
    ask(2, 0, "*", 7);
    part->release[part->n_release++] = id_of(1);
    take();
    (void)make();
    ask(2, 0, "*", 1);
    take();
    fed_relay_refused(relay);
    m = make();
    assert_int_equal(m->n_ask, 1);
    assert_int_equal(m->ask[0]->num_containers, 1);
    assert_int_equal(m->response_id, 0);
    fed_relay_refused(relay);
    assert_false(fed_relay_has_news(relay));
    fed_relay_refused(relay); /* of nothing */
    fed_relay_resync(relay);
    m = make();
    assert_int_equal(m->n_ask, 0);
    assert_int_equal(m->n_release, 1);
}

static void moved(void **state)
{
    struct fed_relay *to = fed_relay_new();
    request_proto *m;

    (void)state;
    ask(1, 0, "*", 5);
    ask(1, 0, "h1", 5);
    ask(2, 0, "*", 7);
    ask(3, 0, "*", 9);
    part->ask[3]->has_relax_locality = true;
    part->ask[3]->relax_locality = false;
    take();
    (void)make();
    answered(new_answer(1));
    ask(1, 0, "*", 2);
    assert_int_equal(take_of(to, NULL), 0);
    new_part();
    assert_int_equal(move(to, true), 12);
    assert_int_equal(move(to, true), 0);
    m = make_of(to);
    assert_int_equal(m->n_ask, 2);
    assert_int_equal(m->ask[0]->num_containers, 7);
    assert_int_equal(m->ask[1]->num_containers, 7);
    m = make();
    assert_int_equal(m->n_ask, 3); /* of any place, of h1, of the second priority: none */
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(m->ask[i]->num_containers, 0);
    fed_relay_resync(relay);
    m = make();
    assert_int_equal(m->n_ask, 1);
    assert_int_equal(m->ask[0]->num_containers, 9);
    answered(new_answer(1));
    ask(4, 0, "*", 5);
    ask(4, 0, "h1", 5);
    take();
    assert_int_equal(move(to, false), 5);
    assert_false(fed_relay_has_news(relay)); /* nothing is told where nothing is known */
    fed_relay_free(to);
}

static void updates(void **state)
{
    Hadoop__Yarn__UpdateContainerRequestProto up[3], *at[] = { &up[0], &up[1], &up[2] };
    Hadoop__Yarn__UpdatedContainerProto done, *dones[] = { &done };
    Hadoop__Yarn__UpdateContainerErrorProto failed, *errors[] = { &failed };
    Hadoop__Yarn__ContainerProto container;
    answer_proto *a = new_answer(1);

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        hadoop__yarn__update_container_request_proto__init(&up[i]);
        up[i].container_id = id_of((int64_t)i);
    }
    part->update_requests = at;
    part->n_update_requests = 3;
    take();
    assert_int_equal(make()->n_update_requests, 3);
    hadoop__yarn__updated_container_proto__init(&done);
    hadoop__yarn__update_container_error_proto__init(&failed);
    hadoop__yarn__container_proto__init(&container);
    container.id = id_of(0);
    done.container = &container;
    failed.update_request = &up[1];
    a->updated_containers = dones;
    a->update_errors = errors;
    a->n_updated_containers = a->n_update_errors = 1;
    answered(a);
    fed_relay_resync(relay);
    assert_int_equal(make()->n_update_requests, 1);
    complete(a, 2);
    answered(a);
    fed_relay_resync(relay);
    assert_int_equal(make()->n_update_requests, 0);
}

static void scheduling(void **state)
{
    Hadoop__Yarn__SchedulingRequestProto q[2], *at[] = { &q[0], &q[1] };
    Hadoop__Yarn__RejectedSchedulingRequestProto no, *nos[] = { &no };
    Hadoop__Yarn__ResourceSizingProto sizing;
    answer_proto *a = new_answer(1);
    request_proto *m;

    (void)state;
    hadoop__yarn__resource_sizing_proto__init(&sizing);
    sizing.has_numallocations = true;
    sizing.numallocations = 2;
    for (size_t i = 0; i < 2; i++) {
        hadoop__yarn__scheduling_request_proto__init(&q[i]);
        q[i].has_allocationrequestid = true;
        q[i].allocationrequestid = (int64_t)i;
        q[i].priority = priority_of(1);
        q[i].resourcesizing = &sizing;
    }
    part->scheduling_requests = at;
    part->n_scheduling_requests = 2;
    take();
    assert_int_equal(make()->n_scheduling_requests, 2);
    hadoop__yarn__rejected_scheduling_request_proto__init(&no);
    no.request = &q[1];
    a->rejected_scheduling_requests = nos;
    a->n_rejected_scheduling_requests = 1;
    allocate(a, 1, 0);
    answered(a);
    fed_relay_resync(relay);
    m = make();
    assert_int_equal(m->n_scheduling_requests, 1);
    assert_int_equal(m->scheduling_requests[0]->resourcesizing->numallocations, 1);
    a->n_rejected_scheduling_requests = 0;
    answered(a);
    fed_relay_resync(relay);
    assert_int_equal(make()->n_scheduling_requests, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(folded, set_up),     cmocka_unit_test_setup(sent_again, set_up),
        cmocka_unit_test_setup(restarted, set_up),  cmocka_unit_test_setup(allocations, set_up),
        cmocka_unit_test_setup(exchanges, set_up),  cmocka_unit_test_setup(updates, set_up),
        cmocka_unit_test_setup(scheduling, set_up), cmocka_unit_test_setup(refused, set_up),
        cmocka_unit_test_setup(moved, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, tear_down);
}
