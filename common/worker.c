/* See worker.h. Owner and thread share a `struct sv_worker` under its lock; the last of the two
 * frees it. A job is in one list, or is the thread's alone: running and given up. */
#include "common/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utlist.h>

#include "common/fd.h"
#include "common/loop-guard.h"

enum place { QUEUED, RUNNING, ENDED };

struct queued_job {
    struct queued_job *prev, *next;
    struct sv_worker *w;
    struct sv_job job;
    sd_event_source *deadline; /* the owner's */
    enum place place;
    bool given_up;
};

struct sv_worker {
    pthread_mutex_t lock;
    bool owned, has_thread;
    struct queued_job *queue, *running, *ended;
    const char *name;
    int told; /* eventfd; -1: none */
    sd_event *event;
    sd_event_source *io;
};

static void job_free(struct queued_job *j)
{
    j->job.free(j->job.data);
    free(j);
}

/* Releases the lock. */
static void leave(struct sv_worker *w)
{
    bool last = !w->owned && !w->has_thread;

    pthread_mutex_unlock(&w->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&w->lock);
    sv_close(w->told);
    free(w);
}

static void *work(void *userdata)
{
    static const uint64_t one = 1;
    struct sv_worker *w = userdata;
    struct queued_job *j;

    (void)pthread_setname_np(pthread_self(), w->name); /* for people only, ignoring */
    pthread_mutex_lock(&w->lock);
    while ((j = w->queue)) {
        DL_DELETE(w->queue, j);
        w->running = j;
        j->place = RUNNING;
        pthread_mutex_unlock(&w->lock);
        j->job.run(j->job.data);
        pthread_mutex_lock(&w->lock);
        w->running = NULL;
        if (j->given_up) {
            pthread_mutex_unlock(&w->lock);
            job_free(j);
            pthread_mutex_lock(&w->lock);
            continue;
        }
        j->place = ENDED;
        DL_APPEND(w->ended, j);
        if (w->told >= 0)
            (void)!write(w->told, &one, sizeof(one)); /* far from its end it never blocks */
    }
    w->has_thread = false;
    leave(w);
    return NULL;
}

static int start_thread(struct sv_worker *w)
{
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;
    int e = pthread_attr_init(&attr);

    if (e != 0)
        return -e;
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED); /* a valid value, ignoring */
    (void)sigfillset(&all); /* signals belong to the loop's thread */
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    e = pthread_create(&thread, &attr, work, w);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    return -e;
}

bool sv_worker_dispatch(struct sv_worker *w)
{
    struct queued_job *j;

    pthread_mutex_lock(&w->lock);
    j = w->ended;
    if (j)
        DL_DELETE(w->ended, j);
    pthread_mutex_unlock(&w->lock);
    if (!j)
        return false;
    j->deadline = sd_event_source_disable_unref(j->deadline);
    j->job.done(0, j->job.data, j->job.userdata); /* `w` may be gone after this */
    job_free(j);
    return true;
}

static int on_told(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
    SV_LOOP_HANDLER();
    uint64_t one;

    (void)s, (void)events;
    (void)!read(fd, &one, sizeof(one)); /* a semaphore: one result a turn, ignoring */
    (void)sv_worker_dispatch(userdata);
    return 0;
}

static int on_deadline(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct queued_job *j = userdata;
    struct sv_worker *w = j->w;
    struct sv_job job = j->job;
    enum place place;

    (void)s, (void)usec;
    j->deadline = sd_event_source_disable_unref(j->deadline);
    pthread_mutex_lock(&w->lock);
    place = j->place;
    j->given_up = place == RUNNING;
    if (place == QUEUED)
        DL_DELETE(w->queue, j);
    pthread_mutex_unlock(&w->lock);
    if (place == ENDED) /* on_told() is about to deliver it */
        return 0;
    if (place == QUEUED)
        job_free(j);
    job.done(-ETIMEDOUT, NULL, job.userdata);
    return 0;
}

int sv_worker_run(struct sv_worker *w, const struct sv_job *job)
{
    struct queued_job *j = calloc(1, sizeof(*j));
    int r = 0;

    if (!j)
        return -ENOMEM;
    j->w = w;
    j->job = *job;
    if (job->deadline_ms > 0)
        r = !w->event ? -EINVAL
                      : sd_event_add_time_relative(w->event, &j->deadline, CLOCK_MONOTONIC,
                                                   (uint64_t)job->deadline_ms * 1000, 1000,
                                                   on_deadline, j);
    pthread_mutex_lock(&w->lock);
    if (r >= 0 && !w->has_thread)
        r = start_thread(w);
    if (r >= 0) {
        w->has_thread = true;
        DL_APPEND(w->queue, j);
    }
    pthread_mutex_unlock(&w->lock);
    if (r >= 0)
        return 0;
    sd_event_source_disable_unref(j->deadline);
    free(j);
    return r;
}

static int create(sd_event *event, int told, const char *name, struct sv_worker **ret)
{
    struct sv_worker *w = calloc(1, sizeof(*w));
    int r;

    if (!w) {
        sv_close(told);
        return -ENOMEM;
    }
    *w = (struct sv_worker){
        .lock = PTHREAD_MUTEX_INITIALIZER, .owned = true, .name = name, .told = told
    };
    w->event = sd_event_ref(event);
    r = event ? sd_event_add_io(event, &w->io, told, EPOLLIN, on_told, w) : 0;
    if (r < 0)
        (void)sv_worker_free(w);
    else
        *ret = w;
    return SV_MIN(r, 0);
}

int sv_worker_new(sd_event *event, const char *name, struct sv_worker **ret)
{
    int told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);

    return told < 0 ? -errno : create(event, told, name, ret);
}

int sv_worker_new_polled(int told, const char *name, struct sv_worker **ret)
{
    if (told >= 0 && (told = fcntl(told, F_DUPFD_CLOEXEC, 0)) < 0)
        return -errno;
    return create(NULL, told, name, ret);
}

static void give_up_all(struct queued_job **list)
{
    struct queued_job *j, *next;

    DL_FOREACH_SAFE (*list, j, next) {
        DL_DELETE(*list, j);
        sd_event_source_disable_unref(j->deadline);
        job_free(j);
    }
}

struct sv_worker *sv_worker_free(struct sv_worker *w)
{
    if (!w)
        return NULL;
    sd_event_source_disable_unref(w->io);
    pthread_mutex_lock(&w->lock);
    give_up_all(&w->queue);
    give_up_all(&w->ended);
    if (w->running && !w->running->given_up) {
        w->running->given_up = true;
        w->running->deadline = sd_event_source_disable_unref(w->running->deadline);
    }
    sd_event_unref(w->event);
    w->owned = false;
    leave(w);
    return NULL;
}
