/* rm-lite/nodes/node-auth.c and node-address.c over real connections: authorization to register as
 * a node; nobody else gets a key. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "wire/ipc/ipc-client.h"
#include "wire/ipc/methods.h"
#include "wire/token/node-secret.h"

#define SECRET_KEY "selvedge.node-secret.file"
#define LIST_KEY "selvedge.rm.unprotected-nodes"
#define CHECK_KEY "selvedge.rm.registration.ip-hostname-check"

static char secret_path[64];

static void write_secret(const char *text)
{
    int fd;

    (void)snprintf(secret_path, sizeof(secret_path), "%s", "/tmp/test-node-auth-XXXXXX");
    fd = mkstemp(secret_path); /* 0600 */
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

struct answer {
    int status, action;
    bool keys;
    char class[160], text[SV_ERROR_TEXT_MAX];
};

static struct ipc_client *tracker_client(struct fix *f, const struct yarn_token *token)
{
    const struct ipc_client_config cfg = { .host = "127.0.0.1",
                                           .port = f->rm->tracker_port,
                                           .protocol = YARN_RESOURCE_TRACKER_PROTOCOL,
                                           .version = 1,
                                           .user = "yarn",
                                           .token = token };
    struct ipc_client *c;

    assert_int_equal(ipc_client_new(f->event, &cfg, &c, NULL), 0);
    return c;
}

static struct answer register_as(struct fix *f, const struct yarn_token *token, const char *host)
{
    struct sv_arena *a = sv_arena_new(0);
    struct ipc_client *c = tracker_client(f, token);
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    struct yarn_node_id id = { .port = 1 };
    struct answer ret = { .action = -1 };
    struct sv_error err = { 0 };
    const char *class = NULL;
    ProtobufCMessage *m = NULL;

    (void)snprintf(id.host, sizeof(id.host), "%s", host);
    q.node_id = yarn_node_id_to(a, &id);
    q.resource = yarn_resource_to(a, (struct yarn_resource){ .memory_mb = 8192, .vcores = 8 });
    q.nm_version = (char *)(uintptr_t) "3.4.2";
    ret.status = ipc_client_call_sync(
        c, "registerNodeManager", &q.base,
        &hadoop__yarn__register_node_manager_response_proto__descriptor, a, &m, &class, &err);
    (void)snprintf(ret.class, sizeof(ret.class), "%s", class ? class : "");
    (void)snprintf(ret.text, sizeof(ret.text), "%s", err.text);
    if (ret.status >= 0) {
        const Hadoop__Yarn__RegisterNodeManagerResponseProto *r = (const void *)m;

        ret.action = r->nodeaction;
        ret.keys = r->container_token_master_key || r->nm_token_master_key;
        if (r->diagnostics_message)
            (void)snprintf(ret.text, sizeof(ret.text), "%s", r->diagnostics_message);
    }
    ipc_client_free(c);
    sv_arena_free(a);
    return ret;
}

static void welcome(const struct answer *r)
{
    if (r->status < 0 || r->action != HADOOP__YARN__NODE_ACTION_PROTO__NORMAL || !r->keys)
        fail_msg("refused: %d %d %s %s", r->status, r->action, r->class, r->text);
}

static void refused(const struct answer *r, const char *class, const char *words)
{
    assert_false(r->keys);
    assert_int_equal(r->status, -EREMOTEIO);
    assert_string_equal(r->class, class);
    if (!strstr(r->text, words))
        fail_msg("\"%s\" lacks \"%s\"", r->text, words);
}

static void shut_down(const struct answer *r)
{
    assert_false(r->keys);
    assert_int_equal(r->status, 0);
    assert_int_equal(r->action, HADOOP__YARN__NODE_ACTION_PROTO__SHUTDOWN);
}

/* Secret and tokens made with it. */
static struct yarn_node_token token_of(const char *file, const char *host)
{
    struct sv_conf *c = sv_conf_new();
    struct yarn_node_secret s;
    struct yarn_node_token t;

    assert_int_equal(sv_conf_set(c, SECRET_KEY, file), 0);
    assert_int_equal(yarn_node_secret_load(c, &s, NULL), 0);
    assert_int_equal(yarn_node_token_make(&s, host, &t), 0);
    sv_conf_free(c);
    return t;
}

#define USE(t)                                                                                     \
    ((t).token.id = (const uint8_t *)(t).id, (t).token.password = (t).password, &(t).token)

static void heartbeat_refused(struct fix *f, const struct yarn_token *token)
{
    struct sv_arena *a = sv_arena_new(0);
    struct ipc_client *c = tracker_client(f, token);
    Hadoop__Yarn__NodeHeartbeatRequestProto q = HADOOP__YARN__NODE_HEARTBEAT_REQUEST_PROTO__INIT;
    Hadoop__Yarn__NodeStatusProto st = HADOOP__YARN__NODE_STATUS_PROTO__INIT;
    Hadoop__Yarn__UnRegisterNodeManagerRequestProto u =
        HADOOP__YARN__UN_REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    struct yarn_node_id id = { .host = "127.0.0.1", .port = 1 };
    const char *class = NULL;
    ProtobufCMessage *m;

    st.node_id = u.node_id = yarn_node_id_to(a, &id);
    q.node_status = &st;
    assert_int_equal(ipc_client_call_sync(c, "nodeHeartbeat", &q.base,
                                          &hadoop__yarn__node_heartbeat_response_proto__descriptor,
                                          a, &m, &class, NULL),
                     -EREMOTEIO);
    assert_string_equal(class, JAVA_ACCESS_CONTROL);
    assert_int_equal(
        ipc_client_call_sync(c, "unRegisterNodeManager", &u.base,
                             &hadoop__yarn__un_register_node_manager_response_proto__descriptor, a,
                             &m, &class, NULL),
        -EREMOTEIO);
    assert_string_equal(class, JAVA_ACCESS_CONTROL);
    assert_non_null(rm_node_find(f->rm, &id)); /* the real node is untouched */
    ipc_client_free(c);
    sv_arena_free(a);
}

static void test_secret(void **state)
{
    struct yarn_node_token good, other, foreign;
    struct answer r;
    struct fix f;
    char path[64];

    (void)state;
    write_secret("another secret with at least 32 bytes");
    other = token_of(secret_path, "127.0.0.1");
    (void)unlink(secret_path);
    write_secret("the cluster's secret of at least 32 bytes");
    (void)snprintf(path, sizeof(path), "%s", secret_path);
    good = token_of(path, "127.0.0.1");
    foreign = token_of(path, "127.0.0.2");
    setup_with(&f, (const char *const[][2]){ { SECRET_KEY, path }, { LIST_KEY, "" }, { 0 } });
    r = register_as(&f, NULL, "127.0.0.1"); /* a container */
    refused(&r, JAVA_ACCESS_CONTROL, "SIMPLE authentication is not enabled");
    r = register_as(&f, USE(other), "127.0.0.1");
    refused(&r, JAVA_INVALID_TOKEN, "secret differs");
    memcpy(other.id, good.id, sizeof(other.id)); /* the secret's id is public */
    r = register_as(&f, USE(other), "127.0.0.1");
    refused(&r, "javax.security.sasl.SaslException", "");
    r = register_as(&f, USE(foreign), "127.0.0.1");
    refused(&r, JAVA_ACCESS_CONTROL, "the token is that of 127.0.0.2");
    r = register_as(&f, USE(good), "127.0.0.1");
    welcome(&r);
    heartbeat_refused(&f, NULL);
    heartbeat_refused(&f, USE(foreign));
    teardown(&f);
    (void)unlink(path);
}

/* Nodes without the secret, beside those that have it. */
static void test_unprotected(void **state)
{
    static const struct {
        const char *list;
        bool allowed; /* 127.0.0.1 */
    } rows[] = {
        { "*", true },
        { "127.0.0.1", true },
        { "10.0.0.0/8, 127.0.0.1", true },
        { "127.0.0.0/8", true },
        { "127.0.0.0/31", true },
        { "127.0.0.2/31", false },
        { "126.0.0.0/7", true },
        { "128.0.0.0/1", false },
        { "0.0.0.0/0", true },
        { "10.0.0.0/8", false },
        { "127.0.0.2", false },
        { "::1", false },
        { "::/0", true },
        { "::ffff:127.0.0.0/104", true },
    };
    struct yarn_node_token good;
    char path[64];

    (void)state;
    write_secret("the cluster's secret of at least 32 bytes");
    (void)snprintf(path, sizeof(path), "%s", secret_path);
    good = token_of(path, "127.0.0.1");
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct answer r;
        struct fix f;

        setup_with(&f, (const char *const[][2]){
                           { SECRET_KEY, path }, { LIST_KEY, rows[i].list }, { 0 } });
        r = register_as(&f, NULL, "127.0.0.1");
        if (rows[i].allowed)
            welcome(&r);
        else
            refused(&r, JAVA_ACCESS_CONTROL, "a node secret is demanded");
        r = register_as(&f, USE(good), "127.0.0.1");
        welcome(&r);
        teardown(&f);
    }
    (void)unlink(path);
}

/* The claimed host is the peer's machine. */
static void test_host(void **state)
{
    struct answer r;
    struct fix f;

    (void)state;
    setup(&f);
    r = register_as(&f, NULL, "192.0.2.7");
    shut_down(&r);
    assert_non_null(strstr(r.text, "192.0.2.7 is not the name of that address"));
    r = register_as(&f, NULL, "no-such-host.invalid");
    refused(&r, JAVA_YARN_EXCEPTION, "the address of no-such-host.invalid cannot be found");
    assert_int_equal(HASH_COUNT(f.rm->nodes), 0);
    r = register_as(&f, NULL, "localhost");
    welcome(&r);
    r = register_as(&f, NULL, "127.0.0.2"); /* this machine too */
    welcome(&r);
    teardown(&f);
    setup_with(&f, (const char *const[][2]){ { CHECK_KEY, "false" }, { 0 } });
    r = register_as(&f, NULL, "192.0.2.7");
    welcome(&r);
    teardown(&f);
}

static void start_fails(const char *secret, const char *list, const char *words)
{
    struct sv_conf *c = sv_conf_new();
    struct sv_error err = { 0 };
    sd_event *event;
    struct rm *rm;

    assert_true(sd_event_new(&event) >= 0);
    assert_int_equal(sv_conf_set(c, SECRET_KEY, secret), 0);
    assert_int_equal(sv_conf_set(c, LIST_KEY, list), 0);
    assert_true(rm_new(event, c, &rm, &err) < 0);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" lacks \"%s\"", err.text, words);
    sv_conf_free(c);
    sd_event_unref(event);
}

static void test_start(void **state)
{
    static const char *const bad[] = { "here",   "10.0.0.0/33",  "10.0.0.0/",
                                       "::/129", "10.0.0/8",     "*,x",
                                       "**",     "10.0.0.0/8/8", "10.0.0.0/-1" };

    (void)state;
    start_fails("", "", "there is no node secret");
    start_fails("", "", LIST_KEY);
    start_fails("/no/such/file", "*", "/no/such/file");
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        start_fails("", bad[i], "is not an address, ADDRESS/BITS or *");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_secret),
        cmocka_unit_test(test_unprotected),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
