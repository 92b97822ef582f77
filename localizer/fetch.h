/* Fetches a source by its url, over fs/, and verifies it against the request. Runs in a worker
 * process of container-localizer as the application's user (PUBLIC: as the public account), so a
 * file: url opens only files that the user could open anyway. */
#ifndef SELVEDGE_LOCALIZER_FETCH_H
#define SELVEDGE_LOCALIZER_FETCH_H

#include <sys/stat.h>

#include "common/base.h"
#include "common/error.h"
#include "fs/fs.h"
#include "localizer/channel.h"

struct loc_source {
    const struct loc_fetch *request;
    struct fs_url url;
    int dir;               /* directory for a copy */
    const char *name;      /* of the copy; NULL: no named copy, the content is read from `fd` */
    int credentials;       /* from loc_msg_recv_with; -1: none */
    const char *tree_name; /* name of a directory's copy below `dir`; NULL: `dir` itself */
    void (*progress)(void *userdata, uint64_t bytes);
    void *progress_userdata;
    /* Private. */
    struct fs *fs;
    const char *path;      /* of the source, below the root of its file system */
    struct fs_status seen; /* what was verified */
    struct stat st;        /* file: status when opened */
    /* Results. */
    int fd;           /* the content, readable from the start; owned by the caller, -1 before */
    bool in_place;    /* file: it is the source itself, not a copy */
    uint64_t size;    /* of the content; the bytes of a copy so far */
    bool tree;        /* the source was a directory and was copied whole; `fd` has no content */
    uint32_t entries; /* of the directory */
};

/* Fetches and verifies; on failure *ret_reason is the class and `err` the text. */
int loc_source_fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;
/* Checks that the source has not changed during use; called afterwards. */
int loc_source_unchanged(const struct loc_source *s, struct sv_error *err) _must_use_;

#endif
