/* Private to the fetchers: interface of the back ends, and checks and copying that they share. */
#ifndef SELVEDGE_LOCALIZER_FETCH_COMMON_H
#define SELVEDGE_LOCALIZER_FETCH_COMMON_H

#include "localizer/fetch.h"

struct loc_tree_backend;

/* Properties of a source. */
struct loc_found {
    bool directory; /* else a regular file */
    uint64_t size;  /* of a file */
    mode_t mode;    /* of a directory: type and 0777 */
    int64_t mtime_ms;
};

/* One kind of source. fetch.c has the table of schemes, and checks the result of open() against the
 * request. Failures set *ret_reason and `err`. */
struct loc_fetcher {
    /* Finds the source. Its state is in s->state until close(). NULL: the source takes a single
     * request, and fetch() checks the result. */
    int (*open)(struct loc_source *s, struct loc_found *ret, enum loc_fail *ret_reason,
                struct sv_error *err);
    void (*close)(struct loc_source *s); /* called after open(), even if it failed; may be NULL */
    /* True if the file, and every directory above it, is accessible to everybody. */
    int (*is_public)(struct loc_source *s, bool *ret, enum loc_fail *ret_reason,
                     struct sv_error *err);
    /* Makes the content of a file available in s->fd. */
    int (*fetch)(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err);
    const struct loc_tree_backend *tree; /* lists and reads a directory; NULL: not supported */
};
extern const struct loc_fetcher loc_fetcher_file, loc_fetcher_http, loc_fetcher_hdfs,
    loc_fetcher_webhdfs, loc_fetcher_s3;
extern const struct loc_tree_backend loc_file_tree; /* of s->fd, an open directory */

/* Copies the body of the GET and verifies size and time, whole seconds. */
struct loc_http_get;
int loc_http_copy(struct loc_source *s, struct loc_http_get *g, enum loc_fail *ret_reason,
                  struct sv_error *err) _must_use_;

/* Both fail with "Resource … changed on src filesystem …" when the source differs from the
 * request. */
int loc_check_time(const struct loc_source *s, int64_t mtime_ms, struct sv_error *err) _must_use_;
int loc_check_size(const struct loc_source *s, uint64_t size, struct sv_error *err) _must_use_;
/* Sets the error of a file that must not be in the public cache; LOC_FAIL_NOT_PUBLIC. */
int loc_not_public(const struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;
/* Creates the copy and returns its descriptor (read and write); unnamed if s->name is NULL. */
int loc_make_copy(const struct loc_source *s, struct sv_error *err) _must_use_;
/* Appends to the copy, adds to s->size and reports progress; a sink for the clients of hdfs/ and
 * http-get.h. `userdata`: struct loc_source. */
int loc_copy_append(void *userdata, const void *p, size_t n) _must_use_;
/* Sets the mode of a named copy and seeks to its start. */
int loc_copy_finish(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;

#endif
