/* Shares the node's outbound bandwidth between its containers.
 *
 * Ingress of each host-side veth is redirected to one intermediate device (ifb) of the node and
 * leaves it through an HTB qdisc: a parent class with the total rate, and a child class for each
 * container with its guaranteed rate and its ceiling. Together the containers never exceed the
 * total; under contention each gets its guaranteed rate; idle bandwidth is lent up to the ceiling.
 *
 * A classic BPF filter of three instructions classifies frames by the first two bytes of the source
 * MAC address, which a container lacks the capability to change. The class number is derived from
 * the ifindex of the host-side veth. The kernel reuses an ifindex after 16384 others at the
 * earliest, so a class is never mistaken for an earlier container's, and a class whose veth is gone
 * can be removed by any concurrent instance without a lock. Every start of a container removes such
 * classes; until then they are idle and cost nothing.
 *
 * The sum of guaranteed rates never exceeds the total: else the container does not start. */
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/cache.h>
#include <netlink/msg.h>
#include <netlink/route/class.h>
#include <netlink/route/link.h>
#include <netlink/route/qdisc/htb.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "executor/network-shape.h"

#define DEVICE "selvedge-share"
#define TOTAL (NET_HANDLE | 1)
#define OTHER (NET_HANDLE | 2) /* class for frames of no container: there are none */
#define LEAST_KBIT 8    /* rate of a container without a guaranteed rate: HTB does not accept 0 */
#define NUMBERS 0x4000u /* number of possible classes */
#define MODULES "modules ifb, sch_htb, sch_ingress, cls_bpf, act_mirred"
#define READ_SIZE 32768 /* largest part of a dump: a hundred classes */
#define READS 8         /* consecutive dumps of all classes */
#define PAUSE_MS 20
#define TRIES 150
#define DEVICES 16 /* consecutive indexes that may all be in use, modulo NUMBERS */

/* Class number of an interface: 0x0200, a locally administered address, and 14 bits around its two
 * lowest. */
static uint32_t class_of(uint32_t index)
{
    return NET_HANDLE | 0x0200 | (index >> 8 & 0x3f) << 10 | (index & 0xff);
}

static uint32_t number_of(uint32_t class)
{
    return (class >> 10 & 0x3f) << 8 | (class & 0xff);
}

static int make_device(struct net *n, int *ret_index)
{
    struct rtnl_link *link = rtnl_link_alloc();
    int r = link ? rtnl_link_set_type(link, "ifb") : -NLE_NOMEM;
    if (r == 0) {
        rtnl_link_set_name(link, DEVICE);
        rtnl_link_set_flags(link, IFF_UP);
        r = rtnl_link_add(n->host, link, NLM_F_CREATE | NLM_F_EXCL);
    }
    rtnl_link_put(link);
    if (r < 0 && r != -NLE_EXIST)
        return r;
    r = rtnl_link_get_kernel(n->host, 0, DEVICE, &link);
    if (r < 0)
        return r;
    const char *type = rtnl_link_get_type(link);
    r = type && strcmp(type, "ifb") == 0 ? 0 : -NLE_NODEV;
    *ret_index = rtnl_link_get_ifindex(link);
    rtnl_link_put(link);
    return r;
}

static int unless_there(int r)
{
    return r == -NLE_EXIST ? 0 : r;
}

/* Creates each part that is missing: instances run concurrently, and one may have been killed half
 * way. The total rate is always set, because the configuration may have changed. */
static int make_tree(struct net *n, int *ret_index)
{
    static const struct sock_filter sender[] = {
        BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 6), /* after the destination address */
        BPF_STMT(BPF_ALU | BPF_OR | BPF_K, NET_HANDLE),
        BPF_STMT(BPF_RET | BPF_A, 0),
    };
    const uint32_t most = n->q->total_kbit;
    const struct net_class all = {
        .parent = NET_HANDLE, .handle = TOTAL, .rate_kbit = most, .ceil_kbit = most
    };
    const struct net_class other = {
        .parent = TOTAL, .handle = OTHER, .rate_kbit = LEAST_KBIT, .ceil_kbit = most, .leaf = true
    };
    int index, r = make_device(n, &index);
    if (r == 0)
        r = unless_there(net_add_htb(n->host, index, OTHER));
    if (r == 0)
        r = net_add_class(n->host, index, &all, NLM_F_REPLACE);
    if (r == 0)
        r = net_add_class(n->host, index, &other, NLM_F_REPLACE);
    if (r == 0)
        r = unless_there(net_add_filter(n->host, index, NET_HANDLE, sender,
                                        sizeof(sender) / sizeof(sender[0]), 0));
    if (r == 0)
        *ret_index = index;
    return r;
}

static int add_class(struct net *n, int device, uint32_t handle)
{
    uint32_t rate = n->q->rate_kbit, most = n->q->total_kbit, ceil = n->q->ceil_kbit;
    const struct net_class own = { .parent = TOTAL,
                                   .handle = handle,
                                   .leaf = true,
                                   .rate_kbit = rate > LEAST_KBIT ? rate : LEAST_KBIT,
                                   .ceil_kbit = ceil && ceil < most ? ceil : most };
    return net_add_class(n->host, device, &own, NLM_F_EXCL);
}

/* The class of this container, with an unused number: a stale class may have the same one. */
static int make_class(struct net *n, int link, int device, int *host_end, uint32_t *ret_class)
{
    for (int i = 0;; i++) {
        uint32_t class = class_of((uint32_t)*host_end);
        int r = add_class(n, device, class);
        if (r != -NLE_EXIST || i == DEVICES) {
            *ret_class = class;
            return r < 0 ? net_fail(n, r, "adding a class (" MODULES ")", DEVICE) : 0;
        }
        r = net_remove_device(n, *host_end);
        if (r == 0)
            r = net_make_device(n, link, host_end);
        if (r != 0)
            return r;
    }
}

struct numbers {
    uint8_t bits[NUMBERS / 8];
};

static void note(struct numbers *s, uint32_t number)
{
    s->bits[number / 8] |= (uint8_t)(1u << number % 8);
}

static bool noted(const struct numbers *s, uint32_t number)
{
    return s->bits[number / 8] >> number % 8 & 1;
}

static int on_link(struct nl_msg *m, void *arg)
{
    struct numbers *live = arg;
    struct ifinfomsg *head = nlmsg_data(nlmsg_hdr(m));
    struct nlattr *name = nlmsg_find_attr(nlmsg_hdr(m), sizeof(*head), IFLA_IFNAME);
    if (name && strncmp(nla_get_string(name), NET_HOST_END, strlen(NET_HOST_END)) == 0)
        note(live, (uint32_t)head->ifi_index % NUMBERS);
    return NL_OK;
}

/* Reads index and name of every device, without statistics. */
static int read_live(struct net *n, struct numbers *ret)
{
    struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
    struct nl_msg *m = nlmsg_alloc_simple(RTM_GETLINK, NLM_F_DUMP);
    struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
    *ret = (struct numbers){ 0 };
    int r = -NLE_NOMEM;
    if (m && cb && nlmsg_append(m, &head, sizeof(head), NLMSG_ALIGNTO) == 0 &&
        nla_put_u32(m, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS) == 0 &&
        nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_link, ret) == 0)
        r = nl_send_auto(n->host, m);
    if (r >= 0)
        r = nl_recvmsgs(n->host, cb);
    nl_cb_put(cb);
    nlmsg_free(m);
    return r;
}

static int remove_class(struct net *n, int device, uint32_t handle)
{
    struct rtnl_class *c = rtnl_class_alloc();
    if (!c)
        return -NLE_NOMEM;
    rtnl_tc_set_ifindex(TC_CAST(c), device);
    rtnl_tc_set_handle(TC_CAST(c), handle);
    int r = rtnl_class_delete(n->host, c);
    rtnl_class_put(c);
    return r == -NLE_OBJ_NOTFOUND ? 0 : r; /* a concurrent instance removed it */
}

/* True for the class of a container. */
static bool is_own(struct nl_object *o, uint32_t *ret_number)
{
    const uint32_t handle = rtnl_tc_get_handle(TC_CAST((struct rtnl_class *)o));
    *ret_number = number_of(handle);
    return handle == class_of(*ret_number);
}

/* Reads all classes. The kernel dumps more than about a hundred in parts, and resumes by count:
 * when a class is removed between two parts, it silently skips another one. The dump is repeated
 * until one contains every class of the previous dump. A class created after the first of these two
 * may be missing; the instance that creates it sees ours. */
static int read_classes(struct net *n, int device, struct nl_cache **ret)
{
    struct numbers before = { 0 };
    for (int i = 0; i < READS; i++) {
        struct numbers now = { 0 };
        struct nl_cache *classes;
        uint32_t number;
        int r = rtnl_class_alloc_cache(n->host, device, &classes);
        if (r < 0)
            return r;
        for (struct nl_object *o = nl_cache_get_first(classes); o; o = nl_cache_get_next(o))
            if (is_own(o, &number))
                note(&now, number);
        bool all = i > 0;
        for (size_t k = 0; all && k < sizeof(now.bits); k++)
            all = (before.bits[k] & ~now.bits[k]) == 0;
        if (all) {
            *ret = classes;
            return 0;
        }
        nl_cache_free(classes);
        before = now;
    }
    return -NLE_DUMP_INTR;
}

/* Removes classes whose veth is gone and sums the guaranteed rates of the others. Classes are read
 * before devices: a veth is created before its class. */
static int promised(struct net *n, int device, uint64_t *ret_kbit)
{
    struct nl_cache *classes;
    struct numbers live;
    uint64_t sum = 0;
    int r = nl_socket_set_msg_buf_size(n->host, READ_SIZE);
    if (r == 0)
        r = read_classes(n, device, &classes);
    if (r < 0)
        return r;
    r = read_live(n, &live);
    for (struct nl_object *o = nl_cache_get_first(classes); o && r >= 0; o = nl_cache_get_next(o)) {
        uint32_t i;
        uint64_t rate;
        if (!is_own(o, &i))
            continue;
        if (!noted(&live, i))
            r = remove_class(n, device, class_of(i));
        else if ((r = rtnl_htb_get_rate64((struct rtnl_class *)o, &rate)) == 0)
            sum += rate * 8 / 1000;
    }
    nl_cache_free(classes);
    *ret_kbit = sum;
    return r < 0 ? r : 0;
}

/* Our class is already included, so that of two concurrent containers that do not both fit none is
 * admitted by mistake. The kernel destroys a namespace some time after its last process, so the
 * check waits for containers that have just ended. */
static int admit(struct net *n, int device)
{
    const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };
    uint64_t kbit;
    for (int i = 0;; i++) {
        int r = promised(n, device, &kbit);
        if (r == 0 && kbit <= n->q->total_kbit)
            return 0;
        if (r < 0 && (r != -NLE_DUMP_INTR || i == TRIES)) /* the dump was interrupted by a change */
            return net_fail(n, r, "looking for its classes", DEVICE);
        if (i == TRIES)
            break;
        if (r < 0)
            continue;
        (void)nanosleep(&pause, NULL);
    }
    (void)snprintf(n->why, sizeof(n->why),
                   "bandwidth: with %u kbit/s for this container %llu would be "
                   "guaranteed, selvedge.network.outbound-mbit is %u",
                   n->q->rate_kbit, (unsigned long long)kbit, n->q->total_kbit / 1000);
    return NET_EXIT_HOST;
}

int net_share(struct net *n, int link, int *host_end)
{
    static const struct sock_filter every[] = { BPF_STMT(BPF_RET | BPF_K, UINT32_MAX) };
    uint32_t class;
    int device;
    if (!n->q->total_kbit)
        return 0;
    int r = make_tree(n, &device);
    if (r < 0)
        return net_fail(n, r, "making the device for selvedge.network.outbound-mbit (" MODULES ")",
                        DEVICE);
    r = make_class(n, link, device, host_end, &class);
    if (r != 0)
        return r;
    r = net_set_sender(n, (uint8_t)(class >> 8), (uint8_t) class);
    if (r != 0)
        return r;
    r = net_add_ingress(n->host, *host_end);
    if (r == 0)
        r = net_add_filter(n->host, *host_end, NET_INGRESS, every, 1, device);
    return r < 0 ? net_fail(n, r, "redirecting to " DEVICE " (" MODULES ")", n->plan.host_end)
                 : admit(n, device);
}
