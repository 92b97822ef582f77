/* ClientAMProtocol, by which Hadoop's ServiceClient, yarn app and ours flex, read, upgrade and stop
 * a running service: the table of methods of an IPC server whose userdata is a struct
 * svc_client_am. Hostile: every request. */
#ifndef SELVEDGE_SERVICE_AM_SERVE_CLIENT_AM_H
#define SELVEDGE_SERVICE_AM_SERVE_CLIENT_AM_H

#include "service/am/view/control.h"
#include "service/am/view/instances.h"
#include "service/am/view/status.h"
#include "wire/ipc/ipc-server.h"

#define SVC_WAITING_MAX 256 /* calls of getStatus that wait for a text being built */

struct svc_client_am {
    struct svc_control control;
    struct svc_status *status;
    struct svc_instances *instances;
    const char *const *version; /* of the running definition */
    struct ipc_call *waiting[SVC_WAITING_MAX];
    size_t n_waiting;
};

extern const struct ipc_protocol svc_client_am_protocol;

/* The text of the status is there (0), or could not be built: answers the waiting calls. */
void svc_client_am_status_done(struct svc_client_am *s, int status);

/* The end of a call of upgradeService that was answered by SVC_LATER. */
void svc_client_am_upgraded(struct ipc_call *call, int status, const struct sv_error *err);

#endif
