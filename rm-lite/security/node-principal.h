/* Whether a Kerberos principal is a node's, by yarn.nodemanager.principal. Pure. Hostile: the
 * principal, of any user of the realm or of one that it trusts, and the NodeId. */
#ifndef SELVEDGE_RM_LITE_SECURITY_NODE_PRINCIPAL_H
#define SELVEDGE_RM_LITE_SECURITY_NODE_PRINCIPAL_H

#include "common/base.h"
#include "common/error.h"

/* `configured`: NAME/_HOST@REALM or NAME/HOST@REALM, checked. -EACCES: it is somebody else. */
int rm_node_principal_check(const char *configured, const char *principal, struct sv_error *err)
    _must_use_;
/* `principal` has passed the above. True if its host is the NodeId's, in letters of either case. */
bool rm_node_principal_is_host(const char *principal, const char *host);

#endif
