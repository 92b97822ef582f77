/* resources.json of Slider, as PUT to /model/desired/resources: which counts it asks for. Pure.
 * Hostile: all of it. */
#ifndef SELVEDGE_SERVICE_AM_VIEW_SLIDER_RESOURCES_H
#define SELVEDGE_SERVICE_AM_VIEW_SLIDER_RESOURCES_H

#include "common/arena.h"
#include "common/error.h"
#include "service/am/view/control.h"

#define SVC_SLIDER_SCHEMA "http://example.org/specification/v2.0.0"
#define SVC_SLIDER_MASTER "slider-appmaster" /* component that stands for the master itself */

/* Compares the tree with the running definition; *ret has all components: those that the tree does
 * not name get 0. -EINVAL: err says path, value and rule; what a running service cannot change
 * must be as it is. In the arena. */
int svc_slider_resources(const char *json, size_t len, const struct svc_definition *d,
                         struct sv_arena *a, struct svc_flex **ret, size_t *ret_n,
                         struct sv_error *err) _must_use_;

#endif
