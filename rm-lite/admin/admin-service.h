/* AdminService: ResourceManagerAdministrationProtocol (8033). */
#ifndef SELVEDGE_RM_LITE_ADMIN_ADMIN_SERVICE_H
#define SELVEDGE_RM_LITE_ADMIN_ADMIN_SERVICE_H

#include "wire/ipc/ipc-server.h"

extern const struct ipc_protocol *const rm_admin_protocols[];

#endif
