/* /ws/v1/node/resources/{name}: what is known of a plugin's devices, with the fields of Hadoop's
 * NMGpuResourceInfo. */
#ifndef SELVEDGE_NODEMANAGER_WEB_GPU_JSON_H
#define SELVEDGE_NODEMANAGER_WEB_GPU_JSON_H

#include "nodemanager/web/nm-web.h"

/* `name`: "yarn.io/gpu"; another, or without its plugin: an object without members, as Hadoop's. */
int nm_web_resource(const struct nm_web *w, const char *name, struct sv_http_response *ret)
    _must_use_;

#endif
