/* Addresses of a container from the texts of a request, without touching the kernel. */
#ifndef SELVEDGE_EXECUTOR_NETWORK_PLAN_H
#define SELVEDGE_EXECUTOR_NETWORK_PLAN_H

#include <stddef.h>

#include "executor/network.h"

#define NET_HOST_END "sv" /* prefix of host-side veth names */

enum net_mode { NET_BRIDGE, NET_IPVLAN, NET_MACVLAN };

struct net_plan {
    enum net_mode mode;
    uint32_t address, gateway; /* host byte order */
    unsigned prefix;           /* 8…30 */
    char host_end[16];         /* bridge: name of the host-side veth, one per address */
    uint8_t mac[6]; /* of the container's end; one per address, locally administered; with shared
                       bandwidth the first two bytes encode its class */
};

/* 0, or -1 with a message in `why`: an unterminated text, an unknown mode, an invalid device name,
 * a range that is not a network, an index beyond it, a rate above its ceiling. */
int net_plan_make(const struct net_request *q, struct net_plan *ret, char *why, size_t size);
/* Number of container addresses: the range without network, gateway and broadcast. */
uint32_t net_plan_addresses(const struct net_plan *plan);

#endif
