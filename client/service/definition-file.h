/* A file with the definition of a service, checked as the services API does, so that a wrong one
 * costs no request. Hostile: the file, which somebody else may have written. */
#ifndef SELVEDGE_CLIENT_SERVICE_DEFINITION_FILE_H
#define SELVEDGE_CLIENT_SERVICE_DEFINITION_FILE_H

#include <jansson.h>

#include "common/error.h"

struct cli_definition_options {
    const char *name; /* of the service, instead of the file's; NULL: the file's */
    bool hadoop;      /* --hadoop: unknown names are ignored instead of refused */
};

/* *ret: the body of a request, a new reference. -EINVAL: `err` says file, path, value and rule. */
int cli_definition_read(const char *file, const struct cli_definition_options *o, json_t **ret,
                        struct sv_error *err) _must_use_;

#endif
