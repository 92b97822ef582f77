/* ApplicationMasterProtocol for the masters of this node, port 8049: SASL TOKEN with a local
 * AMRMToken, always; who calls is the attempt. Hostile: every caller, with a valid token too. */
#ifndef SELVEDGE_NODEMANAGER_AMRMPROXY_SERVER_H
#define SELVEDGE_NODEMANAGER_AMRMPROXY_SERVER_H

#include <systemd/sd-event.h>

#include "common/error.h"
#include "wire/ipc/ipc-server.h"

struct nm_amrm;
struct nm_conf;

#define NM_AMRM_FRAME_MAX ((size_t)32 << 20)   /* bytes of a master's request */
#define NM_AMRM_MEMORY_MAX ((size_t)192 << 20) /* of all connections: struct ipc_limits */
#define NM_AMRM_CONNECTIONS_MAX 2048           /* of which one address has all on its own node */

struct nm_amrm_server;

int nm_amrm_server_new(sd_event *event, const struct nm_conf *conf, struct nm_amrm *proxy,
                       int *listen_fd, struct nm_amrm_server **ret, struct sv_error *err)
    _must_use_;
/* Drops its connections. Accepts NULL, returns NULL. */
struct nm_amrm_server *nm_amrm_server_free(struct nm_amrm_server *s);
uint16_t nm_amrm_server_port(const struct nm_amrm_server *s);
struct ipc_server *nm_amrm_server_rpc(const struct nm_amrm_server *s);

/* For --print-interfaces. */
extern const struct ipc_protocol nm_amrm_protocol;

#endif
