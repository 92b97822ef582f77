/* TFile: pairs of a key and a value of any length, in the blocks of a BCFile, with keys in any
 * order (Hadoop's io.file.tfile). A value is a chain of chunks, so that neither side needs it
 * whole: a chunk is its length (negative: more follow) and its bytes. */
#ifndef SELVEDGE_LOGS_TFILE_H
#define SELVEDGE_LOGS_TFILE_H

#include "logs/bcfile.h"

#define LOGS_KEY_MAX (64u << 10)
#define LOGS_CHUNK_MAX (64u << 10)  /* as written; read: any */
#define LOGS_BLOCK_MIN (256u << 10) /* a data block ends behind the first pair that fills this */

/* ---- Writing ---- */

struct logs_tfile_writer;
int logs_tfile_writer_new(const struct logs_sink *sink, enum logs_codec codec,
                          struct logs_tfile_writer **ret) _must_use_;
struct logs_tfile_writer *logs_tfile_writer_free(struct logs_tfile_writer *w);
static inline void logs_tfile_writer_freep(struct logs_tfile_writer **w)
{
    *w = logs_tfile_writer_free(*w);
}
/* A pair: its key, bytes of its value, its end. */
int logs_tfile_key(struct logs_tfile_writer *w, const void *key, size_t n) _must_use_;
int logs_tfile_put(struct logs_tfile_writer *w, const void *p, size_t n) _must_use_;
int logs_tfile_end(struct logs_tfile_writer *w) _must_use_;
/* After the last pair. */
int logs_tfile_finish(struct logs_tfile_writer *w) _must_use_;

/* ---- Reading: every byte is hostile ---- */

struct logs_tfile_reader;
int logs_tfile_reader_new(const struct logs_source *source, struct logs_tfile_reader **ret,
                          struct sv_error *err) _must_use_;
struct logs_tfile_reader *logs_tfile_reader_free(struct logs_tfile_reader *r);
static inline void logs_tfile_reader_freep(struct logs_tfile_reader **r)
{
    *r = logs_tfile_reader_free(*r);
}
/* The next pair, whatever is left of the value before: 1 with its key, 0 at the end. */
int logs_tfile_next(struct logs_tfile_reader *r, uint8_t ret_key[LOGS_KEY_MAX], size_t *ret_n,
                    struct sv_error *err) _must_use_;
/* Up to n bytes of the value, 0 at its end. */
ssize_t logs_tfile_get(struct logs_tfile_reader *r, void *p, size_t n, struct sv_error *err)
    _must_use_;
/* The next n bytes of the value are not wanted; *ret_skipped is less where it ends before. */
int logs_tfile_skip(struct logs_tfile_reader *r, uint64_t n, uint64_t *ret_skipped,
                    struct sv_error *err) _must_use_;

#endif
