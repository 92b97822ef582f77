/* See render.h. */
#include "service/definition/render.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/conf-xml.h"
#include "service/definition/formats.h"
#include "service/definition/map.h"

#define CONTENT "content" /* the property with a template's text */
#define SOURCE_PAIRS_MAX 16384
#define TOKEN_MAX 256 /* bytes of a name in braces */

bool svc_file_is_rendered(const struct svc_file *f)
{
    return f->type != SVC_FILE_STATIC && f->type != SVC_FILE_ARCHIVE;
}

bool svc_file_needs_source(const struct svc_file *f)
{
    return svc_file_is_rendered(f) && *f->src;
}

struct render {
    const struct svc_file *f;
    const struct svc_tokens *t;
    struct sv_arena *a;
    struct sv_error *err;
};

/* ---- Values ---- */

static int substitute(struct render *r, const char *text, const char **ret)
{
    _cleanup_buf_ struct sv_buf out = SV_BUF_INIT(SVC_RENDERED_MAX);
    int rc = svc_tokens_replace(r->t, text, strlen(text), &out);
    char *copy;

    if (rc == 0)
        rc = sv_buf_put_u8(&out, 0);
    if (rc < 0)
        return rc;
    copy = sv_arena_memdup(r->a, out.data, out.len);
    if (!copy)
        return -ENOMEM;
    *ret = copy;
    return 0;
}

/* The map with its values' tokens replaced. */
static int substitute_map(struct render *r, const struct svc_map *m, struct svc_map *ret)
{
    struct svc_pair *pairs = sv_newn(r->a, struct svc_pair, m->n + 1);

    if (!pairs)
        return -ENOMEM;
    for (size_t i = 0; i < m->n; i++) {
        int rc = substitute(r, m->pairs[i].value, &pairs[i].value);

        if (rc < 0)
            return rc;
        pairs[i].name = m->pairs[i].name;
    }
    *ret = (struct svc_map){ pairs, m->n };
    return 0;
}

/* ---- XML with a source ---- */

struct property {
    struct svc_pair pair;
    size_t at;
};
struct source {
    struct sv_arena *a;
    struct property *list;
    size_t n;
};

static int take_property(const char *name, const char *value, bool final, int line, void *userdata)
{
    struct source *s = userdata;
    struct property *p = &s->list[s->n];

    (void) final;
    (void)line;
    if (s->n == SOURCE_PAIRS_MAX)
        return -E2BIG;
    p->pair.name = sv_arena_strdup(s->a, name);
    p->pair.value = sv_arena_strdup(s->a, value ? value : "");
    p->at = s->n++;
    return p->pair.name && p->pair.value ? 0 : -ENOMEM;
}

static int by_name_and_place(const void *a, const void *b)
{
    const struct property *x = a, *y = b;
    int c = strcmp(x->pair.name, y->pair.name);

    return c ? c : (x->at > y->at) - (x->at < y->at);
}

/* The properties of the source; of each name the last, as Hadoop reads them. */
static int read_source(struct render *r, const char *source, size_t n, struct svc_map *ret)
{
    struct source s = { r->a, sv_newn(r->a, struct property, SOURCE_PAIRS_MAX), 0 };
    struct svc_map m = { sv_newn(r->a, struct svc_pair, SOURCE_PAIRS_MAX), 0 };
    int rc;

    if (!s.list || !m.pairs)
        return -ENOMEM;
    rc = sv_conf_xml_parse(source, n, r->f->src, take_property, &s, r->err);
    if (rc < 0)
        return rc;
    qsort(s.list, s.n, sizeof *s.list, by_name_and_place);
    for (size_t i = 0; i < s.n; i++) {
        bool again = m.n && !strcmp(m.pairs[m.n - 1].name, s.list[i].pair.name);

        m.pairs[again ? m.n - 1 : m.n] = s.list[i].pair;
        m.n += !again;
    }
    *ret = m;
    return 0;
}

/* The file's own properties over those of the source; tokens of both are replaced. */
static int overlay(struct render *r, const char *source, size_t n, struct svc_map *ret)
{
    struct svc_map all = r->f->properties, below;
    int rc = source ? read_source(r, source, n, &below) : 0;

    if (rc == 0 && source)
        rc = svc_map_merge(&all, &below, r->a);
    return rc < 0 ? rc : substitute_map(r, &all, ret);
}

/* ---- TEMPLATE ---- */

/* The name in "${NAME}" or "{{NAME}}" at `s`, and its length with the braces; 0: there is none. */
static size_t braces_at(const char *s, size_t n, char *name, bool *ret_token)
{
    const char *close = s[0] == '$' ? "}" : "}}", *end;
    size_t len;

    if (n < 4 || s[1] != '{' || (s[0] != '$' && s[0] != '{'))
        return 0;
    end = memmem(s + 2, n - 2 < TOKEN_MAX ? n - 2 : TOKEN_MAX, close, strlen(close));
    if (!end)
        return 0;
    len = (size_t)(end - s) - 2;
    memcpy(name, s + 2, len);
    name[len] = '\0';
    *ret_token = s[0] == '$';
    return len + 2 + strlen(close);
}

/* Tokens come before properties of the same name. */
static const char *value_of(const struct render *r, const struct svc_map *values, const char *name,
                            bool token)
{
    const char *v = token ? svc_tokens_get(r->t, name) : NULL;

    return v ? v : strcmp(name, CONTENT) ? svc_map_get(values, name) : NULL;
}

/* One pass: what is put in is not looked at again. */
static int fill_template(struct render *r, const char *text, size_t n, struct sv_buf *out)
{
    struct svc_map values;
    char name[TOKEN_MAX + 1];
    size_t from = 0, len;
    bool token;
    int rc = substitute_map(r, &r->f->properties, &values);

    for (size_t i = 0; rc == 0 && i < n; i++) {
        const char *v = NULL;

        len = braces_at(text + i, n - i, name, &token);
        v = len ? value_of(r, &values, name, token) : NULL;
        if (!v)
            continue;
        rc = sv_buf_put(out, text + from, i - from);
        if (rc == 0)
            rc = sv_buf_put_str(out, v);
        from = i + len;
        i = from - 1;
    }
    return rc < 0 ? rc : sv_buf_put(out, text + from, n - from);
}

/* ---- Files ---- */

static int write_file(struct render *r, const char *source, size_t n, struct sv_buf *out)
{
    const char *text = source ? source : svc_map_get(&r->f->properties, CONTENT);
    struct svc_map m;
    int rc;

    if (r->f->type == SVC_FILE_TEMPLATE)
        return !text ? -EINVAL : fill_template(r, text, source ? n : strlen(text), out);
    rc = overlay(r, source, n, &m);
    if (rc < 0)
        return rc;
    switch (r->f->type) {
    case SVC_FILE_XML:
    case SVC_FILE_HADOOP_XML:
        return svc_write_xml(&m, out);
    case SVC_FILE_PROPERTIES:
        return svc_write_properties(&m, out);
    case SVC_FILE_JSON:
        return svc_write_json(&m, out);
    case SVC_FILE_YAML:
        return svc_write_yaml(&m, out);
    default:
        return -EINVAL;
    }
}

int svc_file_render(const struct svc_file *f, const char *source, size_t n_source,
                    const struct svc_tokens *t, struct sv_buf *out, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    _cleanup_buf_ struct sv_buf made = SV_BUF_INIT(SVC_RENDERED_MAX);
    struct sv_error why = { 0 };
    struct render r = { .f = f, .t = t, .a = a, .err = &why };
    int rc = a ? write_file(&r, source, n_source, &made) : -ENOMEM;

    if (rc == 0)
        rc = sv_buf_put(out, made.data, made.len);
    if (rc == -EMSGSIZE)
        return sv_error_set(err, rc, "file %s: longer than allowed with its tokens replaced",
                            f->dest);
    if (rc < 0 && *why.text)
        return sv_error_set(err, rc, "file %s: %s", f->dest, why.text);
    if (rc == -EINVAL)
        return sv_error_set(err, rc, "file %s: a value has bytes that its format cannot hold",
                            f->dest);
    return rc < 0 ? sv_error_errno(err, rc, "file %s", f->dest) : 0;
}
