/* tokens_conf: the configuration that a job sends with its tokens, so that the ResourceManager
 * finds the NameNodes of a nameservice that its own files do not have. Hadoop takes the job's
 * configuration whole in the place of its own; here only the keys that say which NameNodes a
 * nameservice has are kept, and the NameNodes must be of the ResourceManager's files (namenodes.h).
 *
 * Hostile: the bytes, a Configuration as Hadoop writes it. */
#ifndef SELVEDGE_RM_LITE_SECURITY_TOKEN_CONF_H
#define SELVEDGE_RM_LITE_SECURITY_TOKEN_CONF_H

#include "common/conf.h"

#define RM_TOKEN_CONF_MAX (1u << 20) /* bytes, whatever the operator allows */
#define RM_TOKEN_CONF_KEPT_MAX 256   /* properties */

/* Keeps dfs.nameservices, dfs.ha.namenodes.* and dfs.namenode.rpc-address.*, those without
 * variables alone. -EBADMSG, -E2BIG with the reason, -ENOMEM. */
int rm_token_conf_parse(const uint8_t *p, size_t n, struct sv_conf **ret, struct sv_error *err)
    _must_use_;

#endif
