/* The pre-scan of depth.h: one pass over the wire format, driven by the descriptor. Descends only
 * into fields that the descriptor declares as messages. Every byte of the input is hostile. */
#include "wire/depth.h"

#include <errno.h>
#include <string.h>

#include "wire/enums.h"

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LENGTH = 2, WIRE_32 = 5 };

struct depth_frame {
    const ProtobufCMessageDescriptor *d;
    const uint8_t *end;
    uint64_t seen[2]; /* singular fields seen, by their index */
};

/* At most 10 bytes, value in 64 bits (higher bits of the tenth byte are dropped, as everywhere). */
static int varint(const uint8_t **p, const uint8_t *end, uint64_t *ret)
{
    const uint8_t *s = *p;
    uint64_t v = 0;

    for (unsigned i = 0; i < 10 && s < end; i++) {
        uint8_t c = *s++;

        v |= (uint64_t)(c & 0x7f) << (7 * i);
        if (c < 0x80) {
            *p = s;
            *ret = v;
            return 0;
        }
    }
    return -EBADMSG;
}

/* UTF-8 by RFC 3629: shortest form, no surrogates, at most U+10FFFF; no NUL. */
bool ipc_text_ok(const uint8_t *p, size_t n)
{
    const uint8_t *end = p + n;

    while (p < end) {
        uint8_t c = *p++, low = 0x80, high = 0xbf;
        unsigned more;

        if (c == 0)
            return false;
        if (c < 0x80)
            continue;
        if (c >= 0xc2 && c <= 0xdf)
            more = 1;
        else if (c >= 0xe0 && c <= 0xef)
            more = 2;
        else if (c >= 0xf0 && c <= 0xf4)
            more = 3;
        else
            return false;
        if (c == 0xe0)
            low = 0xa0;
        else if (c == 0xed)
            high = 0x9f;
        else if (c == 0xf0)
            low = 0x90;
        else if (c == 0xf4)
            high = 0x8f;
        for (; more > 0; more--, low = 0x80, high = 0xbf)
            if (p == end || *p < low || *p++ > high)
                return false;
    }
    return true;
}

static bool is_delimited(const ProtobufCFieldDescriptor *f)
{
    return f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_BYTES ||
           f->type == PROTOBUF_C_TYPE_MESSAGE;
}

/* The wire type that protobuf-c expects for a field; repeated numbers may also be packed. */
static bool type_fits(const ProtobufCFieldDescriptor *f, unsigned wire)
{
    unsigned own;

    if (is_delimited(f))
        return wire == WIRE_LENGTH;
    switch (f->type) {
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        own = WIRE_32;
        break;
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        own = WIRE_64;
        break;
    default:
        own = WIRE_VARINT;
        break;
    }
    return wire == own || (wire == WIRE_LENGTH && f->label == PROTOBUF_C_LABEL_REPEATED);
}

/* True for the first occurrence of a singular field; marks it as seen. */
static bool is_first(struct depth_frame *in, const ProtobufCFieldDescriptor *f)
{
    size_t i = (size_t)(f - in->d->fields);
    uint64_t bit = UINT64_C(1) << (i % 64);

    if (i >= 64 * SV_ARRAY_LEN(in->seen) || (in->seen[i / 64] & bit))
        return false;
    in->seen[i / 64] |= bit;
    return true;
}

/* Moves *p past one value without descending into it; *ret_len is the length of a delimited
 * value. */
static int skip_value(const uint8_t **p, const uint8_t *end, unsigned wire, size_t *ret_len)
{
    uint64_t v;
    size_t fixed;

    *ret_len = 0;
    switch (wire) {
    case WIRE_VARINT:
        return varint(p, end, &v);
    case WIRE_64:
    case WIRE_32:
        fixed = wire == WIRE_64 ? 8 : 4;
        if ((size_t)(end - *p) < fixed)
            return -EBADMSG;
        *p += fixed;
        return 0;
    case WIRE_LENGTH:
        if (varint(p, end, &v) < 0 || v > (uint64_t)(end - *p))
            return -EBADMSG;
        *p += v;
        *ret_len = (size_t)v;
        return 0;
    default:
        return -EBADMSG;
    }
}

/* True if all values of an enum field, single or packed, are known. */
static bool enums_known(const ProtobufCFieldDescriptor *f, const uint8_t *p, const uint8_t *end)
{
    uint64_t v;

    while (p < end)
        if (varint(&p, end, &v) < 0 || !ipc_enum_known(f->descriptor, (int)(uint32_t)v))
            return false;
    return true;
}

/* Members of a packed list of numbers. */
static size_t packed_members(const ProtobufCFieldDescriptor *f, const uint8_t *p, size_t len)
{
    size_t n = 0;

    if (type_fits(f, WIRE_32) || type_fits(f, WIRE_64))
        return len / (type_fits(f, WIRE_32) ? 4 : 8);
    for (size_t i = 0; i < len; i++)
        n += p[i] < 0x80; /* the last byte of a varint */
    return n;
}

/* Items of one occurrence of a field: a sub-message, the members of a list. */
static size_t items_of(const ProtobufCFieldDescriptor *f, unsigned wire, const uint8_t *value,
                       size_t len)
{
    if (f->label != PROTOBUF_C_LABEL_REPEATED)
        return f->type == PROTOBUF_C_TYPE_MESSAGE;
    return wire == WIRE_LENGTH && !is_delimited(f) ? packed_members(f, value, len) : 1;
}

int ipc_depth_check(const uint8_t *p, size_t n, const ProtobufCMessageDescriptor *d,
                    unsigned max_depth)
{
    bool odd;

    return ipc_depth_look(p, n, d, max_depth, SIZE_MAX, &odd);
}

int ipc_depth_look(const uint8_t *p, size_t n, const ProtobufCMessageDescriptor *d,
                   unsigned max_depth, size_t max_items, bool *ret_odd_enum)
{
    struct depth_frame stack[IPC_DEPTH_MAX];
    size_t unknown = 0, depth = 1, items = 0;
    bool odd = false;

    if (max_depth < 1 || max_depth > IPC_DEPTH_MAX)
        max_depth = IPC_DEPTH_MAX;
    stack[0] = (struct depth_frame){ .d = d, .end = p + n };
    while (depth > 0) {
        struct depth_frame *in = &stack[depth - 1];
        const ProtobufCFieldDescriptor *f;
        const uint8_t *value, *whole;
        uint64_t key;
        size_t len;
        bool again; /* a singular field that was given before: it replaces that value */
        int r;

        if (p == in->end) {
            depth--;
            continue;
        }
        if (varint(&p, in->end, &key) < 0 || key >> 32 != 0 || key >> 3 == 0)
            return -EBADMSG;
        whole = p;
        r = skip_value(&p, in->end, (unsigned)(key & 7), &len);
        if (r < 0)
            return r;
        value = p - len;
        f = protobuf_c_message_descriptor_get_field(in->d, (unsigned)(key >> 3));
        if (!f) {
            if (++unknown > SV_MIN(IPC_UNKNOWN_MAX(n), max_items))
                return -E2BIG;
            continue;
        }
        if (!type_fits(f, (unsigned)(key & 7)))
            return -EBADMSG;
        again = f->label != PROTOBUF_C_LABEL_REPEATED && !is_first(in, f);
        items += again ? 1 : items_of(f, (unsigned)(key & 7), value, len);
        if (items > max_items)
            return -EMSGSIZE;
        if (f->type == PROTOBUF_C_TYPE_ENUM && !odd)
            odd = !enums_known(f, (key & 7) == WIRE_LENGTH ? value : whole, p);
        if (f->type == PROTOBUF_C_TYPE_STRING && !ipc_text_ok(value, len))
            return -EILSEQ;
        if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
            if (again)
                return -EBADMSG;
            if (depth >= max_depth)
                return -ELOOP;
            stack[depth++] = (struct depth_frame){ .d = f->descriptor, .end = value + len };
            p = value;
        }
    }
    *ret_odd_enum = odd;
    return 0;
}
