/* Bump allocator in chunks. Hostile: requested sizes, which come from RPC requests and parsed
 * files; every sum is checked and the arena has a maximum. */
#include "common/arena.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#define ARENA_ALIGN 16u
#define ARENA_DEFAULT_MAX ((size_t)64 << 20)
#define CHUNK_FIRST ((size_t)4096)
#define CHUNK_LARGEST ((size_t)256 << 10)

struct chunk {
    struct chunk *older;
    size_t cap, used;
    alignas(ARENA_ALIGN) uint8_t data[];
};

struct sv_arena {
    struct chunk *newest;
    size_t max, used, next_chunk;
    ProtobufCAllocator allocator;
};

static void *protobuf_alloc(void *data, size_t n)
{
    /* protobuf-c reads NULL as "out of memory": an empty string still needs an address */
    return sv_arena_alloc(data, n ? n : 1);
}

static void protobuf_free(void *data, void *p)
{
    (void)data;
    (void)p;
}

struct sv_arena *sv_arena_new(size_t max_bytes)
{
    struct sv_arena *a = calloc(1, sizeof(*a));

    if (!a)
        return NULL;
    a->max = max_bytes ? max_bytes : ARENA_DEFAULT_MAX;
    a->next_chunk = CHUNK_FIRST;
    a->allocator = (ProtobufCAllocator){ protobuf_alloc, protobuf_free, a };
    return a;
}

struct sv_arena *sv_arena_free(struct sv_arena *a)
{
    if (!a)
        return NULL;
    for (struct chunk *c = a->newest, *older; c; c = older) {
        older = c->older;
        free(c);
    }
    free(a);
    return NULL;
}

struct sv_arena *sv_arena_wipe(struct sv_arena *a)
{
    for (struct chunk *c = a ? a->newest : NULL; c; c = c->older)
        explicit_bzero(c->data, c->used);
    return sv_arena_free(a);
}

bool sv_arena_reset(struct sv_arena *a, size_t max_bytes)
{
#ifdef SV_SANITIZED
    (void)a, (void)max_bytes;
    return false;
#else
    if (!a->newest || a->newest->older || a->newest->cap != CHUNK_FIRST)
        return false;
    a->newest->used = 0;
    a->used = 0;
    a->max = max_bytes ? max_bytes : ARENA_DEFAULT_MAX;
    return true;
#endif
}

/* Adds a chunk for at least n bytes. An object larger than the next regular chunk gets a chunk of
 * its own size, inserted behind the newest chunk so that the free space of the newest stays in
 * use. */
static struct chunk *add_chunk(struct sv_arena *a, size_t n)
{
    bool own = n > a->next_chunk;
    size_t cap = own ? n : a->next_chunk;
    struct chunk *c = malloc(sizeof(*c) + cap);

    if (!c)
        return NULL;
    c->cap = cap;
    c->used = 0;
    if (own && a->newest) {
        c->older = a->newest->older;
        a->newest->older = c;
    } else {
        c->older = a->newest;
        a->newest = c;
    }
    if (!own && a->next_chunk < CHUNK_LARGEST)
        a->next_chunk *= 2;
    return c;
}

void *sv_arena_alloc(struct sv_arena *a, size_t n)
{
    struct chunk *c = a->newest;
    size_t padded;
    void *p;

    if (n == 0)
        n = 1;
    if (__builtin_add_overflow(n, ARENA_ALIGN - 1, &padded))
        return NULL;
    padded &= ~(size_t)(ARENA_ALIGN - 1);
    if (padded > a->max - a->used)
        return NULL;
    if (!c || padded > c->cap - c->used) {
        c = add_chunk(a, padded);
        if (!c)
            return NULL;
    }
    p = c->data + c->used;
    c->used += padded;
    a->used += padded;
    return memset(p, 0, n);
}

void *sv_arena_calloc(struct sv_arena *a, size_t count, size_t size)
{
    size_t n;

    if (__builtin_mul_overflow(count, size, &n))
        return NULL;
    return sv_arena_alloc(a, n);
}

void *sv_arena_memdup(struct sv_arena *a, const void *p, size_t n)
{
    void *copy = sv_arena_alloc(a, n);

    if (copy && n)
        memcpy(copy, p, n);
    return copy;
}

char *sv_arena_strdup(struct sv_arena *a, const char *s)
{
    return s ? sv_arena_memdup(a, s, strlen(s) + 1) : NULL;
}

char *sv_arena_printf(struct sv_arena *a, const char *fmt, ...)
{
    va_list ap;
    char *s;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n < 0)
        return NULL;
    s = sv_arena_alloc(a, (size_t)n + 1);
    if (!s)
        return NULL;
    va_start(ap, fmt);
    (void)vsnprintf(s, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return s;
}

size_t sv_arena_used(const struct sv_arena *a)
{
    return a->used;
}

ProtobufCAllocator *sv_arena_protobuf(struct sv_arena *a)
{
    return &a->allocator;
}
