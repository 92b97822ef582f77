/* An allocate request for each member; see split.h. Hostile: the request. */
#include "federation/amrm/split.h"

#include <errno.h>

#include "federation/amrm/list.h"

/* One list a member. All lists of one split have FED_PLACED_MAX entries at most. */
struct split {
    const struct fed_asking *in;
    struct sv_arena *arena;
    struct fed_part *parts;
    struct columns {
        struct fed_list releases, updates, barred, unbarred;
    } * columns; /* [n_targets] */
    size_t n_placed;
};

static int add(struct split *s, struct fed_list *l, const void *p)
{
    return s->n_placed++ < FED_PLACED_MAX ? fed_list_add(s->arena, l, p) : -E2BIG;
}

/* ---- Containers ---- */

static int put_releases(struct split *s, const Hadoop__Yarn__AllocateRequestProto *m,
                        fed_owner owner, void *userdata, struct fed_split_notes *notes)
{
    for (size_t i = 0; i < m->n_release; i++) {
        struct yarn_container_id id;
        int of = yarn_container_id_from(m->release[i], &id) == 0 ? owner(userdata, id) : -ENOENT;
        int r = 0;

        if (of < 0 || (size_t)of >= s->in->n_targets)
            notes->n_unowned++;
        else
            r = add(s, &s->columns[of].releases, m->release[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

static int put_updates(struct split *s, const Hadoop__Yarn__AllocateRequestProto *m,
                       fed_owner owner, void *userdata, struct fed_split_notes *notes)
{
    for (size_t i = 0; i < m->n_update_requests; i++) {
        const Hadoop__Yarn__ContainerIdProto *of_what = m->update_requests[i]->container_id;
        struct yarn_container_id id;
        int of = yarn_container_id_from(of_what, &id) == 0 ? owner(userdata, id) : -ENOENT;
        int r = 0;

        if (of < 0 || (size_t)of >= s->in->n_targets)
            notes->n_unowned++;
        else
            r = add(s, &s->columns[of].updates, m->update_requests[i]);
        if (r < 0)
            return r;
    }
    return 0;
}

/* ---- Blacklist ---- */

/* SIZE_MAX: the node is in no list, or its sub-cluster is no member. */
static size_t target_of_node(const struct split *s, const char *node)
{
    int number = fed_resolver_node(s->in->resolver, node);

    for (size_t t = 0; number >= 0 && t < s->in->n_targets; t++)
        if (strcmp(fed_resolver_id(s->in->resolver, (size_t)number), s->in->targets[t].id) == 0)
            return t;
    return SIZE_MAX;
}

static int put_names(struct split *s, char *const *names, size_t n, bool barred)
{
    for (size_t i = 0; i < n; i++) {
        size_t only = target_of_node(s, names[i]);

        for (size_t t = 0; t < s->in->n_targets; t++) {
            struct columns *c = &s->columns[t];
            int r = 0;

            if (only == SIZE_MAX || only == t)
                r = add(s, barred ? &c->barred : &c->unbarred, names[i]);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int put_blacklist(struct split *s, const Hadoop__Yarn__ResourceBlacklistRequestProto *b)
{
    int r = b ? put_names(s, b->blacklist_additions, b->n_blacklist_additions, true) : 0;

    return r == 0 && b ? put_names(s, b->blacklist_removals, b->n_blacklist_removals, false) : r;
}

/* ---- Messages ---- */

static int add_blacklist(struct split *s, const struct columns *c,
                         Hadoop__Yarn__AllocateRequestProto *q)
{
    Hadoop__Yarn__ResourceBlacklistRequestProto *b;

    if (c->barred.n == 0 && c->unbarred.n == 0)
        return 0;
    b = sv_new(s->arena, Hadoop__Yarn__ResourceBlacklistRequestProto);
    if (!b)
        return -ENOMEM;
    hadoop__yarn__resource_blacklist_request_proto__init(b);
    b->blacklist_additions = (char **)c->barred.v;
    b->n_blacklist_additions = c->barred.n;
    b->blacklist_removals = (char **)c->unbarred.v;
    b->n_blacklist_removals = c->unbarred.n;
    q->blacklist_request = b;
    return 0;
}

static int make_part(struct split *s, const Hadoop__Yarn__AllocateRequestProto *m, size_t target,
                     const struct fed_asks *asks)
{
    Hadoop__Yarn__AllocateRequestProto *q = sv_new(s->arena, Hadoop__Yarn__AllocateRequestProto);
    const struct columns *c = &s->columns[target];

    if (!q)
        return -ENOMEM;
    hadoop__yarn__allocate_request_proto__init(q);
    q->has_progress = m->has_progress;
    q->progress = m->progress;
    q->tracking_url = m->tracking_url;
    q->ask = asks->rows;
    q->n_ask = asks->n;
    q->release = (Hadoop__Yarn__ContainerIdProto **)c->releases.v;
    q->n_release = c->releases.n;
    q->update_requests = (Hadoop__Yarn__UpdateContainerRequestProto **)c->updates.v;
    q->n_update_requests = c->updates.n;
    if (target == s->in->home) {
        q->scheduling_requests = m->scheduling_requests;
        q->n_scheduling_requests = m->n_scheduling_requests;
    }
    s->parts[target] = (struct fed_part){ q, q->n_ask || q->n_scheduling_requests };
    return add_blacklist(s, c, q);
}

static int make_parts(struct split *s, const Hadoop__Yarn__AllocateRequestProto *m,
                      const struct fed_asks *asks)
{
    int r = 0;

    for (size_t t = 0; r == 0 && t < s->in->n_targets; t++)
        r = make_part(s, m, t, &asks[t]);
    return r;
}

static int split_lists(struct split *s, const Hadoop__Yarn__AllocateRequestProto *m,
                       fed_owner owner, void *userdata, struct fed_split_notes *notes)
{
    int r = put_releases(s, m, owner, userdata, notes);

    if (r == 0)
        r = put_updates(s, m, owner, userdata, notes);
    return r == 0 ? put_blacklist(s, m->blacklist_request) : r;
}

int fed_split(const struct fed_asking *in, const Hadoop__Yarn__AllocateRequestProto *m,
              fed_owner owner, void *userdata, struct sv_arena *a, struct fed_part *ret,
              struct fed_split_notes *ret_notes, struct sv_error *err)
{
    struct fed_asks *asks = sv_newn(a, struct fed_asks, in->n_targets + 1);
    struct split s = { in, a, ret, sv_newn(a, struct columns, in->n_targets + 1), 0 };
    struct fed_split_notes notes = { 0 };
    int r = asks && s.columns ? 0 : -ENOMEM;

    /* Without requests no policy is consulted: a master whose policy rejects them may release. */
    if (r == 0 && m->n_ask) {
        r = fed_asks_split(in, m->ask, m->n_ask, a, asks, err);
        if (r < 0)
            return r;
    }
    if (r == 0)
        r = split_lists(&s, m, owner, userdata, &notes);
    if (r == 0)
        r = make_parts(&s, m, asks);
    if (r == 0)
        *ret_notes = notes;
    else
        (void)sv_error_set(err, r, "allocate request: %s",
                           r == -E2BIG ? "it names too many nodes for the blacklist"
                                       : "out of memory");
    return r;
}
