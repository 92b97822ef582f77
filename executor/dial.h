/* The other way to container-executor: by a socket that systemd listens on
 * (selvedge-executor.socket), where each connection is a run of it. Nobody waits for a process
 * then, and what is asked may have to wait: for the socket to be there, for a place among the
 * connections that systemd takes.
 *
 * A connection that is closed with its request unread was nothing: it is asked again. */
#ifndef SELVEDGE_EXECUTOR_DIAL_H
#define SELVEDGE_EXECUTOR_DIAL_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "executor/ask.h"
#include "executor/channel.h"

#define EXE_DIAL_AT_ONCE 64        /* unanswered ones; systemd's MaxConnections= is more */
#define EXE_DIAL_PATIENCE_MS 10000 /* for the socket to be there */
#define EXE_DIAL_UNREAD_MS                                                                         \
    60000 /* for a request to be read: a node that is busy starts many helpers at once, and        \
           * drops the connections that are too many */

struct exe_dialer; /* one of a daemon */
struct exe_dial;   /* one request */

int exe_dialer_new(sd_event *event, const char *path, struct exe_dialer **ret) _must_use_;
/* No request is left. */
struct exe_dialer *exe_dialer_free(struct exe_dialer *d);
const char *exe_dialer_path(const struct exe_dialer *d);

/* From the loop or from inside exe_dial. */
struct exe_dial_ops {
    /* The request goes out on `socket`, which is the callee's: 0, or -errno and it stays ours. */
    int (*connected)(int socket, void *userdata);
    /* There was no way for it, for too long; -errno of the last attempt. exe_dial_free is still to
     * be called. */
    void (*failed)(int error, void *userdata);
};

/* `fds` are duplicated. */
int exe_dial(struct exe_dialer *d, const struct exe_request *r, const int *fds, size_t n_fds,
             const struct exe_dial_ops *ops, void *userdata, struct exe_dial **ret) _must_use_;
/* It was not sent, although connected: what ends then has not read it. */
bool exe_dial_unsent(const struct exe_dial *q);
/* It was not read. */
void exe_dial_again(struct exe_dial *q);
/* Answered, or of no use any more: its place is free. */
struct exe_dial *exe_dial_free(struct exe_dial *q);

#endif
