/* See reader.h. */
#include "service/definition/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "service/definition/map.h"

/* ---- Messages ---- */

static size_t _printf_(2, 3) enter(struct svc_reader *in, const char *fmt, ...)
{
    size_t n = strlen(in->path);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(in->path + n, sizeof in->path - n, fmt, ap); /* cut, ignoring */
    va_end(ap);
    return n;
}

size_t svc_enter_field(struct svc_reader *in, const char *name)
{
    char shown[64];

    sv_escape(shown, sizeof shown, name);
    return enter(in, "%s%s", *in->path ? "." : "", shown);
}

size_t svc_enter_key(struct svc_reader *in, const char *key)
{
    char shown[96];

    sv_escape(shown, sizeof shown, key);
    return enter(in, "[\"%s\"]", shown);
}

size_t svc_enter_index(struct svc_reader *in, size_t i)
{
    return enter(in, "[%zu]", i);
}

void svc_leave(struct svc_reader *in, size_t before)
{
    in->path[before] = '\0';
}

int svc_wrong(const struct svc_reader *in, const json_t *v, const char *fmt, ...)
{
    char *text = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char rule[512], shown[96];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(rule, sizeof rule, fmt, ap); /* cut, ignoring */
    va_end(ap);
    sv_escape(shown, sizeof shown, text ? text : "");
    free(text);
    return sv_error_set(in->err, -EINVAL, "%s: %s%s%s", *in->path ? in->path : "definition", shown,
                        *shown ? ": " : "", rule);
}

int svc_no_memory(const struct svc_reader *in)
{
    return sv_error_errno(in->err, -ENOMEM, "%s", *in->path ? in->path : "definition");
}

/* ---- Values ---- */

int svc_read_text(struct svc_reader *in, const json_t *v, size_t max, const char **ret)
{
    const char *s;

    if (json_string_length(v) > max)
        return svc_wrong(in, NULL, "%zu bytes: at most %zu", json_string_length(v), max);
    if (json_is_string(v))
        s = sv_arena_strdup(in->a, json_string_value(v));
    else if (json_is_integer(v))
        s = sv_arena_printf(in->a, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    else if (json_is_boolean(v))
        s = json_is_true(v) ? "true" : "false";
    else
        return svc_wrong(in, v, json_is_real(v) ? "a text: write it in quotes" : "a text");
    if (!s)
        return svc_no_memory(in);
    *ret = s;
    return 0;
}

int svc_read_number(struct svc_reader *in, const json_t *v, int64_t min, int64_t max, int64_t *ret)
{
    int64_t n = 0;
    int r = 0;

    if (json_is_integer(v))
        n = json_integer_value(v);
    else
        r = json_is_string(v) ? sv_parse_i64(json_string_value(v), INT64_MIN, INT64_MAX, &n)
                              : -EINVAL;
    if (r < 0 || n < min || n > max)
        return svc_wrong(in, v, "a whole number from %" PRId64 " to %" PRId64, min, max);
    *ret = n;
    return 0;
}

int svc_read_enum(struct svc_reader *in, const struct svc_field *f, const json_t *v, unsigned *ret)
{
    const char *s = json_string_value(v);
    char names[160] = "";
    size_t n = 0;

    for (unsigned i = 0; f->names[i]; i++) {
        if (!*f->names[i])
            continue;
        if (s && (!strcmp(s, f->names[i]) || (f->stored_names && !strcmp(s, f->stored_names[i])))) {
            *ret = i;
            return 0;
        }
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", f->names[i]);
    }
    if (s && !strcmp(s, "DOCKER"))
        return svc_wrong(in, v,
                         "Docker images are not supported, programs run in the node's "
                         "sandbox: use a TARBALL or leave the artifact out");
    return svc_wrong(in, v, "one of %s", names);
}

int svc_read_names(struct svc_reader *in, const json_t *v, size_t max, const char ***ret,
                   size_t *ret_n)
{
    size_t n = json_array_size(v);
    const char **texts;

    if (!json_is_array(v))
        return svc_wrong(in, v, "a list of texts");
    if (n > max)
        return svc_wrong(in, NULL, "%zu entries: at most %zu", n, max);
    texts = sv_newn(in->a, const char *, n + 1);
    if (!texts)
        return svc_no_memory(in);
    for (size_t i = 0; i < n; i++) {
        size_t before = svc_enter_index(in, i);
        int r = svc_read_text(in, json_array_get(v, i), SVC_LIST_TEXT_MAX, &texts[i]);

        if (r < 0)
            return r;
        svc_leave(in, before);
    }
    *ret = texts;
    *ret_n = n;
    return 0;
}

/* ["a", "b"] as "a,b". */
static int read_joined(struct svc_reader *in, const json_t *list, const char **ret)
{
    const char **texts;
    size_t n, len = 0;
    int r = svc_read_names(in, list, SVC_NAMES_MAX, &texts, &n);
    char *s, *p;

    if (r < 0)
        return r;
    for (size_t i = 0; i < n; i++) {
        if (!*texts[i] || strchr(texts[i], ','))
            return svc_wrong(in, list, "values that are not empty, without commas");
        len += strlen(texts[i]) + 1;
    }
    if (!len)
        return svc_wrong(in, list, "at least one value");
    s = p = sv_arena_alloc(in->a, len);
    if (!s)
        return svc_no_memory(in);
    for (size_t i = 0; i < n; i++)
        p = stpcpy(i ? stpcpy(p, ",") : p, texts[i]);
    *ret = s;
    return 0;
}

static int read_pair(struct svc_reader *in, const char *name, const json_t *v, bool lists,
                     struct svc_pair *ret)
{
    size_t before = svc_enter_key(in, name);
    int r;

    if (!*name || strlen(name) > SVC_PAIR_NAME_MAX)
        return svc_wrong(in, NULL, "a name of 1 to %d bytes", SVC_PAIR_NAME_MAX);
    r = lists ? read_joined(in, v, &ret->value) : svc_read_text(in, v, SVC_TEXT_MAX, &ret->value);
    if (r < 0)
        return r;
    ret->name = sv_arena_strdup(in->a, name);
    if (!ret->name)
        return svc_no_memory(in);
    svc_leave(in, before);
    return 0;
}

int svc_read_map(struct svc_reader *in, const json_t *v, size_t max, bool lists,
                 struct svc_map *ret)
{
    struct svc_map m = { 0 };
    const char *name;
    json_t *value;

    if (!json_is_object(v))
        return svc_wrong(in, v, "an object of names and %s", lists ? "lists of texts" : "texts");
    if (json_object_size(v) > max)
        return svc_wrong(in, NULL, "%zu entries: at most %zu", json_object_size(v), max);
    m.pairs = sv_newn(in->a, struct svc_pair, json_object_size(v) + 1);
    if (!m.pairs)
        return svc_no_memory(in);
    json_object_foreach((json_t *)(uintptr_t)v, name, value)
    {
        int r = read_pair(in, name, value, lists, &m.pairs[m.n]);

        if (r < 0)
            return r;
        m.n++;
    }
    (void)svc_map_sort(&m); /* an object's names differ, ignoring */
    *ret = m;
    return 0;
}
