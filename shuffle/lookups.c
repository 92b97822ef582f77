/* See lookups.h. The eventfd is 1 exactly while take() returns a turn, so idle threads sleep in
 * epoll beside the connections that can go on. */
#include "shuffle/lookups.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uthash.h>
#include <utlist.h>

#include "common/fd.h"
#include "shuffle/limits.h"

struct shf_lookups_job {
    char id[SHF_ID_MAX + 1];
    struct shf_lookup *waiting;
    unsigned running;                    /* turns */
    struct shf_lookups_job *prev, *next; /* in `ring`, while it waits */
    UT_hash_handle hh;
};

struct shf_lookups {
    pthread_mutex_t lock;
    struct shf_lookups_job *jobs; /* waiting or running */
    struct shf_lookups_job *ring; /* waiting; the next one first */
    int fd;
    bool signalled;
};

int shf_lookups_new(struct shf_lookups **ret, int *ret_fd)
{
    struct shf_lookups *q = calloc(1, sizeof(*q));
    int r = q ? -pthread_mutex_init(&q->lock, NULL) : -ENOMEM;

    if (r < 0) {
        free(q);
        return r;
    }
    q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (q->fd < 0) {
        r = -errno;
        (void)shf_lookups_free(q);
        return r;
    }
    *ret_fd = q->fd;
    *ret = q;
    return 0;
}

struct shf_lookups *shf_lookups_free(struct shf_lookups *q)
{
    if (!q)
        return NULL;
    (void)sv_close(q->fd);
    (void)pthread_mutex_destroy(&q->lock); /* not held, ignoring */
    free(q);
    return NULL;
}

/* The next job that may have a turn: one without, or the only one that waits. */
static struct shf_lookups_job *next_job(const struct shf_lookups *q)
{
    struct shf_lookups_job *j;

    if (q->ring && !q->ring->next)
        return q->ring;
    DL_FOREACH (q->ring, j)
        if (j->running == 0)
            return j;
    return NULL;
}

static void signal_turns(struct shf_lookups *q)
{
    uint64_t n = 1;
    bool any = next_job(q) != NULL;

    if (any == q->signalled)
        return;
    q->signalled = any;
    (void)!(any ? write(q->fd, &n, sizeof(n)) : read(q->fd, &n, sizeof(n))); /* ours, ignoring */
}

static void forget_if_idle(struct shf_lookups *q, struct shf_lookups_job *j)
{
    if (j->waiting || j->running > 0)
        return;
    HASH_DEL(q->jobs, j);
    free(j);
}

int shf_lookups_add(struct shf_lookups *q, const char *job, struct shf_lookup *l)
{
    struct shf_lookups_job *j;

    pthread_mutex_lock(&q->lock);
    HASH_FIND_STR(q->jobs, job, j);
    if (!j) {
        j = calloc(1, sizeof(*j));
        if (!j) {
            pthread_mutex_unlock(&q->lock);
            return -ENOMEM;
        }
        (void)snprintf(j->id, sizeof(j->id), "%s", job);
        HASH_ADD_STR(q->jobs, id, j);
    }
    if (!j->waiting)
        DL_APPEND(q->ring, j);
    DL_APPEND(j->waiting, l);
    signal_turns(q);
    pthread_mutex_unlock(&q->lock);
    return 0;
}

struct shf_lookup *shf_lookups_take(struct shf_lookups *q)
{
    struct shf_lookup *l = NULL;
    struct shf_lookups_job *j;

    pthread_mutex_lock(&q->lock);
    j = next_job(q);
    if (j) {
        l = j->waiting;
        l->job = j;
        j->running++;
        DL_DELETE(j->waiting, l);
        DL_DELETE(q->ring, j);
        if (j->waiting)
            DL_APPEND(q->ring, j); /* behind the others */
        signal_turns(q);
    }
    pthread_mutex_unlock(&q->lock);
    return l;
}

void shf_lookups_done(struct shf_lookups *q, struct shf_lookup *l)
{
    pthread_mutex_lock(&q->lock);
    l->job->running--;
    forget_if_idle(q, l->job);
    l->job = NULL;
    signal_turns(q);
    pthread_mutex_unlock(&q->lock);
}
