/* AMDiagnostics: the last words of a framework's master, between two marks in the diagnostics of
 * its application. Hostile: a user's process wrote them. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_DIAGNOSTICS_H
#define SELVEDGE_SERVICE_LAUNCHER_DIAGNOSTICS_H

#include "service/launcher/model.h"

/* -ENOENT: there are no marks; -EBADMSG: what stands between them is too long or no such JSON. */
int svc_lr_diagnostics(const char *text, struct svc_lr_exit *ret) _must_use_;
/* An end of which there are no such words; `text`: the diagnostics, or NULL. */
void svc_lr_diagnostics_lost(int32_t code, const char *text, struct svc_lr_exit *ret);

#endif
