/* See server.h. Locks: `lock` guards the list of connections and the counts by address; a thread
 * holds it only to add or remove one. */
#include "shuffle/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uthash.h>
#include <utlist.h>

#include "common/address.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "shuffle/connection.h"
#include "shuffle/listen.h"
#include "shuffle/lookups.h"

#define ACCEPT_TURN 256
#define STACK_BYTES (256u << 10)
#define RESERVED_FDS 128
#define TELL_MS 60000 /* rate limit of repeated log lines */

struct address {
    struct in6_addr key; /* sv_address_network() */
    unsigned connections;
    unsigned handshakes; /* handshakes in progress */
    UT_hash_handle hh;
};

struct peer { /* one connection */
    struct shf_server *server;
    struct shf_connection *connection;
    int fd;                  /* of the connection, for epoll */
    struct address *address; /* NULL: refused */
    bool shaking;            /* counted in `handshakes` */
    /* Written before a thread returns the connection to epoll, read by the thread that takes it
     * next: orders the memory accesses of the two. */
    atomic_uint turns;
    struct shf_lookup lookup;
    struct peer *prev, *next;
};

struct shf_server {
    struct shf_service *service;
    int sockets[SHF_LISTEN_MAX];
    size_t n_sockets;
    int epoll; /* connections being served; without a pointer: `lookups` has a turn */
    struct shf_lookups *lookups;
    /* With TLS: connections waiting to start their handshake, and those in the middle of it. */
    int arriving, shaking;
    atomic_uint handshakes;
    unsigned max_connections;
    pthread_mutex_t lock;
    struct peer *peers;
    struct address *addresses;
    unsigned connections, refused;
    int64_t told_ms;           /* last log line about refused connections */
    int64_t told_handshake_ms; /* last log line about a failed handshake */
};

/* The configured limit, reduced to what the limit of open files allows. */
static unsigned connection_limit(const struct shf_conf *conf)
{
    struct rlimit l = { 1024, 1024 };
    unsigned wanted = conf->max_connections ? conf->max_connections : SHF_CONNECTIONS_MAX;
    rlim_t possible;

    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
        l.rlim_cur = l.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &l); /* on failure, fewer connections, ignoring */
        (void)getrlimit(RLIMIT_NOFILE, &l); /* ditto */
    }
    possible = l.rlim_cur > RESERVED_FDS + SHF_REFUSED_MAX
                   ? (l.rlim_cur - RESERVED_FDS - SHF_REFUSED_MAX) / (1 + conf->session_files)
                   : 16;
    if (conf->max_connections > possible)
        sv_log_warning("at most %llu connections, not %u: the limit of open files is %llu",
                       (unsigned long long)possible, wanted, (unsigned long long)l.rlim_cur);
    return (unsigned)SV_MIN((rlim_t)wanted, possible);
}

static int watch_lookups(struct shf_server *v)
{
    struct epoll_event e = { .events = EPOLLIN };
    int fd, r = shf_lookups_new(&v->lookups, &fd);

    return r == 0 && epoll_ctl(v->epoll, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : r;
}

int shf_server_new(struct shf_service *s, const int *fds, size_t n_fds, struct shf_server **ret,
                   struct sv_error *err)
{
    _cleanup_free_ struct shf_server *v = calloc(1, sizeof(*v));
    int r = v ? 0 : -ENOMEM;

    if (r == 0)
        r = -pthread_mutex_init(&v->lock, NULL);
    if (r < 0)
        return sv_error_errno(err, r, "server");
    v->service = s;
    r = shf_listen(&s->conf, fds, n_fds, v->sockets, &v->n_sockets, &s->port, err);
    if (r < 0)
        return r;
    v->epoll = epoll_create1(EPOLL_CLOEXEC);
    v->arriving = epoll_create1(EPOLL_CLOEXEC);
    v->shaking = epoll_create1(EPOLL_CLOEXEC);
    if (v->epoll < 0 || v->arriving < 0 || v->shaking < 0)
        return sv_error_errno(err, -errno, "epoll");
    r = watch_lookups(v);
    if (r < 0)
        return sv_error_errno(err, r, "server");
    v->max_connections = connection_limit(&s->conf);
    *ret = SV_TAKE(v);
    return 0;
}

size_t shf_server_sockets(const struct shf_server *v, int ret[SHF_LISTEN_MAX])
{
    memcpy(ret, v->sockets, v->n_sockets * sizeof(*ret));
    return v->n_sockets;
}

/* ---- connections ---- */

/* Counts a connection of the address; NULL: over a limit, refuse it. */
static struct address *admit(struct shf_server *v, const struct in6_addr *key)
{
    struct address *a;

    if (v->connections >= v->max_connections)
        return NULL;
    HASH_FIND(hh, v->addresses, key, sizeof(a->key), a);
    if (a && a->connections >= SHF_ADDRESS_CONNECTIONS_MAX)
        return NULL;
    if (!a) {
        a = calloc(1, sizeof(*a));
        if (!a)
            return NULL;
        a->key = *key;
        HASH_ADD(hh, v->addresses, key, sizeof(a->key), a);
    }
    a->connections++;
    v->connections++;
    return a;
}

static void discharge(struct shf_server *v, struct peer *p)
{
    struct address *a = p->address;

    if (p->shaking)
        v->handshakes--;
    if (!a) {
        v->refused--;
        return;
    }
    a->handshakes -= p->shaking;
    v->connections--;
    if (--a->connections == 0) {
        HASH_DEL(v->addresses, a);
        free(a);
    }
}

static void end_peer(struct peer *p)
{
    struct shf_server *v = p->server;

    pthread_mutex_lock(&v->lock);
    DL_DELETE(v->peers, p);
    discharge(v, p);
    pthread_mutex_unlock(&v->lock);
    (void)shf_connection_free(p->connection); /* close() removes it from the epoll set */
    free(p);
}

/* Arms epoll; from here on another thread may free the peer. */
static void watch(struct peer *p, int set, int operation, uint32_t events)
{
    struct epoll_event e = { .events = EPOLLONESHOT | events, .data.ptr = p };
    int fd = p->fd;

    (void)atomic_fetch_add(&p->turns, 1);
    if (epoll_ctl(set, operation, fd, &e) < 0)
        end_peer(p);
}

/* Returns a ready peer of the set; NULL: none, or another thread has it, or a lookup has its turn.
 */
static struct peer *take(int set, int timeout)
{
    struct epoll_event e;

    if (epoll_wait(set, &e, 1, timeout) <= 0)
        return NULL;
    struct peer *p = e.data.ptr;
    if (p)
        (void)atomic_load(&p->turns);
    return p;
}

static void tell_refused(struct shf_server *v, const char *why)
{
    int64_t now = sv_now_ms();

    if (v->told_ms && now - v->told_ms < TELL_MS)
        return;
    v->told_ms = now;
    sv_log_warning("refusing connections with 429: %s (%u connections of at most %u)", why,
                   v->connections, v->max_connections);
}

/* 0, or -errno: the peer was freed. */
static int add_peer(struct shf_server *v, int fd, const struct sockaddr *from)
{
    struct peer *p = calloc(1, sizeof(*p));
    struct in6_addr key = sv_address_network(from);

    if (!p) {
        (void)sv_close(fd);
        return -ENOMEM;
    }
    p->server = v;
    p->fd = fd;
    p->lookup.owner = p;
    pthread_mutex_lock(&v->lock);
    p->address = admit(v, &key);
    if (!p->address)
        tell_refused(v, v->connections < v->max_connections ? "too many of one address"
                                                            : "mapreduce.shuffle.max.connections");
    bool keep = p->address || v->refused < SHF_REFUSED_MAX;
    v->refused += keep && !p->address;
    if (keep)
        p->connection = shf_connection_new(v->service, fd, !p->address);
    else
        shf_connection_reject(v->service, fd);
    if (!p->connection) {
        if (keep)
            discharge(v, p);
        pthread_mutex_unlock(&v->lock);
        free(p);
        return -EBUSY;
    }
    DL_APPEND(v->peers, p);
    pthread_mutex_unlock(&v->lock);
    bool tls = v->service->tls != NULL;
    watch(p, tls ? v->arriving : v->epoll, EPOLL_CTL_ADD, p->address || tls ? EPOLLIN : EPOLLOUT);
    return 0;
}

void shf_server_accept(struct shf_server *v, int socket)
{
    for (int i = 0; i < ACCEPT_TURN; i++) {
        struct sockaddr_storage from = { 0 };
        socklen_t len = sizeof(from);
        int on = 1,
            fd = accept4(socket, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            return;
        /* As in Hadoop: detects vanished machines. */
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on)); /* ignoring */
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)); /* ignoring */
        (void)add_peer(v, fd, (struct sockaddr *)&from); /* it was closed, ignoring */
    }
}

unsigned shf_server_connections(struct shf_server *v)
{
    unsigned n;

    pthread_mutex_lock(&v->lock);
    n = v->connections;
    pthread_mutex_unlock(&v->lock);
    return n;
}

void shf_server_tick(struct shf_server *v)
{
    int64_t now = sv_now_ms();
    struct peer *p;

    pthread_mutex_lock(&v->lock);
    DL_FOREACH (v->peers, p)
        if (shf_connection_deadline(p->connection) <= now)
            shf_connection_abort(p->connection);
    pthread_mutex_unlock(&v->lock);
    sv_tls_tick(v->service->tls);
}

/* ---- handshakes ---- */

/* Called at the client's first bytes. False: its address has too many handshakes in progress. */
static bool count_handshake(struct peer *p)
{
    struct shf_server *v = p->server;
    struct address *a = p->address;

    pthread_mutex_lock(&v->lock);
    p->shaking = !a || a->handshakes < SHF_ADDRESS_HANDSHAKES_MAX;
    if (p->shaking) {
        v->handshakes++;
        if (a)
            a->handshakes++;
    }
    pthread_mutex_unlock(&v->lock);
    return p->shaking;
}

static void handshake_over(struct peer *p)
{
    struct shf_server *v = p->server;

    pthread_mutex_lock(&v->lock);
    v->handshakes--;
    if (p->address)
        p->address->handshakes--;
    p->shaking = false;
    pthread_mutex_unlock(&v->lock);
}

static void tell_handshake(struct shf_server *v, const char *why)
{
    int64_t now = sv_now_ms(), last;

    pthread_mutex_lock(&v->lock);
    last = v->told_handshake_ms;
    if (!last || now - last >= TELL_MS)
        v->told_handshake_ms = now;
    pthread_mutex_unlock(&v->lock);
    if (!last || now - last >= TELL_MS)
        sv_log_warning("TLS: a handshake failed: %s; others are not logged for a minute", why);
}

static void shake(struct peer *p)
{
    struct shf_server *v = p->server;
    const char *why = "too many of one address at once";
    uint32_t events = 0;
    bool first = !p->shaking;
    int r = first && !count_handshake(p) ? -EBUSY
                                         : shf_connection_handshake(p->connection, &events, &why);

    if (r == -EAGAIN && !first) {
        watch(p, v->shaking, EPOLL_CTL_MOD, events);
        return;
    }
    if (first && epoll_ctl(v->arriving, EPOLL_CTL_DEL, p->fd, NULL) < 0)
        r = -errno;
    if (r == 0 && !first && epoll_ctl(v->shaking, EPOLL_CTL_DEL, p->fd, NULL) < 0)
        r = -errno;
    if (r == -EAGAIN) {
        watch(p, v->shaking, EPOLL_CTL_ADD, events);
        return;
    }
    if (r < 0) {
        tell_handshake(v, why);
        end_peer(p);
        return;
    }
    handshake_over(p);
    watch(p, v->epoll, EPOLL_CTL_ADD, events);
}

/* Continues handshakes in progress first, then starts new ones within the limit. A thread that
 * finishes one checks for more. */
static void *shake_hands(void *userdata)
{
    struct shf_server *v = userdata;

    for (;;) {
        struct pollfd p[] = { { .fd = v->shaking, .events = POLLIN },
                              { .fd = v->handshakes < SHF_HANDSHAKES_MAX ? v->arriving : -1,
                                .events = POLLIN } };

        if (poll(p, SV_ARRAY_LEN(p), -1) <= 0)
            continue;
        for (size_t i = 0; i < SV_ARRAY_LEN(p); i++) {
            struct peer *one = p[i].revents ? take(p[i].fd, 0) : NULL;

            if (one)
                shake(one);
        }
    }
    return NULL;
}

/* ---- threads ---- */

struct worker {
    struct shf_server *server;
    char *buffer; /* NULL: sendfile is used */
};

/* Runs a peer that can go on, or one whose job has a turn to read an index. */
static void serve_one(const struct worker *w, struct peer *p, bool lookup)
{
    struct shf_server *v = w->server;
    uint32_t events = shf_connection_run(p->connection, w->buffer);

    if (lookup)
        shf_lookups_done(v->lookups, &p->lookup);
    if (events == SHF_LOOKUP) {
        if (shf_lookups_add(v->lookups, shf_connection_job(p->connection), &p->lookup) < 0)
            end_peer(p);
    } else if (events != 0) {
        watch(p, v->epoll, EPOLL_CTL_MOD, events);
    } else {
        end_peer(p);
    }
}

static void *serve(void *userdata)
{
    const struct worker *w = userdata;
    struct shf_server *v = w->server;

    for (;;) {
        struct peer *p = take(v->epoll, -1);
        struct shf_lookup *l = p ? NULL : shf_lookups_take(v->lookups);

        if (p || l)
            serve_one(w, p ? p : l->owner, l != NULL);
    }
    return NULL;
}

static int start_thread(void *(*run)(void *), void *userdata)
{
    pthread_attr_t attr;
    pthread_t thread;
    int r = -pthread_attr_init(&attr);

    if (r == 0)
        r = -pthread_attr_setstacksize(&attr, STACK_BYTES);
    if (r == 0)
        r = -pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    return r < 0 ? r : -pthread_create(&thread, &attr, run, userdata);
}

static int start_worker(struct shf_server *v)
{
    const struct shf_conf *conf = &v->service->conf;
    struct worker *w = malloc(sizeof(*w)); /* never freed */

    if (!w)
        return -ENOMEM;
    *w = (struct worker){ .server = v, .buffer = conf->sendfile ? NULL : malloc(conf->buffer) };
    return !conf->sendfile && !w->buffer ? -ENOMEM : start_thread(serve, w);
}

int shf_server_start(struct shf_server *v, struct sv_error *err)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned n = v->service->conf.threads;
    long shaking = SV_MIN(SV_MAX(processors / 4, 1), (long)SHF_HANDSHAKE_THREADS_MAX);
    int r = 0;

    if (n == 0)
        n = (unsigned)SV_MIN(SV_MAX(2 * processors, 4), (long)SHF_THREADS_MAX);
    for (unsigned i = 0; r == 0 && i < n; i++)
        r = start_worker(v);
    for (long i = 0; r == 0 && v->service->tls && i < shaking; i++)
        r = start_thread(shake_hands, v);
    return r < 0 ? sv_error_errno(err, r, "threads (mapreduce.shuffle.max.threads %u)", n) : 0;
}
