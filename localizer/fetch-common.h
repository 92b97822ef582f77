/* Private to the fetchers: the back ends, and the checks and the copy that they share. */
#ifndef SELVEDGE_LOCALIZER_FETCH_COMMON_H
#define SELVEDGE_LOCALIZER_FETCH_COMMON_H

#include "localizer/fetch.h"

int loc_fetch_file(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;
/* The source of s->fd, an open directory. */
int loc_fetch_file_tree(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;
int loc_fetch_hdfs(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;
int loc_fetch_webhdfs(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;
int loc_fetch_http(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;
int loc_fetch_s3(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err) _must_use_;
/* Copies what the GET brings and verifies size and time, whole seconds. */
struct loc_http_get;
int loc_http_copy(struct loc_source *s, struct loc_http_get *g, enum loc_fail *ret_reason,
                  struct sv_error *err) _must_use_;

/* "Resource … changed on src filesystem …" when the source differs from the request. */
int loc_check_time(const struct loc_source *s, int64_t mtime_ms, struct sv_error *err) _must_use_;
int loc_check_size(const struct loc_source *s, uint64_t size, struct sv_error *err) _must_use_;
/* Why the file may not be in the public cache; LOC_FAIL_NOT_PUBLIC. */
int loc_not_public(const struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;
/* Creates the copy and returns its descriptor (read and write); unnamed if s->name is NULL. */
int loc_make_copy(const struct loc_source *s, struct sv_error *err) _must_use_;
/* Appends to the copy, counts in s->size and tells the progress; a sink for the clients of hdfs/
 * and http-get.h. `userdata`: struct loc_source. */
int loc_copy_append(void *userdata, const void *p, size_t n) _must_use_;
/* Sets the mode of a named copy and returns to its start. */
int loc_copy_finish(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;

#endif
