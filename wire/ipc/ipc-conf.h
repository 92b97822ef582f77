/* Configuration of IPC servers: Hadoop's keys of core-site.xml, and one of Selvedge. */
#ifndef SELVEDGE_WIRE_IPC_IPC_CONF_H
#define SELVEDGE_WIRE_IPC_IPC_CONF_H

#include "common/conf.h"
#include "wire/ipc/ipc-server.h"

/* The part of ipc_server_config that comes from the configuration. */
struct ipc_server_settings {
    uint32_t qop_mask; /* hadoop.rpc.protection */
    struct ipc_limits limits;
};

/* -EINVAL and a text that names the key. */
int ipc_settings_read(struct sv_conf *conf, struct ipc_server_settings *ret, struct sv_error *err)
    _must_use_;
/* Table of keys, for printing. */
const struct sv_conf_key *ipc_settings_keys(size_t *ret_n);

#endif
