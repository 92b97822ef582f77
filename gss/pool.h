/* A fixed number of threads that take jobs from one bounded queue, in order. */
#ifndef SELVEDGE_GSS_POOL_H
#define SELVEDGE_GSS_POOL_H

#include "common/base.h"

struct sgss_pool;

/* The threads start at once and stay: none is made behind the system call filter. `run` owns the
 * job. A pool lives as long as the program. */
int sgss_pool_new(size_t threads, size_t max_jobs, void (*run)(void *job), struct sgss_pool **ret)
    _must_use_;
/* -EBUSY: the queue is full; the caller keeps the job. */
int sgss_pool_put(struct sgss_pool *p, void *job) _must_use_;

/* One more thread of the program. */
int sgss_thread_start(void *(*run)(void *data), void *data) _must_use_;

#endif
