/* AMDiagnostics: what a master says when it unregisters, from which the launcher learns why the
 * application has ended. Pure. */
#ifndef SELVEDGE_SERVICE_AM_FRAMEWORK_DIAGNOSTICS_H
#define SELVEDGE_SERVICE_AM_FRAMEWORK_DIAGNOSTICS_H

#include "service/engine/framework.h"
#include "service/framework/link.h"

/* At most SVC_FW_DIAGNOSTICS_MAX bytes with the marks: the exit's diagnostics are cut first, then
 * the trigger's message. malloc'd. */
int svc_am_diagnostics(const struct svc_fw_end *end, char **ret) _must_use_;

#endif
