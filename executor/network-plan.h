/* Addresses of a container from the texts of a request, without touching the kernel. Used by
 * network-main.c and its test. */
#ifndef SELVEDGE_EXECUTOR_NETWORK_PLAN_H
#define SELVEDGE_EXECUTOR_NETWORK_PLAN_H

#include <stddef.h>

#include "executor/network.h"

#define NET_HOST_END "sv" /* how the names of veths' ends on the host begin */

enum net_mode { NET_BRIDGE, NET_IPVLAN, NET_MACVLAN };

struct net_plan {
    enum net_mode mode;
    uint32_t address, gateway; /* host byte order */
    unsigned prefix;           /* 8…30 */
    char host_end[16];         /* bridge: name of the veth's end on the host, one an address */
    uint8_t mac[6]; /* of the container's end; one an address, locally administered; where
                     * bandwidth is shared the first two bytes tell its class */
};

/* 0, or -1 with words in `why`: a text that does not end, an unknown mode, a name that is no
 * device's, a range that is not a network, an index beyond it, a rate above its ceiling. */
int net_plan_make(const struct net_request *q, struct net_plan *ret, char *why, size_t size);
/* For containers: of the range all but network, gateway and broadcast. */
uint32_t net_plan_addresses(const struct net_plan *plan);

#endif
