/* See aux-channel.h. */
#include "shuffle/aux-channel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "common/buf.h"
#include "common/str.h"

#define FRAME_MAX (1u << 20)

struct shf_channel {
    int fd;
    struct sv_buf in;
};

struct shf_channel *shf_channel_new(int fd)
{
    struct shf_channel *c = calloc(1, sizeof(*c));

    if (c)
        *c = (struct shf_channel){ .fd = fd, .in = SV_BUF_INIT(FRAME_MAX + 4) };
    return c;
}

/* Extracts a complete frame from the buffer: 1, or -EAGAIN if it is incomplete. */
static int take_frame(struct shf_channel *c, json_t **ret)
{
    uint32_t n;
    const uint8_t *text;
    json_t *message;

    if (sv_buf_left(&c->in) < 4)
        return -EAGAIN;
    memcpy(&n, c->in.data + c->in.pos, 4);
    n = ntohl(n);
    if (n == 0 || n > FRAME_MAX)
        return -EBADMSG;
    if (sv_buf_left(&c->in) < 4 + (size_t)n)
        return -EAGAIN;
    c->in.pos += 4;
    if (sv_buf_get_ref(&c->in, &text, n) < 0)
        return -EBADMSG;
    message = json_loadb((const char *)text, n, JSON_REJECT_DUPLICATES, NULL);
    sv_buf_compact(&c->in);
    if (!json_is_object(message)) {
        json_decref(message);
        return -EBADMSG;
    }
    *ret = message;
    return 1;
}

int shf_channel_receive(struct shf_channel *c, bool wait, json_t **ret)
{
    for (;;) {
        int r = take_frame(c, ret);
        char piece[8192];
        ssize_t n;

        if (r != -EAGAIN)
            return r;
        n = recv(c->fd, piece, sizeof(piece), wait ? 0 : MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0 ? 0 : -errno;
        if (sv_buf_put(&c->in, piece, (size_t)n) < 0)
            return -EBADMSG;
    }
}

static int send_message(struct shf_channel *c, json_t *message)
{
    _cleanup_free_ char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(FRAME_MAX + 4);
    int r = text ? sv_buf_put_u32(&out, (uint32_t)strlen(text)) : -ENOMEM;

    json_decref(message);
    if (r == 0)
        r = sv_buf_put_str(&out, text);
    for (size_t at = 0; r == 0 && at < out.len;) {
        ssize_t n = send(c->fd, out.data + at, out.len - at, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            r = -errno;
        at += n > 0 ? (size_t)n : 0;
    }
    return r;
}

int shf_channel_ready(struct shf_channel *c, const void *metadata, size_t n)
{
    _cleanup_free_ char *text = NULL;
    int r = sv_base64_encode(metadata, n, &text);

    return r < 0 ? r : send_message(c, json_pack("{s:s, s:s}", "type", "ready", "metadata", text));
}

int shf_channel_failed(struct shf_channel *c, json_int_t seq, const char *failure)
{
    return send_message(
        c, json_pack("{s:s, s:I, s:s}", "type", "failed", "seq", seq, "message", failure));
}

int shf_channel_done(struct shf_channel *c, json_int_t seq, json_t *metrics)
{
    return send_message(
        c, json_pack("{s:s, s:I, s:o*}", "type", "done", "seq", seq, "metrics", metrics));
}
