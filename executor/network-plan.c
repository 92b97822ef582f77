/* Validates the request of the helper. The texts come from a root-owned file; index and rates from
 * a daemon that may be hostile: it can choose any address of the range, and no other. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "executor/network-plan.h"

#define REFUSE(...)                                                                                \
    do {                                                                                           \
        (void)snprintf(why, size, __VA_ARGS__);                                                    \
        return -1;                                                                                 \
    } while (0)

static int ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

static int is_device_name(const char *name)
{
    if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0;
    for (const char *p = name; *p; p++)
        if (*p <= ' ' || *p == '/' || *p == ':' || (unsigned char)*p > '~')
            return 0;
    return 1;
}

static int parse_address(const char *text, uint32_t *ret)
{
    struct in_addr a;
    if (inet_pton(AF_INET, text, &a) != 1)
        return -1;
    *ret = ntohl(a.s_addr);
    return 0;
}

/* "10.77.0.0/16": the network itself, 8 to 30 bits. */
static int parse_range(const char *text, uint32_t *ret_base, unsigned *ret_prefix)
{
    char address[INET_ADDRSTRLEN];
    const char *slash = strchr(text, '/');
    if (!slash || (size_t)(slash - text) >= sizeof(address))
        return -1;
    memcpy(address, text, (size_t)(slash - text));
    address[slash - text] = '\0';
    const char *p = slash + 1;
    if (p[0] < '1' || p[0] > '9' || (p[1] && (p[1] < '0' || p[1] > '9' || p[2])))
        return -1;
    unsigned prefix = (unsigned)strtoul(p, NULL, 10);
    if (prefix < 8 || prefix > 30 || parse_address(address, ret_base) < 0 ||
        (*ret_base & ((1u << (32 - prefix)) - 1)))
        return -1;
    *ret_prefix = prefix;
    return 0;
}

uint32_t net_plan_addresses(const struct net_plan *plan)
{
    return (1u << (32 - plan->prefix)) - 3;
}

int net_plan_make(const struct net_request *q, struct net_plan *ret, char *why, size_t size)
{
    static const char *const modes[] = { "bridge", "ipvlan", "macvlan" };
    uint32_t base;
    *ret = (struct net_plan){ 0 };
    if (q->magic != NET_MAGIC || q->version != NET_VERSION)
        REFUSE("request: not of this version");
    if (!ends(q->mode, sizeof(q->mode)) || !ends(q->link, sizeof(q->link)) ||
        !ends(q->range, sizeof(q->range)) || !ends(q->gateway, sizeof(q->gateway)) ||
        !ends(q->container, sizeof(q->container)))
        REFUSE("request: a text does not end");
    unsigned mode = 0;
    while (mode < 3 && strcmp(q->mode, modes[mode]) != 0)
        mode++;
    if (mode == 3)
        REFUSE("selvedge.network.mode=%s: bridge, ipvlan or macvlan", q->mode);
    ret->mode = (enum net_mode)mode;
    if (!is_device_name(q->link))
        REFUSE("selvedge.network.link=%s: not a network device's name", q->link);
    if (parse_range(q->range, &base, &ret->prefix) < 0)
        REFUSE(
            "selvedge.network.range=%s: not an IPv4 network of 8 to 30 bits, such as 10.77.0.0/16",
            q->range);
    uint32_t last = base | ((1u << (32 - ret->prefix)) - 1); /* broadcast */
    ret->gateway = base + 1;
    if (q->gateway[0] && (parse_address(q->gateway, &ret->gateway) < 0 || ret->gateway <= base ||
                          ret->gateway >= last))
        REFUSE("selvedge.network.gateway=%s: not a host address of %s", q->gateway, q->range);
    if (q->index >= net_plan_addresses(ret))
        REFUSE("address number %u: %s has %u for containers", q->index, q->range,
               net_plan_addresses(ret));
    ret->address = base + 1 + q->index;
    if (ret->address >= ret->gateway)
        ret->address++;
    if (q->mtu && (q->mtu < 1280 || q->mtu > 65535))
        REFUSE("selvedge.network.mtu=%u: 1280 to 65535", q->mtu);
    if (q->flags & ~(uint32_t)NET_ISOLATED)
        REFUSE("request: unknown flags");
    if (q->ceil_kbit && q->rate_kbit > q->ceil_kbit)
        REFUSE("bandwidth: %u kbit/s guaranteed, but at most %u", q->rate_kbit, q->ceil_kbit);
    if (q->rate_kbit && q->rate_kbit != q->ceil_kbit && !q->total_kbit)
        REFUSE("bandwidth: %u kbit/s can be guaranteed only with a total, "
               "selvedge.network.outbound-mbit",
               q->rate_kbit);
    if (q->total_kbit && mode != NET_BRIDGE)
        REFUSE(
            "selvedge.network.outbound-mbit: only in mode bridge; %s has no device on the host's "
            "side to shape",
            q->mode);
    (void)snprintf(ret->host_end, sizeof(ret->host_end), NET_HOST_END "%08x", ret->address);
    const uint8_t mac[6] = { 0x02,
                             0x53,
                             (uint8_t)(ret->address >> 24),
                             (uint8_t)(ret->address >> 16),
                             (uint8_t)(ret->address >> 8),
                             (uint8_t)ret->address };
    memcpy(ret->mac, mac, sizeof(mac));
    return 0;
}
