/* ApplicationMasterService: ApplicationMasterProtocol (8030). */
#ifndef SELVEDGE_RM_LITE_AM_APPLICATION_MASTER_SERVICE_H
#define SELVEDGE_RM_LITE_AM_APPLICATION_MASTER_SERVICE_H

#include "wire/ipc/ipc-server.h"

extern const struct ipc_protocol *const rm_am_protocols[];

#endif
