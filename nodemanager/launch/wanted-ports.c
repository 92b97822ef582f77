/* See wanted-ports.h. A few system calls a port, none of which waits. */
#include "nodemanager/launch/wanted-ports.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "common/fd.h"

static int bind_any(int family, uint16_t port)
{
    const struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
    const struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
    const int on = 1, off = 0;
    _cleanup_close_ int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
        (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) < 0) ||
        bind(fd, family == AF_INET6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4,
             family == AF_INET6 ? sizeof(v6) : sizeof(v4)) < 0)
        return -errno;
    return 0;
}

/* Whether an address of either family is taken on it: one bind for both, where the machine has
 * IPv6. What the daemon may not bind, as a port below 1024, is left to the program. SO_REUSEADDR: a
 * connection that ends is no conflict, a listener is. */
static bool taken(uint16_t port)
{
    int r = bind_any(AF_INET6, port);

    if (r < 0 && r != -EADDRINUSE && r != -EACCES)
        r = bind_any(AF_INET, port);
    return r == -EADDRINUSE;
}

/* Digits up to ',', ';' or the end; NULL: no port. */
static const char *number(const char *s, uint16_t *ret)
{
    uint32_t n = 0;

    for (; *s >= '0' && *s <= '9' && n <= UINT16_MAX; s++)
        n = 10 * n + (uint32_t)(*s - '0');
    *ret = (uint16_t)n;
    return n == 0 || n > UINT16_MAX || !strchr(",;", *s) ? NULL : s;
}

int nm_ports_try(const char *text, struct sv_error *err)
{
    const char *s = text;
    uint16_t port;

    for (int n = 0; *s;) {
        s = strchr(s, ':');
        do {
            s = s ? number(s + 1, &port) : NULL;
            if (!s || ++n > YARN_VARIABLE_PORTS_MAX)
                return sv_error_set(err, -EINVAL,
                                    YARN_VARIABLE_PORTS ": \"label:port,port;label:port;\" is "
                                                        "expected, of at most %d ports",
                                    YARN_VARIABLE_PORTS_MAX);
            if (n <= NM_TRIED_PORTS_MAX && taken(port))
                return sv_error_set(err, -EADDRINUSE,
                                    "port %u is taken on this node by another program", port);
        } while (*s == ',');
        s += *s == ';';
    }
    return 0;
}
