/* What a localizer must know of a source beside its url: the NameNodes of the cluster's
 * configuration and the user to name to them. The localizer itself reads no configuration. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_SOURCE_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_SOURCE_H

#include "common/conf.h"
#include "localizer/cache.h"

/* Fills login, servers, options and io_timeout_ms of `f`. `login`: the user of simple
 * authentication. */
int nm_localization_source(struct sv_conf *conf, const struct loc_resource *r, const char *login,
                           struct loc_fetch *f, struct sv_error *err) _must_use_;
/* The name of the process's own account, malloc'd: what Hadoop's daemon logs in as. */
int nm_localization_login(char **ret, struct sv_error *err) _must_use_;

#endif
