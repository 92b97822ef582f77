/* BCFile: individually compressed blocks, with named blocks and indexes at the end; the container
 * format of a TFile (Hadoop's io.file.tfile).
 *
 *    magic, data blocks, named blocks, index of named blocks, its offset (8 bytes), version, magic
 *
 * A compressed block is one or several zlib streams, one after the other, as Hadoop's codec reads
 * them. Writer and reader both stream: memory use is one block's codec and the index. */
#ifndef SELVEDGE_LOGS_BCFILE_H
#define SELVEDGE_LOGS_BCFILE_H

#include "common/buf.h"
#include "common/error.h"

#define LOGS_MAGIC_BYTES 16
extern const uint8_t logs_bcfile_magic[LOGS_MAGIC_BYTES];
#define LOGS_VERSION_MAJOR 1     /* of BCFile and of TFile; the minor number is 0 */
#define LOGS_META_PREFIX "data:" /* of the name of a named block in the index */
#define LOGS_INDEX_NAME "BCFile.index"
#define LOGS_BLOCKS_MAX (1u << 20) /* in one file: 24 MiB of index */
#define LOGS_METAS_MAX 16          /* named blocks; a TFile has three */
#define LOGS_NAME_MAX 255          /* of a named block or a codec */
#define LOGS_CODEC_BUFFER (64u << 10)

enum logs_codec { LOGS_NONE, LOGS_GZ };
const char *logs_codec_name(enum logs_codec c); /* "none", "gz" */
/* -EOPNOTSUPP: a codec of Hadoop's that is not implemented here (lzo). -EINVAL: unknown. */
int logs_codec_parse(const char *name, enum logs_codec *ret) _must_use_;

struct logs_region {
    uint64_t offset, size, raw; /* raw: size before compression */
};

/* ---- Writing ---- */

/* Receives the file's bytes in order. Returns 0, or -errno, which aborts the write. */
struct logs_sink {
    int (*write)(void *userdata, const void *p, size_t n);
    void *userdata;
};

struct logs_bcwriter;
int logs_bcwriter_new(const struct logs_sink *sink, enum logs_codec codec,
                      struct logs_bcwriter **ret) _must_use_;
struct logs_bcwriter *logs_bcwriter_free(struct logs_bcwriter *w);
static inline void logs_bcwriter_freep(struct logs_bcwriter **w)
{
    *w = logs_bcwriter_free(*w);
}
/* Begins, fills and ends a block: a data block (name NULL), or after all data blocks a named one.
 * -E2BIG: too many blocks. */
int logs_bcwriter_begin(struct logs_bcwriter *w, enum logs_codec codec) _must_use_;
int logs_bcwriter_put(struct logs_bcwriter *w, const void *p, size_t n) _must_use_;
int logs_bcwriter_end(struct logs_bcwriter *w, const char *name) _must_use_;
/* After a record, where the block may end if it has `least` bytes: compresses what the codec holds
 * if these are likely to make it so. */
int logs_bcwriter_end_record(struct logs_bcwriter *w, uint64_t least) _must_use_;
/* Compressed bytes of the current block so far; the codec may hold some back. */
uint64_t logs_bcwriter_block_size(const struct logs_bcwriter *w);
/* Writes indexes and trailer. */
int logs_bcwriter_finish(struct logs_bcwriter *w) _must_use_;

/* ---- Reading: every byte is hostile ---- */

/* Reads exactly n bytes from `offset`; 0 or -errno. Never called beyond the length. */
struct logs_source {
    int (*read_at)(void *userdata, uint64_t offset, void *p, size_t n);
    void *userdata;
    uint64_t length;
};

struct logs_bcreader;
/* -EBADMSG with the reason in `err`; -EOPNOTSUPP for an unsupported codec. */
int logs_bcreader_new(const struct logs_source *source, struct logs_bcreader **ret,
                      struct sv_error *err) _must_use_;
struct logs_bcreader *logs_bcreader_free(struct logs_bcreader *r);
static inline void logs_bcreader_freep(struct logs_bcreader **r)
{
    *r = logs_bcreader_free(*r);
}
size_t logs_bcreader_blocks(const struct logs_bcreader *r);
/* Seeks to the first byte of data block i, or of a named block (-ENOENT). */
int logs_bcreader_block(struct logs_bcreader *r, size_t i, struct sv_error *err) _must_use_;
int logs_bcreader_meta(struct logs_bcreader *r, const char *name, struct sv_error *err) _must_use_;
/* Reads up to n bytes of the block; 0 at its end. */
ssize_t logs_bcreader_get(struct logs_bcreader *r, void *p, size_t n, struct sv_error *err)
    _must_use_;
/* Skips up to n bytes; uncompressed data is not even read. */
ssize_t logs_bcreader_skip(struct logs_bcreader *r, uint64_t n, struct sv_error *err) _must_use_;
/* Reads exactly n bytes; -EBADMSG if the block is shorter. */
int logs_bcreader_get_all(struct logs_bcreader *r, void *p, size_t n, struct sv_error *err)
    _must_use_;
int logs_bcreader_get_vint(struct logs_bcreader *r, int64_t *ret, struct sv_error *err) _must_use_;
/* Reads a number. Returns 1, or 0 if the block ends before it. */
int logs_bcreader_next_vint(struct logs_bcreader *r, int64_t *ret, struct sv_error *err) _must_use_;

#endif
