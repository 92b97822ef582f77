/* A bump allocator with one lifetime: all its objects are freed together (one RPC request, one
 * parsed file). Also a ProtobufCAllocator, so that unpacked messages need no freeing. */
#ifndef SELVEDGE_COMMON_ARENA_H
#define SELVEDGE_COMMON_ARENA_H

#include <protobuf-c/protobuf-c.h>
#include <stdarg.h>

#include "common/base.h"

struct sv_arena;

/* `max_bytes`: allocations fail once their sum would exceed it (hostile input amplifies); 0 = 64
 * MiB. */
struct sv_arena *sv_arena_new(size_t max_bytes);
struct sv_arena *sv_arena_free(struct sv_arena *a); /* accepts NULL, returns NULL */
static inline void sv_arena_freep(struct sv_arena **a)
{
    *a = sv_arena_free(*a);
}
/* As sv_arena_free(), for secrets: overwrites the memory first. */
struct sv_arena *sv_arena_wipe(struct sv_arena *a);
static inline void sv_arena_wipep(struct sv_arena **a)
{
    *a = sv_arena_wipe(*a);
}
/* Empties a small arena for reuse without a heap allocation. False: the arena is not small, or this
 * is a sanitizer build, which could not detect a use after the reset; the arena is then unchanged
 * and must be freed. */
bool sv_arena_reset(struct sv_arena *a, size_t max_bytes) _must_use_;
#define _cleanup_arena_ _cleanup_(sv_arena_freep)
#define _cleanup_arena_wipe_ _cleanup_(sv_arena_wipep)

/* All return zeroed, 16-byte aligned memory, or NULL when memory or the arena's maximum is
 * exhausted. */
void *sv_arena_alloc(struct sv_arena *a, size_t n);
void *sv_arena_calloc(struct sv_arena *a, size_t count, size_t size); /* overflow-checked */
char *sv_arena_strdup(struct sv_arena *a, const char *s);
void *sv_arena_memdup(struct sv_arena *a, const void *p, size_t n);
char *sv_arena_printf(struct sv_arena *a, const char *fmt, ...) _printf_(2, 3);
size_t sv_arena_used(const struct sv_arena *a);

/* Allocator view for protobuf-c; its free does nothing. Lives as long as the arena. */
ProtobufCAllocator *sv_arena_protobuf(struct sv_arena *a);

/* new(arena, Type): a zeroed object; newn: an array. */
#define sv_new(a, type) ((type *)sv_arena_alloc((a), sizeof(type)))
#define sv_newn(a, type, n) ((type *)sv_arena_calloc((a), (n), sizeof(type)))

#endif
