/* Sessions in running containers, for the daemon: a further program, with a terminal of its own or
 * three pipes (session.h). The container must have been launched with a door. Asynchronous, on the
 * loop of the container's exe.
 *
 * Hostile: every answer, as container-init has the job's user id. What the descriptors carry is the
 * job's. */
#ifndef SELVEDGE_EXECUTOR_EXE_SESSION_H
#define SELVEDGE_EXECUTOR_EXE_SESSION_H

#include "executor/exe.h"
#include "executor/session.h"

#define EXE_SESSION_START_MS 10000 /* a frozen container answers nothing */

struct exe_session;

struct exe_session_request {
    bool terminal;
    uint16_t rows, columns;       /* of the terminal */
    const char *const *arguments; /* NULL-terminated, at least one */
    const char *const *variables; /* NULL-terminated: the whole environment */
};

/* Not blocking, and closed on exec. A terminal is `in`, for both directions; the others are -1. */
struct exe_session_io {
    int in, out, err;
};

/* From the loop. `started` comes once or never; its descriptors belong to the callee. `ended` is
 * the last: error 0 and the program's exit code, or a negative errno: -ESRCH the container has
 * ended, -EBUSY it has EXE_SESSIONS_MAX, -ETIMEDOUT it does not answer, -EPROTONOSUPPORT its init
 * is of another release, or why the program cannot be started. */
struct exe_session_ops {
    void (*started)(const struct exe_session_io *io, void *userdata);
    void (*ended)(int error, int code, void *userdata);
};

/* -ENOENT: the container has no door; -ESRCH: it does not run; -EBUSY: too many wait at its door;
 * -E2BIG: arguments and variables are more than a message holds. */
int exe_session_open(struct exe_container *c, const struct exe_session_request *q,
                     const struct exe_session_ops *ops, void *userdata, struct exe_session **ret)
    _must_use_;
/* Kills the program's process group if it runs; no callback follows. NULL is accepted. */
struct exe_session *exe_session_free(struct exe_session *s);

#endif
