/* container-network: connects one container's network namespace. Started by container-executor as
 * described in network.h, with CAP_NET_ADMIN and no other right; not meant for interactive use.
 *
 * The request comes from the root-owned configuration and from a daemon that may be hostile. The
 * container cannot influence it: its process has not started. */
#include <netlink/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <unistd.h>

#include "executor/network-link.h"

static int answer(int status, const char *why)
{
    size_t len = strlen(why);
    if (status != NET_EXIT_DONE)
        (void)!write(STDOUT_FILENO, why, len);
    return status;
}

static int read_request(struct net_request *q)
{
    char *at = (char *)q;
    size_t got = 0;
    for (;;) {
        char surplus;
        ssize_t r = got < sizeof(*q) ? read(STDIN_FILENO, at + got, sizeof(*q) - got)
                                     : read(STDIN_FILENO, &surplus, 1);
        if (r == 0)
            return got == sizeof(*q) ? 0 : -1;
        if (r < 0 || got == sizeof(*q))
            return -1;
        got += (size_t)r;
    }
}

static int connect_container(struct net *n)
{
    int link, host_end;
    int r = nl_connect(n->host, NETLINK_ROUTE);
    if (r == 0)
        r = nl_socket_set_fd(n->inside, NETLINK_ROUTE, NET_SOCKET_FD);
    if (r < 0)
        return net_fail(n, r, "opening it", "netlink");
    r = net_find_link(n, &link);
    if (r == 0)
        r = net_make_device(n, link, &host_end);
    if (r == 0)
        r = net_share(n, link, &host_end);
    if (r == 0)
        r = net_shape_container(n); /* before the device is up, so that no frame passes unlimited */
    if (r == 0)
        r = net_configure_inside(n);
    return r;
}

/* True if CAP_NET_ADMIN is the only permitted capability. */
static bool started_with_net_admin(void)
{
    cap_t caps = cap_get_proc();
    bool ok = caps != NULL;
    for (cap_value_t c = 0; ok && CAP_IS_SUPPORTED(c); c++) {
        cap_flag_value_t set = CAP_CLEAR;
        ok = cap_get_flag(caps, c, CAP_PERMITTED, &set) == 0 &&
             (set == CAP_SET) == (c == CAP_NET_ADMIN);
    }
    (void)cap_free(caps);
    return ok;
}

/* The capability is effective only during the calls to the kernel, not while the request is parsed.
 * Clearing the inheritable set clears the ambient set. */
static int use_net_admin(bool use)
{
    const cap_value_t net = CAP_NET_ADMIN;
    cap_t caps = cap_init();
    int r = caps ? cap_set_flag(caps, CAP_PERMITTED, 1, &net, CAP_SET) : -1;
    if (r == 0 && use)
        r = cap_set_flag(caps, CAP_EFFECTIVE, 1, &net, CAP_SET);
    if (r == 0)
        r = cap_set_proc(caps);
    (void)cap_free(caps);
    return r;
}

int main(int argc, char **argv)
{
    struct net_request q;
    struct net n = { .q = &q };
    (void)argv;
    if (argc != 1 || geteuid() == 0)
        return answer(NET_EXIT_REQUEST, "container-network: started by container-executor only");
    if (!started_with_net_admin() || use_net_admin(false) < 0)
        return answer(NET_EXIT_REQUEST, "container-network: not started with CAP_NET_ADMIN alone");
    if (read_request(&q) < 0)
        return answer(NET_EXIT_REQUEST, "request: not one struct net_request");
    if (net_plan_make(&q, &n.plan, n.why, sizeof(n.why)) < 0)
        return answer(NET_EXIT_REQUEST, n.why);
    if (use_net_admin(true) < 0)
        return answer(NET_EXIT_REQUEST, "container-network: CAP_NET_ADMIN");
    n.host = nl_socket_alloc();
    n.inside = nl_socket_alloc();
    int r = n.host && n.inside ? connect_container(&n)
                               : net_fail(&n, -NLE_NOMEM, "opening it", "netlink");
    nl_socket_free(n.host);
    nl_socket_free(n.inside);
    return answer(r, n.why);
}
