/* amrmproxy/amrm-proxy.c, server.c, pass-through.c, dial.c: masters, honest and hostile, before a
 * fake ResourceManager; real IPC on one loop, the store in memory. */
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

#include "common/log.h"
#include "nodemanager/amrmproxy/amrm-proxy.h"
#include "nodemanager/amrmproxy/keys.h"
#include "nodemanager/amrmproxy/server.h"
#include "nodemanager/conf/conf.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/context.h"
#include "nodemanager/federation/classes.h"
#include "nodemanager/store/state-store.h"
#include "tests/unit/nodemanager/conf/conf-fixture.h"
#include "wire/exceptions.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"

#define OWN "org.example.OwnException"

static const struct yarn_attempt_id first = { { 17, 3 }, 1 };
static const struct yarn_attempt_id second = { { 17, 3 }, 2 };
static const struct yarn_attempt_id other = { { 17, 4 }, 1 };

static struct {
    sd_event *event;
    struct nm_conf conf;
    struct nm_context ctx;
    struct nm_amrm *proxy;
    struct nm_amrm_server *server;
    struct sv_arena *arena;
    struct ipc_client *client;

    struct ipc_server *rm; /* the fake */
    char shown[64];        /* password that its caller must have */
    int registered, allocated, finished, refused;
    const struct yarn_token *rolls; /* the next allocate's new token */
    bool says_no, is_silent;
    struct ipc_call *held;
} w;

/* ---- The ResourceManager ---- */

static int verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64], size_t *ret_len,
                  char ret_user[256], const char **ret_class, struct sv_error *err, void *userdata)
{
    struct yarn_amrm_token t;

    (void)userdata;
    (void)ret_class;
    if (yarn_amrm_token_decode(id, id_len, &t, err) < 0 || t.key_id >= 100)
        return sv_error_set(err, -EACCES, "not one of mine"); /* a local token */
    *ret_len = strlen(w.shown);
    memcpy(ret_password, w.shown, *ret_len);
    yarn_attempt_id_text(t.attempt, ret_user);
    return 0;
}

static bool plays(struct ipc_call *call)
{
    if (w.is_silent)
        w.held = call;
    if (w.says_no)
        ipc_call_fail(call, OWN, "not you");
    return !w.is_silent && !w.says_no;
}

static void on_registerApplicationMaster(struct ipc_call *call, const ProtobufCMessage *q, void *u)
{
    Hadoop__Yarn__RegisterApplicationMasterResponseProto m =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_RESPONSE_PROTO__INIT;
    const Hadoop__Yarn__RegisterApplicationMasterRequestProto *r = (const void *)q;

    (void)u;
    w.registered++;
    assert_string_equal(r->host, "master.example");
    m.queue = (char *)(uintptr_t) "root.a";
    if (plays(call))
        ipc_call_reply(call, &m.base);
}

static void on_allocate(struct ipc_call *call, const ProtobufCMessage *q, void *u)
{
    Hadoop__Yarn__AllocateResponseProto m = HADOOP__YARN__ALLOCATE_RESPONSE_PROTO__INIT;
    const Hadoop__Yarn__AllocateRequestProto *r = (const void *)q;

    (void)u;
    w.allocated++;
    m.has_response_id = true;
    m.response_id = r->response_id + 1;
    if (w.rolls)
        m.am_rm_token = yarn_token_to(ipc_call_arena(call), w.rolls);
    if (plays(call))
        ipc_call_reply(call, &m.base);
}

static void on_finishApplicationMaster(struct ipc_call *call, const ProtobufCMessage *q, void *u)
{
    Hadoop__Yarn__FinishApplicationMasterResponseProto m =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_RESPONSE_PROTO__INIT;

    (void)u;
    (void)q;
    w.finished++;
    m.has_isunregistered = m.isunregistered = true;
    if (plays(call))
        ipc_call_reply(call, &m.base);
}

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_APPLICATION_MASTER_METHODS(ROW) };
static const struct ipc_protocol protocol = { .name = YARN_APPLICATION_MASTER_PROTOCOL,
                                              .version = 1,
                                              .methods = methods,
                                              .n_methods = SV_ARRAY_LEN(methods) };

/* ---- The node ---- */

static void unusable(const char *why, void *userdata)
{
    (void)userdata;
    fail_msg("%s", why);
}

static void open_proxy(void)
{
    struct sv_error err = { 0 };

    if (nm_amrm_new(&w.ctx, nm_amrm_classes, unusable, NULL, &w.proxy, &err) < 0 ||
        nm_amrm_recover(w.proxy, &err) < 0 ||
        nm_amrm_server_new(w.event, &w.conf, w.proxy, NULL, &w.server, &err) < 0)
        fail_msg("%s", err.text);
}

static void close_proxy(void)
{
    w.server = nm_amrm_server_free(w.server);
    w.proxy = nm_amrm_free(w.proxy);
}

static char scheduler[96];

static int set_up(void **state)
{
    static const struct ipc_protocol *const protocols[] = { &protocol, NULL };
    char *overrides[] = { (char *)(uintptr_t) "yarn.nodemanager.hostname=127.0.0.1",
                          (char *)(uintptr_t) "yarn.nodemanager.amrmproxy.enabled=true",
                          (char *)(uintptr_t) "yarn.nodemanager.amrmproxy.address=127.0.0.1:0",
                          scheduler, NULL };
    struct sv_error err = { 0 };

    (void)state;
    memset(&w, 0, sizeof(w));
    (void)snprintf(w.shown, sizeof(w.shown), "first");
    if (sd_event_new(&w.event) < 0 || !(w.arena = sv_arena_new(0)) ||
        ipc_server_new(
            w.event, &(struct ipc_server_config){ .verify_token = verify, .protocols = protocols },
            &w.rm, &err) < 0)
        return -1;
    (void)snprintf(scheduler, sizeof(scheduler),
                   "yarn.resourcemanager.scheduler.address=127.0.0.1:%u", ipc_server_port(w.rm));
    if (nm_conf_load(&w.conf, dir, overrides, &err) < 0 ||
        nm_store_open(w.event, NULL, &w.ctx.store, &err) < 0)
        fail_msg("%s", err.text);
    w.ctx.event = w.event;
    w.ctx.conf = &w.conf;
    open_proxy();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    w.client = ipc_client_free(w.client);
    close_proxy();
    w.ctx.store = nm_store_close(w.ctx.store);
    w.rm = ipc_server_free(w.rm);
    if (w.held)
        ipc_call_fail(w.held, OWN, "late");
    nm_conf_free(&w.conf);
    w.arena = sv_arena_free(w.arena);
    w.event = sd_event_unref(w.event);
    return 0;
}

/* ---- Masters ---- */

static struct yarn_token real_token(struct yarn_attempt_id id, const char *password)
{
    const struct yarn_amrm_token t = { .attempt = id, .key_id = 5 };
    struct yarn_token r = { .kind = YARN_KIND_AMRM,
                            .service = "",
                            .password = (const uint8_t *)password,
                            .password_len = strlen(password) };

    assert_int_equal(yarn_amrm_token_encode(w.arena, &t, &r.id, &r.id_len), 0);
    return r;
}

/* The launch of a master; its local token. */
static struct yarn_token begin(struct yarn_attempt_id id)
{
    const struct yarn_token real = real_token(id, "first");
    struct yarn_container_token t = { .container = { id, 1 },
                                      .submitter = "alice",
                                      .container_type = 1 };
    Hadoop__Yarn__ContainerLaunchContextProto clc;
    struct yarn_credentials c = { .n_tokens = 0 };
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(0);
    struct sv_error err = { 0 };

    assert_true(nm_amrm_wants(w.proxy, &t));
    assert_int_equal(yarn_credentials_add(w.arena, &c, "", &real), 0);
    assert_int_equal(yarn_credentials_write(&c, &out), 0);
    hadoop__yarn__container_launch_context_proto__init(&clc);
    clc.has_tokens = true;
    clc.tokens = (ProtobufCBinaryData){ out.len, out.data };
    if (nm_amrm_start(w.proxy, &t, &clc, w.arena, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(yarn_credentials_parse(clc.tokens.data, clc.tokens.len, w.arena, &c, &err), 0);
    assert_int_equal(c.n_tokens, 1);
    return c.tokens[0].token;
}

struct result {
    bool done;
    int status;
    char class[128], text[SV_ERROR_TEXT_MAX];
    int32_t response_id;
    struct yarn_token token; /* a new one */
    bool has_token;
};

static void on_result(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct result *x = userdata;

    x->done = true;
    x->status = r->status;
    (void)snprintf(x->class, sizeof(x->class), "%s", r->java_class ?: "");
    (void)snprintf(x->text, sizeof(x->text), "%s", r->status < 0 ? err->text : "");
    if (r->response &&
        r->response->descriptor == &hadoop__yarn__allocate_response_proto__descriptor) {
        const Hadoop__Yarn__AllocateResponseProto *m = (const void *)r->response;

        x->response_id = m->response_id;
        x->has_token = m->am_rm_token;
        if (m->am_rm_token)
            assert_int_equal(yarn_token_from(m->am_rm_token, w.arena, &x->token), 0);
    }
}

static void connect_to(uint16_t port, const struct yarn_token *t)
{
    w.client = ipc_client_free(w.client);
    assert_int_equal(ipc_client_new(w.event,
                                    &(struct ipc_client_config){ .host = "127.0.0.1",
                                                                 .port = port,
                                                                 .protocol = protocol.name,
                                                                 .version = 1,
                                                                 .user = "mallory",
                                                                 .token = t },
                                    &w.client, NULL),
                     0);
}

static void connect_as(const struct yarn_token *t)
{
    connect_to(nm_amrm_server_port(w.server), t);
}

static void wait_for(const bool *done)
{
    while (!*done)
        assert_true(sd_event_run(w.event, UINT64_MAX) > 0);
}

static struct result call(const char *method, const ProtobufCMessage *q,
                          const ProtobufCMessageDescriptor *response)
{
    struct result x = { .done = false };

    assert_int_equal(ipc_client_call(w.client, method, q, response, 0, on_result, &x), 0);
    wait_for(&x.done);
    return x;
}

static struct result registration(void)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;

    q.host = (char *)(uintptr_t) "master.example";
    return call("registerApplicationMaster", &q.base,
                &hadoop__yarn__register_application_master_response_proto__descriptor);
}

static struct result allocation(int32_t response_id)
{
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;

    q.has_response_id = true;
    q.response_id = response_id;
    return call("allocate", &q.base, &hadoop__yarn__allocate_response_proto__descriptor);
}

/* ---- Cases ---- */

static void a_master(void **state)
{
    Hadoop__Yarn__FinishApplicationMasterRequestProto q =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    const struct yarn_token t = begin(first);
    struct result x;

    (void)state;
    q.final_application_status = HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_SUCCEEDED;
    connect_as(&t);
    assert_int_equal(registration().status, 0);
    x = allocation(6);
    assert_int_equal(x.status, 0);
    assert_int_equal(x.response_id, 7);
    assert_false(x.has_token);
    w.says_no = true;
    x = allocation(7); /* an exception keeps class and text */
    assert_string_equal(x.class, OWN);
    assert_non_null(strstr(x.text, ": allocate: not you"));
    assert_null(strstr(x.text, "allocate: 127")); /* only the client's own prefix */
    w.says_no = false;
    assert_int_equal(call("finishApplicationMaster", &q.base,
                          &hadoop__yarn__finish_application_master_response_proto__descriptor)
                         .status,
                     0);
    assert_int_equal(w.registered + w.allocated + w.finished, 4);
    assert_int_equal(nm_amrm_counters_of(w.proxy)->failed[NM_AMRM_ALLOCATE], 1);
    assert_int_equal(nm_amrm_counters_of(w.proxy)->answered[NM_AMRM_ALLOCATE].n, 1);
}

static void rolled_tokens(void **state)
{
    const struct yarn_token t = begin(first), fresh = real_token(first, "second");
    struct result x;

    (void)state;
    connect_as(&t);
    w.rolls = &fresh;
    x = allocation(0);
    assert_int_equal(x.status, 0);
    assert_false(x.has_token); /* the ResourceManager's does not reach the master */
    w.rolls = NULL;
    assert_int_equal(nm_store_commit(w.ctx.store), 0);
    (void)snprintf(w.shown, sizeof(w.shown), "second"); /* the old one is no good any more */
    assert_int_equal(allocation(1).status, 0);
}

static void refused_token(const struct yarn_token *t, const char *words)
{
    struct result x;

    connect_as(t);
    x = allocation(0);
    assert_true(x.status < 0);
    if (!strstr(x.text, words))
        fail_msg("\"%s\" does not say \"%s\"", x.text, words);
}

static void attacks(void **state)
{
    const struct yarn_token mine = begin(first), theirs = begin(other);
    const struct yarn_token real = real_token(first, "first");
    const struct yarn_token unknown = real_token(second, "first");
    struct yarn_token forged = theirs;
    struct result x;

    (void)state;
    refused_token(NULL, ""); /* no token at all */
    refused_token(&real, "Invalid AMRMToken from appattempt_17_0003_000001: this is the AMRMProxy");
    refused_token(&unknown, "not found in AMRMProxyTokenSecretManager");
    forged.password = mine.password; /* another's identifier with one's own password */
    refused_token(&forged, "");
    connect_to(ipc_server_port(w.rm), &mine); /* a local token at the ResourceManager */
    x = allocation(0);
    assert_true(x.status < 0);
    assert_int_equal(w.allocated, 0);
    connect_as(&theirs); /* and it is another's calls that one makes with another's token */
    assert_int_equal(allocation(0).status, 0);
    nm_amrm_app_stopped(w.proxy, other.app);
    x = allocation(1); /* the connection was made before */
    assert_string_equal(x.class, JAVA_ATTEMPT_NOT_FOUND);
}

static void too_long(void **state)
{
    const struct yarn_token t = begin(first);
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    struct result x;

    (void)state;
    q.tracking_url = calloc(1, NM_AMRM_FRAME_MAX + 1);
    assert_non_null(q.tracking_url);
    memset(q.tracking_url, 'x', NM_AMRM_FRAME_MAX);
    connect_as(&t);
    x = call("allocate", &q.base, &hadoop__yarn__allocate_response_proto__descriptor);
    assert_true(x.status < 0);
    assert_int_equal(w.allocated, 0);
    free(q.tracking_url);
    connect_as(&t);
    assert_int_equal(allocation(0).status, 0); /* others are served */
}

static void later_attempt(void **state)
{
    const struct yarn_token old = begin(first);
    struct yarn_token now;

    (void)state;
    connect_as(&old);
    assert_int_equal(allocation(0).status, 0);
    now = begin(second);
    refused_token(&old, "not found in AMRMProxyTokenSecretManager");
    connect_as(&now);
    assert_int_equal(allocation(0).status, 0);
    assert_int_equal(nm_amrm_count(w.proxy), 1);
    nm_amrm_drop(w.proxy, first); /* another one's end changes nothing */
    assert_int_equal(nm_amrm_count(w.proxy), 1);
    nm_amrm_drop(w.proxy, second);
    assert_int_equal(nm_amrm_count(w.proxy), 0);
}

static int count(const struct nm_stored_amrm *r, void *u)
{
    (void)r;
    (*(int *)u)++;
    return 0;
}

static void a_restart(void **state)
{
    const struct yarn_token t = begin(first), gone = begin(other);
    struct nm_app app = { .text = "application_17_0003", .id = { 17, 3 } };
    int n = 0;

    (void)state;
    connect_as(&t);
    assert_int_equal(registration().status, 0);
    app.ctx = &w.ctx;
    nm_app_add(&app);
    close_proxy();
    open_proxy();
    connect_as(&t); /* with the token that it has */
    assert_int_equal(allocation(0).status, 0);
    connect_as(&gone); /* its application is not on record */
    assert_true(allocation(0).status < 0);
    while (nm_amrm_count(w.proxy) > 1)
        assert_true(sd_event_run(w.event, UINT64_MAX) > 0);
    assert_int_equal(nm_store_each_amrm(w.ctx.store, NULL, count, &n), 0);
    assert_int_equal(n, 2); /* user and token of the one that is left */
    HASH_CLEAR(hh, w.ctx.apps);
}

static void bad_records(void **state)
{
    int n = 0;

    (void)state;
    close_proxy();
    assert_int_equal(nm_store_amrm(w.ctx.store, "appattempt_17_0003_000001", "user", "x", 1), 0);
    assert_int_equal(nm_store_amrm(w.ctx.store, "no attempt", "user", "x", 1), 0);
    assert_int_equal(nm_store_amrm(w.ctx.store, "appattempt_17_0004_000001", "user", "x", 1), 0);
    assert_int_equal(nm_store_amrm(w.ctx.store, "appattempt_17_0004_000001", "amrmtoken", "?", 1),
                     0);
    open_proxy();
    assert_int_equal(nm_amrm_count(w.proxy), 0);
    assert_int_equal(nm_store_each_amrm(w.ctx.store, NULL, count, &n), 0);
    assert_int_equal(n, 0);
}

static void silent_resource_manager(void **state)
{
    const struct yarn_token t = begin(first);
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    struct result x = { .done = false };

    (void)state;
    w.is_silent = true;
    connect_as(&t);
    assert_int_equal(ipc_client_call(w.client, "allocate", &q.base,
                                     &hadoop__yarn__allocate_response_proto__descriptor, 0,
                                     on_result, &x),
                     0);
    while (!w.held)
        assert_true(sd_event_run(w.event, UINT64_MAX) > 0);
    nm_amrm_app_stopped(w.proxy, first.app);
    wait_for(&x.done);
    assert_string_equal(x.class, JAVA_ATTEMPT_NOT_FOUND);
}

static void own_address(void **state)
{
    struct nm_amrm *p;
    struct sv_error err = { 0 };

    (void)state;
    w.conf.amrmproxy.port = ipc_server_port(w.rm);
    assert_int_equal(nm_amrm_new(&w.ctx, nm_amrm_classes, unusable, NULL, &p, &err), -EINVAL);
    assert_non_null(strstr(err.text, "the AMRMProxy's own address"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(a_master),    CASE(rolled_tokens),           CASE(attacks),
        CASE(too_long),    CASE(later_attempt),           CASE(a_restart),
        CASE(bad_records), CASE(silent_resource_manager), CASE(own_address),
    };

    return cmocka_run_group_tests(tests, conf_set_up, conf_tear_down);
}
