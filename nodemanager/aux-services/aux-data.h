/* What applications have given to auxiliary services (service data of a launch context), by
 * application and service: kept in the state store until the application ends. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_DATA_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_DATA_H

#include "common/base.h"

#define NM_AUX_DATA_MAX ((size_t)65536) /* of one application for one service */

struct nm_aux_data;
struct nm_store;

struct nm_aux_data *nm_aux_data_new(struct nm_store *store);
struct nm_aux_data *nm_aux_data_free(struct nm_aux_data *d);
int nm_aux_data_recover(struct nm_aux_data *d) _must_use_;

/* Records it. 1: it is new or has changed; 0: it is what is known. The record in memory is made
 * even when the store fails (-EIO). */
int nm_aux_data_put(struct nm_aux_data *d, const char *app, const char *service, const void *p,
                    size_t n) _must_use_;
/* NULL: the application has given nothing to the service. */
const uint8_t *nm_aux_data_get(const struct nm_aux_data *d, const char *app, const char *service,
                               size_t *ret_n);
/* Forgets an application; the store does with the application's own record. */
void nm_aux_data_drop(struct nm_aux_data *d, const char *app);

#endif
