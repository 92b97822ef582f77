/* The door of a container (session.h): a socket's name in the directory of its exit record, by that
 * directory's descriptor. */
#ifndef SELVEDGE_EXECUTOR_DOOR_H
#define SELVEDGE_EXECUTOR_DOOR_H

#include "common/base.h"

/* Makes it, in the place of an older one; returns the listening socket. */
int exe_door_make(int dir) _must_use_;
/* Connects; returns the socket. -ENOENT: there is none; -ESRCH: nobody listens any more; -EBUSY:
 * too many wait. */
int exe_door_knock(int dir) _must_use_;

#endif
