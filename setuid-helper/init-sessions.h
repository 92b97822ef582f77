/* Sessions of container-init (executor/session.h): further programs that the NodeManager's account
 * runs in this container. */
#ifndef SELVEDGE_SETUID_HELPER_INIT_SESSIONS_H
#define SELVEDGE_SETUID_HELPER_INIT_SESSIONS_H

#include <poll.h>
#include <sys/types.h>

#include "executor/session.h"

#define INIT_SESSIONS_POLL (1 + EXE_SESSIONS_MAX)

/* Fills `p` for the next poll: the door and each session; without a door nothing is waited for. */
void init_sessions_prepare(struct pollfd p[INIT_SESSIONS_POLL]);
/* After it: takes, starts and ends sessions. */
void init_sessions_serve(const struct pollfd p[INIT_SESSIONS_POLL]);
/* A child that has been reaped, with its wait status: tells the daemon if it was a session's. */
void init_sessions_ended(pid_t pid, int status);

#endif
