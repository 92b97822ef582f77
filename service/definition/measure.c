/* See measure.h. */
#include "service/definition/measure.h"

#include <errno.h>
#include <string.h>

#include "service/definition/fields.h"
#include "service/definition/read.h"

struct size {
    size_t bytes, values;
};

static void add_record(const struct svc_record *record, const char *o, struct size *s);

static void add_texts(const char *const *list, size_t n, struct size *s)
{
    s->values += n;
    for (size_t i = 0; i < n; i++)
        s->bytes += strlen(list[i]);
}

static void add_map(const struct svc_map *m, struct size *s)
{
    s->values += m->n;
    for (size_t i = 0; i < m->n; i++)
        s->bytes += strlen(m->pairs[i].name) + strlen(m->pairs[i].value);
}

static void add_objects(const struct svc_field *f, const char *o, struct size *s)
{
    const char *list = *(const char *const *)(o + f->offset);
    size_t n = *(const size_t *)(o + f->n_offset);

    s->values += n;
    for (size_t i = 0; i < n; i++)
        add_record(f->record, list + i * f->record->size, s);
}

static void add_record(const struct svc_record *record, const char *o, struct size *s)
{
    for (size_t i = 0; i < record->n; i++) {
        const struct svc_field *f = &record->fields[i];
        const char *at = o + f->offset;

        s->values++;
        if (f->kind == SVC_TEXT)
            s->bytes += strlen(*(const char *const *)at);
        else if (f->kind == SVC_MAP || f->kind == SVC_LISTS)
            add_map((const struct svc_map *)at, s);
        else if (f->kind == SVC_NAMES)
            add_texts(*(const char *const *const *)at, *(const size_t *)(o + f->n_offset), s);
        else if (f->kind == SVC_AMOUNTS)
            s->values += 3 * *(const size_t *)(o + f->n_offset);
        else if (f->kind == SVC_OBJECT)
            add_record(f->record, at, s);
        else if (f->kind == SVC_OBJECTS)
            add_objects(f, o, s);
    }
}

int svc_definition_fits(const struct svc_definition *d, struct sv_error *err)
{
    struct size s = { 0 };

    add_record(&svc_definition_record, (const char *)d, &s);
    if (s.bytes > SVC_JSON_MAX || s.values > SVC_JSON_VALUES_MAX)
        return sv_error_set(err, -EFBIG,
                            "definition: %zu bytes and %zu values with what each component has of "
                            "the service's configuration: at most %zu and %d",
                            s.bytes, s.values, SVC_JSON_MAX, SVC_JSON_VALUES_MAX);
    return 0;
}
