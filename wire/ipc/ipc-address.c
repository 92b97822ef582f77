/* Connections by client address: counts them, and selects the one to close when an address or the
 * server has too many. Hostile: a client that opens connections without end and keeps them alive by
 * pings, so idleness is counted in calls alone. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "wire/ipc/ipc-conn.h"
#include "wire/ipc/resolve.h"

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

struct ipc_address *ipc_address_get(struct ipc_server *s, const struct sockaddr_storage *sa)
{
    struct ipc_address *a = address_find(s, sa);
    if (a || !(a = calloc(1, sizeof(*a))))
        return a;
    a->ip = address_key(sa);
    HASH_ADD(hh, s->addresses, ip, sizeof(a->ip), a);
    return a;
}

void ipc_address_put(struct ipc_server *s, struct ipc_address *a)
{
    if (a->n > 0)
        return;
    HASH_DELETE(hh, s->addresses, a);
    free(a);
}

void ipc_address_join(struct ipc_address *a, struct ipc_conn *c)
{
    c->from = a;
    a->n++;
    DL_APPEND2(a->conns, c, from_prev, from_next);
}

void ipc_address_leave(struct ipc_server *s, struct ipc_conn *c)
{
    struct ipc_address *a = SV_TAKE(c->from);
    a->n--;
    DL_DELETE2(a->conns, c, from_prev, from_next);
    ipc_address_put(s, a);
}

void ipc_address_used(struct ipc_conn *c)
{
    DL_DELETE2(c->from->conns, c, from_prev, from_next);
    DL_APPEND2(c->from->conns, c, from_prev, from_next);
}

static struct ipc_conn *idlest(const struct ipc_address *a)
{
    struct ipc_conn *c;
    DL_FOREACH2(a->conns, c, from_next)
    if (c->inflight == 0)
        return c;
    return a->conns;
}

static const struct ipc_address *fullest(const struct ipc_server *s)
{
    const struct ipc_address *most = s->addresses;
    for (const struct ipc_address *a = s->addresses; a; a = a->hh.next)
        if (a->n > most->n)
            most = a;
    return most;
}

int ipc_address_room(const struct ipc_server *s, const struct sockaddr_storage *sa,
                     struct ipc_conn **ret_gives_way)
{
    const struct ipc_address *from = address_find(s, sa), *gives = from;
    size_t n = from ? from->n : 0;
    *ret_gives_way = NULL;
    if (n < s->limits.max_per_address && s->n_conns < s->limits.max_connections)
        return 0;
    /* Never in favour of an address that would then have as many. */
    if (n < s->limits.max_per_address && fullest(s)->n > n + 1)
        gives = fullest(s);
    if (!gives)
        return -EUSERS;
    *ret_gives_way = idlest(gives);
    return 0;
}
