/* Private to fetch*.c: copies of a source, and texts of failures. Failures set *ret_reason and
 * `err`. */
#ifndef SELVEDGE_LOCALIZER_FETCH_COMMON_H
#define SELVEDGE_LOCALIZER_FETCH_COMMON_H

#include <limits.h>

#include "localizer/fetch.h"

/* Both fail with "Resource … changed on src filesystem …" when the source differs from the
 * request. */
int loc_check_time(const struct loc_source *s, int64_t mtime_ms, struct sv_error *err) _must_use_;
int loc_check_size(const struct loc_source *s, uint64_t size, struct sv_error *err) _must_use_;
/* Sets the error of a file that must not be in the public cache; LOC_FAIL_NOT_PUBLIC. */
int loc_not_public(const struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;
/* The class of an error of fs/. */
enum loc_fail loc_fail_of(const struct loc_source *s, int error);
/* Adds the resource to an error of fs/, with Hadoop's texts where they exist. */
int loc_source_failed(const struct loc_source *s, int error, enum loc_fail *ret_reason,
                      struct sv_error *err) _must_use_;

/* Copies the content, a file of this status, and leaves it in s->fd; `t`: for its results. */
int loc_copy(struct loc_source *s, const struct fs_status *st, struct fs_stream *t,
             enum loc_fail *ret_reason, struct sv_error *err) _must_use_;

/* file: finds the path without links, absolute; PUBLIC: the last component is no link. */
int loc_file_path(const struct loc_source *s, char ret[PATH_MAX], enum loc_fail *ret_reason,
                  struct sv_error *err) _must_use_;
/* Opens a regular file as s->fd, in place, and takes its status from there. */
int loc_file_open(struct loc_source *s, struct sv_error *err) _must_use_;
/* Copies all of the source `from` to s->fd by reflink or inside the kernel. 1: done; 0: the file
 * systems do not support it, and nothing was copied. */
int loc_file_clone(struct loc_source *s, int from, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;

#endif
