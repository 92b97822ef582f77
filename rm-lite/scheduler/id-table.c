/* See id-table.h: 256 tables with open addressing. Hostile: nodes choose the numbers of containers
 * that they report, so the hash has a random key. */
#include "rm-lite/scheduler/id-table.h"

#include <stdlib.h>
#include <sys/random.h>

#include "common/oom.h"

#define FIRST 4 /* entries of a new part */

static uint64_t keys[2];

static void keys_make(void)
{
    if (keys[0])
        return;
    if (getentropy(keys, sizeof(keys)) < 0) /* before Linux 3.17: a fixed key */
        keys[1] = UINT64_C(0x9e3779b97f4a7c15);
    keys[0] |= 1;
}

/* Both halves of the product, so that each bit depends on all bits of both. */
static uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 p = (unsigned __int128)a * b;

    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

uint64_t rm_id_hash(const int64_t *id, size_t n)
{
    uint64_t h;

    keys_make();
    h = keys[1];
    for (size_t i = 0; i < n; i++)
        h = mix(h ^ (uint64_t)id[i], keys[0]) ^ keys[1];
    return mix(h, UINT64_C(0xa0761d6478bd642f));
}

static uint32_t part_of(uint64_t hash)
{
    return (uint32_t)(hash >> 56);
}

void *rm_id_find(const struct rm_id_table *t, uint64_t hash,
                 bool (*is)(const void *object, const void *id), const void *id)
{
    uint32_t part = part_of(hash), mask = t->parts[part].size - 1;
    const struct rm_id_entry *v = t->parts[part].entries;

    if (!v)
        return NULL;
    for (uint32_t i = (uint32_t)hash & mask; v[i].handle; i = (i + 1) & mask) {
        void *object = rm_pool_at(t->pool, v[i].handle);

        if (v[i].hash == (uint32_t)hash && is(object, id))
            return object;
    }
    return NULL;
}

static void put(struct rm_id_entry *v, uint32_t mask, struct rm_id_entry e)
{
    uint32_t i = e.hash & mask;

    while (v[i].handle)
        i = (i + 1) & mask;
    v[i] = e;
}

static void grow(struct rm_id_table *t, uint32_t part)
{
    uint32_t size = t->parts[part].size, more = size ? size * 2 : FIRST;
    struct rm_id_entry *v = calloc(more, sizeof(*v)), *old = t->parts[part].entries;

    if (!v)
        sv_out_of_memory();
    for (uint32_t i = 0; i < size; i++)
        if (old[i].handle)
            put(v, more - 1, old[i]);
    free(old);
    t->parts[part].entries = v;
    t->parts[part].size = more;
}

void rm_id_add(struct rm_id_table *t, uint64_t hash, const void *object)
{
    uint32_t part = part_of(hash);

    if ((t->parts[part].n + 1) / 3 >= t->parts[part].size / 4)
        grow(t, part);
    put(t->parts[part].entries, t->parts[part].size - 1,
        (struct rm_id_entry){ (uint32_t)hash, rm_pool_handle(object) });
    t->parts[part].n++;
}

/* Moves later entries of the probe sequence into the gap, but none before its home slot. */
static void close_gap(struct rm_id_entry *v, uint32_t mask, uint32_t gap)
{
    for (uint32_t i = (gap + 1) & mask; v[i].handle; i = (i + 1) & mask) {
        uint32_t home = v[i].hash & mask;

        if (((i - home) & mask) < ((i - gap) & mask))
            continue;
        v[gap] = v[i];
        gap = i;
    }
    v[gap].handle = 0;
}

void rm_id_remove(struct rm_id_table *t, uint64_t hash, const void *object)
{
    uint32_t part = part_of(hash), mask = t->parts[part].size - 1, i = (uint32_t)hash & mask;
    uint32_t handle = rm_pool_handle(object);
    struct rm_id_entry *v = t->parts[part].entries;

    while (v[i].handle != handle)
        i = (i + 1) & mask;
    close_gap(v, mask, i);
    t->parts[part].n--;
}

void rm_id_clear(struct rm_id_table *t)
{
    for (uint32_t i = 0; i < RM_ID_PARTS; i++)
        free(t->parts[i].entries);
    *t = (struct rm_id_table){ .pool = t->pool };
}
