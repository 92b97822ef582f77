/* See am-updates.h. Hadoop: RMServerUtils.validateAndSplitUpdateResourceRequests, whose words are
 * used where it has some; it leaves some requests without an answer, for which a master would wait
 * for ever. */
#include "rm-lite/am/am-updates.h"

#include "rm-lite/am/am-session.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/scheduler/resource-types.h"
#include "wire/ipc/methods.h"

#define UPDATE(x) HADOOP__YARN__CONTAINER_UPDATE_TYPE_PROTO__##x
#define TYPE(x) HADOOP__YARN__EXECUTION_TYPE_PROTO__##x

#define OUT_OF_RANGE "RESOURCE_OUTSIDE_ALLOWED_RANGE"
#define OUTSTANDING "UPDATE_OUTSTANDING_ERROR"

typedef Hadoop__Yarn__UpdateContainerRequestProto UpdateRequest;

bool rm_am_updates_fit(struct ipc_call *call, size_t n)
{
    if (n <= RM_AM_UPDATES_MAX)
        return true;
    ipc_call_fail(call, JAVA_INVALID_RESOURCE_REQUEST,
                  "the request updates %zu containers, more than %d: send them in several requests",
                  n, RM_AM_UPDATES_MAX);
    return false;
}

static const char *range(const struct rm_container *c, const UpdateRequest *q, struct rm_res *ret)
{
    const struct rm_sched *s = c->rm->sched;
    bool more = q->update_type == UPDATE(INCREASE_RESOURCE);
    char unknown[RM_TYPE_NAME_MAX];
    struct rm_res want;

    rm_res_unknown(q->capability, unknown, sizeof(unknown));
    if (!q->capability || *unknown || rm_res_from(q->capability, &want) < 0 ||
        rm_sched_normalize(s, c->app->queue, &want) < 0)
        return OUT_OF_RANGE;
    if (more) { /* as Hadoop: what is less stays as it is */
        want = rm_res_max(want, c->resource);
        if (!c->node || rm_res_equal(want, c->resource) ||
            !rm_res_fits(rm_sched_calculator(s), want, c->node->total))
            return OUT_OF_RANGE;
    } else {
        for (int i = 0; i < RM_RES_EXTRA; i++) /* devices stay with the processes that use them */
            want.extra[i] = SV_MAX(want.extra[i], c->resource.extra[i]);
        if (rm_res_is_zero(want) || !rm_res_fits(RM_CALC_DOMINANT, want, c->resource))
            return OUT_OF_RANGE;
    }
    *ret = want;
    return NULL;
}

/* NULL if the update may be; `ret` is what the scheduler is to count for the container then. */
static const char *check_resource(const struct rm_container *c, const UpdateRequest *q,
                                  struct rm_res *ret)
{
    if (c->opportunistic)
        return "UPDATE_NOT_SUPPORTED: the resource of an OPPORTUNISTIC container; promote it first";
    return range(c, q, ret);
}

static const char *check_type(const struct rm_container *c, const UpdateRequest *q,
                              struct rm_res *ret)
{
    bool demote = q->update_type == UPDATE(DEMOTE_EXECUTION_TYPE);

    if (demote && !c->rm->conf.opportunistic)
        return "UPDATE_NOT_SUPPORTED: "
               "yarn.resourcemanager.opportunistic-container-allocation.enabled is false";
    if (demote && c->is_master)
        return "UPDATE_NOT_SUPPORTED: the container of an ApplicationMaster stays GUARANTEED";
    if (!q->has_execution_type || c->opportunistic == demote ||
        q->execution_type != (demote ? TYPE(OPPORTUNISTIC) : TYPE(GUARANTEED)))
        return "UPDATE_NOT_SUPPORTED: PROMOTE_EXECUTION_TYPE makes an OPPORTUNISTIC container "
               "GUARANTEED, DEMOTE_EXECUTION_TYPE a GUARANTEED one OPPORTUNISTIC";
    if (!rm_res_equal(c->confirmed, c->resource) ||
        (!demote && rm_sched_container_waits(c->rm->sched, c->id)))
        return OUTSTANDING;
    *ret = demote ? (struct rm_res){ 0 } : c->resource;
    return NULL;
}

static const char *check(const struct rm_attempt *att, const struct rm_container *c,
                         const UpdateRequest *q, struct rm_res *ret)
{
    if (!c || c->app != att->app)
        return "INVALID_CONTAINER_ID";
    if (q->container_version != c->version)
        return "INCORRECT_CONTAINER_VERSION_ERROR";
    if (c->update_call == att->rm->update_calls)
        return OUTSTANDING;
    if (c->state != RM_CON_ST_RUNNING)
        return "CONTAINER_NOT_RUNNING: the ResourceManager does not know it as running yet; send "
               "the update again";
    switch (q->update_type) {
    case UPDATE(INCREASE_RESOURCE):
    case UPDATE(DECREASE_RESOURCE):
        return check_resource(c, q, ret);
    case UPDATE(PROMOTE_EXECUTION_TYPE):
    case UPDATE(DEMOTE_EXECUTION_TYPE):
        return check_type(c, q, ret);
    default:
        return "UPDATE_NOT_SUPPORTED: an unknown type of update";
    }
}

/* NULL, or the reason why not, at most as long as `err`. */
static const char *update(struct rm_attempt *att, struct rm_container *c, const UpdateRequest *q,
                          struct sv_error *err)
{
    struct rm_sched_event ev = { .type = RM_SCHED_CONTAINER_UPDATE };
    const char *why = check(att, c, q, &ev.container_update.resource);

    if (why)
        return why;
    ev.container_update.container = c->id;
    if (rm_schedule(att->rm, &ev, err) < 0)
        return err->text[0] ? err->text : "INVALID_CONTAINER_ID";
    c->update_call = att->rm->update_calls;
    rm_request_pass(att->rm);
    return NULL;
}

/* The request in its error: the answer is kept for a repeated call, so it has the resource alone,
 * not all that the request may have brought with it. */
static UpdateRequest *copy(struct sv_arena *a, const UpdateRequest *q)
{
    UpdateRequest *m = sv_new(a, UpdateRequest);
    struct rm_res res;

    if (!m)
        return NULL;
    hadoop__yarn__update_container_request_proto__init(m);
    m->container_version = q->container_version;
    m->container_id = q->container_id; /* lives as long as the call */
    m->update_type = q->update_type;
    m->has_execution_type = q->has_execution_type;
    m->execution_type = q->execution_type;
    if (q->capability && rm_res_from(q->capability, &res) >= 0)
        m->capability = rm_res_to(a, res);
    return m;
}

static bool add_error(struct sv_arena *a, const UpdateRequest *q, const char *why, int32_t version,
                      Hadoop__Yarn__AllocateResponseProto *resp)
{
    Hadoop__Yarn__UpdateContainerErrorProto *m = sv_new(a, Hadoop__Yarn__UpdateContainerErrorProto);

    if (!m)
        return false;
    hadoop__yarn__update_container_error_proto__init(m);
    m->reason = sv_arena_strdup(a, why);
    m->update_request = copy(a, q);
    m->has_current_container_version = true;
    m->current_container_version = version;
    resp->update_errors[resp->n_update_errors++] = m;
    return m->reason && m->update_request;
}

bool rm_am_updates(struct rm_attempt *att, const Hadoop__Yarn__AllocateRequestProto *q,
                   struct sv_arena *a, Hadoop__Yarn__AllocateResponseProto *resp)
{
    if (!q->n_update_requests)
        return true;
    resp->update_errors =
        RM_ANSWER_ARRAY(a, Hadoop__Yarn__UpdateContainerErrorProto, q->n_update_requests);
    if (!resp->update_errors)
        return false;
    att->rm->update_calls++;
    for (size_t i = 0; i < q->n_update_requests; i++) {
        const UpdateRequest *one = q->update_requests[i];
        struct rm_container *c = NULL;
        struct sv_error err = { 0 };
        struct yarn_container_id id;
        const char *why;
        bool ours;

        if (yarn_container_id_from(one->container_id, &id) >= 0)
            c = rm_container_find(att->rm, id);
        ours = c && c->app == att->app;
        why = update(att, c, one, &err);
        if (why && !add_error(a, one, why, ours ? c->version : -1, resp))
            return false;
    }
    return true;
}

bool rm_am_pull_updates(struct sv_arena *a, struct rm_attempt *att,
                        Hadoop__Yarn__AllocateResponseProto *resp)
{
    struct rm_container *c, *tmp;

    if (!att->app->updated)
        return true;
    resp->updated_containers =
        RM_ANSWER_ARRAY(a, Hadoop__Yarn__UpdatedContainerProto, RM_AM_UPDATES_TOLD);
    if (!resp->nm_tokens)
        resp->nm_tokens = RM_ANSWER_ARRAY(a, Hadoop__Yarn__NMTokenProto, RM_AM_UPDATES_TOLD);
    if (!resp->updated_containers || !resp->nm_tokens)
        return false;
    DL_FOREACH_SAFE2(att->app->updated, c, tmp, u_next)
    {
        Hadoop__Yarn__UpdatedContainerProto *m = sv_new(a, Hadoop__Yarn__UpdatedContainerProto);
        Hadoop__Yarn__NMTokenProto *t;

        if (resp->n_updated_containers == RM_AM_UPDATES_TOLD)
            return true; /* the next answer tells the rest */
        if (!m)
            return false;
        hadoop__yarn__updated_container_proto__init(m);
        m->update_type = (Hadoop__Yarn__ContainerUpdateTypeProto)c->updated;
        m->container = rm_am_container(a, c);
        if (!m->container)
            return false;
        t = rm_am_nm_token(a, att, &c->node_id);
        if (t)
            resp->nm_tokens[resp->n_nm_tokens++] = t;
        resp->updated_containers[resp->n_updated_containers++] = m;
        DL_DELETE2(att->app->updated, c, u_prev, u_next);
        c->in_updated = false;
        if (c->updated == UPDATE(INCREASE_RESOURCE))
            rm_container_post(c, RM_CON_EV_ACQUIRE_UPDATED_CONTAINER);
    }
    return true;
}
