/* The configuration that a master of ours gets: yarn-site.xml with all keys that are set here,
 * without secrets. */
#ifndef SELVEDGE_SERVICE_CLUSTER_SITE_H
#define SELVEDGE_SERVICE_CLUSTER_SITE_H

#include "common/conf.h"

int svc_site_text(struct sv_conf *conf, char **ret, struct sv_error *err) _must_use_; /* malloc'd */

#endif
