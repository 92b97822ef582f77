/* See finished-containers.h. */
#include "nodemanager/services/finished-containers.h"

#include <stdio.h>
#include <uthash.h>

#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"

struct finished_entry {
    UT_hash_handle hh; /* in the order of their ends */
    struct nm_figures f;
};

struct nm_finished {
    struct finished_entry *entries;
};

void nm_figures_of(const struct nm_container *c, struct nm_figures *ret)
{
    *ret = (struct nm_figures){
        .exit_code = c->exit_code,
        .memory_mb = c->resource.memory_mb,
        .vcores = c->resource.vcores,
        .execution_type = c->execution_type,
        .memory_bytes = nm_container_is_done(c) ? 0 : c->usage.last.memory_current,
        .peak_bytes = c->usage.peak_bytes,
        .cpu_usec = c->usage.last.cpu_usec,
        .pids = nm_container_is_done(c) ? 0 : c->usage.last.pids_current,
        .cpu_cores = nm_container_is_done(c) ? 0 : c->usage.cpu_cores,
        .usage = c->usage.last,
        .start_ms = c->start_ms,
        .launch_ms = c->launch_ms,
        .finish_ms = c->finish_ms,
        .localize_ms = c->localize_ms,
    };
    snprintf(ret->text, sizeof(ret->text), "%s", c->text);
    snprintf(ret->user, sizeof(ret->user), "%s", c->app ? c->app->user : "");
}

struct nm_finished *nm_finished_new(void)
{
    return calloc(1, sizeof(struct nm_finished));
}

struct nm_finished *nm_finished_free(struct nm_finished *f)
{
    struct finished_entry *e, *tmp;

    if (!f)
        return NULL;
    HASH_ITER (hh, f->entries, e, tmp) {
        HASH_DEL(f->entries, e);
        free(e);
    }
    free(f);
    return NULL;
}

void nm_finished_add(struct nm_finished *f, const struct nm_container *c)
{
    struct finished_entry *e = NULL;

    HASH_FIND_STR(f->entries, c->text, e);
    if (e) {
        HASH_DEL(f->entries, e);
    } else if (HASH_COUNT(f->entries) >= NM_FINISHED_MAX) {
        e = f->entries;
        HASH_DEL(f->entries, e);
    } else {
        e = malloc(sizeof(*e));
    }
    if (!e)
        return; /* only REST misses it */
    nm_figures_of(c, &e->f);
    HASH_ADD_STR(f->entries, f.text, e);
}

const struct nm_figures *nm_finished_find(const struct nm_finished *f, const char *container)
{
    struct finished_entry *e = NULL;

    HASH_FIND_STR(f->entries, container, e);
    return e ? &e->f : NULL;
}
