/* Turns for connections whose map outputs must be found on disk. Reading and checking an index
 * takes milliseconds, and the files are the job's: so each turn reads one, turns go round the jobs,
 * and while several jobs wait each of them has one thread at most. */
#ifndef SELVEDGE_SHUFFLE_LOOKUPS_H
#define SELVEDGE_SHUFFLE_LOOKUPS_H

#include "common/base.h"

struct shf_lookups;
struct shf_lookups_job;

/* Embedded in who waits. */
struct shf_lookup {
    void *owner;
    struct shf_lookups_job *job; /* during its turn */
    struct shf_lookup *prev, *next;
};

/* ret_fd: readable while a turn may be taken; owned by the queue. -errno. */
int shf_lookups_new(struct shf_lookups **ret, int *ret_fd) _must_use_;
struct shf_lookups *
shf_lookups_free(struct shf_lookups *q); /* no thread may wait for a turn; accepts NULL */
/* Queues a connection of the job. -ENOMEM. */
int shf_lookups_add(struct shf_lookups *q, const char *job, struct shf_lookup *l) _must_use_;
/* Begins the next turn; NULL: none may begin. Any thread. */
struct shf_lookup *shf_lookups_take(struct shf_lookups *q) _must_use_;
/* Ends a turn, before its connection is queued again or freed. */
void shf_lookups_done(struct shf_lookups *q, struct shf_lookup *l);

#endif
