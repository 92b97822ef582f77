/* See members.h. */
#include "router/members.h"

#include <errno.h>
#include <string.h>

int rtr_members_copy(struct sv_arena *a, const struct fed_answer *list, struct rtr_members *ret)
{
    struct rtr_members m = { .v = sv_newn(a, struct fed_member, list->n + 1),
                             .candidates = sv_newn(a, struct fed_candidate, list->n + 1) };

    if (!m.v || !m.candidates)
        return -ENOMEM;
    for (size_t i = 0; i < list->n; i++) {
        struct fed_member *v = &m.v[m.n];

        v->id = sv_arena_strdup(a, list->members[i].id);
        v->client = sv_arena_strdup(a, list->members[i].client);
        v->state = list->members[i].state;
        if (!v->id || !v->client)
            return -ENOMEM;
        m.candidates[m.n++] =
            (struct fed_candidate){ .id = v->id, .active = fed_state_active(v->state) };
        m.n_active += fed_state_active(v->state);
    }
    *ret = m;
    return 0;
}

int rtr_members_find(const struct rtr_members *m, const char *id)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->v[i].id, id) == 0)
            return (int)i;
    return -ENOENT;
}

int rtr_members_random(const struct rtr_members *m, const struct fed_random *random)
{
    size_t n = 0, nth;

    for (size_t i = 0; i < m->n; i++)
        n += m->candidates[i].active && !m->candidates[i].excluded;
    if (!n)
        return -EHOSTUNREACH;
    nth = random->below(random->userdata, n);
    for (size_t i = 0; i < m->n; i++)
        if (m->candidates[i].active && !m->candidates[i].excluded && nth-- == 0)
            return (int)i;
    return -EHOSTUNREACH;
}
