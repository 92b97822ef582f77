/* The service in Slider's records: what its REST API v2 answers. Names and numbers are Slider's;
 * counters that Slider announced and never filled are filled. */
#ifndef SELVEDGE_SERVICE_AM_VIEW_SLIDER_VIEW_H
#define SELVEDGE_SERVICE_AM_VIEW_SLIDER_VIEW_H

#include <jansson.h>

#include "common/buf.h"
#include "service/am/facts/containers.h"
#include "service/engine/engine.h"

struct svc_slider_view {
    const struct svc_engine *engine;
    const struct svc_containers *containers;
    const struct svc_definition *definition; /* as it was read */
    const struct svc_definition *resolved;
    const char *user;
};

/* NULL: no memory, or no such thing. */

/* ConfTree of the counts and sizes; `statistics`: with the counters of the live one. */
json_t *svc_slider_view_resources_tree(const struct svc_slider_view *v, bool resolved,
                                       bool statistics);
json_t *svc_slider_view_appconf_tree(const struct svc_slider_view *v, bool resolved);
json_t *svc_slider_view_internal_tree(const struct svc_slider_view *v);
/* {name, resources, internal, appConf} */
json_t *svc_slider_view_aggregate(const struct svc_slider_view *v, bool resolved);
json_t *svc_slider_view_components(const struct svc_slider_view *v);
/* The record of one of a component's containers; of the one that runs instance `index`, a text. */
json_t *svc_slider_view_component_container(const struct svc_slider_view *v, const char *name,
                                            const char *id);
json_t *svc_slider_view_instance(const struct svc_slider_view *v, const char *name,
                                 const char *index);
json_t *svc_slider_view_container(const struct svc_slider_view *v, const char *id);
json_t *svc_slider_view_node(const struct svc_slider_view *v, const char *host);
/* `name`: of a component; NULL: of all together. */
json_t *svc_slider_view_liveness(const struct svc_slider_view *v, const char *name);
json_t *svc_slider_view_statistics(const struct svc_slider_view *v);
json_t *svc_slider_view_diagnostics(const struct svc_slider_view *v);

/* ---- All instances, some at a time: live.h ---- */

struct svc_slider_walk { /* zero at first; instances may change between two calls */
    size_t component, cursor;
    bool begun, any, ended;
};
/* Appends the next instances, of `max` that are looked at, to the map of all containers by id. 1:
 * it is complete; 0: there are more. */
int svc_slider_view_some_containers(const struct svc_slider_view *v, struct svc_slider_walk *w,
                                    size_t max, struct sv_buf *out) _must_use_;
/* Likewise, the ids of the containers of a component; `record`: as the last member of what is known
 * of it. -ENOENT: there is no such component, any more. */
int svc_slider_view_some_ids(const struct svc_slider_view *v, const char *name, bool record,
                             struct svc_slider_walk *w, size_t max, struct sv_buf *out) _must_use_;
/* Adds them to the records of their nodes, by host; `host`: of that one alone, or NULL. True: it is
 * complete. */
bool svc_slider_view_some_nodes(const struct svc_slider_view *v, struct svc_slider_walk *w,
                                size_t max, const char *host, json_t *nodes) _must_use_;

#endif
