/* Output of a connection: answers in the order in which they were given, small ones in one buffer,
 * large ones in the buffers that were handed over; with a layer they are wrapped on their way. A
 * turn sends and wraps a bounded number of bytes, however fast the peer reads. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/clock.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-conn.h"

#define KEEP_BUFFER (4u << 10) /* a larger buffer is freed when empty */

struct ipc_part {
    struct sv_buf buf;
    bool handed; /* takes no further answers: it would grow, and be moved */
    struct ipc_part *prev, *next;
};

static struct sv_buf *base(struct ipc_conn *c)
{
    return c->layer ? &c->plain : &c->out;
}

static struct ipc_part *part_add(struct ipc_conn *c)
{
    struct ipc_part *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->buf = SV_BUF_INIT(c->out.max);
    DL_APPEND(c->parts, p);
    return p;
}

static void part_drop(struct ipc_conn *c)
{
    struct ipc_part *p = c->parts;
    DL_DELETE(c->parts, p);
    sv_buf_free(&p->buf);
    free(p);
}

int ipc_out_answers(struct ipc_conn *c, struct sv_buf **ret)
{
    struct ipc_part *last = c->parts ? c->parts->prev : NULL;
    if (last && last->handed)
        last = part_add(c);
    if (c->parts && !last)
        return -ENOMEM;
    *ret = last ? &last->buf : base(c);
    return 0;
}

int ipc_out_hand_over(struct ipc_conn *c, struct sv_buf *frame)
{
    struct ipc_part *p = part_add(c);
    if (!p)
        return -ENOMEM;
    p->handed = true;
    p->buf = *frame;
    *frame = SV_BUF_INIT(frame->max);
    return 0;
}

size_t ipc_out_left(const struct ipc_conn *c)
{
    size_t n = sv_buf_left(&c->out) + sv_buf_left(&c->plain);
    for (const struct ipc_part *p = c->parts; p; p = p->next)
        n += sv_buf_left(&p->buf);
    return n;
}

size_t ipc_out_memory(const struct ipc_conn *c)
{
    size_t n = c->out.cap + c->plain.cap;
    for (const struct ipc_part *p = c->parts; p; p = p->next)
        n += p->buf.cap;
    return n;
}

void ipc_out_free(struct ipc_conn *c)
{
    while (c->parts)
        part_drop(c);
    sv_buf_free(&c->out);
    sv_buf_free(&c->plain);
}

/* The oldest bytes not sent, or not wrapped yet. */
static struct sv_buf *oldest(struct ipc_conn *c)
{
    struct sv_buf *b = base(c);
    while (sv_buf_left(b) == 0 && c->parts) {
        if (sv_buf_left(&c->parts->buf) > 0)
            return &c->parts->buf;
        part_drop(c);
    }
    return b;
}

void ipc_buf_trim(struct sv_buf *b)
{
    if (sv_buf_left(b) > 0) {
        if (b->pos > b->len / 2)
            sv_buf_compact(b);
    } else if (b->cap > KEEP_BUFFER) {
        sv_buf_free(b);
    } else {
        b->len = b->pos = 0;
    }
}

static int put_token(struct ipc_conn *c, const uint8_t *p, size_t n)
{
    Hadoop__Common__RpcResponseHeaderProto h = HADOOP__COMMON__RPC_RESPONSE_HEADER_PROTO__INIT;
    h.callid = (uint32_t)IPC_CALL_SASL;
    h.status = IPC_STATUS(SUCCESS);
    h.has_serveripcversionnum = h.has_retrycount = h.has_clientid = 1;
    h.serveripcversionnum = IPC_VERSION;
    h.retrycount = -1;
    uint8_t *token;
    int r = ipc_frame_put_wrap(&c->out, &h.base, ipc_sasl_layer_size(c->layer, n), &token);
    return r < 0 ? r : ipc_sasl_layer_wrap(c->layer, p, n, token);
}

/* One token. */
static int wrap(struct ipc_conn *c)
{
    struct sv_buf *b = oldest(c);
    size_t n = SV_MIN(sv_buf_left(b), ipc_sasl_layer_max_input(c->layer));
    if (n == 0 || sv_buf_left(&c->out) >= IPC_OUT_TURN)
        return 0;
    int r = put_token(c, b->data + b->pos, n);
    if (r < 0)
        return r;
    b->pos += n;
    ipc_buf_trim(&c->plain);
    return 0;
}

static int send_some(struct ipc_conn *c, size_t *ret_sent)
{
    *ret_sent = 0;
    while (*ret_sent < IPC_OUT_TURN) {
        struct sv_buf *b = c->layer ? &c->out : oldest(c);
        size_t left = SV_MIN(sv_buf_left(b), IPC_OUT_TURN - *ret_sent);
        if (left == 0)
            return 0;
        ssize_t n = send(c->fd, b->data + b->pos, left, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -errno;
        b->pos += (size_t)n;
        *ret_sent += (size_t)n;
        c->server->counters.sent_bytes += (uint64_t)n;
    }
    return 0;
}

int ipc_out_turn(struct ipc_conn *c)
{
    size_t sent;
    int r = c->layer ? wrap(c) : 0;
    if (r >= 0)
        r = send_some(c, &sent);
    if (r < 0)
        return r;
    (void)oldest(c); /* frees a large answer that is sent */
    ipc_buf_trim(&c->out);
    if (ipc_out_left(c) == 0)
        c->write_ms = 0;
    else if (sent > 0 || !c->write_ms)
        c->write_ms = sv_now_ms();
    return 0;
}
