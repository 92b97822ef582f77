/* Requests in socket-activated mode: systemd listens (selvedge-executor.socket) and starts one
 * helper for each connection. No process is ours to wait for, and a request may have to wait: for
 * the socket to exist, for a place among systemd's connections.
 *
 * A connection closed before the request was read is retried: nothing was done. */
#ifndef SELVEDGE_EXECUTOR_HELPER_SOCKET_H
#define SELVEDGE_EXECUTOR_HELPER_SOCKET_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "executor/helper-protocol.h"
#include "executor/helper-spawn.h"

#define EXE_DIAL_IN_FLIGHT_MAX 64  /* unanswered requests; systemd's MaxConnections= is larger */
#define EXE_DIAL_PATIENCE_MS 10000 /* for the socket to be there */
#define EXE_DIAL_UNREAD_MS 60000   /* for a request to be read: systemd drops surplus connections */

struct exe_dialer; /* one per daemon */
struct exe_dial;   /* one request */

int exe_dialer_new(sd_event *event, const char *path, struct exe_dialer **ret) _must_use_;
/* Every request has been freed before. */
struct exe_dialer *exe_dialer_free(struct exe_dialer *d);
const char *exe_dialer_path(const struct exe_dialer *d);

/* From the loop or from inside exe_dial. */
struct exe_dial_ops {
    /* The request goes out on `socket`, which is the callee's: 0, or -errno and it stays ours. */
    int (*connected)(int socket, void *userdata);
    /* The time limit has passed; -errno of the last attempt. exe_dial_free is still to be called.
     */
    void (*failed)(int error, void *userdata);
};

/* `fds` are duplicated. */
int exe_dial(struct exe_dialer *d, const struct exe_request *r, const int *fds, size_t n_fds,
             const struct exe_dial_ops *ops, void *userdata, struct exe_dial **ret) _must_use_;
/* Connected, but sending failed: safe to retry. */
bool exe_dial_send_failed(const struct exe_dial *q);
/* Sends the request again, on a new connection. */
void exe_dial_retry(struct exe_dial *q);
/* The request is answered or abandoned: the next one takes its place. */
struct exe_dial *exe_dial_free(struct exe_dial *q);

#endif
