/* The one table of the fields of a definition: name, type, range or limit, default and what each is
 * for. It drives the reader, the printer and docs/service-definition.md. */
#ifndef SELVEDGE_SERVICE_DEFINITION_FIELDS_H
#define SELVEDGE_SERVICE_DEFINITION_FIELDS_H

#include "common/base.h"

enum svc_kind {
    SVC_TEXT,     /* const char *; `max` bytes */
    SVC_INT,      /* int64_t, or int32_t where `small`; JSON's number or its text */
    SVC_INT_TEXT, /* as SVC_INT, printed as a text */
    SVC_ENUM,     /* one of `names` */
    SVC_MAP,      /* struct svc_map */
    SVC_NAMES,    /* const char **, size_t */
    SVC_LISTS,    /* struct svc_map, a value is "a,b" of ["a", "b"] */
    SVC_AMOUNTS,  /* struct svc_amount *, size_t, below struct yarn_resource at offset 0 */
    SVC_OBJECT,   /* the fields of `record`, with offsets from this field's */
    SVC_OBJECTS,  /* an array of `record`, and size_t */
    SVC_ANSWER,   /* part of answers alone: accepted, not looked at */
    SVC_REFUSED,  /* `text` says why; nothing, false and what is empty are accepted */
};

struct svc_record;
struct svc_field {
    const char *name;
    enum svc_kind kind;
    uint16_t offset, n_offset; /* n_offset: of the array's or the list's size_t */
    bool required;             /* in its object, by Apache or by us */
    bool small;                /* int32_t */
    bool always;               /* printed with its default too, which Apache's readers need */
    int64_t min, max;          /* INT: range; TEXT: bytes; NAMES, MAP, OBJECTS: entries */
    int64_t absent;            /* INT, ENUM: the value without the field */
    const char *const *names;  /* ENUM: NULL-terminated; "" = not written */
    /* ENUM: what is written in their place, and read too; NULL: the same. */
    const char *const *stored_names;
    const struct svc_record *record;
    const char *def;  /* for the documentation; NULL = none */
    const char *text; /* for the documentation, one sentence */
};
struct svc_record {
    const char *name; /* "component" */
    size_t size;      /* of its struct; 0: fields of the object around it */
    const struct svc_field *fields;
    size_t n;
};

extern const struct svc_record svc_definition_record, svc_component_record;

const struct svc_field *svc_field_named(const struct svc_record *r, const char *name);
/* Returns the known field name nearest to `word`, or NULL. */
const char *svc_field_nearest(const struct svc_record *r, const char *word);
/* Writes what an object without any field has; `o` is a struct of the record, zeroed. */
void svc_record_defaults(const struct svc_record *r, void *o);

#endif
