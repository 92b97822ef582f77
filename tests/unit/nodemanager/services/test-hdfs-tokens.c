/* Tests services/hdfs-tokens.c with NameNodes of the test: one request for many waiters, the life
 * of a token, failures, and whom the daemon asks at all. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/log.h"
#include "nodemanager/services/hdfs-tokens.h"
#include "tests/lib/free-port.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods-hdfs.h"
#include "wire/sasl/qop.h"
#include "wire/token/token.h"

#define ISSUED 1700000000000

/* ---- a NameNode ---- */

static struct name_node {
    struct ipc_server *server;
    int tokens, renewals;    /* calls */
    int64_t life_ms, max_ms; /* of its tokens */
    bool standby, none, silent, no_renewal, old_kind, broken, refuses;
    struct ipc_call *held; /* by a silent one */
    char renewer[64];
} nodes[2];

static struct name_node *node_of(void *userdata)
{
    return userdata;
}

static void on_get(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    const Hadoop__Common__GetDelegationTokenRequestProto *q = (const void *)request;
    Hadoop__Common__GetDelegationTokenResponseProto m =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;
    struct name_node *n = node_of(userdata);
    struct sv_arena *a = ipc_call_arena(call);
    struct yarn_delegation_token id = { .owner = "nm/h@R", .issue_ms = ISSUED, .sequence = 1 };
    char password[16];
    struct yarn_token t = { .kind = n->old_kind ? "OTHER" : YARN_KIND_HDFS_DELEGATION,
                            .service = "",
                            .password = (const uint8_t *)password };

    n->tokens++;
    snprintf(n->renewer, sizeof(n->renewer), "%s", q->renewer);
    if (n->silent) {
        n->held = call;
        return;
    }
    if (n->refuses) {
        ipc_call_fail(call, "org.apache.hadoop.security.AccessControlException", "not you");
        return;
    }
    if (n->standby) {
        ipc_call_fail(call, "org.apache.hadoop.ipc.StandbyException", "in standby");
        return;
    }
    id.max_ms = ISSUED + n->max_ms;
    t.password_len = (size_t)snprintf(password, sizeof(password), "secret-%d", n->tokens);
    assert_int_equal(yarn_delegation_token_encode_writable(a, &id, &t.id, &t.id_len), 0);
    if (n->broken)
        t.id_len /= 2;
    m.token = n->none ? NULL : yarn_token_to(a, &t);
    ipc_call_reply(call, &m.base);
}

static void on_renew(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Common__RenewDelegationTokenResponseProto m =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;
    struct name_node *n = node_of(userdata);

    assert_non_null(((const Hadoop__Common__RenewDelegationTokenRequestProto *)request)->token);
    n->renewals++;
    if (n->no_renewal) {
        ipc_call_fail(call, "org.apache.hadoop.security.AccessControlException",
                      "nm tries to renew a token\n\tat a.stack(Trace.java)");
        return;
    }
    m.newexpirytime = (uint64_t)(ISSUED + n->life_ms);
    ipc_call_reply(call, &m.base);
}

static const struct ipc_method methods[] = {
    { "getDelegationToken", &hadoop__common__get_delegation_token_request_proto__descriptor,
      &hadoop__common__get_delegation_token_response_proto__descriptor, on_get },
    { "renewDelegationToken", &hadoop__common__renew_delegation_token_request_proto__descriptor,
      &hadoop__common__renew_delegation_token_response_proto__descriptor, on_renew },
};
static const struct ipc_protocol protocol = {
    .name = HDFS_CLIENT_PROTOCOL, .version = 1, .methods = methods, .n_methods = 2
};
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

/* ---- the daemon ---- */

static sd_event *event;
static struct sv_conf *conf;
static struct nm_hdfs_tokens *tokens;
static int changes;
static const struct ipc_kerberos *kerberos;

static void on_changed(void *userdata)
{
    (void)userdata;
    changes++;
}

static void open_node(struct name_node *n)
{
    const struct ipc_server_config cfg = { .allow_simple = true,
                                           .protocols = protocols,
                                           .userdata = n };

    *n = (struct name_node){ .life_ms = 86400000, .max_ms = 604800000 };
    assert_int_equal(ipc_server_new(event, &cfg, &n->server, NULL), 0);
}

static void set(const char *key, const char *value)
{
    assert_int_equal(sv_conf_set(conf, key, value), 0);
}

static uint16_t port_of(int i)
{
    return ipc_server_port(nodes[i].server);
}

/* Both are a nameservice's. */
static void begin(void)
{
    const struct nm_hdfs_tokens_config cfg = { .event = event,
                                               .conf = conf,
                                               .kerberos = kerberos,
                                               .renewer = "nm/h@R",
                                               .qop_mask = IPC_QOP_AUTH,
                                               .wait_ms = 1,
                                               .changed = on_changed };
    char address[64];

    set("dfs.nameservices", "ns");
    set("dfs.ha.namenodes.ns", "a,b");
    snprintf(address, sizeof(address), "localhost:%u", port_of(0));
    set("dfs.namenode.rpc-address.ns.a", address);
    snprintf(address, sizeof(address), "localhost:%u", port_of(1));
    set("dfs.namenode.rpc-address.ns.b", address);
    assert_int_equal(nm_hdfs_tokens_new(&cfg, &tokens), 0);
}

static int set_up(void **state)
{
    (void)state;
    changes = 0;
    kerberos = NULL;
    conf = sv_conf_new();
    if (!conf || sd_event_new(&event) < 0)
        return -1;
    open_node(&nodes[0]);
    open_node(&nodes[1]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sv_clock_reset();
    tokens = nm_hdfs_tokens_free(tokens);
    for (int i = 0; i < 2; i++) {
        if (nodes[i].held)
            ipc_call_fail(nodes[i].held, "java.io.IOException", "late");
        nodes[i].server = ipc_server_free(nodes[i].server);
    }
    event = sd_event_unref(event);
    conf = sv_conf_free(conf);
    return 0;
}

/* "password of service", of "hdfs://host:port". */
static const char *get(const char *host, uint16_t port)
{
    static char text[128];
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct sv_buf *b = NULL;
    struct yarn_credentials c;

    assert_int_equal(nm_hdfs_tokens_get(tokens, host, port, &b, NULL), 0);
    assert_int_equal(yarn_credentials_parse(b->data, b->len, a, &c, NULL), 0);
    assert_int_equal(c.n_tokens, 1);
    assert_string_equal(c.tokens[0].token.kind, YARN_KIND_HDFS_DELEGATION);
    snprintf(text, sizeof(text), "%.*s of %s", (int)c.tokens[0].token.password_len,
             (const char *)c.tokens[0].token.password, c.tokens[0].token.service);
    return text;
}

static const char *ns(void)
{
    static char text[128];
    const char *is = get("ns", 0);

    snprintf(text, sizeof(text), "%.*s", (int)strcspn(is, " "), is);
    return text;
}

static void expect(const char *host, uint16_t port, int want, const char *words)
{
    struct sv_error err = { 0 };
    const struct sv_buf *b = NULL;

    assert_int_equal(nm_hdfs_tokens_get(tokens, host, port, &b, &err), want);
    assert_null(b);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    assert_null(strstr(err.text, "secret-"));
    assert_null(strstr(err.text, "stack"));
}

static void wait_change(void)
{
    int before = changes;

    for (int i = 0; i < 1000 && changes == before; i++)
        assert_return_code(sd_event_run(event, 30000000), 0);
    assert_int_equal(changes, before + 1);
}

/* ---- cases ---- */

static void test_one_request(void **state)
{
    char wanted[128];

    (void)state;
    begin();
    for (int i = 0; i < 5; i++)
        expect("ns", 0, -EAGAIN, "");
    wait_change();
    snprintf(wanted, sizeof(wanted), "secret-1 of localhost:%u", port_of(0));
    assert_string_equal(get("ns", 0), wanted);
    assert_string_equal(get("ns", 0), wanted);
    assert_int_equal(nodes[0].tokens, 1);
    assert_int_equal(nodes[0].renewals, 1);
    assert_int_equal(nodes[1].tokens, 0);
    assert_string_equal(nodes[0].renewer, "nm/h@R");
    expect("LocalHost", port_of(1), -EAGAIN, ""); /* one of them by its name */
    expect("localhost", port_of(1), -EAGAIN, "");
    wait_change();
    snprintf(wanted, sizeof(wanted), "secret-1 of localhost:%u", port_of(1));
    assert_string_equal(get("LOCALHOST", port_of(1)), wanted);
    assert_int_equal(nodes[1].tokens, 1);
}

/* The active one of two is found. */
static void test_standby(void **state)
{
    (void)state;
    nodes[0].standby = true;
    begin();
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    assert_string_equal(ns(), "secret-1");
    assert_int_equal(nodes[1].tokens, 1);
}

static void expect_counts(struct nm_hdfs_tokens_counts want)
{
    struct nm_hdfs_tokens_counts is;

    nm_hdfs_tokens_counts(tokens, &is);
    assert_int_equal(is.valid, want.valid);
    assert_int_equal(is.failing, want.failing);
    assert_int_equal(is.received, want.received);
    assert_int_equal(is.failed, want.failed);
}

/* One that refuses this node is told, and the next request goes to the other one. */
static void test_refused_by_one(void **state)
{
    int64_t t = 1000000;

    (void)state;
    sv_clock_set_test(t, 1);
    nodes[0].refuses = true;
    begin();
    expect_counts((struct nm_hdfs_tokens_counts){ 0 });
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    expect("ns", 0, -EREMOTEIO, "not you");
    expect_counts((struct nm_hdfs_tokens_counts){ .failing = 1, .failed = 1 });
    sv_clock_set_test(t += 5000, 1);
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    assert_string_equal(ns(), "secret-1");
    assert_int_equal(nodes[0].tokens, 1);
    assert_int_equal(nodes[1].tokens, 1);
    expect_counts((struct nm_hdfs_tokens_counts){ .valid = 1, .received = 1, .failed = 1 });
    sv_clock_set_test(t + 86400000, 1);
    expect_counts((struct nm_hdfs_tokens_counts){ .received = 1, .failed = 1 });
}

/* A NameNode of no key learns nothing of us, not even by a connection. */
static void test_foreign(void **state)
{
    uint16_t port;

    (void)state;
    begin();
    set("dfs.namenode.rpc-address.ns.b", "elsewhere:1"); /* later than the daemon's start */
    port = port_of(1);
    expect("127.0.0.1", port, -EACCES, "is not in this node's configuration (fs.defaultFS");
    expect("evil.example", 8020, -EACCES, "the NameNode evil.example:8020");
    expect("ns", 8020, -EACCES, "the NameNode ns:8020"); /* a host of the nameservice's name */
    for (int i = 0; i < 20; i++)
        assert_return_code(sd_event_run(event, 1000), 0);
    assert_int_equal(ipc_server_connections(nodes[1].server), 0);
    expect("", 0, -EINVAL, "fs.defaultFS");
    assert_int_equal(changes, 0);
}

/* Replaced after three quarters of its life, waited for after its end. */
static void test_life(void **state)
{
    int64_t t = 1000000;

    (void)state;
    sv_clock_set_test(t, 1);
    nodes[0].life_ms = 10000;
    begin();
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    sv_clock_set_test(t + 7499, 1);
    assert_string_equal(ns(), "secret-1");
    assert_int_equal(nodes[0].tokens, 1);
    sv_clock_set_test(t + 7500, 1);
    assert_string_equal(ns(), "secret-1");
    assert_string_equal(ns(), "secret-1"); /* while the new one is asked for */
    wait_change();
    assert_int_equal(nodes[0].tokens, 2);
    assert_string_equal(ns(), "secret-2");
    sv_clock_set_test(t += 7500 + 10000, 1);
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    assert_string_equal(ns(), "secret-3");
}

/* Its end is not later than the token says, and none is known without a renewal. */
static void test_ends(void **state)
{
    int64_t t = 1000000;

    (void)state;
    sv_clock_set_test(t, 1);
    nodes[0].max_ms = 5000;
    begin();
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    sv_clock_set_test(t + 4999, 1);
    assert_string_equal(ns(), "secret-1");
    wait_change();
    sv_clock_set_test(t + 4999 + 5000, 1);
    nodes[0].max_ms = 604800000;
    nodes[0].no_renewal = true;
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    t += 4999 + 5000;
    sv_clock_set_test(t + 449999, 1);
    assert_string_equal(ns(), "secret-3");
    assert_int_equal(nodes[0].tokens, 3);
    sv_clock_set_test(t + 600000, 1);
    expect("ns", 0, -EAGAIN, "");
    wait_change();
}

/* A failure is told to all that wait, and for some seconds to those that come later. */
static void test_failures(void **state)
{
    static const struct {
        const char *words;
        size_t flag;
    } rows[] = { { "issues no tokens", offsetof(struct name_node, none) },
                 { "is malformed", offsetof(struct name_node, old_kind) },
                 { "is malformed", offsetof(struct name_node, broken) } };
    int64_t t = 1000000;

    (void)state;
    begin();
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        bool *flag = (bool *)((char *)&nodes[0] + rows[i].flag);
        int asked = nodes[0].tokens;

        sv_clock_set_test(t += 10000, 1);
        *flag = true;
        expect("ns", 0, -EAGAIN, "");
        wait_change();
        expect("ns", 0, i == 0 ? -EOPNOTSUPP : -EBADMSG, rows[i].words);
        sv_clock_set_test(t += 4999, 1);
        expect("ns", 0, i == 0 ? -EOPNOTSUPP : -EBADMSG, rows[i].words);
        assert_int_equal(nodes[0].tokens, asked + 1);
        *flag = false;
    }
    sv_clock_set_test(t += 1, 1);
    nodes[0].life_ms = -1;
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    expect("ns", 0, -EBADMSG, "ended before it began");
    nodes[0].life_ms = 10000;
    sv_clock_set_test(t += 5000, 1);
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    assert_string_equal(ns(), "secret-5");
    nodes[0].none = true; /* the old one is used as long as it lives */
    sv_clock_set_test(t + 8000, 1);
    assert_string_equal(ns(), "secret-5");
    wait_change();
    assert_string_equal(ns(), "secret-5");
    assert_int_equal(nodes[0].tokens, 6);
}

/* Nobody listens there. */
static void test_away(void **state)
{
    char address[64];
    uint16_t port = free_port();

    (void)state;
    snprintf(address, sizeof(address), "hdfs://127.0.0.1:%u", port);
    set("fs.defaultFS", address);
    begin();
    expect("", 0, -EAGAIN, "");
    wait_change();
    expect("127.0.0.1", port, -ECONNREFUSED, "no token of HDFS at 127.0.0.1");
}

/* A refused token is replaced, but no localizer makes the daemon ask again and again. */
static void test_refused(void **state)
{
    int64_t t = 1000000;

    (void)state;
    sv_clock_set_test(t, 1);
    begin();
    assert_false(nm_hdfs_tokens_refused(tokens, "ns", 0));
    assert_false(nm_hdfs_tokens_refused(tokens, "evil.example", 8020));
    expect("ns", 0, -EAGAIN, "");
    assert_true(nm_hdfs_tokens_refused(tokens, "ns", 0)); /* one is asked for */
    wait_change();
    sv_clock_set_test(t + 59999, 1);
    assert_false(nm_hdfs_tokens_refused(tokens, "ns", 0));
    assert_string_equal(ns(), "secret-1");
    sv_clock_set_test(t + 60000, 1);
    assert_true(nm_hdfs_tokens_refused(tokens, "ns", 0));
    assert_true(nm_hdfs_tokens_refused(tokens, "ns", 0));
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    assert_string_equal(ns(), "secret-2");
    assert_int_equal(nodes[0].tokens, 2);
}

/* The end of the daemon while a NameNode is silent. */
static void test_freed(void **state)
{
    (void)state;
    nodes[0].silent = true;
    begin();
    expect("ns", 0, -EAGAIN, "");
    for (int i = 0; i < 1000 && nodes[0].tokens == 0; i++)
        assert_return_code(sd_event_run(event, 30000000), 0);
    tokens = nm_hdfs_tokens_free(tokens);
    assert_int_equal(changes, 0);
}

static int no_handshake(const struct ipc_kerberos *k, const char *host, char ret[IPC_PRINCIPAL_MAX],
                        struct gssapi_handshake **ret_handshake)
{
    (void)k, (void)host, (void)ret, (void)ret_handshake;
    fail_msg("a NameNode that does not offer Kerberos");
    return -EINVAL;
}

/* With a principal the daemon never says a name alone, whatever the NameNode offers. */
static void test_kerberos(void **state)
{
    static const struct ipc_kerberos own = { .principal = "nm/h@R", .handshake = no_handshake };

    (void)state;
    kerberos = &own;
    begin();
    expect("ns", 0, -EAGAIN, "");
    wait_change();
    expect("ns", 0, -EACCES, "no token of HDFS at ns@localhost");
    assert_int_equal(nodes[0].tokens + nodes[1].tokens, 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_one_request), T(test_standby), T(test_refused_by_one), T(test_foreign),
        T(test_life),        T(test_ends),    T(test_failures),       T(test_away),
        T(test_refused),     T(test_freed),   T(test_kerberos),
    };

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
