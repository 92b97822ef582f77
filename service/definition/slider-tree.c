/* See slider-tree.h. */
#include "service/definition/slider-tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/definition/map.h"
#include "service/definition/read.h"
#include "service/definition/reader.h"
#include "service/definition/refuse.h"

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct svc_slider_component *)a)->name,
                  ((const struct svc_slider_component *)b)->name);
}

static int read_components(struct svc_reader *in, const json_t *v, struct svc_slider_tree *t)
{
    size_t n = json_object_size(v);
    const char *name;
    json_t *options;

    if (!json_is_object(v) || n > SVC_COMPONENTS_MAX)
        return svc_wrong(in, NULL, "an object of at most %d components", SVC_COMPONENTS_MAX);
    t->components = sv_newn(in->a, struct svc_slider_component, n + 1);
    if (!t->components)
        return svc_no_memory(in);
    json_object_foreach((json_t *)(uintptr_t)v, name, options)
    {
        struct svc_slider_component *c = &t->components[t->n_components];
        size_t before = svc_enter_key(in, name);
        int r = svc_read_map(in, options, SVC_PAIRS_MAX, false, &c->options);

        if (r < 0)
            return r;
        c->name = sv_arena_strdup(in->a, name);
        if (!c->name)
            return svc_no_memory(in);
        t->n_components++;
        svc_leave(in, before);
    }
    qsort(t->components, t->n_components, sizeof *t->components, by_name);
    return 0;
}

static int read_tree(struct svc_reader *in, const json_t *v, struct svc_slider_tree *t)
{
    const json_t *schema = json_object_get(v, "schema"), *global = json_object_get(v, "global"),
                 *components = json_object_get(v, "components");
    size_t before;
    int r = 0;

    if (!json_is_string(schema) || strcmp(json_string_value(schema), SVC_SLIDER_SCHEMA))
        return svc_wrong(in, schema, "schema: " SVC_SLIDER_SCHEMA);
    if (global && !json_is_null(global)) {
        before = svc_enter_field(in, "global");
        r = svc_read_map(in, global, SVC_PAIRS_MAX, false, &t->global);
        if (r < 0)
            return r;
        svc_leave(in, before);
    }
    if (!components || json_is_null(components))
        return 0;
    (void)svc_enter_field(in, "components"); /* the last one, ignoring */
    return read_components(in, components, t);
}

int svc_slider_tree_read(const char *file, const char *json, size_t len, struct sv_arena *a,
                         struct svc_slider_tree *ret, struct sv_error *err)
{
    struct svc_slider_tree t = { .file = file };
    struct svc_reader in = { .a = a, .err = err, .dialect = SVC_HADOOP };
    json_t *v = NULL;
    int r = json ? svc_json_load(json, len, &v, err) : 0;

    if (r == 0 && v) {
        (void)snprintf(in.path, sizeof in.path, "%s", file);
        r = read_tree(&in, v, &t);
    } else if (r < 0 && err) {
        r = sv_error_wrap(err, "%s", file);
    }
    json_decref(v);
    if (r < 0)
        return r;
    *ret = t;
    return 0;
}

const struct svc_map *svc_slider_options(const struct svc_slider_tree *t, const char *component)
{
    static const struct svc_map none;
    struct svc_slider_component key = { .name = component };
    const struct svc_slider_component *c =
        t->n_components
            ? bsearch(&key, t->components, t->n_components, sizeof *t->components, by_name)
            : NULL;

    return c ? &c->options : &none;
}

int svc_slider_tree_resolve(struct svc_slider_tree *t, struct sv_arena *a)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < t->n_components; i++)
        r = svc_map_merge(&t->components[i].options, &t->global, a);
    return r;
}

static int decode(const char *s, int64_t *ret)
{
    bool minus = *s == '-';
    const char *digits = s + (minus || *s == '+');
    int base = 10;
    char *end;

    if (digits[0] == '#' || (digits[0] == '0' && (digits[1] | ' ') == 'x')) {
        base = 16;
        digits += digits[0] == '#' ? 1 : 2;
    } else if (digits[0] == '0' && digits[1]) {
        base = 8;
        digits++;
    }
    if (!*digits || strspn(digits, "0123456789abcdefABCDEF") != strlen(digits) ||
        strlen(digits) > 15)
        return -EINVAL;
    *ret = strtoll(digits, &end, base);
    if (*end)
        return -EINVAL;
    if (minus)
        *ret = -*ret;
    return 0;
}

int svc_slider_int(const struct svc_slider_tree *t, const struct svc_slider_component *c,
                   const char *option, int64_t def, int64_t min, int64_t max, int64_t *ret,
                   struct sv_error *err)
{
    const char *v = svc_map_get(c ? &c->options : &t->global, option);
    struct svc_path at =
        svc_path("%s: %s%s: %s", t->file, c ? "component " : "global", c ? c->name : "", option);
    int64_t n;

    if (!v) {
        *ret = def;
        return 0;
    }
    if (decode(v, &n) < 0 || n < min || n > max)
        return svc_refuse(err, at.text, v, "a whole number from %" PRId64 " to %" PRId64, min, max);
    *ret = n;
    return 0;
}
