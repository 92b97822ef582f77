/* One check of one directory, on a thread of its own, since a disk that hangs must not stop the
 * loop: the directory is made and opened, its file system measured, a file in it made, written to
 * the disk and removed. Or it is measured alone, for people who look. Called by local-dirs.c. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_DIR_PROBE_H
#define SELVEDGE_NODEMANAGER_HEALTH_DIR_PROBE_H

#include "common/base.h"

struct nm_dir_probe;

struct nm_dir_facts {
    int error;        /* 0 or -errno */
    const char *what; /* what failed: static words; NULL: nothing */
    bool written;     /* the file was reached: everything before it has worked */
    uint64_t free_bytes, all_bytes, free_inodes;
    double used_percent;    /* of the space */
    uint64_t device, inode; /* which directory it is; 0 when it was not reached */
    bool counts_inodes;     /* false: the file system has no fixed number (btrfs) */
};

/* `local`: a local directory, with its own below it; else a log directory. `write`: with the file.
 * `told`: an eventfd that is written when the result is there; duplicated. */
int nm_dir_probe_start(const char *path, bool local, bool write, int told,
                       struct nm_dir_probe **ret) _must_use_;
/* Only measures the file system of a directory that is there: facts but `error`, `what` and space
 * stay 0. Nobody is told. */
int nm_dir_probe_measure(const char *path, struct nm_dir_probe **ret) _must_use_;
/* -EAGAIN: not yet. */
int nm_dir_probe_result(struct nm_dir_probe *p, struct nm_dir_facts *ret) _must_use_;
/* A probe that has not ended is abandoned: its thread frees it. Returns NULL. */
struct nm_dir_probe *nm_dir_probe_free(struct nm_dir_probe *p);

#endif
