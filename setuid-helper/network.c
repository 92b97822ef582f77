/* The container's network namespace. The helper enters it before the clone: the container starts in
 * it, and the monitor remains in it, so the monitor MUST NOT have a way to the network either. lo
 * is brought up here; addresses and rates of PRIVATE are set by container-network, which runs in
 * the host's namespace with CAP_NET_ADMIN alone (executor/network.h). */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "setuid-helper/mounts.h"

static int checked(int r, const char *what)
{
    if (r < 0)
        hlp_fail(EXE_STATUS_NETWORK, errno, what);
    return r;
}

static void bring_up_lo(void)
{
    struct ifreq lo = { .ifr_name = "lo",
                        .ifr_flags = IFF_UP }; /* the other flags cannot be changed */
    int s = checked(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket");
    checked(ioctl(s, SIOCSIFFLAGS, &lo), "lo");
    (void)close(s);
}

/* Addresses and isolation of a private network are IPv4's: its device MUST NOT get an IPv6 address.
 * The default applies to devices created later; lo exists already. Written through a new procfs
 * without mounts on it. */
static void refuse_ipv6(void)
{
    struct stat st;
    int proc = hlp_new_mount("proc", NULL, 0);
    if (fstatat(proc, "sys/net/ipv6", &st, 0) == 0 ||
        errno != ENOENT) /* else this kernel has none */
        hlp_write_proc(proc, "sys/net/ipv6/conf/default/disable_ipv6", "1", EXE_STATUS_NETWORK);
    (void)close(proc);
}

static void configure(const struct hlp *h, int host)
{
    struct net_request r = h->cfg.net;
    char words[NET_TEXT_MAX];
    size_t n;
    int in[2];
    int own = checked(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), "network namespace");
    int route = checked(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE), "netlink");
    r.index = h->req.net_index;
    r.rate_kbit = h->req.net_rate_kbit;
    r.ceil_kbit = h->req.net_ceil_kbit;
    (void)hlp_format(r.container, sizeof(r.container), "%s", h->container);
    checked(pipe2(in, O_CLOEXEC), "pipe");
    if (write(in[1], &r, sizeof(r)) != (ssize_t)sizeof(r)) /* fits the pipe */
        hlp_fail(EXE_STATUS_NETWORK, errno, "pipe");
    (void)close(in[1]);
    const struct hlp_program program = { .name = "container-network",
                                         .as = &h->cfg.monitor,
                                         .fds = { in[0], -1, 2, route, own },
                                         .net_namespace = host,
                                         .status = EXE_STATUS_NETWORK };
    if (hlp_run_program(&program, words, sizeof(words) - 1, &n) != NET_EXIT_DONE) {
        words[n] = '\0';
        hlp_fail(EXE_STATUS_NETWORK, 0, n ? words : "container-network failed");
    }
    (void)close(in[0]);
    (void)close(route);
    (void)close(own);
}

void hlp_network(const struct hlp *h)
{
    /* A localizer has the host's, unless this node allows containers no network at all. */
    if (h->req.op == EXE_OP_LOCALIZE ? h->cfg.networks != 1U << EXE_NETWORK_NONE
                                     : h->req.network == EXE_NETWORK_HOST)
        return;
    int host = checked(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), "network namespace");
    checked(unshare(CLONE_NEWNET), "unshare");
    hlp_set_step_cap(HLP_CAP_NET_ADMIN);
    bring_up_lo();
    if (h->req.network == EXE_NETWORK_PRIVATE) {
        refuse_ipv6();
        configure(h, host);
    }
    hlp_set_step_cap(HLP_CAP_NONE);
    (void)close(host);
}
