/* Records as JSON: see record.h. Jackson, with which Hadoop writes them, escapes what JSON demands
 * and characters of two UTF-16 units. */
#include "registry/record.h"

#include <errno.h>
#include <string.h>

#include "common/utf8.h"

/* ---- The order of Java's HashMap ---- */

static uint32_t high_unit(uint32_t c)
{
    return 0xd800 + ((c - 0x10000) >> 10);
}

static uint32_t low_unit(uint32_t c)
{
    return 0xdc00 + ((c - 0x10000) & 0x3ff);
}

/* String.hashCode(): of UTF-16 units. */
static uint32_t hash_of(const char *s)
{
    const char *end = s + strlen(s);
    uint32_t h = 0, c;

    while (s < end) {
        size_t n = sv_utf8_at(s, (size_t)(end - s), &c);

        if (n == 0) {
            n = 1;
            c = 0xfffd;
        }
        if (c > 0xffff) {
            h = 31 * h + high_unit(c);
            c = low_unit(c);
        }
        h = 31 * h + c;
        s += n;
    }
    return h ^ h >> 16;
}

/* Buckets of a map that was made for `capacity` entries and has n: it doubles over three
 * quarters. */
static uint32_t buckets_of(uint32_t capacity, size_t n)
{
    for (size_t size = 1; size <= n; size++)
        if (size > capacity * 3 / 4)
            capacity *= 2;
    return capacity;
}

/* ---- JSON ---- */

static int put_escape(struct sv_buf *b, unsigned char c)
{
    static const char digits[] = "0123456789ABCDEF", from[] = "\b\t\n\f\r\"\\", to[] = "btnfr\"\\";
    const char *at = memchr(from, c, sizeof(from) - 1);
    const char text[] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };

    return at ? sv_buf_put(b, (const char[]){ '\\', to[at - from] }, 2)
              : sv_buf_put(b, text, sizeof(text));
}

/* Jackson escapes what UTF-16 has two units for. */
static int put_character(struct sv_buf *b, uint32_t c, const char *s, size_t n)
{
    if (c < ' ' || c == '"' || c == '\\')
        return put_escape(b, (unsigned char)c);
    if (c <= 0xffff)
        return sv_buf_put(b, s, n);
    return sv_buf_printf(b, "\\u%04X\\u%04X", high_unit(c), low_unit(c));
}

static int put_text(struct sv_buf *b, const char *s)
{
    const char *end = s + strlen(s);
    int r = sv_buf_put_u8(b, '"');
    uint32_t c;
    size_t n;

    for (; r == 0 && s < end; s += n) {
        n = sv_utf8_at(s, (size_t)(end - s), &c);
        if (n == 0)
            r = sv_buf_put_str(b, SV_UTF8_REPLACEMENT);
        else
            r = put_character(b, c, s, n);
        n = n > 0 ? n : 1;
    }
    return r < 0 ? r : sv_buf_put_u8(b, '"');
}

static int put_pair(struct sv_buf *b, const char *name, const char *value, bool first)
{
    int r = first ? 0 : sv_buf_put_u8(b, ',');

    if (r == 0)
        r = put_text(b, name);
    if (r == 0)
        r = sv_buf_put_u8(b, ':');
    return r < 0 ? r : put_text(b, value);
}

/* `any`: something stands before them. */
static int put_map(struct sv_buf *b, const struct reg_pair *list, size_t n, uint32_t capacity,
                   bool any)
{
    uint32_t buckets = buckets_of(capacity, n);
    uint32_t at[REG_LIST_MAX];
    int r = n > REG_LIST_MAX ? -EMSGSIZE : 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        at[i] = hash_of(list[i].name) & (buckets - 1);
    for (uint32_t bucket = 0; r == 0 && bucket < buckets; bucket++)
        for (size_t i = 0; r == 0 && i < n; i++)
            if (at[i] == bucket) {
                r = put_pair(b, list[i].name, list[i].value, !any);
                any = true;
            }
    return r;
}

static int put_endpoint(struct sv_buf *b, const struct reg_endpoint *e)
{
    int r = sv_buf_put_u8(b, '{');

    if (r == 0)
        r = put_pair(b, "api", e->api, true);
    if (r == 0)
        r = put_pair(b, "addressType", e->address_type, false);
    if (r == 0)
        r = put_pair(b, "protocolType", e->protocol, false);
    if (r == 0)
        r = sv_buf_put_str(b, ",\"addresses\":[");
    for (size_t i = 0; r == 0 && i < e->n; i++) {
        r = sv_buf_put_str(b, i > 0 ? ",{" : "{");
        if (r == 0)
            r = put_map(b, e->addresses[i].fields, e->addresses[i].n, 1, false);
        if (r == 0)
            r = sv_buf_put_u8(b, '}');
    }
    return r < 0 ? r : sv_buf_put_str(b, "]}");
}

static int put_endpoints(struct sv_buf *b, const char *name, const struct reg_endpoint *list,
                         size_t n)
{
    int r = sv_buf_printf(b, ",\"%s\":[", name);

    for (size_t i = 0; r == 0 && i < n; i++) {
        r = i > 0 ? sv_buf_put_u8(b, ',') : 0;
        if (r == 0)
            r = put_endpoint(b, &list[i]);
    }
    return r < 0 ? r : sv_buf_put_u8(b, ']');
}

int reg_record_print(const struct reg_record *record, struct sv_buf *out)
{
    int r = sv_buf_put_str(out, "{\"type\":\"JSONServiceRecord\"");

    if (r == 0 && record->description)
        r = put_pair(out, "description", record->description, false);
    if (r == 0)
        r = put_endpoints(out, "external", record->external, record->n_external);
    if (r == 0)
        r = put_endpoints(out, "internal", record->internal, record->n_internal);
    if (r == 0)
        r = put_map(out, record->attributes, record->n_attributes, 4, true);
    return r < 0 ? r : sv_buf_put_u8(out, '}');
}
