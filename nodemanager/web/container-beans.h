/* ContainerResource_<id> of /jmx: limits, usage and durations of each container, with
 * yarn.nodemanager.container-metrics.period-ms. */
#ifndef SELVEDGE_NODEMANAGER_WEB_CONTAINER_BEANS_H
#define SELVEDGE_NODEMANAGER_WEB_CONTAINER_BEANS_H

#include <jansson.h>

#include "nodemanager/web/nm-web.h"

/* True: the request gets these beans, of containers that the caller may see, and has got its
 * answer, which begins with those of `node` (taken). */
bool nm_container_beans(const struct nm_web *w, json_t *node, const struct sv_http_request *req,
                        struct sv_http_response *ret, int *ret_result);

/* For tests. */
json_t *nm_container_bean(const struct nm_context *ctx, const char *id);

#endif
