/* See index-cache.h. The hash table is in LRU order: a hit moves to the end. */
#include "shuffle/index-cache.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <uthash.h>

struct key { /* without padding: hashed as bytes */
    uint64_t dev, ino, size;
    int64_t mtime_s, mtime_ns, ctime_s, ctime_ns;
};

struct entry {
    struct key key;
    uint8_t *index;
    size_t len;
    UT_hash_handle hh;
};

struct shf_index_cache {
    pthread_mutex_t lock;
    struct entry *entries;
    size_t bytes, max;
};

static struct key key_of(const struct stat *s)
{
    return (struct key){ .dev = s->st_dev,
                         .ino = s->st_ino,
                         .size = (uint64_t)s->st_size,
                         .mtime_s = s->st_mtim.tv_sec,
                         .mtime_ns = s->st_mtim.tv_nsec,
                         .ctime_s = s->st_ctim.tv_sec,
                         .ctime_ns = s->st_ctim.tv_nsec };
}

static void drop(struct shf_index_cache *c, struct entry *e)
{
    HASH_DEL(c->entries, e);
    c->bytes -= e->len;
    free(e->index);
    free(e);
}

struct shf_index_cache *shf_index_cache_new(size_t max_bytes)
{
    struct shf_index_cache *c = calloc(1, sizeof(*c));

    if (c && pthread_mutex_init(&c->lock, NULL) != 0) {
        free(c);
        return NULL;
    }
    if (c)
        c->max = max_bytes;
    return c;
}

struct shf_index_cache *shf_index_cache_free(struct shf_index_cache *c)
{
    struct entry *e, *next;

    if (!c)
        return NULL;
    HASH_ITER (hh, c->entries, e, next)
        drop(c, e);
    (void)pthread_mutex_destroy(&c->lock); /* nobody holds it, ignoring */
    free(c);
    return NULL;
}

static struct entry *find(struct shf_index_cache *c, const struct stat *file)
{
    struct key key = key_of(file);
    struct entry *e;

    HASH_FIND(hh, c->entries, &key, sizeof(key), e);
    return e;
}

int shf_index_cache_get(struct shf_index_cache *c, const struct stat *file, uint32_t reduce,
                        struct shf_segment *ret)
{
    int r = -ENOENT;

    pthread_mutex_lock(&c->lock);
    struct entry *e = find(c, file);
    if (e) {
        r = shf_spill_index_get(e->index, e->len, reduce, ret);
        HASH_DEL(c->entries, e);
        HASH_ADD(hh, c->entries, key, sizeof(e->key), e);
    }
    pthread_mutex_unlock(&c->lock);
    return r;
}

void shf_index_cache_put(struct shf_index_cache *c, const struct stat *file, uint8_t *index,
                         size_t len)
{
    struct entry *e = len <= c->max ? calloc(1, sizeof(*e)) : NULL;

    if (!e) {
        free(index);
        return;
    }
    *e = (struct entry){ .key = key_of(file), .index = index, .len = len };
    pthread_mutex_lock(&c->lock);
    struct entry *before = find(c, file);
    if (before) /* another thread read the same file */
        drop(c, before);
    while (c->bytes + len > c->max)
        drop(c, c->entries);
    HASH_ADD(hh, c->entries, key, sizeof(e->key), e);
    c->bytes += len;
    pthread_mutex_unlock(&c->lock);
}
