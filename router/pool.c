/* See pool.h. Hostile: addresses, which other members and operators write into the store. */
#include "router/pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/str.h"
#include "router/member-stats.h"
#include "wire/ipc/methods.h"

#define CONNECT_MS_MAX 10000
#define HOST_MAX 255

struct peer { /* an address */
    size_t n_open, n_connections;
    UT_hash_handle hh;
    char address[];
};

struct connection {
    struct ipc_client *client;
    struct peer *peer;
    size_t n_open;
    struct connection *prev, *next; /* the last used one last */
    UT_hash_handle hh;
    char key[]; /* "address\ncaller": an address has no control characters (store.h) */
};

struct rtr_pool {
    sd_event *event;
    struct rtr_pool_config cfg;
    struct peer *peers;
    struct connection *by_key, *used;
    bool ending;
};

struct open_call {
    struct rtr_pool *pool;
    struct connection *connection;
    ipc_done done;
    void *userdata;
    struct rtr_member_stats *stats;
    int64_t since_us; /* monotonic */
};

struct rtr_pool *rtr_pool_new(sd_event *event, const struct rtr_pool_config *cfg)
{
    struct rtr_pool *p = calloc(1, sizeof(*p));

    if (p)
        *p = (struct rtr_pool){ .event = event, .cfg = *cfg };
    return p;
}

static void drop(struct rtr_pool *p, struct connection *c)
{
    struct peer *peer = c->peer;

    HASH_DEL(p->by_key, c);
    DL_DELETE(p->used, c);
    ipc_client_free(c->client); /* finishes its calls, which count in both */
    free(c);
    if (--peer->n_connections == 0) {
        HASH_DEL(p->peers, peer);
        free(peer);
    }
}

struct rtr_pool *rtr_pool_free(struct rtr_pool *p)
{
    if (!p)
        return NULL;
    p->ending = true;
    while (p->used)
        drop(p, p->used);
    free(p);
    return NULL;
}

static struct peer *peer_of(struct rtr_pool *p, const char *address)
{
    struct peer *peer;

    HASH_FIND_STR(p->peers, address, peer);
    if (peer)
        return peer;
    peer = calloc(1, sizeof(*peer) + strlen(address) + 1);
    if (!peer)
        return NULL;
    memcpy(peer->address, address, strlen(address) + 1);
    HASH_ADD_STR(p->peers, address, peer);
    return peer;
}

static void forget_peer(struct rtr_pool *p, struct peer *peer)
{
    if (peer->n_connections)
        return;
    HASH_DEL(p->peers, peer);
    free(peer);
}

/* Splits "host:port" or "[host]:port". */
static int split(const char *address, char host[HOST_MAX + 1], uint16_t *ret_port)
{
    const char *colon = strrchr(address, ':');
    size_t n = colon ? (size_t)(colon - address) : 0;
    unsigned long port;
    char *end;

    if (!n || n > HOST_MAX || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return -EINVAL;
    errno = 0;
    port = strtoul(colon + 1, &end, 10);
    if (errno || *end || !port || port > UINT16_MAX)
        return -EINVAL;
    if (*address == '[' && address[n - 1] == ']' && n > 2) {
        address++;
        n -= 2;
    }
    memcpy(host, address, n);
    host[n] = 0;
    *ret_port = (uint16_t)port;
    return 0;
}

static int make_client(struct rtr_pool *p, const struct rtr_outgoing *q, struct ipc_client **ret,
                       struct sv_error *err)
{
    char host[HOST_MAX + 1];
    struct ipc_client_config cfg = {
        .host = host,
        .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
        .version = 1,
        .user = p->cfg.user,
        .for_user = sv_streq(p->cfg.user, q->caller) ? NULL : q->caller,
        .kerberos = p->cfg.kerberos,
        .qop_mask = p->cfg.qop_mask,
        .connect_ms = SV_MIN(p->cfg.timeout_ms, CONNECT_MS_MAX),
        .call_ms = p->cfg.timeout_ms,
        .max_frame = p->cfg.max_frame,
    };

    if (split(q->address, host, &cfg.port) < 0)
        return sv_error_set(err, -EINVAL, "\"%.100s\" is no address host:port", q->address);
    return ipc_client_new(p->event, &cfg, ret, err);
}

/* The connection of that address (NULL: any) that is unused for the longest time; NULL: none is. */
static struct connection *find_idle(struct rtr_pool *p, const struct peer *peer)
{
    struct connection *c;

    DL_FOREACH (p->used, c)
        if (!c->n_open && (!peer || c->peer == peer))
            return c;
    return NULL;
}

/* Room for one more connection to the address: of those to it, then of all. */
static int make_room(struct rtr_pool *p, struct peer *peer, struct sv_error *err)
{
    bool many = peer->n_connections > RTR_CONNECTIONS_MAX / 4;
    struct connection *c;

    if (!many && HASH_CNT(hh, p->by_key) < RTR_CONNECTIONS_MAX)
        return 0;
    c = find_idle(p, many ? peer : NULL);
    if (!c)
        return sv_error_set(err, -EBUSY, "%zu connections to members wait for answers",
                            many ? peer->n_connections - 1 : (size_t)HASH_CNT(hh, p->by_key));
    drop(p, c);
    return 0;
}

static int add(struct rtr_pool *p, struct peer *peer, const struct rtr_outgoing *q, const char *key,
               struct connection **ret, struct sv_error *err)
{
    struct connection *c;
    int r;

    peer->n_connections++; /* it stays, whichever one is dropped for it */
    r = make_room(p, peer, err);
    c = r < 0 ? NULL : calloc(1, sizeof(*c) + strlen(key) + 1);
    if (r >= 0)
        r = c ? make_client(p, q, &c->client, err) : -ENOMEM;
    if (r < 0) {
        peer->n_connections--;
        free(c);
        return r;
    }
    memcpy(c->key, key, strlen(key) + 1);
    c->peer = peer;
    HASH_ADD_STR(p->by_key, key, c);
    DL_APPEND(p->used, c);
    *ret = c;
    return 0;
}

static int find(struct rtr_pool *p, struct peer *peer, const struct rtr_outgoing *q,
                struct connection **ret, struct sv_error *err)
{
    _cleanup_free_ char *key = NULL;

    if (sv_asprintf(&key, "%s\n%s", q->address, q->caller) < 0)
        return -ENOMEM;
    HASH_FIND_STR(p->by_key, key, *ret);
    if (!*ret)
        return add(p, peer, q, key, ret, err);
    DL_DELETE(p->used, *ret);
    DL_APPEND(p->used, *ret);
    return 0;
}

static void on_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct open_call *o = userdata;

    rtr_stats_add(o->stats, r, sv_now_us() - o->since_us);
    o->done(r, err, o->userdata);
    o->connection->n_open--; /* afterwards: until here it is not closed for another */
    o->connection->peer->n_open--;
    free(o);
}

static int start(struct rtr_pool *p, struct connection *c, const struct rtr_outgoing *q,
                 ipc_done done, void *userdata)
{
    struct open_call *o = calloc(1, sizeof(*o));
    int r;

    if (!o)
        return -ENOMEM;
    *o = (struct open_call){ p, c, done, userdata, q->stats, sv_now_us() };
    r = ipc_client_call(c->client, q->method, q->request, q->response, 0, on_done, o);
    if (r < 0) {
        free(o);
        return r;
    }
    c->n_open++;
    c->peer->n_open++;
    return 0;
}

int rtr_pool_call(struct rtr_pool *p, const struct rtr_outgoing *q, ipc_done done, void *userdata,
                  struct sv_error *err)
{
    struct connection *c = NULL;
    struct peer *peer;
    int r;

    if (p->ending)
        return -ECANCELED;
    peer = peer_of(p, q->address);
    if (!peer)
        return -ENOMEM;
    if (peer->n_open >= p->cfg.max_open)
        return sv_error_set(err, -EBUSY, "it has not yet answered %zu calls", peer->n_open);
    r = find(p, peer, q, &c, err);
    if (r >= 0)
        r = start(p, c, q, done, userdata);
    forget_peer(p, peer);
    return r;
}
