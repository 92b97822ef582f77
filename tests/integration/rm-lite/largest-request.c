/* See largest-request.h. */
#include "tests/integration/rm-lite/largest-request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NESTING_MAX 3 /* of messages that are there once; their types may contain themselves */

struct filling {
    struct sv_arena *a;
    const struct largest_known *known;
    struct largest_size size;
    size_t members; /* of a list at the end of the path */
    size_t items;   /* sub-messages, texts and numbers of lists so far */
    unsigned serial;
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

static const struct largest_known *find_known(const struct filling *g,
                                              const ProtobufCFieldDescriptor *f)
{
    for (const struct largest_known *k = g->known; k->type; k++)
        if (f->type == PROTOBUF_C_TYPE_MESSAGE && k->type == f->descriptor)
            return k;
    return NULL;
}

static ProtobufCMessage *sub_message(struct filling *g, const ProtobufCFieldDescriptor *f,
                                     const struct largest_path *p, size_t level, unsigned nesting)
{
    const struct largest_known *known = find_known(g, f);
    const ProtobufCMessageDescriptor *d = f->descriptor;
    ProtobufCMessage *m;

    if (known && !p)
        return (ProtobufCMessage *)(uintptr_t)known->value;
    m = take(g, d->sizeof_message);
    protobuf_c_message_init(d, m);
    fill(g, m, p, level, nesting);
    return m;
}

static void text(struct filling *g, const ProtobufCFieldDescriptor *f, void *to, bool at_end)
{
    size_t n = at_end ? g->size.text : 24;
    char *s = take(g, n + 1);

    if (at_end)
        memset(s, 'x', n);
    else if (strstr(f->name, "queue"))
        (void)snprintf(s, n, "default");
    else
        (void)snprintf(s, n, "name-%u", g->serial++);
    if (f->type == PROTOBUF_C_TYPE_STRING)
        *(char **)to = s;
    else
        *(ProtobufCBinaryData *)to = (ProtobufCBinaryData){ .len = strlen(s), .data = (void *)s };
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
        *(ProtobufCMessage **)to = sub_message(g, f, at_end ? NULL : p, level, nesting + 1);
    else if (is_text(f))
        text(g, f, to, at_end && f->label != PROTOBUF_C_LABEL_REPEATED);
    else
        number(f, to, serial);
    g->items++;
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
    return f->label == PROTOBUF_C_LABEL_REQUIRED || find_known(g, f) ||
           (!g->size.bare && nesting < NESTING_MAX);
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

        if (leads && given && level + 1 < p->n && f->label != PROTOBUF_C_LABEL_REPEATED)
            fill(g, *(ProtobufCMessage **)at, p, level + 1, nesting + 1);
        else if (leads || (!given && is_wanted(g, f, nesting)))
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
    return g.items;
}

void largest_fill(struct sv_arena *a, ProtobufCMessage *m, const struct largest_path *p,
                  const struct largest_known *known, struct largest_size size)
{
    struct filling g = { .a = a, .known = known, .members = 1, .size = size };
    size_t one = count_items(&g, m->descriptor, p, 1), two = count_items(&g, m->descriptor, p, 2);

    if (two > one && size.items > one)
        g.members = (size.items - one) / (two - one);
    fill(&g, m, p, 0, 0);
}
