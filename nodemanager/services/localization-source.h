/* Parameters of a source beside its url: the NameNodes of the cluster's configuration and the user
 * name to send them. The localizer itself reads no configuration. */
#ifndef SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_SOURCE_H
#define SELVEDGE_NODEMANAGER_SERVICES_LOCALIZATION_SOURCE_H

#include "common/conf.h"
#include "localizer/cache.h"
#include "nodemanager/conf/conf.h"

/* The user for whom a resource is fetched. */
struct nm_source_user {
    const char *login; /* user of simple authentication */
    /* From the container's launch context; NULL for PUBLIC, which alone uses the cluster's keys:
     * those of the configuration never reach a process of a job's account. */
    const uint8_t *credentials;
    size_t n_credentials;
};

/* Sets the source's fields of the FETCH message, except its url. */
int nm_localization_source(struct sv_conf *conf, const struct loc_resource *r,
                           const struct nm_source_user *user, struct loc_fetch *f,
                           struct sv_error *err) _must_use_;
/* The cache's settings by the keys, without the number of directories. */
void nm_localization_config(const struct nm_conf *conf, struct loc_config *ret);
/* The name of the process's own account, malloc'd: the login name of Hadoop's daemons. */
int nm_localization_login(char **ret, struct sv_error *err) _must_use_;

#endif
