/* Proxy users (hadoop.proxyuser.NAME.hosts, .groups, .users): accounts that may act for others, as
 * Hive's, Oozie's and a Router do: for whom, and from which machines. Without rows nobody may.
 * Hosts given by name are resolved on a thread. Hostile: both names, which a client chooses. */
#ifndef SELVEDGE_WIRE_IPC_PROXY_USERS_H
#define SELVEDGE_WIRE_IPC_PROXY_USERS_H

#include "common/conf.h"
#include "common/error.h"
#include "common/user-groups.h"
#include "wire/ipc/ipc-server.h"

#define IPC_PROXY_RESOLVE_MS 20000 /* for all names; less than an IPC handshake may take */

struct ipc_proxy_users;

/* Without rows. `known` runs when hosts are resolved that a check has waited for. */
int ipc_proxy_users_new(sd_event *event, void (*known)(void *userdata), void *userdata,
                        struct ipc_proxy_users **ret) _must_use_;
struct ipc_proxy_users *ipc_proxy_users_free(struct ipc_proxy_users *p); /* returns NULL */
/* Reads the rows in place of those of before; connections wait until their hosts are resolved.
 * -EINVAL with the key at fault: the rows of before stay. */
int ipc_proxy_users_read(struct ipc_proxy_users *p, struct sv_conf *conf, struct sv_error *err)
    _must_use_;
/* Answers as an ipc_impersonation; the words are Hadoop's. -EAGAIN: until `known` runs, or the
 * user's groups are. */
int ipc_proxy_users_check(const struct ipc_proxy_users *p, struct sv_groups *groups,
                          const struct ipc_peer *peer, struct sv_error *err) _must_use_;

#endif
