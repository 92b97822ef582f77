/* Mounts by descriptor, for root templates (root-template.c) and for the sandbox of a launched
 * child (sandbox.c). A step that fails ends the process: hlp_fail. */
#ifndef SELVEDGE_SETUID_HELPER_MOUNTS_H
#define SELVEDGE_SETUID_HELPER_MOUNTS_H

#include <linux/mount.h>
#include <stdbool.h>
#include <stdint.h>

#include "setuid-helper/helper.h"

#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#define HLP_RO MOUNT_ATTR_RDONLY
#define HLP_BASELINE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
/* Of a root template: an empty mount for each of the policy's `masks`, which a launch moves over
 * that name of /proc. */
#define HLP_HIDDEN "dev/.hidden"

typedef const char *const hlp_options[][2]; /* of a file system; end with NULL */
extern hlp_options hlp_small;               /* of a tmpfs that holds names only */

/* `flags` may be AT_RECURSIVE; the mounts become private by it, too. */
void hlp_set_attributes(int fd, unsigned flags, uint64_t set, uint64_t clear, const char *what);
/* A detached copy of what is mounted at (dir, path), with its attributes; -1 where nothing is. */
int hlp_copy(int dir, const char *path, unsigned flags);
int hlp_new_mount(const char *type, hlp_options with, uint64_t attributes);
/* Puts the detached mount on `path` below `dir`, or on `dir` itself ("") and closes it. A link is
 * not followed at the end. */
void hlp_attach(int mount, int dir, const char *path);
/* `path` below `root` as a mount point, made with its parents where it is missing. */
void hlp_make_point(int root, const char *path, bool directory);
/* The directory that root's configuration names, below `root`, by no link: O_PATH, or -1. */
int hlp_open_point(int root, const char *path);
/* Device nodes as detached mounts, and where below /dev they belong. */
struct hlp_nodes {
    int fd[HLP_NODES_MAX + 6];
    const char *path[HLP_NODES_MAX + 6];
    unsigned n;
};
/* Adds /dev/<path> below `from`, proved to have that number. */
void hlp_add_node(struct hlp_nodes *nodes, int from, const char *path, const struct exe_device *id);
void hlp_add_standard_nodes(struct hlp_nodes *nodes, int from);
/* A new file system on `dev` below `root`: these nodes, the usual links, mount points for pts and
 * shm. The mount comes back, for the caller to make it read-only. */
int hlp_make_dev(int root, struct hlp_nodes *nodes);

#endif
