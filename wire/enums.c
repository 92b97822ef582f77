/* See enums.h. Hostile: the numbers; the message's shape is protobuf-c's own. */
#include "wire/enums.h"

#include <errno.h>
#include <stdlib.h>

#include "wire/depth.h"

bool ipc_enum_known(const ProtobufCEnumDescriptor *d, int value)
{
    return protobuf_c_enum_descriptor_get_value(d, value) != NULL;
}

static void *member(ProtobufCMessage *m, unsigned offset)
{
    return (char *)m + offset;
}

/* Returns the field's value in a message without it. */
static int absent_value(const ProtobufCMessageDescriptor *d, const ProtobufCFieldDescriptor *f,
                        int *ret)
{
    ProtobufCMessage *fresh = malloc(d->sizeof_message);
    if (!fresh)
        return -ENOMEM;
    d->message_init(fresh);
    *ret = *(int *)member(fresh, f->offset);
    free(fresh);
    return 0;
}

static int settle_enum(ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    int *value = member(m, f->offset);
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t *n = member(m, f->quantifier_offset), kept = 0;
        int *list = *(int **)member(m, f->offset);
        for (size_t i = 0; i < *n; i++)
            if (ipc_enum_known(f->descriptor, list[i]))
                list[kept++] = list[i];
        *n = kept;
        return 0;
    }
    if (f->label == PROTOBUF_C_LABEL_OPTIONAL &&
        !*(protobuf_c_boolean *)member(m, f->quantifier_offset))
        return 0;
    if (ipc_enum_known(f->descriptor, *value))
        return 0;
    if (f->label != PROTOBUF_C_LABEL_OPTIONAL)
        return -EBADMSG;
    *(protobuf_c_boolean *)member(m, f->quantifier_offset) = 0;
    return absent_value(m->descriptor, f, value);
}

static int drop_unknown_enums(ProtobufCMessage *m, unsigned levels);

static int settle_messages(ProtobufCMessage *m, const ProtobufCFieldDescriptor *f, unsigned levels)
{
    ProtobufCMessage **list = member(m, f->offset);
    size_t n = 1;
    if (f->label == PROTOBUF_C_LABEL_REPEATED) {
        n = *(size_t *)member(m, f->quantifier_offset);
        list = *(ProtobufCMessage ***)member(m, f->offset);
    }
    for (size_t i = 0; i < n; i++) {
        int r = list[i] ? drop_unknown_enums(list[i], levels - 1) : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

static int drop_unknown_enums(ProtobufCMessage *m, unsigned levels)
{
    if (levels == 0)
        return -EBADMSG;
    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &m->descriptor->fields[i];
        int r = f->type == PROTOBUF_C_TYPE_ENUM      ? settle_enum(m, f)
                : f->type == PROTOBUF_C_TYPE_MESSAGE ? settle_messages(m, f, levels)
                                                     : 0;
        if (r < 0)
            return r;
    }
    return 0;
}

int ipc_enums_settle(ProtobufCMessage *m)
{
    return drop_unknown_enums(m, IPC_DEPTH_MAX);
}
