/* Cache of checked indexes, so that the reducers of a job read each file once. An entry belongs to
 * one state of one file: device, inode, size, times of change. Thread-safe. */
#ifndef SELVEDGE_SHUFFLE_INDEX_CACHE_H
#define SELVEDGE_SHUFFLE_INDEX_CACHE_H

#include <sys/stat.h>

#include "shuffle/spill-index.h"

struct shf_index_cache;
struct shf_index_cache *shf_index_cache_new(size_t max_bytes) _must_use_; /* NULL without memory */
struct shf_index_cache *shf_index_cache_free(struct shf_index_cache *c);
/* 0; -ENOENT: not cached; -ERANGE: cached, but it has no such reducer. */
int shf_index_cache_get(struct shf_index_cache *c, const struct stat *file, uint32_t reduce,
                        struct shf_segment *ret) _must_use_;
/* Takes ownership of `index`, a checked one, malloc'd. Evicts the least recently used entries. */
void shf_index_cache_put(struct shf_index_cache *c, const struct stat *file, uint8_t *index,
                         size_t len);

#endif
