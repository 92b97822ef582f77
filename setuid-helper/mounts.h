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
/* In a root template: an empty mount for each of the policy's `masks`, which a launch moves over
 * that name of /proc. */
#define HLP_HIDDEN "dev/.hidden"

typedef const char *const hlp_options[][2]; /* options of a file system; end with NULL */
extern hlp_options hlp_small;               /* for a tmpfs that holds only names */

/* `flags` may be AT_RECURSIVE; also makes the mounts private. */
void hlp_set_attributes(int fd, unsigned flags, uint64_t set, uint64_t clear, const char *what);
/* A detached copy of the mount at (dir, path), with its attributes; -1 if there is none. */
int hlp_copy(int dir, const char *path, unsigned flags);
int hlp_new_mount(const char *type, hlp_options with, uint64_t attributes);
/* Mounts the detached mount on `path` below `dir`, or on `dir` itself (""), and closes it. A final
 * link is not followed. */
void hlp_attach(int mount, int dir, const char *path);
/* Creates `path` below `root` as a mount point, with its parents, if missing. */
void hlp_make_point(int root, const char *path, bool directory);
/* The directory named by root's configuration, below `root`, without following links: O_PATH, or
 * -1. */
int hlp_open_point(int root, const char *path);
/* Device nodes as detached mounts, and their places below /dev. */
struct hlp_nodes {
    int fd[HLP_NODES_MAX + 6];
    const char *path[HLP_NODES_MAX + 6];
    unsigned n;
};
/* Adds /dev/<path> below `from`, verified to have that number. */
void hlp_add_node(struct hlp_nodes *nodes, int from, const char *path, const struct exe_device *id);
void hlp_add_standard_nodes(struct hlp_nodes *nodes, int from);
/* A new file system on `dev` below `root`: these nodes, the usual links, mount points for pts and
 * shm. Returns the mount, for the caller to make it read-only. */
int hlp_make_dev(int root, struct hlp_nodes *nodes);

#endif
