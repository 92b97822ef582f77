/* Errors about a definition: path, value and rule. */
#ifndef SELVEDGE_SERVICE_DEFINITION_REFUSE_H
#define SELVEDGE_SERVICE_DEFINITION_REFUSE_H

#include "common/error.h"

/* A path in a definition, cut where it is longer. */
struct svc_path {
    char text[256];
};
struct svc_path svc_path(const char *fmt, ...) _printf_(1, 2);

/* Sets "PATH: "VALUE": RULE", the value escaped and cut; `value` NULL: "PATH: RULE". -EINVAL. */
int svc_refuse(struct sv_error *err, const char *path, const char *value, const char *fmt, ...)
    _printf_(4, 5);

#endif
