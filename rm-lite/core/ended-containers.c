/* See ended-containers.h. */
#include "rm-lite/core/ended-containers.h"

#include <string.h>

#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/text.h"

/* Frees it when the event queue is empty: an event may still refer to it. */
static void drop(struct rm_container *c)
{
    struct rm *rm = c->rm;

    DL_DELETE2(c->app->ended, c, p_prev, p_next);
    c->app->n_ended--;
    DL_DELETE2(rm->ended, c, x_prev, x_next);
    rm->n_ended--;
    DL_APPEND2(rm->dead_containers, c, n_prev, n_next);
}

void rm_ended_keep(struct rm_container *c)
{
    struct rm *rm = c->rm;

    if (c->diagnostics && strlen(c->diagnostics) > RM_ENDED_DIAGNOSTICS_MAX) {
        char *cut =
            c->exit_status > 0
                ? rm_strdup_ends(c->diagnostics, RM_ENDED_DIAGNOSTICS_MAX / 2, RM_ENDED_FAILURE_MAX)
                : rm_strdup_cut(c->diagnostics, RM_ENDED_DIAGNOSTICS_MAX);

        free(c->diagnostics);
        c->diagnostics = cut;
    }
    DL_APPEND2(c->app->ended, c, p_prev, p_next);
    c->app->n_ended++;
    DL_APPEND2(rm->ended, c, x_prev, x_next);
    rm->n_ended++;
    if (c->app->n_ended > RM_ENDED_PER_APP)
        drop(c->app->ended);
    if (rm->n_ended > RM_ENDED_MAX)
        drop(rm->ended);
}

void rm_ended_forget(struct rm_app *app)
{
    while (app->ended)
        drop(app->ended);
}

static struct rm_container *of(const struct rm_attempt *att, struct rm_container *c)
{
    while (c && c->attempt != att)
        c = c->p_next;
    return c;
}

struct rm_container *rm_ended_first(const struct rm_attempt *att)
{
    return rm_attempt_is_final(att) ? of(att, att->app->ended) : NULL;
}

struct rm_container *rm_ended_next(const struct rm_container *c)
{
    return of(c->attempt, c->p_next);
}

size_t rm_ended_count(const struct rm_attempt *att)
{
    size_t n = 0;

    for (const struct rm_container *c = rm_ended_first(att); c; c = rm_ended_next(c))
        n++;
    return n;
}

struct rm_container *rm_ended_find(const struct rm_attempt *att, struct yarn_container_id id)
{
    for (struct rm_container *c = rm_ended_first(att); c; c = rm_ended_next(c))
        if (yarn_container_id_cmp(c->id, id) == 0)
            return c;
    return NULL;
}
