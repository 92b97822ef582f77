/* An allocate request for each member; see split.h. Hostile: the request. */
#include "federation/amrm/split.h"

#include <errno.h>

#include "federation/amrm/list.h"
#include "federation/amrm/target-index.h"

typedef Hadoop__Yarn__AllocateRequestProto request_proto;

/* Lists of the request, in this order; then the parts are made. */
enum { ASKS, RELEASES, UPDATES, BARRED, UNBARRED, PARTS, LISTS };

/* One list a member. All lists of one split have FED_PLACED_MAX entries at most. */
struct fed_split {
    struct fed_asking in;
    const request_proto *m;
    fed_owner owner;
    void *userdata;
    struct sv_arena *arena;
    struct fed_target_index index;
    struct fed_asks_split *asking; /* NULL: nothing is requested */
    struct fed_asks *asks;         /* [n_targets] */
    struct columns {
        struct fed_list releases, updates, barred, unbarred;
    } * columns; /* [n_targets] */
    size_t n_placed;
    struct fed_split_notes notes;
    int list;
    size_t at;
};

static int add(struct fed_split *s, struct fed_list *l, const void *p)
{
    return s->n_placed++ < FED_PLACED_MAX ? fed_list_add(s->arena, l, p) : -E2BIG;
}

/* ---- Containers ---- */

/* SIZE_MAX: no member has it. */
static size_t target_of_container(struct fed_split *s, const Hadoop__Yarn__ContainerIdProto *m)
{
    struct yarn_container_id id;
    int of = yarn_container_id_from(m, &id) == 0 ? s->owner(s->userdata, id) : -ENOENT;

    return of < 0 || (size_t)of >= s->in.n_targets ? SIZE_MAX : (size_t)of;
}

static int put_release(struct fed_split *s, size_t i)
{
    size_t target = target_of_container(s, s->m->release[i]);

    s->notes.n_unowned += target == SIZE_MAX;
    return target == SIZE_MAX ? 0 : add(s, &s->columns[target].releases, s->m->release[i]);
}

static int put_update(struct fed_split *s, size_t i)
{
    size_t target = target_of_container(s, s->m->update_requests[i]->container_id);

    s->notes.n_unowned += target == SIZE_MAX;
    return target == SIZE_MAX ? 0 : add(s, &s->columns[target].updates, s->m->update_requests[i]);
}

/* ---- Blacklist ---- */

/* SIZE_MAX: the node is in no list, or its sub-cluster is no member. */
static size_t target_of_node(const struct fed_split *s, const char *node)
{
    int number = fed_resolver_node(s->in.resolver, node);

    return number < 0 ? SIZE_MAX
                      : fed_target_find(&s->index, fed_resolver_id(s->in.resolver, (size_t)number));
}

static int put_name(struct fed_split *s, const char *name, bool barred)
{
    size_t only = target_of_node(s, name);
    int r = 0;

    if (only != SIZE_MAX)
        return add(s, barred ? &s->columns[only].barred : &s->columns[only].unbarred, name);
    for (size_t t = 0; r == 0 && t < s->in.n_targets; t++)
        r = add(s, barred ? &s->columns[t].barred : &s->columns[t].unbarred, name);
    return r;
}

/* ---- Messages ---- */

static int add_blacklist(struct fed_split *s, const struct columns *c, request_proto *q)
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

static int make_part(struct fed_split *s, size_t target, struct fed_part *ret)
{
    request_proto *q = sv_new(s->arena, request_proto);
    const struct columns *c = &s->columns[target];

    if (!q)
        return -ENOMEM;
    hadoop__yarn__allocate_request_proto__init(q);
    q->has_progress = s->m->has_progress;
    q->progress = s->m->progress;
    q->tracking_url = s->m->tracking_url;
    q->ask = s->asks[target].rows;
    q->n_ask = s->asks[target].n;
    q->release = (Hadoop__Yarn__ContainerIdProto **)c->releases.v;
    q->n_release = c->releases.n;
    q->update_requests = (Hadoop__Yarn__UpdateContainerRequestProto **)c->updates.v;
    q->n_update_requests = c->updates.n;
    if (target == s->in.home) {
        q->scheduling_requests = s->m->scheduling_requests;
        q->n_scheduling_requests = s->m->n_scheduling_requests;
    }
    *ret = (struct fed_part){ q, q->n_ask || q->n_scheduling_requests };
    return add_blacklist(s, c, q);
}

/* ---- In turn ---- */

static size_t count_list(const struct fed_split *s)
{
    const Hadoop__Yarn__ResourceBlacklistRequestProto *b = s->m->blacklist_request;

    switch (s->list) {
    case RELEASES:
        return s->m->n_release;
    case UPDATES:
        return s->m->n_update_requests;
    case BARRED:
        return b ? b->n_blacklist_additions : 0;
    case UNBARRED:
        return b ? b->n_blacklist_removals : 0;
    case PARTS:
        return s->in.n_targets;
    default: /* the policy's */
        return 0;
    }
}

static int put_one(struct fed_split *s, struct fed_part *ret)
{
    switch (s->list) {
    case RELEASES:
        return put_release(s, s->at);
    case UPDATES:
        return put_update(s, s->at);
    case BARRED:
        return put_name(s, s->m->blacklist_request->blacklist_additions[s->at], true);
    case UNBARRED:
        return put_name(s, s->m->blacklist_request->blacklist_removals[s->at], false);
    default:
        return make_part(s, s->at, &ret[s->at]);
    }
}

static int run_lists(struct fed_split *s, struct fed_budget *b, struct fed_part *ret)
{
    for (; s->list < LISTS; s->list++, s->at = 0)
        for (size_t n = count_list(s); s->at < n; s->at++) {
            size_t before = s->n_placed;
            int r;

            if (fed_spent(b))
                return FED_MORE;
            r = put_one(s, ret);
            if (r < 0)
                return r;
            fed_spend(b, 1 + s->n_placed - before);
        }
    return 0;
}

static int out_of_memory(struct sv_error *err)
{
    return sv_error_set(err, -ENOMEM, "allocate request: out of memory");
}

int fed_split_begin(const struct fed_splitting_of *of, struct fed_split **ret, struct sv_error *err)
{
    struct fed_split *s = sv_new(of->arena, struct fed_split);
    int r = 0;

    if (!s)
        return out_of_memory(err);
    *s = (struct fed_split){
        .in = *of->in, .m = of->m, .owner = of->owner, .userdata = of->userdata, .arena = of->arena
    };
    s->in.manager = NULL; /* its policy's is a copy */
    s->asks = sv_newn(of->arena, struct fed_asks, of->in->n_targets + 1);
    s->columns = sv_newn(of->arena, struct columns, of->in->n_targets + 1);
    if (!s->asks || !s->columns || fed_target_index_make(&s->in, of->arena, &s->index) < 0)
        return out_of_memory(err);
    /* Without requests no policy is consulted: a master whose policy rejects them may release. */
    if (of->m->n_ask)
        r = fed_asks_begin(of->in, of->m->ask, of->m->n_ask, of->arena, &s->asking, err);
    if (r == 0)
        *ret = s;
    return r;
}

int fed_split_run(struct fed_split *s, struct fed_budget *b, struct fed_part *ret,
                  struct fed_split_notes *ret_notes, struct sv_error *err)
{
    int r = s->asking && s->list == ASKS ? fed_asks_run(s->asking, b, s->asks, err) : 0;

    if (r != 0)
        return r;
    if (s->list == ASKS)
        s->list++;
    r = run_lists(s, b, ret);
    if (r == 0)
        *ret_notes = s->notes;
    else if (r == -E2BIG)
        (void)sv_error_set(err, r, "allocate request: it names too many nodes for the blacklist");
    else if (r < 0)
        (void)out_of_memory(err);
    return r;
}

struct fed_split *fed_split_end(struct fed_split *s)
{
    if (s)
        fed_asks_end(s->asking);
    return NULL;
}

int fed_split(const struct fed_asking *in, const request_proto *m, fed_owner owner, void *userdata,
              struct sv_arena *a, struct fed_part *ret, struct fed_split_notes *ret_notes,
              struct sv_error *err)
{
    const struct fed_splitting_of of = { in, m, owner, userdata, a };
    struct fed_budget all = FED_BUDGET_ALL;
    struct fed_split *s = NULL;
    int r = fed_split_begin(&of, &s, err);

    if (r == 0)
        r = fed_split_run(s, &all, ret, ret_notes, err);
    fed_split_end(s);
    return r;
}
