/* The operations of the store as chains of requests to ZooKeeper. */
#ifndef SELVEDGE_FEDERATION_STORE_ZK_OPERATIONS_H
#define SELVEDGE_FEDERATION_STORE_ZK_OPERATIONS_H

#include "federation/store/zk-run.h"

/* Sends the first requests of a call. */
void fed_zk_start(struct fed_zk_run *r);

/* ---- zk-lists.c, for zk-operations.c ---- */

/* Answers with the records of all nodes of the operation's kind. */
void fed_zk_list(struct fed_zk_run *r);
/* Finds the starts of the other members (r->starts), then calls `listed`. */
void fed_zk_list_starts(struct fed_zk_run *r, void (*listed)(struct fed_zk_run *r));

#endif
