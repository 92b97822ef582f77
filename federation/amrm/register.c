/* Registrations in several members as one; see fed_merge_registered() in merge.h. Hostile: the
 * answers. */
#include <errno.h>

#include "federation/amrm/list.h"
#include "federation/amrm/merge.h"

typedef Hadoop__Yarn__RegisterApplicationMasterResponseProto response_proto;

struct joined {
    struct fed_containers *containers;
    struct sv_arena *arena;
    struct fed_list list, tokens;
    struct fed_clash *clashes;
    size_t n_clashes;
};

static int take_container(struct joined *j, size_t member, const Hadoop__Yarn__ContainerProto *c)
{
    struct yarn_container_id id;
    enum fed_seen seen;
    int r;

    if (yarn_container_id_from(c->id, &id) < 0)
        return 0;
    r = fed_containers_live(j->containers, id, member, &seen);
    if (r < 0)
        return r;
    if (seen == FED_FRESH || seen == FED_REPEATED)
        return fed_list_add(j->arena, &j->list, c);
    j->clashes[j->n_clashes++] = (struct fed_clash){ member, c };
    return 0;
}

static int take_response(struct joined *j, const struct fed_reply *q)
{
    const response_proto *m = q->registration;
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->n_containers_from_previous_attempts; i++)
        r = take_container(j, q->member, m->containers_from_previous_attempts[i]);
    for (size_t i = 0; r == 0 && i < m->n_nm_tokens_from_previous_attempts; i++)
        r = fed_list_add(j->arena, &j->tokens, m->nm_tokens_from_previous_attempts[i]);
    return r;
}

static const response_proto *find_home(const struct fed_replies *replies)
{
    for (size_t i = 0; i < replies->n; i++)
        if (replies->v[i].registration && replies->v[i].member == replies->home)
            return replies->v[i].registration;
    return NULL;
}

static int join(struct joined *j, const struct fed_replies *replies)
{
    size_t n = 0;
    int r = 0;

    for (size_t i = 0; i < replies->n; i++)
        if (replies->v[i].registration)
            n += replies->v[i].registration->n_containers_from_previous_attempts;
    j->clashes = sv_newn(j->arena, struct fed_clash, n + 1);
    if (!j->clashes)
        return -ENOMEM;
    for (size_t i = 0; r == 0 && i < replies->n; i++)
        if (replies->v[i].registration)
            r = take_response(j, &replies->v[i]);
    return r;
}

static response_proto *make_response(const struct joined *j, const response_proto *home)
{
    response_proto *m = sv_new(j->arena, response_proto);

    if (!m)
        return NULL;
    *m = *home;
    m->containers_from_previous_attempts = (Hadoop__Yarn__ContainerProto **)j->list.v;
    m->n_containers_from_previous_attempts = j->list.n;
    m->nm_tokens_from_previous_attempts = (Hadoop__Yarn__NMTokenProto **)j->tokens.v;
    m->n_nm_tokens_from_previous_attempts = j->tokens.n;
    return m;
}

int fed_merge_registered(struct fed_merge *m, const struct fed_replies *replies, struct sv_arena *a,
                         struct fed_registered *ret)
{
    struct joined j = { .containers = fed_merge_containers(m), .arena = a };
    const response_proto *home = find_home(replies);
    struct fed_budget all = FED_BUDGET_ALL;
    response_proto *response = NULL;
    int r = home ? join(&j, replies) : -EINVAL;

    if (r == 0) {
        response = make_response(&j, home);
        r = response ? 0 : -ENOMEM;
    }
    if (r < 0) {
        fed_containers_undo(j.containers);
        return r;
    }
    (void)fed_containers_keep(j.containers, &all); /* there is no more, ignoring */
    *ret = (struct fed_registered){ response, j.clashes, j.n_clashes };
    return 0;
}
