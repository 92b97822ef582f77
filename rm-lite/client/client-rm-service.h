/* ClientRMService: ApplicationClientProtocol (8032). */
#ifndef SELVEDGE_RM_LITE_CLIENT_CLIENT_RM_SERVICE_H
#define SELVEDGE_RM_LITE_CLIENT_CLIENT_RM_SERVICE_H

#include "wire/ipc/ipc-server.h"

extern const struct ipc_protocol *const rm_client_protocols[];

#endif
