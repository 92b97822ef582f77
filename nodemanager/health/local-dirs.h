/* The configured local and log directories: their health, and the choice for a new container
 * (LocalDirsHandlerService). The helper uses the same indices. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_LOCAL_DIRS_H
#define SELVEDGE_NODEMANAGER_HEALTH_LOCAL_DIRS_H

#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"
#include "nodemanager/conf/conf.h"

struct nm_dirs;

/* Creates missing directories (local dirs, nmPrivate, filecache and usercache belong to the daemon)
 * and checks all of them, now and periodically, on threads: a check that still runs when the next
 * one starts makes its directory bad until it ends. Fails only if no directory is usable.
 * `changed`, which may be NULL, is called for a directory that becomes usable or ceases to be, or
 * whose files are lost: it cannot be read any more, or is on another file system. `index` is -1 for
 * a log directory. */
typedef void (*nm_dir_changed_fn)(int index, bool usable, bool lost, void *userdata);
int nm_dirs_new(sd_event *event, const struct nm_conf *conf, nm_dir_changed_fn changed,
                void *userdata, struct nm_dirs **ret, struct sv_error *err) _must_use_;
struct nm_dirs *nm_dirs_free(struct nm_dirs *d);

/* Readable directories: existing files can be deleted, though perhaps none can be created. */
uint32_t nm_dirs_local_mask(const struct nm_dirs *d);
uint32_t nm_dirs_log_mask(const struct nm_dirs *d);
/* Subset in which files can be created: good, or only over a threshold. */
uint32_t nm_dirs_local_usable(const struct nm_dirs *d);
uint32_t nm_dirs_log_usable(const struct nm_dirs *d);
/* A good directory of the mask with `bytes` free, at random weighted by free space; -ENOSPC. */
int nm_dirs_pick_local(struct nm_dirs *d, uint32_t mask, int64_t bytes) _must_use_;
int nm_dirs_pick_log(struct nm_dirs *d) _must_use_;
const char *nm_dirs_local(const struct nm_dirs *d, int index);
const char *nm_dirs_log(const struct nm_dirs *d, int index);
int nm_dirs_n_local(const struct nm_dirs *d);
int nm_dirs_n_log(const struct nm_dirs *d);

/* ---- Space, for display ---- */

#define NM_DIRS_MEASURE_MS 5000

struct nm_dir_space {
    const char *path;
    bool local, readable, usable;
    const char *why;                /* reason why it is not good; else "" */
    uint64_t device;                /* equal for directories of one file system; 0: never reached */
    uint64_t used_bytes, all_bytes; /* all 0: unknown */
    double used_percent;
    int64_t silent_ms; /* age of a measurement that has not ended; 0: none runs */
};

/* Measures the directories on threads, except those whose last measurement still runs, if the last
 * one is older than NM_DIRS_MEASURE_MS. nm_dirs_space has the results; their health is
 * unchanged. */
void nm_dirs_measure(struct nm_dirs *d);
/* Indexes local directories, then log directories; false: out of range. */
bool nm_dirs_space(const struct nm_dirs *d, int index, struct nm_dir_space *ret);

/* false: too few good directories; `report` lists the bad ones with reasons ("" when all are good).
 */
bool nm_dirs_healthy(const struct nm_dirs *d, const char **ret_report);
int64_t nm_dirs_checked_ms(const struct nm_dirs *d); /* wall clock of the last check */
void nm_dirs_check(struct nm_dirs *d); /* immediately; waits for the results, at most 10 s */

#endif
