/* HTTP server: libmicrohttpd's own epoll set is one descriptor in the daemon's event loop, its next
 * deadline one timer. One run of libmicrohttpd serves every ready connection, so requests take
 * turns (http-exchange.c).
 *
 * Hostile: everything a client sends: connections, header bytes and idle time are bounded here. */
#include "common/web/http.h"

#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/web/http-internal.h"
#include "common/web/http-listen.h"

#define SEND_MEMORY ((size_t)8 << 10) /* of a connection, beside its request line and headers */
#define IDLE_TIMEOUT_S 30u
#define TELL_MS 60000 /* between two warnings about refused connections */

/* ---- Connections ---- */

static void tell_refused(struct sv_http *h, const struct sockaddr *from)
{
    char text[INET6_ADDRSTRLEN] = "?";
    int64_t now = sv_now_ms();

    if (h->told_ms && now - h->told_ms < TELL_MS)
        return;
    h->told_ms = now;
    (void)getnameinfo(from,
                      from->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                  : sizeof(struct sockaddr_in),
                      text, sizeof(text), NULL, 0, NI_NUMERICHOST); /* ignoring */
    sv_log_warning("http: port %u: refusing connections of %s, which has as many as one client may "
                   "have (%u; %u of the loopback)",
                   h->port, text, HTTP_CONNECTIONS_OF_ADDRESS, HTTP_CONNECTIONS_OF_LOOPBACK);
}

static enum MHD_Result on_accept(void *data, const struct sockaddr *from, socklen_t len)
{
    struct sv_http *h = data;

    (void)len;
    if (http_share_has_room(&h->shares, from))
        return MHD_YES;
    tell_refused(h, from);
    return MHD_NO;
}

static void on_connection(void *data, struct MHD_Connection *conn, void **share,
                          enum MHD_ConnectionNotificationCode what)
{
    struct sv_http *h = data;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *share = info ? http_share_join(&h->shares, info->client_addr) : NULL;
    else if (*share)
        http_share_leave(&h->shares, SV_TAKE(*share));
}

static void _printf_(2, 0) on_mhd_log(void *data, const char *fmt, va_list ap)
{
    char text[256];

    (void)data;
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    text[strcspn(text, "\n")] = '\0';
    sv_log_debug("http: %s", text);
}

/* ---- The loop ---- */

/* Arms the timer for libmicrohttpd's next deadline. */
static int arm_timer(struct sv_http *h)
{
    MHD_UNSIGNED_LONG_LONG ms;
    int r;

    if (h->shares.turns)
        ms = 0;
    else if (MHD_get_timeout(h->daemon, &ms) != MHD_YES)
        return sd_event_source_set_enabled(h->timer, SD_EVENT_OFF);
    r = ms == 0 ? sd_event_source_set_time(h->timer, 0) /* without the timer's accuracy */
                : sd_event_source_set_time_relative(h->timer, SV_MIN(ms, 3600000u) * 1000);
    if (r < 0)
        return r;
    return sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT);
}

static bool is_ready(struct sv_http *h)
{
    MHD_UNSIGNED_LONG_LONG ms;

    return h->shares.turns || (MHD_get_timeout(h->daemon, &ms) == MHD_YES && ms == 0);
}

/* In each run of libmicrohttpd a connection sends one part of its answer, 128 KiB of a file. */
static int run(struct sv_http *h)
{
    h->turn.begin_ms = sv_now_ms();
    h->turn.requests = 0;
    do {
        http_call_next(h, HTTP_TURN_REQUESTS - h->turn.requests);
        if (MHD_run(h->daemon) != MHD_YES) {
            sv_log_err("http: port %u: libmicrohttpd failed to run", h->port);
            break;
        }
    } while (is_ready(h) && !http_turn_is_over(h));
    return arm_timer(h);
}

static int on_io(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)fd;
    (void)events;
    return run(userdata);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)usec;
    return run(userdata);
}

static int attach_to_loop(struct sv_http *h, sd_event *event)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    int r;

    if (!info)
        return -EOPNOTSUPP;
    r = sd_event_add_io(event, &h->io, info->epoll_fd, EPOLLIN, on_io, h);
    if (r < 0)
        return r;
    r = sd_event_add_time_relative(event, &h->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, h);
    if (r >= 0)
        r = sd_event_source_set_priority(h->io, SV_HTTP_PRIORITY);
    if (r >= 0)
        r = sd_event_source_set_priority(h->timer, SV_HTTP_PRIORITY);
    if (r < 0)
        return r;
    return arm_timer(h);
}

/* fd -1: none, connections come by sv_http_feed(). */
static struct MHD_Daemon *start_daemon(struct sv_http *h, int fd)
{
    unsigned flags = MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_ALLOW_UPGRADE | (fd < 0 ? MHD_USE_NO_LISTEN_SOCKET : 0);
    size_t memory =
        SEND_MEMORY + (h->gate && h->gate->head_max ? h->gate->head_max : HTTP_HEAD_MAX);

    return MHD_start_daemon(
        flags, 0, on_accept, h, http_exchange_run, h, MHD_OPTION_EXTERNAL_LOGGER, on_mhd_log, NULL,
        MHD_OPTION_CONNECTION_LIMIT, HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        IDLE_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, h, MHD_OPTION_URI_LOG_CALLBACK, http_exchange_new, h,
        MHD_OPTION_NOTIFY_COMPLETED, http_exchange_end, h, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        fd < 0 ? MHD_OPTION_END : MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_END);
}

/* Takes the socket when it succeeds. */
static int start(struct sv_http *h, sd_event *event, int fd, struct sv_error *err)
{
    int r;

    /* a client that goes must not end the daemon, whatever the library sends with */
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        sv_log_debug("http: cannot ignore SIGPIPE");
    h->daemon = start_daemon(h, fd);
    if (!h->daemon)
        return sv_error_set(err, -EIO, "http port %u: libmicrohttpd does not start", h->port);
    r = attach_to_loop(h, event);
    return r < 0 ? sv_error_errno(err, r, "http port %u: event loop", h->port) : 0;
}

static int new_server(sd_event *event, int fd, uint16_t port, const struct sv_http_gate *gate,
                      sv_http_handler handler, void *userdata, struct sv_http **ret,
                      struct sv_error *err)
{
    struct sv_http *h = calloc(1, sizeof(*h));
    int r;

    if (!h) {
        (void)sv_close(fd);
        return sv_error_set(err, -ENOMEM, "http: out of memory");
    }
    h->gate = gate;
    h->handler = handler;
    h->userdata = userdata;
    h->port = port;
    r = start(h, event, fd, err);
    if (r < 0) {
        if (!h->daemon) /* else MHD_stop_daemon closes it */
            (void)sv_close(fd);
        (void)sv_http_free(h);
        return r;
    }
    *ret = h;
    return 0;
}

int sv_http_new_on(sd_event *event, int listening, const struct sv_http_gate *gate,
                   sv_http_handler handler, void *userdata, struct sv_http **ret,
                   struct sv_error *err)
{
    _cleanup_close_ int fd = listening;
    uint16_t port;
    int r = http_listen_port(fd, &port, err);

    return r < 0 ? r : new_server(event, sv_take_fd(&fd), port, gate, handler, userdata, ret, err);
}

int sv_http_new_fed(sd_event *event, uint16_t port, const struct sv_http_gate *gate,
                    sv_http_handler handler, void *userdata, struct sv_http **ret,
                    struct sv_error *err)
{
    return new_server(event, -1, port, gate, handler, userdata, ret, err);
}

void sv_http_set_filters(struct sv_http *h, const struct sv_http_filters *filters)
{
    h->filters = filters;
}

void sv_http_set_body_max(struct sv_http *h, const char *prefix, size_t max)
{
    h->large_prefix = prefix;
    h->large_max = max;
}

void sv_http_feed(struct sv_http *h, int fd, const struct sockaddr *from, socklen_t len)
{
    if (MHD_add_connection(h->daemon, fd, from, len) != MHD_YES)
        sv_log_debug("http: port %u: a connection is refused", h->port);
    http_kick(h);
}

int sv_http_new(sd_event *event, const char *host, uint16_t port, sv_http_handler handler,
                void *userdata, struct sv_http **ret, struct sv_error *err)
{
    int fd = http_listen(host, port, err);

    return fd < 0 ? fd : sv_http_new_on(event, fd, NULL, handler, userdata, ret, err);
}

struct sv_http *sv_http_free(struct sv_http *h)
{
    if (!h)
        return NULL;
    if (h->streams)
        sv_http_streams_abort(h->streams);
    h->io = sd_event_source_disable_unref(h->io);
    h->timer = sd_event_source_disable_unref(h->timer);
    http_resume(h); /* libmicrohttpd aborts if stopped with a suspended connection */
    http_call_next(h, UINT_MAX);
    if (h->daemon)
        MHD_stop_daemon(h->daemon);
    free(h);
    return NULL;
}

uint16_t sv_http_port(const struct sv_http *h)
{
    return h->port;
}
