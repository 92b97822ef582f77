/* rm-lite/requests/wait-reason.c: the sentence on why an application waits, and the diagnostics
 * with Hadoop's words around it. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "rm-lite/core/rm-node.h"
#include "rm-lite/requests/wait-reason.h"

#define ONE_GIB "<memory:1024, vCores:1>"
#define FOUR_GIB "<memory:4096, vCores:1>"
#define SIXTEEN_GIB "<memory:16384, vCores:1>"
#define NODE "<memory:8192, vCores:8>"
#define USED "<memory:8192, vCores:2>"
#define LEFT "<memory:3072, vCores:6>"
#define HALF "<memory:4096, vCores:4>"
#define HALF_LEFT "<memory:3072, vCores:3>"

static void asks(struct fix *f, const struct rm_app *app, int64_t mem, int32_t count)
{
    struct rm_ask a = { .priority = 1,
                        .allocation_id = -1,
                        .name = RM_ANY,
                        .count = count,
                        .relax = true,
                        .capability = { mem, 1 } };
    struct rm_sched_event ev = { .type = RM_SCHED_ASK,
                                 .ask = { .app = app->id, .asks = &a, .n_asks = 1 } };

    assert_int_equal(rm_schedule(f->rm, &ev, NULL), 0);
    settle(f);
}

static void says(const struct rm_app *app, const char *wanted)
{
    char text[RM_WAIT_TEXT_MAX];

    assert_string_equal(rm_wait_reason(app, text), wanted);
}

/* The diagnostics without their date. */
static void tells(const struct rm_app *app, const char *wanted)
{
    char text[RM_WAIT_TEXT_MAX];
    const char *s = rm_app_diagnostics(app, text), *date = strstr(s, "] ");

    assert_true(s[0] == '[' && date);
    assert_string_equal(date + 2, wanted);
}

static void test_no_nodes(void **state)
{
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    app = submit(&f, false, 2);
    says(app, "Application is added to the scheduler and is not yet activated. Skipping AM "
              "assignment as cluster resource is empty. No node has registered.");
    rm_node_post_health(add_node(&f, 1), RM_NODE_EV_STATUS_UPDATE, false);
    settle(&f);
    app = submit(&f, false, 2);
    says(app, "Application is added to the scheduler and is not yet activated. Skipping AM "
              "assignment as cluster resource is empty. No node takes containers: 1 unhealthy.");
    teardown(&f);
}

static void test_masters(void **state)
{
    static const char *const keys[][2] = {
        { "yarn.scheduler.capacity.maximum-am-resource-percent", "0.125" }, { NULL, NULL }
    };
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    add_node(&f, 1);
    submit(&f, false, 2);
    app = submit(&f, false, 2);
    says(app, "Application is added to the scheduler and is not yet activated. Queue's AM resource "
              "limit exceeded. Masters in queue root.default use " ONE_GIB " of at most " ONE_GIB
              ", this one asks for " ONE_GIB ".");
    tells(app,
          "Application is added to the scheduler and is not yet activated. Queue's AM resource "
          "limit exceeded. Masters in queue root.default use " ONE_GIB " of at most " ONE_GIB
          ", this one asks for " ONE_GIB ".  Details : AM Partition = "
          "<DEFAULT_PARTITION>; AM Resource Request = " ONE_GIB "; Queue Resource Limit for "
          "AM = " ONE_GIB "; User AM Resource Limit of the queue "
          "= " ONE_GIB "; Queue AM "
          "Resource Usage = " ONE_GIB "; ");
    teardown(&f);
}

static void test_activated(void **state)
{
    struct rm_node *n;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 2);
    says(app, "Scheduler has assigned a container for AM, waiting for AM container to be launched");
    run_master(&f, app);
    asks(&f, app, 7168, 1);
    heartbeat(&f, n);
    says(app, "");
    app = submit(&f, false, 2);
    heartbeat(&f, n);
    says(app, "Application is Activated, waiting for resources to be assigned for AM. Every node "
              "is full, the request is for " ONE_GIB ".");
    tells(app,
          "Application is Activated, waiting for resources to be assigned for AM. Every node is "
          "full, the request is for " ONE_GIB ".  Details : AM Partition = "
          "<DEFAULT_PARTITION> ; Partition Resource = " NODE " ; Queue's Absolute capacity "
          "= 100.0 % ; Queue's Absolute used capacity = 100.0 % ; "
          "Queue's Absolute max capacity = "
          "100.0 % ; Queue's capacity (absolute resource) = " NODE " ; Queue's used "
          "capacity (absolute resource) = " USED " ; Queue's max capacity (absolute "
          "resource) = " NODE " ; ");
    teardown(&f);
}

static void test_containers(void **state)
{
    char text[RM_WAIT_TEXT_MAX];
    struct rm_app *app, *second;
    struct rm_node *n;
    struct fix f;

    (void)state;
    setup(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 2);
    heartbeat(&f, n);
    run_master(&f, app);
    says(app, "");
    asks(&f, app, 16384, 1);
    heartbeat(&f, n);
    says(app, "Waiting for 1 container of " SIXTEEN_GIB ". No node is large enough for " SIXTEEN_GIB
              ": the largest, 127.0.0.1:1, has " NODE ".");
    assert_string_equal(rm_app_diagnostics(app, text),
                        "Waiting for 1 container of " SIXTEEN_GIB ". No node is large enough "
                        "for " SIXTEEN_GIB ": the largest, 127.0.0.1:1, has " NODE ". ");
    rm_node_post_health(add_node(&f, 2), RM_NODE_EV_STATUS_UPDATE, false);
    settle(&f);
    heartbeat(&f, n);
    says(app, "Waiting for 1 container of " SIXTEEN_GIB ". No node is large enough for " SIXTEEN_GIB
              ": the largest, 127.0.0.1:1, has " NODE ". Nodes that take none: 1 unhealthy.");
    asks(&f, app, 16384, 0);
    asks(&f, app, 4096, 3);
    heartbeat(&f, n);
    heartbeat(&f, n);
    says(app, "Waiting for 2 containers, the next of " FOUR_GIB ". The cluster has " LEFT
              " left of " NODE ", the request is for " FOUR_GIB ".");
    second = submit(&f, false, 2);
    heartbeat(&f, n);
    (void)snprintf(text, sizeof(text),
                   "Application is Activated, waiting for resources to be assigned for AM. %s "
                   "comes first in its queue and waits until the cluster has more free.",
                   app->id_str);
    says(second, text);
    kill_app(&f, app);
    says(app, "");
    assert_string_equal(rm_app_diagnostics(app, text), "Application was killed by user ann");
    teardown(&f);
}

/* A queue that may use half of the cluster. */
static void test_half(void **state)
{
    static const char *const keys[][2] = {
        { "yarn.scheduler.capacity.root.queues", "default,other" },
        { "yarn.scheduler.capacity.root.default.capacity", "50" },
        { "yarn.scheduler.capacity.root.default.maximum-capacity", "50" },
        { "yarn.scheduler.capacity.root.other.capacity", "50" },
        { NULL, NULL }
    };
    char text[RM_WAIT_TEXT_MAX];
    struct rm_app *app, *second;
    struct rm_node *n;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    n = add_node(&f, 1);
    app = submit(&f, false, 2);
    heartbeat(&f, n);
    run_master(&f, app);
    asks(&f, app, 4096, 1);
    heartbeat(&f, n);
    says(app, "Waiting for 1 container of " FOUR_GIB ". Queue root.default has " HALF_LEFT
              " left of its maximum " HALF ", the request is for " FOUR_GIB ".");
    second = submit(&f, false, 2);
    heartbeat(&f, n);
    (void)snprintf(text, sizeof(text),
                   "Application is Activated, waiting for resources to be assigned for AM. %s "
                   "comes first in its queue and waits for the maximum of queue root.default.",
                   app->id_str);
    says(second, text);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_nodes),  cmocka_unit_test(test_masters),
        cmocka_unit_test(test_activated), cmocka_unit_test(test_containers),
        cmocka_unit_test(test_half),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
