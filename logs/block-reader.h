/* Reads one region of a file sequentially, compressed or not. Hostile: every byte. Never reads
 * beyond the region, which must lie within the file. */
#ifndef SELVEDGE_LOGS_BLOCK_READER_H
#define SELVEDGE_LOGS_BLOCK_READER_H

#include "logs/bcfile.h"

struct logs_block;
int logs_block_new(const struct logs_source *source, struct logs_block **ret) _must_use_;
struct logs_block *logs_block_free(struct logs_block *b);
static inline void logs_block_freep(struct logs_block **b)
{
    *b = logs_block_free(*b);
}
/* Seeks to the first byte of a region; g->raw is not used. */
int logs_block_enter(struct logs_block *b, enum logs_codec codec, const struct logs_region *g,
                     struct sv_error *err) _must_use_;
/* Reads up to n bytes; 0 at the end. */
ssize_t logs_block_get(struct logs_block *b, void *p, size_t n, struct sv_error *err) _must_use_;
/* Skips up to n bytes; uncompressed data is not even read. */
ssize_t logs_block_skip(struct logs_block *b, uint64_t n, struct sv_error *err) _must_use_;

#endif
