/* See context.h. */
#include "nodemanager/core/context.h"

#include <errno.h>

#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"

/* Pending events refer to removed objects until the queue is empty. */
static void free_removed(struct nm_context *ctx)
{
    while (ctx->dead_containers) {
        struct nm_container *c = ctx->dead_containers;

        ctx->dead_containers = c->next_dead;
        nm_container_free(c);
    }
    while (ctx->dead_apps) {
        struct nm_app *a = ctx->dead_apps;

        ctx->dead_apps = a->next_dead;
        nm_app_free(a);
    }
}

void nm_context_changed(struct nm_context *ctx)
{
    if (ctx->changed)
        ctx->changed(ctx->changed_userdata);
}

static void on_idle(void *userdata)
{
    free_removed(userdata);
    nm_context_changed(userdata);
}

int nm_context_open(struct nm_context *ctx, sd_event *event, const struct nm_conf *conf,
                    struct sv_error *err)
{
    ctx->event = event;
    ctx->conf = conf;
    ctx->dispatcher = sv_dispatcher_new();
    if (!ctx->dispatcher)
        return sv_error_errno(err, -ENOMEM, "event dispatcher");
    if (event) { /* NULL in tests of the machines alone */
        int r = sv_dispatcher_take_turns(ctx->dispatcher, event);

        if (r < 0)
            return sv_error_errno(err, r, "event dispatcher");
    }
    sv_dispatcher_on_idle(ctx->dispatcher, on_idle, ctx);
    return 0;
}

void nm_context_close(struct nm_context *ctx)
{
    ctx->dispatcher = sv_dispatcher_free(ctx->dispatcher);
    free_removed(ctx);
}

/* ---- containers -----------------------------------------------------------------------------*/

void nm_container_add(struct nm_container *c, struct nm_app *app)
{
    c->app = app;
    HASH_ADD_STR(c->ctx->containers, text, c);
}

void nm_container_remove(struct nm_container *c)
{
    if (c->app)
        nm_app_leave(c->app, c);
    c->app = NULL;
    HASH_DEL(c->ctx->containers, c);
    c->next_dead = c->ctx->dead_containers;
    c->ctx->dead_containers = c;
}

struct nm_container *nm_container_find(const struct nm_context *ctx, const char *text)
{
    struct nm_container *c = NULL;

    HASH_FIND_STR(ctx->containers, text, c);
    return c;
}

/* ---- applications ---------------------------------------------------------------------------*/

void nm_app_add(struct nm_app *a)
{
    HASH_ADD_STR(a->ctx->apps, text, a);
}

void nm_app_remove(struct nm_app *a)
{
    struct nm_app_member *m, *tmp;

    HASH_ITER (hh, a->members, m, tmp) {
        m->c->app = NULL;
        nm_app_leave(a, m->c);
    }
    HASH_DEL(a->ctx->apps, a);
    a->next_dead = a->ctx->dead_apps;
    a->ctx->dead_apps = a;
}

struct nm_app *nm_app_find(const struct nm_context *ctx, const char *text)
{
    struct nm_app *a = NULL;

    HASH_FIND_STR(ctx->apps, text, a);
    return a;
}
