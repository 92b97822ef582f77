/* Copies a directory that is a resource's source, whatever the resource's type, as Hadoop does.
 * Rules and limits are those of archives (policy.h): entries, bytes, depth, names; a symbolic link
 * is copied as a link if its target is inside, and never followed. For PUBLIC every file must be
 * readable, and every directory readable and searchable by others.
 *
 * A back end lists one directory at a time and reads one file at a time; names, kinds and lengths
 * that it reports are hostile. */
#ifndef SELVEDGE_LOCALIZER_FETCH_TREE_H
#define SELVEDGE_LOCALIZER_FETCH_TREE_H

#include "localizer/fetch-common.h"

struct loc_tree;

struct loc_tree_child {
    const char *name;
    mode_t mode; /* type and 0777 */
    uint64_t size;
    const char *symlink; /* target of a link */
    bool closed;         /* not public, whatever its mode: in an encryption zone */
    const void *more;    /* private to the back end, for read() */
};

struct loc_tree_backend {
    /* Calls loc_tree_add for each child of `dir` ("" = the source itself, else "a/b"). */
    int (*list)(struct loc_source *s, struct loc_tree *t, const char *dir,
                enum loc_fail *ret_reason, struct sv_error *err);
    /* Passes the content of the file at `path` to loc_tree_write. */
    int (*read)(struct loc_source *s, struct loc_tree *t, const char *path,
                const struct loc_tree_child *c, enum loc_fail *ret_reason, struct sv_error *err);
    /* Checks at the end that the source itself is unchanged. */
    int (*unchanged)(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err);
};

/* Copies the source, a directory of `mode` that was checked against the request. Sets s->size,
 * s->entries and s->tree. */
int loc_tree_fetch(struct loc_source *s, const struct loc_tree_backend *b, mode_t mode,
                   enum loc_fail *ret_reason, struct sv_error *err) _must_use_;
int loc_tree_add(struct loc_tree *t, const struct loc_tree_child *c, enum loc_fail *ret_reason,
                 struct sv_error *err) _must_use_;
/* A sink for the clients of hdfs/ and http-get.h; 0 or -errno. `tree`: struct loc_tree. -EFBIG:
 * over the limit. */
int loc_tree_write(void *tree, const void *p, size_t n) _must_use_;

#endif
