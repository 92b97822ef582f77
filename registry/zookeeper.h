/* Records in ZooKeeper, in the layout of Hadoop's RegistryOperationsService: the record of a path
 * is the data of the node ROOT/PATH, which everybody may read and change (hadoop.registry.secure
 * false). */
#ifndef SELVEDGE_REGISTRY_ZOOKEEPER_H
#define SELVEDGE_REGISTRY_ZOOKEEPER_H

#include <systemd/sd-event.h>

#include "common/error.h"
#include "registry/backend.h"

struct reg_zookeeper_config {
    const char *servers; /* as of common/zookeeper/zk.h */
    const char *root;    /* "/registry" */
    uint32_t session_ms;
};

/* -ELIBACC: no client library; -EINVAL. It connects later. */
int reg_zookeeper_open(sd_event *event, const struct reg_zookeeper_config *cfg,
                       struct reg_backend **ret, struct sv_error *err) _must_use_;

#endif
