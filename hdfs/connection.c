/* See connection.h. */
#include "hdfs/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/address.h"
#include "common/fd.h"
#include "hdfs/delimited.h"

/* ---- Socket ---- */

static int connect_within(int fd, const struct sockaddr *a, socklen_t n, int timeout_ms)
{
    struct pollfd p = { .fd = fd, .events = POLLOUT };
    int error = 0, r;
    socklen_t len = sizeof(error);

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
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) < 0 ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
        return -errno;
    return 0;
}

static int open_address(const struct addrinfo *ai, uint32_t timeout_ms)
{
    _cleanup_close_ int fd = -1;
    int r;

    if ((ai->ai_family != AF_INET && ai->ai_family != AF_INET6) ||
        sv_address_is_metadata(ai->ai_addr))
        return -EACCES;
    fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    r = connect_within(fd, ai->ai_addr, ai->ai_addrlen, (int)timeout_ms);
    if (r == 0)
        r = prepare(fd, timeout_ms);
    return r < 0 ? r : sv_take_fd(&fd);
}

static int open_socket(const Hadoop__Hdfs__DatanodeIDProto *id, uint32_t timeout_ms,
                       bool use_hostname, struct sv_error *err)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_NUMERICSERV },
                    *list = NULL;
    char port[8];
    int r = -EHOSTUNREACH;

    if (!use_hostname)
        hints.ai_flags |= AI_NUMERICHOST;
    (void)snprintf(port, sizeof(port), "%u", id->xferport);
    if (getaddrinfo(use_hostname ? id->hostname : id->ipaddr, port, &hints, &list) != 0)
        return sv_error_set(err, r, "its address is not known");
    for (const struct addrinfo *ai = list; ai; ai = ai->ai_next) {
        r = open_address(ai, timeout_ms);
        if (r >= 0)
            break;
    }
    freeaddrinfo(list);
    return r < 0 ? sv_error_errno(err, r, "connect") : r;
}

int hdfs_socket_send(int fd, const void *p, size_t n, struct sv_error *err)
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

int hdfs_socket_receive(int fd, void *p, size_t n, struct sv_error *err)
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

/* ---- Connection ---- */

struct hdfs_connection {
    int fd;
    uint32_t timeout_ms;
    struct hdfs_protected *protected; /* NULL: bytes are plain */
};

int hdfs_connection_new(int fd, uint32_t timeout_ms, struct hdfs_connection **ret)
{
    struct hdfs_connection *c = calloc(1, sizeof(*c));

    if (!c) {
        sv_close(fd);
        return -ENOMEM;
    }
    c->fd = fd;
    c->timeout_ms = timeout_ms;
    *ret = c;
    return 0;
}

int hdfs_connection_open(const Hadoop__Hdfs__DatanodeIDProto *id, uint32_t timeout_ms,
                         bool use_hostname, struct hdfs_connection **ret, struct sv_error *err)
{
    int fd = open_socket(id, timeout_ms, use_hostname, err), r;

    if (fd < 0)
        return fd;
    r = hdfs_connection_new(fd, timeout_ms, ret);
    return r < 0 ? sv_error_errno(err, r, "connection") : 0;
}

struct hdfs_connection *hdfs_connection_free(struct hdfs_connection *c)
{
    if (!c)
        return NULL;
    hdfs_protected_free(c->protected);
    sv_close(c->fd);
    free(c);
    return NULL;
}

uint32_t hdfs_connection_timeout_ms(const struct hdfs_connection *c)
{
    return c->timeout_ms;
}

void hdfs_connection_protect(struct hdfs_connection *c, struct hdfs_protected *p)
{
    hdfs_protected_free(c->protected);
    c->protected = p;
}

int hdfs_send(struct hdfs_connection *c, const void *p, size_t n, struct sv_error *err)
{
    return c->protected ? c->protected->f->send(c->protected, c->fd, p, n, err)
                        : hdfs_socket_send(c->fd, p, n, err);
}

int hdfs_receive(struct hdfs_connection *c, void *p, size_t n, struct sv_error *err)
{
    return c->protected ? c->protected->f->receive(c->protected, c->fd, p, n, err)
                        : hdfs_socket_receive(c->fd, p, n, err);
}

bool hdfs_readable(const struct hdfs_connection *c)
{
    struct pollfd f = { .fd = c->fd, .events = POLLIN };

    if (c->protected && c->protected->f->waiting && c->protected->f->waiting(c->protected))
        return true;
    return poll(&f, 1, 0) > 0;
}

int hdfs_receive_delimited(struct hdfs_connection *c, uint8_t **ret, size_t *ret_len,
                           struct sv_error *err)
{
    _cleanup_free_ uint8_t *answer = NULL;
    uint8_t head[5];
    size_t skip = 0, len = 0;
    int r = 0;

    for (size_t n = 1; r == 0 && n <= sizeof(head); n++) {
        r = hdfs_receive(c, head + n - 1, 1, err);
        if (r == -ECONNRESET && n == 1)
            return sv_error_set(err, r,
                                "it closed the connection without an answer; a DataNode does so "
                                "where its dfs.data.transfer.protection or "
                                "dfs.encrypt.data.transfer is not what this client was told");
        if (r < 0)
            return r;
        r = hdfs_delimited(head, n, &skip, &len);
    }
    if (r <= 0)
        return sv_error_set(err, -EBADMSG, "its answer has a wrong length");
    answer = malloc(len + 1);
    if (!answer)
        return sv_error_errno(err, -ENOMEM, "answer");
    r = hdfs_receive(c, answer, len, err);
    if (r < 0)
        return r;
    *ret = SV_TAKE(answer);
    *ret_len = len;
    return 0;
}
