/* The servers: four RPC services and the web. */
#ifndef SELVEDGE_RM_LITE_SERVICES_H
#define SELVEDGE_RM_LITE_SERVICES_H

#include <stdio.h>

#include "common/error.h"
#include "rm-lite/core/context.h"

int rm_services_start(struct rm *rm, struct sv_error *err) _must_use_;
void rm_services_stop(struct rm *rm);
/* Prints the methods of ipc_print_methods and the rows of rm_rest_print, for docs/compat.md. */
void rm_services_print(FILE *out);

#endif
