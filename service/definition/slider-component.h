/* One component of Slider's documents as one of a definition. */
#ifndef SELVEDGE_SERVICE_DEFINITION_SLIDER_COMPONENT_H
#define SELVEDGE_SERVICE_DEFINITION_SLIDER_COMPONENT_H

#include "service/definition/slider-tree.h"

struct svc_slider_import {
    struct sv_arena *a;
    struct sv_error *err;
    struct svc_slider_tree resources, app_conf, internal; /* the first two with globals copied */
    struct svc_map app_globals;                           /* of appConf.json */
};

/* Names and values that are collected; not more than there is room for. */
struct svc_pairs {
    struct svc_map map;
    size_t room;
};
int svc_pairs_new(struct sv_arena *a, size_t room, struct svc_pairs *ret) _must_use_;
void svc_pairs_add(struct svc_pairs *p, const char *name, const char *value);

/* The component's name in a definition: lower case, - for _. */
const char *svc_slider_component_name(struct sv_arena *a, const char *name);
/* `ret_priority` orders components. */
int svc_slider_component(const struct svc_slider_import *in, const struct svc_slider_component *c,
                         struct svc_component *ret, int64_t *ret_priority) _must_use_;

#endif
