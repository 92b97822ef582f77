/* See largest-request.h. */
#include "tests/lib/largest-request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NESTING_MAX 5 /* of messages that are there once; their types may contain themselves */

struct filling {
    struct sv_arena *a;
    const struct largest_hints *hints;
    struct largest_size size;
    size_t members; /* of a list at the end of the path */
    unsigned serial;
    const ProtobufCMessageDescriptor *within; /* the message that is being filled */
};

static bool is_text(const ProtobufCFieldDescriptor *f)
{
    return f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_BYTES;
}

static void find_paths(const ProtobufCMessageDescriptor *d, struct largest_path at,
                       struct largest_path *ret, size_t *n)
{
    size_t level = at.n++;

    for (unsigned i = 0; i < d->n_fields && *n < LARGEST_PATHS; i++) {
        const ProtobufCFieldDescriptor *f = &d->fields[i];

        at.field[level] = i;
        if (f->label == PROTOBUF_C_LABEL_REPEATED || is_text(f))
            ret[(*n)++] = at;
        if (f->type == PROTOBUF_C_TYPE_MESSAGE && at.n < LARGEST_DEPTH && f->descriptor != d)
            find_paths(f->descriptor, at, ret, n);
    }
}

size_t largest_paths(const ProtobufCMessageDescriptor *d, struct largest_path ret[LARGEST_PATHS])
{
    size_t n = 0;

    find_paths(d, (struct largest_path){ .n = 0 }, ret, &n);
    return n;
}

static void *take(struct filling *g, size_t n)
{
    void *p = sv_arena_alloc(g->a, n);

    if (!p) {
        printf("FAIL memory of a request\n");
        exit(EXIT_FAILURE);
    }
    memset(p, 0, n);
    return p;
}

static void fill(struct filling *g, ProtobufCMessage *m, const struct largest_path *p, size_t level,
                 unsigned nesting);

/* Items of a message as wire/depth.c counts them. */
static size_t items_of(const ProtobufCMessage *m)
{
    size_t items = 0;

    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        const char *at = (const char *)m + f->offset;
        const void *quantifier = (const char *)m + f->quantifier_offset;
        const bool repeated = f->label == PROTOBUF_C_LABEL_REPEATED;
        size_t n = repeated ? *(const size_t *)quantifier : 1;
        ProtobufCMessage *const *messages =
            repeated ? *(ProtobufCMessage *const *const *)(const void *)at : (const void *)at;

        items += repeated ? n : 0;
        for (size_t k = 0; f->type == PROTOBUF_C_TYPE_MESSAGE && k < n; k++)
            if (messages[k])
                items += !repeated + items_of(messages[k]);
    }
    return items;
}

static const struct largest_known *find_known(const struct filling *g,
                                              const ProtobufCFieldDescriptor *f)
{
    for (const struct largest_known *k = g->hints->known; k->type; k++)
        if (f->type == PROTOBUF_C_TYPE_MESSAGE && k->type == f->descriptor)
            return k;
    return NULL;
}

static bool is_left_out(const struct largest_known *k)
{
    return !k->value && !k->n;
}

static ProtobufCMessage *copy_of(struct filling *g, const ProtobufCMessage *m)
{
    return memcpy(take(g, m->descriptor->sizeof_message), m, m->descriptor->sizeof_message);
}

/* Where the path leads on into a known message, the rest of it is as known. */
static ProtobufCMessage *sub_message(struct filling *g, const ProtobufCFieldDescriptor *f,
                                     const struct largest_path *p, size_t level, unsigned nesting,
                                     unsigned serial)
{
    const struct largest_known *known = find_known(g, f);
    const ProtobufCMessageDescriptor *d = f->descriptor;
    ProtobufCMessage *m;

    if (known && !is_left_out(known)) {
        m = copy_of(g, known->n ? known->values[serial % known->n] : known->value);
        if (!p)
            return m;
    } else {
        m = take(g, d->sizeof_message);
        protobuf_c_message_init(d, m);
    }
    fill(g, m, p, level, nesting);
    return m;
}

static ProtobufCBinaryData plain_text(struct filling *g, const ProtobufCFieldDescriptor *f,
                                      size_t n, bool at_end)
{
    char *s = take(g, n + 1);

    if (at_end)
        memset(s, 'x', n);
    else if (strstr(f->name, "queue"))
        (void)snprintf(s, n, "default");
    else
        (void)snprintf(s, n, "name_%u", g->serial++);
    return (ProtobufCBinaryData){ .len = strlen(s), .data = (void *)s };
}

static void text(struct filling *g, const ProtobufCFieldDescriptor *f, void *to, bool at_end)
{
    const struct largest_text *t = g->hints->texts;
    size_t n = at_end ? g->size.text : LARGEST_SHORT;
    ProtobufCBinaryData made;

    while (t && t->field && ((t->type && t->type != g->within) || strcmp(t->field, f->name) != 0))
        t++;
    made = t && t->field ? t->make(g->a, n) : plain_text(g, f, n, at_end);
    if (f->type == PROTOBUF_C_TYPE_STRING)
        *(char **)to = (char *)made.data;
    else
        *(ProtobufCBinaryData *)to = made;
}

static size_t value_size(const ProtobufCFieldDescriptor *f)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    default:
        return 4;
    }
}

static void number(const ProtobufCFieldDescriptor *f, void *to, unsigned serial)
{
    const ProtobufCEnumDescriptor *e = f->descriptor;

    switch (f->type) {
    case PROTOBUF_C_TYPE_ENUM:
        *(int32_t *)to = e->values[serial % e->n_values].value;
        break;
    case PROTOBUF_C_TYPE_FLOAT:
        *(float *)to = 1;
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        *(double *)to = 1;
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)to = true;
        break;
    default:
        if (value_size(f) == 8)
            *(int64_t *)to = 1 + serial;
        else
            *(int32_t *)to = 1 + (int32_t)serial;
    }
}

static void value(struct filling *g, const ProtobufCFieldDescriptor *f, void *to,
                  const struct largest_path *p, size_t level, unsigned nesting, unsigned serial)
{
    bool at_end = p && level == p->n;

    if (f->type == PROTOBUF_C_TYPE_MESSAGE)
        *(ProtobufCMessage **)to = sub_message(g, f, at_end ? NULL : p, level, nesting + 1, serial);
    else if (is_text(f))
        text(g, f, to, at_end && f->label != PROTOBUF_C_LABEL_REPEATED);
    else
        number(f, to, serial);
}

/* Whether the caller has set the field. */
static bool is_set(const ProtobufCFieldDescriptor *f, const void *quantifier, const void *at)
{
    if (f->label == PROTOBUF_C_LABEL_REPEATED)
        return *(const size_t *)quantifier > 0;
    if (f->type == PROTOBUF_C_TYPE_MESSAGE)
        return *(void *const *)at != NULL;
    if (f->type == PROTOBUF_C_TYPE_STRING)
        return *(void *const *)at && *(void *const *)at != f->default_value;
    return f->label == PROTOBUF_C_LABEL_OPTIONAL && *(const protobuf_c_boolean *)quantifier;
}

static void fill_field(struct filling *g, ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
                       const struct largest_path *p, size_t level, unsigned nesting)
{
    char *at = (char *)m + f->offset;
    void *quantifier = (char *)m + f->quantifier_offset;
    size_t members = p && level == p->n ? g->members : 1;

    g->within = m->descriptor;
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        char *list = take(g, members * value_size(f));

        for (size_t i = 0; i < members; i++)
            value(g, f, list + i * value_size(f), p, level, nesting, (unsigned)i);
        *(char **)at = list;
        *(size_t *)quantifier = members;
        return;
    }
    value(g, f, at, p, level, nesting, 0);
    if (f->label == PROTOBUF_C_LABEL_OPTIONAL && f->type != PROTOBUF_C_TYPE_MESSAGE &&
        f->type != PROTOBUF_C_TYPE_STRING)
        *(protobuf_c_boolean *)quantifier = true;
}

/* Whether a field that is not on the path is filled. */
static bool is_wanted(const struct filling *g, const ProtobufCFieldDescriptor *f, unsigned nesting)
{
    const struct largest_known *known = find_known(g, f);

    if (f->label == PROTOBUF_C_LABEL_REQUIRED)
        return true;
    return known ? !is_left_out(known) : !g->size.bare && nesting < NESTING_MAX;
}

/* p NULL, or its part from `level` on leads on from here. */
static void fill(struct filling *g, ProtobufCMessage *m, const struct largest_path *p, size_t level,
                 unsigned nesting)
{
    const ProtobufCMessageDescriptor *d = m->descriptor;

    for (unsigned i = 0; i < d->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &d->fields[i];
        char *at = (char *)m + f->offset;
        bool leads = p && level < p->n && p->field[level] == i;
        bool given = is_set(f, (char *)m + f->quantifier_offset, at);

        if (leads && given && level + 1 < p->n && f->label != PROTOBUF_C_LABEL_REPEATED) {
            ProtobufCMessage **given_message = (ProtobufCMessage **)at;

            *given_message = copy_of(g, *given_message);
            fill(g, *given_message, p, level + 1, nesting + 1);
        } else if (leads || (!given && is_wanted(g, f, nesting)))
            fill_field(g, m, f, leads ? p : NULL, level + 1, nesting);
    }
}

/* The items of a request whose list has so many members. */
static size_t count_items(const struct filling *from, const ProtobufCMessageDescriptor *d,
                          const struct largest_path *p, size_t members)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new((size_t)1 << 26);
    struct filling g = *from;
    ProtobufCMessage *m;

    g.a = a;
    g.members = members;
    g.size.text = 1;
    m = take(&g, d->sizeof_message);
    protobuf_c_message_init(d, m);
    fill(&g, m, p, 0, 0);
    return items_of(m);
}

void largest_fill(struct sv_arena *a, ProtobufCMessage *m, const struct largest_path *p,
                  const struct largest_hints *hints, struct largest_size size)
{
    struct filling g = { .a = a, .hints = hints, .members = 1, .size = size };
    size_t one = count_items(&g, m->descriptor, p, 1), two = count_items(&g, m->descriptor, p, 2);

    if (two > one && size.items > one)
        g.members = (size.items - one) / (two - one);
    fill(&g, m, p, 0, 0);
}

bool largest_halve(struct largest_size *size)
{
    if (size->items <= 1 && size->text <= 1)
        return false;
    size->items = SV_MAX(size->items / 2, (size_t)1);
    size->text = SV_MAX(size->text / 2, (size_t)1);
    return true;
}
