/* The list of servers of a ZooKeeper ensemble, and their addresses, which are looked up on a
 * thread: the C client's own look-up would block the loop at each reconnection. */
#ifndef SELVEDGE_COMMON_ZOOKEEPER_ZK_SERVERS_H
#define SELVEDGE_COMMON_ZOOKEEPER_ZK_SERVERS_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"

#define SV_ZK_SERVERS_MAX 32
#define SV_ZK_ADDRESSES_MAX 2048 /* bytes of the text of all addresses */

struct sv_zk_servers;

/* "ADDRESS:PORT,…" as the C client reads it: IPv6 without brackets. NULL: no name has an address,
 * or the look-up took too long. The text lives until the callback returns. */
typedef void (*sv_zk_found)(const char *addresses, void *userdata);

/* -EINVAL: err names the entry that is none. */
int sv_zk_servers_new(sd_event *event, const char *list, sv_zk_found found, void *userdata,
                      struct sv_zk_servers **ret, struct sv_error *err) _must_use_;
struct sv_zk_servers *sv_zk_servers_free(struct sv_zk_servers *s);
/* The callback runs once from the loop. */
int sv_zk_servers_look_up(struct sv_zk_servers *s) _must_use_;

#endif
