/* ApplicationClientProtocol (8050): which method goes where. */
#ifndef SELVEDGE_ROUTER_CLIENT_SERVICE_H
#define SELVEDGE_ROUTER_CLIENT_SERVICE_H

#include "wire/ipc/ipc-server.h"

/* NULL-terminated; the handlers' userdata is a struct router. */
extern const struct ipc_protocol *const rtr_protocols[];

#endif
