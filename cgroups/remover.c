/* Removes cgroups in a thread. rmdir of a cgroup waits for the kernel's lock on all cgroups, and
 * fails with EBUSY for a while if the last process is exiting: neither may block the daemon's loop.
 *
 * The thread MUST touch nothing but struct removal and the queue, under its lock. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "cgroups/file.h"
#include "cgroups/internal.h"
#include "common/fd.h"
#include "common/loop-guard.h"

#define FIRST_WAIT_USEC 1000
#define LONGEST_WAIT_USEC 500000

struct removal {
    struct removal *prev, *next;
    struct cg_remover *remover;
    int root, group; /* directories; ours */
    char *name, *root_path;
    uint64_t due, give_up, wait; /* µs, CLOCK_MONOTONIC */
    int error;                   /* result when done: 0 or errno */
    bool done;
    int told; /* eventfd; -1 without a callback */
    sd_event_source *on_told;
    cg_removed_fn removed;
    void *userdata;
};

struct cg_remover {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct removal *queue; /* utlist; also finished ones that wait for the loop */
    bool ending;
};

static uint64_t now_usec(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void removal_free(struct removal *m)
{
    (void)sd_event_source_disable_unref(m->on_told);
    m->root = sv_close(m->root);
    m->group = sv_close(m->group);
    m->told = sv_close(m->told);
    free(m->name);
    free(m->root_path);
    free(m);
}

/* One attempt, without the lock; true if it was the last. */
static bool attempt(struct removal *m)
{
    if (unlinkat(m->root, m->name, AT_REMOVEDIR) == 0 || errno == ENOENT) {
        m->error = 0;
        return true;
    }
    m->error = errno;
    uint64_t now = now_usec();
    if (m->error != EBUSY || now >= m->give_up)
        return true;
    (void)!cg_file_write(m->group, "cgroup.kill", "1"); /* kills remaining processes */
    m->due = now + m->wait;
    m->wait = SV_MIN(2 * m->wait, (uint64_t)LONGEST_WAIT_USEC);
    return false;
}

static struct removal *next_due(struct cg_remover *r)
{
    struct removal *m, *first = NULL;
    DL_FOREACH (r->queue, m)
        if (!m->done && (!first || m->due < first->due))
            first = m;
    return first;
}

static void *work(void *userdata)
{
    struct cg_remover *r = userdata;
    uint64_t one = 1;
    (void)pthread_setname_np(pthread_self(), "cgroup-rmdir");
    (void)pthread_mutex_lock(&r->lock);
    while (!r->ending) {
        struct removal *m = next_due(r);
        if (!m) {
            (void)pthread_cond_wait(&r->changed, &r->lock);
            continue;
        }
        if (m->due > now_usec()) {
            struct timespec until = { .tv_sec = (time_t)(m->due / 1000000),
                                      .tv_nsec = (long)(m->due % 1000000) * 1000 };
            (void)pthread_cond_timedwait(&r->changed, &r->lock, &until);
            continue;
        }
        (void)pthread_mutex_unlock(&r->lock);
        bool done = attempt(m); /* remains queued until done */
        (void)pthread_mutex_lock(&r->lock);
        m->done = done;
        if (done && m->told >= 0) {
            (void)!write(m->told, &one, sizeof(one)); /* a counter of 1 never blocks */
        } else if (done) {
            DL_DELETE(r->queue, m);
            removal_free(m);
        }
    }
    (void)pthread_mutex_unlock(&r->lock);
    return NULL;
}

static struct cg_remover *remover_new(void)
{
    struct cg_remover *r = calloc(1, sizeof(*r));
    pthread_condattr_t attr;
    sigset_t all, before;
    if (!r)
        return NULL;
    (void)pthread_mutex_init(&r->lock, NULL); /* these three cannot fail on Linux */
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&r->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    /* The daemon's signals arrive through its loop. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int e = pthread_create(&r->thread, NULL, work, r);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (e == 0)
        return r;
    (void)pthread_cond_destroy(&r->changed);
    (void)pthread_mutex_destroy(&r->lock);
    free(r);
    return NULL;
}

struct cg_remover *cg_remover_free(struct cg_remover *r)
{
    if (!r)
        return NULL;
    (void)pthread_mutex_lock(&r->lock);
    r->ending = true;
    (void)pthread_cond_signal(&r->changed);
    (void)pthread_mutex_unlock(&r->lock);
    (void)pthread_join(r->thread, NULL);
    while (r->queue) {
        struct removal *m = r->queue;
        DL_DELETE(r->queue, m);
        if (!m->done)
            (void)attempt(m); /* a last attempt */
        removal_free(m);
    }
    (void)pthread_cond_destroy(&r->changed);
    (void)pthread_mutex_destroy(&r->lock);
    free(r);
    return NULL;
}

static int on_told(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    struct removal *m = userdata;
    struct cg_remover *r = m->remover;
    struct sv_error err = { 0 };
    (void)s;
    (void)fd;
    (void)revents;
    (void)pthread_mutex_lock(&r->lock);
    DL_DELETE(r->queue, m);
    (void)pthread_mutex_unlock(&r->lock);
    if (m->error)
        (void)sv_error_errno(&err, -m->error, "%s/%s: cannot remove the cgroup", m->root_path,
                             m->name);
    cg_removed_fn removed = m->removed;
    void *removed_userdata = m->userdata;
    removal_free(m);
    removed(err.code ? &err : NULL, removed_userdata);
    return 0;
}

static int prepare(struct removal *m, struct cg_root *root, sd_event *event)
{
    if (!root->remover && !(root->remover = remover_new()))
        return -EAGAIN;
    m->remover = root->remover;
    m->root = fcntl(root->fd, F_DUPFD_CLOEXEC, 0);
    m->root_path = strdup(root->path);
    if (m->root < 0 || !m->root_path)
        return m->root < 0 ? -errno : -ENOMEM;
    if (!m->removed)
        return 0;
    m->told = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return m->told < 0 ? -errno : sd_event_add_io(event, &m->on_told, m->told, EPOLLIN, on_told, m);
}

int cg_remover_add(struct cg_root *root, char *name, int group, sd_event *event,
                   unsigned timeout_ms, cg_removed_fn removed, void *userdata)
{
    struct removal *m = calloc(1, sizeof(*m));
    uint64_t now = now_usec();
    if (!m) {
        free(name);
        (void)sv_close(group);
        return -ENOMEM;
    }
    *m = (struct removal){ .root = -1,
                           .group = group,
                           .name = name,
                           .told = -1,
                           .removed = removed,
                           .userdata = userdata,
                           .due = now,
                           .wait = FIRST_WAIT_USEC,
                           .give_up = now + (uint64_t)timeout_ms * 1000 };
    int r = prepare(m, root, event);
    if (r < 0) {
        removal_free(m);
        return r;
    }
    (void)pthread_mutex_lock(&m->remover->lock);
    DL_APPEND(m->remover->queue, m);
    (void)pthread_cond_signal(&m->remover->changed);
    (void)pthread_mutex_unlock(&m->remover->lock);
    return 0;
}
