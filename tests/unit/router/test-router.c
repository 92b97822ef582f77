/* The Router before members that play along, refuse, or do not answer: real IPC on one loop, the
 * store in memory. */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/own-user.h"
#include "common/str.h"
#include "router/router-series.h"
#include "router/router.h"
#include "wire/exceptions.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"

#define N 3
#define OWN "org.example.OwnException"

enum manner { ANSWERS, REFUSES, SILENT };

struct fake {
    char id[8], address[32];
    enum manner manner;
    struct ipc_server *server;
    int n_new, n_submitted, n_killed, n_reports, n_metrics;
    char user[64], real_user[64];
    struct ipc_call *held[64];
    size_t n_held;
};

static struct {
    sd_event *event;
    struct sv_conf *conf;
    struct router *router;
    struct fake fakes[N];
    struct ipc_client *client;
    struct sv_arena *a;
} g;

/* ---- Members ---- */

/* True: the call is answered or held already. */
static bool plays(struct fake *f, struct ipc_call *call)
{
    const struct ipc_peer *peer = ipc_call_peer(call);

    (void)snprintf(f->user, sizeof(f->user), "%s", peer->user);
    (void)snprintf(f->real_user, sizeof(f->real_user), "%s", peer->real_user ?: "");
    if (f->manner == REFUSES)
        ipc_call_fail(call, OWN, "%s: not here", f->id);
    else if (f->manner == SILENT)
        f->held[f->n_held++] = call;
    return f->manner != ANSWERS;
}

#define HANDLER(name, type, init, counter, ...)                                                    \
    static void on_##name(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)  \
    {                                                                                              \
        struct fake *f = userdata;                                                                 \
        Hadoop__Yarn__##type resp = init;                                                          \
                                                                                                   \
        (void)request;                                                                             \
        f->counter++;                                                                              \
        if (plays(f, call))                                                                        \
            return;                                                                                \
        __VA_ARGS__                                                                                \
        ipc_call_reply(call, &resp.base);                                                          \
    }
HANDLER(getNewApplication, GetNewApplicationResponseProto,
        HADOOP__YARN__GET_NEW_APPLICATION_RESPONSE_PROTO__INIT, n_new,
        resp.application_id = yarn_app_id_to(ipc_call_arena(call), (struct yarn_app_id){ 5, 1 });)
HANDLER(submitApplication, SubmitApplicationResponseProto,
        HADOOP__YARN__SUBMIT_APPLICATION_RESPONSE_PROTO__INIT, n_submitted, )
HANDLER(forceKillApplication, KillApplicationResponseProto,
        HADOOP__YARN__KILL_APPLICATION_RESPONSE_PROTO__INIT, n_killed, )
HANDLER(getApplicationReport, GetApplicationReportResponseProto,
        HADOOP__YARN__GET_APPLICATION_REPORT_RESPONSE_PROTO__INIT, n_reports, )
HANDLER(getClusterMetrics, GetClusterMetricsResponseProto,
        HADOOP__YARN__GET_CLUSTER_METRICS_RESPONSE_PROTO__INIT, n_metrics,
        Hadoop__Yarn__YarnClusterMetricsProto m = HADOOP__YARN__YARN_CLUSTER_METRICS_PROTO__INIT;
        m.has_num_active_nms = true; m.num_active_nms = 2; resp.cluster_metrics = &m;)

#define ROW(name, message)                                                                         \
    {                                                                                              \
#name, &hadoop__yarn__##message##_request_proto__descriptor,                               \
            &hadoop__yarn__##message##_response_proto__descriptor, on_##name                       \
    }
static const struct ipc_method methods[] = {
    ROW(getNewApplication, get_new_application), ROW(submitApplication, submit_application),
    ROW(forceKillApplication, kill_application), ROW(getApplicationReport, get_application_report),
    ROW(getClusterMetrics, get_cluster_metrics),
};
static const struct ipc_protocol protocol = { .name = YARN_APPLICATION_CLIENT_PROTOCOL,
                                              .version = 1,
                                              .methods = methods,
                                              .n_methods = SV_ARRAY_LEN(methods) };
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

static int anybody(void *userdata, const struct ipc_peer *peer, struct sv_error *err)
{
    (void)userdata;
    (void)peer;
    (void)err;
    return 0;
}

/* ---- The store ---- */

static struct {
    bool done;
    int error;
    char home[64];
} said;

static void on_stored(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    said.done = true;
    said.error = a->error;
    said.home[0] = 0;
}

static void on_home(const struct fed_answer *a, void *userdata)
{
    on_stored(a, userdata);
    if (a->n)
        (void)snprintf(said.home, sizeof(said.home), "%s", a->homes[0].home);
}

static void store(const struct fed_request *q, fed_done done)
{
    said.done = false;
    assert_int_equal(fed_store_call(g.router->store, q, done, NULL, NULL), 0);
    while (!said.done)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
}

static const char *home_of(int number)
{
    store(&(struct fed_request){ .op = FED_HOME_GET, .home = { .app = { 5, number } } }, on_home);
    return said.home;
}

/* ---- Set up ---- */

static int up(void **state)
{
    static const char *const keys[][2] = {
        { "yarn.router.clientrm.address", "127.0.0.1:0" },
        { "yarn.router.webapp.address", "127.0.0.1:0" },
        { "yarn.federation.cache-ttl.secs", "0" },
        { "selvedge.router.call-timeout", "200ms" },
        { "selvedge.router.max-calls", "8" },
        { "hadoop.proxyuser.hive.hosts", "127.0.0.0/8" },
        { "hadoop.proxyuser.hive.groups", "staff" },
        { "hadoop.user.group.static.mapping.overrides", "bob=staff;eve=other" },
    };
    struct sv_error err = { 0 };

    (void)state;
    memset(&g, 0, sizeof(g));
    assert_true(sd_event_new(&g.event) >= 0);
    assert_non_null(g.conf = sv_conf_new());
    assert_non_null(g.a = sv_arena_new(0));
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++)
        assert_int_equal(sv_conf_set(g.conf, keys[i][0], keys[i][1]), 0);
    if (rtr_new(g.event, g.conf, &g.router, &err) < 0)
        fail_msg("%s", err.text);
    for (int i = 0; i < N; i++) {
        struct fake *f = &g.fakes[i];
        struct ipc_server_config cfg = {
            .allow_simple = true, .impersonation = anybody, .protocols = protocols, .userdata = f
        };

        (void)snprintf(f->id, sizeof(f->id), "SC-%d", i + 1);
        assert_int_equal(ipc_server_new(g.event, &cfg, &f->server, &err), 0);
        (void)snprintf(f->address, sizeof(f->address), "127.0.0.1:%u", ipc_server_port(f->server));
        store(&(struct fed_request){ .op = FED_MEMBER_REGISTER,
                                     .member = { .id = f->id,
                                                 .am = "127.0.0.1:1",
                                                 .client = f->address,
                                                 .admin = "127.0.0.1:1",
                                                 .web = "127.0.0.1:1",
                                                 .state = FED_RUNNING,
                                                 .last_start_ms = i + 1,
                                                 .capability = "" } },
              on_stored);
        assert_int_equal(said.error, 0);
    }
    assert_int_equal(
        ipc_client_new(g.event,
                       &(struct ipc_client_config){ .host = "127.0.0.1",
                                                    .port = ipc_server_port(g.router->server),
                                                    .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                                                    .version = 1,
                                                    .user = "alice" },
                       &g.client, &err),
        0);
    return 0;
}

static int down(void **state)
{
    (void)state;
    ipc_client_free(g.client);
    rtr_free(g.router);
    for (int i = 0; i < N; i++) {
        for (size_t k = 0; k < g.fakes[i].n_held; k++)
            ipc_call_fail(g.fakes[i].held[k], OWN, "late");
        ipc_server_free(g.fakes[i].server);
    }
    sv_arena_free(g.a);
    sv_conf_free(g.conf);
    sd_event_unref(g.event);
    return 0;
}

/* Priority by weight: SC-1, then SC-2, then SC-3. */
static void by_priority(void)
{
    static const char weights[] =
        "{\"routerPolicyWeights\":{\"entry\":[{\"key\":{\"id\":\"SC-1\"},\"value\":3},"
        "{\"key\":{\"id\":\"SC-2\"},\"value\":2},{\"key\":{\"id\":\"SC-3\"},\"value\":1}]},"
        "\"amrmPolicyWeights\":{\"entry\":[{\"key\":{\"id\":\"SC-1\"},\"value\":1}]}}";

    store(&(struct fed_request){ .op = FED_POLICY_SET,
                                 .policy = { .queue = "*",
                                             .type = FED_MANAGER_PACKAGE
                                             "PriorityBroadcastPolicyManager",
                                             .params = (const uint8_t *)weights,
                                             .params_len = strlen(weights) } },
          on_stored);
    assert_int_equal(said.error, 0);
}

static struct sv_error why;
static const char *class;

static int call(const char *method, const ProtobufCMessage *q,
                const ProtobufCMessageDescriptor *response, ProtobufCMessage **ret)
{
    class = NULL;
    why = (struct sv_error){ 0 };
    return ipc_client_call_sync(g.client, method, q, response, g.a, ret, &class, &why);
}

static int submit(int number)
{
    Hadoop__Yarn__SubmitApplicationRequestProto q =
        HADOOP__YARN__SUBMIT_APPLICATION_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ApplicationSubmissionContextProto c =
        HADOOP__YARN__APPLICATION_SUBMISSION_CONTEXT_PROTO__INIT;
    ProtobufCMessage *resp;

    c.application_id = number ? yarn_app_id_to(g.a, (struct yarn_app_id){ 5, number }) : NULL;
    q.application_submission_context = &c;
    return call("submitApplication", &q.base,
                &hadoop__yarn__submit_application_response_proto__descriptor, &resp);
}

static int report(int number)
{
    Hadoop__Yarn__GetApplicationReportRequestProto q =
        HADOOP__YARN__GET_APPLICATION_REPORT_REQUEST_PROTO__INIT;
    ProtobufCMessage *resp;

    q.application_id = yarn_app_id_to(g.a, (struct yarn_app_id){ 5, number });
    return call("getApplicationReport", &q.base,
                &hadoop__yarn__get_application_report_response_proto__descriptor, &resp);
}

/* ---- Tests ---- */

static void test_submit(void **state)
{
    (void)state;
    by_priority();
    assert_int_equal(submit(1), 0);
    assert_string_equal(home_of(1), "SC-1");
    assert_string_equal(g.fakes[0].user, "alice");
    assert_string_equal(g.fakes[0].real_user, sv_own_user());
    assert_int_equal(submit(0), -EREMOTEIO);
    assert_string_equal(class, JAVA_YARN_EXCEPTION);
}

static struct ipc_client *hive_for(const char *user)
{
    const struct ipc_client_config cfg = { .host = "127.0.0.1",
                                           .port = ipc_server_port(g.router->server),
                                           .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                                           .version = 1,
                                           .user = "hive",
                                           .for_user = user };
    struct ipc_client *c;

    assert_int_equal(ipc_client_new(g.event, &cfg, &c, NULL), 0);
    return c;
}

/* Members see the user for whom the Router's proxy user acts, and the Router as who acts. */
static void test_proxy_user(void **state)
{
    struct ipc_client *alice = g.client;

    (void)state;
    by_priority();
    g.client = hive_for("bob");
    assert_int_equal(submit(1), 0);
    assert_string_equal(g.fakes[0].user, "bob");
    assert_string_equal(g.fakes[0].real_user, sv_own_user());
    ipc_client_free(g.client);
    g.client = hive_for("eve");
    assert_true(submit(2) < 0);
    assert_string_equal(class, JAVA_AUTHORIZATION);
    assert_non_null(strstr(why.text, "User: hive is not allowed to impersonate eve"));
    assert_int_equal(g.fakes[0].n_submitted, 1);
    ipc_client_free(g.client);
    g.client = alice;
}

static void test_next_member(void **state)
{
    (void)state;
    by_priority();
    g.fakes[0].manner = REFUSES;
    assert_int_equal(submit(1), 0);
    assert_string_equal(home_of(1), "SC-2");
    g.fakes[1].manner = g.fakes[2].manner = REFUSES;
    assert_int_equal(submit(2), -EREMOTEIO);
    assert_string_equal(class, OWN);
    assert_non_null(strstr(why.text, "SC-3: not here"));
    assert_null(strstr(why.text, g.fakes[2].address));
    (void)home_of(2);
    assert_int_equal(said.error, -ENOENT); /* nobody has it */
}

static void test_repeated(void **state)
{
    (void)state;
    by_priority();
    store(&(struct fed_request){ .op = FED_HOME_ADD, .home = { .app = { 5, 1 }, .home = "SC-3" } },
          on_stored);
    assert_int_equal(submit(1), 0);
    assert_int_equal(g.fakes[2].n_submitted, 1);
    g.fakes[2].manner = REFUSES;
    assert_int_equal(submit(1), -EREMOTEIO);
    assert_string_equal(class, OWN);
    assert_int_equal(g.fakes[0].n_submitted + g.fakes[1].n_submitted, 0);
    assert_string_equal(home_of(1), "SC-3"); /* it may run there */
}

static void test_silent(void **state)
{
    (void)state;
    by_priority();
    g.fakes[0].manner = SILENT;
    assert_int_equal(submit(1), 0);
    assert_string_equal(home_of(1), "SC-2");
    while (!g.fakes[0].n_killed)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
}

static void test_by_home(void **state)
{
    (void)state;
    by_priority();
    assert_int_equal(report(1), -EREMOTEIO);
    assert_string_equal(class, JAVA_APP_NOT_FOUND);
    assert_int_equal(submit(1), 0);
    assert_int_equal(report(1), 0);
    assert_int_equal(g.fakes[0].n_reports, 1);
    g.fakes[0].manner = REFUSES;
    assert_int_equal(report(1), -EREMOTEIO);
    assert_string_equal(class, OWN);
    g.fakes[0].manner = SILENT;
    assert_int_equal(report(1), -EREMOTEIO);
    assert_string_equal(class, JAVA_RETRIABLE);
    assert_non_null(strstr(why.text, "sub-cluster SC-1"));
}

static int metrics(int *ret_nodes)
{
    Hadoop__Yarn__GetClusterMetricsRequestProto q =
        HADOOP__YARN__GET_CLUSTER_METRICS_REQUEST_PROTO__INIT;
    ProtobufCMessage *resp;
    int r = call("getClusterMetrics", &q.base,
                 &hadoop__yarn__get_cluster_metrics_response_proto__descriptor, &resp);

    if (r >= 0)
        *ret_nodes =
            ((Hadoop__Yarn__GetClusterMetricsResponseProto *)resp)->cluster_metrics->num_active_nms;
    return r;
}

static void test_sums(void **state)
{
    int n = 0;

    (void)state;
    assert_int_equal(metrics(&n), 0);
    assert_int_equal(n, 2 * N);
    g.fakes[1].manner = REFUSES;
    assert_int_equal(metrics(&n), -EREMOTEIO);
    assert_string_equal(class, OWN);
    g.fakes[1].manner = SILENT;
    assert_int_equal(metrics(&n), -EREMOTEIO);
    assert_string_equal(class, JAVA_YARN_EXCEPTION);
    g.router->conf.partial = true;
    assert_int_equal(metrics(&n), 0);
    assert_int_equal(n, 2 * (N - 1));
    for (int i = 0; i < N; i++)
        g.fakes[i].manner = REFUSES;
    assert_int_equal(metrics(&n), -EREMOTEIO);
    assert_string_equal(class, OWN);
}

static void test_new_application(void **state)
{
    Hadoop__Yarn__GetNewApplicationRequestProto q =
        HADOOP__YARN__GET_NEW_APPLICATION_REQUEST_PROTO__INIT;
    ProtobufCMessage *resp;

    (void)state;
    g.fakes[0].manner = g.fakes[1].manner = REFUSES;
    for (int i = 0; i < 20; i++)
        assert_int_equal(call("getNewApplication", &q.base,
                              &hadoop__yarn__get_new_application_response_proto__descriptor, &resp),
                         0);
    assert_int_equal(g.fakes[2].n_new, 20);
    for (int i = 0; i < N; i++)
        store(&(struct fed_request){ .op = FED_MEMBER_DEREGISTER,
                                     .member = { .id = g.fakes[i].id, .state = FED_UNREGISTERED } },
              on_stored);
    assert_int_equal(call("getNewApplication", &q.base,
                          &hadoop__yarn__get_new_application_response_proto__descriptor, &resp),
                     -EREMOTEIO);
    assert_non_null(strstr(why.text, "No active SubCluster available"));
    assert_int_equal(submit(1), -EREMOTEIO);
    assert_non_null(strstr(why.text, "none is active (SC_RUNNING)"));
}

static void count(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    int *n = userdata;

    (void)err;
    assert_int_equal(r->status, -EREMOTEIO);
    assert_string_equal(r->java_class, JAVA_RETRIABLE);
    ++*n;
}

/* A silent member has two of eight calls; others are answered meanwhile. */
static void test_crowd(void **state)
{
    Hadoop__Yarn__GetApplicationReportRequestProto q =
        HADOOP__YARN__GET_APPLICATION_REPORT_REQUEST_PROTO__INIT;
    int n = 0;

    (void)state;
    by_priority();
    assert_int_equal(submit(1), 0);
    store(&(struct fed_request){ .op = FED_HOME_ADD, .home = { .app = { 5, 2 }, .home = "SC-2" } },
          on_stored);
    g.fakes[0].manner = SILENT;
    q.application_id = yarn_app_id_to(g.a, (struct yarn_app_id){ 5, 1 });
    for (int i = 0; i < 5; i++)
        assert_int_equal(
            ipc_client_call(g.client, "getApplicationReport", &q.base,
                            &hadoop__yarn__get_application_report_response_proto__descriptor, 0,
                            count, &n),
            0);
    while (n < 3 || g.fakes[0].n_held < 2)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
    assert_int_equal(g.fakes[0].n_held, 2);
    assert_int_equal(report(2), 0);
    assert_int_equal(n, 3);
    while (n < 5)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
}

static void test_not_routed(void **state)
{
    Hadoop__Yarn__GetClusterNodeLabelsRequestProto q =
        HADOOP__YARN__GET_CLUSTER_NODE_LABELS_REQUEST_PROTO__INIT;
    ProtobufCMessage *resp;

    (void)state;
    assert_int_equal(call("getClusterNodeLabels", &q.base,
                          &hadoop__yarn__get_cluster_node_labels_response_proto__descriptor, &resp),
                     -EREMOTEIO);
    assert_string_equal(class, JAVA_YARN_EXCEPTION);
    assert_non_null(strstr(why.text, "getClusterNodeLabels is not routed"));
}

static void ended(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)err;
    (void)userdata;
    assert_int_equal(r->status, -ECANCELED);
}

/* Calls that are open when the Router ends are answered. */
static void test_end(void **state)
{
    Hadoop__Yarn__GetClusterMetricsRequestProto q =
        HADOOP__YARN__GET_CLUSTER_METRICS_REQUEST_PROTO__INIT;
    int n = 0;

    (void)state;
    for (int i = 0; i < N; i++)
        g.fakes[i].manner = SILENT;
    assert_int_equal(ipc_client_call(g.client, "getClusterMetrics", &q.base,
                                     &hadoop__yarn__get_cluster_metrics_response_proto__descriptor,
                                     0, ended, &n),
                     0);
    while (g.fakes[N - 1].n_held == 0)
        assert_true(sd_event_run(g.event, UINT64_MAX) >= 0);
    g.client = ipc_client_free(g.client);
    g.router = rtr_free(g.router);
}

/* ---- Metrics ---- */

/* The value of a series in the text; -1: it is not there. */
static double figure(const char *text, const char *series)
{
    size_t n = strlen(series);

    for (const char *at = text; (at = strstr(at, series)); at += n)
        if ((at == text || at[-1] == '\n') && at[n] == ' ')
            return strtod(at + n, NULL);
    return -1;
}

static double now_figure(const char *series)
{
    struct sv_buf text = SV_BUF_INIT(1 << 20);
    double v;

    assert_int_equal(rtr_series(g.router, &text), 0);
    assert_int_equal(sv_buf_put_u8(&text, 0), 0);
    v = figure((char *)text.data, series);
    sv_buf_free(&text);
    return v;
}

static void test_metrics(void **state)
{
#define CALLS(member) "selvedge_router_member_call_seconds_count{member=\"" member "\"}"
#define FAILURES(member) "selvedge_router_member_call_failures_total{member=\"" member "\"}"
    (void)state;
    by_priority();
    assert_true(now_figure(CALLS("SC-1")) < 0);
    assert_int_equal(submit(1), 0);
    assert_true(now_figure(CALLS("SC-1")) == 1);
    assert_true(now_figure(CALLS("SC-2")) < 0);
    assert_true(now_figure("selvedge_federation_members{state=\"SC_RUNNING\"}") == N);
    assert_true(now_figure("selvedge_federation_members{state=\"SC_LOST\"}") == 0);
    assert_true(now_figure("selvedge_federation_member_active{member=\"SC-3\"}") == 1);
    g.fakes[0].manner = REFUSES; /* an exception is an answer */
    (void)report(1);
    assert_true(now_figure(CALLS("SC-1")) == 2);
    assert_true(now_figure(FAILURES("SC-1")) == 0);
    g.fakes[0].manner = SILENT;
    (void)report(1);
    assert_true(now_figure(CALLS("SC-1")) == 2);
    assert_true(now_figure(FAILURES("SC-1")) >= 1);
    assert_true(now_figure("selvedge_router_store_away") == 0);
    assert_true(now_figure("selvedge_rpc_seconds_count{service=\"ApplicationClientProtocol\","
                           "method=\"submitApplication\"}") == 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, up, down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(submit), TEST(proxy_user), TEST(next_member), TEST(repeated),
        TEST(silent), TEST(by_home),    TEST(sums),        TEST(new_application),
        TEST(crowd),  TEST(not_routed), TEST(metrics),     TEST(end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
