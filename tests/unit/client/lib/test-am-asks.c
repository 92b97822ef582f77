/* Tests client/lib/am-asks.c with am-places.c, am-ask-messages.c and am-blacklist.c: what a
 * heartbeat asks for after requests, allocations, changes and a restart of the ResourceManager. */
#include "tests/unit/client/am-fixture.h"

static const struct yarn_resource small = { .memory_mb = 256, .vcores = 1 };

static const Hadoop__Yarn__ResourceRequestProto *asked(const struct cluster *w, const char *name)
{
    const Hadoop__Yarn__ResourceRequestProto *found = NULL;

    for (size_t i = 0; i < w->last->n_ask; i++)
        if (strcmp(w->last->ask[i]->resource_name, name) == 0) {
            assert_null(found); /* once */
            found = w->last->ask[i];
        }
    assert_non_null(found);
    return found;
}

static void assert_asked(const struct cluster *w, const char *name, int32_t count, bool relax)
{
    assert_int_equal(asked(w, name)->num_containers, count);
    assert_int_equal(asked(w, name)->relax_locality, relax);
}

static void ask(struct cluster *w, const struct cli_ask *q)
{
    struct sv_error err = { 0 };

    if (cli_am_ask(w->am, q, &err) < 0)
        fail_msg("%s", err.text);
}

/* ---- Requests by name ---- */

static void test_request_id(void **state)
{
    struct cluster *w = *state;
    const Hadoop__Yarn__ResourceRequestProto *m;

    run_registered(w);
    ask(w, &(struct cli_ask){ .request_id = 7,
                              .priority = 3,
                              .resource = small,
                              .count = 2,
                              .execution = CLI_OPPORTUNISTIC,
                              .enforce = true,
                              .label = "gpu" });
    run_asked(w);
    assert_int_equal(w->last->n_ask, 1);
    m = asked(w, "*");
    assert_int_equal(m->allocation_request_id, 7);
    assert_int_equal(m->priority->priority, 3);
    assert_int_equal(m->num_containers, 2);
    assert_int_equal(m->capability->memory, 256);
    assert_true(m->relax_locality);
    assert_string_equal(m->node_label_expression, "gpu");
    assert_int_equal(m->execution_type_request->execution_type,
                     HADOOP__YARN__EXECUTION_TYPE_PROTO__OPPORTUNISTIC);
    assert_true(m->execution_type_request->enforce_execution_type);
    assert_int_equal(cli_am_open(w->am, 3, 7), 2);
    assert_int_equal(cli_am_open(w->am, 3, 8), 0);
}

/* The simplest request has an execution type, too: Apache's AMRMProxy fails without. */
static void test_want(void **state)
{
    struct cluster *w = *state;

    run_registered(w);
    assert_int_equal(cli_am_want(w->am, 1, small, 4), 0);
    run_asked(w);
    assert_int_equal(w->last->n_ask, 1);
    assert_asked(w, "*", 4, true);
    assert_int_equal(asked(w, "*")->allocation_request_id, -1);
    assert_int_equal(asked(w, "*")->execution_type_request->execution_type,
                     HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED);
    assert_null(asked(w, "*")->node_label_expression);
    assert_int_equal(w->last->n_scheduling_requests, 0);
}

/* ---- Locality ---- */

static void test_places(void **state)
{
    struct cluster *w = *state;
    const struct cli_locality places[] = {
        { "n1", "/r1" }, { "n2", NULL }, { "n1", "/r1" }, { NULL, "/r3" }
    };
    struct cli_ask q = { .request_id = 1,
                         .resource = small,
                         .count = 2,
                         .places = places,
                         .n_places = SV_ARRAY_LEN(places) };

    run_registered(w);
    ask(w, &q);
    run_asked(w);
    assert_int_equal(w->last->n_ask, 6);
    assert_asked(w, "n1", 2, true);
    assert_asked(w, "n2", 2, true);
    assert_asked(w, "/r1", 2, true);
    assert_asked(w, "/default-rack", 2, true);
    assert_asked(w, "/r3", 2, true);
    assert_asked(w, "*", 2, true);

    q.strict = true; /* the racks of hosts are not wanted themselves */
    ask(w, &q);
    run_asked(w);
    assert_asked(w, "n1", 2, true);
    assert_asked(w, "/r1", 2, false);
    assert_asked(w, "/default-rack", 2, false);
    assert_asked(w, "/r3", 2, true);
    assert_asked(w, "*", 2, false);
}

/* Names that a request does not have any more go to 0. */
static void test_replaced_places(void **state)
{
    struct cluster *w = *state;
    const struct cli_locality first[] = { { "n1", "/r1" }, { "n2", "/r2" } },
                              second[] = { { "n1", "/r1" }, { "n3", "/r1" } };
    struct cli_ask q = {
        .request_id = 1, .resource = small, .count = 1, .places = first, .n_places = 2
    };

    run_registered(w);
    ask(w, &q);
    run_asked(w);
    q.places = second;
    ask(w, &q);
    q.count = 5; /* replaced again before it was sent: what went before is still to be told */
    ask(w, &q);
    run_asked(w);
    assert_int_equal(w->last->n_ask, 6);
    assert_asked(w, "n1", 5, true);
    assert_asked(w, "n3", 5, true);
    assert_asked(w, "/r1", 5, true);
    assert_asked(w, "n2", 0, true);
    assert_asked(w, "/r2", 0, true);
    assert_asked(w, "*", 5, true);
    q.n_places = 0;
    ask(w, &q);
    run_asked(w);
    assert_int_equal(w->last->n_ask, 4);
    assert_asked(w, "n1", 0, true);
    assert_asked(w, "n3", 0, true);
    assert_asked(w, "/r1", 0, true);
    assert_asked(w, "*", 5, true);
    assert_int_equal(cli_am_cancel(w->am, 0, 1), 0);
    run_asked(w);
    assert_int_equal(w->last->n_ask, 1);
    assert_asked(w, "*", 0, true);
    assert_int_equal(cli_am_cancel(w->am, 0, 1), -ENOENT);
}

/* ---- Allocations ---- */

static void give_one(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                     struct sv_arena *a)
{
    (void)q;
    allocate_one(w, out, a, container_message(w, a, 2, 0, 1));
    w->on_allocate = NULL;
}

/* A request without places is counted down by both sides; one with places is told anew, as only the
 * ResourceManager knows which of its names it counted down. */
static void test_count_down(void **state)
{
    struct cluster *w = *state;
    const struct cli_locality place = { "n1", NULL };
    struct cli_ask q = { .request_id = 1, .resource = small, .count = 2 };
    int before;

    run_registered(w);
    ask(w, &q);
    run_asked(w);
    before = w->asking;
    w->on_allocate = give_one;
    RUN_UNTIL(w, w->n_allocated == 1);
    assert_int_equal(w->allocation.request_id, 1);
    assert_int_equal(cli_am_open(w->am, 0, 1), 1);
    run_heartbeats(w);
    assert_int_equal(w->asking, before);

    q.places = &place;
    q.n_places = 1;
    q.request_id = 5;
    ask(w, &q);
    run_asked(w);
    assert_asked(w, "n1", 2, true);
}

static void give_five(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                      struct sv_arena *a)
{
    (void)q;
    allocate_one(w, out, a, container_message(w, a, 3, 0, 5));
    w->on_allocate = NULL;
}

static void test_count_down_of_places(void **state)
{
    struct cluster *w = *state;
    const struct cli_locality place = { "n1", NULL };
    struct cli_ask q = {
        .request_id = 5, .resource = small, .count = 1, .places = &place, .n_places = 1
    };

    run_registered(w);
    ask(w, &q);
    run_asked(w);
    w->on_allocate = give_five;
    run_asked(w);
    assert_int_equal(w->n_allocated, 1);
    assert_asked(w, "n1", 0, true);
    assert_asked(w, "/default-rack", 0, true);
    assert_asked(w, "*", 0, true);
    assert_int_equal(cli_am_open(w->am, 0, 5), 0);
}

/* ---- Refused by the library ---- */

static void refuse(struct cluster *w, const struct cli_ask *q, const char *words)
{
    struct sv_error err = { 0 };

    assert_int_equal(cli_am_ask(w->am, q, &err), -EINVAL);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" is not in \"%s\"", words, err.text);
}

static void test_refused(void **state)
{
    struct cluster *w = *state;
    const struct cli_locality place = { "n1", NULL }, star = { "*", NULL }, none = { NULL, NULL };
    const char *const tags[] = { "t" };
    struct cli_scheduling_request placed = {
        .request_id = 9, .count = 1, .tags = tags, .n_tags = 1, .resource = small
    };
    struct sv_error err = { 0 };

    refuse(w, &(struct cli_ask){ .count = -1 }, "-1 containers");
    refuse(w, &(struct cli_ask){ .label = "x", .places = &place, .n_places = 1 }, "label");
    refuse(w, &(struct cli_ask){ .places = &star, .n_places = 1 }, "place 0");
    refuse(w, &(struct cli_ask){ .places = &none, .n_places = 1 }, "place 0");
    refuse(w, &(struct cli_ask){ .places = &none, .n_places = 1000000 }, "at most");
    assert_int_equal(cli_am_schedule(w->am, &placed, &err), 0);
    refuse(w, &(struct cli_ask){ .request_id = 9, .count = 1 }, "is a scheduling request");
    placed.tags = (const char *const[]){ "other" };
    assert_int_equal(cli_am_schedule(w->am, &placed, &err), -EINVAL);
    assert_non_null(strstr(err.text, "only its count"));
    placed.tags = (const char *const[]){ "" };
    assert_int_equal(cli_am_schedule(w->am, &placed, &err), -EINVAL);
    assert_int_equal(cli_am_ask(w->am, &(struct cli_ask){ .request_id = 10, .count = 1 }, NULL), 0);
    placed.request_id = 10;
    placed.tags = tags;
    assert_int_equal(cli_am_schedule(w->am, &placed, &err), -EINVAL);
    assert_int_equal(cli_am_blacklist(w->am, "*", true), -EINVAL);
    assert_int_equal(cli_am_blacklist(w->am, "", true), -EINVAL);
}

/* ---- Scheduling requests ---- */

static const struct cli_constraint apart = { .type = CLI_ANTI_AFFINITY,
                                             .tags = (const char *const[]){ "zk" },
                                             .n_tags = 1 };
static const struct cli_scheduling_request zookeeper = {
    .request_id = 4,
    .priority = 2,
    .resource = { .memory_mb = 256, .vcores = 1 },
    .count = 3,
    .tags = (const char *const[]){ "zk" },
    .n_tags = 1,
    .constraint = &apart,
    .enforce = true,
};

static void reject(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                   struct sv_arena *a)
{
    Hadoop__Yarn__RejectedSchedulingRequestProto *m =
        sv_new(a, Hadoop__Yarn__RejectedSchedulingRequestProto);

    (void)w;
    if (q->n_scheduling_requests == 0)
        return;
    hadoop__yarn__rejected_scheduling_request_proto__init(m);
    m->reason = HADOOP__YARN__REJECTION_REASON_PROTO__RRP_COULD_NOT_PLACE_ON_NODE;
    m->request = q->scheduling_requests[0];
    out->rejected_scheduling_requests =
        sv_newn(a, Hadoop__Yarn__RejectedSchedulingRequestProto *, 1);
    out->rejected_scheduling_requests[0] = m;
    out->n_rejected_scheduling_requests = 1;
}

static void test_scheduling_request(void **state)
{
    struct cluster *w = *state;
    struct cli_scheduling_request q = zookeeper;
    const Hadoop__Yarn__SchedulingRequestProto *m;

    run_registered(w);
    assert_int_equal(cli_am_schedule(w->am, &q, NULL), 0);
    run_asked(w);
    assert_int_equal(w->last->n_ask, 0);
    assert_int_equal(w->last->n_scheduling_requests, 1);
    m = w->last->scheduling_requests[0];
    assert_int_equal(m->allocationrequestid, 4);
    assert_int_equal(m->priority->priority, 2);
    assert_int_equal(m->resourcesizing->numallocations, 3);
    assert_int_equal(m->resourcesizing->resources->memory, 256);
    assert_string_equal(m->allocationtags[0], "zk");
    assert_int_equal(m->executiontype->execution_type,
                     HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED);
    assert_int_equal(m->placementconstraint->simpleconstraint->maxcardinality, 0);

    q.count = 5;
    assert_int_equal(cli_am_schedule(w->am, &q, NULL), 0);
    run_asked(w);
    assert_int_equal(w->last->scheduling_requests[0]->resourcesizing->numallocations, 5);
    w->on_allocate = reject;
    q.count = 2;
    assert_int_equal(cli_am_schedule(w->am, &q, NULL), 0);
    RUN_UNTIL(w, w->n_rejected == 1);
    assert_int_equal(w->rejection.request_id, 4);
    assert_int_equal(w->rejection.priority, 2);
    assert_int_equal(w->rejection.count, 2);
    assert_int_equal(w->rejection.reason, CLI_COULD_NOT_PLACE);
    assert_int_equal(cli_am_open(w->am, 2, 4), 0);
}

static int32_t added(struct cluster *w, int32_t count)
{
    struct cli_scheduling_request q = zookeeper;

    q.count = count;
    assert_int_equal(cli_am_schedule(w->am, &q, NULL), 0);
    run_asked(w);
    assert_int_equal(w->last->n_scheduling_requests, 1);
    return w->last->scheduling_requests[0]->resourcesizing->numallocations;
}

static void give_zookeeper(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                           struct sv_arena *a)
{
    (void)q;
    allocate_one(w, out, a, container_message(w, a, 7, 2, 4));
    w->on_allocate = NULL;
}

/* A ResourceManager that adds counts is told what is missing there: less than wanted while it works
 * on more, the rest of a rejected request, and everything after its restart. */
static void test_counts_added(void **state)
{
    struct cluster *w = *state;
    struct cli_scheduling_request q = zookeeper;
    int before;

    cli_am_adds(w->am);
    run_registered(w);
    assert_int_equal(added(w, 3), 3);
    assert_int_equal(added(w, 5), 2);
    before = w->asking;
    q.count = 1;
    assert_int_equal(cli_am_schedule(w->am, &q, NULL), 0);
    run_heartbeats(w);
    assert_int_equal(w->asking, before);
    assert_int_equal(cli_am_cancel(w->am, 2, 4), 0);
    run_heartbeats(w);
    assert_int_equal(w->asking, before);
    w->on_allocate = give_zookeeper; /* 4 are held */
    RUN_UNTIL(w, w->n_allocated == 1);
    assert_int_equal(cli_am_open(w->am, 2, 4), 0);
    assert_int_equal(added(w, 6), 2);
    w->on_allocate = reject; /* the next one, of 1, is given up */
    q.count = 7;
    assert_int_equal(cli_am_schedule(w->am, &q, NULL), 0);
    RUN_UNTIL(w, w->n_rejected == 1);
    assert_int_equal(w->rejection.count, 1);
    w->on_allocate = NULL;
    assert_int_equal(cli_am_open(w->am, 2, 4), 6);
    assert_int_equal(added(w, 8), 2);
    w->refuse_allocate = JAVA_AM_NOT_REGISTERED;
    run_asked(w);
    assert_int_equal(w->last->scheduling_requests[0]->resourcesizing->numallocations, 8);
}

/* ---- Blacklist ---- */

static void test_blacklist(void **state)
{
    struct cluster *w = *state;
    int before;

    run_registered(w);
    assert_int_equal(cli_am_blacklist(w->am, "bad1", true), 0);
    assert_int_equal(cli_am_blacklist(w->am, "bad2", true), 0);
    assert_int_equal(cli_am_blacklist(w->am, "never", false), 0);
    run_asked(w);
    assert_int_equal(w->last->blacklist_request->n_blacklist_additions, 2);
    assert_int_equal(w->last->blacklist_request->n_blacklist_removals, 0);
    before = w->asking;
    assert_int_equal(cli_am_blacklist(w->am, "bad1", true), 0);
    run_heartbeats(w);
    assert_int_equal(w->asking, before); /* known */
    assert_int_equal(cli_am_blacklist(w->am, "bad1", false), 0);
    run_asked(w);
    assert_int_equal(w->last->blacklist_request->n_blacklist_additions, 0);
    assert_string_equal(w->last->blacklist_request->blacklist_removals[0], "bad1");
}

/* More names than the ResourceManager takes at once go with several requests. */
static void test_long_blacklist(void **state)
{
    struct cluster *w = *state;
    char host[16];

    run_registered(w);
    for (int i = 0; i < 5002; i++) {
        (void)snprintf(host, sizeof(host), "bad%d", i);
        assert_int_equal(cli_am_blacklist(w->am, host, true), 0);
    }
    run_asked(w);
    assert_int_equal(w->last->blacklist_request->n_blacklist_additions, 5000);
    run_asked(w);
    assert_int_equal(w->last->blacklist_request->n_blacklist_additions, 2);
    assert_string_equal(w->last->blacklist_request->blacklist_additions[1], "bad5001");
}

/* ---- After a restart of the ResourceManager ---- */

/* Everything that is open goes once more, and nothing that has ended. */
static void test_resync(void **state)
{
    struct cluster *w = *state;
    const struct cli_locality place = { "n1", "/r1" };

    run_registered(w);
    ask(w, &(struct cli_ask){
               .request_id = 1, .resource = small, .count = 2, .places = &place, .n_places = 1 });
    ask(w, &(struct cli_ask){ .request_id = 2, .resource = small, .count = 1 });
    assert_int_equal(cli_am_schedule(w->am, &zookeeper, NULL), 0);
    assert_int_equal(cli_am_blacklist(w->am, "bad1", true), 0);
    assert_int_equal(cli_am_blacklist(w->am, "bad2", true), 0);
    run_asked(w);
    assert_int_equal(cli_am_cancel(w->am, 0, 2), 0);
    assert_int_equal(cli_am_blacklist(w->am, "bad2", false), 0);
    run_asked(w);
    run_heartbeats(w);
    w->refuse_allocate = JAVA_AM_NOT_REGISTERED;
    run_asked(w);
    assert_int_equal(w->registrations, 2);
    assert_int_equal(w->n_resynced, 1);
    assert_int_equal(w->n_registered, 1);
    assert_int_equal(w->last->n_ask, 3);
    assert_asked(w, "n1", 2, true);
    assert_int_equal(w->last->n_scheduling_requests, 1);
    assert_int_equal(w->last->blacklist_request->n_blacklist_additions, 1);
    assert_int_equal(w->last->blacklist_request->n_blacklist_removals, 0);
}

/* Many requests at once, replaced while they are on their way. */
static void test_many(void **state)
{
    struct cluster *w = *state;
    const struct cli_locality place = { "n1", NULL };

    run_registered(w);
    for (int round = 0; round < 3; round++) {
        for (int64_t id = 0; id < 300; id++)
            ask(w, &(struct cli_ask){ .request_id = id,
                                      .resource = small,
                                      .count = 1 + round,
                                      .places = &place,
                                      .n_places = id % 2 ? 1 : 0 });
        assert_true(sd_event_run(w->event, 100000) >= 0);
    }
    run_heartbeats(w);
    run_heartbeats(w);
    for (int64_t id = 0; id < 300; id++)
        assert_int_equal(cli_am_open(w->am, 0, id), 3);
}

#define T(f) cmocka_unit_test_setup_teardown(f, cluster_set_up, cluster_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_request_id),     T(test_want),
        T(test_places),         T(test_replaced_places),
        T(test_count_down),     T(test_count_down_of_places),
        T(test_refused),        T(test_scheduling_request),
        T(test_counts_added),   T(test_blacklist),
        T(test_long_blacklist), T(test_resync),
        T(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
