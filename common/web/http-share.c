/* See http-share.h. */
#include "common/web/http-share.h"

#include <errno.h>
#include <stdlib.h>
#include <uthash.h>
#include <utlist.h>

#include "common/address.h"

struct http_share {
    UT_hash_handle hh;
    struct in6_addr client; /* sv_address_client() */
    unsigned connections;
    size_t held[HTTP_N_HELD];
    struct http_waiting *waiting; /* utlist, the oldest first */
    struct http_share *prev, *next;
};

static const size_t most_held[] = {
    [HTTP_BODIES] = HTTP_BODIES_MAX, [HTTP_ANSWERS] = HTTP_ANSWERS_MAX
};

static struct http_share *find(const struct http_shares *all, const struct in6_addr *client)
{
    struct http_share *s;

    HASH_FIND(hh, all->addresses, client, sizeof(*client), s);
    return s;
}

bool http_share_has_room(const struct http_shares *all, const struct sockaddr *from)
{
    struct in6_addr client = sv_address_client(from);
    const struct http_share *s = find(all, &client);

    return !s || s->connections < (sv_address_is_loopback(&client) ? HTTP_CONNECTIONS_OF_LOOPBACK
                                                                   : HTTP_CONNECTIONS_OF_ADDRESS);
}

struct http_share *http_share_join(struct http_shares *all, const struct sockaddr *from)
{
    struct in6_addr client = sv_address_client(from);
    struct http_share *s = find(all, &client);

    if (!s) {
        s = calloc(1, sizeof(*s));
        if (!s)
            return NULL;
        s->client = client;
        HASH_ADD(hh, all->addresses, client, sizeof(s->client), s);
    }
    s->connections++;
    return s;
}

void http_share_leave(struct http_shares *all, struct http_share *s)
{
    if (--s->connections > 0)
        return;
    HASH_DEL(all->addresses, s);
    free(s);
}

int http_share_hold(struct http_shares *all, struct http_share *s, enum http_held what, size_t n)
{
    size_t most = most_held[what];

    if (n > most || all->held[what] > most - n ||
        (s->held[what] > 0 && s->held[what] + n > most / 4))
        return -EBUSY;
    all->held[what] += n;
    s->held[what] += n;
    return 0;
}

void http_share_drop(struct http_shares *all, struct http_share *s, enum http_held what, size_t n)
{
    all->held[what] -= n;
    s->held[what] -= n;
}

void http_share_wait(struct http_shares *all, struct http_share *s, struct http_waiting *w,
                     bool again)
{
    bool first = !s->waiting;

    if (again)
        DL_PREPEND(s->waiting, w);
    else
        DL_APPEND(s->waiting, w);
    if (first)
        DL_APPEND(all->turns, s);
}

struct http_waiting *http_share_next(struct http_shares *all)
{
    struct http_share *s = all->turns;
    struct http_waiting *w = s ? s->waiting : NULL;

    if (!s)
        return NULL;
    DL_DELETE(s->waiting, w);
    DL_DELETE(all->turns, s);
    if (s->waiting)
        DL_APPEND(all->turns, s);
    return w;
}
