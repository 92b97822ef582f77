/* See server.h. Locks: `lock` guards the list of connections and the counts by address; a thread
 * holds it only to add or remove one. */
#include "shuffle/server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "shuffle/connection.h"

#define ACCEPT_TURN 256
#define STACK_BYTES (256u << 10)
#define RESERVED_FDS 128

struct address {
    uint8_t key[8]; /* IPv4: zeros and its four bytes; IPv6: its first eight */
    unsigned connections;
    UT_hash_handle hh;
};

struct peer { /* one connection */
    struct shf_server *server;
    struct shf_connection *connection;
    int fd;                  /* the connection's, for epoll */
    struct address *address; /* NULL: refused */
    /* Written before a thread gives the connection back to epoll, read by the thread that takes it:
     * the next thread sees all that the one before has done. */
    atomic_uint turns;
    struct peer *prev, *next;
};

struct shf_server {
    struct shf_service *service;
    int sockets[SHF_LISTEN_MAX];
    size_t n_sockets;
    int epoll;
    unsigned max_connections;
    pthread_mutex_t lock;
    struct peer *peers;
    struct address *addresses;
    unsigned connections, refused;
    int64_t told_ms; /* last line about refused connections */
};

/* ---- listening ---- */

static int listen_on(int family, uint16_t port, int backlog, int *ret, struct sv_error *err)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };
    const struct sockaddr *to =
        family == AF_INET6 ? (struct sockaddr *)&six : (struct sockaddr *)&four;
    socklen_t len = family == AF_INET6 ? sizeof six : sizeof four;
    int on = 1, off = 0;
    _cleanup_close_ int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0))
        return sv_error_errno(err, -errno, "port %u: socket options", port);
    if (bind(fd, to, len) < 0)
        return sv_error_errno(err, -errno, "mapreduce.shuffle.port %u", port);
    if (listen(fd, backlog) < 0)
        return sv_error_errno(err, -errno, "mapreduce.shuffle.port %u: listen", port);
    *ret = sv_take_fd(&fd);
    return 0;
}

static int adopt(struct shf_server *v, int fd, struct sv_error *err)
{
    int listens = 0;
    socklen_t len = sizeof listens;

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 || !listens)
        return sv_error_set(err, -EINVAL, "descriptor %d is not a listening socket", fd);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        return sv_error_errno(err, -errno, "descriptor %d", fd);
    v->sockets[v->n_sockets++] = fd;
    return 0;
}

static int port_of(int fd, uint16_t *ret)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } at = { 0 };
    socklen_t len = sizeof at;

    if (getsockname(fd, &at.any, &len) < 0)
        return -errno;
    if (at.any.sa_family != AF_INET && at.any.sa_family != AF_INET6)
        return -EAFNOSUPPORT;
    *ret = ntohs(at.any.sa_family == AF_INET ? at.four.sin_port : at.six.sin6_port);
    return 0;
}

/* As many as the configuration says, and as descriptors are there for. */
static unsigned connection_limit(const struct shf_conf *conf)
{
    struct rlimit l = { 1024, 1024 };
    unsigned wanted = conf->max_connections ? conf->max_connections : SHF_CONNECTIONS_MAX;
    rlim_t possible;

    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
        l.rlim_cur = l.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &l); /* then fewer connections, ignoring */
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

int shf_server_new(struct shf_service *s, const int *fds, size_t n_fds, struct shf_server **ret,
                   struct sv_error *err)
{
    _cleanup_free_ struct shf_server *v = calloc(1, sizeof *v);
    int r = v ? 0 : -ENOMEM;

    if (r == 0)
        r = -pthread_mutex_init(&v->lock, NULL);
    if (r < 0)
        return sv_error_errno(err, r, "server");
    v->service = s;
    for (size_t i = 0; i < SV_MIN(n_fds, (size_t)SHF_LISTEN_MAX); i++)
        if (adopt(v, fds[i], err) < 0)
            return err->code;
    if (v->n_sockets == 0) {
        r = listen_on(AF_INET6, s->conf.port, s->conf.backlog, &v->sockets[0], err);
        if (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL)
            r = listen_on(AF_INET, s->conf.port, s->conf.backlog, &v->sockets[0], err);
        if (r < 0)
            return r;
        v->n_sockets = 1;
    }
    r = port_of(v->sockets[0], &s->port);
    if (r < 0)
        return sv_error_errno(err, r, "listening socket");
    if (s->conf.port != 0 && s->port != s->conf.port) /* a mistake in a unit must not move a port */
        return sv_error_set(err, -EINVAL,
                            "systemd's socket listens on port %u, mapreduce.shuffle.port is %u: "
                            "set ListenStream= of selvedge-shuffle.socket to the same",
                            s->port, s->conf.port);
    v->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (v->epoll < 0)
        return sv_error_errno(err, -errno, "epoll");
    v->max_connections = connection_limit(&s->conf);
    *ret = SV_TAKE(v);
    return 0;
}

size_t shf_server_sockets(const struct shf_server *v, int ret[SHF_LISTEN_MAX])
{
    memcpy(ret, v->sockets, v->n_sockets * sizeof *ret);
    return v->n_sockets;
}

/* ---- connections ---- */

static void address_key(const struct sockaddr *a, uint8_t ret[8])
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)a;
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)a;

    memset(ret, 0, 8);
    if (a->sa_family == AF_INET)
        memcpy(ret + 4, &four->sin_addr, 4);
    else if (a->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        memcpy(ret + 4, six->sin6_addr.s6_addr + 12, 4);
    else if (a->sa_family == AF_INET6)
        memcpy(ret, six->sin6_addr.s6_addr, 8);
}

/* Counts a connection of the address, or not: NULL means refused. */
static struct address *admit(struct shf_server *v, const uint8_t key[8])
{
    struct address *a;

    if (v->connections >= v->max_connections)
        return NULL;
    HASH_FIND(hh, v->addresses, key, sizeof a->key, a);
    if (a && a->connections >= SHF_ADDRESS_CONNECTIONS_MAX)
        return NULL;
    if (!a) {
        a = calloc(1, sizeof *a);
        if (!a)
            return NULL;
        memcpy(a->key, key, sizeof a->key);
        HASH_ADD(hh, v->addresses, key, sizeof a->key, a);
    }
    a->connections++;
    v->connections++;
    return a;
}

static void discharge(struct shf_server *v, struct peer *p)
{
    struct address *a = p->address;

    if (!a) {
        v->refused--;
        return;
    }
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
    (void)shf_connection_free(p->connection); /* closing takes it out of the epoll set */
    free(p);
}

static void tell_refused(struct shf_server *v, const char *why)
{
    int64_t now = sv_now_ms();

    if (v->told_ms && now - v->told_ms < 60000)
        return;
    v->told_ms = now;
    sv_log_warning("refusing connections with 429: %s (%u connections of at most %u)", why,
                   v->connections, v->max_connections);
}

/* 0, or -errno: the peer is gone. */
static int add_peer(struct shf_server *v, int fd, const struct sockaddr *from)
{
    struct peer *p = calloc(1, sizeof *p);
    uint8_t key[8];

    if (!p) {
        (void)sv_close(fd);
        return -ENOMEM;
    }
    address_key(from, key);
    p->server = v;
    p->fd = fd;
    pthread_mutex_lock(&v->lock);
    p->address = admit(v, key);
    if (!p->address)
        tell_refused(v, v->connections < v->max_connections ? "too many of one address"
                                                            : "mapreduce.shuffle.max.connections");
    bool keep = p->address || v->refused < SHF_REFUSED_MAX;
    v->refused += keep && !p->address;
    if (keep)
        p->connection = shf_connection_new(v->service, fd, !p->address);
    else
        shf_connection_reject(fd);
    if (!p->connection) {
        if (keep)
            discharge(v, p);
        pthread_mutex_unlock(&v->lock);
        free(p);
        return -EBUSY;
    }
    DL_APPEND(v->peers, p);
    pthread_mutex_unlock(&v->lock);
    struct epoll_event e = { .events = EPOLLONESHOT | (p->address ? EPOLLIN : EPOLLOUT),
                             .data.ptr = p };
    (void)atomic_fetch_add(&p->turns, 1);
    if (epoll_ctl(v->epoll, EPOLL_CTL_ADD, fd, &e) < 0) {
        int r = -errno;

        end_peer(p);
        return r;
    }
    return 0;
}

void shf_server_accept(struct shf_server *v, int socket)
{
    for (int i = 0; i < ACCEPT_TURN; i++) {
        struct sockaddr_storage from = { 0 };
        socklen_t len = sizeof from;
        int on = 1,
            fd = accept4(socket, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
            continue;
        if (fd < 0)
            return;
        /* As Hadoop's: a machine that vanished is found. */
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on); /* ignoring */
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* ignoring */
        (void)add_peer(v, fd, (struct sockaddr *)&from); /* it was closed, ignoring */
    }
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
}

/* ---- threads ---- */

static void *serve(void *userdata)
{
    struct shf_server *v = userdata;
    const struct shf_conf *conf = &v->service->conf;
    char *buffer = conf->sendfile ? NULL : malloc(conf->buffer);

    for (;;) {
        struct epoll_event e;
        int n = epoll_wait(v->epoll, &e, 1, -1);

        if (n <= 0)
            continue;
        struct peer *p = e.data.ptr;
        (void)atomic_load(&p->turns);
        e.events = shf_connection_run(p->connection, buffer);
        if (e.events == 0) {
            end_peer(p);
            continue;
        }
        e.events |= EPOLLONESHOT;
        int fd = p->fd;
        (void)atomic_fetch_add(&p->turns, 1); /* from here on another thread may end it */
        if (epoll_ctl(v->epoll, EPOLL_CTL_MOD, fd, &e) < 0)
            end_peer(p);
    }
    return NULL;
}

int shf_server_start(struct shf_server *v, struct sv_error *err)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned n = v->service->conf.threads;
    pthread_attr_t attr;
    int r = -pthread_attr_init(&attr);

    if (n == 0)
        n = (unsigned)SV_MIN(SV_MAX(2 * processors, 4), (long)SHF_THREADS_MAX);
    if (r == 0)
        r = -pthread_attr_setstacksize(&attr, STACK_BYTES);
    if (r == 0)
        r = -pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (unsigned i = 0; r == 0 && i < n; i++) {
        pthread_t thread;

        r = -pthread_create(&thread, &attr, serve, v);
    }
    return r < 0 ? sv_error_errno(err, r, "threads (mapreduce.shuffle.max.threads %u)", n) : 0;
}
