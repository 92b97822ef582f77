/* See batch.h. */
#include "service/ha/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct svc_ha_group { /* of one owner */
    char *owner;
    struct svc_ha_change *changes;
    size_t bytes, n;
    struct svc_ha_group *prev, *next;
    UT_hash_handle hh;
};

/* ---- Changes ---- */

static void change_free(struct svc_ha_change *c)
{
    free(c->path);
    free(c->value);
    free(c);
}

struct svc_ha_change *svc_ha_change_new(const char *path, const void *value, size_t len)
{
    struct svc_ha_change *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->path = strdup(path);
    c->value = value ? malloc(len + 1) : NULL;
    if (!c->path || (value && !c->value)) {
        change_free(c);
        return NULL;
    }
    if (value) {
        memcpy(c->value, value, len);
        c->value[len] = '\0';
        c->len = len;
    }
    return c;
}

void svc_ha_changes_free(struct svc_ha_change *list)
{
    struct svc_ha_change *c, *tmp;

    DL_FOREACH_SAFE (list, c, tmp)
        change_free(c);
}

static size_t size_of(const struct svc_ha_change *c)
{
    return strlen(c->path) + c->len;
}

/* ---- Groups ---- */

static struct svc_ha_group *group_of(struct svc_ha_batch *b, const char *owner)
{
    struct svc_ha_group *g;

    HASH_FIND_STR(b->by_owner, owner, g);
    if (g)
        return g;
    g = calloc(1, sizeof(*g));
    if (g)
        g->owner = strdup(owner);
    if (!g || !g->owner) {
        free(g);
        return NULL;
    }
    DL_APPEND(b->groups, g);
    HASH_ADD_KEYPTR(hh, b->by_owner, g->owner, strlen(g->owner), g);
    return g;
}

static bool may_be_parted(const struct svc_ha_group *g)
{
    return !*g->owner;
}

static void drop_group(struct svc_ha_batch *b, struct svc_ha_group *g)
{
    DL_DELETE(b->groups, g);
    HASH_DEL(b->by_owner, g);
    free(g->owner);
    free(g);
}

static void take_out(struct svc_ha_batch *b, struct svc_ha_change *c)
{
    struct svc_ha_group *g = c->group;

    HASH_DEL(b->by_path, c);
    DL_DELETE(g->changes, c);
    g->bytes -= size_of(c);
    g->n--;
}

/* ---- The batch ---- */

int svc_ha_batch_add(struct svc_ha_batch *b, const char *owner, struct svc_ha_change *c)
{
    struct svc_ha_change *old;
    struct svc_ha_group *g, *was;

    HASH_FIND_STR(b->by_path, c->path, old);
    was = old ? old->group : NULL;
    g = was && !may_be_parted(was) ? was : group_of(b, owner); /* with those that it came with */
    if (!g) {
        change_free(c);
        return -ENOMEM;
    }
    if (old) {
        take_out(b, old);
        change_free(old);
    }
    if (was && was != g && !was->changes)
        drop_group(b, was);
    if (may_be_parted(g) && g->next) { /* it may say that the others are done */
        DL_DELETE(b->groups, g);
        DL_APPEND(b->groups, g);
    }
    c->group = g;
    g->bytes += size_of(c);
    g->n++;
    DL_APPEND(g->changes, c);
    HASH_ADD_KEYPTR(hh, b->by_path, c->path, strlen(c->path), c);
    return 0;
}

int svc_ha_batch_move(struct svc_ha_batch *b, struct svc_ha_batch *from)
{
    struct svc_ha_change *c, *tmp;
    struct svc_ha_group *g, *next;
    int r = 0;

    DL_FOREACH_SAFE (from->groups, g, next) {
        DL_FOREACH_SAFE (g->changes, c, tmp) {
            take_out(from, c);
            if (r == 0)
                r = svc_ha_batch_add(b, g->owner, c);
            else
                change_free(c);
        }
        drop_group(from, g);
    }
    return r;
}

bool svc_ha_batch_is_empty(const struct svc_ha_batch *b)
{
    return !b->groups;
}

struct svc_ha_change *svc_ha_batch_cut(struct svc_ha_batch *b, size_t bytes, size_t n)
{
    struct svc_ha_change *out = NULL, *c, *tmp;
    struct svc_ha_group *g, *next;
    bool full = false;

    DL_FOREACH_SAFE (b->groups, g, next) {
        if (out && !may_be_parted(g) && (g->bytes > bytes || g->n > n))
            break;
        DL_FOREACH_SAFE (g->changes, c, tmp) {
            size_t size = size_of(c);

            full = out && (size > bytes || n == 0);
            if (full && may_be_parted(g))
                break;
            take_out(b, c);
            DL_APPEND(out, c);
            bytes -= size < bytes ? size : bytes;
            n -= n > 0;
        }
        if (!g->changes)
            drop_group(b, g);
        if (full)
            break;
    }
    return out;
}

void svc_ha_batch_free(struct svc_ha_batch *b)
{
    struct svc_ha_group *g, *next;

    HASH_CLEAR(hh, b->by_path);
    DL_FOREACH_SAFE (b->groups, g, next) {
        svc_ha_changes_free(g->changes);
        g->changes = NULL;
        drop_group(b, g);
    }
    *b = (struct svc_ha_batch){ 0 };
}
