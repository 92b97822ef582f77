/* See conf-dump.h. Names and values are the operator's. */
#include "common/web/conf-dump.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/conf-hidden.h"
#include "common/str.h"
#include "common/web/http.h"

#define DUMP_MAX ((size_t)16 << 20)

struct dump {
    struct sv_conf *conf;
    const char *only;
    bool json;
    struct sv_buf out;
    size_t keys;
    struct sv_conf_hidden *hidden;
};

/* --- rendering ------------------------------------------------------------------------------ */

static int put_json(struct sv_buf *b, const char *s)
{
    char escape[8];
    int r = sv_buf_put_u8(b, '"');

    for (; *s && r >= 0; s++) {
        unsigned char c = (unsigned char)*s;

        if (c == '"' || c == '\\' || c < 0x20) {
            (void)snprintf(escape, sizeof(escape), "\\u%04x", c);
            r = sv_buf_put_str(b, escape);
        } else {
            r = sv_buf_put_u8(b, c);
        }
    }
    return r < 0 ? r : sv_buf_put_u8(b, '"');
}

static int put_xml(struct sv_buf *b, const char *s)
{
    int r = 0;

    for (; *s && r >= 0; s++)
        r = *s == '<'   ? sv_buf_put_str(b, "&lt;")
            : *s == '>' ? sv_buf_put_str(b, "&gt;")
            : *s == '&' ? sv_buf_put_str(b, "&amp;")
                        : sv_buf_put_u8(b, (uint8_t)*s);
    return r;
}

static int put_parts(struct dump *d, const char *const parts[], size_t n)
{
    int r = 0;

    for (size_t i = 0; i < n && r >= 0; i++) /* literal text, then a value */
        r = i % 2 == 0 ? sv_buf_put_str(&d->out, parts[i])
            : d->json  ? put_json(&d->out, parts[i])
                       : put_xml(&d->out, parts[i]);
    return r;
}

static int add(const char *name, const char *value, void *userdata)
{
    struct dump *d = userdata;
    const struct sv_conf_key key = { .name = name };
    char origin[512];
    const char *source;

    if (d->only && !sv_streq(d->only, name))
        return 0;
    sv_conf_origin(d->conf, &key, origin, sizeof(origin)); /* "/dir/yarn-site.xml:12: key" */
    origin[strcspn(origin, ":")] = 0;
    source = strrchr(origin, '/') ? strrchr(origin, '/') + 1 : origin;
    if (sv_conf_is_hidden(d->hidden, name))
        value = SV_CONF_HIDDEN_VALUE;
    if (d->keys++ > 0 && d->json && sv_buf_put_u8(&d->out, ',') < 0)
        return -ENOMEM;
    if (d->json) {
        const char *const parts[] = {
            "{\"key\":", name, ",\"value\":", value, ",\"isFinal\":false,\"resource\":", source, "}"
        };

        return put_parts(d, parts, SV_ARRAY_LEN(parts));
    }
    {
        const char *const parts[] = { "<property><name>",
                                      name,
                                      "</name><value>",
                                      value,
                                      "</value><final>false</final><source>",
                                      source,
                                      "</source></property>\n" };

        return put_parts(d, parts, SV_ARRAY_LEN(parts));
    }
}

static int render(struct dump *d)
{
    const char *head = !d->json  ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration>\n"
                       : d->only ? "{\"property\":"
                                 : "{\"properties\":[";
    const char *tail = !d->json ? "</configuration>\n" : d->only ? "}" : "]}";
    int r = sv_buf_put_str(&d->out, head);

    if (r >= 0)
        r = sv_conf_each(d->conf, add, d);
    if (r >= 0 && d->only && d->keys == 0)
        r = -ENOENT;
    if (r >= 0)
        r = sv_buf_put_str(&d->out, tail);
    return r < 0 ? r : sv_buf_put_u8(&d->out, 0);
}

int sv_conf_dump(struct sv_conf *c, const char *name, bool json, char **ret)
{
    struct dump *d = calloc(1, sizeof(*d));
    int r;

    if (!d)
        return -ENOMEM;
    d->conf = c;
    d->only = name && *name ? name : NULL;
    d->json = json;
    d->out = SV_BUF_INIT(DUMP_MAX);
    d->hidden = sv_conf_hidden_new(c);
    r = render(d);
    sv_conf_hidden_free(d->hidden);
    if (r >= 0) {
        *ret = (char *)d->out.data;
        r = 0;
    } else {
        sv_buf_free(&d->out);
    }
    free(d);
    return r;
}

int sv_conf_answer(struct sv_conf *c, const struct sv_http_request *req,
                   struct sv_http_response *ret)
{
    const char *accept = sv_http_header(req, "Accept"), *name = sv_http_query(req, "name");
    bool json = accept && strstr(accept, "json");
    int r = sv_conf_dump(c, name, json, &ret->body);

    if (r == -ENOENT) {
        ret->status = 404;
        r = sv_asprintf(&ret->body, "Property %.200s not found\n", name);
    } else if (r >= 0) {
        ret->status = 200;
        ret->content_type = json ? "application/json; charset=utf-8" : "text/xml; charset=utf-8";
    }
    if (r < 0)
        return r;
    ret->body_len = strlen(ret->body);
    return 0;
}
