/* Proxy users (hadoop.proxyuser.NAME.hosts, .groups, .users): accounts that may act for others, as
 * Hive's and Oozie's do: for whom, and from which machines. Without rows nobody may. Hosts given by
 * name are resolved on a thread. Hostile: both names, which a client chooses. */
#ifndef SELVEDGE_RM_LITE_SECURITY_PROXY_USERS_H
#define SELVEDGE_RM_LITE_SECURITY_PROXY_USERS_H

#include "common/conf.h"
#include "common/error.h"
#include "rm-lite/core/context.h"
#include "wire/ipc/ipc-server.h"

#define RM_PROXY_RESOLVE_MS 20000 /* for all names; less than an IPC handshake may take */

/* Reads the rows in place of those of before; connections wait until their hosts are resolved.
 * -EINVAL with the key at fault: the rows of before stay. */
int rm_proxy_users_read(struct rm *rm, struct sv_conf *conf, struct sv_error *err) _must_use_;
void rm_proxy_users_stop(struct rm *rm);
/* An ipc_impersonation; userdata: struct rm. The words are Hadoop's. */
int rm_proxy_users_check(void *userdata, const struct ipc_peer *peer, struct sv_error *err);
/* Something that rm_proxy_users_check() waits for is known: groups of a user, hosts. */
void rm_proxy_users_known(struct rm *rm);

#endif
