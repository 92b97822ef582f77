/* TFile: pairs of a key and a value of any length in the blocks of a BCFile, here with unsorted
 * keys (Hadoop's io.file.tfile). A value is a chain of chunks, so that neither side holds it in
 * memory: each chunk is a length (negative: more chunks follow) and its bytes. */
#ifndef SELVEDGE_LOGS_TFILE_H
#define SELVEDGE_LOGS_TFILE_H

#include "logs/bcfile.h"

#define LOGS_KEY_MAX (64u << 10)
#define LOGS_CHUNK_MAX (64u << 10) /* when writing; the reader accepts any */
#define LOGS_BLOCK_MIN                                                                             \
    (256u << 10) /* a data block ends after the first pair that fills it to this */

/* ---- Writing ---- */

struct logs_tfile_writer;
int logs_tfile_writer_new(const struct logs_sink *sink, enum logs_codec codec,
                          struct logs_tfile_writer **ret) _must_use_;
struct logs_tfile_writer *logs_tfile_writer_free(struct logs_tfile_writer *w);
static inline void logs_tfile_writer_freep(struct logs_tfile_writer **w)
{
    *w = logs_tfile_writer_free(*w);
}
/* A pair: its key, then parts of its value, then its end. */
int logs_tfile_key(struct logs_tfile_writer *w, const void *key, size_t n) _must_use_;
int logs_tfile_put(struct logs_tfile_writer *w, const void *p, size_t n) _must_use_;
int logs_tfile_end(struct logs_tfile_writer *w) _must_use_;
/* Call after the last pair. */
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
/* Advances to the next pair, skipping the rest of the current value. Returns 1 and its key, or 0 at
 * the end. */
int logs_tfile_next(struct logs_tfile_reader *r, uint8_t ret_key[LOGS_KEY_MAX], size_t *ret_n,
                    struct sv_error *err) _must_use_;
/* Reads up to n bytes of the value; 0 at its end. */
ssize_t logs_tfile_get(struct logs_tfile_reader *r, void *p, size_t n, struct sv_error *err)
    _must_use_;
/* Skips n bytes of the value; *ret_skipped is less if the value is shorter. */
int logs_tfile_skip(struct logs_tfile_reader *r, uint64_t n, uint64_t *ret_skipped,
                    struct sv_error *err) _must_use_;

#endif
