/* Aggregated logs: the TFile that a NodeManager writes per application, readable by every Hadoop
 * (AggregatedLogFormat). Pairs:
 *
 *    VERSION            int32 1
 *    APPLICATION_ACL    pairs of strings: VIEW_APP or MODIFY_APP, and the list of users and groups
 *    APPLICATION_OWNER  string
 *    container id       its files: name, length as text, bytes
 *
 * Keys and strings use Java's encoding (java-utf.h). */
#ifndef SELVEDGE_LOGS_AGGREGATED_H
#define SELVEDGE_LOGS_AGGREGATED_H

#include "logs/tfile.h"

#define LOGS_ID_MAX 255 /* of a container */
#define LOGS_ACLS_MAX 16
#define LOGS_FILE_NAME_MAX 3 * 255 /* of a log file; U+FFFD takes three bytes */

/* ---- Writing ---- */

struct logs_acl {
    const char *right; /* "VIEW_APP", "MODIFY_APP" */
    const char *list;
};

struct logs_writer;
/* -EMSGSIZE: a list exceeds 64 KiB. */
int logs_writer_new(const struct logs_sink *sink, enum logs_codec codec, const char *owner,
                    const struct logs_acl *acls, size_t n_acls, struct logs_writer **ret)
    _must_use_;
struct logs_writer *logs_writer_free(struct logs_writer *w);
static inline void logs_writer_freep(struct logs_writer **w)
{
    *w = logs_writer_free(*w);
}
/* Starts the next container; `id` has at most LOGS_ID_MAX bytes. A container without files is not
 * written. */
int logs_writer_container(struct logs_writer *w, const char *id) _must_use_;
/* Starts a file; exactly `length` bytes must follow, in any number of parts. */
int logs_writer_file(struct logs_writer *w, const char *name, uint64_t length) _must_use_;
int logs_writer_put(struct logs_writer *w, const void *p, size_t n) _must_use_;
int logs_writer_finish(struct logs_writer *w) _must_use_;

/* ---- Reading a TFile or an IndexedFile, whichever it is: every byte is hostile ---- */

struct logs_reader;
int logs_reader_new(const struct logs_source *source, struct logs_reader **ret,
                    struct sv_error *err) _must_use_;
struct logs_reader *logs_reader_free(struct logs_reader *r);
static inline void logs_reader_freep(struct logs_reader **r)
{
    *r = logs_reader_free(*r);
}
/* Advances to the next container. Returns 1 and its id, or 0 at the end. */
int logs_reader_container(struct logs_reader *r, char ret_id[LOGS_ID_MAX + 1], struct sv_error *err)
    _must_use_;
/* Advances to the container's next file, skipping the rest of the current one. Returns 1, or 0 at
 * the end. */
int logs_reader_file(struct logs_reader *r, char ret_name[LOGS_FILE_NAME_MAX + 1],
                     uint64_t *ret_length, struct sv_error *err) _must_use_;
/* Skips the next n bytes of the file, or the rest of it; uncompressed data is not even read. */
int logs_reader_skip(struct logs_reader *r, uint64_t n, struct sv_error *err) _must_use_;
/* Reads up to n bytes of the file; 0 at its end. */
ssize_t logs_reader_get(struct logs_reader *r, void *p, size_t n, struct sv_error *err) _must_use_;

#endif
