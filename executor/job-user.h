/* The frame of a program that performs one checked request as the job's user: container-delete,
 * container-link, container-signal. container-executor executes it after dropping to that user for
 * ever, with an empty environment, the request socket as fd 0 and a pipe with one struct
 * exe_request as fd 1; descriptors from 3 on are the program's own.
 *
 * Static programs without the daemon's libraries: only request.o is linked beside this. */
#ifndef SELVEDGE_EXECUTOR_JOB_USER_H
#define SELVEDGE_EXECUTOR_JOB_USER_H

#include "executor/request.h"

/* Keeps other processes of the same user from tracing this one and reads the request. False: root,
 * arguments, no request or one of another operation; the program ends with EXE_STATUS_REQUEST. */
bool job_user_request(int argc, enum exe_op op, struct exe_request *r);

/* Sends the reply on fd 0, with `text` cut at EXE_TEXT_MAX; `error` is an errno or 0. Returns the
 * status, which is the program's exit status. */
int job_user_answer(const struct exe_request *r, enum exe_status status, int error,
                    const char *text);

/* Opens a path below `dirfd` without following a link or crossing a mount, however often the job
 * renames something meanwhile. O_CLOEXEC is added. Returns a descriptor, or a negative errno. */
int job_user_open(int dirfd, const char *path, int flags);

#endif
