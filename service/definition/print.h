/* Definitions as JSON trees in Apache's field names, for answers that add to them. */
#ifndef SELVEDGE_SERVICE_DEFINITION_PRINT_H
#define SELVEDGE_SERVICE_DEFINITION_PRINT_H

#include <jansson.h>

#include "service/definition/definition.h"

/* NULL: out of memory. The tree has its own copies of texts. */
json_t *svc_definition_json(const struct svc_definition *d);
json_t *svc_component_json(const struct svc_component *c); /* without what the service has */

#endif
