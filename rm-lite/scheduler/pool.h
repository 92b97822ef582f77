/* Memory for many objects of one size: each begins at a cache line, so that its hot fields can be
 * kept in one or two of them, and has a handle of 32 bits. The memory is allocated in chunks of 2
 * MiB, from the third on as huge pages: a large cluster's containers use more small pages than the
 * processor's TLB holds. Only rm_pool_free() returns memory to the system. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_POOL_H
#define SELVEDGE_RM_LITE_SCHEDULER_POOL_H

#include "common/base.h"

#define RM_POOL_CHUNK ((size_t)2 << 20) /* bytes, and its alignment */
#define RM_POOL_LINE 64
#define RM_POOL_BITS 15 /* of a handle: the cache line in its chunk */

struct rm_pool {
    size_t size;  /* of an object */
    void *unused; /* free list */
    unsigned char **chunks;
    size_t n_chunks, cap_chunks;
    size_t at; /* offset in the last chunk of the memory never used */
};

#define RM_POOL_INIT(type) ((struct rm_pool){ .size = sizeof(type), .at = RM_POOL_CHUNK })

void *rm_pool_take(struct rm_pool *p) _must_use_; /* all zero, never NULL */
void rm_pool_give(struct rm_pool *p, void *object);
void rm_pool_free(struct rm_pool *p); /* with all objects that are still in use */

/* A chunk begins with its number; no object has the handle 0. */
static inline uint32_t rm_pool_handle(const void *object)
{
    size_t in_chunk = (uintptr_t)object % RM_POOL_CHUNK;
    const void *chunk = (const unsigned char *)object - in_chunk;

    return *(const uint32_t *)chunk << RM_POOL_BITS | (uint32_t)(in_chunk / RM_POOL_LINE);
}

static inline void *rm_pool_at(const struct rm_pool *p, uint32_t handle)
{
    return p->chunks[handle >> RM_POOL_BITS] +
           (size_t)(handle & ((1u << RM_POOL_BITS) - 1)) * RM_POOL_LINE;
}

#endif
