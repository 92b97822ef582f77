/* See plain-get.h. Hostile: the server, in what it answers and when. */
#include "client/http/plain-get.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "client/http/plain-answer.h"
#include "common/buf.h"
#include "common/fd.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "wire/ipc/resolve.h"

#define SCHEME "http://"
#define HOST_MAX 256
#define PART 16384      /* bytes received at a time */
#define GIVE_UP_MS 1000 /* a slow name service, peer or answer is libcurl's */

struct cli_plain_get {
    sd_event *event;
    sd_event_source *io, *timer;
    struct ipc_resolve *resolve;
    int fd;
    char *request;
    size_t sent, max;
    struct sv_buf got;
    cli_plain_done done;
    void *userdata;
};

struct cli_plain_get *cli_plain_get_free(struct cli_plain_get *g)
{
    if (!g)
        return NULL;
    g->io = sd_event_source_disable_unref(g->io);
    g->timer = sd_event_source_disable_unref(g->timer);
    g->resolve = ipc_resolve_free(g->resolve);
    g->event = sd_event_unref(g->event);
    g->fd = sv_close(g->fd);
    sv_buf_free(&g->got);
    free(g->request);
    free(g);
    return NULL;
}

/* Stops, and tells the caller, who may free the request then. */
static void end(struct cli_plain_get *g, int status, const char *body, size_t len)
{
    struct sv_buf got = g->got; /* `body` is in it */

    g->got = SV_BUF_INIT(1);
    g->io = sd_event_source_disable_unref(g->io);
    g->timer = sd_event_source_disable_unref(g->timer);
    g->done(status, body, len, g->userdata);
    sv_buf_free(&got);
}

static int receive(struct cli_plain_get *g)
{
    struct cli_plain_answer a;
    ssize_t n;
    int r = sv_buf_reserve(&g->got, PART);

    if (r < 0)
        return r;
    n = recv(g->fd, g->got.data + g->got.len, PART - 1, MSG_DONTWAIT);
    if (n < 0)
        return -errno;
    g->got.len += (size_t)n;
    r = cli_plain_answer((const char *)g->got.data, g->got.len, g->max, &a);
    if (r == -EAGAIN && n == 0)
        return -ECONNRESET;
    if (r < 0)
        return r;
    g->got.data[a.body + a.len] = '\0'; /* within what was reserved */
    end(g, a.status, (const char *)g->got.data + a.body, a.len);
    return 0;
}

static int send_request(struct cli_plain_get *g)
{
    size_t left = strlen(g->request) - g->sent;
    ssize_t n = send(g->fd, g->request + g->sent, left, MSG_NOSIGNAL | MSG_DONTWAIT);

    if (n < 0)
        return -errno;
    g->sent += (size_t)n;
    return (size_t)n == left ? sd_event_source_set_io_events(g->io, EPOLLIN) : 0;
}

static int on_io(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct cli_plain_get *g = userdata;
    int r = g->request[g->sent] ? send_request(g) : receive(g);

    (void)s;
    (void)fd;
    (void)revents;
    if (r < 0 && r != -EAGAIN && r != -EINTR)
        end(g, r, "", 0);
    return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)usec;
    end(userdata, -ETIMEDOUT, "", 0);
    return 0;
}

/* Connects to the first address alone. */
static int dial(struct cli_plain_get *g, const struct ipc_addresses *list)
{
    const struct sockaddr *sa = (const void *)&list->sa[0];

    g->fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (g->fd < 0 || (connect(g->fd, sa, list->len[0]) < 0 && errno != EINPROGRESS))
        return -errno;
    return sd_event_add_io(g->event, &g->io, g->fd, EPOLLOUT, on_io, g);
}

static void on_resolved(int status, const struct ipc_addresses *list, void *userdata)
{
    struct cli_plain_get *g = userdata;
    int r = status < 0 ? status : dial(g, list);

    if (r < 0)
        end(g, r, "", 0);
}

/* The host and the port of "http://HOST:PORT/…"; *ret_path is within `url`. */
static int split(const char *url, char host[HOST_MAX], uint16_t *ret_port, const char **ret_path)
{
    const char *begin = url + strlen(SCHEME), *path, *colon;
    char port[8];
    uint64_t n;
    size_t len;

    if (!sv_has_prefix(url, SCHEME) || !(path = strchr(begin, '/')))
        return -EINVAL;
    for (const char *p = url; *p; p++)
        if (*p <= ' ' || *p > '~')
            return -EINVAL;
    colon = memrchr(begin, ':', (size_t)(path - begin));
    if (!colon || path - colon > 6 || memchr(begin, '@', (size_t)(path - begin)))
        return -EINVAL;
    len = (size_t)(colon - begin);
    (void)snprintf(port, sizeof(port), "%.*s", (int)(path - colon - 1), colon + 1);
    if (len > 2 && *begin == '[' && colon[-1] == ']') {
        begin++;
        len -= 2;
    }
    if (len == 0 || len >= HOST_MAX || sv_parse_u64(port, 1, UINT16_MAX, &n) < 0)
        return -EINVAL;
    memcpy(host, begin, len);
    host[len] = '\0';
    *ret_port = (uint16_t)n;
    *ret_path = path;
    return 0;
}

static int begin(struct cli_plain_get *g, const char *url, const char *accept)
{
    struct ipc_addresses list;
    const char *path, *authority = url + strlen(SCHEME);
    char host[HOST_MAX];
    uint16_t port;
    int r = split(url, host, &port, &path);

    if (r >= 0)
        r = sv_asprintf(&g->request,
                        "GET %s HTTP/1.1\r\nHost: %.*s\r\n%s\r\nConnection: close\r\n\r\n", path,
                        (int)(path - authority), authority, accept);
    if (r >= 0)
        r = sd_event_add_time_relative(g->event, &g->timer, CLOCK_MONOTONIC, GIVE_UP_MS * 1000,
                                       1000, on_timer, g);
    if (r >= 0) /* what has come in the meantime counts */
        r = sd_event_source_set_priority(g->timer, SD_EVENT_PRIORITY_IDLE);
    if (r < 0)
        return r;
    if (ipc_resolve_numeric(host, port, &list))
        return dial(g, &list);
    return ipc_resolve_start(g->event, host, port, on_resolved, g, &g->resolve);
}

int cli_plain_get(sd_event *event, const char *url, const char *accept, size_t max,
                  cli_plain_done done, void *userdata, struct cli_plain_get **ret)
{
    struct cli_plain_get *g = calloc(1, sizeof(*g));
    int r;

    if (!g)
        return -ENOMEM;
    g->event = sd_event_ref(event);
    g->fd = -1;
    g->max = max;
    g->got = SV_BUF_INIT(CLI_PLAIN_HEAD_MAX + max + PART);
    g->done = done;
    g->userdata = userdata;
    r = begin(g, url, accept);
    if (r < 0) {
        (void)cli_plain_get_free(g);
        return r;
    }
    *ret = g;
    return 0;
}
