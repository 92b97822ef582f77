/* Rights to change frameworks. Hostile: who a caller says it is. */
#ifndef SELVEDGE_SERVICE_LAUNCHER_ACL_H
#define SELVEDGE_SERVICE_LAUNCHER_ACL_H

#include "service/launcher/rest.h"

/* The caller's name: authenticated, else what its header says, else "default". */
const char *svc_lr_caller(const struct svc_lr_call *c);
bool svc_lr_is_admin(const struct svc_lr *l, const char *user);
/* May the caller change something that is no framework? 0 or 403, and *ret_why. */
unsigned svc_lr_may_administer(const struct svc_lr *l, const struct svc_lr_call *c,
                               const char **ret_why);
/* May the caller change framework `name`? `asked`: the user of a new descriptor, or NULL;
 * `owner`: that of the one there is, or NULL. 0, 400 or 403, and *ret_why. */
unsigned svc_lr_may_change(const struct svc_lr *l, const struct svc_lr_call *c, const char *name,
                           const char *asked, const char *owner, const char **ret_why);

#endif
