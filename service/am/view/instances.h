/* The lists of getCompInstances as text: of few instances at once, of more in turns of the loop,
 * one list at a time, so that there is one text. Hostile: the filters. */
#ifndef SELVEDGE_SERVICE_AM_VIEW_INSTANCES_H
#define SELVEDGE_SERVICE_AM_VIEW_INSTANCES_H

#include <systemd/sd-event.h>

#include "service/am/facts/containers.h"
#include "service/engine/engine.h"

#define SVC_INSTANCES_TURN 2000
#define SVC_INSTANCES_WAITING 64                /* lists */
#define SVC_INSTANCES_BYTES ((size_t)256 << 20) /* of a text */

/* Which instances; NULL or "" = all. */
struct svc_instance_filter {
    char *const *components;
    size_t n_components;
    const char *version; /* of the service that the instance runs */
    char *const *states; /* of the wire: "READY" */
    size_t n_states;
};

/* The list is there (0), or could not be made (-errno); the text lives during the call. */
typedef void (*svc_instances_done)(int status, const char *text, void *userdata);

struct svc_instances;

/* Engine and containers outlive it. */
int svc_instances_new(sd_event *event, const struct svc_engine *engine,
                      const struct svc_containers *containers, struct svc_instances **ret)
    _must_use_;
/* Lists that are not there yet are dropped. */
struct svc_instances *svc_instances_free(struct svc_instances *s);
/* Lists the instances that have a container: an array of {component_name, containers}. `version`:
 * what the service runs. The filter lives until `done`, which is called once, maybe before this
 * returns. -EBUSY: too many lists are being made. */
int svc_instances_list(struct svc_instances *s, const struct svc_instance_filter *f,
                       const char *version, svc_instances_done done, void *userdata) _must_use_;

#endif
