/* One answer out of many; see merge.h. Hostile: the answers. */
#include "federation/amrm/merge.h"

#include "federation/amrm/list.h"
#include "federation/amrm/preempt.h"
#include "federation/store/store.h"

struct fed_merge {
    struct fed_containers *containers;
    struct fed_figures figures;
};

/* The answer in the making. */
struct joined {
    struct fed_merge *m;
    struct sv_arena *arena;
    size_t home;
    struct fed_list allocated, previous, completed, updated, update_errors, nodes, tokens, rejected;
    struct fed_list clashes;
    struct fed_preempt preempt;
    struct fed_merged counts;
    Hadoop__Yarn__AllocateResponseProto home_says; /* its fields that are not lists */
};

struct fed_merge *fed_merge_new(struct yarn_app_id app)
{
    struct fed_merge *m = calloc(1, sizeof(*m));

    if (m)
        m->containers = fed_containers_new(app);
    return m && m->containers ? m : fed_merge_free(m);
}

struct fed_merge *fed_merge_free(struct fed_merge *m)
{
    if (m) {
        fed_containers_free(m->containers);
        fed_figures_clear(&m->figures);
    }
    free(m);
    return NULL;
}

struct fed_containers *fed_merge_containers(struct fed_merge *m)
{
    return m->containers;
}

const struct fed_figure *fed_merge_figure(const struct fed_merge *m, size_t member)
{
    return fed_figures_of(&m->figures, member);
}

void fed_merge_forget(struct fed_merge *m, size_t member)
{
    fed_figures_drop(&m->figures, member);
}

/* ---- Containers ---- */

/* Another member has a container of this id, or there are too many: it must not stay allocated. */
static int put_clash(struct joined *j, size_t member, const Hadoop__Yarn__ContainerProto *container)
{
    struct fed_clash *c = sv_new(j->arena, struct fed_clash);

    if (!c)
        return -ENOMEM;
    *c = (struct fed_clash){ member, container };
    return fed_list_add(j->arena, &j->clashes, c);
}

static int take_container(struct joined *j, size_t member, struct fed_list *to,
                          const Hadoop__Yarn__ContainerProto *container)
{
    struct yarn_container_id id;
    enum fed_seen seen;
    int r;

    if (yarn_container_id_from(container->id, &id) < 0) {
        j->counts.n_broken++;
        return 0;
    }
    r = fed_containers_live(j->m->containers, id, member, &seen);
    if (r < 0)
        return r;
    switch (seen) {
    case FED_FRESH:
        return fed_list_add(j->arena, to, container);
    case FED_REPEATED:
        j->counts.n_repeated++;
        return 0;
    case FED_FOREIGN:
        j->counts.n_foreign++;
        break;
    case FED_FULL:
        break;
    }
    return put_clash(j, member, container);
}

static int take_containers(struct joined *j, size_t member, struct fed_list *to,
                           Hadoop__Yarn__ContainerProto *const *list, size_t n)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        r = take_container(j, member, to, list[i]);
    return r;
}

static int take_completed(struct joined *j, size_t member,
                          const Hadoop__Yarn__AllocateResponseProto *m)
{
    for (size_t i = 0; i < m->n_completed_container_statuses; i++) {
        Hadoop__Yarn__ContainerStatusProto *status = m->completed_container_statuses[i];
        struct yarn_container_id id;
        enum fed_seen seen;
        int r;

        if (yarn_container_id_from(status->container_id, &id) < 0) {
            j->counts.n_broken++;
            continue;
        }
        r = fed_containers_end(j->m->containers, id, member, &seen);
        if (r == 0 && seen == FED_FRESH)
            r = fed_list_add(j->arena, &j->completed, status);
        if (r < 0)
            return r;
        j->counts.n_repeated += seen == FED_REPEATED;
        j->counts.n_foreign += seen == FED_FOREIGN;
    }
    return 0;
}

/* Adds `p` if the member may speak of the container. */
static int take_word(struct joined *j, size_t member, struct fed_list *to, const void *p,
                     const Hadoop__Yarn__ContainerIdProto *about)
{
    struct yarn_container_id id;

    if (yarn_container_id_from(about, &id) < 0) {
        j->counts.n_broken++;
        return 0;
    }
    if (fed_containers_may(j->m->containers, id, member))
        return fed_list_add(j->arena, to, p);
    j->counts.n_foreign++;
    return 0;
}

static int take_updates(struct joined *j, size_t member,
                        const Hadoop__Yarn__AllocateResponseProto *m)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->n_updated_containers; i++)
        r = take_word(j, member, &j->updated, m->updated_containers[i],
                      m->updated_containers[i]->container->id);
    for (size_t i = 0; r == 0 && i < m->n_update_errors; i++) {
        const Hadoop__Yarn__UpdateContainerRequestProto *q = m->update_errors[i]->update_request;

        r = take_word(j, member, &j->update_errors, m->update_errors[i],
                      q ? q->container_id : NULL);
    }
    return r;
}

/* ---- Answers ---- */

static int take_all(struct joined *j, struct fed_list *to, const void *list, size_t n)
{
    void *const *v = list;
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        r = fed_list_add(j->arena, to, v[i]);
    return r;
}

/* A later answer overrides what it says itself. */
static void take_home(Hadoop__Yarn__AllocateResponseProto *to,
                      const Hadoop__Yarn__AllocateResponseProto *m)
{
    if (m->has_a_m_command) {
        to->has_a_m_command = true;
        to->a_m_command = m->a_m_command;
    }
    if (m->application_priority)
        to->application_priority = m->application_priority;
    if (m->collector_info)
        to->collector_info = m->collector_info;
}

static int take_answer(struct joined *j, size_t member,
                       const Hadoop__Yarn__AllocateResponseProto *m)
{
    int r = take_containers(j, member, &j->allocated, m->allocated_containers,
                            m->n_allocated_containers);

    if (member == j->home)
        take_home(&j->home_says, m);
    if (r == 0)
        r = take_containers(j, member, &j->previous, m->containers_from_previous_attempts,
                            m->n_containers_from_previous_attempts);
    if (r == 0)
        r = take_updates(j, member, m);
    if (r == 0)
        r = fed_preempt_take(&j->preempt, j->m->containers, member, m->preempt, j->arena,
                             &j->counts.n_foreign);
    if (r == 0)
        r = take_completed(j, member, m);
    if (r == 0)
        r = take_all(j, &j->nodes, m->updated_nodes, m->n_updated_nodes);
    if (r == 0)
        r = take_all(j, &j->tokens, m->nm_tokens, m->n_nm_tokens);
    return r == 0 ? take_all(j, &j->rejected, m->rejected_scheduling_requests,
                             m->n_rejected_scheduling_requests)
                  : r;
}

/* A master that registers again in a member learns what it has there: as new containers. */
static int take_registration(struct joined *j, size_t member,
                             const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m)
{
    int r = take_containers(j, member, &j->allocated, m->containers_from_previous_attempts,
                            m->n_containers_from_previous_attempts);

    return r == 0 ? take_all(j, &j->tokens, m->nm_tokens_from_previous_attempts,
                             m->n_nm_tokens_from_previous_attempts)
                  : r;
}

static int take_reply(struct joined *j, const struct fed_reply *q)
{
    if (q->registration)
        return take_registration(j, q->member, q->registration);
    return take_answer(j, q->member, q->answer);
}

static int take_figures(struct fed_merge *m, const struct fed_replies *replies)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < replies->n; i++)
        if (replies->v[i].answer)
            r = fed_figures_take(&m->figures, replies->v[i].member, replies->v[i].answer);
    return r;
}

/* ---- The result ---- */

#define SET(message, field, type, list)                                                            \
    ((message)->field = (type **)(list).v, (message)->n_##field = (list).n)

static void set_lists(const struct joined *j, Hadoop__Yarn__AllocateResponseProto *m)
{
    SET(m, allocated_containers, Hadoop__Yarn__ContainerProto, j->allocated);
    SET(m, containers_from_previous_attempts, Hadoop__Yarn__ContainerProto, j->previous);
    SET(m, completed_container_statuses, Hadoop__Yarn__ContainerStatusProto, j->completed);
    SET(m, updated_containers, Hadoop__Yarn__UpdatedContainerProto, j->updated);
    SET(m, update_errors, Hadoop__Yarn__UpdateContainerErrorProto, j->update_errors);
    SET(m, updated_nodes, Hadoop__Yarn__NodeReportProto, j->nodes);
    SET(m, nm_tokens, Hadoop__Yarn__NMTokenProto, j->tokens);
    SET(m, rejected_scheduling_requests, Hadoop__Yarn__RejectedSchedulingRequestProto, j->rejected);
}

static int make_clashes(struct joined *j, struct fed_merged *ret)
{
    struct fed_clash *v = sv_newn(j->arena, struct fed_clash, j->clashes.n + 1);

    if (!v)
        return -ENOMEM;
    for (size_t i = 0; i < j->clashes.n; i++)
        v[i] = *(const struct fed_clash *)j->clashes.v[i];
    ret->clashes = v;
    ret->n_clashes = j->clashes.n;
    return 0;
}

static int make_answer(struct joined *j, const struct fed_replies *replies, struct fed_merged *ret)
{
    Hadoop__Yarn__AllocateResponseProto *m = sv_new(j->arena, Hadoop__Yarn__AllocateResponseProto);
    int r;

    if (!m)
        return -ENOMEM;
    hadoop__yarn__allocate_response_proto__init(m);
    set_lists(j, m);
    take_home(m, &j->home_says);
    ret->answer = m;
    r = fed_preempt_make(&j->preempt, j->arena, &m->preempt);
    if (r == 0)
        r = fed_figures_put(&j->m->figures, replies->silent, replies->n_silent, j->arena, m);
    return r == 0 ? make_clashes(j, ret) : r;
}

int fed_merge(struct fed_merge *m, const struct fed_replies *replies, struct sv_arena *a,
              struct fed_merged *ret)
{
    struct joined j = { .m = m, .arena = a, .home = replies->home };
    int r = take_figures(m, replies);

    for (size_t i = 0; r == 0 && i < replies->n; i++)
        r = take_reply(&j, &replies->v[i]);
    if (r == 0)
        r = make_answer(&j, replies, &j.counts);
    if (r < 0) {
        fed_containers_undo(m->containers);
        return r;
    }
    fed_containers_keep(m->containers);
    *ret = j.counts;
    return 0;
}
