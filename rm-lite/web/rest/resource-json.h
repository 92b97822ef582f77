/* Parses a resource in JSON (Hadoop's ResourceInfo) of a request. Pure; hostile: everything. */
#ifndef SELVEDGE_RM_LITE_WEB_REST_RESOURCE_JSON_H
#define SELVEDGE_RM_LITE_WEB_REST_RESOURCE_JSON_H

#include <jansson.h>

#include "common/error.h"
#include "rm-lite/scheduler/resource.h"

/* `o` is the value of the member `resource`. *ret is the default of types that it does not name.
 * memory and vCores are those members, or the rows of that type in resourceInformations. -EINVAL
 * names the type: unknown, with another unit than Hadoop's, below `min` or too large. */
int rm_resource_from_json(const json_t *o, int64_t min, struct rm_res *ret, struct sv_error *err)
    _must_use_;

#endif
