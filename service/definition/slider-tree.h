/* Slider's configuration documents: a "ConfTree" of global options and of those of each component.
 * Hostile: the text. */
#ifndef SELVEDGE_SERVICE_DEFINITION_SLIDER_TREE_H
#define SELVEDGE_SERVICE_DEFINITION_SLIDER_TREE_H

#include "service/definition/definition.h"

#define SVC_SLIDER_SCHEMA "http://example.org/specification/v2.0.0"
#define SVC_SLIDER_AM "slider-appmaster" /* the component that is Slider's own master */

struct svc_slider_component {
    const char *name;
    struct svc_map options;
};
struct svc_slider_tree {
    const char *file; /* "resources.json", for messages */
    struct svc_map global;
    struct svc_slider_component *components; /* sorted by name */
    size_t n_components;
};

/* `json` NULL: an empty tree. Members that are none of a ConfTree are ignored, as by Slider. */
int svc_slider_tree_read(const char *file, const char *json, size_t len, struct sv_arena *a,
                         struct svc_slider_tree *ret, struct sv_error *err) _must_use_;
/* The options of a component, none if it is not there. */
const struct svc_map *svc_slider_options(const struct svc_slider_tree *t, const char *component);
/* Copies global options to components that lack them (Slider's resolve()). */
int svc_slider_tree_resolve(struct svc_slider_tree *t, struct sv_arena *a) _must_use_;

/* Reads an option as Java's Integer.decode() does: decimal, 0x, #, or octal behind a 0. Absent:
 * `def`. -EINVAL: err says file, component, option, value and range. */
int svc_slider_int(const struct svc_slider_tree *t, const struct svc_slider_component *c,
                   const char *option, int64_t def, int64_t min, int64_t max, int64_t *ret,
                   struct sv_error *err) _must_use_;

#endif
