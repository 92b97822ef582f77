/* Tests service/am/serve/client-am.c: a server of the protocol, asked by our client. */
#include "service/am/serve/client-am.h"

#include <errno.h>

#include "tests/unit/service/am-fixture.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/methods-service.h"

static struct {
    struct am_fixture f;
    sd_event *event;
    struct svc_client_am service;
    struct ipc_server *server;
    struct svc_flex flexed[8];
    char names[8][32], stopped[64], version[32];
    size_t n_flexed;
    bool stored, cancelled, finalized;
    int result;
    struct ipc_call *upgrade;
} w;

/* ---- A master that notes what it is asked ---- */

static int refuse(struct sv_error *err)
{
    return w.result < 0 ? sv_error_set(err, w.result, "not now") : 0;
}

static int on_flex(void *m, const struct svc_flex *list, size_t n, bool store, struct sv_error *err)
{
    (void)m;
    assert_true(n <= SV_ARRAY_LEN(w.flexed));
    for (size_t i = 0; i < n; i++) {
        w.flexed[i] = list[i];
        (void)snprintf(w.names[i], sizeof(w.names[i]), "%s", list[i].component);
    }
    w.n_flexed = n;
    w.stored = store;
    return refuse(err);
}

static int on_stop(void *m, const char *diagnostics, struct sv_error *err)
{
    (void)m;
    (void)snprintf(w.stopped, sizeof(w.stopped), "%s", diagnostics);
    return refuse(err);
}

static int on_names(void *m, char *const *names, size_t n, struct sv_error *err)
{
    (void)m;
    for (size_t i = 0; i < n; i++)
        (void)snprintf(w.names[i], sizeof(w.names[i]), "%s", names[i]);
    w.n_flexed = n;
    return refuse(err);
}

static int on_kill(void *m, struct yarn_container_id id, struct sv_error *err)
{
    (void)m;
    (void)id;
    return refuse(err);
}

static int on_upgrade(void *m, const char *version, bool auto_finalize, bool express,
                      struct ipc_call *call, struct sv_error *err)
{
    (void)m;
    (void)snprintf(w.version, sizeof(w.version), "%s %d %d", version, auto_finalize, express);
    if (w.result < 0)
        return refuse(err);
    svc_client_am_upgraded(call, 0, NULL);
    return SVC_LATER;
}

static int on_cancel(void *m, struct sv_error *err)
{
    (void)m;
    w.cancelled = true;
    return refuse(err);
}

static int on_finalize(void *m, struct sv_error *err)
{
    (void)m;
    w.finalized = true;
    return refuse(err);
}

static bool on_may(void *m, const char *user, enum svc_access access)
{
    (void)m;
    return strcmp(user, "alice") == 0 || (strcmp(user, "viewer") == 0 && access == SVC_VIEW);
}

static const struct svc_control_ops ops = { on_flex,  on_stop,   on_names,    on_kill, on_upgrade,
                                            on_names, on_cancel, on_finalize, on_may };

static void on_status(int status, void *userdata)
{
    svc_client_am_status_done(userdata, status);
}

static int set_up(void **state)
{
    static const struct ipc_protocol *const protocols[] = { &svc_client_am_protocol, NULL };
    static const char *const version = "7";
    const struct ipc_server_config cfg = { .protocols = protocols,
                                           .allow_simple = true,
                                           .userdata = &w.service };
    struct sv_error err = { 0 };

    (void)state;
    memset(&w, 0, sizeof(w));
    am_fixture_new(&w.f, "{\"name\":\"shop\",\"version\":\"7\",\"components\":[{\"name\":\"web\","
                         "\"number_of_containers\":2,\"launch_command\":\"web\","
                         "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}");
    assert_int_equal(sd_event_new(&w.event), 0);
    w.service = (struct svc_client_am){ .control = { &ops, NULL }, .version = &version };
    assert_int_equal(svc_instances_new(w.event, w.f.engine, &w.f.containers, &w.service.instances),
                     0);
    assert_int_equal(svc_status_new(w.event, w.f.engine, &w.f.containers, on_status, &w.service,
                                    &w.service.status),
                     0);
    assert_int_equal(svc_status_definition(w.service.status, w.f.plan->stored), 0);
    if (ipc_server_new(w.event, &cfg, &w.server, &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ipc_server_free(w.server);
    svc_instances_free(w.service.instances);
    svc_status_free(w.service.status);
    sd_event_unref(w.event);
    am_fixture_free(&w.f);
    return 0;
}

/* 0 and the answer in the arena, or -EREMOTEIO with the exception in err. */
static int call(const char *user, const char *method, const ProtobufCMessage *request,
                const ProtobufCMessageDescriptor *response, struct sv_arena *a,
                ProtobufCMessage **ret, struct sv_error *err)
{
    const struct ipc_client_config cfg = { .host = "127.0.0.1",
                                           .port = ipc_server_port(w.server),
                                           .protocol = YARN_SERVICE_AM_PROTOCOL,
                                           .version = 1,
                                           .user = user };
    struct ipc_client *c;
    const char *class = NULL;
    int r;

    *err = (struct sv_error){ 0 };
    assert_int_equal(ipc_client_new(w.event, &cfg, &c, err), 0);
    r = ipc_client_call_sync(c, method, request, response, a, ret, &class, err);
    ipc_client_free(c);
    return r;
}

#define ANSWER(name) &hadoop__yarn__##name##_response_proto__descriptor

static void flexes(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__FlexComponentsRequestProto q = HADOOP__YARN__FLEX_COMPONENTS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ComponentCountProto one = HADOOP__YARN__COMPONENT_COUNT_PROTO__INIT;
    Hadoop__Yarn__ComponentCountProto *list[] = { &one };
    ProtobufCMessage *m;
    struct sv_error err;

    (void)state;
    one.name = (char[]){ "web" };
    one.has_numberofcontainers = true;
    one.numberofcontainers = 5;
    q.components = list;
    q.n_components = 1;
    assert_int_equal(call("alice", "flexComponents", &q.base, ANSWER(flex_components), a, &m, &err),
                     0);
    assert_int_equal(w.n_flexed, 1);
    assert_string_equal(w.names[0], "web");
    assert_int_equal(w.flexed[0].count, 5);
    assert_false(w.stored);
    w.result = -EBUSY;
    assert_int_equal(call("alice", "flexComponents", &q.base, ANSWER(flex_components), a, &m, &err),
                     -EREMOTEIO);
    assert_non_null(strstr(err.text, "not now"));
    one.has_numberofcontainers = false;
    w.n_flexed = 0;
    assert_int_equal(call("alice", "flexComponents", &q.base, ANSWER(flex_components), a, &m, &err),
                     -EREMOTEIO);
    assert_non_null(strstr(err.text, "components[0].numberOfContainers is missing"));
    assert_int_equal(w.n_flexed, 0);
}

static void reads(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetStatusRequestProto q = HADOOP__YARN__GET_STATUS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__GetCompInstancesRequestProto i =
        HADOOP__YARN__GET_COMP_INSTANCES_REQUEST_PROTO__INIT;
    char ready[] = "READY", *states[33];
    ProtobufCMessage *m;
    struct sv_error err;

    (void)state;
    assert_int_equal(call("viewer", "getStatus", &q.base, ANSWER(get_status), a, &m, &err), 0);
    assert_non_null(
        strstr(((Hadoop__Yarn__GetStatusResponseProto *)m)->status, "\"name\":\"shop\""));
    assert_int_equal(
        call("viewer", "getCompInstances", &i.base, ANSWER(get_comp_instances), a, &m, &err), 0);
    assert_non_null(strstr(((Hadoop__Yarn__GetCompInstancesResponseProto *)m)->compinstances,
                           "\"component_instance_name\":\"web-1\""));
    for (size_t n = 0; n < SV_ARRAY_LEN(states); n++)
        states[n] = ready;
    i.containerstates = states;
    i.n_containerstates = SV_ARRAY_LEN(states); /* each instance would be compared with them */
    assert_int_equal(
        call("viewer", "getCompInstances", &i.base, ANSWER(get_comp_instances), a, &m, &err),
        -EREMOTEIO);
    assert_non_null(strstr(err.text, "33 states: at most 32"));
}

static void only_those_who_may(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__StopRequestProto q = HADOOP__YARN__STOP_REQUEST_PROTO__INIT;
    Hadoop__Yarn__GetStatusRequestProto g = HADOOP__YARN__GET_STATUS_REQUEST_PROTO__INIT;
    static const char *const changes[] = { "flexComponents",           "stop",
                                           "upgradeService",           "cancelUpgrade",
                                           "restartService",           "upgrade",
                                           "decommissionCompInstances" };
    ProtobufCMessage *m;
    struct sv_error err;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(changes); i++) {
        assert_int_equal(call("viewer", changes[i], &q.base, ANSWER(stop), a, &m, &err),
                         -EREMOTEIO);
        assert_non_null(strstr(err.text, "viewer may not modify this service"));
    }
    assert_int_equal(call("mallory", "getStatus", &g.base, ANSWER(get_status), a, &m, &err),
                     -EREMOTEIO);
    assert_true(!*w.stopped && !w.cancelled && !w.finalized && !*w.version);
    assert_int_equal(call("alice", "stop", &q.base, ANSWER(stop), a, &m, &err), 0);
    assert_string_equal(w.stopped, "Stopped by user alice");
}

static void upgrades(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UpgradeServiceRequestProto q = HADOOP__YARN__UPGRADE_SERVICE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__RestartServiceRequestProto f = HADOOP__YARN__RESTART_SERVICE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__CancelUpgradeRequestProto c = HADOOP__YARN__CANCEL_UPGRADE_REQUEST_PROTO__INIT;
    ProtobufCMessage *m;
    struct sv_error err;

    (void)state;
    q.version = (char[]){ "8" };
    q.has_expressupgrade = q.expressupgrade = true;
    assert_int_equal(call("alice", "upgradeService", &q.base, ANSWER(upgrade_service), a, &m, &err),
                     0);
    assert_string_equal(w.version, "8 0 1");
    assert_null(((Hadoop__Yarn__UpgradeServiceResponseProto *)m)->error);
    assert_int_equal(call("alice", "restartService", &f.base, ANSWER(restart_service), a, &m, &err),
                     0);
    assert_int_equal(call("alice", "cancelUpgrade", &c.base, ANSWER(cancel_upgrade), a, &m, &err),
                     0);
    assert_true(w.finalized && w.cancelled);
    w.result = -EBUSY; /* a text of the answer, as Hadoop's */
    assert_int_equal(call("alice", "upgradeService", &q.base, ANSWER(upgrade_service), a, &m, &err),
                     0);
    assert_string_equal(((Hadoop__Yarn__UpgradeServiceResponseProto *)m)->error, "not now");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = { TEST(flexes), TEST(reads), TEST(only_those_who_may),
                                        TEST(upgrades) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
