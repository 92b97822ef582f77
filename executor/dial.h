/* The other way to container-executor: by a socket that systemd listens on (selvedge-executor.socket),
 * where each connection is a run of it. Nobody waits for a process then, and what is asked may have to
 * wait: for the socket to be there, for a place among the connections that systemd takes.
 *
 * A connection that is closed with its request unread was nothing: it is asked again. */
#ifndef SELVEDGE_EXECUTOR_DIAL_H
#define SELVEDGE_EXECUTOR_DIAL_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "executor/ask.h"

#define EXE_DIAL_AT_ONCE 64        /* unanswered ones; systemd's MaxConnections= is more */
#define EXE_DIAL_SPARE_USEC (8 * UINT64_C(1000000)) /* less than the ten seconds of a helper that is not asked */
#define EXE_DIAL_PATIENCE_MS 10000 /* for the socket to be there, a request to be read */

struct exe_dialer; /* one of a daemon */
struct exe_dial;   /* one request */

/* `helper`: its file, of which a connection that was made before must be. */
int exe_dialer_new(sd_event *event, const char *path, const char *helper, struct exe_dialer **ret) _must_use_;
/* No request is left. */
struct exe_dialer *exe_dialer_free(struct exe_dialer *d);
const char *exe_dialer_path(const struct exe_dialer *d);

/* From the loop or from inside exe_dial. */
struct exe_dial_ops {
    /* The request goes out on `socket`, which is the callee's: 0, or -errno and it stays ours. */
    int (*connected)(int socket, void *userdata);
    /* There was no way for it, for too long; -errno of the last attempt. exe_dial_free is still to be called. */
    void (*failed)(int error, void *userdata);
};

/* A connection is made for one that comes soon: a helper waits at its end then. There is one at most, for eight
 * seconds. From the loop, when nothing else is to be done. */
void exe_dial_spare_soon(struct exe_dialer *d);
/* `fds` are duplicated. `spare`: that connection will do, too. */
int exe_dial(struct exe_dialer *d, const struct exe_request *r, const int *fds, size_t n_fds, bool spare,
             const struct exe_dial_ops *ops, void *userdata, struct exe_dial **ret) _must_use_;
/* It was not sent, although connected: what ends then has not read it. */
bool exe_dial_unsent(const struct exe_dial *q);
/* Sent on a connection that was made before: that has an end of its own, for which it must be asked again. */
bool exe_dial_on_spare(const struct exe_dial *q);
/* It was not read. */
void exe_dial_again(struct exe_dial *q);
/* Answered, or of no use any more: its place is free. */
struct exe_dial *exe_dial_free(struct exe_dial *q);

#endif
