/* Limits the outbound bandwidth of one container, and creates the HTB classes of network-share.c.
 *
 * A container's ceiling is an HTB qdisc on its own eth0. The container has no capability to change
 * it; it disappears with the network namespace. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/rtnetlink.h>
#include <linux/tc_act/tc_mirred.h>
#include <netlink/msg.h>
#include <netlink/route/class.h>
#include <netlink/route/qdisc.h>
#include <netlink/route/qdisc/fifo.h>
#include <netlink/route/qdisc/htb.h>

#include "executor/network-shape.h"

#define BURST_MS 10
#define BURST_MIN                                                                                  \
    (128 * 1024)             /* two of the largest segments that a device without offload accepts */
#define TURN_MS 50           /* quantum of a class, as time at its rate */
#define TURN_MIN (64 * 1024) /* a maximal segment: a smaller quantum is not proportional */
#define TURN_MAX (1024 * 1024)
#define WAITING_MS 100 /* queue length of a class, as time at its ceiling */
#define WAITING_MIN (256 * 1024)
#define WAITING_MAX (16 * 1024 * 1024)

static uint64_t bytes_a_second(uint32_t kbit)
{
    return (uint64_t)kbit * 1000 / 8;
}

static uint32_t bytes_in(uint32_t kbit, uint32_t ms, uint32_t least, uint32_t most)
{
    uint64_t n = bytes_a_second(kbit) * ms / 1000;
    return n < least ? least : n > most ? most : (uint32_t)n;
}

int net_add_htb(struct nl_sock *sock, int index, uint32_t other)
{
    struct rtnl_qdisc *q = rtnl_qdisc_alloc();
    if (!q)
        return -NLE_NOMEM;
    rtnl_tc_set_ifindex(TC_CAST(q), index);
    rtnl_tc_set_parent(TC_CAST(q), TC_H_ROOT);
    rtnl_tc_set_handle(TC_CAST(q), NET_HANDLE);
    int r = rtnl_tc_set_kind(TC_CAST(q), "htb");
    if (r == 0)
        r = rtnl_htb_set_defcls(q, TC_H_MIN(other));
    if (r == 0)
        r = rtnl_qdisc_add(sock, q, NLM_F_CREATE | NLM_F_EXCL);
    rtnl_qdisc_put(q);
    return r;
}

/* The default leaf qdisc limits the number of frames, up to txqueuelen; this one limits bytes. */
static int add_bytes_queue(struct nl_sock *sock, int index, const struct net_class *c)
{
    struct rtnl_qdisc *q = rtnl_qdisc_alloc();
    if (!q)
        return -NLE_NOMEM;
    rtnl_tc_set_ifindex(TC_CAST(q), index);
    rtnl_tc_set_parent(TC_CAST(q), c->handle);
    int r = rtnl_tc_set_kind(TC_CAST(q), "bfifo");
    if (r == 0)
        r = rtnl_qdisc_fifo_set_limit(
            q, (int)bytes_in(c->ceil_kbit, WAITING_MS, WAITING_MIN, WAITING_MAX));
    if (r == 0)
        r = rtnl_qdisc_add(sock, q, NLM_F_CREATE | NLM_F_REPLACE);
    rtnl_qdisc_put(q);
    return r;
}

int net_add_class(struct nl_sock *sock, int index, const struct net_class *wanted, int flags)
{
    const uint32_t rate = wanted->rate_kbit, ceil = wanted->ceil_kbit, most = UINT32_MAX / 2;
    int r = -NLE_NOMEM;
    struct rtnl_class *c = rtnl_class_alloc();
    if (!c)
        return r;
    rtnl_tc_set_ifindex(TC_CAST(c), index);
    rtnl_tc_set_parent(TC_CAST(c), wanted->parent);
    rtnl_tc_set_handle(TC_CAST(c), wanted->handle);
    if ((r = rtnl_tc_set_kind(TC_CAST(c), "htb")) == 0 &&
        (r = rtnl_htb_set_rate64(c, bytes_a_second(rate))) == 0 &&
        (r = rtnl_htb_set_ceil64(c, bytes_a_second(ceil))) == 0 &&
        (r = rtnl_htb_set_rbuffer(c, bytes_in(rate, BURST_MS, BURST_MIN, most))) == 0 &&
        (r = rtnl_htb_set_cbuffer(c, bytes_in(ceil, BURST_MS, BURST_MIN, most))) == 0 &&
        (r = rtnl_htb_set_quantum(c, bytes_in(rate, TURN_MS, TURN_MIN, TURN_MAX))) == 0)
        r = rtnl_class_add(sock, c, NLM_F_CREATE | flags);
    rtnl_class_put(c);
    return r == 0 && wanted->leaf ? add_bytes_queue(sock, index, wanted) : r;
}

int net_shape_container(struct net *n)
{
    const struct net_class own = { .parent = NET_HANDLE,
                                   .handle = NET_HANDLE | 1,
                                   .rate_kbit = n->q->ceil_kbit,
                                   .ceil_kbit = n->q->ceil_kbit };
    if (!n->q->ceil_kbit)
        return 0;
    int index = net_index(n->inside, "eth0"), r = index <= 0 ? -NLE_NODEV : 0;
    if (r == 0)
        r = net_add_htb(n->inside, index, own.handle);
    if (r == 0)
        r = net_add_class(n->inside, index, &own, NLM_F_EXCL);
    return r < 0 ? net_fail(n, r, "limiting its bandwidth (sch_htb)", "eth0") : 0;
}

int net_add_ingress(struct nl_sock *sock, int index)
{
    struct rtnl_qdisc *q = rtnl_qdisc_alloc();
    if (!q)
        return -NLE_NOMEM;
    rtnl_tc_set_ifindex(TC_CAST(q), index);
    rtnl_tc_set_parent(TC_CAST(q), TC_H_INGRESS);
    rtnl_tc_set_handle(TC_CAST(q), NET_INGRESS);
    int r = rtnl_tc_set_kind(TC_CAST(q), "ingress");
    if (r == 0)
        r = rtnl_qdisc_add(sock, q, NLM_F_CREATE | NLM_F_EXCL);
    rtnl_qdisc_put(q);
    return r;
}

/* Appends the action mirred, the only one of the filter. */
static int put_redirect(struct nl_msg *m, int to)
{
    const struct tc_mirred where = { .action = TC_ACT_STOLEN,
                                     .eaction = TCA_EGRESS_REDIR,
                                     .ifindex = (uint32_t)to };
    struct nlattr *actions = nla_nest_start(m, TCA_BPF_ACT | NLA_F_NESTED), *one, *options;
    if (!actions || !(one = nla_nest_start(m, 1 | NLA_F_NESTED)) ||
        nla_put_string(m, TCA_ACT_KIND, "mirred") < 0 ||
        !(options = nla_nest_start(m, TCA_ACT_OPTIONS | NLA_F_NESTED)) ||
        nla_put(m, TCA_MIRRED_PARMS, sizeof(where), &where) < 0)
        return -NLE_NOMEM;
    (void)nla_nest_end(m, options);
    (void)nla_nest_end(m, one);
    (void)nla_nest_end(m, actions);
    return 0;
}

/* A raw message: this libnl does not support cls_bpf. */
int net_add_filter(struct nl_sock *sock, int index, uint32_t parent, const struct sock_filter *ops,
                   uint16_t n_ops, int redirect_to)
{
    const struct tcmsg head = { .tcm_family = AF_UNSPEC,
                                .tcm_ifindex = index,
                                .tcm_handle = 1,
                                .tcm_parent = parent,
                                .tcm_info = TC_H_MAKE(10u << 16, htons(ETH_P_ALL)) };
    struct nl_msg *m =
        nlmsg_alloc_simple(RTM_NEWTFILTER, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
    struct nlattr *options = NULL;
    if (!m || nlmsg_append(m, (void *)(uintptr_t)&head, sizeof(head), NLMSG_ALIGNTO) < 0 ||
        nla_put_string(m, TCA_KIND, "bpf") < 0 ||
        !(options = nla_nest_start(m, TCA_OPTIONS | NLA_F_NESTED)) ||
        nla_put_u16(m, TCA_BPF_OPS_LEN, n_ops) < 0 ||
        nla_put(m, TCA_BPF_OPS, (int)(n_ops * sizeof(*ops)), ops) < 0 ||
        (redirect_to && put_redirect(m, redirect_to) < 0)) {
        nlmsg_free(m);
        return -NLE_NOMEM;
    }
    (void)nla_nest_end(m, options);
    return nl_send_sync(sock, m);
}
