/* See recently-stopped.h. */
#include "nodemanager/core/recently-stopped.h"

#include <stdio.h>
#include <uthash.h>

#include "common/clock.h"
#include "wire/ids.h"

#define SWEEP_MS 1000

struct stopped_entry {
    UT_hash_handle hh; /* oldest first */
    char text[YARN_ID_TEXT_MAX];
    int64_t until_ms;
};

struct nm_stopped {
    struct stopped_entry *entries;
    int64_t keep_ms, swept_ms;
};

static void sweep(struct nm_stopped *s)
{
    int64_t now = sv_now_ms();
    struct stopped_entry *e, *tmp;

    if (now - s->swept_ms < SWEEP_MS)
        return;
    s->swept_ms = now;
    HASH_ITER (hh, s->entries, e, tmp) {
        if (e->until_ms > now)
            break;
        HASH_DEL(s->entries, e);
        free(e);
    }
}

struct nm_stopped *nm_stopped_new(int64_t keep_ms)
{
    struct nm_stopped *s = calloc(1, sizeof(*s));

    if (s)
        s->keep_ms = keep_ms;
    return s;
}

struct nm_stopped *nm_stopped_free(struct nm_stopped *s)
{
    struct stopped_entry *e, *tmp;

    if (!s)
        return NULL;
    HASH_ITER (hh, s->entries, e, tmp) {
        HASH_DEL(s->entries, e);
        free(e);
    }
    free(s);
    return NULL;
}

void nm_stopped_add(struct nm_stopped *s, const char *container)
{
    struct stopped_entry *e = NULL;

    sweep(s);
    HASH_FIND_STR(s->entries, container, e);
    if (e)
        return;
    e = calloc(1, sizeof(*e));
    if (!e)
        return; /* only the wording of an answer depends on it */
    snprintf(e->text, sizeof(e->text), "%s", container);
    e->until_ms = sv_now_ms() + s->keep_ms;
    HASH_ADD_STR(s->entries, text, e);
}

bool nm_stopped_has(struct nm_stopped *s, const char *container)
{
    struct stopped_entry *e = NULL;

    sweep(s);
    HASH_FIND_STR(s->entries, container, e);
    return e != NULL;
}
