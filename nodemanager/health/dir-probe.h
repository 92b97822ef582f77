/* One check of one directory, on its own thread, since a disk that hangs must not block the loop:
 * it creates and opens the directory, measures its file system, and creates, writes to the disk and
 * removes a file in it. If wanted it looks at the directory's content, too. Or it only measures,
 * for display. */
#ifndef SELVEDGE_NODEMANAGER_HEALTH_DIR_PROBE_H
#define SELVEDGE_NODEMANAGER_HEALTH_DIR_PROBE_H

#include "common/base.h"
#include "nodemanager/health/dir-content.h"

struct nm_dir_probe;

struct nm_dir_facts {
    int error;        /* 0 or -errno */
    const char *what; /* failed step: a static string; NULL: none */
    bool written;     /* the file was reached: all earlier steps succeeded */
    uint64_t free_bytes, all_bytes, free_inodes;
    double used_percent;           /* percentage of the space */
    uint64_t device, inode;        /* identity of the directory; 0 if it was not reached */
    bool counts_inodes;            /* false: the file system has no fixed number (btrfs) */
    struct nm_dir_content content; /* `entry` is "" unless it is what failed */
};

enum {                       /* bits */
       NM_PROBE_LOCAL = 1,   /* a local directory, with its subdirectories; else a log directory */
       NM_PROBE_WRITE = 2,   /* with the file */
       NM_PROBE_CONTENT = 4, /* with the content, from entry `next` on */
};

/* `told`: an eventfd, duplicated, that is written when the result is available. */
int nm_dir_probe_start(const char *path, unsigned steps, uint64_t next, int told,
                       struct nm_dir_probe **ret) _must_use_;
/* Only measures the file system of an existing directory: facts other than `error`, `what` and
 * space are 0. No notification. */
int nm_dir_probe_measure(const char *path, struct nm_dir_probe **ret) _must_use_;
/* -EAGAIN: not yet. */
int nm_dir_probe_result(struct nm_dir_probe *p, struct nm_dir_facts *ret) _must_use_;
/* Abandons a running probe: its thread frees it. Returns NULL. */
struct nm_dir_probe *nm_dir_probe_free(struct nm_dir_probe *p);

#endif
