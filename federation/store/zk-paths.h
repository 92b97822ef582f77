/* Hadoop's nodes below yarn.federation.zk-state-store.parent-path. */
#ifndef SELVEDGE_FEDERATION_STORE_ZK_PATHS_H
#define SELVEDGE_FEDERATION_STORE_ZK_PATHS_H

#include "federation/store/zk-run.h"

/* An application is a node below "applications", or two below one of its hierarchies: the last 1 to
 * 4 characters of its id are a node of their own. Programs write one of the five places and read
 * all. */
#define FED_ZK_PLACES 5
/* Bytes of a prefix that every application's id has. */
#define FED_ZK_APPLICATION "application_"
#define FED_ZK_TOKEN "rm_delegation_token_" /* before a token's number */

/* The folder of a kind: `split` of homes. In the arena; NULL without memory. */
const char *fed_zk_folder(struct sv_arena *a, const char *root, enum fed_kind kind, unsigned split);
/* The node of a call's request; for an application, the nth place that is looked in, the one that
 * is written first. -EINVAL: its name cannot be a node's; -ENOMEM. */
int fed_zk_path(const struct fed_zk *z, struct fed_call *c, unsigned nth, const char **ret)
    _must_use_;
/* Name of the request's record in messages and values: of a key or a token its number. NULL without
 * memory. */
const char *fed_zk_name(struct fed_call *c);

#endif
