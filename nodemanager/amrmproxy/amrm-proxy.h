/* The AMRMProxy (AMRMProxyService): pipelines of the masters on this node, from the start of a
 * master's container to the end of its application, over restarts of the daemon. A master whose
 * container is started here gets a local AMRMToken; its real one stays in the daemon and its store.
 * Every function accepts NULL for the AMRMProxy that is off. */
#ifndef SELVEDGE_NODEMANAGER_AMRMPROXY_AMRM_PROXY_H
#define SELVEDGE_NODEMANAGER_AMRMPROXY_AMRM_PROXY_H

#include "common/arena.h"
#include "common/conf.h"
#include "common/error.h"
#include "common/rate.h"
#include "nodemanager/amrmproxy/pipeline.h"
#include "proto/yarn.pb-c.h"
#include "wire/token/token.h"

struct nm_amrm;
struct nm_amrm_interceptor;
struct nm_amrm_keys;
struct nm_context;

/* `classes`: interceptors that there are; NULL ends them (interceptors.h).
 *
 * For --check-config: keys of interceptors and of the federation, where it is enabled. */
int nm_amrm_check_conf(struct sv_conf *c, const struct nm_amrm_interceptor *const *classes,
                       struct sv_error *err) _must_use_;

/* *ret is NULL where yarn.nodemanager.amrmproxy.enabled is false. `unusable`: the federation's
 * store is not one for this version. -EINVAL, -EOPNOTSUPP: a value that is refused. */
int nm_amrm_new(struct nm_context *ctx, const struct nm_amrm_interceptor *const *classes,
                void (*unusable)(const char *why, void *userdata), void *userdata,
                struct nm_amrm **ret, struct sv_error *err) _must_use_;
/* The server is closed already: what is refused here reaches nobody. */
struct nm_amrm *nm_amrm_free(struct nm_amrm *p);
/* Restores the pipelines of the store; behind the applications. Those of applications that are gone
 * end. */
int nm_amrm_recover(struct nm_amrm *p, struct sv_error *err) _must_use_;

/* ---- Containers ---- */

/* Whether a container is a master that may be the AMRMProxy's. */
bool nm_amrm_wants(const struct nm_amrm *p, const struct yarn_container_token *t);
/* Whether the AMRMProxy serves it: `done` runs once, at once or later, with 1; 0, the application
 * has no home in the federation and the master is left alone; or -errno and why. -ENOMEM. */
int nm_amrm_ask(struct nm_amrm *p, const struct yarn_container_token *t,
                void (*done)(int served, const char *why, void *userdata), void *userdata)
    _must_use_;
/* Begins the attempt of a master that it serves, in the place of an earlier one here, and puts a
 * local token into its credentials: new bytes in `a`, in the format of the old ones. Before the
 * container is recorded. */
int nm_amrm_start(struct nm_amrm *p, const struct yarn_container_token *t,
                  Hadoop__Yarn__ContainerLaunchContextProto *clc, struct sv_arena *a,
                  struct sv_error *err) _must_use_;
/* Its container did not begin. */
void nm_amrm_drop(struct nm_amrm *p, struct yarn_attempt_id id);
void nm_amrm_app_stopped(struct nm_amrm *p, struct yarn_app_id app);

/* ---- Callers, for server.c ---- */

/* Since the start, as Hadoop's AMRMProxyMetrics; calls by enum nm_amrm_method, times in
 * milliseconds. */
struct nm_amrm_counters {
    struct sv_rate starts, answered[NM_AMRM_METHODS];
    uint64_t failed_starts, failed[NM_AMRM_METHODS], failed_recoveries;
};

/* The attempt's pipeline; NULL: it has none, or it has ended. */
struct nm_amrm_pipeline *nm_amrm_find(struct nm_amrm *p, struct yarn_attempt_id id);
struct nm_amrm_keys *nm_amrm_keys_of(const struct nm_amrm *p);
struct nm_amrm_counters *nm_amrm_counters_of(struct nm_amrm *p);
size_t nm_amrm_count(const struct nm_amrm *p);

#endif
