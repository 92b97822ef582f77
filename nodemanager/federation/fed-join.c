/* The master's registration in turns of the loop: the home's answer for the record, and with what
 * other members said when their masters were attached. See fed-attempt.h. Hostile: the answers. */
#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "nodemanager/federation/fed-attempt.h"

static uint8_t *take_packed(struct nm_fed_work *w, size_t *ret_n)
{
    uint8_t *p = w->packed.data ?: calloc(1, 1);

    *ret_n = w->packed.len;
    w->packed = (struct sv_buf){ 0 };
    return p;
}

static const struct nm_fed_reply *find_home(const struct nm_fed *f)
{
    const struct nm_fed_reply *r;

    DL_FOREACH (f->registrations, r)
        if (r->member == NM_FED_HOME)
            return r;
    return NULL;
}

int nm_fed_pack_home(struct nm_fed *f, struct fed_budget *b)
{
    struct nm_fed_work *w = &f->work;
    const struct nm_fed_reply *home = find_home(f);
    int r;

    if (!home)
        return -EINVAL;
    if (!w->writing.m)
        nm_fed_write(f, &home->registration->base);
    r = ipc_writing_run(&w->writing, &b->rows);
    if (r != 0)
        return r;
    f->home_response = take_packed(w, &f->n_home_response);
    w->writing = (struct ipc_writing){ 0 };
    return f->home_response ? 0 : -ENOMEM;
}

static int begin(struct nm_fed *f)
{
    struct nm_fed_work *w = &f->work;
    struct nm_fed_reply *r;
    struct fed_reply *v;
    int count;

    DL_COUNT(f->registrations, r, count);
    v = sv_newn(w->arena, struct fed_reply, (size_t)count + 1);
    if (!v)
        return -ENOMEM;
    w->replies = (struct fed_replies){ .v = v, .home = NM_FED_HOME, .again = f->resyncing };
    DL_FOREACH (f->registrations, r)
        v[w->replies.n++] =
            (struct fed_reply){ .member = r->member, .registration = r->registration };
    return fed_join_begin(f->merge, &w->replies, w->arena, &w->joining);
}

int nm_fed_join(struct nm_fed *f, struct fed_budget *b)
{
    struct nm_fed_work *w = &f->work;
    int r = w->joining ? 0 : begin(f);

    if (r == 0)
        r = fed_join_run(w->joining, b, &w->joined);
    if (r == 0)
        nm_fed_write(f, &w->joined.response->base);
    return r;
}

int nm_fed_take_joined(struct nm_fed *f)
{
    const char *queue = f->work.joined.response->queue;
    uint8_t *packed;
    size_t n;

    if (!f->app.queue)
        f->app.queue = sv_arena_strdup(f->arena, queue && *queue ? queue : "default");
    packed = f->app.queue ? take_packed(&f->work, &n) : NULL;
    if (!packed)
        return -ENOMEM;
    free(f->response);
    f->response = packed;
    f->n_response = n;
    nm_fed_replies_free(&f->registrations);
    return 0;
}
