/* Answers of the IPC server: results, exceptions, statuses. A handler's answer is trusted; the peer
 * may never read it. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-conn.h"
#include "wire/ipc/ipc-retry.h"

typedef Hadoop__Common__RpcResponseHeaderProto response_header;

/* The client id is repeated in answers to calls only: not in SASL answers, nor in fatal ones. */
static response_header header_of(const struct ipc_echo *echo, int status)
{
    bool call = echo->call_id >= 0 && status != IPC_STATUS(FATAL);
    response_header h = HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__INIT;
    h.callid = (uint32_t)echo->call_id;
    h.status = status;
    h.has_serveripcversionnum = 1;
    h.serveripcversionnum = IPC_VERSION;
    h.has_retrycount = 1;
    h.retrycount = echo->retry_count;
    h.has_clientid = 1;
    h.clientid.data = (uint8_t *)(uintptr_t)echo->client_id;
    h.clientid.len = call ? echo->client_id_len : 0;
    return h;
}

static struct sv_buf *answers(struct ipc_conn *c)
{
    return c->layer ? &c->plain : &c->out;
}

int ipc_conn_wrap(struct ipc_conn *c)
{
    static const struct ipc_echo sasl = { .call_id = IPC_CALL_SASL, .retry_count = -1 };
    if (!c->layer)
        return 0;
    response_header h = header_of(&sasl, IPC_STATUS(SUCCESS));
    while (sv_buf_left(&c->plain) > 0) {
        size_t n = SV_MIN(sv_buf_left(&c->plain), ipc_sasl_layer_max_input(c->layer));
        uint8_t *token;
        int r = ipc_frame_put_wrap(&c->out, &h.base, ipc_sasl_layer_size(c->layer, n), &token);
        if (r >= 0)
            r = ipc_sasl_layer_wrap(c->layer, c->plain.data + c->plain.pos, n, token);
        if (r < 0)
            return r;
        c->plain.pos += n;
    }
    return 0;
}

int ipc_answer_status(struct ipc_conn *c, const struct ipc_echo *echo, int status, int detail,
                      const char *java_class, const char *text)
{
    response_header h = header_of(echo, status);
    h.has_errordetail = 1;
    h.errordetail = detail;
    h.exceptionclassname = (char *)(uintptr_t)java_class;
    h.errormsg = (char *)(uintptr_t)text;
    return ipc_frame_put(answers(c), &h.base, NULL, NULL, 0);
}

int ipc_answer_success(struct ipc_conn *c, const struct ipc_echo *echo,
                       const ProtobufCMessage *body)
{
    response_header h = header_of(echo, IPC_STATUS(SUCCESS));
    return ipc_frame_put_message(answers(c), &h.base, body);
}

static void call_finish(struct ipc_call *call)
{
    struct ipc_conn *c = call->conn;
    c->inflight--;
    c->calls_memory -= call->memory;
    if (c->server) {
        c->active_ms = sv_now_ms();
        ipc_address_used(c);
        ipc_server_mark_dirty(c);
    }
    ipc_server_arena_done(c->server, call->arena); /* the arena holds the call */
    ipc_conn_unref(c);
}

static void call_error(struct ipc_call *call, int detail, const char *java_class, const char *text)
{
    struct ipc_conn *c = call->conn;
    if (call->retry)
        ipc_retry_failed(call, detail, java_class, text);
    if (c->server && c->state == CONN_READY &&
        ipc_answer_status(c, &call->echo, IPC_STATUS(ERROR), detail, java_class, text) < 0)
        ipc_conn_close(c);
    call_finish(call);
}

void ipc_call_answer(struct ipc_call *call, const uint8_t *body, size_t n)
{
    struct ipc_conn *c = call->conn;
    response_header h = header_of(&call->echo, IPC_STATUS(SUCCESS));
    if (c->server && c->state == CONN_READY &&
        ipc_frame_put(answers(c), &h.base, NULL, body, n) < 0)
        call_error(call, IPC_DETAIL(ERROR_SERIALIZING_RESPONSE), JAVA_IO_EXCEPTION,
                   "the answer is too large");
    else
        call_finish(call);
}

/* Caches the answer and sends it to waiting repetitions of the call; the connection may be
 * closed. */
static void call_reply_kept(struct ipc_call *call, const ProtobufCMessage *response)
{
    size_t n = protobuf_c_message_get_packed_size(response);
    uint8_t *body = malloc(n + 1);
    if (!body) {
        call_error(call, IPC_DETAIL(ERROR_SERIALIZING_RESPONSE), JAVA_IO_EXCEPTION,
                   "out of memory");
        return;
    }
    protobuf_c_message_pack(response, body);
    ipc_retry_answered(call, body, n);
    ipc_call_answer(call, body, n);
    free(body);
}

void ipc_call_reply_packed(struct ipc_call *call, const uint8_t *response, size_t n)
{
    static const uint8_t empty[1];
    const uint8_t *body = n > 0 ? response : empty;

    if (call->retry)
        ipc_retry_answered(call, body, n);
    ipc_call_answer(call, body, n);
}

void ipc_call_reply(struct ipc_call *call, const ProtobufCMessage *response)
{
    struct ipc_conn *c = call->conn;
    if (call->retry) {
        call_reply_kept(call, response);
        return;
    }
    if (c->server && c->state == CONN_READY && ipc_answer_success(c, &call->echo, response) < 0) {
        sv_log_debug("ipc %s: the answer to %s does not fit", c->address, call->method->name);
        call_error(call, IPC_DETAIL(ERROR_SERIALIZING_RESPONSE), JAVA_IO_EXCEPTION,
                   "the answer is too large");
        return;
    }
    call_finish(call);
}

static void call_fail_v(struct ipc_call *call, int detail, const char *java_class, const char *fmt,
                        va_list ap) _printf_(4, 0);

static void call_fail_v(struct ipc_call *call, int detail, const char *java_class, const char *fmt,
                        va_list ap)
{
    char text[SV_ERROR_TEXT_MAX * 2];
    vsnprintf(text, sizeof(text), fmt, ap);
    call_error(call, detail, java_class, text);
}

void ipc_call_fail(struct ipc_call *call, const char *java_class, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    call_fail_v(call, IPC_DETAIL(ERROR_APPLICATION), java_class, fmt, ap);
    va_end(ap);
}

void ipc_call_fail_detail(struct ipc_call *call, int detail, const char *java_class,
                          const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    call_fail_v(call, detail, java_class, fmt, ap);
    va_end(ap);
}

const struct ipc_peer *ipc_call_peer(const struct ipc_call *call)
{
    return &call->conn->peer;
}

struct sv_arena *ipc_call_arena(struct ipc_call *call)
{
    return call->arena;
}
