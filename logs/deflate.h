/* Compresses the blocks of a BCFile. A block becomes one zlib stream, or several, one after the
 * other: Hadoop's DefaultCodec reads on at the end of a stream, and so does block-reader.h.
 *
 * deflate-libdeflate.c collects LOGS_MEMBER bytes and compresses them at once; deflate-zlib.c,
 * where the build has no libdeflate, streams. Both use a bounded amount of memory for a block of
 * any length. */
#ifndef SELVEDGE_LOGS_DEFLATE_H
#define SELVEDGE_LOGS_DEFLATE_H

#include "logs/bcfile.h"

#define LOGS_MEMBER (2u << 20) /* bytes of a block that become one zlib stream, at most */

struct logs_deflate;
int logs_deflate_new(const struct logs_sink *sink, struct logs_deflate **ret) _must_use_;
void logs_deflate_free(struct logs_deflate *d);
/* The next bytes of the block. */
int logs_deflate_put(struct logs_deflate *d, const void *p, size_t n) _must_use_;
/* A good place to cut: compresses what is collected if that will be `wanted` bytes or more, judged
 * by the stream before. */
int logs_deflate_pause(struct logs_deflate *d, uint64_t wanted) _must_use_;
/* Ends the block; the next put begins another. */
int logs_deflate_end(struct logs_deflate *d) _must_use_;

#endif
