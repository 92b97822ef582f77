/* See conf-address.h. */
#include "nodemanager/conf/conf-address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "wire/ipc/proxy.h"

bool nm_host_is_wildcard(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (inet_pton(AF_INET, host, &v4) == 1)
        return v4.s_addr == htonl(INADDR_ANY);
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_UNSPECIFIED(&v6);
}

int nm_host_canonical(char ret[NM_HOST_MAX], struct sv_error *err)
{
    const struct addrinfo hints = { .ai_flags = AI_CANONNAME, .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    char name[NM_HOST_MAX] = { 0 };

    if (gethostname(name, sizeof(name) - 1) < 0)
        return sv_error_errno(err, -errno, "host name");
    if (getaddrinfo(name, NULL, &hints, &list) == 0 && list && list->ai_canonname &&
        strlen(list->ai_canonname) < sizeof(name))
        snprintf(name, sizeof(name), "%s", list->ai_canonname);
    if (list)
        freeaddrinfo(list);
    memcpy(ret, name, sizeof(name));
    return 0;
}

static bool is_loopback(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
    return a->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

int nm_host_address(const char *host, char ret[NM_HOST_MAX])
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    const struct addrinfo *best = NULL;
    struct addrinfo *list = NULL;
    int r = -ENOENT;

    if (getaddrinfo(host, NULL, &hints, &list) != 0)
        return r;
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        if (!best || (is_loopback(best->ai_addr) && !is_loopback(a->ai_addr)))
            best = a;
    if (best && getnameinfo(best->ai_addr, best->ai_addrlen, ret, NM_HOST_MAX, NULL, 0,
                            NI_NUMERICHOST) == 0)
        r = 0;
    freeaddrinfo(list);
    return r;
}

/* True if every address of `host` is a loopback address. */
static bool is_on_loopback(const char *host)
{
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *list = NULL;
    bool all = true;

    if (getaddrinfo(host, NULL, &hints, &list) != 0)
        return false;
    for (const struct addrinfo *a = list; a; a = a->ai_next)
        all = all && is_loopback(a->ai_addr);
    freeaddrinfo(list);
    return all;
}

bool nm_host_is_local_name(const char *host, const struct ipc_proxy_config *rm, const char **ret_rm)
{
    if (!is_on_loopback(host))
        return false;
    for (size_t i = 0; i < rm->n_servers; i++) {
        const char *other = rm->servers[i].host;

        if (nm_host_is_wildcard(other) || sv_streq(other, host) || is_on_loopback(other))
            continue; /* on this machine: a client reaches 0.0.0.0 there */
        *ret_rm = other;
        return true;
    }
    return false;
}
