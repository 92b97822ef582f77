/* Delegation tokens over the Router's port: real IPC on one loop, the store in memory, callers by
 * their claims. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"
#include "proto/security.pb-c.h"
#include "router/router.h"
#include "wire/exceptions.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods.h"
#include "wire/token/token.h"

static struct {
    sd_event *event;
    struct sv_conf *conf;
    struct router *router;
    struct sv_arena *a;
    const char *class;
    struct sv_error err;
} g;

static int up(void **state)
{
    static const char *const keys[][2] = {
        { "yarn.router.clientrm.address", "127.0.0.1:0" },
        { "yarn.http.policy", "HTTPS_ONLY" },
    };

    (void)state;
    memset(&g, 0, sizeof(g));
    assert_true(sd_event_new(&g.event) >= 0);
    assert_non_null(g.conf = sv_conf_new());
    assert_non_null(g.a = sv_arena_new(0));
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++)
        assert_int_equal(sv_conf_set(g.conf, keys[i][0], keys[i][1]), 0);
    if (rtr_new(g.event, g.conf, &g.router, &g.err) < 0)
        fail_msg("%s", g.err.text);
    return 0;
}

static int down(void **state)
{
    (void)state;
    rtr_free(g.router);
    sv_arena_free(g.a);
    sv_conf_free(g.conf);
    sd_event_unref(g.event);
    return 0;
}

/* A call of that user, or of the token's holder. NULL: g.class and g.err have the reason. */
static const void *call(const char *user, const struct yarn_token *token, const char *method,
                        const void *request, const ProtobufCMessageDescriptor *response)
{
    const struct ipc_client_config cfg = { .host = "127.0.0.1",
                                           .port = ipc_server_port(g.router->server),
                                           .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                                           .version = 1,
                                           .user = user,
                                           .token = token };
    ProtobufCMessage *answer = NULL;
    struct ipc_client *c;

    g.class = NULL;
    g.err = (struct sv_error){ 0 };
    assert_int_equal(ipc_client_new(g.event, &cfg, &c, NULL), 0);
    if (ipc_client_call_sync(c, method, request, response, g.a, &answer, &g.class, &g.err) < 0)
        answer = NULL;
    ipc_client_free(c);
    return answer;
}

static void refused(const void *answer, const char *class, const char *words)
{
    assert_null(answer);
    assert_string_equal(g.class, class);
    if (!strstr(g.err.text, words))
        fail_msg("\"%s\" lacks \"%s\"", g.err.text, words);
}

static const void *issue(const char *user, const struct yarn_token *by, struct yarn_token *ret)
{
    Hadoop__Common__GetDelegationTokenRequestProto q =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    const Hadoop__Common__GetDelegationTokenResponseProto *m;

    q.renewer = (char *)"rob";
    m = call(user, by, "getDelegationToken", &q,
             &hadoop__common__get_delegation_token_response_proto__descriptor);
    if (m)
        assert_int_equal(yarn_token_from(m->token, g.a, ret), 0);
    return m;
}

static const void *renew(const char *user, const struct yarn_token *t)
{
    Hadoop__Common__RenewDelegationTokenRequestProto q =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_REQUEST_PROTO__INIT;

    q.token = yarn_token_to(g.a, t);
    return call(user, NULL, "renewDelegationToken", &q,
                &hadoop__common__renew_delegation_token_response_proto__descriptor);
}

static const void *cancel(const char *user, const struct yarn_token *t)
{
    Hadoop__Common__CancelDelegationTokenRequestProto q =
        HADOOP__COMMON__CANCEL_DELEGATION_TOKEN_REQUEST_PROTO__INIT;

    q.token = yarn_token_to(g.a, t);
    return call(user, NULL, "cancelDelegationToken", &q,
                &hadoop__common__cancel_delegation_token_response_proto__descriptor);
}

static void test_life(void **state)
{
    const Hadoop__Common__RenewDelegationTokenResponseProto *renewed;
    struct yarn_delegation_token what;
    struct yarn_token t, other, forged;
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];

    (void)state;
    assert_non_null(issue("alice", NULL, &t));
    assert_non_null(issue("mallory", &t, &other)); /* the holder is alice */
    assert_int_equal(yarn_delegation_token_decode(other.id, other.id_len, &what, NULL), 0);
    assert_string_equal(what.owner, "alice");
    assert_non_null(renewed = renew("rob", &t));
    assert_true((int64_t)renewed->newexpirytime > what.issue_ms);
    refused(renew("alice", &t), JAVA_YARN_EXCEPTION,
            JAVA_ACCESS_CONTROL ": alice tries to renew a token");
    refused(cancel("eve", &t), JAVA_YARN_EXCEPTION,
            JAVA_ACCESS_CONTROL ": eve is not authorized to cancel the token");
    memcpy(password, t.password, t.password_len);
    password[0] ^= 1;
    forged = t;
    forged.password = password;
    refused(issue("eve", &forged, &other), "javax.security.sasl.SaslException", "");
    assert_non_null(cancel("alice", &t));
    refused(issue("eve", &t, &other), JAVA_INVALID_TOKEN, "can't be found in cache");
    refused(renew("rob", &t), JAVA_YARN_EXCEPTION,
            JAVA_INVALID_TOKEN ": Renewal request for unknown token");
}

static void test_broken(void **state)
{
    struct yarn_token t;

    (void)state;
    assert_non_null(issue("alice", NULL, &t));
    t.kind = "HDFS_DELEGATION_TOKEN";
    refused(renew("rob", &t), JAVA_YARN_EXCEPTION,
            JAVA_INVALID_TOKEN ": HDFS_DELEGATION_TOKEN is not a token");
    t.kind = YARN_KIND_RM_DELEGATION;
    t.id_len = 3;
    refused(cancel("alice", &t), JAVA_YARN_EXCEPTION, JAVA_IO_EXCEPTION);
}

static void late(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    (void)err;
    assert_true(r->status == 0 || r->status == -ECANCELED);
    *(bool *)userdata = true;
}

/* A call and a login that are open when the Router ends. */
static void test_end(void **state)
{
    Hadoop__Common__GetDelegationTokenRequestProto q =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_REQUEST_PROTO__INIT;
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = ipc_server_port(g.router->server),
                                     .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                                     .version = 1,
                                     .user = "alice" };
    struct ipc_client *one, *two;
    struct yarn_token t;
    bool ended[2] = { false };

    (void)state;
    assert_non_null(issue("alice", NULL, &t));
    q.renewer = (char *)"rob";
    assert_int_equal(ipc_client_new(g.event, &cfg, &one, NULL), 0);
    cfg.token = &t;
    assert_int_equal(ipc_client_new(g.event, &cfg, &two, NULL), 0);
    assert_int_equal(
        ipc_client_call(one, "getDelegationToken", &q.base,
                        &hadoop__common__get_delegation_token_response_proto__descriptor, 0, late,
                        &ended[0]),
        0);
    assert_int_equal(
        ipc_client_call(two, "getDelegationToken", &q.base,
                        &hadoop__common__get_delegation_token_response_proto__descriptor, 0, late,
                        &ended[1]),
        0);
    for (int i = 0; i < 6; i++) /* somewhere in the middle */
        assert_true(sd_event_run(g.event, 1000) >= 0);
    g.router = rtr_free(g.router);
    ipc_client_free(one);
    ipc_client_free(two);
    assert_true(ended[0] && ended[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(test_##name, up, down)

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(life), TEST(broken), TEST(end) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
