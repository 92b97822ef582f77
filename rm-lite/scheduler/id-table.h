/* A table of a pool's objects by a hash of their ids. Unlike uthash it stores the hash in the
 * entry, so that finding, adding and removing one touch one cache line beside the object itself,
 * and no neighbours; and the table grows in parts, so that no single event pays for all of it. It
 * has no order. Pure but for the key of the hash, which is random: ids come from peers. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_ID_TABLE_H
#define SELVEDGE_RM_LITE_SCHEDULER_ID_TABLE_H

#include "rm-lite/scheduler/pool.h"

#define RM_ID_PARTS 256

struct rm_id_entry {
    uint32_t hash;   /* low 32 bits of the hash */
    uint32_t handle; /* 0: free */
};

struct rm_id_table {
    const struct rm_pool *pool; /* pool of the objects; zero the other fields */
    struct {
        struct rm_id_entry *entries;
        uint32_t n, size; /* a power of 2 */
    } parts[RM_ID_PARTS];
};

uint64_t rm_id_hash(const int64_t *id, size_t n); /* hash of n numbers */
/* The object for which `is` holds, or NULL. */
void *rm_id_find(const struct rm_id_table *t, uint64_t hash,
                 bool (*is)(const void *object, const void *id), const void *id);
void rm_id_add(struct rm_id_table *t, uint64_t hash, const void *object);
void rm_id_remove(struct rm_id_table *t, uint64_t hash, const void *object); /* must be present */
void rm_id_clear(struct rm_id_table *t); /* removes all entries, frees no object */

#endif
