/* HAServiceProtocol on the administrators' port: this ResourceManager has no standby, so it is
 * always active. */
#ifndef SELVEDGE_RM_LITE_ADMIN_HA_SERVICE_H
#define SELVEDGE_RM_LITE_ADMIN_HA_SERVICE_H

#include "wire/ipc/ipc-server.h"

extern const struct ipc_protocol rm_ha_protocol;

#endif
