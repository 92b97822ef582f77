/* Families: frameworks that are stopped or deleted with their parents. A large one is done in turns
 * of the loop. The store says which roots are under way, and a root goes last, children before
 * their parents: so a start finds what is left. Hostile: frameworks, which users make. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/str.h"
#include "service/launcher/internal.h"

#define TURN_MEMBERS 64
#define TURN_BYTES ((size_t)256 << 10) /* of descriptors that are written */

struct svc_lr_family {
    struct svc_framework **v; /* each child behind its parent; the root is the first */
    size_t n;                 /* those that are left */
    bool deletes;
    struct svc_lr_family *prev, *next;
};

static void family_free(struct svc_lr_family *c)
{
    if (c)
        free(c->v);
    free(c);
}

/* ---- Members ---- */

static int push(struct svc_lr_family *c, size_t *room, struct svc_framework *f)
{
    if (c->n == *room) {
        size_t more = *room ? 2 * *room : 16;
        struct svc_framework **v = realloc(c->v, more * sizeof(struct svc_framework *));

        if (!v)
            return -ENOMEM;
        c->v = v;
        *room = more;
    }
    f->marked = true;
    c->v[c->n++] = f;
    return 0;
}

/* Those that are stopped with a family that is under way are left to it. */
static int push_children(const struct svc_lr *l, struct svc_lr_family *c, size_t *room,
                         const struct svc_framework *parent)
{
    struct svc_framework *f;
    int r = 0;

    for (f = svc_lr_children(&l->all, parent->name); r == 0 && f; f = f->younger) {
        if (f->marked || f->doomed ||
            !(c->deletes ? f->d->deleted_with_parent : f->d->stopped_with_parent))
            continue;
        if (f->pending && c->deletes)
            r = -EBUSY;
        else if (!f->pending)
            r = push(c, room, f);
    }
    return r;
}

static int gather(const struct svc_lr *l, struct svc_framework *first, bool deletes,
                  struct svc_lr_family **ret)
{
    struct svc_lr_family *c = calloc(1, sizeof(*c));
    size_t room = 0;
    int r = c ? 0 : -ENOMEM;

    if (r == 0) {
        c->deletes = deletes;
        r = push(c, &room, first);
    }
    for (size_t i = 0; r == 0 && i < c->n; i++)
        r = push_children(l, c, &room, c->v[i]);
    for (size_t i = 0; c && i < c->n; i++)
        c->v[i]->marked = false;
    if (r < 0)
        family_free(c);
    else
        *ret = c;
    return r;
}

static bool is_small(const struct svc_lr_family *c)
{
    size_t bytes = 0;

    for (size_t i = 1; i < c->n && !c->deletes && bytes <= TURN_BYTES; i++)
        bytes += strlen(c->v[i]->text);
    return c->n <= TURN_MEMBERS && bytes <= TURN_BYTES;
}

static int stop(struct svc_lr *l, struct svc_framework *f)
{
    int r = svc_lr_set_stop(&l->all, f, true);

    if (r < 0)
        return r;
    f->last_ms = svc_lr_now(l);
    svc_lr_write_request(l, f);
    svc_lr_settle(l, f);
    l->world.changed(l->world.userdata, f->name);
    return 0;
}

static void forget(struct svc_lr *l, struct svc_framework *f)
{
    l->world.changed(l->world.userdata, f->name);
    svc_lr_forget(l, f);
}

/* Some of the members that are left: 0: that was all. The root of one that is stopped was the first
 * to be, and is not left alone before the end. */
static int go_on(struct svc_lr *l, struct svc_lr_family *c)
{
    size_t bytes = 0, end = c->deletes ? 0 : 1;
    int r = 0;

    for (int i = 0; i < TURN_MEMBERS && bytes < TURN_BYTES && r == 0 && c->n > end; i++) {
        struct svc_framework *f = c->v[--c->n];

        f->pending = false;
        if (c->deletes) {
            forget(l, f);
        } else if (!f->d->stop) {
            bytes += strlen(f->text);
            r = stop(l, f);
        }
    }
    if (r < 0)
        l->broken = true; /* memory is read anew */
    if (c->n > end || r < 0)
        return 1;
    if (!c->deletes)
        c->v[0]->pending = false;
    return 0;
}

/* ---- Families ---- */

static void write_all(struct svc_lr *l)
{
    json_t *list = json_array();
    const struct svc_lr_family *c;
    int bad = !list;

    DL_FOREACH (l->families, c)
        bad |= json_array_append_new(list, json_pack("[s, b]", c->v[0]->name, c->deletes));
    if (bad)
        l->broken = true;
    else
        svc_lr_write_meta(l, "families", list);
    json_decref(list);
}

static void begin(struct svc_lr *l, struct svc_lr_family *c)
{
    for (size_t i = 0; i < c->n; i++) {
        c->v[i]->pending = true;
        c->v[i]->doomed = c->deletes;
        if (c->deletes)
            svc_lr_dequeue(l, c->v[i]);
    }
    DL_APPEND(l->families, c);
}

static void put_off(struct svc_lr *l, struct svc_lr_family *c)
{
    begin(l, c);
    write_all(l);
    l->world.soon(l->world.userdata);
}

int svc_lr_stop_family(struct svc_lr *l, struct svc_framework *first)
{
    struct svc_lr_family *c = NULL;
    int r = gather(l, first, false, &c);

    if (r == 0)
        r = stop(l, first);
    if (r == 0 && !is_small(c)) {
        put_off(l, c);
        return 0;
    }
    for (size_t i = 1; r == 0 && i < c->n; i++)
        if (!c->v[i]->d->stop)
            r = stop(l, c->v[i]);
    family_free(c);
    return r;
}

int svc_lr_delete_family(struct svc_lr *l, struct svc_framework *first)
{
    struct svc_lr_family *c = NULL;
    int r = gather(l, first, true, &c);

    if (r < 0)
        return r;
    if (!is_small(c)) {
        put_off(l, c);
        return 0;
    }
    for (size_t i = c->n; i > 0; i--)
        forget(l, c->v[i - 1]);
    family_free(c);
    return 0;
}

void svc_lr_families_turn(struct svc_lr *l)
{
    struct svc_lr_family *c = l->families;

    if (!c)
        return;
    svc_lr_begin(l);
    if (go_on(l, c) == 0) {
        DL_DELETE(l->families, c);
        write_all(l);
        family_free(c);
    }
    if (svc_lr_commit(l) == 0 && l->families)
        l->world.soon(l->world.userdata);
}

void svc_lr_families_resume(struct svc_lr *l)
{
    const json_t *all = l->unfinished;
    size_t n = json_array_size(all);

    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(all, i);
        const char *name = json_string_value(json_array_get(one, 0));
        struct svc_framework *f = name ? svc_lr_find(&l->all, name) : NULL;
        struct svc_lr_family *c = NULL;

        if (f && !f->pending && gather(l, f, json_is_true(json_array_get(one, 1)), &c) == 0)
            begin(l, c);
    }
    json_decref(l->unfinished);
    l->unfinished = NULL;
}

void svc_lr_families_clear(struct svc_lr *l)
{
    struct svc_lr_family *c, *tmp;

    DL_FOREACH_SAFE (l->families, c, tmp)
        family_free(c);
    l->families = NULL;
    json_decref(l->unfinished);
    l->unfinished = NULL;
}
