/* ContainerRetryContext: whether the failure of a container is followed by another launch on this
 * node (Hadoop: SlidingWindowRetryPolicy). Hostile: every number in it, from the application. */
#ifndef SELVEDGE_NODEMANAGER_CORE_CONTAINER_RETRY_H
#define SELVEDGE_NODEMANAGER_CORE_CONTAINER_RETRY_H

#include <stdint.h>

#include "common/base.h"
#include "wire/ipc/methods.h"

/* Relaunches that a window counts at most; a context that allows more of them in its window allows
 * any number. */
#define NM_RETRY_TIMES_MAX 1000
#define NM_RETRY_FOREVER (-1)

struct nm_retry {
    int32_t policy; /* enum of ContainerRetryPolicyProto; 0: never */
    int32_t max, interval_ms, remaining;
    int64_t window_ms; /* <= 0: none, `remaining` counts */
    int64_t *times;    /* of the relaunches in the window, wall clock, ascending */
    size_t n_times;
};

/* The context of a launch context, with all of its retries left. */
void nm_retry_set(struct nm_retry *r, const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                  int64_t minimum_interval_ms);
/* True if an exit with this code is followed by another launch. Signals and success never are. */
bool nm_retry_wanted(const struct nm_retry *r, const Hadoop__Yarn__ContainerLaunchContextProto *clc,
                     int code, int64_t now_ms);
/* Counts one more relaunch. */
int nm_retry_count(struct nm_retry *r, int64_t now_ms) _must_use_;

/* For the state store: "REMAINING TIME…", malloc'd. NULL: out of memory. */
char *nm_retry_text(const struct nm_retry *r) _must_use_;
/* Restores what was counted, into a set context; "": nothing was. -EBADMSG: malformed, nothing is
 * restored. */
int nm_retry_restore(struct nm_retry *r, const char *text) _must_use_;
void nm_retry_clear(struct nm_retry *r);

#endif
