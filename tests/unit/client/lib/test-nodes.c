/* Tests client/lib/nodes.c against a NodeManager that is unreachable, breaks the connection after
 * it has read a start, or rejects it: no container is started twice, and none is abandoned that can
 * be started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/lib/internal.h"
#include "common/clock.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"

#define PATIENCE_MS 60000 /* only for hangs */
#define RELAUNCH "Attempt to relaunch the same container with id container_1_0001_01_000002."

enum doing { STARTS, REFUSES, RELAUNCHES, BREAKS, NOT_READY };

struct fixture {
    sd_event *event;
    struct ipc_server *server;
    uint16_t port;
    struct cli_nodes *nodes;
    const enum doing *plan; /* for each startContainers call, the last one for the rest */
    int planned;
    bool has_it; /* answer of getContainerStatuses */
    int starts, stops, asked;
    bool breaking;
    struct ipc_call *kept; /* of a connection that will break */
    int told, status;
    char text[SV_ERROR_TEXT_MAX];
};

static void fail_one(struct ipc_call *call, Hadoop__Yarn__StartContainersResponseProto *out,
                     Hadoop__Yarn__ContainerIdProto *id, const char *text)
{
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Yarn__ContainerExceptionMapProto *row =
        sv_new(a, Hadoop__Yarn__ContainerExceptionMapProto);
    Hadoop__Yarn__SerializedExceptionProto *e = sv_new(a, Hadoop__Yarn__SerializedExceptionProto);

    hadoop__yarn__container_exception_map_proto__init(row);
    hadoop__yarn__serialized_exception_proto__init(e);
    e->message = (char *)(uintptr_t)text;
    e->class_name = (char *)(uintptr_t)JAVA_YARN_EXCEPTION;
    row->container_id = id;
    row->exception = e;
    out->failed_requests = sv_newn(a, Hadoop__Yarn__ContainerExceptionMapProto *, 1);
    out->failed_requests[0] = row;
    out->n_failed_requests = 1;
}

static struct yarn_container_id the_container(void)
{
    return (struct yarn_container_id){ .attempt = { { 1, 1 }, 1 }, .id = 2 };
}

static void on_startContainers(struct ipc_call *call, const ProtobufCMessage *request,
                               void *userdata)
{
    struct fixture *w = userdata;
    Hadoop__Yarn__StartContainersResponseProto out =
        HADOOP__YARN__START_CONTAINERS_RESPONSE_PROTO__INIT;
    enum doing what = w->plan[SV_MIN(w->starts, w->planned - 1)];
    Hadoop__Yarn__ContainerIdProto *id =
        yarn_container_id_to(ipc_call_arena(call), the_container());

    assert_int_equal(((const Hadoop__Yarn__StartContainersRequestProto *)(const void *)request)
                         ->n_start_container_request,
                     1);
    w->starts++;
    switch (what) {
    case BREAKS:
        w->breaking = true;
        w->kept = call;
        return;
    case NOT_READY:
        ipc_call_fail(call, JAVA_NM_NOT_READY, "not yet");
        return;
    case REFUSES:
        fail_one(call, &out, id, "there is no room");
        break;
    case RELAUNCHES:
        fail_one(call, &out, id, RELAUNCH);
        break;
    case STARTS:
        out.succeeded_requests = &id;
        out.n_succeeded_requests = 1;
        break;
    }
    ipc_call_reply(call, &out.base);
}

static void on_stopContainers(struct ipc_call *call, const ProtobufCMessage *request,
                              void *userdata)
{
    Hadoop__Yarn__StopContainersResponseProto out =
        HADOOP__YARN__STOP_CONTAINERS_RESPONSE_PROTO__INIT;

    (void)request;
    ((struct fixture *)userdata)->stops++;
    ipc_call_reply(call, &out.base);
}

static void on_getContainerStatuses(struct ipc_call *call, const ProtobufCMessage *request,
                                    void *userdata)
{
    struct fixture *w = userdata;
    Hadoop__Yarn__GetContainerStatusesResponseProto out =
        HADOOP__YARN__GET_CONTAINER_STATUSES_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__ContainerStatusProto one = HADOOP__YARN__CONTAINER_STATUS_PROTO__INIT,
                                       *list = &one;

    (void)request;
    w->asked++;
    one.container_id = yarn_container_id_to(ipc_call_arena(call), the_container());
    out.status = &list;
    out.n_status = w->has_it ? 1 : 0;
    ipc_call_reply(call, &out.base);
}

static const struct ipc_method methods[] = {
    { "startContainers", &hadoop__yarn__start_containers_request_proto__descriptor,
      &hadoop__yarn__start_containers_response_proto__descriptor, on_startContainers },
    { "stopContainers", &hadoop__yarn__stop_containers_request_proto__descriptor,
      &hadoop__yarn__stop_containers_response_proto__descriptor, on_stopContainers },
    { "getContainerStatuses", &hadoop__yarn__get_container_statuses_request_proto__descriptor,
      &hadoop__yarn__get_container_statuses_response_proto__descriptor, on_getContainerStatuses },
};
static const struct ipc_protocol protocol = { .name = YARN_CONTAINER_MANAGEMENT_PROTOCOL,
                                              .version = 1,
                                              .methods = methods,
                                              .n_methods = SV_ARRAY_LEN(methods) };
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

static int verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64], size_t *ret_len,
                  char ret_user[256], const char **ret_class, struct sv_error *err, void *userdata)
{
    (void)id, (void)id_len, (void)ret_class, (void)err, (void)userdata;
    memcpy(ret_password, "password", 8);
    *ret_len = 8;
    (void)snprintf(ret_user, 256, "appattempt_1_0001_000001");
    return 0;
}

static void open_node(struct fixture *w)
{
    struct ipc_server_config cfg = {
        .port = w->port, .verify_token = verify, .protocols = protocols, .userdata = w
    };

    assert_int_equal(ipc_server_new(w->event, &cfg, &w->server, NULL), 0);
    w->port = ipc_server_port(w->server);
}

static void on_told(struct yarn_container_id id, int status, const struct sv_error *err,
                    void *userdata)
{
    struct fixture *w = userdata;

    assert_int_equal(yarn_container_id_cmp(id, the_container()), 0);
    w->told++;
    w->status = status;
    (void)snprintf(w->text, sizeof(w->text), "%s", err ? err->text : "");
}

static struct yarn_node_id node_id(const struct fixture *w)
{
    return (struct yarn_node_id){ .host = "127.0.0.1", .port = w->port };
}

static int set_up(void **state)
{
    static const uint8_t id[] = "some identifier", password[] = "password";
    struct yarn_token token = { .id = id,
                                .id_len = sizeof(id),
                                .password = password,
                                .password_len = 8,
                                .kind = YARN_KIND_NM,
                                .service = "" };
    struct fixture *w = calloc(1, sizeof(*w));
    struct yarn_node_id node;

    if (!w || sd_event_new(&w->event) < 0)
        return -1;
    open_node(w);
    node = node_id(w);
    w->nodes = cli_nodes_new(w->event, on_told, w);
    assert_non_null(w->nodes);
    assert_int_equal(cli_nodes_token(w->nodes, &node, &token), 0);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *w = *state;

    cli_nodes_free(w->nodes);
    ipc_server_free(w->server);
    sd_event_unref(w->event);
    free(w);
    return 0;
}

/* A connection breaks in the loop, not in the handler: the node stops and restarts. */
static void turn(struct fixture *w)
{
    assert_true(sd_event_run(w->event, 100000) >= 0);
    if (!w->breaking)
        return;
    w->breaking = false;
    w->server = ipc_server_free(w->server);
    ipc_call_fail(w->kept, JAVA_YARN_EXCEPTION, "nobody hears it");
    w->kept = NULL;
    open_node(w);
}

static void start(struct fixture *w)
{
    static const uint8_t id[] = "container token", password[] = "x";
    struct yarn_token token = { .id = id,
                                .id_len = sizeof(id),
                                .password = password,
                                .password_len = 1,
                                .kind = YARN_KIND_CONTAINER,
                                .service = "" };
    struct cli_launch launch = { .command = "true" };
    struct yarn_node_id node = node_id(w);

    assert_int_equal(cli_nodes_start(w->nodes, &node, the_container(), &token, &launch), 0);
    assert_int_equal(w->told, 0);
}

static void run(struct fixture *w, const enum doing *plan, int planned)
{
    int64_t end = sv_now_ms() + PATIENCE_MS;

    w->plan = plan;
    w->planned = planned;
    start(w);
    while (w->told == 0 && sv_now_ms() < end)
        turn(w);
    assert_int_equal(w->told, 1);
}

#define RUN(w, ...)                                                                                \
    run(w, (const enum doing[]){ __VA_ARGS__ },                                                    \
        (int)(sizeof((enum doing[]){ __VA_ARGS__ }) / sizeof(enum doing)))

static void test_plain(void **state)
{
    struct fixture *w = *state;

    RUN(w, STARTS);
    assert_int_equal(w->status, 0);
    assert_int_equal(w->starts, 1);
    assert_int_equal(w->asked, 0);
}

static void test_refused(void **state)
{
    struct fixture *w = *state;

    RUN(w, REFUSES);
    assert_int_equal(w->status, -EREMOTEIO);
    assert_non_null(strstr(w->text, "node 127.0.0.1:"));
    assert_non_null(strstr(w->text, "there is no room"));
    assert_int_equal(w->starts, 1);
}

static void test_not_ready(void **state)
{
    struct fixture *w = *state;

    RUN(w, NOT_READY, NOT_READY, STARTS);
    assert_int_equal(w->status, 0);
    assert_int_equal(w->starts, 3);
    assert_int_equal(w->asked, 0);
}

/* The connection broke, and the node has the container. */
static void test_lost_but_started(void **state)
{
    struct fixture *w = *state;

    w->has_it = true;
    RUN(w, BREAKS);
    assert_int_equal(w->status, 0);
    assert_int_equal(w->starts, 1);
    assert_int_equal(w->asked, 1);
}

/* The node does not have it: the start is resent, also after further breaks, but not for ever. */
static void test_lost(void **state)
{
    struct fixture *w = *state;

    RUN(w, BREAKS, BREAKS, STARTS);
    assert_int_equal(w->status, 0);
    assert_int_equal(w->starts, 3);
    assert_int_equal(w->asked, 2);
}

static void test_lost_always(void **state)
{
    struct fixture *w = *state;

    RUN(w, BREAKS);
    assert_true(w->status < 0 && w->status != -EREMOTEIO);
    assert_int_equal(w->starts, 6);
    assert_int_equal(w->asked, 5);
    assert_non_null(strstr(w->text, "node 127.0.0.1:"));
}

/* The first start was slower than the status query: "relaunch" then means success. */
static void test_relaunch(void **state)
{
    struct fixture *w = *state;

    RUN(w, BREAKS, RELAUNCHES);
    assert_int_equal(w->status, 0);
    assert_int_equal(w->starts, 2);
}

/* Without a lost start it is a failure. */
static void test_relaunch_first(void **state)
{
    struct fixture *w = *state;

    RUN(w, RELAUNCHES);
    assert_int_equal(w->status, -EREMOTEIO);
    assert_non_null(strstr(w->text, "relaunch"));
}

/* A call to an unreachable node succeeds once the node is back. */
static void test_unreachable_node(void **state)
{
    struct fixture *w = *state;
    static const enum doing plan[] = { STARTS };
    int64_t end = sv_now_ms() + PATIENCE_MS;

    w->plan = plan;
    w->planned = 1;
    w->server = ipc_server_free(w->server);
    start(w);
    for (int i = 0; i < 5; i++)
        turn(w);
    assert_int_equal(w->told, 0);
    open_node(w);
    while (w->told == 0 && sv_now_ms() < end)
        turn(w);
    assert_int_equal(w->told, 1);
    assert_int_equal(w->status, 0);
    assert_int_equal(w->starts, 1);
    assert_int_equal(w->asked, 0);
}

static void test_stop_and_unknown_containers(void **state)
{
    struct fixture *w = *state;
    struct yarn_node_id node = node_id(w), stranger = { .host = "127.0.0.1", .port = 1 };
    int64_t end = sv_now_ms() + PATIENCE_MS;

    assert_int_equal(cli_nodes_stop(w->nodes, &stranger, the_container()), -ENOKEY);
    assert_int_equal(cli_nodes_stop(w->nodes, &node, the_container()), 0);
    while (w->stops == 0 && sv_now_ms() < end)
        turn(w);
    assert_int_equal(w->stops, 1);
    assert_int_equal(w->told, 0);
}

/* Freed with an open start: reported as cancelled. */
static void test_free_with_open_start(void **state)
{
    struct fixture *w = *state;
    static const enum doing plan[] = { STARTS };

    w->plan = plan;
    w->planned = 1;
    w->server = ipc_server_free(w->server);
    start(w);
    turn(w);
    w->nodes = cli_nodes_free(w->nodes);
    assert_int_equal(w->told, 1);
    assert_int_equal(w->status, -ECANCELED);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_plain),
        T(test_refused),
        T(test_not_ready),
        T(test_lost_but_started),
        T(test_lost),
        T(test_lost_always),
        T(test_relaunch),
        T(test_relaunch_first),
        T(test_unreachable_node),
        T(test_stop_and_unknown_containers),
        T(test_free_with_open_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
