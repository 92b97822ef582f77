/* Fixture of the IPC server's tests: an echo service, clients of it, a loop with a time limit. */
#ifndef SELVEDGE_TESTS_UNIT_WIRE_IPC_PEER_H
#define SELVEDGE_TESTS_UNIT_WIRE_IPC_PEER_H

#include <systemd/sd-event.h>

#include "common/clock.h"
#include "proto/rpc.pb-c.h"
#include "proto/yarn.pb-c.h"
#include "wire/ipc/ipc-client.h"
#include "wire/ipc/ipc-server.h"
#include "wire/token/token.h"

#define PEER_PROTOCOL "org.selvedge.test.EchoPB"
#define PEER_WAIT_MS 60000 /* only for hangs */

/* One string in, one string out. */
typedef Hadoop__Common__GetProtocolVersionsRequestProto echo_message;
#define ECHO_INIT HADOOP__COMMON__GET_PROTOCOL_VERSIONS_REQUEST_PROTO__INIT
#define ECHO_DESCRIPTOR (&hadoop__common__get_protocol_versions_request_proto__descriptor)

struct peer_server {
    sd_event *event;
    struct ipc_server *server;
    struct ipc_call *held[64];
    char *held_text[64];
    size_t n_held;
    int calls;
};

static inline void peer_answer(struct ipc_call *call, const char *text)
{
    echo_message m = ECHO_INIT;
    m.protocol = (char *)(uintptr_t)text;
    ipc_call_reply(call, &m.base);
}

static inline const char *peer_text(const ProtobufCMessage *request)
{
    return ((const echo_message *)request)->protocol;
}

static void peer_echo(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    ((struct peer_server *)userdata)->calls++;
    peer_answer(call, peer_text(request));
}

static void peer_length(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    peer_answer(call, sv_arena_printf(ipc_call_arena(call), "%zu", strlen(peer_text(request))));
}

/* Answers with the requested number of bytes. */
static void peer_flood(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    ((struct peer_server *)userdata)->calls++;
    size_t n = strtoul(peer_text(request), NULL, 10);
    char *text = calloc(1, n + 1);
    memset(text, 'f', n);
    peer_answer(call, text);
    free(text);
}

static void peer_whoami(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)request, (void)userdata;
    const struct ipc_peer *p = ipc_call_peer(call);
    peer_answer(call, sv_arena_printf(ipc_call_arena(call), "%s%s%s%s%s",
                                      p->real_user ? p->real_user : "", p->real_user ? " as " : "",
                                      p->user,
                                      p->token       ? "/token"
                                      : p->principal ? "/"
                                                     : "",
                                      p->principal ? p->principal : ""));
}

static void peer_fail(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s", peer_text(request));
}

static void peer_hold(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct peer_server *s = userdata;
    s->calls++;
    assert_in_range(s->n_held, 0, 63);
    s->held_text[s->n_held] = strdup(peer_text(request));
    s->held[s->n_held++] = call;
}

static void peer_stop(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)request;
    struct peer_server *s = userdata;
    s->server = ipc_server_free(s->server);
    peer_answer(call, "unheard");
}

/* Answers with the number of calls run. */
static void peer_count(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)request;
    peer_answer(call, sv_arena_printf(ipc_call_arena(call), "run %d",
                                      ++((struct peer_server *)userdata)->calls));
}

static void peer_count_fail(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)request;
    ipc_call_fail(call, JAVA_YARN_EXCEPTION, "failed %d",
                  ++((struct peer_server *)userdata)->calls);
}

/* For messages of other types: confirms the call. */
static void peer_got(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    ((struct peer_server *)userdata)->calls++;
    peer_answer(call, request->descriptor->short_name);
}

static const struct ipc_method peer_methods[] = {
    { "echo", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_echo },
    { "length", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_length },
    { "flood", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_flood },
    { "whoami", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_whoami },
    { "fail", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_fail },
    { "hold", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_hold },
    { "stop", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_stop },
    { "absent", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, NULL },
    { "count", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_count },
    { "count2", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_count },
    { "countFail", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_count_fail },
    { "holdOnce", ECHO_DESCRIPTOR, ECHO_DESCRIPTOR, peer_hold },
    { "nested", &hadoop__yarn__serialized_exception_proto__descriptor, ECHO_DESCRIPTOR, peer_got },
    { "numbers", &hadoop__common__protocol_version_proto__descriptor, ECHO_DESCRIPTOR, peer_got },
};
static const char *const peer_once[] = { "count", "count2", "countFail", "holdOnce", NULL };
static const struct ipc_protocol peer_protocol = { PEER_PROTOCOL, 1, peer_methods,
                                                   SV_ARRAY_LEN(peer_methods), peer_once };
static const struct ipc_protocol *const peer_protocols[] = { &peer_protocol, NULL };

static const struct yarn_token peer_token = {
    .id = (const uint8_t *)"identifier \x00\xff bytes",
    .id_len = 19,
    .password = (const uint8_t *)"\x00\x01password",
    .password_len = 10,
    .kind = "NMToken",
    .service = "",
};

static inline int peer_verify(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                              size_t *ret_len, char ret_user[256], const char **ret_class,
                              struct sv_error *err, void *userdata)
{
    (void)ret_class, (void)userdata;
    if (!yarn_bytes_equal(id, id_len, peer_token.id, peer_token.id_len))
        return sv_error_set(err, -ENOENT, "no such token");
    memcpy(ret_password, peer_token.password, peer_token.password_len);
    *ret_len = peer_token.password_len;
    memcpy(ret_user, "appattempt_1_0001_000001", sizeof("appattempt_1_0001_000001"));
    return 0;
}

static inline void peer_server_listen(struct peer_server *s, const struct ipc_server_config *cfg)
{
    struct ipc_server_config c = *cfg;
    struct sv_error err = { 0 };
    if (!c.protocols)
        c.protocols = peer_protocols;
    c.userdata = s;
    if (ipc_server_new(s->event, &c, &s->server, &err) < 0)
        fail_msg("%s", err.text);
}

static inline void peer_server_start(struct peer_server *s, const struct ipc_server_config *cfg)
{
    memset(s, 0, sizeof(*s));
    assert_true(sd_event_new(&s->event) >= 0);
    peer_server_listen(s, cfg);
}

static inline void peer_release(struct peer_server *s, size_t i)
{
    peer_answer(s->held[i], s->held_text[i]);
    free(s->held_text[i]);
    s->held_text[i] = NULL;
}

static inline void peer_server_stop(struct peer_server *s)
{
    for (size_t i = 0; i < s->n_held; i++)
        if (s->held_text[i])
            peer_release(s, i);
    s->server = ipc_server_free(s->server);
    s->event = sd_event_unref(s->event);
}

static inline struct ipc_client *peer_client(struct peer_server *s, const struct yarn_token *token,
                                             int64_t call_ms)
{
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = ipc_server_port(s->server),
                                     .protocol = PEER_PROTOCOL,
                                     .version = 1,
                                     .user = "alice",
                                     .token = token,
                                     .call_ms = call_ms };
    struct ipc_client *c = NULL;
    assert_int_equal(ipc_client_new(s->event, &cfg, &c, NULL), 0);
    return c;
}

#define peer_run_until(s, condition)                                                               \
    do {                                                                                           \
        int64_t peer_end_ = sv_now_ms() + PEER_WAIT_MS;                                            \
        while (!(condition)) {                                                                     \
            assert_true(sv_now_ms() < peer_end_);                                                  \
            assert_true(sd_event_run((s)->event, 100000) >= 0);                                    \
        }                                                                                          \
    } while (0)

#endif
