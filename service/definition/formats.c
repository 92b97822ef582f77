/* See formats.h. */
#include "service/definition/formats.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"

/* Calls `put` for each character of the text. */
static int each_character(const char *s, struct sv_buf *out,
                          int (*put)(struct sv_buf *out, uint32_t c, const char *s, size_t n))
{
    size_t left = strlen(s);
    int r = 0;

    while (left && r == 0) {
        uint32_t c;
        size_t n = sv_utf8_at(s, left, &c);

        if (!n)
            return -EINVAL;
        r = put(out, c, s, n);
        s += n;
        left -= n;
    }
    return r;
}

/* ---- XML ---- */

static int put_xml(struct sv_buf *out, uint32_t c, const char *s, size_t n)
{
    switch (c) {
    case '<':
        return sv_buf_put_str(out, "&lt;");
    case '>':
        return sv_buf_put_str(out, "&gt;");
    case '&':
        return sv_buf_put_str(out, "&amp;");
    case '\r': /* else a reader makes it a newline */
        return sv_buf_put_str(out, "&#13;");
    default:
        break;
    }
    if ((c < ' ' && c != '\t' && c != '\n') || c == 0xfffe || c == 0xffff)
        return -EINVAL;
    return sv_buf_put(out, s, n);
}

int svc_write_xml(const struct svc_map *m, struct sv_buf *out)
{
    int r = sv_buf_put_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration>\n");

    for (size_t i = 0; r == 0 && i < m->n; i++) {
        r = sv_buf_put_str(out, "  <property><name>");
        if (r == 0)
            r = each_character(m->pairs[i].name, out, put_xml);
        if (r == 0)
            r = sv_buf_put_str(out, "</name><value>");
        if (r == 0)
            r = each_character(m->pairs[i].value, out, put_xml);
        if (r == 0)
            r = sv_buf_put_str(out, "</value></property>\n");
    }
    return r < 0 ? r : sv_buf_put_str(out, "</configuration>\n");
}

/* ---- java.util.Properties ---- */

static int put_unit(struct sv_buf *out, uint32_t unit)
{
    return sv_buf_printf(out, "\\u%04X", (unsigned)unit);
}

static int put_escaped(struct sv_buf *out, uint32_t c)
{
    static const char plain[] = "\t\n\r\f", letters[] = "tnrf";
    const char *p = c && c < 128 ? strchr(plain, (int)c) : NULL;
    int r;

    if (p)
        return sv_buf_printf(out, "\\%c", letters[p - plain]);
    if (c && c < 128 && strchr("\\=:#!", (int)c))
        return sv_buf_printf(out, "\\%c", (int)c);
    if (c >= ' ' && c < 127)
        return sv_buf_put_u8(out, (uint8_t)c);
    if (c < 0x10000)
        return put_unit(out, c);
    r = put_unit(out, 0xd800 + ((c - 0x10000) >> 10)); /* Java's text is UTF-16 */
    return r < 0 ? r : put_unit(out, 0xdc00 + ((c - 0x10000) & 0x3ff));
}

static int put_value(struct sv_buf *out, uint32_t c, const char *s, size_t n)
{
    (void)s;
    (void)n;
    return put_escaped(out, c);
}

static int put_name(struct sv_buf *out, uint32_t c, const char *s, size_t n)
{
    (void)s;
    (void)n;
    return c == ' ' ? sv_buf_put_str(out, "\\ ") : put_escaped(out, c);
}

int svc_write_properties(const struct svc_map *m, struct sv_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->n; i++) {
        const char *value = m->pairs[i].value;

        r = each_character(m->pairs[i].name, out, put_name);
        if (r == 0) /* a blank at the beginning alone would be skipped */
            r = sv_buf_put_str(out, *value == ' ' ? "=\\" : "=");
        if (r == 0)
            r = each_character(value, out, put_value);
        if (r == 0)
            r = sv_buf_put_u8(out, '\n');
    }
    return r;
}

/* ---- JSON ---- */

int svc_write_json(const struct svc_map *m, struct sv_buf *out)
{
    json_t *v = json_object();
    char *text;
    int r = v ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < m->n; i++)
        if (json_object_set_new(v, m->pairs[i].name, json_string(m->pairs[i].value)) < 0)
            r = -EINVAL; /* not UTF-8 */
    text = r == 0 ? json_dumps(v, JSON_INDENT(2)) : NULL;
    json_decref(v);
    if (r < 0 || !text)
        return r < 0 ? r : -ENOMEM;
    r = sv_buf_printf(out, "%s\n", text);
    free(text);
    return r;
}

/* ---- YAML ---- */

/* Every text in quotes: 8080, no and 1e3 stay texts, whatever the reader's version. */
static int put_yaml(struct sv_buf *out, uint32_t c, const char *s, size_t n)
{
    if (c == '"' || c == '\\')
        return sv_buf_printf(out, "\\%c", (int)c);
    if (c == '\n')
        return sv_buf_put_str(out, "\\n");
    if (c < ' ' || (c >= 127 && c < 0xa0))
        return sv_buf_printf(out, "\\x%02x", (unsigned)c);
    if (c == 0x2028 || c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
        return sv_buf_printf(out, "\\u%04x", (unsigned)c);
    return sv_buf_put(out, s, n);
}

int svc_write_yaml(const struct svc_map *m, struct sv_buf *out)
{
    int r = m->n ? 0 : sv_buf_put_str(out, "{}\n");

    for (size_t i = 0; r == 0 && i < m->n; i++) {
        r = sv_buf_put_u8(out, '"');
        if (r == 0)
            r = each_character(m->pairs[i].name, out, put_yaml);
        if (r == 0)
            r = sv_buf_put_str(out, "\": \"");
        if (r == 0)
            r = each_character(m->pairs[i].value, out, put_yaml);
        if (r == 0)
            r = sv_buf_put_str(out, "\"\n");
    }
    return r;
}
