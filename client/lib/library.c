/* See library.h and library-internal.h: the table of handles, loops, errors, configuration. */
#include "client/lib/library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "client/lib/library-internal.h"
#include "common/version.h"

#define EVENTS_MAX 256 /* per dispatch */

struct lib_loop {
    struct lib_object o;
    sd_event *event;
    unsigned children;
    struct lib_object *dying; /* closed within a callback */
    bool runs;
};

/* The library is single-threaded. */
static struct lib_object *objects;
static uint64_t last_id;

const char *selvedge_version(void)
{
    return SV_VERSION;
}

int selvedge_api(void)
{
    return SELVEDGE_API;
}

/* ---- Handles ---- */

struct lib_object *cli_lib_find(uint64_t id, enum lib_kind kind)
{
    struct lib_object *o;

    HASH_FIND(hh, objects, &id, sizeof(id), o);
    return o && o->kind == kind ? o : NULL;
}

uint64_t cli_lib_add(struct lib_object *o, enum lib_kind kind, struct lib_loop *loop,
                     void (*destroy)(struct lib_object *o))
{
    o->id = ++last_id;
    o->kind = kind;
    o->loop = loop;
    o->destroy = destroy;
    if (loop)
        loop->children++;
    HASH_ADD(hh, objects, id, sizeof(o->id), o);
    return o->id;
}

static void destroy(struct lib_object *o)
{
    struct lib_loop *loop = o->loop;

    if (o->dying) {
        LL_DELETE(loop->dying, o);
        o->dying = sd_event_source_disable_unref(o->dying);
    }
    o->destroy(o);
    if (loop)
        loop->children--;
}

static int on_dying(sd_event_source *s, void *userdata)
{
    (void)s;
    destroy(userdata);
    return 0;
}

int cli_lib_close(struct lib_object *o)
{
    int r;

    if (o->depth > 0) { /* the caller of the callback still uses it */
        r = sd_event_add_defer(o->loop->event, &o->dying, on_dying, o);
        if (r < 0)
            return r;
        HASH_DEL(objects, o);
        LL_PREPEND(o->loop->dying, o);
        return 0;
    }
    HASH_DEL(objects, o);
    destroy(o);
    return 0;
}

/* ---- Loops ---- */

struct lib_loop *cli_lib_loop_of(selvedge_loop loop)
{
    return (struct lib_loop *)cli_lib_find(loop.id, LIB_LOOP);
}

sd_event *cli_lib_event(struct lib_loop *loop)
{
    return loop->event;
}

static void loop_destroy(struct lib_object *o)
{
    struct lib_loop *l = (struct lib_loop *)o;

    sd_event_unref(l->event);
    free(l);
}

int selvedge_loop_new(struct sd_event *event, selvedge_loop *ret)
{
    struct lib_loop *l;
    int r;

    if (!ret)
        return -EINVAL;
    l = calloc(1, sizeof(*l));
    if (!l)
        return -ENOMEM;
    l->event = sd_event_ref(event);
    r = event ? 0 : sd_event_new(&l->event);
    if (r < 0) {
        free(l);
        return r;
    }
    ret->id = cli_lib_add(&l->o, LIB_LOOP, NULL, loop_destroy);
    return 0;
}

int selvedge_loop_free(selvedge_loop loop)
{
    struct lib_loop *l = cli_lib_loop_of(loop);

    if (!l)
        return -EBADF;
    if (l->runs)
        return -EBUSY;
    while (l->dying) /* the loop ended before destroying them */
        destroy(l->dying);
    return l->children > 0 ? -EBUSY : cli_lib_close(&l->o);
}

int selvedge_loop_run(selvedge_loop loop)
{
    struct lib_loop *l = cli_lib_loop_of(loop);
    int r;

    if (!l)
        return -EBADF;
    if (l->runs)
        return -EBUSY;
    l->runs = true;
    r = sd_event_loop(l->event);
    l->runs = false;
    return r;
}

int selvedge_loop_quit(selvedge_loop loop, int code)
{
    struct lib_loop *l = cli_lib_loop_of(loop);

    return l ? sd_event_exit(l->event, code) : -EBADF;
}

int selvedge_loop_fd(selvedge_loop loop)
{
    struct lib_loop *l = cli_lib_loop_of(loop);

    return l ? sd_event_get_fd(l->event) : -EBADF;
}

int selvedge_loop_dispatch(selvedge_loop loop)
{
    struct lib_loop *l = cli_lib_loop_of(loop);
    int r = 1;

    if (!l)
        return -EBADF;
    if (l->runs)
        return -EBUSY;
    l->runs = true;
    for (int i = 0; i < EVENTS_MAX && r > 0; i++)
        r = sd_event_run(l->event, 0);
    l->runs = false;
    return r > 0 ? 1 : r;
}

/* ---- Arguments ---- */

int cli_lib_error(struct selvedge_error *to, const struct sv_error *from)
{
    if (to) {
        to->code = from->code;
        (void)snprintf(to->text, sizeof(to->text), "%s", from->text);
    }
    return from->code;
}

const char *cli_lib_reason(int status, const struct sv_error *err)
{
    return status >= 0 ? "" : err && *err->text ? err->text : strerrordesc_np(-status);
}

int cli_lib_conf(const char *dir, struct sv_conf **ret, struct sv_error *err)
{
    struct sv_conf *c = sv_conf_new();
    int r;

    if (!c)
        return sv_error_errno(err, -ENOMEM, "configuration");
    r = sv_conf_load_hadoop(c, dir, err);
    if (r < 0) {
        sv_conf_free(c);
        return r;
    }
    *ret = c;
    return 0;
}
