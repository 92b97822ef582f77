/* See cut-texts.h. Texts are hostile: of clients, masters and nodes. */
#include "rm-lite/requests/cut-texts.h"

#include <errno.h>
#include <string.h>

#include "rm-lite/core/text.h"

#define TEXT_MIN 64 /* more than an id, a user or a host */

static int cut_one(struct sv_arena *a, char **text, size_t max)
{
    char *cut;
    size_t n;

    if (!*text || strnlen(*text, max + 1) <= max)
        return 0;
    n = rm_text_start(*text, max);
    cut = sv_arena_memdup(a, *text, n + 1);
    if (!cut)
        return -ENOMEM;
    cut[n] = 0;
    *text = cut;
    return 0;
}

/* The array may be an object's own: it is copied, not changed. */
static int cut_array(struct sv_arena *a, char ***texts, size_t n, size_t max)
{
    char **copy = n ? sv_arena_memdup(a, *texts, n * sizeof(*copy)) : NULL;
    int r = n && !copy ? -ENOMEM : 0;

    for (size_t i = 0; i < n && r >= 0; i++)
        r = cut_one(a, &copy[i], max);
    if (r >= 0 && n)
        *texts = copy;
    return r;
}

static int cut_all(struct sv_arena *a, ProtobufCMessage *m, size_t max);

static int cut_field(struct sv_arena *a, ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
                     size_t max)
{
    void *value = (char *)m + f->offset;
    bool many = f->label == PROTOBUF_C_LABEL_REPEATED;
    size_t n = many ? *(size_t *)(void *)((char *)m + f->quantifier_offset) : 1;
    ProtobufCMessage **parts;
    int r = 0;

    if (f->type == PROTOBUF_C_TYPE_STRING)
        return many ? cut_array(a, value, n, max) : cut_one(a, value, max);
    if (f->type != PROTOBUF_C_TYPE_MESSAGE)
        return 0;
    parts = many ? *(ProtobufCMessage ***)value : value;
    for (size_t i = 0; i < n && r >= 0; i++)
        if (parts[i])
            r = cut_all(a, parts[i], max);
    return r;
}

static int cut_all(struct sv_arena *a, ProtobufCMessage *m, size_t max)
{
    int r = 0;

    for (unsigned i = 0; i < m->descriptor->n_fields && r >= 0; i++)
        r = cut_field(a, m, &m->descriptor->fields[i], max);
    return r;
}

int rm_cut_texts(struct sv_arena *a, ProtobufCMessage *m, size_t size)
{
    size_t max = RM_LIST_TEXT_MAX;
    int r = cut_all(a, m, max);

    while (r >= 0 && max > TEXT_MIN && protobuf_c_message_get_packed_size(m) > size)
        r = cut_all(a, m, max /= 2);
    return r;
}
