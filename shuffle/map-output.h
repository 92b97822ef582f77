/* Map outputs on disk: LOCALDIR/APPDIR/output/MAP/file.out and file.out.index, each in any of the
 * local directories (LocalDirAllocator of Hadoop chooses for each file). APPDIR and all below
 * belong to the job and are hostile: opened beneath the local directory without links, regular
 * files alone, owned by the job's account. Any thread may call. */
#ifndef SELVEDGE_SHUFFLE_MAP_OUTPUT_H
#define SELVEDGE_SHUFFLE_MAP_OUTPUT_H

#include <stdatomic.h>

#include "shuffle/index-cache.h"
#include "shuffle/job-table.h"

struct shf_local_dirs {
    size_t n;
    struct shf_local_dir {
        char *path;
        int fd;             /* O_PATH; opened once, before the sandbox */
        atomic_bool in_use; /* still on the NodeManager's list */
    } v[SHF_LOCAL_DIRS_MAX];
};

struct shf_output {
    struct shf_segment segment;
    unsigned dir; /* index of the local directory of file.out */
};

/* Finds the part of `reduce` in the output of `map`; `ret_fd` is its open data file. Without
 * *may_read only cached indexes are used; it becomes false when one was read. -EAGAIN: one must be
 * read; -ENOENT: in no local directory; -EBADMSG, -EPERM, -ERANGE …: it exists, but must not be
 * served. */
int shf_output_find(const struct shf_local_dirs *dirs, struct shf_index_cache *cache,
                    const struct shf_job *job, const char *map, uint32_t reduce, bool *may_read,
                    struct shf_output *ret, int *ret_fd, struct sv_error *err) _must_use_;
/* Opens the data file again, some time later; it may have changed since. */
int shf_output_open(const struct shf_local_dirs *dirs, const struct shf_job *job, const char *map,
                    const struct shf_output *o, int *ret_fd, struct sv_error *err) _must_use_;

#endif
