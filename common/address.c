/* See address.h. */
#include "common/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"

/* docs/operate/hardening.md has the service at each address and the source. */
static const struct {
    uint32_t first, mask; /* host order */
} networks_v4[] = {
    { 0xa9fe0000, 0xffff0000 }, /* 169.254.0.0/16 */
    { 0xa83f8110, UINT32_MAX }, /* 168.63.129.16 */
    { 0x646464c8, UINT32_MAX }, /* 100.100.100.200 */
    { 0xc00000c0, UINT32_MAX }, /* 192.0.0.192 */
};
static const struct in6_addr hosts_v6[] = {
    { { { 0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54 } } }, /* fd00:ec2::254 */
    { { { 0xfd, 0x00, 0x0e, 0xc2, [15] = 0x23 } } },              /* fd00:ec2::23 */
    { { { 0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54 } } }, /* fd20:ce::254 */
    { { { 0xfd, 0x00, 0x00, 0x42, [15] = 0x42 } } },              /* fd00:42::42 */
};

static bool is_metadata_v4(uint32_t a)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(networks_v4); i++)
        if ((a & networks_v4[i].mask) == networks_v4[i].first)
            return true;
    return false;
}

bool sv_address_v4_within(const struct in6_addr *a, uint32_t *ret_v4)
{
    static const uint8_t nat64[12] = { 0x00, 0x64, 0xff, 0x9b };
    uint32_t v4;

    if (!IN6_IS_ADDR_V4MAPPED(a) && !IN6_IS_ADDR_V4COMPAT(a) &&
        memcmp(a->s6_addr, nat64, sizeof(nat64)) != 0)
        return false;
    memcpy(&v4, a->s6_addr + 12, sizeof(v4));
    *ret_v4 = ntohl(v4);
    return true;
}

static bool is_metadata_v6(const struct in6_addr *a)
{
    uint32_t v4;

    if (sv_address_v4_within(a, &v4))
        return is_metadata_v4(v4);
    for (size_t i = 0; i < SV_ARRAY_LEN(hosts_v6); i++)
        if (IN6_ARE_ADDR_EQUAL(a, &hosts_v6[i]))
            return true;
    return IN6_IS_ADDR_LINKLOCAL(a);
}

bool sv_address_is_metadata(const struct sockaddr *a)
{
    if (a->sa_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, a, sizeof(in));
        return is_metadata_v4(ntohl(in.sin_addr.s_addr));
    }
    if (a->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;

        memcpy(&in6, a, sizeof(in6));
        return is_metadata_v6(&in6.sin6_addr);
    }
    return false;
}

/* IPv4 as mapped into IPv6. */
static struct in6_addr mapped(const struct sockaddr *a)
{
    struct in6_addr ip = IN6ADDR_ANY_INIT;
    struct sockaddr_in6 in6;
    struct sockaddr_in in;

    if (a->sa_family == AF_INET6) {
        memcpy(&in6, a, sizeof(in6));
        return in6.sin6_addr;
    }
    if (a->sa_family == AF_INET) {
        memcpy(&in, a, sizeof(in));
        ip.s6_addr[10] = ip.s6_addr[11] = 0xff;
        memcpy(ip.s6_addr + 12, &in.sin_addr, sizeof(in.sin_addr));
    }
    return ip;
}

struct in6_addr sv_address_network(const struct sockaddr *a)
{
    struct in6_addr ip = mapped(a);

    if (!IN6_IS_ADDR_V4MAPPED(&ip))
        memset(ip.s6_addr + 8, 0, 8);
    return ip;
}

static const struct in6_addr loopback = { .s6_addr = {
                                              [10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1 } };

struct in6_addr sv_address_client(const struct sockaddr *a)
{
    struct in6_addr ip = mapped(a);

    if (IN6_IS_ADDR_LOOPBACK(&ip) || (IN6_IS_ADDR_V4MAPPED(&ip) && ip.s6_addr[12] == 127))
        return loopback;
    return sv_address_network(a);
}

bool sv_address_is_loopback(const struct in6_addr *client)
{
    return IN6_ARE_ADDR_EQUAL(client, &loopback);
}

int sv_network_parse(const char *text, struct sv_network *ret)
{
    _cleanup_free_ char *copy = strdup(text);
    struct in_addr v4;
    uint64_t bits = 128;
    char *slash;

    if (!copy)
        return -ENOMEM;
    *ret = (struct sv_network){ .bits = 0 };
    if (sv_streq(text, "*"))
        return 0;
    slash = strchr(copy, '/');
    if (slash)
        *slash++ = '\0';
    if (inet_pton(AF_INET, copy, &v4) == 1) {
        ret->ip.s6_addr[10] = ret->ip.s6_addr[11] = 0xff;
        memcpy(ret->ip.s6_addr + 12, &v4, 4);
        if (slash && sv_parse_u64(slash, 0, 32, &bits) < 0)
            return -EINVAL;
        bits = slash ? bits + 96 : 128;
    } else if (inet_pton(AF_INET6, copy, &ret->ip) != 1 ||
               (slash && sv_parse_u64(slash, 0, 128, &bits) < 0)) {
        return -EINVAL;
    }
    ret->bits = (unsigned)bits;
    return 0;
}

bool sv_network_has(const struct sv_network *n, const struct in6_addr *ip)
{
    unsigned bytes = n->bits / 8, rest = n->bits % 8;

    if (memcmp(n->ip.s6_addr, ip->s6_addr, bytes) != 0)
        return false;
    return !rest || ((n->ip.s6_addr[bytes] ^ ip->s6_addr[bytes]) & (0xff00u >> rest) & 0xffu) == 0;
}
