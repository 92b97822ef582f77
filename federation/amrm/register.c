/* Registrations in several members as one; see fed_join_begin() in merge.h. Hostile: the answers.
 */
#include <errno.h>

#include "federation/amrm/list.h"
#include "federation/amrm/merge.h"

typedef Hadoop__Yarn__RegisterApplicationMasterResponseProto response_proto;

enum { CONTAINERS, TOKENS, LISTS };

struct fed_joining {
    struct fed_containers *containers;
    const struct fed_replies *replies;
    const response_proto *home;
    struct sv_arena *arena;
    struct fed_list list, tokens;
    struct fed_clash *clashes;
    size_t n_clashes;
    size_t reply, row; /* the next ones */
    int at;            /* list */
};

static int take_container(struct fed_joining *j, size_t member,
                          const Hadoop__Yarn__ContainerProto *c)
{
    struct yarn_container_id id;
    enum fed_seen seen;
    int r;

    if (yarn_container_id_from(c->id, &id) < 0)
        return 0;
    r = j->replies->again ? fed_containers_has(j->containers, id, member, &seen)
                          : fed_containers_live(j->containers, id, member, &seen);
    if (r < 0)
        return r;
    if (seen == FED_FRESH || seen == FED_REPEATED)
        return j->replies->again ? 0 : fed_list_add(j->arena, &j->list, c);
    j->clashes[j->n_clashes++] = (struct fed_clash){ member, c };
    return 0;
}

static int take_response(struct fed_joining *j, size_t member, const response_proto *m,
                         struct fed_budget *b)
{
    for (; j->at < LISTS; j->at++, j->row = 0) {
        size_t n = j->at == CONTAINERS ? m->n_containers_from_previous_attempts
                                       : m->n_nm_tokens_from_previous_attempts;

        for (; j->row < n; j->row++) {
            int r;

            if (fed_spent(b))
                return FED_MORE;
            r = j->at == CONTAINERS
                    ? take_container(j, member, m->containers_from_previous_attempts[j->row])
                    : fed_list_add(j->arena, &j->tokens,
                                   m->nm_tokens_from_previous_attempts[j->row]);
            if (r < 0)
                return r;
            fed_spend(b, 1);
        }
    }
    j->at = CONTAINERS;
    return 0;
}

static const response_proto *find_home(const struct fed_replies *replies)
{
    for (size_t i = 0; i < replies->n; i++)
        if (replies->v[i].registration && replies->v[i].member == replies->home)
            return replies->v[i].registration;
    return NULL;
}

static response_proto *make_response(const struct fed_joining *j)
{
    response_proto *m = sv_new(j->arena, response_proto);

    if (!m)
        return NULL;
    *m = *j->home;
    m->containers_from_previous_attempts = (Hadoop__Yarn__ContainerProto **)j->list.v;
    m->n_containers_from_previous_attempts = j->list.n;
    m->nm_tokens_from_previous_attempts = (Hadoop__Yarn__NMTokenProto **)j->tokens.v;
    m->n_nm_tokens_from_previous_attempts = j->tokens.n;
    return m;
}

int fed_join_begin(struct fed_merge *m, const struct fed_replies *replies, struct sv_arena *a,
                   struct fed_joining **ret)
{
    struct fed_joining *j = sv_new(a, struct fed_joining);
    size_t n = 0;

    if (!j)
        return -ENOMEM;
    for (size_t i = 0; i < replies->n; i++)
        if (replies->v[i].registration)
            n += replies->v[i].registration->n_containers_from_previous_attempts;
    *j = (struct fed_joining){ .containers = fed_merge_containers(m),
                               .replies = replies,
                               .home = find_home(replies),
                               .arena = a,
                               .clashes = sv_newn(a, struct fed_clash, n + 1) };
    if (!j->home)
        return -EINVAL;
    if (!j->clashes)
        return -ENOMEM;
    *ret = j;
    return 0;
}

static int run(struct fed_joining *j, struct fed_budget *b)
{
    for (; j->reply < j->replies->n; j->reply++) {
        const struct fed_reply *q = &j->replies->v[j->reply];
        int r = q->registration ? take_response(j, q->member, q->registration, b) : 0;

        if (r != 0)
            return r;
    }
    return 0;
}

int fed_join_run(struct fed_joining *j, struct fed_budget *b, struct fed_registered *ret)
{
    response_proto *response = NULL;
    int r = run(j, b);

    if (r == 0) {
        response = make_response(j);
        r = response ? 0 : -ENOMEM;
    }
    if (r < 0)
        fed_containers_undo(j->containers);
    else if (r == 0)
        *ret = (struct fed_registered){ response, j->clashes, j->n_clashes };
    return r;
}

int fed_merge_registered(struct fed_merge *m, const struct fed_replies *replies, struct sv_arena *a,
                         struct fed_registered *ret)
{
    struct fed_budget all = FED_BUDGET_ALL;
    struct fed_joining *j;
    int r = fed_join_begin(m, replies, a, &j);

    if (r == 0)
        r = fed_join_run(j, &all, ret);
    return r == 0 ? fed_merge_keep(m, &all) : r;
}
