/* This ResourceManager as a member of a federation (yarn.federation.enabled): it registers in the
 * state store as SC_NEW, says SC_RUNNING with the cluster's figures from the first heartbeat on,
 * and leaves as SC_UNREGISTERED when it is stopped. Routers give it applications, AMRMProxies
 * containers of other members' applications.
 *
 * Nothing waits for the store. A store that is away when the daemon starts is tried again as
 * yarn.client.failover-retries says, then the loop ends; one that is away later is a warning, and
 * scheduling goes on. */
#ifndef SELVEDGE_RM_LITE_FEDERATION_MEMBER_H
#define SELVEDGE_RM_LITE_FEDERATION_MEMBER_H

#include "common/error.h"
#include "rm-lite/core/context.h"

struct fed_store;

/* The answer of /ws/v1/cluster/metrics with its root, as JSON; free() it. NULL: out of memory. */
typedef char *(*rm_member_figures)(struct rm *rm);

/* -EINVAL: keys that a member needs are missing or contradict each other. */
int rm_member_check(const struct rm_conf *c, struct sv_error *err) _must_use_;
/* Sets rm->member, where yarn.federation.enabled is true. The ports are known. */
int rm_member_start(struct rm *rm, rm_member_figures figures, struct sv_error *err) _must_use_;
/* As rm_member_start() on a store that it takes ownership of, also when it fails. For tests. */
int rm_member_start_on(struct rm *rm, struct fed_store *store, rm_member_figures figures,
                       struct sv_error *err) _must_use_;
/* Leaves the federation, which takes 3 s at most, and frees rm->member. */
void rm_member_stop(struct rm *rm);

/* This ResourceManager has dropped the application: its row of homes goes, if the row says that
 * its home is here. No member: nothing. */
void rm_member_forget(struct rm *rm, struct yarn_app_id id);

#endif
