/* The addresses that a member tells to the others. See member-internal.h. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "rm-lite/federation/member-internal.h"

static bool is_wildcard(const char *host)
{
    return !*host || sv_streq(host, "0.0.0.0") || sv_streq(host, "::") || sv_streq(host, "[::]");
}

int rm_member_address(const struct rm_address *a, uint16_t port, char *buf, size_t size,
                      struct sv_error *err)
{
    /* Hadoop's daemons read IPv4 alone unless they are told otherwise. */
    static const int families[] = { AF_INET, AF_UNSPEC };
    char own[256] = "", host[NI_MAXHOST];
    const char *name = a->host;
    struct addrinfo *list = NULL;
    int r = EAI_NONAME, n;

    if (is_wildcard(name)) {
        if (gethostname(own, sizeof(own) - 1) < 0)
            return sv_error_errno(err, -errno, "gethostname");
        name = own;
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(families) && r != 0; i++)
        r = getaddrinfo(name, NULL,
                        &(struct addrinfo){ .ai_family = families[i], .ai_socktype = SOCK_STREAM },
                        &list);
    if (r == 0) {
        r = getnameinfo(list->ai_addr, list->ai_addrlen, host, sizeof(host), NULL, 0,
                        NI_NUMERICHOST);
        freeaddrinfo(list);
    }
    if (r != 0)
        return sv_error_set(err, -EINVAL,
                            "federation: no address of %.200s, which other members would use: %s; "
                            "set yarn.resourcemanager.hostname to a name that resolves",
                            name, gai_strerror(r));
    n = snprintf(buf, size, strchr(host, ':') ? "[%s]:%u" : "%s:%u", host, port);
    return n > 0 && (size_t)n < size ? 0 : sv_error_errno(err, -ENAMETOOLONG, "federation");
}
