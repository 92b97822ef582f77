/* Safe use of descriptors and files: CLOEXEC at birth, (dirfd, name) instead of long paths. */
#ifndef SELVEDGE_COMMON_FD_H
#define SELVEDGE_COMMON_FD_H

#include "common/base.h"
#include "common/error.h"

/* Closes if >= 0, preserves errno, returns -EBADF: `fd = sv_close(fd);`. */
int sv_close(int fd);
static inline void sv_closep(int *fd)
{
    *fd = sv_close(*fd);
}
#define _cleanup_close_ _cleanup_(sv_closep)
static inline int sv_take_fd(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

/* openat2 with RESOLVE_BENEATH|NO_SYMLINKS|NO_MAGICLINKS; O_CLOEXEC and O_NOCTTY are added.
 * A descriptor or -errno. -ENOSYS is an error, never a fallback. */
int sv_open_beneath(int dirfd, const char *path, int flags, mode_t mode) _must_use_;
int sv_mkdir_p_at(int dirfd, const char *path, mode_t mode) _must_use_; /* beneath dirfd */
/* Creates "/a/b/c" as needed with `mode`; symbolic links in the path are followed (operator's
 * tree). */
int sv_mkdir_p(const char *path, mode_t mode) _must_use_;

int sv_write_all(int fd, const void *p, size_t n) _must_use_; /* 0 or -errno */
/* Reads a whole regular file, at most `max` bytes (-EFBIG beyond); NUL-terminated, malloc'd. */
int sv_read_file_at(int dirfd, const char *path, size_t max, char **ret, size_t *ret_len)
    _must_use_;
/* Writes a temporary file, syncs and renames it, then syncs the directory. */
int sv_write_file_atomic(int dirfd, const char *name, const void *p, size_t n, mode_t mode)
    _must_use_;
/* Returns a memfd with the bytes, sealed against write, shrink, grow and further seals. */
int sv_memfd_sealed(const char *name, const void *p, size_t n) _must_use_;
/* As sv_memfd_sealed(), opened read-only: SELinux lets a process receive a descriptor only with
 * permissions for every access mode that it is open for. Needs /proc. */
int sv_memfd_readonly(const char *name, const void *p, size_t n) _must_use_;
/* recv() that retries on EINTR, and on the ECONNRESET of a local socket: a peer that closes with
 * unread data in its queue causes one ahead of the data it has sent. */
ssize_t sv_recv(int fd, void *p, size_t n, int flags) _must_use_;
/* Removes dirfd/name (one component, else -EINVAL) and everything below it without following links
 * or crossing mounts, at any depth; ENOENT is success. */
int sv_remove_tree_at(int dirfd, const char *name) _must_use_;

#endif
