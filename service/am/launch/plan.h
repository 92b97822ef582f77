/* All that the master derives from one definition before it runs it: options of the engine, checks,
 * retries and placement of each component. Made before the loop runs, or by a job of the worker;
 * never changed afterwards, but for the sources of launch.h, which are the worker's, and the counts
 * and names that storing.c notes in the stored definition. */
#ifndef SELVEDGE_SERVICE_AM_LAUNCH_PLAN_H
#define SELVEDGE_SERVICE_AM_LAUNCH_PLAN_H

#include "client/lib/launch.h"
#include "client/lib/placement.h"
#include "common/conf.h"
#include "service/definition/probe.h"
#include "service/definition/service-keys.h"
#include "service/engine/engine.h"

struct svc_source { /* bytes of a file's source; NULL: not read yet */
    char *bytes;
    size_t len;
};
struct svc_component_plan {
    const struct svc_component *component; /* resolved */
    struct svc_probe probe;
    struct cli_retry retry;
    const struct cli_constraint *constraint; /* NULL: none */
    struct svc_source *sources;              /* of the component's files */
    size_t decommissioned_room; /* of the stored component's list, as storing.c made it */
    bool all_hosts;             /* its hosts file has all instances */
    /* Wishes of its containers at their nodes; "": the node's own. */
    const char *profile, *network, *pids_max;
};
struct svc_plan {
    struct sv_arena *arena;
    struct svc_definition *stored;   /* as it was read */
    struct svc_definition *resolved; /* the engine's */
    struct svc_options *options;
    struct svc_limits limits;
    struct svc_component_plan *components; /* in the definition's order */
    int64_t check_interval_ms;
    const char *port_range;
    bool constrained; /* some component has constraints: all requests are scheduling requests */
    bool http;        /* some component has HTTP checks */
    struct svc_plan *next;
};

int svc_plan_new(const char *json, size_t len, struct sv_conf *conf, struct svc_plan **ret,
                 struct sv_error *err) _must_use_;
struct svc_plan *svc_plan_free(struct svc_plan *p);
/* The plan of a component of the resolved definition; NULL: another definition's. */
struct svc_component_plan *svc_plan_component(const struct svc_plan *p,
                                              const struct svc_component *c);

#endif
