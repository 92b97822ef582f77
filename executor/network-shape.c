/* Outbound bandwidth. Called by network-main.c.
 *
 * One container: HTB on its own eth0, inside its namespace, where it has no capability to change
 * it; it goes with the namespace. All of them together: what comes in through a veth's end on the
 * host is redirected to one intermediate device of the node and leaves through its HTB class;
 * that device stays, as the bridge does, and nothing of a single container is kept on it. */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/tc_act/tc_mirred.h>
#include <net/if.h>
#include <netlink/route/act/mirred.h>
#include <netlink/route/class.h>
#include <netlink/route/cls/u32.h>
#include <netlink/route/link.h>
#include <netlink/route/qdisc.h>
#include <netlink/route/qdisc/htb.h>
#include <string.h>

#include "executor/network-link.h"

#define TOTAL_DEVICE "selvedge-out"
#define HANDLE TC_HANDLE(0x42u, 0) /* 42: is YARN's root queue, too */
#define CLASS TC_HANDLE(0x42u, 1)
#define BURST_MS 10
#define BURST_MIN (128 * 1024) /* two of the largest segments that a device without hardware takes */
#define QUANTUM 15140

static uint64_t bytes_a_second(uint32_t kbit)
{
    return (uint64_t)kbit * 1000 / 8;
}

static int add_htb(struct nl_sock *sock, int index, uint32_t rate_kbit, uint32_t ceil_kbit)
{
    uint64_t burst = bytes_a_second(ceil_kbit) * BURST_MS / 1000;
    int r = -NLE_NOMEM;
    struct rtnl_qdisc *q = rtnl_qdisc_alloc();
    struct rtnl_class *c = rtnl_class_alloc();
    if (!q || !c)
        goto out;
    burst = burst < BURST_MIN ? BURST_MIN : burst > UINT32_MAX / 2 ? UINT32_MAX / 2 : burst;
    rtnl_tc_set_ifindex(TC_CAST(q), index);
    rtnl_tc_set_parent(TC_CAST(q), TC_H_ROOT);
    rtnl_tc_set_handle(TC_CAST(q), HANDLE);
    if ((r = rtnl_tc_set_kind(TC_CAST(q), "htb")) < 0 || (r = rtnl_htb_set_defcls(q, 1)) < 0 ||
        (r = rtnl_qdisc_add(sock, q, NLM_F_CREATE | NLM_F_EXCL)) < 0)
        goto out;
    rtnl_tc_set_ifindex(TC_CAST(c), index);
    rtnl_tc_set_parent(TC_CAST(c), HANDLE);
    rtnl_tc_set_handle(TC_CAST(c), CLASS);
    if ((r = rtnl_tc_set_kind(TC_CAST(c), "htb")) < 0 ||
        (r = rtnl_htb_set_rate64(c, bytes_a_second(rate_kbit))) < 0 ||
        (r = rtnl_htb_set_ceil64(c, bytes_a_second(ceil_kbit))) < 0 ||
        (r = rtnl_htb_set_rbuffer(c, (uint32_t)burst)) < 0 ||
        (r = rtnl_htb_set_cbuffer(c, (uint32_t)burst)) < 0 ||
        (r = rtnl_htb_set_quantum(c, QUANTUM)) < 0)
        goto out;
    r = rtnl_class_add(sock, c, NLM_F_CREATE | NLM_F_EXCL);
out:
    rtnl_class_put(c);
    rtnl_qdisc_put(q);
    return r;
}

int net_shape_container(struct net *n)
{
    if (!n->q->ceil_kbit)
        return 0;
    int index = net_index(n->inside, "eth0");
    /* A guarantee is kept by what the others may not take; alone on its device a class has all. */
    int r = index <= 0 ? -NLE_NODEV : add_htb(n->inside, index, n->q->ceil_kbit, n->q->ceil_kbit);
    return r < 0 ? net_fail(n, r, "limiting its bandwidth (HTB)", "eth0") : 0;
}

/* The node's device; two containers may be the first at the same time. */
static int total_device(struct net *n)
{
    int index = net_index(n->host, TOTAL_DEVICE);
    if (index != 0)
        return index;
    struct rtnl_link *link = rtnl_link_alloc();
    int r = link ? rtnl_link_set_type(link, "ifb") : -NLE_NOMEM;
    if (r == 0) {
        rtnl_link_set_name(link, TOTAL_DEVICE);
        rtnl_link_set_flags(link, IFF_UP);
        r = rtnl_link_add(n->host, link, NLM_F_CREATE | NLM_F_EXCL);
    }
    rtnl_link_put(link);
    if (r < 0 && r != -NLE_EXIST)
        return r;
    index = net_index(n->host, TOTAL_DEVICE);
    if (index <= 0)
        return index < 0 ? index : -NLE_NODEV;
    r = add_htb(n->host, index, n->q->total_kbit, n->q->total_kbit);
    return r < 0 && r != -NLE_EXIST ? r : index;
}

static int add_ingress(struct net *n, int index)
{
    struct rtnl_qdisc *q = rtnl_qdisc_alloc();
    if (!q)
        return -NLE_NOMEM;
    rtnl_tc_set_ifindex(TC_CAST(q), index);
    rtnl_tc_set_parent(TC_CAST(q), TC_H_INGRESS);
    rtnl_tc_set_handle(TC_CAST(q), TC_HANDLE(0xffffu, 0));
    int r = rtnl_tc_set_kind(TC_CAST(q), "ingress");
    if (r == 0)
        r = rtnl_qdisc_add(n->host, q, NLM_F_CREATE | NLM_F_EXCL);
    rtnl_qdisc_put(q);
    return r;
}

/* Every frame that comes in here goes to device `to`. */
static int redirect(struct net *n, int index, int to)
{
    int r = -NLE_NOMEM;
    struct rtnl_cls *c = rtnl_cls_alloc();
    struct rtnl_act *a = rtnl_act_alloc();
    if (!c || !a)
        goto out;
    rtnl_tc_set_ifindex(TC_CAST(c), index);
    rtnl_tc_set_parent(TC_CAST(c), TC_HANDLE(0xffffu, 0));
    rtnl_cls_set_prio(c, 10);
    rtnl_cls_set_protocol(c, ETH_P_ALL);
    if ((r = rtnl_tc_set_kind(TC_CAST(c), "u32")) < 0 ||
        (r = rtnl_u32_add_key_uint32(c, 0, 0, 0, 0)) < 0 ||
        (r = rtnl_u32_set_cls_terminal(c)) < 0 ||
        (r = rtnl_tc_set_kind(TC_CAST(a), "mirred")) < 0 ||
        (r = rtnl_mirred_set_action(a, TCA_EGRESS_REDIR)) < 0 ||
        (r = rtnl_mirred_set_policy(a, TC_ACT_STOLEN)) < 0 ||
        (r = rtnl_mirred_set_ifindex(a, (uint32_t)to)) < 0 || (r = rtnl_u32_add_action(c, a)) < 0)
        goto out;
    r = rtnl_cls_add(n->host, c, NLM_F_CREATE | NLM_F_EXCL);
out:
    if (a)
        rtnl_act_put(a);
    rtnl_cls_put(c);
    return r;
}

int net_shape_total(struct net *n, int host_end)
{
    if (!n->q->total_kbit)
        return 0;
    int to = total_device(n);
    if (to < 0)
        return net_fail(n, to, "making the device for selvedge.network.outbound-mbit", TOTAL_DEVICE);
    int r = add_ingress(n, host_end);
    if (r == 0)
        r = redirect(n, host_end, to);
    return r < 0 ? net_fail(n, r, "redirecting to " TOTAL_DEVICE, n->plan.host_end) : 0;
}
