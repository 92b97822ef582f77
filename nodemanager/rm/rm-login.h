/* How the node proves to the ResourceManager who it is: by its Kerberos ticket, by the node secret,
 * or not at all. With Kerberos also what keeps it from that, which is no absence of the
 * ResourceManager and never ends the daemon: no ticket, no answer of a KDC, or a peer that is not
 * who it should be. Private to rm/. */
#ifndef SELVEDGE_NODEMANAGER_RM_RM_LOGIN_H
#define SELVEDGE_NODEMANAGER_RM_RM_LOGIN_H

#include "common/base.h"
#include "common/error.h"
#include "gss/daemon.h"
#include "wire/ipc/proxy.h"

struct nm_updater;

struct nm_rm_login {
    struct sgss_service service; /* with Kerberos */
    bool waits;                  /* for a ticket, which is followed by a request */
    bool hindered;               /* since the last answer */
    char told[IPC_PROXY_SERVERS_MAX][SV_ERROR_TEXT_MAX]; /* hindrances at each, logged */
};

enum nm_rm_hindrance {
    NM_RM_UNHINDERED,
    NM_RM_NO_TICKET, /* or its helper or a KDC fails */
    NM_RM_REFUSED,   /* one of the two does not accept the other */
};
/* `status`: of the failed request; `refused`: it is IPC_FAILURE_AUTH. */
enum nm_rm_hindrance nm_rm_hindrance_of(bool has_ticket, int status, bool refused);

/* Opens u->rm with `cfg`. -EINVAL: a ResourceManager whose principal cannot be told. */
int nm_rm_login_open(struct nm_updater *u, struct ipc_proxy_config *cfg, struct sv_error *err)
    _must_use_;
/* Whether a request that failed so did for want of a login: logged once for a ResourceManager, and
 * shown in the service manager's status. Where one refuses it, the next request is sent to the next
 * one. */
bool nm_rm_login_hinders(struct nm_updater *u, int status, bool refused, const char *why);
/* True, before the first request, if the ticket is not there yet. */
bool nm_rm_login_missing(struct nm_updater *u);
/* True while a request that failed for want of the ticket still has to wait for it. */
bool nm_rm_login_waits(struct nm_updater *u);
/* The state of the login has changed: true once, when the request need not wait any more. */
bool nm_rm_login_came(struct nm_updater *u);
/* A request was answered. */
void nm_rm_login_recovered(struct nm_updater *u);

#endif
