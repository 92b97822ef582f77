/* See datanode.h. */
#include "hdfs/datanode.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/address.h"
#include "common/buf.h"
#include "common/fd.h"
#include "hdfs/packet.h"
#include "proto/hdfs_datanode.pb-c.h"

#define TRANSFER_VERSION 28 /* DataTransferProtocol.DATA_TRANSFER_VERSION */
#define OP_READ_BLOCK 81
#define CLIENT_NAME "selvedge-container-localizer"

const char *hdfs_datanode_text(const Hadoop__Hdfs__DatanodeInfoProto *d,
                               char buf[HDFS_NODE_TEXT_MAX])
{
    (void)snprintf(buf, HDFS_NODE_TEXT_MAX, "%.100s:%u", d->id->ipaddr, d->id->xferport);
    return buf;
}

/* ---- Connection ---- */

static int connect_within(int fd, const struct sockaddr *a, socklen_t n, int timeout_ms)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    int error = 0, r;
    socklen_t len = sizeof error;

    if (connect(fd, a, n) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return -errno;
    do
        r = poll(&p, 1, timeout_ms);
    while (r < 0 && errno == EINTR);
    if (r == 0)
        return -ETIMEDOUT;
    if (r < 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
        return -errno;
    return -error;
}

static int prepare(int fd, uint32_t timeout_ms)
{
    struct timeval tv = { .tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000 };
    int one = 1, flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof tv) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof tv) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0)
        return -errno;
    return 0;
}

static int open_address(const struct addrinfo *ai, uint32_t timeout_ms)
{
    _cleanup_close_ int fd = -1;
    int r;

    if ((ai->ai_family != AF_INET && ai->ai_family != AF_INET6) ||
        sv_address_is_link_local(ai->ai_addr))
        return -EACCES;
    fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    r = connect_within(fd, ai->ai_addr, ai->ai_addrlen, (int)timeout_ms);
    if (r == 0)
        r = prepare(fd, timeout_ms);
    return r < 0 ? r : sv_take_fd(&fd);
}

static int open_datanode(const struct hdfs_transfer *t, const Hadoop__Hdfs__DatanodeIDProto *id,
                         struct sv_error *err)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_NUMERICSERV },
                    *list = NULL;
    char port[8];
    int r = -EHOSTUNREACH;

    if (!t->use_hostname)
        hints.ai_flags |= AI_NUMERICHOST;
    (void)snprintf(port, sizeof port, "%u", id->xferport);
    if (getaddrinfo(t->use_hostname ? id->hostname : id->ipaddr, port, &hints, &list) != 0)
        return sv_error_set(err, r, "its address is not known");
    for (const struct addrinfo *ai = list; ai; ai = ai->ai_next) {
        r = open_address(ai, t->io_timeout_ms);
        if (r >= 0)
            break;
    }
    freeaddrinfo(list);
    return r < 0 ? sv_error_errno(err, r, "connect") : r;
}

/* ---- Bytes ---- */

static int send_all(int fd, const void *p, size_t n, struct sv_error *err)
{
    const uint8_t *at = p;

    while (n > 0) {
        ssize_t k = send(fd, at, n, MSG_NOSIGNAL);

        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return sv_error_errno(err, errno == EAGAIN ? -ETIMEDOUT : -errno, "send");
        at += k;
        n -= (size_t)k;
    }
    return 0;
}

/* Exactly n bytes within the socket's time limit, which holds for the whole call: a DataNode that
 * sends a byte now and then is as dead as one that sends none. */
static int receive(int fd, void *p, size_t n, struct sv_error *err)
{
    uint8_t more;
    ssize_t k;

    do
        k = recv(fd, p, n, MSG_WAITALL);
    while (k < 0 && errno == EINTR);
    if (k == (ssize_t)n)
        return 0;
    if (k < 0 && errno != EAGAIN)
        return sv_error_errno(err, -errno, "receive");
    if (k == 0 || (k > 0 && recv(fd, &more, 1, MSG_PEEK | MSG_DONTWAIT) == 0))
        return sv_error_set(err, -ECONNRESET, "it closed the connection");
    return sv_error_set(err, -ETIMEDOUT, "it sent nothing in time (dfs.client.socket-timeout)");
}

/* Length and message; used for what a client sends to a DataNode. */
static int put_delimited(struct sv_buf *b, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    int r = 0;

    if (n > HDFS_ANSWER_MAX)
        return -EMSGSIZE;
    for (size_t v = n; r == 0; v >>= 7) {
        r = sv_buf_put_u8(b, (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0)));
        if (v <= 0x7f)
            break;
    }
    if (r == 0)
        r = sv_buf_reserve(b, n);
    if (r < 0)
        return r;
    b->len += protobuf_c_message_pack(m, b->data + b->len);
    return 0;
}

static int send_request(int fd, const struct hdfs_transfer *t, struct sv_error *err)
{
    Hadoop__Hdfs__OpReadBlockProto op = HADOOP__HDFS__OP_READ_BLOCK_PROTO__INIT;
    Hadoop__Hdfs__ClientOperationHeaderProto client =
        HADOOP__HDFS__CLIENT_OPERATION_HEADER_PROTO__INIT;
    Hadoop__Hdfs__BaseHeaderProto base = HADOOP__HDFS__BASE_HEADER_PROTO__INIT;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(2 * HDFS_ANSWER_MAX);
    int r;

    base.block = t->block->b;
    base.token = t->block->blocktoken;
    client.baseheader = &base;
    client.clientname = (char *)(uintptr_t)CLIENT_NAME;
    op.header = &client;
    op.offset = t->done;
    op.len = t->block->b->numbytes - t->done;
    r = sv_buf_put_u16(&b, TRANSFER_VERSION);
    if (r == 0)
        r = sv_buf_put_u8(&b, OP_READ_BLOCK);
    if (r == 0)
        r = put_delimited(&b, &op.base);
    if (r < 0)
        return sv_error_errno(err, r, "READ_BLOCK");
    return send_all(fd, b.data, b.len, err);
}

/* For the DataNode's statistics, and that it scans a bad replica. */
static void send_status(int fd, Hadoop__Hdfs__Status status)
{
    Hadoop__Hdfs__ClientReadStatusProto m = HADOOP__HDFS__CLIENT_READ_STATUS_PROTO__INIT;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(64);

    m.status = status;
    if (put_delimited(&b, &m.base) == 0)
        (void)send_all(fd, b.data, b.len, NULL); /* the block is read or given up, ignoring */
}

/* ---- The stream ---- */

static int receive_answer(int fd, struct hdfs_stream *s, const struct hdfs_transfer *t,
                          struct sv_error *err)
{
    _cleanup_free_ uint8_t *answer = NULL;
    uint8_t head[5];
    size_t skip = 0, len = 0;
    int r = 0;

    for (size_t n = 1; r == 0 && n <= sizeof head; n++) {
        r = receive(fd, head + n - 1, 1, err);
        if (r == -ECONNRESET && n == 1)
            return sv_error_set(err, r,
                                "it closed the connection without an answer; where "
                                "DataNodes demand SASL (dfs.data.transfer.protection, "
                                "dfs.encrypt.data.transfer), they do that: it is not supported");
        if (r < 0)
            return r;
        r = hdfs_delimited(head, n, &skip, &len);
    }
    if (r <= 0)
        return sv_error_set(err, -EBADMSG, "its answer has a wrong length");
    answer = malloc(len + 1);
    if (!answer)
        return sv_error_errno(err, -ENOMEM, "answer");
    r = receive(fd, answer, len, err);
    return r < 0 ? r : hdfs_stream_begin(s, t->done, t->block->b->numbytes, answer, len, err);
}

static int receive_packet(int fd, struct hdfs_stream *s, struct hdfs_transfer *t, struct sv_buf *b,
                          struct sv_error *err)
{
    uint8_t prefix[HDFS_PACKET_PREFIX], header[HDFS_HEADER_MAX];
    uint32_t payload = 0, n = 0;
    struct hdfs_packet k;
    int r = receive(fd, prefix, sizeof prefix, err);

    if (r == 0)
        r = hdfs_packet_prefix(prefix, &payload, &n, err);
    if (r == 0)
        r = receive(fd, header, n, err);
    if (r == 0)
        r = hdfs_packet_header(s, header, n, payload, &k, err);
    if (r < 0 || k.last)
        return r;
    b->len = 0;
    r = sv_buf_reserve(b, payload);
    if (r < 0)
        return sv_error_errno(err, r, "packet");
    r = receive(fd, b->data, payload, err);
    if (r == 0)
        r = hdfs_packet_verify(s, &k, b->data, err);
    if (r < 0 || k.wanted == 0)
        return r;
    t->sink_error = t->sink(t->userdata, b->data + k.sums + k.skip, k.wanted);
    if (t->sink_error < 0)
        return t->sink_error;
    t->done += k.wanted;
    return 0;
}

int hdfs_datanode_read(struct hdfs_transfer *t, size_t index, struct sv_error *err)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(HDFS_PACKET_MAX);
    _cleanup_close_ int fd = open_datanode(t, t->block->locs[index]->id, err);
    struct hdfs_stream s = { 0 };
    int r;

    if (fd < 0)
        return fd;
    r = send_request(fd, t, err);
    if (r == 0)
        r = receive_answer(fd, &s, t, err);
    while (r == 0 && !s.last)
        r = receive_packet(fd, &s, t, &b, err);
    if (r == -EILSEQ)
        send_status(fd, HADOOP__HDFS__STATUS__ERROR_CHECKSUM);
    if (r < 0)
        return r;
    if (!hdfs_stream_complete(&s))
        return sv_error_set(err, -EBADMSG, "its replica ends after %llu bytes of %llu",
                            (unsigned long long)t->done, (unsigned long long)t->block->b->numbytes);
    send_status(fd, s.type == HDFS_CHECKSUM_NULL ? HADOOP__HDFS__STATUS__SUCCESS
                                                 : HADOOP__HDFS__STATUS__CHECKSUM_OK);
    return 0;
}
