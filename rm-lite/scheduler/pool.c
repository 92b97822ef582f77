/* See pool.h. */
#include "rm-lite/scheduler/pool.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/oom.h"

#define SMALL_PAGES 2 /* chunks without huge pages: less memory in a small cluster */
#define CHUNKS_MAX (1u << (32 - RM_POOL_BITS))

_Static_assert(RM_POOL_CHUNK / RM_POOL_LINE == 1u << RM_POOL_BITS, "a line in a chunk");

#ifdef SV_SANITIZED
#include <sanitizer/asan_interface.h>
/* The leak checker scans malloc's memory, not other mappings. */
static unsigned char *chunk_new(size_t number)
{
    void *m = aligned_alloc(RM_POOL_CHUNK, RM_POOL_CHUNK);

    (void)number;
    return m ? memset(m, 0, RM_POOL_CHUNK) : NULL;
}
static void chunk_free(unsigned char *m)
{
    ASAN_UNPOISON_MEMORY_REGION(m, RM_POOL_CHUNK);
    free(m);
}
#else
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))

static void unmap(unsigned char *m, size_t size)
{
    if (size > 0)
        (void)munmap(m, size); /* it is mapped, ignoring */
}

static void chunk_free(unsigned char *m)
{
    unmap(m, RM_POOL_CHUNK);
}

/* A mapping of twice the size has an aligned part. */
static unsigned char *chunk_new(size_t number)
{
    unsigned char *m =
        mmap(NULL, 2 * RM_POOL_CHUNK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t before;

    if (m == MAP_FAILED)
        return NULL;
    before = (RM_POOL_CHUNK - (uintptr_t)m % RM_POOL_CHUNK) % RM_POOL_CHUNK;
    unmap(m, before);
    unmap(m + before + RM_POOL_CHUNK, RM_POOL_CHUNK - before);
    m += before;
    /* Without huge pages it is slower only, ignoring. */
    (void)madvise(m, RM_POOL_CHUNK, number < SMALL_PAGES ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    return m;
}
#endif

static size_t padded(const struct rm_pool *p)
{
    return (p->size + RM_POOL_LINE - 1) / RM_POOL_LINE * RM_POOL_LINE;
}

static void add_chunk(struct rm_pool *p)
{
    uint32_t number = (uint32_t)p->n_chunks;
    unsigned char *m;

    if (p->n_chunks == CHUNKS_MAX)
        sv_out_of_memory();
    if (p->n_chunks == p->cap_chunks) {
        size_t cap = p->cap_chunks ? p->cap_chunks * 2 : 16;
        unsigned char **v = reallocarray(p->chunks, cap, sizeof(*v));

        if (!v)
            sv_out_of_memory();
        p->chunks = v;
        p->cap_chunks = cap;
    }
    m = chunk_new(number);
    if (!m)
        sv_out_of_memory();
    memcpy(m, &number, sizeof(number));
    p->chunks[p->n_chunks++] = m;
    p->at = RM_POOL_LINE;
}

void *rm_pool_take(struct rm_pool *p)
{
    void *object = p->unused;

    if (object) {
        ASAN_UNPOISON_MEMORY_REGION(object, p->size);
        p->unused = *(void **)object;
        return memset(object, 0, p->size);
    }
    if (RM_POOL_CHUNK - p->at < padded(p))
        add_chunk(p);
    object = p->chunks[p->n_chunks - 1] + p->at; /* zero from the start */
    p->at += padded(p);
    return object;
}

void rm_pool_give(struct rm_pool *p, void *object)
{
    *(void **)object = p->unused;
    p->unused = object;
    ASAN_POISON_MEMORY_REGION(object, p->size);
}

void rm_pool_free(struct rm_pool *p)
{
    for (size_t i = 0; i < p->n_chunks; i++)
        chunk_free(p->chunks[i]);
    free(p->chunks);
    *p = (struct rm_pool){ .size = p->size, .at = RM_POOL_CHUNK };
}
