/* Kernel requests of container-network, over two sockets: one in the host's namespace, one in the
 * container's. Each function returns 0, or an enum net_exit with a message in `n->why`. */
#ifndef SELVEDGE_EXECUTOR_NETWORK_LINK_H
#define SELVEDGE_EXECUTOR_NETWORK_LINK_H

#include <netlink/socket.h>

#include "executor/network-plan.h"

struct net {
    const struct net_request *q;
    struct net_plan plan;
    struct nl_sock *host, *inside;
    char why[NET_TEXT_MAX];
};

int net_fail(struct net *n, int error, const char *what, const char *device);
/* Finds the bridge, created with the gateway's address if missing; or the parent device. */
int net_find_link(struct net *n, int *ret_index);
/* Creates eth0 in the container's namespace, on the link. `ret_host_end`: index of the host-side
 * veth, or 0 in the modes without one. */
int net_make_device(struct net *n, int link, int *ret_host_end);
/* Brings up lo and eth0, sets address and default route. */
int net_configure_inside(struct net *n);

int net_remove_device(struct net *n, int host_end);
/* Sets the first two bytes of eth0's address. */
int net_set_sender(struct net *n, uint8_t first, uint8_t second);
int net_index(struct nl_sock *sock, const char *name); /* index; 0 = none; -NLE */

/* network-share.c: with a total rate, queues its frames in the node's shared queue, in their own
 * class. May create the device again, with another index. */
int net_share(struct net *n, int link, int *host_end);
/* network-shape.c: limits the container's outbound rate to its ceiling by HTB on its own eth0. */
int net_shape_container(struct net *n);

#endif
