/* HTB qdiscs and classes of container-network, and the classic BPF filter that classifies frames.
 * Each function returns 0 or one of libnl's -NLE_…. */
#ifndef SELVEDGE_EXECUTOR_NETWORK_SHAPE_H
#define SELVEDGE_EXECUTOR_NETWORK_SHAPE_H

#include <linux/filter.h>
#include <linux/pkt_sched.h>
#include <netlink/route/tc.h>

#include "executor/network-link.h"

#define NET_HANDLE TC_HANDLE(0x42u, 0) /* 42:0, as YARN's root qdisc */
#define NET_INGRESS TC_HANDLE(0xffffu, 0)

struct net_class {
    uint32_t parent, handle;
    uint32_t rate_kbit, ceil_kbit;
    bool leaf; /* has a queue of its own, bounded in bytes */
};

/* Adds the device's root qdisc; unclassified frames are queued in the class `other`. */
int net_add_htb(struct nl_sock *sock, int index, uint32_t other);
/* NLM_F_EXCL: it must be new; NLM_F_REPLACE: sets the rates of an existing one. */
int net_add_class(struct nl_sock *sock, int index, const struct net_class *c, int flags);
int net_add_ingress(struct nl_sock *sock, int index);
/* Adds one filter for all frames below `parent`: the program returns the class' handle, 0 = no
 * match; with `redirect_to` UINT32_MAX redirects the frame to that device. */
int net_add_filter(struct nl_sock *sock, int index, uint32_t parent, const struct sock_filter *ops,
                   uint16_t n_ops, int redirect_to);

#endif
