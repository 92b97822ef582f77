/* Tests client/lib/rm-submit.c, launch.c, rm-reports.c and the lifetime of rm-apps.c against a
 * ResourceManager that a test scripts: what a submission says, what a report is read as, and on
 * whose behalf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/lib/client.h"
#include "client/lib/internal.h"
#include "common/clock.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"

#define PATIENCE_MS 60000 /* only for hangs */

typedef Hadoop__Yarn__ApplicationSubmissionContextProto context;

struct fixture {
    sd_event *event;
    struct ipc_server *server;
    struct sv_conf *conf;
    struct cli_rm *rm;
    struct sv_arena *kept;
    const context *submitted;
    char user[64], real_user[64], date[64];
    int done, status;
};

static const struct yarn_app_id app = { 1700000000000, 3 };

/* ---- The ResourceManager ---- */

static void note_peer(struct fixture *w, struct ipc_call *call)
{
    const struct ipc_peer *p = ipc_call_peer(call);

    (void)snprintf(w->user, sizeof(w->user), "%s", p->user);
    (void)snprintf(w->real_user, sizeof(w->real_user), "%s", p->real_user ? p->real_user : "");
}

static void on_submitApplication(struct ipc_call *call, const ProtobufCMessage *request,
                                 void *userdata)
{
    struct fixture *w = userdata;
    const Hadoop__Yarn__SubmitApplicationRequestProto *q = (const void *)request;
    Hadoop__Yarn__SubmitApplicationResponseProto out =
        HADOOP__YARN__SUBMIT_APPLICATION_RESPONSE_PROTO__INIT;
    size_t n = protobuf_c_message_get_packed_size(&q->application_submission_context->base);
    uint8_t *bytes = sv_arena_alloc(w->kept, n);

    note_peer(w, call);
    protobuf_c_message_pack(&q->application_submission_context->base, bytes);
    w->submitted = hadoop__yarn__application_submission_context_proto__unpack(
        sv_arena_protobuf(w->kept), n, bytes);
    ipc_call_reply(call, &out.base);
}

static void on_getApplicationReport(struct ipc_call *call, const ProtobufCMessage *request,
                                    void *userdata)
{
    struct sv_arena *a = ipc_call_arena(call);
    const Hadoop__Yarn__GetApplicationReportRequestProto *q = (const void *)request;
    Hadoop__Yarn__GetApplicationReportResponseProto out =
        HADOOP__YARN__GET_APPLICATION_REPORT_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__ApplicationReportProto m = HADOOP__YARN__APPLICATION_REPORT_PROTO__INIT;
    Hadoop__Yarn__AppTimeoutsMapProto row = HADOOP__YARN__APP_TIMEOUTS_MAP_PROTO__INIT,
                                      *rows = &row;
    Hadoop__Yarn__ApplicationTimeoutProto timeout = HADOOP__YARN__APPLICATION_TIMEOUT_PROTO__INIT;
    const struct yarn_token token = { .id = (const uint8_t *)"id",
                                      .id_len = 2,
                                      .password = (const uint8_t *)"pw",
                                      .password_len = 2,
                                      .kind = YARN_KIND_CLIENT_AM,
                                      .service = "" };
    char one[] = "one", two[] = "two", host[] = "am-host", none[] = "N/A";
    char *tags[] = { one, two };

    (void)userdata;
    m.applicationid = q->application_id;
    m.host = none;
    if (q->application_id->id == app.id) {
        m.host = host;
        m.has_rpc_port = true;
        m.rpc_port = 4711;
        m.client_to_am_token = yarn_token_to(a, &token);
        m.applicationtags = tags;
        m.n_applicationtags = 2;
        timeout.application_timeout_type =
            HADOOP__YARN__APPLICATION_TIMEOUT_TYPE_PROTO__APP_TIMEOUT_LIFETIME;
        timeout.has_remaining_time = true;
        timeout.remaining_time = 90;
        row.application_timeout = &timeout;
        m.apptimeouts = &rows;
        m.n_apptimeouts = 1;
    }
    out.application_report = &m;
    ipc_call_reply(call, &out.base);
}

static void on_updateApplicationTimeouts(struct ipc_call *call, const ProtobufCMessage *request,
                                         void *userdata)
{
    struct fixture *w = userdata;
    const Hadoop__Yarn__UpdateApplicationTimeoutsRequestProto *q = (const void *)request;
    Hadoop__Yarn__UpdateApplicationTimeoutsResponseProto out =
        HADOOP__YARN__UPDATE_APPLICATION_TIMEOUTS_RESPONSE_PROTO__INIT;

    (void)snprintf(w->date, sizeof(w->date), "%s", q->application_timeouts[0]->expire_time);
    out.application_timeouts = q->application_timeouts;
    out.n_application_timeouts = q->n_application_timeouts;
    ipc_call_reply(call, &out.base);
}

#define ROW(name, request, response)                                                               \
    {                                                                                              \
#name, &hadoop__yarn__##request##_request_proto__descriptor,                               \
            &hadoop__yarn__##response##_response_proto__descriptor, on_##name                      \
    }
static const struct ipc_method methods[] = {
    ROW(submitApplication, submit_application, submit_application),
    ROW(getApplicationReport, get_application_report, get_application_report),
    ROW(updateApplicationTimeouts, update_application_timeouts, update_application_timeouts),
};
static const struct ipc_protocol protocol = { .name = YARN_APPLICATION_CLIENT_PROTOCOL,
                                              .version = 1,
                                              .methods = methods,
                                              .n_methods = SV_ARRAY_LEN(methods) };
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

static int impersonation(void *userdata, const struct ipc_peer *peer, struct sv_error *err)
{
    (void)userdata, (void)peer, (void)err;
    return 0;
}

/* ---- Life ---- */

static int set_up(void **state)
{
    struct fixture *w = calloc(1, sizeof(*w));
    struct ipc_server_config ipc = {
        .allow_simple = true, .impersonation = impersonation, .protocols = protocols, .userdata = w
    };
    char address[64];

    assert_non_null(w);
    assert_int_equal(sd_event_new(&w->event), 0);
    assert_int_equal(ipc_server_new(w->event, &ipc, &w->server, NULL), 0);
    w->kept = sv_arena_new(0);
    w->conf = sv_conf_new();
    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", ipc_server_port(w->server));
    assert_int_equal(sv_conf_set(w->conf, "yarn.resourcemanager.address", address), 0);
    assert_int_equal(cli_rm_new(w->event, w->conf, "ann", &w->rm, NULL), 0);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *w = *state;

    cli_rm_free(w->rm);
    ipc_server_free(w->server);
    sv_conf_free(w->conf);
    sv_arena_free(w->kept);
    sd_event_unref(w->event);
    free(w);
    return 0;
}

static void run(struct fixture *w)
{
    const int64_t end = sv_now_ms() + PATIENCE_MS;

    while (w->done == 0 && sv_now_ms() < end)
        assert_true(sd_event_run(w->event, 100000) >= 0);
    assert_int_equal(w->done, 1);
    assert_int_equal(w->status, 0);
    w->done = 0;
}

static void on_done(int status, const struct sv_error *err, void *userdata)
{
    struct fixture *w = userdata;

    if (status < 0)
        print_message("%s\n", err->text);
    w->done++;
    w->status = status;
}

/* ---- Submission ---- */

static void test_submission(void **state)
{
    static const int32_t codes[] = { 1, 137 };
    static const char *const tags[] = { "yarn-service", "Name: Sleeper" };
    static const struct cli_retry retry = { .policy = CLI_RETRY_CODES,
                                            .codes = codes,
                                            .n_codes = 2,
                                            .max = 5,
                                            .interval_ms = 1000,
                                            .validity_ms = 60000 };
    static const struct cli_service_data data = { "mapreduce_shuffle", (const uint8_t *)"secret",
                                                  6 };
    struct fixture *w = *state;
    struct cli_submission s = { .app = app,
                                .name = "n",
                                .queue = "q",
                                .type = "yarn-service",
                                .resource = { .memory_mb = 64, .vcores = 1 },
                                .max_attempts = 20,
                                .lifetime_s = 30,
                                .launch = { .command = "true",
                                            .retry = &retry,
                                            .service_data = &data,
                                            .n_service_data = 1 },
                                .tags = tags,
                                .n_tags = 2,
                                .keep_containers = true,
                                .failure_validity_ms = 5000,
                                .priority = 4,
                                .label = "fast",
                                .am_label = "slow",
                                .log_include = "a",
                                .rolled_exclude = "b" };
    const Hadoop__Yarn__ContainerRetryContextProto *r;
    const context *m;

    assert_int_equal(cli_rm_submit(w->rm, &s, on_done, w), 0);
    run(w);
    m = w->submitted;
    assert_string_equal(w->user, "ann");
    assert_string_equal(w->real_user, "");
    assert_string_equal(m->applicationtype, "yarn-service");
    assert_int_equal(m->n_applicationtags, 2);
    assert_string_equal(m->applicationtags[1], "name: sleeper");
    assert_true(m->keep_containers_across_application_attempts);
    assert_int_equal(m->attempt_failures_validity_interval, 5000);
    assert_int_equal(m->priority->priority, 4);
    assert_string_equal(m->node_label_expression, "fast");
    assert_int_equal(m->n_am_container_resource_request, 1);
    assert_string_equal(m->am_container_resource_request[0]->node_label_expression, "slow");
    assert_string_equal(m->am_container_resource_request[0]->resource_name, "*");
    assert_int_equal(m->am_container_resource_request[0]->capability->memory, 64);
    assert_string_equal(m->log_aggregation_context->include_pattern, "a");
    assert_string_equal(m->log_aggregation_context->exclude_pattern, "");
    assert_string_equal(m->log_aggregation_context->rolled_logs_exclude_pattern, "b");
    assert_int_equal(m->application_timeouts[0]->timeout, 30);
    r = m->am_container_spec->container_retry_context;
    assert_int_equal(r->retry_policy,
                     HADOOP__YARN__CONTAINER_RETRY_POLICY_PROTO__RETRY_ON_SPECIFIC_ERROR_CODES);
    assert_int_equal(r->n_error_codes, 2);
    assert_int_equal(r->error_codes[1], 137);
    assert_int_equal(r->max_retries, 5);
    assert_int_equal(r->failures_validity_interval, 60000);
    assert_int_equal(m->am_container_spec->n_service_data, 1);
    assert_string_equal(m->am_container_spec->service_data[0]->key, "mapreduce_shuffle");
    assert_int_equal(m->am_container_spec->service_data[0]->value.len, 6);
}

/* A submission that says nothing new is sent as before. */
static void test_plain_submission(void **state)
{
    struct fixture *w = *state;
    struct cli_submission s = { .app = app,
                                .resource = { .memory_mb = 64, .vcores = 1 },
                                .launch = { .command = "true" } };
    const context *m;

    assert_int_equal(cli_rm_submit(w->rm, &s, on_done, w), 0);
    run(w);
    m = w->submitted;
    assert_string_equal(m->queue, "default");
    assert_false(m->has_keep_containers_across_application_attempts);
    assert_false(m->has_attempt_failures_validity_interval);
    assert_false(m->has_maxappattempts);
    assert_int_equal(m->n_applicationtags, 0);
    assert_int_equal(m->n_am_container_resource_request, 0);
    assert_null(m->log_aggregation_context);
    assert_null(m->am_container_spec->container_retry_context);
    s.rolled_logs = "*.log";
    assert_int_equal(cli_rm_submit(w->rm, &s, on_done, w), 0);
    run(w);
    assert_string_equal(w->submitted->log_aggregation_context->rolled_logs_include_pattern,
                        "*.log");
}

static void test_bad_tags(void **state)
{
    static char long_tag[CLI_TAG_LEN_MAX + 2];
    const char *const bad[] = { "", "grün", long_tag };
    struct fixture *w = *state;
    struct cli_submission s = { .app = app, .launch = { .command = "true" }, .n_tags = 1 };

    memset(long_tag, 'x', sizeof(long_tag) - 1);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        s.tags = &bad[i];
        assert_int_equal(cli_rm_submit(w->rm, &s, on_done, w), -EINVAL);
    }
    s.n_tags = CLI_TAGS_MAX + 1;
    assert_int_equal(cli_rm_submit(w->rm, &s, on_done, w), -EINVAL);
    assert_int_equal(w->done, 0);
}

/* A daemon submits as its caller, and says who it is. */
static void test_on_behalf(void **state)
{
    struct fixture *w = *state;
    struct cli_submission s = { .app = app, .launch = { .command = "true" } };
    struct cli_rm *proxy;

    assert_int_equal(cli_rm_new_for(w->event, w->conf, "daemon", "bob", &proxy, NULL), 0);
    assert_int_equal(cli_rm_submit(proxy, &s, on_done, w), 0);
    run(w);
    assert_string_equal(w->user, "bob");
    assert_string_equal(w->real_user, "daemon");
    cli_rm_free(proxy);
}

/* ---- Reports ---- */

static void on_report(int status, const struct cli_report *r, size_t n, const struct sv_error *err,
                      void *userdata)
{
    struct fixture *w = userdata;

    on_done(status, err, w);
    assert_int_equal(n, 1);
    if (r->id.id != app.id) {
        assert_string_equal(r->host, "");
        assert_int_equal(r->rpc_port, -1);
        assert_null(r->client_token);
        assert_int_equal(r->lifetime_left_s, -1);
        assert_int_equal(r->n_tags, 0);
        return;
    }
    assert_string_equal(r->host, "am-host");
    assert_int_equal(r->rpc_port, 4711);
    assert_int_equal(r->client_token->id_len, 2);
    assert_string_equal(r->client_token->kind, YARN_KIND_CLIENT_AM);
    assert_int_equal(r->lifetime_left_s, 90);
    assert_int_equal(r->n_tags, 2);
    assert_string_equal(r->tags[1], "two");
}

static void test_report(void **state)
{
    struct fixture *w = *state;

    assert_int_equal(cli_rm_report(w->rm, app, on_report, w), 0);
    run(w);
    assert_int_equal(cli_rm_report(w->rm, (struct yarn_app_id){ app.cluster_ts, 9 }, on_report, w),
                     0);
    run(w);
}

/* ---- Lifetime ---- */

static void test_lifetime(void **state)
{
    struct fixture *w = *state;
    const int64_t before = sv_wall_ms() / 1000;
    struct tm tm = { 0 };
    const char *rest;

    assert_int_equal(cli_rm_set_lifetime(w->rm, app, 0, on_done, w), -EINVAL);
    assert_int_equal(cli_rm_set_lifetime(w->rm, app, INT64_MAX, on_done, w), -EINVAL);
    assert_int_equal(cli_rm_set_lifetime(w->rm, app, 3600, on_done, w), 0);
    run(w);
    rest = strptime(w->date, "%Y-%m-%dT%H:%M:%S", &tm);
    assert_non_null(rest);
    assert_string_equal(rest, ".000+0000");
    assert_in_range(timegm(&tm), before + 3600, before + 3600 + PATIENCE_MS / 1000);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_submission), T(test_plain_submission), T(test_bad_tags),
        T(test_on_behalf),  T(test_report),           T(test_lifetime),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
