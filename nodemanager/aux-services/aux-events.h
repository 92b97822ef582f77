/* The messages of the NodeManager to auxiliary services (docs/design/aux-services.md), as JSON.
 * Texts of users that are not UTF-8 are escaped. NULL: out of memory. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_EVENTS_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_EVENTS_H

#include <jansson.h>

#include "common/base.h"

struct nm_app;
struct nm_aux_conf;
struct nm_container;
struct nm_context;

/* "init", as text. properties: an object as text. listen: names of the sockets passed to it. */
char *nm_aux_init_text(const struct nm_context *ctx, const struct nm_aux_conf *conf,
                       const char *properties, const char *const *listen, size_t n_listen);

json_t *nm_aux_app_init(const struct nm_app *a, const uint8_t *data, size_t n, bool recovered);
json_t *nm_aux_app_stop_event(const struct nm_app *a);
/* "container-init" or "container-stop". */
json_t *nm_aux_container_event(const struct nm_container *c, const char *type);
json_t *nm_aux_dirs_event(const struct nm_context *ctx);

#endif
