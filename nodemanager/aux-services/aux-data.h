/* Service data of launch contexts, by application and service: kept in the state store until the
 * application ends. */
#ifndef SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_DATA_H
#define SELVEDGE_NODEMANAGER_AUX_SERVICES_AUX_DATA_H

#include "common/base.h"

#define NM_AUX_DATA_MAX ((size_t)65536) /* per application and service */

struct nm_aux_data;
struct nm_store;

struct nm_aux_data *nm_aux_data_new(struct nm_store *store);
struct nm_aux_data *nm_aux_data_free(struct nm_aux_data *d);
int nm_aux_data_recover(struct nm_aux_data *d) _must_use_;

/* Records the data. 1: new or changed; 0: unchanged. The record in memory is made even if the store
 * fails (-EIO). */
int nm_aux_data_put(struct nm_aux_data *d, const char *app, const char *service, const void *p,
                    size_t n) _must_use_;
/* NULL: the application has no data for the service. */
const uint8_t *nm_aux_data_get(const struct nm_aux_data *d, const char *app, const char *service,
                               size_t *ret_n);
/* Drops an application's data from memory; the store removes it with the application's record. */
void nm_aux_data_drop(struct nm_aux_data *d, const char *app);

#endif
