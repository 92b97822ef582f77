/* Hadoop IPC server: listening, accepting, deadlines. See ipc-server.h for its interface and
 * ipc-conn.h for its files. Hostile: every peer that can connect; accepting is bounded here, the
 * input of a connection in the other files. */
#include "wire/ipc/ipc-server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "wire/frame.h"
#include "wire/ipc/ipc-conn.h"
#include "wire/ipc/ipc-retry.h"

#define ACCEPT_BATCH 64     /* connections accepted before other sources are dispatched */
#define ACCEPT_RETRY_MS 250 /* after EMFILE, unless a connection closes earlier */
#define ACCEPT_CROWD_MS 5   /* with too many logins under way, unless one ends earlier */
#define BUSY_BATCH 4        /* connections of a batch after which more are likely ready by now */
#define TURN_US 2000        /* serving connections before other sources are dispatched */
#define QUICK_TURNS 8       /* one soon after the other, after which requests are gathered */
#define SLOW_TURNS 4        /* with hardly a request, after which they are not */

static void limits_default(struct ipc_limits *l, bool kerberos)
{
#define DEFAULT(field, value) l->field = l->field ? l->field : (value)
    DEFAULT(max_frame, IPC_FRAME_MAX);
    DEFAULT(max_frame_preauth, kerberos ? IPC_FRAME_KERBEROS_MAX : IPC_FRAME_PREAUTH_MAX);
    DEFAULT(max_connections, 10000);
    DEFAULT(max_preauth, 1024);
    DEFAULT(max_inflight_per_conn, 1000);
    DEFAULT(max_outq_per_conn, 16u << 20);
    DEFAULT(max_memory, (size_t)512 << 20);
    DEFAULT(header_ms, 30000);
    DEFAULT(handshake_ms, 30000);
    DEFAULT(patience_ms, 1000);
    DEFAULT(request_ms, 60000);
    DEFAULT(idle_ms, 120000);
    DEFAULT(write_ms, 60000);
    DEFAULT(max_per_address, 256);
    DEFAULT(crowd, 4000);
    DEFAULT(crowd_idle_ms, 20000);
    DEFAULT(backlog, 1024);
    DEFAULT(retry_entries, 4096);
    DEFAULT(retry_bytes, 16u << 20);
    DEFAULT(retry_ms, 600000);
#undef DEFAULT
}

/* ---- Accepting ---- */

static void accept_pause(struct ipc_server *s, int64_t ms)
{
    s->resume_ms = sv_now_ms() + ms;
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
        inet_ntop(AF_INET, &in->sin_addr, ip, sizeof(ip));
        snprintf(buf, size, "%s:%u", ip, ntohs(in->sin_port));
    } else {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)sa;
        inet_ntop(AF_INET6, &in6->sin6_addr, ip, sizeof(ip));
        snprintf(buf, size, "[%s]:%u", ip, ntohs(in6->sin6_port));
    }
}

/* Closes a connection if there are too many. -EUSERS: the new one is rejected instead. */
static int make_room(struct ipc_server *s, const struct sockaddr_storage *sa)
{
    struct ipc_conn *gives_way;
    int r = ipc_address_room(s, sa, &gives_way);
    if (r < 0 || !gives_way)
        return r;
    sv_log_debug("ipc %s: closed: the idlest connection of the address with the most",
                 gives_way->address);
    s->counters.dropped++;
    ipc_unproved_gave_way(s, gives_way);
    ipc_conn_close(gives_way);
    return 0;
}

/* Likewise if too many are not authenticated. */
static void make_login_room(struct ipc_server *s)
{
    struct ipc_conn *gives_way;
    if (ipc_unproved_room(s, &gives_way) < 0 || !gives_way) /* as before accept4(), ignoring */
        return;
    sv_log_debug("ipc %s: closed: its login waits for it the longest", gives_way->address);
    s->counters.dropped++;
    ipc_unproved_gave_way(s, gives_way);
    ipc_conn_close(gives_way);
}

/* -errno: the connection is rejected. */
static int accept_as(struct ipc_server *s, int fd, const struct sockaddr_storage *sa,
                     const char *address)
{
    static const int one = 1;
    int r = make_room(s, sa);
    if (r < 0)
        return r;
    make_login_room(s);
    struct ipc_address *from = ipc_address_get(s, sa);
    if (!from)
        return -ENOMEM;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    r = ipc_conn_new(s, fd, sa, address, from);
    if (r < 0)
        ipc_address_put(s, from);
    return r;
}

static void accepted(struct ipc_server *s, int fd, const struct sockaddr_storage *sa)
{
    char address[56];
    address_text(sa, address, sizeof(address));
    int r = accept_as(s, fd, sa, address);
    if (r >= 0) {
        if (s->n_conns > s->limits.crowd) /* deadlines are shorter now */
            ipc_server_wake_at(s, sv_now_ms() + s->limits.crowd_idle_ms / 4);
        return;
    }
    s->counters.dropped++;
    sv_log_debug("ipc %s: connection refused: %s", address, strerror(-r));
    sv_close(fd);
}

static int on_accept(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)src, (void)revents;
    struct ipc_server *s = userdata;
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        struct sockaddr_storage sa = { 0 };
        socklen_t len = sizeof(sa);
        struct ipc_conn *gives_way;
        if (ipc_unproved_room(s, &gives_way) < 0) { /* newcomers wait in the kernel's queue */
            if (i == 0)                             /* there are some */
                accept_pause(s, ACCEPT_CROWD_MS);
            break;
        }
        int c = accept4(fd, (struct sockaddr *)&sa, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (c >= 0) {
            accepted(s, c, &sa);
            continue;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            accept_pause(s, ACCEPT_RETRY_MS);
        if (errno != EINTR && errno != ECONNABORTED)
            break;
    }
    return 0;
}

/* ---- Input and output: connections are in an epoll set of their own ----
 *
 * sd-event calls epoll_wait before each source that it dispatches and walks all ready sources each
 * time: with 1,000 busy connections as sources of their own, a call took ten times as long. */

int64_t ipc_now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void batch_next(int epoll, struct ipc_batch *b)
{
    b->at = 0;
    b->n = SV_MAX(epoll_wait(epoll, b->ready, IPC_BATCH, 0), 0);
}

/* Some of those that are not authenticated; the others are still ready. */
static void serve_logins(struct ipc_server *s, struct ipc_batch *b)
{
    b->n_logins = SV_MAX(epoll_wait(s->logins, b->logins, IPC_LOGINS, 0), 0);
    for (int i = 0; i < b->n_logins && !b->gone; i++)
        if (b->logins[i].data.ptr)
            ipc_conn_io(b->logins[i].data.ptr, b->logins[i].events);
    b->n_logins = 0;
}

/* Connections left at the end of the time slice come first in the next: they are still ready, so it
 * follows soon. */
static void serve_batch(struct ipc_server *s, struct ipc_batch *b, int64_t end)
{
    while (b->at < b->n && !b->gone) {
        struct epoll_event e = b->ready[b->at++];
        if (e.data.ptr == s)
            serve_logins(s, b);
        else if (e.data.ptr)
            ipc_conn_io(e.data.ptr, e.events);
        if (ipc_now_us() >= end)
            break;
    }
}

/* A busy server of the first priority continues with the next batch: a turn of the loop costs as
 * much as a call. False: a handler has freed the server. */
static bool serve_turn(struct ipc_server *s, int *ret_served)
{
    struct ipc_batch *b = s->batch;
    int64_t end = ipc_now_us() + TURN_US;
    int fd = s->epoll;
    *ret_served = 0;
    b->busy = true;
    do {
        if (b->at == b->n)
            batch_next(fd, b);
        *ret_served += b->n - b->at;
        serve_batch(s, b, end);
    } while (b->n >= BUSY_BATCH && !b->gone && ipc_now_us() < end && s->cfg.priority <= 0);
    b->busy = false;
    if (!b->gone)
        return true;
    free(b);
    return false;
}

/* ---- Gathering ----
 *
 * Thousands of peers that each send occasional requests wake the daemon for each of them, and a
 * wake-up costs as much as a call. If turns follow each other quickly, the server therefore polls
 * its connections every gather_us, like interrupt coalescing in network drivers, until hardly any
 * is ready. */

/* Arms the timer, which replaces the source; on an error the source remains enabled. */
static void gather_next(struct ipc_server *s)
{
    int64_t wait = s->batch->at < s->batch->n ? 0 : s->cfg.gather_us;
    int r = sd_event_source_set_time(s->gather, (uint64_t)(ipc_now_us() + wait));
    if (r >= 0)
        r = sd_event_source_set_enabled(s->gather, SD_EVENT_ONESHOT);
    /* If it remains enabled, it serves the same connections, ignoring. */
    (void)sd_event_source_set_enabled(s->io, r < 0 ? SD_EVENT_ON : SD_EVENT_OFF);
}

static int on_gather(sd_event_source *src, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)src, (void)usec;
    struct ipc_server *s = userdata;
    int served;
    if (!serve_turn(s, &served))
        return 0;
    s->turn_end_us = ipc_now_us();
    s->slow_turns = served > 1 ? 0 : s->slow_turns + 1;
    if (s->slow_turns == SLOW_TURNS)
        return sd_event_source_set_enabled(s->io, SD_EVENT_ON);
    gather_next(s);
    return 0;
}

static int on_ready(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)src, (void)fd, (void)revents;
    struct ipc_server *s = userdata;
    int served;
    int64_t idle_us = s->cfg.gather_us ? ipc_now_us() - s->turn_end_us : 0;
    if (!serve_turn(s, &served) || !s->cfg.gather_us)
        return 0;
    s->quick_turns = idle_us < s->cfg.gather_us / 2 ? s->quick_turns + 1 : 0;
    s->turn_end_us = ipc_now_us();
    if (s->quick_turns < QUICK_TURNS)
        return 0;
    s->quick_turns = s->slow_turns = 0;
    gather_next(s);
    return 0;
}

/* ---- Deadlines: one timer per server, armed for the earliest ---- */

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
    SV_LOOP_HANDLER();
    (void)src, (void)usec;
    struct ipc_server *s = userdata;
    struct ipc_conn *c, *tmp;
    int64_t now = sv_now_ms(), next = INT64_MAX;
    s->wake_ms = INT64_MAX;
    if (s->resume_ms && s->resume_ms <= now)
        accept_resume(s);
    else if (s->resume_ms)
        next = s->resume_ms;
    DL_FOREACH_SAFE (s->conns, c, tmp) {
        int64_t at = ipc_conn_deadline(c);
        if (at <= now) {
            sv_log_debug("ipc %s: closed: timed out", c->address);
            ipc_conn_close(c);
        } else {
            next = SV_MIN(next, at);
        }
    }
    if (next != INT64_MAX)
        ipc_server_wake_at(s, next);
    return 0;
}

/* ---- Connections with pending output or held-back input ---- */

void ipc_server_mark_dirty(struct ipc_conn *c)
{
    struct ipc_server *s = c->server;
    if (!s || c->in_dirty || c->busy)
        return;
    c->in_dirty = true;
    DL_APPEND2(s->dirty, c, dirty_prev, dirty_next);
    (void)sd_event_source_set_enabled(s->flush, SD_EVENT_ONESHOT);
}

void ipc_server_ask_again(struct ipc_server *s)
{
    struct ipc_conn *c, *next;

    DL_FOREACH_SAFE2(s->pre, c, next, pre_next)
    if (c->asks)
        ipc_context_ask_again(c);
    else
        ipc_auth_ask_again(c);
}

void ipc_server_ask_again_token(struct ipc_server *s,
                                bool (*concerns)(const uint8_t *id, size_t id_len, void *userdata),
                                void *userdata)
{
    struct ipc_conn *c, *next;

    DL_FOREACH_SAFE2(s->pre, c, next, pre_next)
    {
        size_t len;
        const uint8_t *id = c->sasl ? ipc_sasl_server_token_id(c->sasl, &len) : NULL;

        if (id && concerns(id, len, userdata))
            ipc_auth_ask_again(c);
    }
}

static int on_flush(sd_event_source *src, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)src;
    struct ipc_server *s = userdata;
    /* A handler may free the server or mark a connection dirty again: handle one at a time, and
     * return to the loop in between. */
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

/* ---- Arenas of requests: most requests are small and end before the next begins ---- */

struct sv_arena *ipc_server_arena(struct ipc_server *s, size_t max_bytes)
{
    if (s->n_free_arenas > 0 && sv_arena_reset(s->free_arenas[s->n_free_arenas - 1], max_bytes))
        return s->free_arenas[--s->n_free_arenas];
    return sv_arena_new(max_bytes);
}

void ipc_server_arena_done(struct ipc_server *s, struct sv_arena *a)
{
    if (s && s->n_free_arenas < IPC_FREE_ARENAS && sv_arena_reset(a, 0))
        s->free_arenas[s->n_free_arenas++] = a;
    else
        sv_arena_free(a);
}

/* ---- Life ---- */

/* Takes ownership of the socket. */
static int use_socket(int *fd, struct ipc_server *s)
{
    struct sockaddr_storage sa = { 0 };
    socklen_t len = sizeof(sa);
    if (getsockname(*fd, (struct sockaddr *)&sa, &len) < 0)
        return -errno;
    s->port = ntohs(sa.ss_family == AF_INET ? ((struct sockaddr_in *)&sa)->sin_port
                                            : ((struct sockaddr_in6 *)&sa)->sin6_port);
    s->fd = sv_take_fd(fd);
    return 0;
}

static int listen_on(const struct addrinfo *ai, struct ipc_server *s)
{
    static const int one = 1;
    _cleanup_close_ int fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
        bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, s->limits.backlog) < 0)
        return -errno;
    return use_socket(&fd, s);
}

static int server_listen(struct ipc_server *s, struct sv_error *err)
{
    struct addrinfo hints = { .ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_PASSIVE | AI_NUMERICSERV },
                    *list = NULL;
    const char *host = s->cfg.host ? s->cfg.host : "127.0.0.1";
    char port[8];
    int r;
    if (s->cfg.listen_fd && *s->cfg.listen_fd >= 0) {
        r = use_socket(s->cfg.listen_fd, s);
        return r < 0 ? sv_error_errno(err, r, "listening socket") : 0;
    }
    snprintf(port, sizeof(port), "%u", s->cfg.port);
    r = getaddrinfo(host, port, &hints, &list);
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
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->logins = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll < 0 || s->logins < 0 ||
        epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->logins,
                  &(struct epoll_event){ EPOLLIN, { .ptr = s } }) < 0)
        return -errno;
    int r = sd_event_add_io(s->event, &s->listen, s->fd, EPOLLIN, on_accept, s);
    if (r >= 0)
        r = sd_event_add_io(s->event, &s->io, s->epoll, EPOLLIN, on_ready, s);
    if (r >= 0)
        r = sd_event_add_time(s->event, &s->timer, CLOCK_BOOTTIME, 0, 1000, on_timer, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->timer, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_add_defer(s->event, &s->flush, on_flush, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->flush, SD_EVENT_OFF);
    if (r >= 0)
        r = sd_event_add_time(s->event, &s->gather, CLOCK_MONOTONIC, 0, 1, on_gather, s);
    if (r >= 0)
        r = sd_event_source_set_enabled(s->gather, SD_EVENT_OFF);
    sd_event_source *const all[] = { s->listen, s->io, s->timer, s->flush, s->gather };
    for (size_t i = 0; r >= 0 && s->cfg.priority && i < SV_ARRAY_LEN(all); i++)
        r = sd_event_source_set_priority(all[i], s->cfg.priority);
    return r;
}

/* Creates the retry cache, if a protocol needs one. */
static int server_retry(struct ipc_server *s)
{
    for (const struct ipc_protocol *const *p = s->cfg.protocols; p && *p && !s->retry; p++)
        if ((*p)->once && !(s->retry = ipc_retry_new(&s->limits)))
            return -ENOMEM;
    return 0;
}

int ipc_server_new(sd_event *event, const struct ipc_server_config *cfg, struct ipc_server **ret,
                   struct sv_error *err)
{
    struct ipc_server *s = calloc(1, sizeof(*s));
    if (!s)
        return sv_error_set(err, -ENOMEM, "out of memory");
    s->fd = s->epoll = s->logins = -1;
    s->event = sd_event_ref(event);
    s->cfg = *cfg;
    if (!s->cfg.auth_userdata)
        s->cfg.auth_userdata = s->cfg.userdata;
    s->limits = cfg->limits;
    s->wake_ms = INT64_MAX;
    limits_default(&s->limits, cfg->kerberos != NULL);
    s->patience_ms = s->limits.patience_ms;
    s->scratch = malloc(IPC_READ_CHUNK);
    s->batch = calloc(1, sizeof(*s->batch));
    int r = s->scratch && s->batch && ipc_times_open(s) >= 0 && server_retry(s) >= 0
                ? ipc_kerberos_open(s, err)
                : sv_error_set(err, -ENOMEM, "out of memory");
    if (r >= 0)
        r = server_listen(s, err);
    if (r >= 0) {
        r = server_sources(s);
        if (r < 0)
            sv_error_errno(err, r, "event loop");
    }
    if (r < 0) {
        ipc_server_free(s);
        return r;
    }
    s->cfg.host = NULL; /* the caller's, as is the next */
    s->cfg.listen_fd = NULL;
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
    if (s->batch && s->batch->busy)
        s->batch->gone = true; /* freed by on_ready */
    else
        free(s->batch);
    sd_event_source_disable_unref(s->listen);
    sd_event_source_disable_unref(s->io);
    sd_event_source_disable_unref(s->timer);
    sd_event_source_disable_unref(s->flush);
    sd_event_source_disable_unref(s->gather);
    sv_close(s->fd);
    sv_close(s->epoll);
    sv_close(s->logins);
    sd_event_unref(s->event);
    ipc_retry_free(s->retry);
    while (s->n_free_arenas > 0)
        sv_arena_free(s->free_arenas[--s->n_free_arenas]);
    free(s->service);
    free(s->service_host);
    free(s->scratch);
    free(s->times);
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

size_t ipc_server_memory(const struct ipc_server *s)
{
    return s->memory;
}

size_t ipc_server_open_calls(const struct ipc_server *s)
{
    return s->open_calls;
}

const struct sv_rpc_counters *ipc_server_counters(const struct ipc_server *s)
{
    return &s->counters;
}
