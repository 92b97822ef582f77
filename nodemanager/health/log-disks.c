/* See log-disks.h. */
#include "nodemanager/health/log-disks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/fd.h"
#include "executor/request.h"
#include "nodemanager/health/local-dirs.h"

struct disk;

/* One job's caller: the worker's `userdata`, which outlives the data of a job that was given up. */
struct caller {
    struct caller *prev, *next;
    struct disk *disk;
    void (*done)(int status, void *data, void *userdata);
    void *userdata;
};

struct disk {
    struct sv_worker *worker;
    struct caller *callers;
    unsigned n;  /* callers */
    bool silent; /* a job was given up, and the thread has not come back from it */
};

struct nm_log_disks {
    const struct nm_dirs *dirs;
    struct disk disks[EXE_DIRS_MAX];
    int n;
};

struct nm_log_disks *nm_log_disks_free(struct nm_log_disks *d)
{
    if (!d)
        return NULL;
    for (int i = 0; i < d->n; i++) {
        struct caller *c, *next;

        d->disks[i].worker = sv_worker_free(d->disks[i].worker);
        DL_FOREACH_SAFE (d->disks[i].callers, c, next) {
            DL_DELETE(d->disks[i].callers, c);
            c->done(-ECANCELED, NULL, c->userdata);
            free(c);
        }
    }
    free(d);
    return NULL;
}

int nm_log_disks_new(sd_event *event, const struct nm_dirs *dirs, struct nm_log_disks **ret)
{
    struct nm_log_disks *d = calloc(1, sizeof(*d));
    int r = d ? 0 : -ENOMEM;

    if (d)
        d->dirs = dirs;
    for (int i = 0; r >= 0 && i < nm_dirs_n_log(dirs); i++) {
        r = sv_worker_new(event, "log-disk", &d->disks[i].worker);
        d->n += r >= 0;
    }
    if (r < 0)
        (void)nm_log_disks_free(d);
    else
        *ret = d;
    return r;
}

/* ---- A disk that does not answer ---- */

static void no_work(void *data)
{
    (void)data;
}

static void on_back(int status, void *data, void *userdata)
{
    struct disk *disk = userdata;

    (void)status, (void)data;
    disk->silent = false;
}

/* A job without a deadline waits behind the one that hangs: its end shows that the thread runs
 * again. */
static void wait_for_thread(struct disk *disk)
{
    const struct sv_job job = {
        .run = no_work, .done = on_back, .free = no_work, .userdata = disk
    };

    if (!disk->silent && sv_worker_run(disk->worker, &job) >= 0)
        disk->silent = true;
}

static void on_done(int status, void *data, void *userdata)
{
    struct caller *c = userdata;

    DL_DELETE(c->disk->callers, c);
    c->disk->n--;
    if (status == -ETIMEDOUT)
        wait_for_thread(c->disk);
    c->done(status, data, c->userdata);
    free(c);
}

/* ---- Jobs ---- */

void nm_log_disks_why(const struct nm_log_disks *d, int index, int status, struct sv_error *why)
{
    const char *path = nm_dirs_log(d->dirs, index);

    if (status == -ETIMEDOUT)
        (void)sv_error_set(
            why, -EIO, "log directory %s does not answer: its disk hangs, or is overloaded", path);
    else
        (void)sv_error_errno(why, status, "log directory %s cannot be read", path);
}

static int check(const struct nm_log_disks *d, int index, unsigned most, struct sv_error *why)
{
    struct nm_dir_space space;

    if (index < 0 || index >= d->n)
        return sv_error_set(why, -EINVAL, "there is no log directory %d", index);
    if (!(nm_dirs_log_mask(d->dirs) & 1u << index)) {
        (void)nm_dirs_space(d->dirs, nm_dirs_n_local(d->dirs) + index, &space);
        return sv_error_set(why, -EIO, "log directory %s is bad: %s", space.path, space.why);
    }
    if (d->disks[index].silent) {
        nm_log_disks_why(d, index, -ETIMEDOUT, why);
        return -EIO;
    }
    if (d->disks[index].n >= most)
        return sv_error_set(why, -EBUSY,
                            "log directory %s: %u requests wait for its disk: try again later",
                            nm_dirs_log(d->dirs, index), most);
    return 0;
}

int nm_log_disks_run(struct nm_log_disks *d, int index, unsigned most, const struct sv_job *job,
                     struct sv_error *why)
{
    int r = check(d, index, most, why);
    struct sv_job inner = *job;
    struct caller *c;

    if (r < 0)
        return r;
    c = calloc(1, sizeof(*c));
    if (!c)
        return sv_error_errno(why, -ENOMEM, "log directory %s", nm_dirs_log(d->dirs, index));
    *c = (struct caller){ .disk = &d->disks[index], .done = job->done, .userdata = job->userdata };
    inner.done = on_done;
    inner.userdata = c;
    inner.deadline_ms = NM_LOG_DISK_MS;
    r = sv_worker_run(c->disk->worker, &inner);
    if (r < 0) {
        free(c);
        return sv_error_errno(why, r, "log directory %s: no thread", nm_dirs_log(d->dirs, index));
    }
    DL_APPEND(c->disk->callers, c);
    c->disk->n++;
    return 0;
}

/* ---- Closing ---- */

static void close_it(void *data)
{
    int *fd = data;

    *fd = sv_close(*fd);
}

static void closed(int status, void *data, void *userdata)
{
    (void)status, (void)data, (void)userdata;
}

/* On the loop, this runs after close_it(); at the end of the daemon perhaps without it. */
static void close_free(void *data)
{
    close_it(data);
    free(data);
}

void nm_log_disks_close(struct nm_log_disks *d, int index, int fd)
{
    const struct sv_job job = {
        .data = malloc(sizeof(fd)), .run = close_it, .done = closed, .free = close_free
    };

    if (!job.data)
        return; /* a job may still read it: it stays open, ignoring */
    *(int *)job.data = fd;
    if (!d->disks[index].worker) { /* the daemon ends */
        close_free(job.data);
        return;
    }
    if (sv_worker_run(d->disks[index].worker, &job) < 0)
        free(job.data);
}
