/* Reads a JSON tree into the struct of a record of fields.h: types, ranges, limits and unknown
 * names, not what must be there and agree (check.h). Hostile: the tree. */
#ifndef SELVEDGE_SERVICE_DEFINITION_READ_H
#define SELVEDGE_SERVICE_DEFINITION_READ_H

#include <jansson.h>

#include "service/definition/definition.h"
#include "service/definition/fields.h"

/* JSON values in one text: bounds the memory of the tree, of which an empty object is the most. */
#define SVC_JSON_VALUES_MAX 100000

/* Parses text to a tree. -EFBIG: SVC_JSON_MAX or SVC_JSON_VALUES_MAX; -EINVAL: err says line and
 * column. Free with json_decref(). */
int svc_json_load(const char *json, size_t len, json_t **ret, struct sv_error *err) _must_use_;
/* Reads an object; `o` is zeroed. Texts are copied to the arena. */
int svc_record_read(const struct svc_record *record, const json_t *object, enum svc_dialect dialect,
                    struct sv_arena *a, void *o, struct sv_error *err) _must_use_;

#endif
