/* See listen-fds.h. Input: descriptors passed by root's units, which are trusted but may be
 * misconfigured. */
#include "common/listen-fds.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "common/fd.h"
#include "common/str.h"

#define ADDRESS_MAX (INET6_ADDRSTRLEN + sizeof("[]:65535"))

struct sv_listen_fds {
    size_t n;
    struct held {
        int fd;
        char *name;
        struct sockaddr_storage at;
    } all[SV_LISTEN_FDS_MAX];
};

/* "0.0.0.0:8041", "[::1]:8041" */
static const char *address_text(const struct sockaddr_storage *at, char dst[ADDRESS_MAX])
{
    char host[INET6_ADDRSTRLEN], port[sizeof("65535")];

    if (getnameinfo((const struct sockaddr *)at, sizeof(*at), host, sizeof(host), port,
                    sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return "an unknown address";
    (void)snprintf(dst, ADDRESS_MAX, at->ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return dst;
}

static bool is_listening_tcp(int fd)
{
    return sd_is_socket_inet(fd, AF_UNSPEC, SOCK_STREAM, 1, 0) > 0;
}

static int hold(struct sv_listen_fds *l, int fd, const char *name, struct sv_error *err)
{
    struct held *h = &l->all[l->n++];
    socklen_t len = sizeof(h->at);
    int flags = fcntl(fd, F_GETFL);

    *h = (struct held){ .fd = fd, .name = strdup(name) };
    if (!h->name)
        return sv_error_errno(err, -ENOMEM, "sockets of systemd");
    if (!is_listening_tcp(fd))
        return sv_error_set(err, -EINVAL,
                            "\"%s\", passed by systemd, is not a listening TCP socket: only "
                            "ListenStream= with an address and a port can be used",
                            name);
    if (getsockname(fd, (struct sockaddr *)&h->at, &len) < 0 || flags < 0 ||
        fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return sv_error_errno(err, -errno, "\"%s\", passed by systemd", name);
    return 0;
}

int sv_listen_fds_receive(struct sv_listen_fds **ret, struct sv_error *err)
{
    _cleanup_strv_ char **names = NULL;
    struct sv_listen_fds *l;
    int n = sd_listen_fds_with_names(1, &names), r = 0;

    if (n < 0)
        return sv_error_errno(err, n, "sockets of systemd (LISTEN_FDS, LISTEN_FDNAMES)");
    if (n > SV_LISTEN_FDS_MAX)
        return sv_error_set(err, -EINVAL, "systemd has passed %d sockets, and at most %d are used",
                            n, SV_LISTEN_FDS_MAX);
    if (n == 0) {
        *ret = NULL;
        return 0;
    }
    l = calloc(1, sizeof(*l));
    if (!l)
        return sv_error_errno(err, -ENOMEM, "sockets of systemd");
    for (int i = 0; r >= 0 && i < n; i++)
        r = hold(l, SD_LISTEN_FDS_START + i, names[i], err);
    if (r < 0) {
        (void)sv_listen_fds_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

static bool same_address(const struct sockaddr_storage *a, const struct sockaddr *b, bool any_port)
{
    const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
    const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

    if (a->ss_family != b->sa_family)
        return false;
    if (a->ss_family == AF_INET)
        return a4->sin_addr.s_addr == b4->sin_addr.s_addr &&
               (any_port || a4->sin_port == b4->sin_port);
    return a->ss_family == AF_INET6 &&
           memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr)) == 0 &&
           (any_port || a6->sin6_port == b6->sin6_port);
}

static int check_address(const struct held *h, const char *host, uint16_t port, const char *keys,
                         struct sv_error *err)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
                                    .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
    char service[sizeof("65535")], text[ADDRESS_MAX];
    struct addrinfo *list = NULL;
    bool same = false;
    int r;

    (void)snprintf(service, sizeof(service), "%u", port);
    r = getaddrinfo(host, service, &hints, &list);
    if (r != 0)
        return sv_error_set(err, -EINVAL, "%s: %s:%u: %s", keys, host, port, gai_strerror(r));
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        same = same || same_address(&h->at, a->ai_addr, port == 0);
    freeaddrinfo(list);
    if (same)
        return 0;
    return sv_error_set(err, -EINVAL,
                        "socket \"%s\" of systemd listens on %s, and %s on %s:%u: change "
                        "ListenStream= of its unit or the configuration, or disable the unit",
                        h->name, address_text(&h->at, text), keys, host, port);
}

int sv_listen_fds_find(const struct sv_listen_fds *l, const char *name)
{
    for (size_t i = 0; l && i < l->n; i++)
        if (sv_streq(l->all[i].name, name))
            return l->all[i].fd;
    return -1;
}

int sv_listen_fds_take(const struct sv_listen_fds *l, const char *name, const char *host,
                       uint16_t port, const char *keys, int *ret_fd, struct sv_error *err)
{
    for (size_t i = 0; l && i < l->n; i++) {
        const struct held *h = &l->all[i];
        int r, fd;

        if (!sv_streq(h->name, name))
            continue;
        r = check_address(h, host, port, keys, err);
        if (r < 0)
            return r;
        fd = fcntl(h->fd, F_DUPFD_CLOEXEC, 0);
        if (fd < 0)
            return sv_error_errno(err, -errno, "socket \"%s\" of systemd", name);
        *ret_fd = fd;
        return 1;
    }
    *ret_fd = -1;
    return 0;
}

static bool has_name(const struct held *all, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (sv_streq(all[i].name, name))
            return true;
    return false;
}

int sv_listen_fds_check_names(const struct sv_listen_fds *l, const char *const *names,
                              struct sv_error *err)
{
    char text[ADDRESS_MAX];

    for (size_t i = 0; l && i < l->n; i++) {
        const struct held *h = &l->all[i];
        bool known = false;

        for (const char *const *name = names; *name; name++)
            known = known || sv_streq(h->name, *name);
        if (!known)
            return sv_error_set(err, -EINVAL,
                                "socket \"%s\" of systemd, on %s, is of no use here: correct "
                                "FileDescriptorName= of its unit, or disable the unit",
                                h->name, address_text(&h->at, text));
        if (has_name(l->all, i, h->name))
            return sv_error_set(err, -EINVAL,
                                "socket \"%s\" of systemd, on %s, is the second of this name: "
                                "only one ListenStream= can be used",
                                h->name, address_text(&h->at, text));
    }
    return 0;
}

void sv_listen_fds_shut_down(struct sv_listen_fds *l)
{
    for (size_t i = 0; l && i < l->n; i++)
        (void)shutdown(l->all[i].fd, SHUT_RDWR); /* the process ends, ignoring */
}

struct sv_listen_fds *sv_listen_fds_free(struct sv_listen_fds *l)
{
    for (size_t i = 0; l && i < l->n; i++) {
        (void)sv_close(l->all[i].fd);
        free(l->all[i].name);
    }
    free(l);
    return NULL;
}
