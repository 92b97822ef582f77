/* Admission to the ports (Hadoop's service authorization): hadoop-policy.xml, where
 * hadoop.security.authorization is true; and, with Kerberos in any case, 8031 for nodes alone:
 * behind it are the keys of all tokens, which Apache with its defaults gives to every user. */
#ifndef SELVEDGE_RM_LITE_SECURITY_SERVICE_ACCESS_H
#define SELVEDGE_RM_LITE_SECURITY_SERVICE_ACCESS_H

#include "rm-lite/core/context.h"
#include "wire/ipc/ipc-server.h"

/* Reads hadoop-policy.xml beside the daemon's files in place of what was read before; nothing
 * without authorization. -EINVAL: the lists of before stay. */
int rm_service_access_read(struct rm *rm, struct sv_error *err) _must_use_;
void rm_service_access_free(struct rm *rm);
/* NULL: whoever is authenticated uses every port. Its userdata: struct rm. */
ipc_authorization rm_service_access(const struct rm *rm);

#endif
