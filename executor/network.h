/* Protocol of container-executor with container-network: one fixed request, four
 * descriptors, one answer. Includes nothing but libc: the helper fills the request from its
 * root-owned configuration and from the validated LAUNCH request, container-network
 * (executor/network-main.c) does the rest.
 *
 * container-network is started by the helper before the container's clone, as the monitor's
 * account with CAP_NET_ADMIN alone (inheritable and ambient, so that it survives the exec: the
 * helper's SECBIT_NO_CAP_AMBIENT_RAISE must not be locked in that child), no_new_privs, an empty
 * environment, argv[0] only and these descriptors:
 *
 *   0  pipe or file with one struct net_request, then end of file
 *   1  pipe: on failure one line for a person, at most NET_TEXT_MAX bytes without a newline
 *   2  /dev/null
 *   3  a NETLINK_ROUTE socket that was opened inside the container's network namespace
 *   4  the container's network namespace
 *
 * It sees no other namespace than its own (the host's): the socket lets it configure the
 * container's side without CAP_SYS_ADMIN, the namespace is the place where a device is made.
 * Everything that it makes for one container lies in that namespace or is the other end of what
 * lies there, so it is gone when the namespace is: nothing needs to be cleaned up. But for its
 * class of the shared bandwidth, which the next container's container-network removes
 * (network-share.c). It must be over within NET_SECONDS, else the helper kills it.
 *
 * Exit status: 0 done; NET_EXIT_REQUEST (1) the request is malformed or names an address that
 * is not in the range; NET_EXIT_HOST (2) the link, its controllers or a module of the host is
 * missing; NET_EXIT_BUSY (3) the address is in use; NET_EXIT_KERNEL (4) anything else. */
#ifndef SELVEDGE_EXECUTOR_NETWORK_H
#define SELVEDGE_EXECUTOR_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#define NET_MAGIC 0x744e7653u /* "SvNt" */
#define NET_VERSION 1
#define NET_SOCKET_FD 3
#define NET_NAMESPACE_FD 4
#define NET_TEXT_MAX 256
#define NET_SECONDS 10

enum net_exit { NET_EXIT_DONE, NET_EXIT_REQUEST, NET_EXIT_HOST, NET_EXIT_BUSY, NET_EXIT_KERNEL };

enum net_flags {
    NET_ISOLATED = 1, /* no packet between two containers of this link (bridge port isolation;
                         ipvlan and macvlan `private`) */
};

/* Native byte order: it never leaves the machine. Texts are NUL-terminated, the rest zero. The
 * first group is the unparsed text of the configuration's keys; container-network parses and
 * refuses it. */
struct net_request {
    uint32_t magic, version;
    char mode[16];    /* selvedge.network.mode: bridge | ipvlan | macvlan */
    char link[16];    /* selvedge.network.link: the bridge, or the parent of ipvlan and macvlan */
    char range[32];   /* selvedge.network.range: "10.77.0.0/16" */
    char gateway[32]; /* selvedge.network.gateway; "" = the range's first address */
    uint32_t mtu;     /* selvedge.network.mtu; 0 = the link's */
    uint32_t flags;   /* enum net_flags */
    uint32_t total_kbit; /* selvedge.network.outbound-mbit × 1000: all containers of this node
                          * together; 0 = unlimited */
    /* From the LAUNCH request. */
    uint32_t index;     /* 0…: the container's address is the index-th of the range that is
                         * neither network, gateway nor broadcast */
    uint32_t rate_kbit; /* guaranteed; without a total only equal to the ceiling */
    uint32_t ceil_kbit; /* maximum; 0 = unlimited */
    char container[64]; /* its id, kept as the device's alias for `ip link` */
};

#endif
