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

#define TAKEN_MIN (64u << 10) /* bytes; a smaller answer is copied behind others */

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

int ipc_answer_status(struct ipc_conn *c, const struct ipc_echo *echo, int status, int detail,
                      const char *java_class, const char *text)
{
    response_header h = header_of(echo, status);
    h.has_errordetail = 1;
    h.errordetail = detail;
    h.exceptionclassname = (char *)(uintptr_t)java_class;
    h.errormsg = (char *)(uintptr_t)text;
    struct sv_buf *out;
    int r = ipc_out_answers(c, &out);
    return r < 0 ? r : ipc_frame_put(out, &h.base, NULL, NULL, 0);
}

int ipc_answer_success(struct ipc_conn *c, const struct ipc_echo *echo,
                       const ProtobufCMessage *body)
{
    response_header h = header_of(echo, IPC_STATUS(SUCCESS));
    struct sv_buf *out;
    int r = ipc_out_answers(c, &out);
    return r < 0 ? r : ipc_frame_put_message(out, &h.base, body);
}

static void call_finish(struct ipc_call *call)
{
    struct ipc_conn *c = call->conn;
    int64_t us;
    c->inflight--;
    c->calls_memory -= call->memory;
    if (c->server) {
        c->server->open_calls--;
        c->active_ms = sv_now_ms();
        us = ipc_now_us() - call->begun_us;
        sv_rate_add(&c->server->counters.processing, (double)us / 1000, c->active_ms);
        ipc_times_add(c->server, call->method, us);
        ipc_address_used(c);
        ipc_server_mark_dirty(c);
    }
    ipc_server_arena_done(c->server, call->arena); /* the arena holds the call */
    ipc_conn_unref(c);
}

static void call_error(struct ipc_call *call, int detail, const char *java_class, const char *text)
{
    struct ipc_conn *c = call->conn;
    if (c->server)
        c->server->counters.errors++;
    if (call->retry)
        ipc_retry_failed(call, detail, java_class, text);
    if (c->server && c->state == CONN_READY &&
        ipc_answer_status(c, &call->echo, IPC_STATUS(ERROR), detail, java_class, text) < 0)
        ipc_conn_close(c);
    call_finish(call);
}

static int answer_packed(struct ipc_conn *c, const struct ipc_echo *echo, const uint8_t *body,
                         size_t n)
{
    response_header h = header_of(echo, IPC_STATUS(SUCCESS));
    struct sv_buf *out;
    int r = ipc_out_answers(c, &out);
    return r < 0 ? r : ipc_frame_put(out, &h.base, NULL, body, n);
}

void ipc_call_answer(struct ipc_call *call, const uint8_t *body, size_t n)
{
    struct ipc_conn *c = call->conn;
    if (c->server && c->state == CONN_READY && answer_packed(c, &call->echo, body, n) < 0)
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

/* The frame header is written into the headroom before the answer, which is not copied. */
static int hand_over(struct ipc_conn *c, const struct ipc_echo *echo, struct sv_buf *answer)
{
    response_header h = header_of(echo, IPC_STATUS(SUCCESS));
    int r = ipc_frame_put_front(answer, &h.base);
    return r < 0 ? r : ipc_out_hand_over(c, answer);
}

void ipc_call_reply_taken(struct ipc_call *call, struct sv_buf *answer)
{
    struct ipc_conn *c = call->conn;
    if (call->retry || sv_buf_left(answer) < TAKEN_MIN)
        ipc_call_reply_packed(call, answer->data + answer->pos, sv_buf_left(answer));
    else if (c->server && c->state == CONN_READY && hand_over(c, &call->echo, answer) < 0)
        call_error(call, IPC_DETAIL(ERROR_SERIALIZING_RESPONSE), JAVA_IO_EXCEPTION,
                   "the answer is too large");
    else
        call_finish(call);
    sv_buf_free(answer);
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
