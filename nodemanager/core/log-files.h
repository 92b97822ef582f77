/* The log files of one container below one log directory. Hostile: the container's directory, which
 * its job writes. Every name below the configured directory is opened without following links.
 * Everything here blocks on the disk and touches nothing else: it runs on the directory's thread
 * (health/log-disks.h). */
#ifndef SELVEDGE_NODEMANAGER_CORE_LOG_FILES_H
#define SELVEDGE_NODEMANAGER_CORE_LOG_FILES_H

#include <sys/stat.h>

#include "common/base.h"
#include "wire/ids.h"

/* Per directory: jobs fill it, and every entry counts, shown or not. */
#define NM_LOG_ENTRIES_MAX 1000

struct nm_log_entry {
    char *name;
    int64_t size, modified_s;
};

struct nm_log_list {
    struct nm_log_entry *entries; /* files that may be shown */
    size_t n;
    int read; /* entries of the directory that were read, at most NM_LOG_ENTRIES_MAX */
};

/* The container's directory, and its owner: a descriptor or -errno. */
int nm_log_files_dir(const char *top, struct yarn_container_id id, uid_t *ret_owner) _must_use_;
/* Regular files with one name that belong to the directory's owner; not the copies for debugging,
 * which hold the job's environment. -ENOENT: no directory. */
int nm_log_files_list(const char *top, struct yarn_container_id id, struct nm_log_list *ret)
    _must_use_;
void nm_log_list_free(struct nm_log_list *l);
/* Opens such a file read-only: a descriptor and its fstat. -ENOENT: there is none. */
int nm_log_files_open(const char *top, struct yarn_container_id id, const char *name,
                      struct stat *ret_stat) _must_use_;

#endif
