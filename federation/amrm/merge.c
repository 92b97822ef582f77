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
struct fed_merging {
    struct fed_merge *m;
    const struct fed_replies *replies;
    struct sv_arena *arena;
    struct fed_list allocated, previous, completed, updated, update_errors, nodes, tokens, rejected;
    struct fed_list clashes;
    struct fed_preempt preempt;
    struct fed_merged counts;
    Hadoop__Yarn__AllocateResponseProto home_says; /* its fields that are not lists */
    size_t reply, row;                             /* the next ones */
    int list;
    const void *lost; /* the last one of a member's lost containers */
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

int fed_merge_leave(void *merge, struct fed_budget *b)
{
    struct fed_merge *m = merge;

    if (fed_containers_leave(m->containers, b) == FED_MORE)
        return FED_MORE;
    fed_merge_free(m);
    return 0;
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
static int put_clash(struct fed_merging *j, size_t member,
                     const Hadoop__Yarn__ContainerProto *container)
{
    struct fed_clash *c = sv_new(j->arena, struct fed_clash);

    if (!c)
        return -ENOMEM;
    *c = (struct fed_clash){ member, container };
    return fed_list_add(j->arena, &j->clashes, c);
}

static int take_container(struct fed_merging *j, size_t member, struct fed_list *to,
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

static int take_completed(struct fed_merging *j, size_t member,
                          const Hadoop__Yarn__ContainerStatusProto *status)
{
    struct yarn_container_id id;
    enum fed_seen seen;
    int r;

    if (yarn_container_id_from(status->container_id, &id) < 0) {
        j->counts.n_broken++;
        return 0;
    }
    r = fed_containers_end(j->m->containers, id, member, &seen);
    if (r == 0 && seen == FED_FRESH)
        r = fed_list_add(j->arena, &j->completed, status);
    if (r < 0)
        return r;
    j->counts.n_repeated += seen == FED_REPEATED;
    j->counts.n_foreign += seen == FED_FOREIGN;
    return 0;
}

/* Adds `p` if the member may speak of the container. */
static int take_word(struct fed_merging *j, size_t member, struct fed_list *to, const void *p,
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

/* ---- Answers ---- */

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

enum answer_list {
    HEAD,
    ALLOCATED,
    PREVIOUS,
    UPDATED,
    UPDATE_ERRORS,
    PREEMPT,
    COMPLETED,
    NODES,
    TOKENS,
    REJECTED,
    LISTS
};

static size_t count_answer(const Hadoop__Yarn__AllocateResponseProto *m, int list)
{
    switch (list) {
    case ALLOCATED:
        return m->n_allocated_containers;
    case PREVIOUS:
        return m->n_containers_from_previous_attempts;
    case UPDATED:
        return m->n_updated_containers;
    case UPDATE_ERRORS:
        return m->n_update_errors;
    case COMPLETED:
        return m->n_completed_container_statuses;
    case NODES:
        return m->n_updated_nodes;
    case TOKENS:
        return m->n_nm_tokens;
    case REJECTED:
        return m->n_rejected_scheduling_requests;
    default: /* HEAD, PREEMPT */
        return 1;
    }
}

static int take_head(struct fed_merging *j, size_t member,
                     const Hadoop__Yarn__AllocateResponseProto *m)
{
    if (member == j->replies->home)
        take_home(&j->home_says, m);
    return 0;
}

static int take_answer(struct fed_merging *j, size_t member,
                       const Hadoop__Yarn__AllocateResponseProto *m, int list, size_t i)
{
    const Hadoop__Yarn__UpdateContainerRequestProto *q;

    switch (list) {
    case HEAD:
        return take_head(j, member, m);
    case ALLOCATED:
        return take_container(j, member, &j->allocated, m->allocated_containers[i]);
    case PREVIOUS:
        return take_container(j, member, &j->previous, m->containers_from_previous_attempts[i]);
    case UPDATED:
        return take_word(j, member, &j->updated, m->updated_containers[i],
                         m->updated_containers[i]->container->id);
    case UPDATE_ERRORS:
        q = m->update_errors[i]->update_request;
        return take_word(j, member, &j->update_errors, m->update_errors[i],
                         q ? q->container_id : NULL);
    case PREEMPT:
        return fed_preempt_take(&j->preempt, j->m->containers, member, m->preempt, j->arena,
                                &j->counts.n_foreign);
    case COMPLETED:
        return take_completed(j, member, m->completed_container_statuses[i]);
    case NODES:
        return fed_list_add(j->arena, &j->nodes, m->updated_nodes[i]);
    case TOKENS:
        return fed_list_add(j->arena, &j->tokens, m->nm_tokens[i]);
    default:
        return fed_list_add(j->arena, &j->rejected, m->rejected_scheduling_requests[i]);
    }
}

/* A master that registers again in a member learns what it has there: as new containers, but for
 * those that are known. Of these it was told, or will be once the member allocates them. */
static size_t count_registration(const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                                 int list)
{
    return list == ALLOCATED ? m->n_containers_from_previous_attempts
           : list == TOKENS  ? m->n_nm_tokens_from_previous_attempts
                             : 0;
}

static int take_registration(struct fed_merging *j, size_t member,
                             const Hadoop__Yarn__RegisterApplicationMasterResponseProto *m,
                             int list, size_t i)
{
    const Hadoop__Yarn__ContainerProto *c;
    struct yarn_container_id id;

    if (list == TOKENS)
        return fed_list_add(j->arena, &j->tokens, m->nm_tokens_from_previous_attempts[i]);
    c = m->containers_from_previous_attempts[i];
    if (yarn_container_id_from(c->id, &id) >= 0 &&
        fed_containers_owner(j->m->containers, id) == (int)member) {
        j->counts.n_repeated++;
        return 0;
    }
    return take_container(j, member, &j->allocated, c);
}

/* ---- Lost containers ---- */

#define ABORTED (-100) /* ContainerExitStatus */

static int put_lost(struct fed_merging *j, size_t member, struct yarn_container_id id,
                    const char *why)
{
    Hadoop__Yarn__ContainerStatusProto *s = sv_new(j->arena, Hadoop__Yarn__ContainerStatusProto);

    if (!s)
        return -ENOMEM;
    hadoop__yarn__container_status_proto__init(s);
    s->container_id = yarn_container_id_to(j->arena, id);
    s->has_state = s->has_exit_status = true;
    s->state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE;
    s->exit_status = ABORTED;
    s->diagnostics = (char *)(uintptr_t)why;
    return s->container_id ? take_completed(j, member, s) : -ENOMEM;
}

static int take_lost(struct fed_merging *j, const struct fed_reply *q, struct fed_budget *b)
{
    const void *at = j->lost;
    struct yarn_container_id id;

    while (fed_containers_next(j->m->containers, q->member, &at, &id)) {
        int r;

        if (fed_spent(b))
            return FED_MORE;
        r = put_lost(j, q->member, id, q->lost);
        if (r < 0)
            return r;
        j->lost = at;
        fed_spend(b, 1);
    }
    j->lost = NULL;
    return 0;
}

/* ---- In turn ---- */

static int take_row(struct fed_merging *j, const struct fed_reply *q)
{
    return q->answer ? take_answer(j, q->member, q->answer, j->list, j->row)
                     : take_registration(j, q->member, q->registration, j->list, j->row);
}

static int take_reply(struct fed_merging *j, const struct fed_reply *q, struct fed_budget *b)
{
    if (q->lost)
        return take_lost(j, q, b);
    for (; j->list < LISTS; j->list++, j->row = 0) {
        size_t n = q->answer ? count_answer(q->answer, j->list)
                             : count_registration(q->registration, j->list);

        for (; j->row < n; j->row++) {
            int r;

            if (fed_spent(b))
                return FED_MORE;
            r = take_row(j, q);
            if (r < 0)
                return r;
            if (j->list != HEAD && j->list != PREEMPT)
                fed_spend(b, 1);
        }
    }
    return 0;
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

static void set_lists(const struct fed_merging *j, Hadoop__Yarn__AllocateResponseProto *m)
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

static int make_clashes(struct fed_merging *j, struct fed_merged *ret)
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

static int make_answer(struct fed_merging *j, const struct fed_replies *replies,
                       struct fed_merged *ret)
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

int fed_merge_begin(struct fed_merge *m, const struct fed_replies *replies, struct sv_arena *a,
                    struct fed_merging **ret)
{
    struct fed_merging *j = sv_new(a, struct fed_merging);
    int r = j ? take_figures(m, replies) : -ENOMEM;

    if (r < 0)
        return r;
    *j = (struct fed_merging){ .m = m, .arena = a, .replies = replies };
    *ret = j;
    return 0;
}

int fed_merge_run(struct fed_merging *j, struct fed_budget *b, struct fed_merged *ret)
{
    int r = 0;

    for (; r == 0 && j->reply < j->replies->n; j->reply += r == 0) {
        r = take_reply(j, &j->replies->v[j->reply], b);
        if (r == 0) {
            j->list = HEAD;
            j->row = 0;
        }
    }
    if (r == 0)
        r = make_answer(j, j->replies, &j->counts);
    if (r < 0)
        fed_containers_undo(j->m->containers);
    else if (r == 0)
        *ret = j->counts;
    return r;
}

int fed_merge_keep(struct fed_merge *m, struct fed_budget *b)
{
    return fed_containers_keep(m->containers, b);
}

void fed_merge_undo(struct fed_merge *m)
{
    fed_containers_undo(m->containers);
}

int fed_merge(struct fed_merge *m, const struct fed_replies *replies, struct sv_arena *a,
              struct fed_merged *ret)
{
    struct fed_budget all = FED_BUDGET_ALL;
    struct fed_merging *j;
    int r = fed_merge_begin(m, replies, a, &j);

    if (r == 0)
        r = fed_merge_run(j, &all, ret);
    return r == 0 ? fed_merge_keep(m, &all) : r;
}
