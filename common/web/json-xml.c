/* See json-xml.h. */
#include "common/web/json-xml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

#define DEPTH_MAX 64

static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int put_name(struct sv_buf *b, const char *name)
{
    int r = *name ? 0 : sv_buf_put_u8(b, '_');

    for (const char *p = name; *p && r >= 0; p++) {
        bool good =
            starts_name(*p) || (p > name && ((*p >= '0' && *p <= '9') || *p == '-' || *p == '.'));

        r = sv_buf_put_u8(b, (uint8_t)(good ? *p : '_'));
    }
    return r;
}

/* XML excludes U+FFFE and U+FFFF. */
static bool is_no_character(const char *p)
{
    return strncmp(p, "\xef\xbf\xbe", 3) == 0 || strncmp(p, "\xef\xbf\xbf", 3) == 0;
}

static int put_text(struct sv_buf *b, const char *p)
{
    int r = 0;

    for (; *p && r >= 0; p++)
        if (*p == '<')
            r = sv_buf_put_str(b, "&lt;");
        else if (*p == '>')
            r = sv_buf_put_str(b, "&gt;");
        else if (*p == '&')
            r = sv_buf_put_str(b, "&amp;");
        else if (*p == '"')
            r = sv_buf_put_str(b, "&quot;");
        else if ((unsigned char)*p < ' ' && *p != '\t' && *p != '\n' && *p != '\r')
            r = sv_buf_put_u8(b, '?');
        else if (is_no_character(p)) {
            r = sv_buf_put_u8(b, '?');
            p += 2;
        } else
            r = sv_buf_put_u8(b, (uint8_t)*p);
    return r;
}

static int put_scalar(struct sv_buf *b, const json_t *v)
{
    char *text;
    int r;

    if (json_is_string(v))
        return put_text(b, json_string_value(v));
    text = json_dumps(v, JSON_ENCODE_ANY);
    if (!text)
        return -ENOMEM;
    r = sv_buf_put_str(b, text);
    free(text);
    return r;
}

static bool is_attribute(const char *key, const json_t *v)
{
    return *key == '@' && json_is_string(v);
}

/* The prefix of "xsi:type" is a name of its own. */
static int put_attribute(struct sv_buf *b, const char *name, const json_t *v)
{
    const char *colon = strchr(name, ':');
    int r = sv_buf_put_u8(b, ' ');

    if (colon) {
        _cleanup_free_ char *prefix = strndup(name, (size_t)(colon - name));

        if (!prefix)
            return -ENOMEM;
        r = r < 0 ? r : put_name(b, prefix);
        r = r < 0 ? r : sv_buf_put_u8(b, ':');
        name = colon + 1;
    }
    r = r < 0 ? r : put_name(b, name);
    r = r < 0 ? r : sv_buf_put_str(b, "=\"");
    r = r < 0 ? r : put_text(b, json_string_value(v));
    return r < 0 ? r : sv_buf_put_u8(b, '"');
}

/* `tree`: of the attributes, or NULL. */
static int put_tag(struct sv_buf *b, const char *open, const char *name, json_t *tree)
{
    int r = sv_buf_put_str(b, open);
    const char *key;
    json_t *v;

    if (r >= 0)
        r = put_name(b, name);
    if (json_is_object(tree))
        json_object_foreach(tree, key, v) if (r >= 0 && is_attribute(key, v)) r =
            put_attribute(b, key + 1, v);
    return r < 0 ? r : sv_buf_put_u8(b, '>');
}

static int put_member(struct sv_buf *b, const char *name, json_t *v, int depth);

static int put_element(struct sv_buf *b, const char *name, json_t *v, int depth)
{
    const char *key;
    json_t *child;
    int r = put_tag(b, "<", name, v);

    if (r >= 0 && !json_is_object(v))
        r = put_scalar(b, v);
    else if (r >= 0)
        json_object_foreach(v, key, child) if (r >= 0 && !is_attribute(key, child)) r =
            put_member(b, key, child, depth + 1);
    return r < 0 ? r : put_tag(b, "</", name, NULL);
}

/* A list repeats its element; nested lists are flattened. */
static int put_member(struct sv_buf *b, const char *name, json_t *v, int depth)
{
    json_t *one;
    size_t i;
    int r = 0;

    if (depth > DEPTH_MAX)
        return -EMSGSIZE;
    if (json_is_null(v))
        return 0;
    if (!json_is_array(v))
        return put_element(b, name, v, depth);
    json_array_foreach(v, i, one) if (r >= 0) r = put_member(b, name, one, depth + 1);
    return r;
}

int sv_json_xml_element(json_t *tree, const char *name, struct sv_buf *out)
{
    return put_element(out, name, tree, 0);
}

int sv_json_to_xml(json_t *tree, const char *root, struct sv_buf *out)
{
    void *first = json_object_iter(tree);
    int r = sv_buf_put_str(out, SV_XML_HEAD);

    if (r < 0)
        return r;
    if (!root && json_object_size(tree) == 1 && json_is_object(json_object_iter_value(first)))
        return put_element(out, json_object_iter_key(first), json_object_iter_value(first), 0);
    return put_element(out, root ? root : "response", tree, 0);
}

/* ---- Accept ---- */

/* The quality of one range ("application/xml;q=0.9"), in thousandths. */
static int quality(const char *p, const char *end)
{
    const char *q = memchr(p, ';', (size_t)(end - p));
    int v = 0, unit = 100;

    while (q && q < end) {
        q += 1 + strspn(q + 1, " \t");
        if (end - q > 2 && (*q == 'q' || *q == 'Q') && q[1] == '=')
            break;
        q = q < end ? memchr(q, ';', (size_t)(end - q)) : NULL;
    }
    if (!q || end - q <= 2 || q[2] != '0')
        return 1000;
    for (q += 3; q < end && (*q == '.' || (*q >= '0' && *q <= '9')); q++)
        if (*q != '.') {
            v += (*q - '0') * unit;
            unit /= 10;
        }
    return v;
}

bool sv_xml_accepted(const char *accept)
{
    static const char *const xml[] = { "application/xml", "text/xml" };
    static const char *const json[] = { "application/json", "application/*", "*/*" };
    int best_xml = 0, best_json = 0;

    for (const char *p = accept, *end; p && *p; p = *end ? end + 1 : end) {
        size_t n;

        p += strspn(p, " \t");
        end = p + strcspn(p, ",");
        n = strcspn(p, ",; \t");
        for (size_t i = 0; i < SV_ARRAY_LEN(xml); i++)
            if (n == strlen(xml[i]) && strncasecmp(p, xml[i], n) == 0)
                best_xml = SV_MAX(best_xml, quality(p, end));
        for (size_t i = 0; i < SV_ARRAY_LEN(json); i++)
            if (n == strlen(json[i]) && strncasecmp(p, json[i], n) == 0)
                best_json = SV_MAX(best_json, quality(p, end));
    }
    return best_xml > best_json;
}
