/* See listen.h. */
#include "shuffle/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/fd.h"

static int listen_on(int family, uint16_t port, int backlog, int *ret, struct sv_error *err)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };
    const struct sockaddr *to =
        family == AF_INET6 ? (struct sockaddr *)&six : (struct sockaddr *)&four;
    socklen_t len = family == AF_INET6 ? sizeof(six) : sizeof(four);
    int on = 1, off = 0;
    _cleanup_close_ int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0))
        return sv_error_errno(err, -errno, "port %u: socket options", port);
    if (bind(fd, to, len) < 0)
        return sv_error_errno(err, -errno, "mapreduce.shuffle.port %u", port);
    if (listen(fd, backlog) < 0)
        return sv_error_errno(err, -errno, "mapreduce.shuffle.port %u: listen", port);
    *ret = sv_take_fd(&fd);
    return 0;
}

static int adopt(int fd, struct sv_error *err)
{
    int listens = 0;
    socklen_t len = sizeof(listens);

    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) < 0 || !listens)
        return sv_error_set(err, -EINVAL, "descriptor %d is not a listening socket", fd);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
        return sv_error_errno(err, -errno, "descriptor %d", fd);
    return 0;
}

static int port_of(int fd, uint16_t *ret)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } at = { 0 };
    socklen_t len = sizeof(at);

    if (getsockname(fd, &at.any, &len) < 0)
        return -errno;
    if (at.any.sa_family != AF_INET && at.any.sa_family != AF_INET6)
        return -EAFNOSUPPORT;
    *ret = ntohs(at.any.sa_family == AF_INET ? at.four.sin_port : at.six.sin6_port);
    return 0;
}

int shf_listen(const struct shf_conf *conf, const int *fds, size_t n_fds,
               int ret_sockets[SHF_LISTEN_MAX], size_t *ret_n, uint16_t *ret_port,
               struct sv_error *err)
{
    size_t n = SV_MIN(n_fds, (size_t)SHF_LISTEN_MAX);
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        r = adopt(fds[i], err);
        ret_sockets[i] = fds[i];
    }
    if (n == 0) {
        r = listen_on(AF_INET6, conf->port, conf->backlog, &ret_sockets[0], err);
        if (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL)
            r = listen_on(AF_INET, conf->port, conf->backlog, &ret_sockets[0], err);
        n = 1;
    }
    if (r < 0)
        return r;
    r = port_of(ret_sockets[0], ret_port);
    if (r < 0)
        return sv_error_errno(err, r, "listening socket");
    if (conf->port != 0 && *ret_port != conf->port) /* a mistake in a unit must not move a port */
        return sv_error_set(err, -EINVAL,
                            "systemd's socket listens on port %u, mapreduce.shuffle.port is %u: "
                            "set ListenStream= of selvedge-shuffle.socket to the same",
                            *ret_port, conf->port);
    *ret_n = n;
    return 0;
}
