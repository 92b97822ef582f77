/* The sink that writes an archive to disk: every object is created new (O_EXCL), beneath the root,
 * never through a link. Runs as the application's user inside the localizer's sandbox. */
#ifndef SELVEDGE_LOCALIZER_DISK_H
#define SELVEDGE_LOCALIZER_DISK_H

#include "localizer/unpack.h"

struct loc_disk {
    int root;       /* descriptor of the target directory; not owned */
    bool is_public; /* modes */
    /* Private state; zeroed, with descriptors -1 (LOC_DISK_INIT). */
    int dir;  /* the current directory */
    int file; /* the open file */
    char dir_path[LOC_PATH_MAX + 1];
};
#define LOC_DISK_INIT(root_fd, public_cache)                                                       \
    ((struct loc_disk){ .root = (root_fd), .is_public = (public_cache), .dir = -1, .file = -1 })

extern const struct loc_sink loc_disk_sink; /* its userdata is a struct loc_disk */
void loc_disk_close(struct loc_disk *d);
#define _cleanup_disk_ _cleanup_(loc_disk_close)

#endif
