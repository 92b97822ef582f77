/* Reading below the log directories off the event loop: each directory has a thread of its own, so
 * that a disk that hangs holds neither the loop nor those who read another disk. A directory that
 * its check found bad, or that has left a job without an end, refuses at once. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_LOG_DISKS_H
#define SELVEDGE_NODEMANAGER_HEALTH_LOG_DISKS_H

#include <limits.h>
#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "common/worker.h"

struct nm_dirs;
struct nm_log_disks;

/* Deadline of a job, with its wait for those before it. */
#define NM_LOG_DISK_MS 5000
/* Jobs that a directory may owe: those of clients, and of callers with a limit of their own. */
#define NM_LOG_DISK_READERS 128u
#define NM_LOG_DISK_ALL UINT_MAX

int nm_log_disks_new(sd_event *event, const struct nm_dirs *dirs, struct nm_log_disks **ret)
    _must_use_;
/* Jobs without an end get `done` with -ECANCELED and NULL. Returns NULL. */
struct nm_log_disks *nm_log_disks_free(struct nm_log_disks *d);

/* Runs a job (common/worker.h) on the thread of log directory `index`, if that owes fewer than
 * `most`; its deadline is set here. `done` is always called: with 0, -ETIMEDOUT or -ECANCELED. On
 * failure the caller keeps the data, and `why` names the directory: -EIO (bad, or it does not
 * answer), -EBUSY, -ENOMEM. */
int nm_log_disks_run(struct nm_log_disks *d, int index, unsigned most, const struct sv_job *job,
                     struct sv_error *why) _must_use_;
/* The reason for a job's `done` with `status`. */
void nm_log_disks_why(const struct nm_log_disks *d, int index, int status, struct sv_error *why);
/* Closes a descriptor of that directory there, behind the jobs that use it: a network file system
 * may block in close. */
void nm_log_disks_close(struct nm_log_disks *d, int index, int fd);

#endif
