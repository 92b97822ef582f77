/* The daemon's ports: ContainerManagementProtocol, the web server, the bus; held by systemd or
 * opened here. They open last, when everything that answers is there. */
#ifndef SELVEDGE_NODEMANAGER_NM_PORTS_H
#define SELVEDGE_NODEMANAGER_NM_PORTS_H

#include "common/base.h"
#include "common/error.h"

struct nm;

/* -EINVAL: systemd holds a socket whose name nothing here has. */
int nm_ports_check(const struct nm *nm, struct sv_error *err) _must_use_;
/* Opens nm->rpc and nm->server, and sets the node's id and its port of the web. Waits for ports
 * that children of an earlier run still hold: before the loop runs. */
int nm_ports_open(struct nm *nm, struct sv_error *err) _must_use_;
/* Opens nm->bus. */
int nm_ports_open_bus(struct nm *nm, struct sv_error *err) _must_use_;

#endif
