/* Connections by client address: counts them, and selects the one to close when an address, an IPv6
 * network or the server has too many. Nodes of a cluster may share a network, so the limit for each
 * address holds in it, and it has up to half of the server's connections. Nodes behind one address
 * may be a whole cluster: once Kerberos has told who they are, the principal takes the address's
 * place, and strangers behind the address end nobody's connection but each other's. Hostile: a
 * client that opens connections without end and keeps them alive by pings, so idleness is counted
 * in calls alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/address.h"
#include "common/log.h"
#include "wire/ipc/ipc-conn.h"
#include "wire/ipc/resolve.h"

#define PRINCIPAL_KEEPS 16 /* connections of a principal that a full server does not close */

/* A local process may use any source address in 127.0.0.0/8: they count as one. */
static struct in6_addr address_key(const struct sockaddr_storage *sa)
{
    struct in6_addr key = ipc_address_ip(sa);
    if (IN6_IS_ADDR_V4MAPPED(&key) && key.s6_addr[12] == 127)
        memcpy(key.s6_addr + 12, (const uint8_t[]){ 127, 0, 0, 1 }, 4);
    return key;
}

static struct ipc_address *address_find(const struct ipc_server *s,
                                        const struct sockaddr_storage *sa)
{
    struct in6_addr key = address_key(sa);
    struct ipc_address *a;
    HASH_FIND(hh, s->addresses, &key, sizeof(key), a);
    return a;
}

/* ---- IPv6 networks ---- */

static bool has_network(const struct sockaddr_storage *sa)
{
    struct in6_addr ip = ipc_address_ip(sa);
    return !IN6_IS_ADDR_V4MAPPED(&ip);
}

static struct ipc_network *network_find(const struct ipc_server *s,
                                        const struct sockaddr_storage *sa)
{
    struct in6_addr key = sv_address_network((const struct sockaddr *)sa);
    struct ipc_network *n;
    HASH_FIND(hh, s->networks, &key, sizeof(key), n);
    return n;
}

/* NULL: no memory. */
static struct ipc_network *network_get(struct ipc_server *s, const struct sockaddr_storage *sa)
{
    struct ipc_network *n = network_find(s, sa);
    if (!n && (n = calloc(1, sizeof(*n)))) {
        n->ip = sv_address_network((const struct sockaddr *)sa);
        HASH_ADD(hh, s->networks, ip, sizeof(n->ip), n);
    }
    if (n)
        n->addresses++;
    return n;
}

static void network_put(struct ipc_server *s, struct ipc_network *n)
{
    if (!n || --n->addresses > 0)
        return;
    HASH_DELETE(hh, s->networks, n);
    free(n);
}

static bool network_is_full(const struct ipc_server *s, const struct sockaddr_storage *sa)
{
    const struct ipc_network *n = has_network(sa) ? network_find(s, sa) : NULL;
    return n && n->connections >= SV_MAX(s->limits.max_connections / 2, s->limits.max_per_address);
}

/* ---- Addresses ---- */

struct ipc_address *ipc_address_get(struct ipc_server *s, const struct sockaddr_storage *sa)
{
    struct ipc_address *a = address_find(s, sa);
    if (a || !(a = calloc(1, sizeof(*a))))
        return a;
    a->ip = address_key(sa);
    a->network = has_network(sa) ? network_get(s, sa) : NULL;
    if (has_network(sa) && !a->network) {
        free(a);
        return NULL;
    }
    HASH_ADD(hh, s->addresses, ip, sizeof(a->ip), a);
    return a;
}

void ipc_address_put(struct ipc_server *s, struct ipc_address *a)
{
    if (a->n > 0)
        return;
    if (a->principal)
        HASH_DELETE(hh, s->principals, a);
    else
        HASH_DELETE(hh, s->addresses, a);
    network_put(s, a->network);
    free(a->principal);
    free(a);
}

void ipc_address_join(struct ipc_address *a, struct ipc_conn *c)
{
    c->from = a;
    a->n++;
    if (a->network)
        a->network->connections++;
    DL_APPEND2(a->conns, c, from_prev, from_next);
}

void ipc_address_leave(struct ipc_server *s, struct ipc_conn *c)
{
    struct ipc_address *a = SV_TAKE(c->from);
    a->n--;
    if (a->network)
        a->network->connections--;
    DL_DELETE2(a->conns, c, from_prev, from_next);
    ipc_address_put(s, a);
}

void ipc_address_used(struct ipc_conn *c)
{
    DL_DELETE2(c->from->conns, c, from_prev, from_next);
    DL_APPEND2(c->from->conns, c, from_prev, from_next);
}

/* NULL: none, as each is in a login that goes on. */
static struct ipc_conn *idlest(const struct ipc_address *a, const struct ipc_conn *spared)
{
    struct ipc_conn *c, *busy = NULL;
    DL_FOREACH2(a->conns, c, from_next)
    {
        if (c == spared || (c->in_pre && !ipc_unproved_gives_way(c)))
            continue;
        if (c->inflight == 0)
            return c;
        busy = busy ? busy : c;
    }
    return busy;
}

/* `in`: of this network alone; NULL: of all. */
static const struct ipc_address *fullest(const struct ipc_server *s, const struct ipc_network *in)
{
    const struct ipc_address *most = NULL, *a;
    for (a = s->addresses; a; a = a->hh.next)
        if ((!in || a->network == in) && (!most || a->n > most->n))
            most = a;
    for (a = in ? NULL : s->principals; a; a = a->hh.next)
        if (a->n > PRINCIPAL_KEEPS && (!most || a->n > most->n))
            most = a;
    return most;
}

int ipc_address_room(const struct ipc_server *s, const struct sockaddr_storage *sa,
                     struct ipc_conn **ret_gives_way)
{
    const struct ipc_address *from = address_find(s, sa), *gives = from, *most = NULL;
    size_t n = from ? from->n : 0;
    bool crowded = network_is_full(s, sa);
    *ret_gives_way = NULL;
    if (n < s->limits.max_per_address && !crowded && s->n_conns < s->limits.max_connections)
        return 0;
    if (n < s->limits.max_per_address)
        most = fullest(s, crowded ? network_find(s, sa) : NULL);
    if (most && most->n > n + 1) /* never in favour of an address that would then have as many */
        gives = most;
    *ret_gives_way = gives ? idlest(gives, NULL) : NULL;
    return *ret_gives_way ? 0 : -EUSERS;
}

/* ---- Principals ---- */

static struct ipc_address *principal_get(struct ipc_server *s, const char *name)
{
    struct ipc_address *a;
    HASH_FIND(hh, s->principals, name, strlen(name), a);
    if (a || !(a = calloc(1, sizeof(*a))))
        return a;
    a->principal = strdup(name);
    if (!a->principal) {
        free(a);
        return NULL;
    }
    HASH_ADD_KEYPTR(hh, s->principals, a->principal, strlen(a->principal), a);
    return a;
}

int ipc_address_authenticated(struct ipc_conn *c)
{
    struct ipc_server *s = c->server;
    struct ipc_address *a = principal_get(s, c->principal);
    struct ipc_conn *gives_way;
    if (!a)
        return -ENOMEM;
    ipc_address_leave(s, c);
    ipc_address_join(a, c);
    if (a->n <= s->limits.max_per_address || !(gives_way = idlest(a, c)))
        return 0;
    sv_log_debug("ipc %s: closed: the idlest of too many connections of %s", gives_way->address,
                 c->principal);
    s->counters.dropped++;
    ipc_conn_close(gives_way);
    return 0;
}
