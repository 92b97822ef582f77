/* See https.h. The loop owns what sv_https_new() makes; after the start only the thread touches its
 * connections, and both meet at a pipe of arrivals and an eventfd that ends the thread.
 *
 * Hostile: clients. A client address has as many connections as with HTTP (http-share.h), counted
 * before the handshake; a handshake and a client that does not read have deadlines (relay.h). */
#include "common/web/https.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "common/tls/relay.h"
#include "common/tls/tls.h"
#include "common/web/http-share.h"
#include "common/web/http.h"

#define EVENTS 64          /* of one wait */
#define ACCEPTS 16         /* in one turn */
#define ARRIVALS 16        /* handed to the HTTP server in one event of the loop */
#define TICK_MS 1000       /* deadlines and files are looked at so often, with connections */
#define IDLE_TICK_MS 10000 /* and without; the default interval of ssl.server.stores.reload */
#define TELL_MS 60000      /* between two lines about failed handshakes or refused connections */

/* A connection that has been accepted by TLS; fits PIPE_BUF, so that it is written as a whole. */
struct arrival {
    int fd;
    socklen_t len;
    struct sockaddr_storage from;
};

struct peer;
struct end { /* what epoll names: one socket of a peer */
    struct peer *peer;
    enum sv_tls_side side;
    uint32_t events; /* watched; 0: not in the set */
};

struct peer {
    struct sv_tls_relay *relay;
    struct http_share *share;
    struct arrival arrival;
    struct end ends[SV_TLS_SIDES];
    bool over; /* to be freed at the end of the turn: events of it may follow */
    struct peer *prev, *next;
};

struct sv_https {
    struct sv_tls *keys;
    struct sv_http *http;
    sd_event_source *arrived;
    int arrivals[2]; /* pipe: the loop reads, the thread writes */
    int stop;        /* eventfd */
    pthread_t thread;
    bool started;
    /* the thread's */
    int epoll, listening;
    bool accepts; /* the listening socket is watched */
    struct http_shares shares;
    struct peer *peers;
    unsigned n;
    int64_t told_ms, ticked_ms;
};

/* ---- The thread ---- */

static void tell(struct sv_https *h, const char *what, const char *why)
{
    int64_t now = sv_now_ms();

    if (h->told_ms && now - h->told_ms < TELL_MS)
        return;
    h->told_ms = now;
    sv_log_warning("https: port %u: %s: %s; others are not logged for a minute",
                   sv_http_port(h->http), what, why);
}

static void watch_listening(struct sv_https *h, bool on)
{
    struct epoll_event e = { .events = on ? EPOLLIN : 0, .data.ptr = &h->listening };

    if (h->accepts != on && epoll_ctl(h->epoll, EPOLL_CTL_MOD, h->listening, &e) == 0)
        h->accepts = on;
}

static int watch(struct sv_https *h, struct end *end)
{
    uint32_t events = 0;
    int fd = sv_tls_relay_fd(end->peer->relay, end->side, &events);
    struct epoll_event e = { .events = events | EPOLLHUP, .data.ptr = end };
    int op = !end->events ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

    if (fd < 0 || e.events == end->events)
        return 0;
    if (epoll_ctl(h->epoll, op, fd, &e) < 0)
        return -errno;
    end->events = e.events;
    return 0;
}

/* Hands the server's end to the loop. */
static int hand_over(struct sv_https *h, const struct peer *p, int fd)
{
    struct arrival a = p->arrival;

    a.fd = fd;
    if (write(h->arrivals[1], &a, sizeof(a)) == (ssize_t)sizeof(a))
        return 0;
    (void)sv_close(fd);
    return -EBUSY;
}

static void step(struct sv_https *h, struct peer *p)
{
    const char *why = NULL;
    int fd = -1, r = sv_tls_relay_step(p->relay, &fd, &why);

    if (r > 0)
        r = hand_over(h, p, fd);
    if (r == -EPROTO && why)
        tell(h, "a handshake failed", why);
    for (int i = 0; r >= 0 && i < SV_TLS_SIDES; i++)
        r = watch(h, &p->ends[i]);
    p->over = r < 0;
}

static void on_end(struct sv_https *h, struct end *end, uint32_t events)
{
    struct peer *p = end->peer;
    uint32_t none;

    if (p->over)
        return;
    if (events & (EPOLLHUP | EPOLLERR)) {
        int fd = sv_tls_relay_fd(p->relay, end->side, &none);

        if (fd >= 0)
            (void)epoll_ctl(h->epoll, EPOLL_CTL_DEL, fd,
                            NULL); /* else it is seen again, ignoring */
        sv_tls_relay_hung_up(p->relay, end->side);
    }
    step(h, p);
}

static void free_peer(struct sv_https *h, struct peer *p)
{
    DL_DELETE(h->peers, p);
    h->n--;
    http_share_leave(&h->shares, p->share);
    (void)sv_tls_relay_free(p->relay); /* closes the sockets, which leave the set of epoll */
    free(p);
}

static void add_peer(struct sv_https *h, int fd, const struct sockaddr_storage *from, socklen_t len)
{
    struct peer *p = calloc(1, sizeof(*p));

    if (!p || sv_tls_relay_new(h->keys, fd, &p->relay) < 0) {
        if (!p)
            (void)sv_close(fd);
        free(p);
        tell(h, "a connection is refused", "out of memory");
        return;
    }
    p->share = http_share_join(&h->shares, (const struct sockaddr *)from);
    if (!p->share) {
        (void)sv_tls_relay_free(p->relay);
        free(p);
        return;
    }
    p->arrival = (struct arrival){ .fd = -1, .len = len, .from = *from };
    for (int i = 0; i < SV_TLS_SIDES; i++)
        p->ends[i] = (struct end){ .peer = p, .side = (enum sv_tls_side)i };
    DL_APPEND(h->peers, p);
    h->n++;
    p->over = watch(h, &p->ends[SV_TLS_CLIENT]) < 0;
}

static void accept_some(struct sv_https *h)
{
    for (int i = 0; i < ACCEPTS && h->n < HTTP_CONNECTIONS_MAX; i++) {
        struct sockaddr_storage from = { 0 };
        socklen_t len = sizeof(from);
        int fd =
            accept4(h->listening, (struct sockaddr *)&from, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0) {
            if (errno != EAGAIN)
                tell(h, "cannot accept", strerrordesc_np(errno));
            if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
                watch_listening(h, false); /* until the next tick */
            return;
        }
        if (http_share_has_room(&h->shares, (const struct sockaddr *)&from)) {
            add_peer(h, fd, &from, len);
        } else {
            (void)sv_close(fd);
            tell(h, "a connection is refused", "its client has as many as one may have");
        }
    }
    if (h->n >= HTTP_CONNECTIONS_MAX)
        watch_listening(h, false);
}

static void tick(struct sv_https *h)
{
    int64_t now = sv_now_ms();
    struct peer *p;

    sv_tls_tick(h->keys);
    DL_FOREACH (h->peers, p)
        p->over = p->over || sv_tls_relay_deadline(p->relay) <= now;
    watch_listening(h, h->n < HTTP_CONNECTIONS_MAX);
    h->ticked_ms = now;
}

static void *serve(void *data)
{
    struct sv_https *h = data;
    bool stopped = false;

    while (!stopped) {
        struct epoll_event events[EVENTS];
        struct peer *p, *next;
        int n =
            epoll_wait(h->epoll, events, EVENTS, h->n > 0 || !h->accepts ? TICK_MS : IDLE_TICK_MS);

        if (n <= 0 || sv_now_ms() - h->ticked_ms >= TICK_MS) /* first: new keys for who arrives */
            tick(h);
        for (int i = 0; i < n; i++) {
            void *what = events[i].data.ptr;

            if (what == &h->stop)
                stopped = true;
            else if (what == &h->listening)
                accept_some(h);
            else
                on_end(h, what, events[i].events);
        }
        DL_FOREACH_SAFE (h->peers, p, next)
            if (p->over)
                free_peer(h, p);
    }
    return NULL;
}

/* ---- The loop ---- */

static int on_arrival(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sv_https *h = userdata;
    struct arrival a;

    (void)s;
    (void)events;
    for (int i = 0; i < ARRIVALS && read(fd, &a, sizeof(a)) == (ssize_t)sizeof(a); i++)
        sv_http_feed(h->http, a.fd, (const struct sockaddr *)&a.from, a.len);
    return 0;
}

static int start_thread(struct sv_https *h)
{
    sigset_t all, old;
    int r;

    sigfillset(&all);
    r = -pthread_sigmask(SIG_SETMASK, &all, &old);
    if (r < 0)
        return r;
    r = -pthread_create(&h->thread, NULL, serve, h);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL); /* it was valid before, ignoring */
    if (r < 0)
        return r;
    h->started = true;
    (void)pthread_setname_np(h->thread, "https"); /* for people alone, ignoring */
    return 0;
}

static int set_up(struct sv_https *h, sd_event *event)
{
    struct epoll_event listening = { .events = EPOLLIN, .data.ptr = &h->listening },
                       stop = { .events = EPOLLIN, .data.ptr = &h->stop };
    int flags = fcntl(h->listening, F_GETFL), r;

    if (flags < 0 || fcntl(h->listening, F_SETFL, flags | O_NONBLOCK) < 0 ||
        pipe2(h->arrivals, O_CLOEXEC | O_NONBLOCK) < 0)
        return -errno;
    h->stop = eventfd(0, EFD_CLOEXEC);
    h->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (h->stop < 0 || h->epoll < 0 ||
        epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->listening, &listening) < 0 ||
        epoll_ctl(h->epoll, EPOLL_CTL_ADD, h->stop, &stop) < 0)
        return -errno;
    h->accepts = true;
    r = sd_event_add_io(event, &h->arrived, h->arrivals[0], EPOLLIN, on_arrival, h);
    if (r >= 0)
        r = sd_event_source_set_priority(h->arrived, SV_HTTP_PRIORITY);
    return r < 0 ? r : start_thread(h);
}

int sv_https_new(sd_event *event, int listening, struct sv_tls *keys, struct sv_http *http,
                 struct sv_https **ret, struct sv_error *err)
{
    struct sv_https *h = calloc(1, sizeof(*h));
    int r = h ? 0 : -ENOMEM;

    if (r == 0) {
        h->keys = keys;
        h->http = http;
        h->listening = listening;
        h->arrivals[0] = h->arrivals[1] = h->stop = h->epoll = -1;
        r = set_up(h, event);
    } else {
        (void)sv_close(listening);
        (void)sv_tls_free(keys);
    }
    if (r < 0) {
        (void)sv_https_free(h);
        return sv_error_errno(err, r, "https port %u", sv_http_port(http));
    }
    *ret = h;
    return 0;
}

/* Closes connections that the loop has not taken. */
static void drop_arrivals(struct sv_https *h)
{
    struct arrival a;

    while (h->arrivals[0] >= 0 && read(h->arrivals[0], &a, sizeof(a)) == (ssize_t)sizeof(a))
        (void)sv_close(a.fd);
}

struct sv_https *sv_https_free(struct sv_https *h)
{
    struct peer *p, *next;

    if (!h)
        return NULL;
    h->arrived = sd_event_source_disable_unref(h->arrived);
    if (h->started) {
        (void)eventfd_write(h->stop, 1);     /* one write fits, ignoring */
        (void)pthread_join(h->thread, NULL); /* it is joined once, ignoring */
    }
    DL_FOREACH_SAFE (h->peers, p, next)
        free_peer(h, p);
    drop_arrivals(h);
    (void)sv_close(h->arrivals[0]);
    (void)sv_close(h->arrivals[1]);
    (void)sv_close(h->stop);
    (void)sv_close(h->epoll);
    (void)sv_close(h->listening);
    (void)sv_tls_free(h->keys);
    free(h);
    return NULL;
}
