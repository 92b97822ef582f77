/* The TCP ports that a container was given by its ApplicationMaster: whether they can be bound is
 * tried before its program starts, so that a job learns of a port that somebody else has at once,
 * by an exit status of its own. No promise: another program may take one between the two. Hostile:
 * the variable. */
#ifndef SELVEDGE_NODEMANAGER_LAUNCH_WANTED_PORTS_H
#define SELVEDGE_NODEMANAGER_LAUNCH_WANTED_PORTS_H

#include "common/base.h"
#include "common/error.h"
#include "wire/container-variables.h"

#define NM_TRIED_PORTS_MAX 256 /* the first ones: the loop waits for it */

/* 0: those that are tried are free. -EADDRINUSE: err names one that is not. -EINVAL: not such a
 * text, or too many. */
int nm_ports_try(const char *text, struct sv_error *err) _must_use_;

#endif
