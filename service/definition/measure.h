/* How large a definition is as JSON, before it is one: components share what they inherited, and
 * JSON repeats it. */
#ifndef SELVEDGE_SERVICE_DEFINITION_MEASURE_H
#define SELVEDGE_SERVICE_DEFINITION_MEASURE_H

#include "service/definition/definition.h"

/* -EFBIG: more than SVC_JSON_MAX bytes of texts and names, or than SVC_JSON_VALUES_MAX values. */
int svc_definition_fits(const struct svc_definition *d, struct sv_error *err) _must_use_;

#endif
