/* Addresses of nodes; see node-address.h. Hostile: the name that a peer claims. Names are resolved
 * off the loop, a few at a time, in order of arrival: after a restart of the ResourceManager all
 * nodes register at once. */
#include "rm-lite/nodes/node-address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/fd.h"
#include "wire/ipc/resolve.h"

#define AT_ONCE 16 /* look-ups, each with a thread */

struct lookup {
    struct lookup *prev, *next;
    struct rm *rm;
    struct ipc_call *call;
    const ProtobufCMessage *request; /* in the call's arena */
    const char *host;                /* in the call's arena */
    rm_node_address_done done;
    struct ipc_resolve *resolve; /* NULL: waits for its turn */
};

struct rm_node_lookups {
    struct lookup *list; /* running ones first */
    size_t n_running;
};

/* ---- Comparison ---- */

/* True if a socket can be bound to it: the kernel binds to this machine's addresses only. */
static bool is_own(const struct in6_addr *ip)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_addr = *ip };
    bool mapped = IN6_IS_ADDR_V4MAPPED(ip);
    _cleanup_close_ int fd = socket(mapped ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return false;
    memcpy(&v4.sin_addr, ip->s6_addr + 12, 4);
    return mapped ? v4.sin_addr.s_addr != INADDR_ANY && bind(fd, (void *)&v4, sizeof(v4)) == 0
                  : !IN6_IS_ADDR_UNSPECIFIED(ip) && bind(fd, (void *)&v6, sizeof(v6)) == 0;
}

bool rm_node_address_same(const struct in6_addr *a, const struct in6_addr *b)
{
    return IN6_ARE_ADDR_EQUAL(a, b) || (is_own(a) && is_own(b));
}

static int compare(const struct ipc_addresses *list, const struct in6_addr *peer)
{
    for (size_t i = 0; i < list->n; i++) {
        struct in6_addr ip = ipc_address_ip(&list->sa[i]);

        if (rm_node_address_same(&ip, peer))
            return 0;
    }
    return -EACCES;
}

/* ---- Look-ups ---- */

static void lookup_end(struct lookup *l, int status)
{
    struct lookup copy = *l;

    DL_DELETE(l->rm->node_lookups->list, l);
    if (l->resolve)
        l->rm->node_lookups->n_running--;
    ipc_resolve_free(l->resolve);
    free(l);
    copy.done(status, copy.rm, copy.call, copy.request);
}

static void start_waiting(struct rm *rm);

static void on_resolved(int status, const struct ipc_addresses *list, void *userdata)
{
    struct lookup *l = userdata;
    struct rm *rm = l->rm;

    lookup_end(l, status < 0 ? status : compare(list, &ipc_call_peer(l->call)->ip));
    start_waiting(rm);
}

static void start_waiting(struct rm *rm)
{
    struct rm_node_lookups *all = rm->node_lookups;
    struct lookup *l, *tmp;

    DL_FOREACH_SAFE (all->list, l, tmp) {
        int r;

        if (all->n_running >= AT_ONCE)
            return;
        if (l->resolve)
            continue;
        r = ipc_resolve_start(rm->event, l->host, 0, on_resolved, l, &l->resolve);
        if (r < 0)
            lookup_end(l, r);
        else
            all->n_running++;
    }
}

static int lookup_add(struct rm *rm, struct ipc_call *call, const ProtobufCMessage *request,
                      const char *host, rm_node_address_done done)
{
    struct lookup *l;

    if (!rm->node_lookups && !(rm->node_lookups = calloc(1, sizeof(*rm->node_lookups))))
        return -ENOMEM;
    l = calloc(1, sizeof(*l));
    if (!l || !(l->host = sv_arena_strdup(ipc_call_arena(call), host))) {
        free(l);
        return -ENOMEM;
    }
    l->rm = rm;
    l->call = call;
    l->request = request;
    l->done = done;
    DL_APPEND(rm->node_lookups->list, l);
    start_waiting(rm);
    return 0;
}

void rm_node_address_check(struct rm *rm, struct ipc_call *call, const ProtobufCMessage *request,
                           const char *host, rm_node_address_done done)
{
    struct ipc_addresses list;
    int r = 0;

    if (!rm->conf.check_node_address)
        done(0, rm, call, request);
    else if (ipc_resolve_numeric(host, 0, &list))
        done(compare(&list, &ipc_call_peer(call)->ip), rm, call, request);
    else if ((r = lookup_add(rm, call, request, host, done)) < 0)
        done(r, rm, call, request);
}

void rm_node_address_stop(struct rm *rm)
{
    while (rm->node_lookups && rm->node_lookups->list)
        lookup_end(rm->node_lookups->list, -ECANCELED);
    free(rm->node_lookups);
    rm->node_lookups = NULL;
}
