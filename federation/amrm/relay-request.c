/* Lists of a request out of packed items; see relay-request.h. */
#include "federation/amrm/relay-request.h"

#include <errno.h>
#include <string.h>

#include "federation/amrm/relay.h"
#include "proto/yarn_service.pb-c.h"

/* Fields of AllocateRequestProto, ResourceBlacklistRequestProto and ResourceRequestProto. */
enum { ASK = 1, RELEASE = 2, BLACKLIST = 3, UPDATE = 7, SCHEDULING = 10 };
enum { ADDITION = 1, REMOVAL = 2 };
enum { NUM_CONTAINERS = 4 };

#define VARINT_MAX 10
#define ROOM 64 /* for the fronts of three fields */
#define TYPE_VARINT 0
#define TYPE_BYTES 2

static size_t put_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

/* One field of `n` bytes and `n_more` behind them. */
static int put_field(struct sv_buf *out, int field, const void *p, size_t n, const uint8_t *more,
                     size_t n_more)
{
    uint8_t front[1 + VARINT_MAX];
    size_t n_front = 1;
    int r;

    front[0] = (uint8_t)(field << 3 | TYPE_BYTES);
    n_front += put_varint(front + 1, n + n_more);
    r = sv_buf_reserve(out, n_front + n + n_more);
    if (r >= 0)
        r = sv_buf_put(out, front, n_front);
    if (r >= 0)
        r = sv_buf_put(out, p, n);
    return r >= 0 && n_more ? sv_buf_put(out, more, n_more) : r;
}

/* A later value of a field that may be there once counts. */
static int put_ask(struct sv_buf *out, const struct fed_item *it)
{
    uint8_t more[1 + VARINT_MAX];
    size_t n = 0;

    if (it->count != it->packed_count) {
        more[n++] = NUM_CONTAINERS << 3 | TYPE_VARINT;
        n += put_varint(more + n, (uint64_t)(int64_t)it->count);
    }
    return put_field(out, ASK, it->packed, it->n_packed, more, n);
}

/* Its count is in a message of its own, which may not be there twice. */
static int put_scheduling(struct sv_buf *out, const struct fed_item *it)
{
    Hadoop__Yarn__SchedulingRequestProto *m;
    _cleanup_free_ uint8_t *p = NULL;
    size_t n;
    int r = -ENOMEM;

    if (it->count == it->packed_count)
        return put_field(out, SCHEDULING, it->packed, it->n_packed, NULL, 0);
    m = hadoop__yarn__scheduling_request_proto__unpack(NULL, it->n_packed, it->packed);
    if (!m)
        return r;
    if (m->resourcesizing)
        m->resourcesizing->numallocations = it->count;
    n = hadoop__yarn__scheduling_request_proto__get_packed_size(m);
    p = malloc(n + 1);
    if (p) {
        (void)hadoop__yarn__scheduling_request_proto__pack(m, p);
        r = put_field(out, SCHEDULING, p, n, NULL, 0);
    }
    hadoop__yarn__scheduling_request_proto__free_unpacked(m, NULL);
    return r;
}

void fed_relay_request_begin(struct fed_relay_request *q, struct sv_buf *out)
{
    sv_buf_free(out);
    *q = (struct fed_relay_request){ .out = out, .barred = SV_BUF_INIT(FED_RELAY_BYTES_MAX) };
}

int fed_relay_request_put(struct fed_relay_request *q, const struct fed_item *it)
{
    /* Also for fed_relay_request_end(), which cannot fail then. */
    int r = sv_buf_reserve(q->out, it->n_packed + strlen(it->name) + q->barred.len + ROOM);

    if (r < 0)
        return r;
    switch (it->kind) {
    case FED_ITEM_ASK:
        return put_ask(q->out, it);
    case FED_ITEM_SCHEDULING:
        return put_scheduling(q->out, it);
    case FED_ITEM_RELEASE:
        return put_field(q->out, RELEASE, it->packed, it->n_packed, NULL, 0);
    case FED_ITEM_UPDATE:
        return put_field(q->out, UPDATE, it->packed, it->n_packed, NULL, 0);
    case FED_ITEM_NAME:
        break;
    }
    return put_field(&q->barred, it->open ? ADDITION : REMOVAL, it->name, strlen(it->name), NULL,
                     0);
}

int fed_relay_request_end(struct fed_relay_request *q)
{
    return q->barred.len ? put_field(q->out, BLACKLIST, q->barred.data, q->barred.len, NULL, 0) : 0;
}

void fed_relay_request_clear(struct fed_relay_request *q)
{
    sv_buf_free(&q->barred);
}
