/* Addresses of containers, which their nodes tell some time after the start: which containers lack
 * one, and when whose node is queried. At most SVC_ADDRESSES_OPEN queries are open at a time, each
 * is repeated a while after an answer without an address. A query that a hung node does not answer
 * keeps its place for SVC_ADDRESS_OVERDUE_MS only. */
#ifndef SELVEDGE_SERVICE_AM_ADDRESSES_H
#define SELVEDGE_SERVICE_AM_ADDRESSES_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "wire/ids.h"

#define SVC_ADDRESSES_OPEN 64
#define SVC_ADDRESS_TRIES 30
#define SVC_ADDRESS_MS 1000 /* from an answer to the next query of the container */
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
