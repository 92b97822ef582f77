/* See jmx.h. */
#include "common/web/jmx.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "common/web/json-text.h"
#include "common/web/series.h"

#define TEXT_MAX ((size_t)64 << 20)
#define TAG "tag."

/* ---- Beans ---- */

static void set(json_t *bean, const char *key, json_t *value)
{
    (void)json_object_set_new(bean, key, value); /* no memory: the member is missing, ignoring */
}

void sv_jmx_tag(json_t *bean, const char *tag, const char *value)
{
    char key[64];

    (void)snprintf(key, sizeof(key), TAG "%s", tag);
    set(bean, key, sv_json_text(value));
}

void sv_jmx_num(json_t *bean, const char *attribute, int64_t value)
{
    set(bean, attribute, json_integer(value));
}

void sv_jmx_real(json_t *bean, const char *attribute, double value)
{
    set(bean, attribute, json_real(isfinite(value) ? value : 0));
}

json_t *sv_jmx_bean(const char *service, const char *name, const char *record, const char *context)
{
    char text[1024], host[256] = "";
    json_t *bean = json_object();

    (void)snprintf(text, sizeof(text), "Hadoop:service=%s,name=%s", service, name);
    (void)gethostname(host, sizeof(host) - 1); /* empty without one, ignoring */
    set(bean, "name", sv_json_text(text));
    set(bean, "modelerType", sv_json_text(record));
    sv_jmx_tag(bean, "Context", context);
    sv_jmx_tag(bean, "Hostname", host);
    return bean;
}

/* ---- /jmx ---- */

bool sv_jmx_matches(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = name;

    while (*name)
        if (*pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (*pattern == '?' || *pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++retry;
        } else
            return false;
    return !pattern[strspn(pattern, "*")];
}

/* Returns a new bean with this attribute alone. */
static json_t *only(json_t *bean, const char *attribute)
{
    json_t *part = json_object();

    (void)json_object_set(part, "name", json_object_get(bean, "name")); /* as in set */
    (void)json_object_set(part, "modelerType", json_object_get(bean, "modelerType"));
    if (json_object_get(bean, attribute))
        (void)json_object_set(part, attribute, json_object_get(bean, attribute));
    return part;
}

json_t *sv_jmx_select(json_t *bean, const struct sv_jmx_query *q)
{
    const char *name = json_string_value(json_object_get(bean, "name"));

    if (!name || (*q->bean && !sv_jmx_matches(q->bean, name)))
        return NULL;
    return *q->attribute ? only(bean, q->attribute) : json_incref(bean);
}

int sv_jmx_query(const struct sv_http_request *req, struct sv_jmx_query *ret)
{
    const char *get = sv_http_query(req, "get"), *pattern = sv_http_query(req, "qry");
    const char *colons = get ? strstr(get, "::") : NULL;
    size_t n = pattern ? strlen(pattern) : 0;

    if (get && *get) {
        if (!colons || strlen(colons + 2) >= sizeof(ret->attribute))
            return -EINVAL;
        pattern = get;
        n = (size_t)(colons - get);
    }
    if (n >= sizeof(ret->bean))
        return -EINVAL;
    *ret = (struct sv_jmx_query){ 0 };
    (void)snprintf(ret->bean, sizeof(ret->bean), "%.*s", (int)n, pattern ? pattern : "");
    if (get && *get)
        (void)snprintf(ret->attribute, sizeof(ret->attribute), "%s", colons + 2);
    return 0;
}

int sv_jmx_refuse(struct sv_http_response *ret)
{
    ret->status = 400; /* as Hadoop */
    ret->body = strdup("get: a bean's name, :: and an attribute; names as long as theirs\n");
    ret->body_len = ret->body ? strlen(ret->body) : 0;
    return ret->body ? 0 : -ENOMEM;
}

json_t *sv_jmx_selected(json_t *beans, const struct sv_jmx_query *q)
{
    json_t *list = json_array(), *bean;
    size_t i;

    json_array_foreach(beans, i, bean)
    {
        json_t *one = sv_jmx_select(bean, q);

        if (one)
            (void)json_array_append_new(list, one); /* as in set */
    }
    json_decref(beans);
    return list;
}

int sv_jmx_answer(const struct sv_http_request *req, json_t *beans, struct sv_http_response *ret)
{
    struct sv_jmx_query q;
    json_t *tree;

    if (sv_jmx_query(req, &q) < 0) {
        json_decref(beans);
        return sv_jmx_refuse(ret);
    }
    tree = json_pack("{s:o}", "beans", sv_jmx_selected(beans, &q));
    ret->body = tree ? json_dumps(tree, JSON_INDENT(2)) : NULL;
    json_decref(tree);
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    ret->content_type = SV_JMX_TYPE;
    ret->status = 200;
    return 0;
}

/* ---- Prometheus ---- */

static bool upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

static bool lower(char c)
{
    return c >= 'a' && c <= 'z';
}

void sv_prometheus_name(const char *record, const char *attribute, char ret[static 256])
{
    char whole[256];
    size_t n = 0;

    (void)snprintf(whole, sizeof(whole), "%.120s%c%.120s", record,
                   lower(*attribute) ? *attribute - 'a' + 'A'
                   : *attribute      ? *attribute
                                     : '_',
                   *attribute ? attribute + 1 : "");
    for (size_t i = 0; whole[i] && n + 3 < 256; i++) {
        char c = whole[i], before = i ? whole[i - 1] : '_';
        bool word = upper(c) || lower(c) || (c >= '0' && c <= '9') || c == '_';

        if (upper(c) && before != '_' && n && ret[n - 1] != '_' &&
            (!upper(before) || lower(whole[i + 1])))
            ret[n++] = '_';
        ret[n++] = (char)(upper(c) ? c - 'A' + 'a' : word ? c : '_');
    }
    ret[n] = 0;
}

static int put_value(struct sv_buf *b, const char *s)
{
    int r = 0;

    for (; *s && r >= 0; s++)
        if (*s == '\n')
            r = sv_buf_put_str(b, "\\n");
        else if (*s == '"' || *s == '\\')
            r = sv_buf_printf(b, "\\%c", *s);
        else
            r = sv_buf_put_u8(b, (uint8_t)*s);
    return r;
}

static int put_labels(struct sv_buf *b, json_t *bean)
{
    const char *key, *sep = "";
    char name[256];
    json_t *v;
    int r = sv_buf_put_u8(b, '{');

    json_object_foreach(bean, key, v)
    {
        if (r < 0 || !sv_has_prefix(key, TAG) || !json_is_string(v))
            continue;
        sv_prometheus_name("", key + strlen(TAG), name);
        r = sv_buf_printf(b, "%s%s=\"", sep, name);
        if (r >= 0)
            r = put_value(b, json_string_value(v));
        if (r >= 0)
            r = sv_buf_put_u8(b, '"');
        sep = ",";
    }
    return r < 0 ? r : sv_buf_put_u8(b, '}');
}

static const char *record_of(json_t *bean)
{
    const char *s = json_string_value(json_object_get(bean, "modelerType"));

    return s ? s : "";
}

/* Writes one attribute of every bean of the record. */
static int put_metric(struct sv_buf *b, json_t *beans, const char *record, const char *attribute)
{
    char name[256];
    json_t *bean, *v;
    size_t i;
    int r;

    sv_prometheus_name(record, attribute, name);
    r = sv_buf_printf(b, "# TYPE %s gauge\n", name);
    json_array_foreach(beans, i, bean)
    {
        v = json_object_get(bean, attribute);
        if (r < 0 || !json_is_number(v) || strcmp(record_of(bean), record) != 0)
            continue;
        r = sv_buf_put_str(b, name);
        if (r >= 0)
            r = put_labels(b, bean);
        if (r >= 0)
            r = json_is_integer(v) ? sv_buf_printf(b, " %lld\n", (long long)json_integer_value(v))
                                   : sv_buf_printf(b, " %.9g\n", json_real_value(v));
    }
    return r;
}

/* True if an earlier bean of the same record has already written its attributes. */
static bool seen(json_t *beans, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcmp(record_of(json_array_get(beans, k)), record_of(json_array_get(beans, i))) == 0)
            return true;
    return false;
}

static int put_beans(struct sv_buf *b, json_t *beans)
{
    const char *key;
    json_t *bean, *v;
    size_t i;
    int r = 0;

    json_array_foreach(beans, i, bean) if (!seen(beans, i))
        json_object_foreach(bean, key, v) if (r >= 0 && json_is_number(v)) r =
            put_metric(b, beans, record_of(bean), key);
    return r;
}

int sv_prometheus_answer(json_t *beans, struct sv_buf *more, struct sv_http_response *ret)
{
    struct sv_buf b = SV_BUF_INIT(TEXT_MAX);
    int r = put_beans(&b, beans);

    json_decref(beans);
    if (r >= 0 && more)
        r = sv_buf_put(&b, more->data, more->len);
    if (more)
        sv_buf_free(more);
    if (r < 0) {
        sv_buf_free(&b);
        return r;
    }
    ret->body = (char *)b.data; /* freed by the server */
    ret->body_len = b.len;
    ret->content_type = SV_PROMETHEUS_TYPE;
    ret->status = 200;
    return 0;
}
