/* Hadoop IPC server: listening, accepting, deadlines. See ipc_server.h for what it offers and
 * ipc_conn.h for how its files share the work. Hostile: whoever can connect; accepting is bounded
 * here, everything that a connection sends is bounded in the other files. */
#include "wire/ipc_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "wire/frame.h"
#include "wire/ipc_conn.h"

#define ACCEPT_BATCH 64      /* connections accepted before other sources get their turn */
#define ACCEPT_RETRY_MS 250  /* after EMFILE, unless a connection closes earlier */
#define LISTEN_BACKLOG 1024

static void limits_default(struct ipc_limits *l)
{
#define DEFAULT(field, value) l->field = l->field ? l->field : (value)
    DEFAULT(max_frame, IPC_FRAME_MAX);
    DEFAULT(max_frame_preauth, IPC_FRAME_PREAUTH_MAX);
    DEFAULT(max_connections, 10000);
    DEFAULT(max_preauth, 1024);
    DEFAULT(max_inflight_per_conn, 1000);
    DEFAULT(max_outq_per_conn, 16u << 20);
    DEFAULT(max_memory, (size_t)512 << 20);
    DEFAULT(header_ms, 10000);
    DEFAULT(handshake_ms, 30000);
    DEFAULT(request_ms, 60000);
    DEFAULT(idle_ms, 120000);
    DEFAULT(write_ms, 60000);
#undef DEFAULT
}

/* ---- Accepting ---- */

static void accept_pause(struct ipc_server *s)
{
    s->resume_ms = sv_now_ms() + ACCEPT_RETRY_MS;
    (void)sd_event_source_set_enabled(s->listen, SD_EVENT_OFF);
    ipc_server_wake_at(s, s->resume_ms);
}

static void accept_resume(struct ipc_server *s)
{
    s->resume_ms = 0;
    (void)sd_event_source_set_enabled(s->listen, SD_EVENT_ON);
}

void ipc_server_room(struct ipc_server *s)
{
    if (s->resume_ms)
        accept_resume(s);
}

static void address_text(const struct sockaddr_storage *sa, char *buf, size_t size)
{
    char ip[INET6_ADDRSTRLEN] = "?";
    if (sa->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)sa;
        inet_ntop(AF_INET, &in->sin_addr, ip, sizeof ip);
        snprintf(buf, size, "%s:%u", ip, ntohs(in->sin_port));
    } else {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;
        inet_ntop(AF_INET6, &in6->sin6_addr, ip, sizeof ip);
        snprintf(buf, size, "[%s]:%u", ip, ntohs(in6->sin6_port));
    }
}

static void accepted(struct ipc_server *s, int fd, const struct sockaddr_storage *sa)
{
    static const int one = 1;
    char address[56];
    if (s->n_conns >= s->limits.max_connections) {
        sv_close(fd);
        return;
    }
    if (s->n_pre >= s->limits.max_preauth)
        ipc_conn_close(s->pre);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    address_text(sa, address, sizeof address);
    int r = ipc_conn_new(s, fd, address);
    if (r < 0) {
        sv_log_debug("ipc %s: connection refused: %s", address, strerror(-r));
        sv_close(fd);
    }
}

static int on_accept(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)src, (void)revents;
    struct ipc_server *s = userdata;
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        struct sockaddr_storage sa = { 0 };
        socklen_t len = sizeof sa;
        int c = accept4(fd, (struct sockaddr *)&sa, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (c >= 0) {
            accepted(s, c, &sa);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            accept_pause(s);
        if (errno != EINTR && errno != ECONNABORTED)
            break;
    }
    return 0;
}

/* ---- Deadlines: one timer a server; it is armed for the earliest ---- */

void ipc_server_wake_at(struct ipc_server *s, int64_t at_ms)
{
    if (at_ms >= s->wake_ms)
        return;
    s->wake_ms = at_ms;
    (void)sd_event_source_set_time(s->timer, (uint64_t)SV_MAX(at_ms, 0) * 1000);
    (void)sd_event_source_set_enabled(s->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *src, uint64_t usec, void *userdata)
{
    (void)src, (void)usec;
    struct ipc_server *s = userdata;
    struct ipc_conn *c, *tmp;
    int64_t now = sv_now_ms(), next = INT64_MAX;
    s->wake_ms = INT64_MAX;
    if (s->resume_ms && s->resume_ms <= now)
        accept_resume(s);
    else if (s->resume_ms)
        next = s->resume_ms;
    DL_FOREACH_SAFE(s->conns, c, tmp) {
        int64_t at = ipc_conn_deadline(c);
        if (at <= now) {
            sv_log_debug("ipc %s: closed: nothing came or went in time", c->address);
            ipc_conn_close(c);
        } else {
            next = SV_MIN(next, at);
        }
    }
    if (next != INT64_MAX)
        ipc_server_wake_at(s, next);
    return 0;
}

/* ---- Connections with something to send or to go on with ---- */

void ipc_server_mark_dirty(struct ipc_conn *c)
{
    struct ipc_server *s = c->server;
    if (!s || c->in_dirty || c->busy)
        return;
    c->in_dirty = true;
    DL_APPEND2(s->dirty, c, dirty_prev, dirty_next);
    (void)sd_event_source_set_enabled(s->flush, SD_EVENT_ONESHOT);
}

static int on_flush(sd_event_source *src, void *userdata)
{
    (void)src;
    struct ipc_server *s = userdata;
    /* A handler that runs inside may free the server or make a connection dirty again: take one at
     * a time, and give the loop its turn between. */
    struct ipc_conn *c = s->dirty;
    if (!c)
        return 0;
    DL_DELETE2(s->dirty, c, dirty_prev, dirty_next);
    c->in_dirty = false;
    if (s->dirty)
        (void)sd_event_source_set_enabled(s->flush, SD_EVENT_ONESHOT);
    ipc_conn_settle(c);
    return 0;
}

/* ---- Life ---- */

static int listen_on(const struct addrinfo *ai, struct ipc_server *s)
{
    static const int one = 1;
    _cleanup_close_ int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    struct sockaddr_storage sa = { 0 };
    socklen_t len = sizeof sa;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
        bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, LISTEN_BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
        return -errno;
    s->port = ntohs(sa.ss_family == AF_INET ? ((struct sockaddr_in *)&sa)->sin_port
                                            : ((struct sockaddr_in6 *)&sa)->sin6_port);
    s->fd = sv_take_fd(&fd);
    return 0;
}

static int server_listen(struct ipc_server *s, struct sv_error *err)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_PASSIVE | AI_NUMERICSERV }, *list = NULL;
    const char *host = s->cfg.host ? s->cfg.host : "127.0.0.1";
    char port[8];
    snprintf(port, sizeof port, "%u", s->cfg.port);
    int r = getaddrinfo(host, port, &hints, &list);
    if (r != 0)
        return sv_error_set(err, -EADDRNOTAVAIL, "%s:%u: cannot listen: %s", host, s->cfg.port,
                            gai_strerror(r));
    r = -EADDRNOTAVAIL;
    for (const struct addrinfo *ai = list; ai && r < 0; ai = ai->ai_next)
        r = listen_on(ai, s);
    freeaddrinfo(list);
    if (r < 0)
        return sv_error_errno(err, r, "%s:%u: cannot listen", host, s->cfg.port);
    return 0;
}

static int server_sources(struct ipc_server *s)
{
    int r = sd_event_add_io(s->event, &s->listen, s->fd, EPOLLIN, on_accept, s);
    if (r >= 0)
        r = sd_event_add_time(s->event, &s->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_add_defer(s->event, &s->flush, on_flush, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->flush, SD_EVENT_OFF);
    return r;
}

int ipc_server_new(sd_event *event, const struct ipc_server_config *cfg, struct ipc_server **ret,
                   struct sv_error *err)
{
    struct ipc_server *s = calloc(1, sizeof *s);
    if (!s)
        return sv_error_set(err, -ENOMEM, "out of memory");
    s->fd = -1;
    s->event = sd_event_ref(event);
    s->cfg = *cfg;
    s->limits = cfg->limits;
    s->wake_ms = INT64_MAX;
    limits_default(&s->limits);
    s->scratch = malloc(IPC_READ_CHUNK);
    int r = s->scratch ? server_listen(s, err) : sv_error_set(err, -ENOMEM, "out of memory");
    if (r >= 0) {
        r = server_sources(s);
        if (r < 0)
            sv_error_errno(err, r, "event loop");
    }
    if (r < 0) {
        ipc_server_free(s);
        return r;
    }
    s->cfg.host = NULL; /* not ours to keep */
    *ret = s;
    return 0;
}

struct ipc_server *ipc_server_free(struct ipc_server *s)
{
    if (!s)
        return NULL;
    s->resume_ms = 0;
    while (s->conns)
        ipc_conn_close(s->conns);
    sd_event_source_disable_unref(s->listen);
    sd_event_source_disable_unref(s->timer);
    sd_event_source_disable_unref(s->flush);
    sv_close(s->fd);
    sd_event_unref(s->event);
    free(s->scratch);
    free(s);
    return NULL;
}

uint16_t ipc_server_port(const struct ipc_server *s)
{
    return s->port;
}

size_t ipc_server_connections(const struct ipc_server *s)
{
    return s->n_conns;
}
