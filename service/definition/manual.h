/* The reference of docs/service-definition.md, from the tables that the reader uses. */
#ifndef SELVEDGE_SERVICE_DEFINITION_MANUAL_H
#define SELVEDGE_SERVICE_DEFINITION_MANUAL_H

#include "common/buf.h"

int svc_manual_write(struct sv_buf *out) _must_use_;

#endif
