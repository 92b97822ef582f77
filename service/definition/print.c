/* See print.h. Absent values are left out, but for those that Apache's readers cannot do without
 * (`always` of fields.h). */
#include "service/definition/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "service/definition/fields.h"
#include "service/definition/measure.h"

static json_t *record_json(const struct svc_record *record, const char *o);

/* Adds the value, whose reference is taken; NULL is an error. */
static int add(json_t *object, const char *name, json_t *v)
{
    return json_object_set_new(object, name, v) < 0 ? -ENOMEM : 0;
}

static json_t *names_json(const char *const *list, size_t n)
{
    json_t *v = json_array();

    for (size_t i = 0; v && i < n; i++)
        if (json_array_append_new(v, json_string(list[i])) < 0) {
            json_decref(v);
            v = NULL;
        }
    return v;
}

/* "a,b" as ["a", "b"]. */
static json_t *list_json(const char *joined)
{
    _cleanup_strv_ char **list = NULL;

    return sv_strv_split(joined, ',', &list) < 0
               ? NULL
               : names_json((const char *const *)list, sv_strv_len(list));
}

static json_t *map_json(const struct svc_map *m, bool lists)
{
    json_t *v = json_object();

    for (size_t i = 0; v && i < m->n; i++) {
        const struct svc_pair *p = &m->pairs[i];

        if (add(v, p->name, lists ? list_json(p->value) : json_string(p->value)) < 0) {
            json_decref(v);
            v = NULL;
        }
    }
    return v;
}

static json_t *amounts_json(const struct svc_amount *list, size_t n)
{
    json_t *v = json_object();

    for (size_t i = 0; v && i < n; i++)
        if (add(v, list[i].name,
                json_pack("{s:I, s:s}", "value", (json_int_t)list[i].value, "unit", list[i].unit)) <
            0) {
            json_decref(v);
            v = NULL;
        }
    return v;
}

static json_t *objects_json(const struct svc_record *record, const char *list, size_t n)
{
    json_t *v = json_array();

    for (size_t i = 0; v && i < n; i++)
        if (json_array_append_new(v, record_json(record, list + i * record->size)) < 0) {
            json_decref(v);
            v = NULL;
        }
    return v;
}

static int64_t int_at(const struct svc_field *f, const char *at)
{
    return f->small ? *(const int32_t *)at : *(const int64_t *)at;
}

/* True if the field has what it has without being written. */
static bool is_absent(const struct svc_field *f, const char *o)
{
    const char *at = o + f->offset;

    switch (f->kind) {
    case SVC_TEXT:
        return !**(const char *const *)at;
    case SVC_INT:
    case SVC_INT_TEXT:
        return int_at(f, at) == f->absent;
    case SVC_ENUM:
        return *(const unsigned *)at == f->absent && !f->required;
    case SVC_MAP:
    case SVC_LISTS:
        return !((const struct svc_map *)at)->n;
    case SVC_NAMES:
    case SVC_AMOUNTS:
    case SVC_OBJECTS:
        return !*(const size_t *)(o + f->n_offset);
    case SVC_OBJECT: /* decided by what is written in it */
        return false;
    default:
        return true;
    }
}

/* True for the object of a record that was never given: what it cannot do without is absent. */
static bool nothing_there(const struct svc_record *record, const char *o)
{
    for (size_t i = 0; i < record->n; i++) {
        const struct svc_field *f = &record->fields[i];

        if (!f->required)
            continue;
        if (f->kind == SVC_ENUM ? !*f->names[*(const unsigned *)(o + f->offset)] : is_absent(f, o))
            return true;
    }
    return false;
}

static json_t *number_text(int64_t n)
{
    char text[24];

    (void)snprintf(text, sizeof text, "%" PRId64, n);
    return json_string(text);
}

static json_t *field_json(const struct svc_field *f, const char *o)
{
    const char *at = o + f->offset;

    switch (f->kind) {
    case SVC_TEXT:
        return json_string(*(const char *const *)at);
    case SVC_INT:
        return json_integer(int_at(f, at));
    case SVC_INT_TEXT:
        return number_text(int_at(f, at));
    case SVC_ENUM:
        return json_string((f->stored_names ?: f->names)[*(const unsigned *)at]);
    case SVC_MAP:
    case SVC_LISTS:
        return map_json((const struct svc_map *)at, f->kind == SVC_LISTS);
    case SVC_NAMES:
        return names_json(*(const char *const *const *)at, *(const size_t *)(o + f->n_offset));
    case SVC_AMOUNTS:
        return amounts_json(*(const struct svc_amount *const *)at,
                            *(const size_t *)(o + f->n_offset));
    case SVC_OBJECTS:
        return objects_json(f->record, *(const char *const *)at,
                            *(const size_t *)(o + f->n_offset));
    case SVC_OBJECT:
        return record_json(f->record, at);
    default:
        return NULL;
    }
}

static int print_field(json_t *into, const struct svc_field *f, const char *o)
{
    json_t *v;

    if (f->kind == SVC_OBJECT && nothing_there(f->record, o + f->offset))
        return 0;
    if (f->kind == SVC_ENUM && !*f->names[*(const unsigned *)(o + f->offset)])
        return 0;
    if (f->kind == SVC_ANSWER || f->kind == SVC_REFUSED)
        return 0;
    if (is_absent(f, o) &&
        !(f->always && f->absent >= f->min)) /* else the mark of absence itself */
        return 0;
    v = field_json(f, o);
    if (f->kind == SVC_OBJECT && v && !json_object_size(v)) {
        json_decref(v);
        return 0;
    }
    return add(into, f->name, v);
}

static json_t *record_json(const struct svc_record *record, const char *o)
{
    json_t *v = json_object();

    for (size_t i = 0; v && i < record->n; i++)
        if (print_field(v, &record->fields[i], o) < 0) {
            json_decref(v);
            v = NULL;
        }
    return v;
}

json_t *svc_definition_json(const struct svc_definition *d)
{
    return record_json(&svc_definition_record, (const char *)d);
}

json_t *svc_component_json(const struct svc_component *c)
{
    return record_json(&svc_component_record, (const char *)c);
}

int svc_definition_print(const struct svc_definition *d, char **ret)
{
    json_t *v;
    char *text;
    int r = svc_definition_fits(d, NULL);

    if (r < 0)
        return r;
    v = svc_definition_json(d);
    text = v ? json_dumps(v, JSON_INDENT(2)) : NULL;
    json_decref(v);
    if (!text)
        return -ENOMEM;
    if (strlen(text) > SVC_JSON_MAX) {
        free(text);
        return -EFBIG;
    }
    *ret = text;
    return 0;
}
