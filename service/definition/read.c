/* See read.h. */
#include "service/definition/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "service/definition/reader.h"
#include "wire/resource-types.h"

/* ---- Text to tree ---- */

/* Bounds the values of the text before any is allocated: each but the first of an object or a list
 * follows a comma. */
static bool few_values(const char *json, size_t len)
{
    bool quoted = false;
    size_t n = 0;

    for (size_t i = 0; i < len; i++) {
        char c = json[i];

        if (quoted && c == '\\')
            i++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == ',' || c == '[' || c == '{'))
            n++;
    }
    return n <= SVC_JSON_VALUES_MAX;
}

int svc_json_load(const char *json, size_t len, json_t **ret, struct sv_error *err)
{
    json_error_t e;
    json_t *v;
    char why[JSON_ERROR_TEXT_LENGTH + 32];

    if (len > SVC_JSON_MAX)
        return sv_error_set(err, -EFBIG, "definition: %zu bytes: at most %zu", len, SVC_JSON_MAX);
    if (!few_values(json, len))
        return sv_error_set(err, -EFBIG, "definition: more than %d values", SVC_JSON_VALUES_MAX);
    v = json_loadb(json, len, JSON_REJECT_DUPLICATES, &e);
    if (!v) {
        sv_escape(why, sizeof why, e.text);
        return sv_error_set(err, -EINVAL, "definition: line %d, column %d: not JSON: %s", e.line,
                            e.column, why);
    }
    if (!json_is_object(v)) {
        json_decref(v);
        return sv_error_set(err, -EINVAL, "definition: a JSON object is expected");
    }
    *ret = v;
    return 0;
}

/* ---- Resource types ---- */

static int amount_member(struct svc_reader *in, const char *key, const json_t *v,
                         struct svc_amount *ret)
{
    size_t before = svc_enter_field(in, key);
    int r = 0;

    if (!strcmp(key, "value"))
        r = svc_read_number(in, v, 0, INT64_MAX, &ret->value);
    else if (!strcmp(key, "unit"))
        r = json_is_null(v) ? 0 : svc_read_text(in, v, YARN_UNIT_MAX - 1, &ret->unit);
    else if (!strcmp(key, "attributes") || !strcmp(key, "tags"))
        r = json_object_size(v) || json_array_size(v)
                ? svc_wrong(in, v, "volumes, which these describe, are not supported: leave it out")
                : 0;
    else if (in->dialect == SVC_STRICT)
        r = svc_wrong(in, NULL, "no such field; there are value and unit");
    if (r < 0)
        return r;
    svc_leave(in, before);
    return 0;
}

/* Puts what this process knows into struct yarn_resource too. */
static int known_amount(struct svc_reader *in, const struct svc_amount *m, struct yarn_resource *r)
{
    const struct yarn_types *types = yarn_types();
    int i = yarn_types_index(types, m->name), rc = 0;
    int64_t n;

    if (!yarn_unit_ok(m->unit))
        return svc_wrong(in, NULL, "unit: one of p n u m k M G T P Ki Mi Gi Ti Pi, or none");
    if (!strcmp(m->name, YARN_GPU)) {
        if (yarn_unit_convert(m->value, m->unit, "", &n) < 0 || n > INT32_MAX)
            return svc_wrong(in, NULL, "value: more GPUs than there can be");
        r->gpus = (int32_t)n;
    } else if (i >= 0) {
        rc = yarn_unit_convert(m->value, m->unit, types->types[i].unit, &r->extra[i]);
    }
    return rc < 0 ? svc_wrong(in, NULL, "value: too large in the type's unit") : 0;
}

static int read_amount(struct svc_reader *in, const char *name, const json_t *v,
                       struct yarn_resource *resource, struct svc_amount *ret)
{
    size_t before = svc_enter_key(in, name);
    const char *key;
    json_t *member;
    int r;

    if (!json_is_object(v) || !json_object_get(v, "value"))
        return svc_wrong(in, v, "an object such as {\"value\": 1, \"unit\": \"\"}");
    if (!*name || strlen(name) >= YARN_TYPE_NAME_MAX)
        return svc_wrong(in, NULL, "a name of 1 to %d bytes", YARN_TYPE_NAME_MAX - 1);
    if (!strcmp(name, "memory-mb") || !strcmp(name, "vcores"))
        return svc_wrong(in, NULL, "give memory and cpus in the fields of these names");
    *ret = (struct svc_amount){ sv_arena_strdup(in->a, name), "", 0 };
    if (!ret->name)
        return svc_no_memory(in);
    json_object_foreach((json_t *)(uintptr_t)v, key,
                        member) if ((r = amount_member(in, key, member, ret)) < 0) return r;
    r = known_amount(in, ret, resource);
    if (r < 0)
        return r;
    svc_leave(in, before);
    return 0;
}

static int read_amounts(struct svc_reader *in, const struct svc_field *f, const json_t *v, char *o)
{
    struct yarn_resource *resource = (struct yarn_resource *)o;
    const char *name;
    json_t *value;
    struct svc_amount *list;
    size_t n = 0;

    if (!json_is_object(v) || json_object_size(v) > (size_t)f->max)
        return svc_wrong(in, v, "an object of at most %d resource types", SVC_AMOUNTS_MAX);
    list = sv_newn(in->a, struct svc_amount, json_object_size(v) + 1);
    if (!list)
        return svc_no_memory(in);
    json_object_foreach((json_t *)(uintptr_t)v, name, value)
    {
        int r = read_amount(in, name, value, resource, &list[n]);

        if (r < 0)
            return r;
        n++;
    }
    *(struct svc_amount **)(o + f->offset) = list;
    *(size_t *)(o + f->n_offset) = n;
    return 0;
}

/* ---- Records ---- */

static int read_record(struct svc_reader *in, const struct svc_record *record, const json_t *v,
                       char *o);

static int read_objects(struct svc_reader *in, const struct svc_field *f, const json_t *v, char *o)
{
    size_t n = json_array_size(v);
    char *list;

    if (!json_is_array(v))
        return svc_wrong(in, v, "a list of objects");
    if (n > (size_t)f->max)
        return svc_wrong(in, NULL, "%zu entries: at most %zu", n, (size_t)f->max);
    list = sv_arena_calloc(in->a, n + 1, f->record->size);
    if (!list)
        return svc_no_memory(in);
    for (size_t i = 0; i < n; i++) {
        size_t before = svc_enter_index(in, i);
        char *at = list + i * f->record->size;
        int r;

        svc_record_defaults(f->record, at);
        r = read_record(in, f->record, json_array_get(v, i), at);
        if (r < 0)
            return r;
        svc_leave(in, before);
    }
    *(char **)(o + f->offset) = list;
    *(size_t *)(o + f->n_offset) = n;
    return 0;
}

/* A value that says nothing may stand there: Apache's writers print it. */
static int read_refused(struct svc_reader *in, const struct svc_field *f, const json_t *v)
{
    if (json_is_false(v) || (json_is_string(v) && !json_string_length(v)) ||
        ((json_is_array(v) || json_is_object(v)) && !json_array_size(v) && !json_object_size(v)))
        return 0;
    return svc_wrong(in, v, "%s", f->text);
}

static int read_int(struct svc_reader *in, const struct svc_field *f, const json_t *v, char *at)
{
    int64_t n;
    int r = svc_read_number(in, v, f->min, f->max, &n);

    if (r < 0)
        return r;
    if (f->small)
        *(int32_t *)at = (int32_t)n;
    else
        *(int64_t *)at = n;
    return 0;
}

static int read_field(struct svc_reader *in, const struct svc_field *f, const json_t *v, char *o)
{
    char *at = o + f->offset;

    switch (f->kind) {
    case SVC_TEXT:
        return svc_read_text(in, v, (size_t)f->max, (const char **)at);
    case SVC_INT:
    case SVC_INT_TEXT:
        return read_int(in, f, v, at);
    case SVC_ENUM:
        return svc_read_enum(in, f, v, (unsigned *)at);
    case SVC_MAP:
    case SVC_LISTS:
        return svc_read_map(in, v, (size_t)f->max, f->kind == SVC_LISTS, (struct svc_map *)at);
    case SVC_NAMES:
        return svc_read_names(in, v, (size_t)f->max, (const char ***)at,
                              (size_t *)(o + f->n_offset));
    case SVC_AMOUNTS:
        return read_amounts(in, f, v, o);
    case SVC_OBJECT:
        return read_record(in, f->record, v, at);
    case SVC_OBJECTS:
        return read_objects(in, f, v, o);
    case SVC_REFUSED:
        return read_refused(in, f, v);
    case SVC_ANSWER:
        break;
    }
    return 0;
}

static int unknown_field(struct svc_reader *in, const struct svc_record *record, const char *key)
{
    const char *near = svc_field_nearest(record, key);

    if (near)
        return svc_wrong(in, NULL, "the %s has no such field; did you mean %s?", record->name,
                         near);
    return svc_wrong(in, NULL, "the %s has no such field", record->name);
}

/* Checks that what an object cannot do without is there; what a definition or a component needs
 * depends on more (check.c). */
static int read_required(struct svc_reader *in, const struct svc_record *record, const json_t *v)
{
    if (record == &svc_definition_record || record == &svc_component_record)
        return 0;
    for (size_t i = 0; i < record->n; i++) {
        const struct svc_field *f = &record->fields[i];
        const json_t *member = json_object_get(v, f->name);

        if (f->required && (!member || json_is_null(member)))
            return svc_wrong(in, NULL, "%s is missing: the %s needs it", f->name, record->name);
    }
    return 0;
}

static int read_record(struct svc_reader *in, const struct svc_record *record, const json_t *v,
                       char *o)
{
    const char *key;
    json_t *member;
    int r;

    if (!json_is_object(v))
        return svc_wrong(in, v, "an object: the %s", record->name);
    json_object_foreach((json_t *)(uintptr_t)v, key, member)
    {
        const struct svc_field *f = svc_field_named(record, key);
        size_t before = svc_enter_field(in, key);

        r = 0;
        if (f && !json_is_null(member))
            r = read_field(in, f, member, o);
        else if (!f && in->dialect == SVC_STRICT)
            r = unknown_field(in, record, key);
        if (r < 0)
            return r;
        svc_leave(in, before);
    }
    return read_required(in, record, v);
}

int svc_record_read(const struct svc_record *record, const json_t *object, enum svc_dialect dialect,
                    struct sv_arena *a, void *o, struct sv_error *err)
{
    struct svc_reader in = { .a = a, .err = err, .dialect = dialect };

    svc_record_defaults(record, o);
    return read_record(&in, record, object, o);
}
