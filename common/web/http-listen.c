/* See http-listen.h. */
#include "common/web/http-listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

#include "common/fd.h"
#include "common/str.h"

int http_listen(const char *host, uint16_t port, struct sv_error *err)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV },
                    *found = NULL;
    _cleanup_close_ int fd = -1;
    char service[8];
    int r;

    (void)snprintf(service, sizeof(service), "%u", port);
    r = getaddrinfo(host, service, &hints, &found);
    if (r != 0)
        return sv_error_set(err, -EADDRNOTAVAIL, "http %s:%u: %s", host, port, gai_strerror(r));
    fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int)) < 0 ||
        bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, SOMAXCONN) < 0)
        r = sv_error_errno(err, -errno, "http %s:%u: cannot listen", host, port);
    freeaddrinfo(found);
    return r < 0 ? r : sv_take_fd(&fd);
}

int http_listen_port(int fd, uint16_t *ret, struct sv_error *err)
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    char text[8];
    uint64_t v = 0;

    if (getsockname(fd, (struct sockaddr *)&bound, &len) < 0 ||
        getnameinfo((struct sockaddr *)&bound, len, NULL, 0, text, sizeof(text), NI_NUMERICSERV) !=
            0 ||
        sv_parse_u64(text, 1, UINT16_MAX, &v) < 0)
        return sv_error_set(err, -EADDRNOTAVAIL, "http: the socket has no port");
    *ret = (uint16_t)v;
    return 0;
}
