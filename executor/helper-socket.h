/* Requests in socket-activated mode: systemd listens (selvedge-executor.socket) and starts one
 * helper for each connection. The process is not our child, and a request may have to wait: for the
 * socket to exist, for a free connection of systemd.
 *
 * A connection closed before the request was read is retried: it had no effect. */
#ifndef SELVEDGE_EXECUTOR_HELPER_SOCKET_H
#define SELVEDGE_EXECUTOR_HELPER_SOCKET_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "executor/helper-protocol.h"
#include "executor/helper-spawn.h"

#define EXE_DIAL_IN_FLIGHT_MAX 64  /* unanswered requests; systemd's MaxConnections= is larger */
#define EXE_DIAL_PATIENCE_MS 10000 /* for the socket to exist */
#define EXE_DIAL_UNREAD_MS 60000   /* for a request to be read: systemd drops surplus connections */

struct exe_dialer; /* one per daemon */
struct exe_dial;   /* one request */

int exe_dialer_new(sd_event *event, const char *path, struct exe_dialer **ret) _must_use_;
/* Free every request first. */
struct exe_dialer *exe_dialer_free(struct exe_dialer *d);
const char *exe_dialer_path(const struct exe_dialer *d);

/* Called from the loop or from exe_dial. */
struct exe_dial_ops {
    /* The request was sent on `socket`, whose ownership passes to the callee on 0; on -errno it
     * does not. */
    int (*connected)(int socket, void *userdata);
    /* The time limit has passed; -errno of the last attempt. exe_dial_free must still be called. */
    void (*failed)(int error, void *userdata);
};

/* `fds` are duplicated. */
int exe_dial(struct exe_dialer *d, const struct exe_request *r, const int *fds, size_t n_fds,
             const struct exe_dial_ops *ops, void *userdata, struct exe_dial **ret) _must_use_;
/* True if connected, but sending failed: safe to retry. */
bool exe_dial_send_failed(const struct exe_dial *q);
/* Sends the request again, on a new connection. */
void exe_dial_retry(struct exe_dial *q);
/* Ends an answered or abandoned request: a waiting one takes its slot. */
struct exe_dial *exe_dial_free(struct exe_dial *q);

#endif
