/* See wrapped-bytes.h. */
#include "hdfs/wrapped-bytes.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "hdfs/connection.h"
#include "wire/sasl/sasl-layer.h"

#define PREFIX 4

struct wrapped_bytes {
    struct hdfs_protected base;
    struct sasl_layer *layer;
    uint32_t timeout_ms;
    struct sv_buf in, out;
    const uint8_t *plain; /* in `in`: not yet received by the caller */
    size_t left;
};

static const struct hdfs_protected_functions functions;

int hdfs_wrapped_bytes_new(struct sasl_layer *layer, uint32_t timeout_ms,
                           struct hdfs_protected **ret)
{
    struct wrapped_bytes *w = calloc(1, sizeof(*w));

    if (!w) {
        ipc_sasl_layer_free(layer);
        return -ENOMEM;
    }
    w->base.f = &functions;
    w->layer = layer;
    w->timeout_ms = timeout_ms;
    w->in = SV_BUF_INIT(HDFS_FRAME_MAX);
    w->out = SV_BUF_INIT(PREFIX + SASL_LAYER_MAXBUF);
    *ret = &w->base;
    return 0;
}

static void wrapped_free(struct hdfs_protected *p)
{
    struct wrapped_bytes *w = (struct wrapped_bytes *)p;

    ipc_sasl_layer_free(w->layer);
    sv_buf_free(&w->in);
    sv_buf_free(&w->out);
    free(w);
}

static bool wrapped_waiting(const struct hdfs_protected *p)
{
    return ((const struct wrapped_bytes *)p)->left > 0;
}

static int send_one(struct wrapped_bytes *w, int fd, const uint8_t *p, size_t n,
                    struct sv_error *err)
{
    size_t size = ipc_sasl_layer_size(w->layer, n);
    int r = size == 0 ? -EIO : 0;

    w->out.len = 0;
    if (r == 0)
        r = sv_buf_put_u32(&w->out, (uint32_t)size);
    if (r == 0)
        r = sv_buf_reserve(&w->out, size);
    if (r == 0)
        r = ipc_sasl_layer_wrap(w->layer, p, n, w->out.data + PREFIX);
    if (r < 0)
        return sv_error_errno(err, r, "SASL protection");
    return hdfs_socket_send(fd, w->out.data, PREFIX + size, err);
}

static int wrapped_send(struct hdfs_protected *p, int fd, const void *data, size_t n,
                        struct sv_error *err)
{
    struct wrapped_bytes *w = (struct wrapped_bytes *)p;
    size_t most = ipc_sasl_layer_max_input(w->layer);
    int r = 0;

    for (size_t done = 0, some; r == 0 && done < n; done += some) {
        some = SV_MIN(n - done, most);
        r = send_one(w, fd, (const uint8_t *)data + done, some, err);
    }
    return r;
}

/* The next message; one without bytes is none of the layer, and says nothing. */
static int receive_one(struct wrapped_bytes *w, int fd, struct sv_error *err)
{
    uint8_t *plain = NULL;
    uint32_t n;
    int r = hdfs_socket_receive(fd, &n, PREFIX, err);

    if (r < 0)
        return r;
    n = be32toh(n);
    if (n == 0)
        return 0;
    if (n > HDFS_FRAME_MAX)
        return sv_error_set(err, -EBADMSG,
                            "the DataNode's wrapped message has %d bytes, at most %u are accepted",
                            (int)n, HDFS_FRAME_MAX);
    w->in.len = 0;
    r = sv_buf_reserve(&w->in, n);
    if (r < 0)
        return sv_error_errno(err, r, "wrapped message");
    r = hdfs_socket_receive(fd, w->in.data, n, err);
    if (r < 0)
        return r;
    if (ipc_sasl_layer_unwrap(w->layer, w->in.data, n, &plain, &w->left) < 0) {
        w->left = 0;
        return sv_error_set(err, -EBADMSG,
                            "the DataNode's wrapped message is malformed, forged or out of order");
    }
    w->plain = plain;
    return 0;
}

static int wrapped_receive(struct hdfs_protected *p, int fd, void *data, size_t n,
                           struct sv_error *err)
{
    struct wrapped_bytes *w = (struct wrapped_bytes *)p;
    int64_t until = sv_now_ms() + w->timeout_ms;

    for (uint8_t *to = data; n > 0;) {
        size_t some = SV_MIN(n, w->left);
        int r;

        if (some > 0) {
            memcpy(to, w->plain, some);
            w->plain += some;
            w->left -= some;
            to += some;
            n -= some;
            continue;
        }
        r = receive_one(w, fd, err);
        if (r < 0)
            return r;
        if (w->left < n && sv_now_ms() > until)
            return sv_error_set(err, -ETIMEDOUT,
                                "it sent too little in time (dfs.client.socket-timeout)");
    }
    return 0;
}

static const struct hdfs_protected_functions functions = {
    .send = wrapped_send,
    .receive = wrapped_receive,
    .waiting = wrapped_waiting,
    .free = wrapped_free,
};
