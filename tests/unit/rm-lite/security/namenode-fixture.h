/* For tests of the renewal of jobs' tokens: a ResourceManager, and a NameNode of the test that
 * renews, cancels and gives tokens, or does not. */
#ifndef SELVEDGE_TESTS_UNIT_RM_LITE_SECURITY_NAMENODE_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_RM_LITE_SECURITY_NAMENODE_FIXTURE_H

#include "tests/unit/rm-lite/peer-calls.h"

#include "rm-lite/security/namenodes.h"
#include "rm-lite/security/token-renewer-internal.h"
#include "rm-lite/security/token-renewer.h"
#include "wire/ipc/ipc-server.h"
#include "wire/ipc/methods-hdfs.h"
#include "wire/token/writable.h"

static struct {
    struct ipc_server *server;
    sd_event *event;
    int renewals, cancels, given;
    bool refuses, refuses_proxies; /* tokens; who acts for others */
    bool slow;                     /* a renewal is not answered, but kept: */
    struct ipc_call *kept;
    int64_t life_ms, max_ms; /* of its tokens; 0: 100 s, no end */
    char user[64], real_user[64];
} nn;

static inline void on_renew_answer(struct ipc_call *call)
{
    Hadoop__Common__RenewDelegationTokenResponseProto m =
        HADOOP__COMMON__RENEW_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;

    m.newexpirytime = (uint64_t)(sv_wall_ms() + (nn.life_ms ? nn.life_ms : 100000));
    ipc_call_reply(call, &m.base);
}

static inline void on_renew(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    assert_non_null(((const Hadoop__Common__RenewDelegationTokenRequestProto *)request)->token);
    nn.renewals++;
    if (nn.slow) {
        nn.kept = call;
        return;
    }
    if (nn.refuses) {
        ipc_call_fail(call, "org.apache.hadoop.security.token.SecretManager$InvalidToken",
                      "token can't be found in cache");
        return;
    }
    on_renew_answer(call);
}

static inline void on_cancel(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    const Hadoop__Common__CancelDelegationTokenResponseProto m =
        HADOOP__COMMON__CANCEL_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    nn.cancels++;
    ipc_call_reply(call, &m.base);
}

/* As a NameNode that lets the ResourceManager act for others. */
static inline void on_get(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    const struct ipc_peer *peer = ipc_call_peer(call);
    struct sv_arena *a = ipc_call_arena(call);
    Hadoop__Common__GetDelegationTokenResponseProto m =
        HADOOP__COMMON__GET_DELEGATION_TOKEN_RESPONSE_PROTO__INIT;
    struct yarn_delegation_token id = { .sequence = ++nn.given,
                                        .max_ms = nn.max_ms ? nn.max_ms : INT64_MAX };
    struct yarn_token t = { .kind = YARN_KIND_HDFS_DELEGATION,
                            .service = "",
                            .password = (const uint8_t *)"secret",
                            .password_len = 6 };

    (void)userdata;
    snprintf(nn.user, sizeof(nn.user), "%s", peer->user);
    snprintf(nn.real_user, sizeof(nn.real_user), "%s", peer->real_user ? peer->real_user : "");
    snprintf(id.owner, sizeof(id.owner), "%s", peer->user);
    snprintf(id.renewer, sizeof(id.renewer), "%s",
             ((const Hadoop__Common__GetDelegationTokenRequestProto *)request)->renewer);
    assert_int_equal(yarn_delegation_token_encode_writable(a, &id, &t.id, &t.id_len), 0);
    m.token = yarn_token_to(a, &t);
    ipc_call_reply(call, &m.base);
}

static inline int on_proxy(void *userdata, const struct ipc_peer *peer, struct sv_error *err)
{
    (void)userdata;
    return nn.refuses_proxies ? sv_error_set(err, -EACCES, "User: %s is not allowed to impersonate",
                                             peer->real_user)
                              : 0;
}

static const struct ipc_method methods[] = {
    { "getDelegationToken", &hadoop__common__get_delegation_token_request_proto__descriptor,
      &hadoop__common__get_delegation_token_response_proto__descriptor, on_get },
    { "renewDelegationToken", &hadoop__common__renew_delegation_token_request_proto__descriptor,
      &hadoop__common__renew_delegation_token_response_proto__descriptor, on_renew },
    { "cancelDelegationToken", &hadoop__common__cancel_delegation_token_request_proto__descriptor,
      &hadoop__common__cancel_delegation_token_response_proto__descriptor, on_cancel },
};
static const struct ipc_protocol protocol = { .name = HDFS_CLIENT_PROTOCOL,
                                              .version = 1,
                                              .methods = methods,
                                              .n_methods = SV_ARRAY_LEN(methods) };
static const struct ipc_protocol *const protocols[] = { &protocol, NULL };

static char service[64]; /* "127.0.0.1:port" */

static inline void serve(uint16_t port)
{
    const struct ipc_server_config cfg = {
        .port = port, .allow_simple = true, .impersonation = on_proxy, .protocols = protocols
    };
    struct sv_error err = { 0 };

    if (ipc_server_new(nn.event, &cfg, &nn.server, &err) < 0)
        fail_msg("%s", err.text);
}

static inline void renewer_new(struct fix *f)
{
    struct sv_error err = { 0 };
    struct rm_namenode *n;

    assert_int_equal(rm_token_renewer_new(f->rm, &(struct rm_token_renewer_config){ 0 }, &err), 0);
    while (rm_namenodes_find(f->rm->renewer->namenodes, "192.0.2.1:1", NULL, &n, NULL) == -EAGAIN)
        assert_true(sd_event_run(f->event, 10000) >= 0); /* addresses are being looked up */
}

/* `proxy`: yarn.resourcemanager.proxy-user-privileges.enabled. */
static inline void open_as(struct fix *f, const char *proxy)
{
    static char url[64];
    static const char *keys[][2] = { { "fs.defaultFS", url },
                                     { "yarn.resourcemanager.proxy-user-privileges.enabled", NULL },
                                     { "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms",
                                       "1" },
                                     { 0 } };

    memset(&nn, 0, sizeof(nn));
    assert_true(sd_event_new(&nn.event) >= 0);
    serve(0);
    snprintf(url, sizeof(url), "hdfs://localhost:%u", ipc_server_port(nn.server));
    snprintf(service, sizeof(service), "127.0.0.1:%u", ipc_server_port(nn.server));
    keys[1][1] = proxy;
    setup_with(f, keys);
    sv_log_set_level(SV_LOG_ERR);
    renewer_new(f);
}

static inline void open_all(struct fix *f)
{
    open_as(f, "false");
}

static inline void close_all(struct fix *f)
{
    teardown(f);
    ipc_server_free(nn.server);
    sd_event_unref(nn.event);
}

/* As after a second. */
static inline void tick(struct fix *f)
{
    f->rm->renewer->ticked_ms = 0;
    rm_token_renewer_tick(f->rm);
}

static inline void run_both(struct fix *f)
{
    assert_true(sd_event_run(f->event, 1000) >= 0);
    assert_true(sd_event_run(nn.event, 1000) >= 0);
}

/* Both loops, until `n` calls were answered or an application has left NEW. */
static inline void turn(struct fix *f, const struct rm_app *app, int calls)
{
    int64_t until = sv_now_ms() + 10000;

    while (app ? app->state == RM_APP_ST_NEW : nn.cancels < calls) {
        assert_true(sv_now_ms() < until);
        run_both(f);
        tick(f);
    }
    settle(f);
}

static struct sv_buf token_conf; /* of the next submission; empty: none */

static inline struct rm_app *submit_with(struct fix *f, const char *at, const char *renewer)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_delegation_token named = { .owner = "ann",
                                           .sequence = 7,
                                           .max_ms = nn.max_ms ? nn.max_ms : INT64_MAX };
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    struct yarn_token t = { .kind = YARN_KIND_HDFS_DELEGATION,
                            .service = at,
                            .password = (const uint8_t *)"secret",
                            .password_len = 6 };
    struct yarn_credentials c = { 0 };
    struct sv_buf b = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    struct submission s;
    struct rm_app *app;

    snprintf(named.renewer, sizeof(named.renewer), "%s", renewer);
    assert_int_equal(yarn_delegation_token_encode_writable(a, &named, &t.id, &t.id_len), 0);
    assert_int_equal(yarn_credentials_add(a, &c, "nn", &t), 0);
    assert_int_equal(yarn_credentials_write(&c, &b), 0);
    submission_init(f, &s);
    clc.has_tokens = true;
    clc.tokens = (ProtobufCBinaryData){ b.len, b.data };
    clc.has_tokens_conf = token_conf.len > 0;
    clc.tokens_conf = (ProtobufCBinaryData){ token_conf.len, token_conf.data };
    s.ctx.am_container_spec = &clc;
    app = submit_ctx(f, &s);
    sv_buf_free(&b);
    sv_buf_free(&token_conf);
    return app;
}

#endif
