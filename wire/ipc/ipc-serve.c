/* Frames of a connection → calls → handlers. Hostile: the frame; a handler gets only the unpacked
 * message (frame.h: ipc_unpack).
 *
 * ProtocolMetaInfoPB, by which Hadoop's clients query versions, is served here. Its signatures have
 * the version and no method hashes, which depend on names of Java's generated classes. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-conn.h"
#include "wire/ipc/ipc-retry.h"

typedef Hadoop__Common__RpcRequestHeaderProto request_header;

#define RPC_OP(name) HADOOP__COMMON__RPC_REQUEST_HEADER_PROTO__OPERATION_PROTO__##name
#define RPC_KIND(name) HADOOP__COMMON__RPC_KIND_PROTO__##name

/* ---- ProtocolMetaInfoPB ---- */

static void on_versions(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    const Hadoop__Common__GetProtocolVersionsRequestProto *m = (const void *)request;
    const struct ipc_protocol *p = ipc_protocol_find(call->conn->server, m->protocol);
    Hadoop__Common__GetProtocolVersionsResponseProto out =
        HADOOP__COMMON__GET_PROTOCOL_VERSIONS_RESPONSE_PROTO__INIT;
    Hadoop__Common__ProtocolVersionProto one = HADOOP__COMMON__PROTOCOL_VERSION_PROTO__INIT;
    Hadoop__Common__ProtocolVersionProto *all[] = { &one };
    if (!p) {
        ipc_call_fail(call, JAVA_CLASS_NOT_FOUND, "%.255s", m->protocol);
        return;
    }
    uint64_t version = p->version;
    one.rpckind = (char *)"RPC_PROTOCOL_BUFFER";
    one.n_versions = 1;
    one.versions = &version;
    out.n_protocolversions = 1;
    out.protocolversions = all;
    ipc_call_reply(call, &out.base);
}

static void on_signature(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    (void)userdata;
    const Hadoop__Common__GetProtocolSignatureRequestProto *m = (const void *)request;
    const struct ipc_protocol *p = ipc_protocol_find(call->conn->server, m->protocol);
    Hadoop__Common__GetProtocolSignatureResponseProto out =
        HADOOP__COMMON__GET_PROTOCOL_SIGNATURE_RESPONSE_PROTO__INIT;
    Hadoop__Common__ProtocolSignatureProto one = HADOOP__COMMON__PROTOCOL_SIGNATURE_PROTO__INIT;
    Hadoop__Common__ProtocolSignatureProto *all[] = { &one };
    one.version = p ? p->version : 0;
    out.n_protocolsignature = p && sv_streq(m->rpckind, "RPC_PROTOCOL_BUFFER") ? 1 : 0;
    out.protocolsignature = all;
    ipc_call_reply(call, &out.base);
}

static const struct ipc_method meta_methods[] = {
    { "getProtocolVersions", &hadoop__common__get_protocol_versions_request_proto__descriptor,
      &hadoop__common__get_protocol_versions_response_proto__descriptor, on_versions },
    { "getProtocolSignature", &hadoop__common__get_protocol_signature_request_proto__descriptor,
      &hadoop__common__get_protocol_signature_response_proto__descriptor, on_signature },
};
static const struct ipc_protocol meta_protocol = { "org.apache.hadoop.ipc.ProtocolMetaInfoPB", 1,
                                                   meta_methods, SV_ARRAY_LEN(meta_methods) };

const struct ipc_protocol *ipc_protocol_find(const struct ipc_server *s, const char *name)
{
    for (const struct ipc_protocol *const *p = s->cfg.protocols; p && *p; p++)
        if (strcmp((*p)->name, name) == 0)
            return *p;
    return strcmp(meta_protocol.name, name) == 0 ? &meta_protocol : NULL;
}

static const struct ipc_method *method_find(const struct ipc_protocol *p, const char *name)
{
    for (size_t i = 0; i < p->n_methods; i++)
        if (strcmp(p->methods[i].name, name) == 0)
            return p->methods[i].handler ? &p->methods[i] : NULL;
    return NULL;
}

static bool must_run_once(const struct ipc_protocol *p, const struct ipc_method *m)
{
    for (const char *const *name = p->once; name && *name; name++)
        if (strcmp(*name, m->name) == 0)
            return true;
    return false;
}

/* ---- Calls ---- */

/* Finds the protocol and the method. NULL: the call was answered with an error. */
static const struct ipc_protocol *method_of(struct ipc_call *call,
                                            const Hadoop__Common__RequestHeaderProto *h)
{
    const struct ipc_protocol *p =
        ipc_protocol_find(call->conn->server, h->declaringclassprotocolname);
    if (!p) {
        ipc_call_fail_detail(call, IPC_DETAIL(ERROR_NO_SUCH_PROTOCOL), JAVA_RPC_NO_SUCH_PROTOCOL,
                             "Unknown protocol: %.255s", h->declaringclassprotocolname);
        return NULL;
    }
    if (h->clientprotocolversion != p->version) {
        ipc_call_fail_detail(
            call, IPC_DETAIL(ERROR_RPC_VERSION_MISMATCH), JAVA_RPC_VERSION_MISMATCH,
            "Protocol %s version mismatch. (client = %" PRIu64 ", server = %" PRIu64 ")", p->name,
            h->clientprotocolversion, p->version);
        return NULL;
    }
    call->method = method_find(p, h->methodname);
    if (call->method)
        return p;
    ipc_call_fail_detail(call, IPC_DETAIL(ERROR_NO_SUCH_METHOD), JAVA_RPC_NO_SUCH_METHOD,
                         "Unknown method %.255s called on %s protocol.", h->methodname, p->name);
    return NULL;
}

/* Unpacks the method's parameter; an error is an answer, and the connection stays open. */
static void call_run(struct ipc_call *call, const struct ipc_protocol *p, const uint8_t *param,
                     size_t n)
{
    const struct ipc_server *s = call->conn->server;
    if (must_run_once(p, call->method) && ipc_retry_begin(s->retry, call) == IPC_RETRY_OVER)
        return;
    ProtobufCMessage *request;
    int r = param ? ipc_unpack_items(call->arena, call->method->request, param, n,
                                     IPC_REQUEST_ITEMS_MAX, &request)
                  : -EBADMSG;
    if (r == -EMSGSIZE) {
        ipc_call_fail_detail(call, IPC_DETAIL(ERROR_RPC_SERVER), JAVA_RPC_SERVER_EXCEPTION,
                             "%s: the request has more than %d rows, reports or other parts; send "
                             "them in several requests",
                             call->method->name, IPC_REQUEST_ITEMS_MAX);
        return;
    }
    if (r < 0) {
        ipc_call_fail_detail(call, IPC_DETAIL(ERROR_RPC_SERVER), JAVA_RPC_SERVER_EXCEPTION,
                             "%s: the request is not a valid %s", call->method->name,
                             call->method->request->short_name);
        return;
    }
    call->memory = sv_arena_used(call->arena);
    call->conn->calls_memory += call->memory;
    sv_loop_enter(p->name, call->method->name);
    call->method->handler(call, request, s->cfg.userdata);
}

/* Most calls of a server have the same request header, that of the heartbeat: it holds protocol,
 * version and method, nothing specific to the call. */
static bool is_last(const struct ipc_route *r, const uint8_t *header, size_t n)
{
    return r->len == n && n > 0 && memcmp(r->header, header, n) == 0;
}

static void route_keep(struct ipc_route *r, const uint8_t *header, size_t n,
                       const struct ipc_protocol *p, const struct ipc_method *m)
{
    if (n > sizeof(r->header))
        return;
    memcpy(r->header, header, n);
    r->len = n;
    r->protocol = p;
    r->method = m;
}

/* Hadoop's server authorizes the protocol of the connection alone and then serves calls of any. */
static bool is_authorized(struct ipc_call *call, const struct ipc_protocol *p)
{
    const struct ipc_protocol *of = call->conn->protocol;

    if (!of || p == of || p == &meta_protocol)
        return true;
    ipc_call_fail(call, JAVA_AUTHORIZATION,
                  "Protocol %s: this connection is authorized for protocol %s alone", p->name,
                  of->name);
    return false;
}

static int on_call(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena **a,
                   struct sv_buf *b)
{
    struct ipc_route *route = &c->server->route;
    const struct ipc_protocol *p = NULL;
    ProtobufCMessage *base = NULL;
    const uint8_t *header, *param = NULL;
    size_t header_len, param_len = 0;
    if (ipc_delimited_get(b, &header, &header_len) < 0 ||
        (!is_last(route, header, header_len) &&
         ipc_unpack(*a, &hadoop__common__request_header_proto__descriptor, header, header_len,
                    &base) < 0)) {
        ipc_conn_fatal(c, echo, IPC_DETAIL(FATAL_DESERIALIZING_REQUEST), JAVA_RPC_SERVER_EXCEPTION,
                       "IPC server unable to read call parameters");
        return 0;
    }
    if (ipc_delimited_get(b, &param, &param_len) < 0)
        param = NULL; /* an error of the call, not of the connection */
    struct ipc_call *call = sv_new(*a, struct ipc_call);
    if (!call)
        return -ENOMEM;
    call->conn = c;
    call->arena = SV_TAKE(*a);
    call->echo = *echo;
    call->begun_us = ipc_now_us();
    ipc_conn_ref(c);
    c->inflight++;
    c->server->open_calls++;
    sv_rate_add(&c->server->counters.queue, (double)(call->begun_us - c->received_us) / 1000,
                sv_now_ms());
    ipc_address_used(c);
    if (base) {
        p = method_of(call, (const void *)base);
        if (!p)
            return 0;
        route_keep(route, header, header_len, p, call->method);
    } else {
        p = route->protocol;
        call->method = route->method;
    }
    if (is_authorized(call, p))
        call_run(call, p, param, param_len);
    return 0;
}

/* ---- Frames ---- */

static int header_refuse(struct ipc_conn *c, const struct ipc_echo *echo, const char *text)
{
    ipc_conn_fatal(c, echo, IPC_DETAIL(FATAL_INVALID_RPC_HEADER), JAVA_RPC_SERVER_EXCEPTION, "%s",
                   text);
    return 0;
}

static int out_of_band(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                       struct sv_buf *b)
{
    const uint8_t *p;
    size_t n;
    if (echo->call_id == IPC_CALL_PING && c->state == CONN_READY)
        return 0;
    if (echo->call_id != IPC_CALL_SASL && echo->call_id != IPC_CALL_CONTEXT)
        return header_refuse(c, echo, "unknown out of band call");
    if (ipc_delimited_get(b, &p, &n) < 0)
        return header_refuse(c, echo, "the packet is cut");
    return echo->call_id == IPC_CALL_SASL ? ipc_auth_sasl(c, echo, a, p, n)
                                          : ipc_context_take(c, echo, a, p, n);
}

/* With a layer, unwrapped packets are rejected; Hadoop's server would still accept such a call. */
static int outer(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_arena *a,
                 struct sv_buf *b)
{
    const uint8_t *p;
    size_t n;
    if (echo->call_id != IPC_CALL_SASL)
        return header_refuse(c, echo, "only wrapped packets are taken here");
    if (ipc_delimited_get(b, &p, &n) < 0)
        return header_refuse(c, echo, "the packet is cut");
    return ipc_auth_wrapped(c, echo, a, p, n);
}

static int dispatch(struct ipc_conn *c, const request_header *h, struct sv_arena **a,
                    struct sv_buf *b, bool inner)
{
    struct ipc_echo echo = { .call_id = h->callid, .retry_count = h->retrycount };
    if (h->clientid.len > sizeof(echo.client_id))
        return header_refuse(c, &echo, "the client's id is too long");
    echo.client_id_len = (uint8_t)h->clientid.len;
    if (h->clientid.len > 0)
        memcpy(echo.client_id, h->clientid.data, h->clientid.len);
    if (h->has_rpcop && h->rpcop == RPC_OP(RPC_CLOSE_CONNECTION) && (inner || !c->layer)) {
        ipc_conn_finish(c);
        return 0;
    }
    if (!h->has_rpcop || h->rpcop != RPC_OP(RPC_FINAL_PACKET))
        return header_refuse(c, &echo, "IPC Server does not implement rpc header operation");
    if (c->layer && !inner)
        return outer(c, &echo, *a, b);
    if (h->callid < 0)
        return out_of_band(c, &echo, *a, b);
    if (c->state != CONN_READY)
        return header_refuse(c, &echo, "Connection context not established");
    if (!h->has_rpckind || h->rpckind != RPC_KIND(RPC_PROTOCOL_BUFFER))
        return header_refuse(c, &echo, "only RPC_PROTOCOL_BUFFER is spoken here");
    return on_call(c, &echo, a, b);
}

int ipc_serve_frame(struct ipc_conn *c, const uint8_t *p, size_t n, bool inner)
{
    static const struct ipc_echo none = { .call_id = IPC_CALL_AUTH_FAILED, .retry_count = -1 };
    struct sv_buf b = SV_BUF_VIEW(p, n);
    const uint8_t *header;
    size_t len;
    ProtobufCMessage *base;
    _cleanup_arena_ struct sv_arena *a = ipc_server_arena(c->server, ipc_arena_max(n));
    if (!a)
        return -ENOMEM;
    if (ipc_delimited_get(&b, &header, &len) < 0 ||
        ipc_unpack(a, &hadoop__common__rpc_request_header_proto__descriptor, header, len, &base) <
            0) {
        ipc_conn_fatal(c, &none, IPC_DETAIL(FATAL_DESERIALIZING_REQUEST), JAVA_RPC_SERVER_EXCEPTION,
                       "malformed RPC header");
        return 0;
    }
    return dispatch(c, (const request_header *)base, &a, &b, inner);
}
