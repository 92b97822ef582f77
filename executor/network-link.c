/* Devices, addresses and routes of one container. */
#include <arpa/inet.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <netlink/route/nexthop.h>
#include <netlink/route/route.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "executor/network-link.h"

#define INSIDE "eth0"
#define BUSY_PAUSE_MS 20
#define BUSY_TRIES 150

/* Maps libnl's -NLE_… to enum net_exit. */
int net_fail(struct net *n, int error, const char *what, const char *device)
{
    int e = error < 0 ? -error : error;
    bool busy = e == NLE_EXIST || e == NLE_BUSY;
    bool host = e == NLE_OPNOTSUPP || e == NLE_NODEV || e == NLE_OBJ_NOTFOUND || e == NLE_PERM;
    (void)snprintf(n->why, sizeof(n->why), "%s: %s: %s%s", device, what, nl_geterror(e),
                   e == NLE_OPNOTSUPP ? " (is the kernel's module for it there?)"
                   : e == NLE_PERM    ? " (it needs CAP_NET_ADMIN)"
                                      : "");
    return busy ? NET_EXIT_BUSY : host ? NET_EXIT_HOST : NET_EXIT_KERNEL;
}

int net_index(struct nl_sock *sock, const char *name)
{
    struct rtnl_link *link = NULL;
    int r = rtnl_link_get_kernel(sock, 0, name, &link);
    if (r == -NLE_OBJ_NOTFOUND || r == -NLE_NODEV)
        return 0;
    if (r < 0)
        return r;
    r = rtnl_link_get_ifindex(link);
    rtnl_link_put(link);
    return r;
}

/* Sets the alias that `ip link` shows; the kernel ignores it when a device is created. */
static int set_up(struct nl_sock *sock, const char *name, const char *alias)
{
    struct rtnl_link *link = rtnl_link_alloc();
    if (!link)
        return -NLE_NOMEM;
    rtnl_link_set_name(link, name);
    rtnl_link_set_flags(link, IFF_UP);
    if (alias)
        rtnl_link_set_ifalias(link, alias);
    int r = rtnl_link_change(sock, link, link, 0);
    rtnl_link_put(link);
    return r;
}

static struct nl_addr *address_of(uint32_t host_order, unsigned prefix)
{
    uint32_t a = htonl(host_order);
    struct nl_addr *r = nl_addr_build(AF_INET, &a, sizeof(a));
    if (r)
        nl_addr_set_prefixlen(r, (int)prefix);
    return r;
}

static int add_address(struct nl_sock *sock, int index, uint32_t address, unsigned prefix)
{
    int r = -NLE_NOMEM;
    struct rtnl_addr *a = rtnl_addr_alloc();
    struct nl_addr *local = address_of(address, prefix);
    struct nl_addr *broadcast = address_of(address | ((1u << (32 - prefix)) - 1), 32);
    if (a && local && broadcast) {
        rtnl_addr_set_ifindex(a, index);
        r = rtnl_addr_set_local(a, local);
        if (r == 0)
            r = rtnl_addr_set_broadcast(a, broadcast);
        if (r == 0)
            r = rtnl_addr_add(sock, a, NLM_F_CREATE | NLM_F_EXCL);
    }
    nl_addr_put(local);
    nl_addr_put(broadcast);
    rtnl_addr_put(a);
    return r;
}

/* Two containers may create the bridge at the same time: EEXIST is success. */
static int make_bridge(struct net *n)
{
    struct rtnl_link *link = rtnl_link_alloc();
    int r = link ? rtnl_link_set_type(link, "bridge") : -NLE_NOMEM;
    if (r == 0) {
        rtnl_link_set_name(link, n->q->link);
        if (n->q->mtu)
            rtnl_link_set_mtu(link, n->q->mtu);
        r = rtnl_link_add(n->host, link, NLM_F_CREATE | NLM_F_EXCL);
    }
    rtnl_link_put(link);
    if (r < 0 && r != -NLE_EXIST)
        return r;
    int index = net_index(n->host, n->q->link);
    if (index <= 0)
        return index < 0 ? index : -NLE_NODEV;
    r = add_address(n->host, index, n->plan.gateway, n->plan.prefix);
    return r < 0 && r != -NLE_EXIST ? r : set_up(n->host, n->q->link, NULL);
}

int net_find_link(struct net *n, int *ret_index)
{
    struct rtnl_link *link = NULL;
    int index = net_index(n->host, n->q->link);
    if (index == 0 && n->plan.mode == NET_BRIDGE) {
        int r = make_bridge(n);
        if (r < 0)
            return net_fail(n, r, "making the bridge", n->q->link);
        index = net_index(n->host, n->q->link);
    }
    if (index == 0)
        index = -NLE_NODEV;
    if (index < 0)
        return net_fail(n, index, "looking for selvedge.network.link", n->q->link);
    *ret_index = index;
    if (n->plan.mode != NET_BRIDGE)
        return 0;
    int r = rtnl_link_get_kernel(n->host, index, NULL, &link);
    if (r < 0)
        return net_fail(n, r, "looking for selvedge.network.link", n->q->link);
    const char *type = rtnl_link_get_type(link);
    bool bridge = type && strcmp(type, "bridge") == 0;
    rtnl_link_put(link);
    if (bridge)
        return 0;
    (void)snprintf(n->why, sizeof(n->why), "selvedge.network.link=%s: not a bridge", n->q->link);
    return NET_EXIT_HOST;
}

/* Isolated ports exchange frames only with the bridge itself and with ports that are not isolated.
 */
static int isolate(struct net *n, int index)
{
    struct ifinfomsg head = { .ifi_family = AF_BRIDGE, .ifi_index = index };
    struct nl_msg *m = nlmsg_alloc_simple(RTM_SETLINK, NLM_F_REQUEST | NLM_F_ACK);
    struct nlattr *nest = NULL;
    if (!m || nlmsg_append(m, &head, sizeof(head), NLMSG_ALIGNTO) < 0 ||
        !(nest = nla_nest_start(m, IFLA_PROTINFO | NLA_F_NESTED)) ||
        nla_put_u8(m, IFLA_BRPORT_ISOLATED, 1) < 0) {
        nlmsg_free(m);
        return -NLE_NOMEM;
    }
    (void)nla_nest_end(m, nest);
    return nl_send_sync(n->host, m);
}

static int make_veth(struct net *n, int bridge, int *ret_host_end)
{
    struct nl_addr *mac = nl_addr_build(AF_LLC, n->plan.mac, sizeof(n->plan.mac));
    struct rtnl_link *link = rtnl_link_veth_alloc();
    struct rtnl_link *peer = link ? rtnl_link_veth_get_peer(link) : NULL;
    int r = -NLE_NOMEM;
    if (mac && peer) {
        rtnl_link_set_name(link, n->plan.host_end);
        rtnl_link_set_master(link, bridge);
        rtnl_link_set_name(peer, INSIDE);
        rtnl_link_set_addr(peer, mac);
        rtnl_link_set_ns_fd(peer, NET_NAMESPACE_FD);
        if (n->q->mtu) {
            rtnl_link_set_mtu(link, n->q->mtu);
            rtnl_link_set_mtu(peer, n->q->mtu);
        }
        r = rtnl_link_add(n->host, link, NLM_F_CREATE | NLM_F_EXCL);
    }
    if (peer)
        rtnl_link_put(peer);
    rtnl_link_put(link);
    nl_addr_put(mac);
    if (r < 0)
        return r;
    r = net_index(n->host, n->plan.host_end);
    if (r <= 0)
        return r < 0 ? r : -NLE_NODEV;
    *ret_host_end = r;
    /* before the container's end is up, so that no frame has passed */
    r = n->q->flags & NET_ISOLATED ? isolate(n, *ret_host_end) : 0;
    return r < 0 ? r : set_up(n->host, n->plan.host_end, n->q->container);
}

/* A raw netlink message for ipvlan and macvlan: this libnl has no setter for ipvlan's flags. */
static int make_vlan(struct net *n, int parent)
{
    bool ip = n->plan.mode == NET_IPVLAN, isolated = n->q->flags & NET_ISOLATED;
    struct ifinfomsg head = { .ifi_family = AF_UNSPEC };
    struct nl_msg *m =
        nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL);
    struct nlattr *info = NULL, *data = NULL;
    bool full = !m || nlmsg_append(m, &head, sizeof(head), NLMSG_ALIGNTO) < 0 ||
                nla_put_string(m, IFLA_IFNAME, INSIDE) < 0 ||
                nla_put_u32(m, IFLA_LINK, (uint32_t)parent) < 0 ||
                nla_put_u32(m, IFLA_NET_NS_FD, NET_NAMESPACE_FD) < 0 ||
                (n->q->mtu && nla_put_u32(m, IFLA_MTU, n->q->mtu) < 0) ||
                (!ip && nla_put(m, IFLA_ADDRESS, sizeof(n->plan.mac), n->plan.mac) < 0) ||
                !(info = nla_nest_start(m, IFLA_LINKINFO)) ||
                nla_put_string(m, IFLA_INFO_KIND, ip ? "ipvlan" : "macvlan") < 0 ||
                !(data = nla_nest_start(m, IFLA_INFO_DATA)) ||
                (ip ? nla_put_u16(m, IFLA_IPVLAN_MODE, IPVLAN_MODE_L2) < 0 ||
                          nla_put_u16(m, IFLA_IPVLAN_FLAGS, isolated ? IPVLAN_F_PRIVATE : 0) < 0
                    : nla_put_u32(m, IFLA_MACVLAN_MODE,
                                  isolated ? MACVLAN_MODE_PRIVATE : MACVLAN_MODE_BRIDGE) < 0);
    if (full) {
        nlmsg_free(m);
        return -NLE_NOMEM;
    }
    (void)nla_nest_end(m, data);
    (void)nla_nest_end(m, info);
    return nl_send_sync(n->host, m);
}

/* The kernel destroys a namespace some time after its last process: the address of a container that
 * has just ended may still be in use for a moment. */
int net_make_device(struct net *n, int link, int *ret_host_end)
{
    const struct timespec pause = { .tv_nsec = BUSY_PAUSE_MS * 1000000L };
    int r;
    *ret_host_end = 0;
    for (int i = 0;; i++) {
        r = n->plan.mode == NET_BRIDGE ? make_veth(n, link, ret_host_end) : make_vlan(n, link);
        if ((r != -NLE_EXIST && r != -NLE_BUSY) || i == BUSY_TRIES)
            break;
        (void)nanosleep(&pause, NULL);
    }
    return r < 0 ? net_fail(n, r, "making the container's device", n->q->link) : 0;
}

int net_remove_device(struct net *n, int host_end)
{
    struct rtnl_link *link = rtnl_link_alloc();
    if (!link)
        return net_fail(n, -NLE_NOMEM, "removing it", n->plan.host_end);
    rtnl_link_set_ifindex(link, host_end);
    int r = rtnl_link_delete(n->host, link);
    rtnl_link_put(link);
    return r < 0 ? net_fail(n, r, "removing it", n->plan.host_end) : 0;
}

int net_set_sender(struct net *n, uint8_t first, uint8_t second)
{
    struct rtnl_link *link = rtnl_link_alloc();
    n->plan.mac[0] = first;
    n->plan.mac[1] = second;
    struct nl_addr *mac = nl_addr_build(AF_LLC, n->plan.mac, sizeof(n->plan.mac));
    int r = -NLE_NOMEM;
    if (link && mac) {
        rtnl_link_set_name(link, INSIDE);
        rtnl_link_set_addr(link, mac);
        r = rtnl_link_change(n->inside, link, link, 0);
    }
    nl_addr_put(mac);
    rtnl_link_put(link);
    return r < 0 ? net_fail(n, r, "setting its hardware address", INSIDE) : 0;
}

static int add_default_route(struct net *n, int index)
{
    int r = -NLE_NOMEM;
    struct rtnl_route *route = rtnl_route_alloc();
    struct rtnl_nexthop *hop = rtnl_route_nh_alloc();
    struct nl_addr *any = address_of(0, 0), *gateway = address_of(n->plan.gateway, 32);
    if (route && hop && any && gateway) {
        rtnl_route_nh_set_ifindex(hop, index);
        rtnl_route_nh_set_gateway(hop, gateway);
        rtnl_route_add_nexthop(route, hop);
        hop = NULL;
        r = rtnl_route_set_dst(route, any);
        if (r == 0)
            r = rtnl_route_add(n->inside, route, NLM_F_CREATE | NLM_F_EXCL);
    }
    if (hop)
        rtnl_route_nh_free(hop);
    nl_addr_put(any);
    nl_addr_put(gateway);
    rtnl_route_put(route);
    return r;
}

int net_configure_inside(struct net *n)
{
    int index = net_index(n->inside, INSIDE), r = set_up(n->inside, "lo", NULL);
    if (r < 0)
        return net_fail(n, r, "starting it", "lo");
    if (index <= 0)
        return net_fail(n, index < 0 ? index : -NLE_NODEV, "looking for it", INSIDE);
    r = add_address(n->inside, index, n->plan.address, n->plan.prefix);
    if (r < 0)
        return net_fail(n, r, "setting its address", INSIDE);
    r = set_up(n->inside, INSIDE, NULL);
    if (r < 0)
        return net_fail(n, r, "starting it", INSIDE);
    r = add_default_route(n, index);
    return r < 0 ? net_fail(n, r, "setting the default route", INSIDE) : 0;
}
