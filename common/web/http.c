/* HTTP server: libmicrohttpd's own epoll set is one descriptor in the daemon's event loop, its next
 * deadline one timer. One run of libmicrohttpd serves every ready connection, so requests take
 * turns: what exceeds a turn is suspended, and its handler is called in a later one, one request of
 * each client address after the other (http-share.h).
 *
 * Hostile: everything a client sends: connections, header bytes, body bytes and idle time are
 * bounded here; a NUL encoded in the URL as %00 is rejected, because it would truncate the path for
 * the handler. */
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
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/str.h"
#include "common/web/http-answer.h"
#include "common/web/http-filters.h"
#include "common/web/http-listen.h"
#include "common/web/http-share.h"
#include "common/web/http-stream.h"

#define CONNECTION_MEMORY ((size_t)32 << 10) /* request line and headers, and one send buffer */
#define IDLE_TIMEOUT_S 30u
#define TURN_MS 2                    /* time slice of libmicrohttpd per run of the loop */
#define TURN_REQUESTS 16             /* handlers called per run */
#define TELL_MS 60000                /* between two warnings about refused connections */
#define BODY_MAX ((size_t)128 << 10) /* a REST submission, parsed in one handler: 10 ms */
#define DISCARD_MAX                                                                                \
    ((uint64_t)8 << 20) /* bytes read of an oversized body before the connection is closed */

struct sv_http {
    struct MHD_Daemon *daemon;
    sd_event_source *io, *timer;
    struct sv_http_stream *streams;
    sv_http_handler handler;
    void *userdata;
    const struct sv_http_filters *filters; /* NULL: none */
    struct http_exchange *suspended;
    struct http_shares shares;
    struct {
        int64_t begin_ms;
        unsigned requests;
    } turn;
    int64_t told_ms; /* last warning about a refused connection; 0: none */
    uint16_t port;
};

/* One request, from its first line to the end of its response. */
struct http_exchange {
    struct http_share *share; /* of the connection's address */
    struct http_waiting turn;
    struct sv_buf body; /* counted in the share, as is the answer */
    size_t answer;
    char *uri;
    struct http_stream_place place;
    struct sv_http_kept kept;
    uint64_t discarded;
    bool bad_uri, seen;
    unsigned refused;                 /* status because of the body; 0: none */
    struct MHD_Connection *suspended; /* in the server's list */
    struct http_exchange *prev, *next;
};

/* After resuming a connection: libmicrohttpd runs from the loop, never from within its
 * callbacks. */
static void kick(void *server)
{
    struct sv_http *h = server;

    (void)sd_event_source_set_time_relative(h->timer, 0);
    (void)sd_event_source_set_enabled(h->timer,
                                      SD_EVENT_ONESHOT); /* it would run later, ignoring */
}

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

static void *on_uri(void *data, const char *uri, struct MHD_Connection *conn)
{
    struct sv_http *h = data;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct http_exchange *r = info && info->socket_context ? calloc(1, sizeof(*r)) : NULL;

    if (!r)
        return NULL;
    r->share = info->socket_context;
    r->turn.conn = conn;
    r->uri = strdup(uri);
    if (!r->uri) {
        free(r);
        return NULL;
    }
    r->body = SV_BUF_INIT(BODY_MAX);
    r->place = (struct http_stream_place){
        .all = &h->streams, .kick = kick, .server = h, .filters = h->filters
    };
    r->bad_uri = *uri != '/' || strstr(uri, "%00");
    return r;
}

static void drop_body(struct sv_http *h, struct http_exchange *r)
{
    http_share_drop(&h->shares, r->share, HTTP_BODIES, r->body.len);
    sv_buf_free(&r->body);
}

static void drop_kept(struct sv_http_kept *k)
{
    if (k->data)
        k->free(SV_TAKE(k->data));
}

static void on_completed(void *data, struct MHD_Connection *conn, void **con_cls,
                         enum MHD_RequestTerminationCode why)
{
    struct http_exchange *r = *con_cls;
    struct sv_http *h = data;

    (void)conn;
    (void)why;
    if (r) {
        drop_kept(&r->kept);
        if (r->place.stream)
            sv_http_stream_gone(r->place.stream);
        drop_body(h, r);
        http_share_drop(&h->shares, r->share, HTTP_ANSWERS, r->answer);
        free(r->uri);
    }
    free(r);
    *con_cls = NULL;
}

static void _printf_(2, 0) on_mhd_log(void *data, const char *fmt, va_list ap)
{
    char text[256];

    (void)data;
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    text[strcspn(text, "\n")] = '\0';
    sv_log_debug("http: %s", text);
}

static bool method_allowed(const char *method)
{
    static const char *const allowed[] = { "GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS" };

    for (size_t i = 0; i < SV_ARRAY_LEN(allowed); i++)
        if (strcmp(method, allowed[i]) == 0)
            return true;
    return false;
}

/* Headers are complete. Queues an error response, or lets the body arrive. */
static enum MHD_Result on_headers(struct sv_http *h, struct MHD_Connection *conn,
                                  struct http_exchange *r, const char *method)
{
    const char *length = MHD_lookup_connection_value(conn, MHD_HEADER_KIND, "Content-Length");
    uint64_t n;

    r->seen = true;
    if (r->bad_uri)
        return http_answer_text(h->filters, conn, 400,
                                "the URL must start with '/' and hold no NUL\n");
    if (!method_allowed(method))
        return http_answer_text(h->filters, conn, 405,
                                "only GET, HEAD, PUT, POST, DELETE and OPTIONS are served\n");
    if (length && (sv_parse_u64(length, 0, UINT64_MAX, &n) < 0 || n > BODY_MAX))
        return http_answer_text(h->filters, conn, 413, "the body is larger than 128 KiB\n");
    return MHD_YES;
}

static int keep_body(struct sv_http *h, struct http_exchange *r, const char *data, size_t size)
{
    int e = http_share_hold(&h->shares, r->share, HTTP_BODIES, size);

    if (e < 0)
        return e;
    e = sv_buf_put(&r->body, data, size);
    if (e < 0)
        http_share_drop(&h->shares, r->share, HTTP_BODIES, size);
    return e;
}

static enum MHD_Result on_body(struct sv_http *h, struct http_exchange *r, const char *data,
                               size_t *size)
{
    int e = r->refused ? 0 : keep_body(h, r, data, *size);

    if (e < 0) {
        drop_body(h, r);
        r->refused = e == -EBUSY ? 503 : 413;
    }
    if (r->refused) {
        r->discarded += *size;
        if (r->discarded > DISCARD_MAX)
            return MHD_NO;
    }
    *size = 0;
    return MHD_YES;
}

/* ---- Turns ---- */

static bool turn_is_over(const struct sv_http *h)
{
    return h->turn.requests >= TURN_REQUESTS || sv_now_ms() - h->turn.begin_ms >= TURN_MS;
}

/* True: suspended until a later turn. */
static bool wait_for_turn(struct sv_http *h, struct MHD_Connection *conn, struct http_exchange *r)
{
    if (!turn_is_over(h) && (r->turn.called || !h->shares.turns)) {
        h->turn.requests++;
        r->turn.called = false;
        return false;
    }
    http_share_wait(&h->shares, r->share, &r->turn, r->turn.called);
    MHD_suspend_connection(conn);
    return true;
}

/* libmicrohttpd's next run calls on_request again for these. */
static void call_next(struct sv_http *h, unsigned n)
{
    for (struct http_waiting *w; n > 0 && (w = http_share_next(&h->shares)); n--) {
        w->called = true;
        MHD_resume_connection(w->conn);
    }
}

/* ---- Requests that wait for sv_http_retry ---- */

static void suspend(struct sv_http *h, struct MHD_Connection *conn, struct http_exchange *r)
{
    r->suspended = conn;
    DL_APPEND(h->suspended, r);
    MHD_suspend_connection(conn);
}

static void resume(struct sv_http *h)
{
    while (h->suspended) {
        struct http_exchange *r = h->suspended;

        DL_DELETE(h->suspended, r);
        MHD_resume_connection(SV_TAKE(r->suspended));
    }
}

/* libmicrohttpd calls on_request again from its next run, which its epoll set does not announce. */
void sv_http_retry(struct sv_http *h)
{
    int r;

    if (!h || !h->suspended)
        return;
    resume(h);
    r = sd_event_source_set_time_relative(h->timer, 0);
    if (r >= 0)
        r = sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT);
    if (r < 0)
        sv_log_err("http: port %u: timer: %s", h->port, strerrordesc_np(-r));
}

/* ---- Requests ---- */

static bool may_pass(const struct sv_http *h, struct MHD_Connection *conn, const char *method)
{
    const struct sv_http_filters *f = h->filters;

    return !f || !f->csrf ||
           sv_http_filters_pass(f, method,
                                MHD_lookup_connection_value(conn, MHD_HEADER_KIND, "User-Agent"),
                                MHD_lookup_connection_value(conn, MHD_HEADER_KIND, f->csrf_header));
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **con_cls)
{
    struct sv_http *h = data;
    struct http_exchange *r = *con_cls;
    struct sv_http_response a = { .status = 404 };
    struct sv_http_request q;
    int result;

    (void)version;
    if (!r)
        return MHD_NO;
    if (!r->seen)
        return on_headers(h, conn, r, method);
    if (r->place.stream)
        return sv_http_stream_answer(r->place.stream);
    if (*upload_size)
        return on_body(h, r, upload, upload_size);
    if (r->refused)
        return http_answer_text(h->filters, conn, r->refused,
                                r->refused == 413
                                    ? "the body is larger than 128 KiB\n"
                                    : "too many bodies of requests are held: try again later\n");
    if (!may_pass(h, conn, method))
        return http_answer_text(h->filters, conn, 400,
                                "Missing Required Header for CSRF Vulnerability Protection\n");
    if (strcmp(method, "OPTIONS") == 0)
        return http_answer_options(h->filters, conn);
    if (wait_for_turn(h, conn, r))
        return MHD_YES;
    q = (struct sv_http_request){
        .method = method,
        .path = url,
        .uri = r->uri,
        .place = &r->place,
        .kept = &r->kept,
        .body = r->body.data,
        .body_len = r->body.len,
        .conn = conn,
    };
    result = h->handler(&q, &a, h->userdata);
    if (result == -EAGAIN) {
        http_answer_drop(&a);
        suspend(h, conn, r);
        return MHD_YES;
    }
    drop_kept(&r->kept);
    if (result == SV_HTTP_LATER)
        return sv_http_stream_answer(r->place.stream);
    drop_body(h, r);
    if (result < 0) {
        http_answer_drop(&a);
        return http_answer_incident(h->filters, conn, method, url, result);
    }
    if (a.body && http_share_hold(&h->shares, r->share, HTTP_ANSWERS, a.body_len) < 0) {
        http_answer_drop(&a);
        return http_answer_text(h->filters, conn, 503,
                                "too many answers wait to be read: try again later\n");
    }
    r->answer = a.body ? a.body_len : 0;
    return http_answer_send(h->filters, conn, &a);
}

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
        call_next(h, TURN_REQUESTS - h->turn.requests);
        if (MHD_run(h->daemon) != MHD_YES) {
            sv_log_err("http: port %u: libmicrohttpd failed to run", h->port);
            break;
        }
    } while (is_ready(h) && !turn_is_over(h));
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
                     (fd < 0 ? MHD_USE_NO_LISTEN_SOCKET : 0);

    return MHD_start_daemon(
        flags, 0, on_accept, h, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_mhd_log, NULL,
        MHD_OPTION_CONNECTION_LIMIT, HTTP_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        IDLE_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY,
        MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_URI_LOG_CALLBACK, on_uri, h,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, h, MHD_OPTION_STRICT_FOR_CLIENT, 1,
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

static int new_server(sd_event *event, int fd, uint16_t port, sv_http_handler handler,
                      void *userdata, struct sv_http **ret, struct sv_error *err)
{
    struct sv_http *h = calloc(1, sizeof(*h));
    int r;

    if (!h) {
        (void)sv_close(fd);
        return sv_error_set(err, -ENOMEM, "http: out of memory");
    }
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

int sv_http_new_on(sd_event *event, int listening, sv_http_handler handler, void *userdata,
                   struct sv_http **ret, struct sv_error *err)
{
    _cleanup_close_ int fd = listening;
    uint16_t port;
    int r = http_listen_port(fd, &port, err);

    return r < 0 ? r : new_server(event, sv_take_fd(&fd), port, handler, userdata, ret, err);
}

int sv_http_new_fed(sd_event *event, uint16_t port, sv_http_handler handler, void *userdata,
                    struct sv_http **ret, struct sv_error *err)
{
    return new_server(event, -1, port, handler, userdata, ret, err);
}

void sv_http_set_filters(struct sv_http *h, const struct sv_http_filters *filters)
{
    h->filters = filters;
}

void sv_http_feed(struct sv_http *h, int fd, const struct sockaddr *from, socklen_t len)
{
    if (MHD_add_connection(h->daemon, fd, from, len) != MHD_YES)
        sv_log_debug("http: port %u: a connection is refused", h->port);
    kick(h);
}

int sv_http_new(sd_event *event, const char *host, uint16_t port, sv_http_handler handler,
                void *userdata, struct sv_http **ret, struct sv_error *err)
{
    int fd = http_listen(host, port, err);

    return fd < 0 ? fd : sv_http_new_on(event, fd, handler, userdata, ret, err);
}

struct sv_http *sv_http_free(struct sv_http *h)
{
    if (!h)
        return NULL;
    if (h->streams)
        sv_http_streams_abort(h->streams);
    h->io = sd_event_source_disable_unref(h->io);
    h->timer = sd_event_source_disable_unref(h->timer);
    resume(h); /* libmicrohttpd aborts if stopped with a suspended connection */
    call_next(h, UINT_MAX);
    if (h->daemon)
        MHD_stop_daemon(h->daemon);
    free(h);
    return NULL;
}

uint16_t sv_http_port(const struct sv_http *h)
{
    return h->port;
}
