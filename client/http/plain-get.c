/* See plain-get.h. Hostile: the server, as to what it answers and when. */
#include "client/http/plain-get.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "client/http/http-answer.h"
#include "common/buf.h"
#include "common/fd.h"
#include "common/str.h"
#include "wire/ipc/resolve.h"

#define HOST_MAX 256
#define PART 65536 /* read at a time */

struct cli_plain {
    struct cli_plain *prev, *next, **list;
    sd_event *event;
    sd_event_source *io, *timer;
    struct ipc_resolve *resolve;
    struct ipc_addresses addresses;
    size_t tried; /* addresses */
    int fd;
    char *address, *request;
    size_t sent;
    struct sv_buf got;
    size_t max;
    cli_fetch_fn fn;
    void *userdata;
};

static void plain_free(struct cli_plain *p)
{
    DL_DELETE(*p->list, p);
    sd_event_source_disable_unref(p->io);
    sd_event_source_disable_unref(p->timer);
    ipc_resolve_free(p->resolve);
    sd_event_unref(p->event);
    sv_close(p->fd);
    sv_buf_free(&p->got);
    free(p->address);
    free(p->request);
    free(p);
}

static void fail(struct cli_plain *p, int status, const char *why)
{
    char text[512];

    snprintf(text, sizeof(text), "%s: %s", p->address, why);
    p->fn(status, "", 0, text, p->userdata);
    plain_free(p);
}

/* All that the server sends has come, or as much of it as is wanted. */
static void finish(struct cli_plain *p, const struct cli_http_answer *a)
{
    size_t len = SV_MIN(p->got.len - a->head, p->max);

    if (a->announced >= 0)
        len = SV_MIN(len, (size_t)a->announced);
    p->got.len = a->head + len;
    if (sv_buf_put_u8(&p->got, 0) < 0) {
        fail(p, -ENOMEM, "out of memory");
        return;
    }
    p->fn(a->status, (const char *)p->got.data + a->head, len, NULL, p->userdata);
    plain_free(p);
}

static void look(struct cli_plain *p, bool closed)
{
    struct cli_http_answer a;
    int r = cli_http_answer((const char *)p->got.data, p->got.len, &a);
    size_t body;

    if (r == -EAGAIN && !closed)
        return;
    if (r < 0) {
        fail(p, -EIO, "the answer is not HTTP");
        return;
    }
    body = p->got.len - a.head;
    if (body >= p->max || (a.announced >= 0 ? body >= (uint64_t)a.announced : closed))
        finish(p, &a);
    else if (closed)
        fail(p, -EIO, "the connection was closed before the end of the answer");
}

static void receive(struct cli_plain *p)
{
    ssize_t n;

    if (sv_buf_reserve(&p->got, PART) < 0) {
        fail(p, -ENOMEM, "out of memory");
        return;
    }
    n = recv(p->fd, p->got.data + p->got.len, PART, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n < 0) {
        fail(p, -EIO, strerror(errno));
        return;
    }
    p->got.len += (size_t)n;
    look(p, n == 0);
}

static void try_next(struct cli_plain *p, int error);

static int on_io(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct cli_plain *p = userdata;
    size_t left = strlen(p->request) - p->sent;
    int error = 0;
    socklen_t len = sizeof(error);
    ssize_t n;

    (void)revents;
    if (left == 0) {
        receive(p);
        return 0;
    }
    if (p->sent == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) == 0 && error) {
        try_next(p, error);
        return 0;
    }
    n = send(fd, p->request + p->sent, left, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        fail(p, -EIO, strerror(errno));
        return 0;
    }
    p->sent += n > 0 ? (size_t)n : 0;
    if (p->sent == strlen(p->request) && sd_event_source_set_io_events(s, EPOLLIN) < 0)
        fail(p, -ENOMEM, "out of memory");
    return 0;
}

/* Connects to the next address; `error` is what was wrong with the last one. */
static void try_next(struct cli_plain *p, int error)
{
    while (p->tried < p->addresses.n) {
        const struct sockaddr *sa = (const void *)&p->addresses.sa[p->tried];
        socklen_t len = p->addresses.len[p->tried++];

        p->io = sd_event_source_disable_unref(p->io);
        sv_close(p->fd);
        p->fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (p->fd >= 0 && (connect(p->fd, sa, len) == 0 || errno == EINPROGRESS) &&
            sd_event_add_io(p->event, &p->io, p->fd, EPOLLOUT, on_io, p) >= 0)
            return;
        error = errno;
    }
    fail(p, error == ETIMEDOUT ? -ETIMEDOUT : -ECONNREFUSED, strerror(error));
}

static void on_resolved(int status, const struct ipc_addresses *list, void *userdata)
{
    struct cli_plain *p = userdata;

    p->resolve = ipc_resolve_free(p->resolve);
    if (status < 0) {
        fail(p, -ECONNREFUSED, "the name service does not know this host");
        return;
    }
    p->addresses = *list;
    try_next(p, EHOSTUNREACH);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    fail(userdata, -ETIMEDOUT, "no answer in time");
    return 0;
}

/* "host:port", "[address]:port" */
static int split(const char *address, char host[HOST_MAX], uint16_t *ret_port)
{
    const char *colon = strrchr(address, ':');
    size_t len = colon ? (size_t)(colon - address) : 0;
    uint64_t port;

    if (len > 1 && *address == '[' && address[len - 1] == ']') {
        address++;
        len -= 2;
    }
    if (len == 0 || len >= HOST_MAX || sv_parse_u64(colon + 1, 1, UINT16_MAX, &port) < 0)
        return -EINVAL;
    memcpy(host, address, len);
    host[len] = '\0';
    *ret_port = (uint16_t)port;
    return 0;
}

static int on_start(sd_event_source *s, void *userdata)
{
    (void)s;
    try_next(userdata, EHOSTUNREACH);
    return 0;
}

/* A name is looked up in another thread. The callback runs from the loop, not from here. */
static int begin(struct cli_plain *p, long ms)
{
    char host[HOST_MAX];
    uint16_t port;
    int r = split(p->address, host, &port);

    if (r >= 0)
        r = sd_event_add_time_relative(p->event, &p->timer, CLOCK_MONOTONIC, (uint64_t)ms * 1000,
                                       1000, on_timer, p);
    if (r < 0)
        return r;
    if (ipc_resolve_numeric(host, port, &p->addresses))
        return sd_event_add_defer(p->event, &p->io, on_start, p);
    return ipc_resolve_start(p->event, host, port, on_resolved, p, &p->resolve);
}

int cli_plain_get(struct cli_plain **list, sd_event *event, const char *address, const char *path,
                  size_t max, long ms, cli_fetch_fn fn, void *userdata)
{
    struct cli_plain *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return -ENOMEM;
    p->list = list;
    DL_APPEND(*list, p);
    p->event = sd_event_ref(event);
    p->fd = -1;
    p->max = max;
    p->got = SV_BUF_INIT(CLI_HTTP_HEAD_MAX + max + PART + 1);
    p->fn = fn;
    p->userdata = userdata;
    p->address = strdup(address);
    r = p->address ? sv_asprintf(&p->request,
                                 "GET %s HTTP/1.0\r\nHost: %s\r\nAccept: application/json\r\n\r\n",
                                 path, address)
                   : -ENOMEM;
    if (r >= 0)
        r = begin(p, ms);
    if (r < 0)
        plain_free(p);
    return r < 0 ? r : 0;
}

void cli_plain_cancel(struct cli_plain **list)
{
    struct cli_plain *p, *next;

    DL_FOREACH_SAFE (*list, p, next) {
        p->fn(-ECANCELED, "", 0, "canceled", p->userdata);
        plain_free(p);
    }
}
