/* See pieces.h. A member of a list is read by ipc_unpack_items(), and so is the rest: each is as
 * checked as a whole message is. */
#include "wire/pieces.h"

#include <errno.h>
#include <string.h>

#include "wire/depth.h"

enum wire_type { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

struct list {
    ProtobufCMessage **v;
    size_t n, room;
};

struct ipc_reading {
    struct sv_arena *arena;
    const ProtobufCMessageDescriptor *d;
    const uint8_t *p;
    size_t n, pos;
    struct sv_buf rest;
    struct list *lists; /* by field of the descriptor */
};

static bool is_list(const ProtobufCFieldDescriptor *f)
{
    return f->label == PROTOBUF_C_LABEL_REPEATED && f->type == PROTOBUF_C_TYPE_MESSAGE;
}

/* ---- Reading ---- */

int ipc_reading_new(struct sv_arena *a, const ProtobufCMessageDescriptor *d, const uint8_t *p,
                    size_t n, struct ipc_reading **ret)
{
    struct ipc_reading *r = sv_new(a, struct ipc_reading);

    if (!r)
        return -ENOMEM;
    *r = (struct ipc_reading){ .arena = a, .d = d, .p = p, .n = n };
    r->rest = SV_BUF_INIT(IPC_PIECES_REST_MAX);
    r->lists = sv_newn(a, struct list, d->n_fields + 1);
    if (!r->lists)
        return -ENOMEM;
    *ret = r;
    return 0;
}

void ipc_reading_move(struct ipc_reading *r, const uint8_t *p)
{
    r->p = p;
}

struct ipc_reading *ipc_reading_end(struct ipc_reading *r)
{
    if (r)
        sv_buf_free(&r->rest);
    return NULL;
}

/* Bytes used; 0: cut, or longer than a varint may be. */
static size_t get_varint(const uint8_t *p, size_t n, uint64_t *ret)
{
    uint64_t v = 0;

    for (size_t i = 0; i < n && i < 10; i++) {
        v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
        if (!(p[i] & 0x80)) {
            *ret = v;
            return i + 1;
        }
    }
    return 0;
}

/* One field of the message: its bytes, and those of its content. */
struct field {
    uint32_t number;
    unsigned type;
    const uint8_t *all, *content;
    size_t n_all, n_content;
};

static int content_of(struct field *f, const uint8_t *p, size_t n)
{
    uint64_t v;
    size_t used;

    switch (f->type) {
    case VARINT:
        f->n_content = get_varint(p, n, &v);
        return f->n_content ? 0 : -EBADMSG;
    case FIXED64:
        f->n_content = 8;
        break;
    case FIXED32:
        f->n_content = 4;
        break;
    case BYTES:
        used = get_varint(p, n, &v);
        if (!used || v > n - used)
            return -EBADMSG;
        f->content = p + used;
        f->n_content = (size_t)v;
        return 0;
    default: /* a group, or nothing */
        return -EBADMSG;
    }
    return f->n_content <= n ? 0 : -EBADMSG;
}

static int next_field(struct ipc_reading *r, struct field *f)
{
    const uint8_t *p = r->p + r->pos;
    size_t n = r->n - r->pos, used;
    uint64_t tag;
    int e;

    used = get_varint(p, n, &tag);
    if (!used || tag >> 3 == 0 || tag >> 3 > UINT32_MAX >> 3)
        return -EBADMSG;
    *f = (struct field){
        .number = (uint32_t)(tag >> 3), .type = tag & 7, .all = p, .content = p + used
    };
    e = content_of(f, p + used, n - used);
    if (e < 0)
        return e;
    f->n_all = (size_t)(f->content - p) + f->n_content;
    r->pos += f->n_all;
    return 0;
}

static int add(struct sv_arena *a, struct list *l, ProtobufCMessage *m)
{
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 8;
        ProtobufCMessage **grown = sv_newn(a, ProtobufCMessage *, room);

        if (!grown)
            return -EBADMSG; /* as unpacking says it */
        if (l->n)
            memcpy(grown, l->v, l->n * sizeof(ProtobufCMessage *));
        l->v = grown;
        l->room = room;
    }
    l->v[l->n++] = m;
    return 0;
}

static int take_field(struct ipc_reading *r)
{
    const ProtobufCFieldDescriptor *d;
    ProtobufCMessage *m = NULL;
    struct field f;
    int e = next_field(r, &f);

    if (e < 0)
        return e;
    d = protobuf_c_message_descriptor_get_field(r->d, f.number);
    if (!d || !is_list(d) || f.type != BYTES)
        return sv_buf_put(&r->rest, f.all, f.n_all);
    e = ipc_unpack_items(r->arena, d->descriptor, f.content, f.n_content, IPC_REQUEST_ITEMS_MAX,
                         &m);
    return e < 0 ? e : add(r->arena, &r->lists[d - r->d->fields], m);
}

static void set_lists(const struct ipc_reading *r, ProtobufCMessage *m)
{
    for (unsigned i = 0; i < r->d->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &r->d->fields[i];
        uint8_t *base = (uint8_t *)m;

        if (!is_list(f))
            continue;
        memcpy(base + f->quantifier_offset, &r->lists[i].n, sizeof(size_t));
        memcpy(base + f->offset, &r->lists[i].v, sizeof(ProtobufCMessage **));
    }
}

int ipc_reading_run(struct ipc_reading *r, int64_t *left, ProtobufCMessage **ret)
{
    int e;

    while (r->pos < r->n) {
        size_t before = r->pos;

        if (*left <= 0)
            return IPC_PIECES_MORE;
        e = take_field(r);
        if (e < 0)
            return e == -ENOMEM ? -EBADMSG : e;
        *left -= 1 + (int64_t)((r->pos - before) / IPC_PIECE_BYTES);
    }
    e = ipc_unpack_items(r->arena, r->d, r->rest.data ?: (const uint8_t *)"", r->rest.len,
                         IPC_REQUEST_ITEMS_MAX, ret);
    if (e < 0)
        return e;
    set_lists(r, *ret);
    return 0;
}

/* ---- Writing ---- */

/* All but the lists: a copy of the message without them. */
static int put_rest(struct ipc_writing *w)
{
    const ProtobufCMessageDescriptor *d = w->m->descriptor;
    _cleanup_free_ uint8_t *copy = malloc(d->sizeof_message);
    const ProtobufCMessage *m = (const ProtobufCMessage *)(const void *)copy;
    size_t n, none = 0;
    int e;

    if (!copy)
        return -ENOMEM;
    memcpy(copy, w->m, d->sizeof_message);
    for (unsigned i = 0; i < d->n_fields; i++)
        if (is_list(&d->fields[i]))
            memcpy(copy + d->fields[i].quantifier_offset, &none, sizeof(none));
    n = protobuf_c_message_get_packed_size(m);
    e = sv_buf_reserve(w->out, n);
    if (e == 0 && n)
        w->out->len += protobuf_c_message_pack(m, w->out->data + w->out->len);
    return e;
}

static size_t put_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;

    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

static int put_member(struct ipc_writing *w, const ProtobufCFieldDescriptor *f,
                      const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);
    uint8_t front[20];
    size_t n_front = put_varint(front, (uint64_t)f->id << 3 | BYTES);
    int e;

    n_front += put_varint(front + n_front, n);
    e = sv_buf_reserve(w->out, n_front + n);
    if (e < 0)
        return e;
    memcpy(w->out->data + w->out->len, front, n_front);
    w->out->len += n_front;
    w->out->len += protobuf_c_message_pack(m, w->out->data + w->out->len);
    return 0;
}

static int put_list(struct ipc_writing *w, const ProtobufCFieldDescriptor *f, int64_t *left)
{
    const uint8_t *base = (const uint8_t *)w->m;
    ProtobufCMessage *const *v;
    size_t n;

    memcpy(&n, base + f->quantifier_offset, sizeof(n));
    memcpy(&v, base + f->offset, sizeof(v));
    for (; w->at < n; w->at++) {
        size_t before = w->out->len;
        int e;

        if (*left <= 0)
            return IPC_PIECES_MORE;
        e = put_member(w, f, v[w->at]);
        if (e < 0)
            return e;
        *left -= 1 + (int64_t)((w->out->len - before) / IPC_PIECE_BYTES);
    }
    return 0;
}

int ipc_writing_run(struct ipc_writing *w, int64_t *left)
{
    const ProtobufCMessageDescriptor *d = w->m->descriptor;
    int e = w->begun ? 0 : put_rest(w);

    if (e < 0)
        return e;
    w->begun = true;
    for (; w->field < d->n_fields; w->field++, w->at = 0) {
        e = is_list(&d->fields[w->field]) ? put_list(w, &d->fields[w->field], left) : 0;
        if (e != 0)
            return e;
    }
    return 0;
}
