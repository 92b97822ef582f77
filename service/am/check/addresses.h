/* Addresses of containers, which their nodes tell some time after the start: which containers lack
 * one, and when whose node is queried. At most SVC_ADDRESSES_OPEN queries are open at a time, each
 * is repeated after an answer without an address, soon and then later and later. A query that a
 * hung node does not answer keeps its place for SVC_ADDRESS_OVERDUE_MS only. */
#ifndef SELVEDGE_SERVICE_AM_CHECK_ADDRESSES_H
#define SELVEDGE_SERVICE_AM_CHECK_ADDRESSES_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "wire/ids.h"

#define SVC_ADDRESSES_OPEN 64
#define SVC_ADDRESS_SOON_MS 50 /* to the first query of a container; then doubled */
#define SVC_ADDRESS_MS 1000    /* up to this */
#define SVC_ADDRESS_OVERDUE_MS 10000

struct svc_addresses;

struct svc_addresses_config {
    /* Queries the container's node. 0: svc_addresses_answered() follows, later. */
    int (*ask)(struct yarn_container_id id, void *userdata);
    /* Whether the container still lacks an address. */
    bool (*wanted)(struct yarn_container_id id, void *userdata);
    void *userdata;
};

int svc_addresses_new(sd_event *event, const struct svc_addresses_config *cfg,
                      struct svc_addresses **ret) _must_use_;
struct svc_addresses *svc_addresses_free(struct svc_addresses *a);
/* A container whose address is wanted; once more: no effect while it is known. */
int svc_addresses_add(struct svc_addresses *a, struct yarn_container_id id) _must_use_;
/* Its query has ended, with an address or without. Unknown ones have no effect. */
void svc_addresses_answered(struct svc_addresses *a, struct yarn_container_id id);
void svc_addresses_remove(struct svc_addresses *a, struct yarn_container_id id);

#endif
