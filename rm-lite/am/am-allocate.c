/* allocate; see am-allocate.h. Everything in a request is hostile: it comes from a user's program.
 */
#include "rm-lite/am/am-allocate.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/am/am-capability.h"
#include "rm-lite/am/am-placement.h"
#include "rm-lite/am/am-preemption.h"
#include "rm-lite/am/am-session.h"
#include "rm-lite/am/am-updates.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/core/node-updates.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/core/text.h"
#include "rm-lite/fsm/scheduling.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/security/tokens.h"
#include "wire/exit-status.h"

typedef Hadoop__Yarn__AllocateRequestProto AllocateRequest;
typedef Hadoop__Yarn__AllocateResponseProto AllocateResponse;

/* ----------------------------------------------------------------- the request */

static int read_asks(struct ipc_call *call, struct rm_attempt *att, const AllocateRequest *q,
                     struct rm_ask **ret)
{
    struct sv_arena *a = ipc_call_arena(call); /* the asks live as long as the call */
    struct rm_ask *asks = sv_newn(a, struct rm_ask, SV_MAX(q->n_ask, (size_t)1));

    if (!asks) {
        rm_answer_no_memory(call);
        return -ENOMEM;
    }
    for (size_t i = 0; i < q->n_ask; i++) {
        const Hadoop__Yarn__ResourceRequestProto *m = q->ask[i];
        struct rm_res cap;
        int r;

        if (!m->resource_name || m->num_containers < 0) {
            ipc_call_fail(call, JAVA_INVALID_RESOURCE_REQUEST,
                          "Invalid resource request: resource name or number of containers is "
                          "missing or negative");
            return -EINVAL;
        }
        if (m->node_label_expression && *m->node_label_expression) {
            ipc_call_fail(call,
                          "org.apache.hadoop.yarn.exceptions."
                          "InvalidLabelResourceRequestException",
                          "Invalid resource request, node label not enabled but request contains "
                          "label expression");
            return -EINVAL;
        }
        r = rm_am_capability(call, att, m->capability, &cap);
        if (r < 0)
            return r;
        asks[i] = (struct rm_ask){
            .priority = m->priority ? m->priority->priority : 0,
            .allocation_id = m->allocation_request_id,
            .name = m->resource_name,
            .capability = cap,
            .count = m->num_containers,
            .relax = m->relax_locality,
        };
    }
    *ret = asks;
    return 0;
}

/* Names that one request adds to or takes from the blacklist: 10,000 are looked up in 5 ms. */
#define BLACKLIST_MAX 10000

static int check_blacklist(struct ipc_call *call,
                           const Hadoop__Yarn__ResourceBlacklistRequestProto *b)
{
    static const char class[] =
        "org.apache.hadoop.yarn.exceptions.InvalidResourceBlacklistRequestException";

    if (b->n_blacklist_additions > BLACKLIST_MAX || b->n_blacklist_removals > BLACKLIST_MAX) {
        ipc_call_fail(call, class,
                      "the blacklist of the request has more than %d names: send them in several "
                      "requests",
                      BLACKLIST_MAX);
        return -EINVAL;
    }
    for (size_t i = 0; i < b->n_blacklist_additions; i++)
        if (sv_streq(b->blacklist_additions[i], RM_ANY)) {
            ipc_call_fail(call, class, "Cannot add * to the blacklist!");
            return -EINVAL;
        }
    return 0;
}

static int check_rest(struct ipc_call *call, struct rm_attempt *att, const AllocateRequest *q)
{
    if (q->blacklist_request && check_blacklist(call, q->blacklist_request) < 0)
        return -EINVAL;
    for (size_t i = 0; i < q->n_release; i++) {
        struct yarn_container_id id;
        char text[YARN_ID_TEXT_MAX];

        if (yarn_container_id_from(q->release[i], &id) < 0) {
            ipc_call_fail(call, JAVA_INVALID_RELEASE, "Cannot release container : null");
            return -EINVAL;
        }
        if (!att->app->keep_containers && yarn_attempt_id_cmp(id.attempt, att->id) != 0) {
            ipc_call_fail(call, JAVA_INVALID_RELEASE,
                          "Cannot release container : %s not belonging to this application "
                          "attempt : %s",
                          yarn_container_id_text(id, text), att->id_str);
            return -EINVAL;
        }
    }
    return 0;
}

static void release(struct rm *rm, struct rm_attempt *att, const AllocateRequest *q)
{
    for (size_t i = 0; i < q->n_release; i++) {
        struct yarn_container_id id;
        struct rm_container *c;

        if (yarn_container_id_from(q->release[i], &id) < 0)
            continue;
        c = rm_container_find(rm, id);
        if (!c || c->app != att->app)
            continue;
        rm_audit_ok(&(struct rm_audit){ .user = att->app->user,
                                        .target = "Scheduler",
                                        .operation = "AM Released Container",
                                        .app = att->app->id_str,
                                        .container = c->id_str });
        rm_container_post_exit(c, RM_CON_EV_RELEASED, YARN_EXIT_ABORTED,
                               "Container released by application");
    }
}

static int ask_scheduler(struct ipc_call *call, struct rm *rm, struct rm_attempt *att,
                         const AllocateRequest *q, const struct rm_ask *asks)
{
    const Hadoop__Yarn__ResourceBlacklistRequestProto *b = q->blacklist_request;
    struct rm_sched_event ev = { .type = RM_SCHED_ASK,
                                 .ask = { .app = att->app->id, .asks = asks, .n_asks = q->n_ask } };
    struct sv_error err = { 0 };

    if (b) {
        ev.ask.blacklist_add = (const char *const *)b->blacklist_additions;
        ev.ask.n_blacklist_add = b->n_blacklist_additions;
        ev.ask.blacklist_remove = (const char *const *)b->blacklist_removals;
        ev.ask.n_blacklist_remove = b->n_blacklist_removals;
    }
    if (rm_am_scheduling_requests(call, att, q, &ev.ask) < 0)
        return -EINVAL;
    if (rm_schedule(rm, &ev, &err) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s",
                      err.text[0] ? err.text : "the scheduler cannot take these requests");
        return -EIO;
    }
    if (q->n_ask || q->n_scheduling_requests || ev.ask.attempts > 0)
        rm_request_pass(rm);
    return 0;
}

/* ------------------------------------------------------------------ the answer */

static bool pull_fresh(struct sv_arena *a, struct rm_attempt *att, AllocateResponse *resp)
{
    struct rm_container *c, *tmp;
    size_t n = 0;

    DL_COUNT2(att->fresh, c, n, f_next);
    if (!n)
        return true;
    resp->allocated_containers = RM_ANSWER_ARRAY(a, Hadoop__Yarn__ContainerProto, n);
    resp->nm_tokens = RM_ANSWER_ARRAY(a, Hadoop__Yarn__NMTokenProto,
                                      n + (att->app->updated ? RM_AM_UPDATES_TOLD : 0));
    if (!resp->allocated_containers || !resp->nm_tokens)
        return false;
    DL_FOREACH_SAFE2(att->fresh, c, tmp, f_next)
    {
        Hadoop__Yarn__ContainerProto *m;
        Hadoop__Yarn__NMTokenProto *t;

        if (c->state != RM_CON_ST_ALLOCATED)
            continue;
        m = rm_am_container(a, c);
        if (!m)
            return false;
        t = rm_am_nm_token(a, att, &c->node_id);
        if (t)
            resp->nm_tokens[resp->n_nm_tokens++] = t;
        resp->allocated_containers[resp->n_allocated_containers++] = m;
        DL_DELETE2(att->fresh, c, f_prev, f_next);
        c->in_fresh = false;
        rm_container_post(c, RM_CON_EV_ACQUIRED);
    }
    return true;
}

/* Containers of earlier attempts whose nodes have reported them after this one registered: the
 * ResourceManager was restarted. */
static bool pull_late(struct sv_arena *a, struct rm_attempt *att, AllocateResponse *resp)
{
    struct rm_container *c;

    if (!att->app->has_late)
        return true;
    resp->containers_from_previous_attempts =
        RM_ANSWER_ARRAY(a, Hadoop__Yarn__ContainerProto, (size_t)att->app->n_live);
    if (!resp->containers_from_previous_attempts ||
        !rm_am_more_tokens(a, resp, (size_t)att->app->n_live))
        return false;
    DL_FOREACH2(att->app->containers, c, p_next)
    {
        Hadoop__Yarn__NMTokenProto *t;
        Hadoop__Yarn__ContainerProto *m;

        if (!c->late || c->state != RM_CON_ST_RUNNING)
            continue;
        m = rm_am_container(a, c);
        if (!m)
            return false;
        c->late = false;
        resp->containers_from_previous_attempts[resp->n_containers_from_previous_attempts++] = m;
        t = rm_am_nm_token(a, att, &c->node_id);
        if (t)
            resp->nm_tokens[resp->n_nm_tokens++] = t;
    }
    att->app->has_late = false;
    return true;
}

/* The request acknowledges the statuses of the last answer: the nodes may drop them. */
static void acknowledge(struct rm_attempt *att)
{
    struct rm_done *d, *tmp;

    DL_FOREACH_SAFE (att->sent, d, tmp) {
        struct rm_node *n = d->node ? rm_node_find_key(att->rm, d->node) : NULL;

        if (n)
            rm_node_pulled(n, d->id);
        DL_DELETE(att->sent, d);
        rm_done_free(d);
    }
}

static bool pull_done(struct sv_arena *a, struct rm_attempt *att, AllocateResponse *resp)
{
    struct rm_done *d, *tmp;
    size_t n = 0;

    DL_COUNT(att->done, d, n);
    if (!n)
        return true;
    resp->completed_container_statuses = RM_ANSWER_ARRAY(a, Hadoop__Yarn__ContainerStatusProto, n);
    if (!resp->completed_container_statuses)
        return false;
    DL_FOREACH_SAFE (att->done, d, tmp) {
        Hadoop__Yarn__ContainerStatusProto *m = sv_new(a, Hadoop__Yarn__ContainerStatusProto);

        if (!m)
            return false;
        hadoop__yarn__container_status_proto__init(m);
        m->container_id = yarn_container_id_to(a, d->id);
        m->has_state = true;
        m->state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE;
        m->diagnostics = sv_arena_strdup(a, d->diagnostics ? d->diagnostics : "");
        m->has_exit_status = true;
        m->exit_status = d->exit_status;
        m->capability = rm_res_to(a, d->resource);
        m->has_executiontype = true;
        m->executiontype =
            (Hadoop__Yarn__ExecutionTypeProto)rm_container_wire_type(d->opportunistic);
        if (!m->container_id || !m->diagnostics)
            return false;
        resp->completed_container_statuses[resp->n_completed_container_statuses++] = m;
        DL_DELETE(att->done, d);
        DL_APPEND(att->sent, d);
    }
    return true;
}

static bool pull_nodes(struct sv_arena *a, struct rm_attempt *att, AllocateResponse *resp)
{
    struct rm_node *nodes[RM_NODE_UPDATES_MAX];
    size_t n = rm_node_updates(att, nodes, SV_ARRAY_LEN(nodes));

    if (!n)
        return true;
    resp->updated_nodes = RM_ANSWER_ARRAY(a, Hadoop__Yarn__NodeReportProto, n);
    if (!resp->updated_nodes)
        return false;
    for (size_t i = 0; i < n; i++) {
        resp->updated_nodes[i] = rm_node_report(a, nodes[i]);
        if (!resp->updated_nodes[i])
            return false;
        resp->n_updated_nodes++;
    }
    rm_node_updates_told(att, nodes[n - 1]);
    return true;
}

static bool fill_answer(struct rm *rm, struct rm_attempt *att, struct sv_arena *a,
                        AllocateResponse *resp)
{
    struct rm_app_usage use;
    struct rm_res headroom = { 0, 0 };

    if (!pull_done(a, att, resp) || !pull_fresh(a, att, resp) ||
        !rm_am_pull_updates(a, att, resp) || !pull_late(a, att, resp) ||
        !pull_nodes(a, att, resp) || !rm_am_preemption(a, att->app, resp) ||
        !rm_am_pull_rejected(a, att, resp))
        return false;
    if (rm_sched_app_usage(rm->sched, att->app->id, &use) >= 0)
        headroom = use.headroom;
    resp->limit = rm_res_to(a, headroom);
    resp->has_num_cluster_nodes = true;
    resp->num_cluster_nodes = rm_told_nodes(rm);
    resp->application_priority = rm_priority_to(a, att->app->priority);
    if (att->amrm_key != rm_secrets_signing(rm->secrets, RM_SECRET_AMRM)->key_id) {
        struct yarn_token t;

        if (rm_token_amrm(a, att, &t) < 0)
            return false;
        resp->am_rm_token = yarn_token_to(a, &t);
        att->amrm_key = rm_secrets_signing(rm->secrets, RM_SECRET_AMRM)->key_id;
        sv_log_info(
            "The AMRMToken has been rolled-over. Send new AMRMToken back to application: %s",
            att->app->id_str);
    }
    return resp->limit && resp->application_priority;
}

static float clamp_progress(float p)
{
    if (isnan(p) || p < 0)
        return 0;
    return p > 1 ? 1 : p;
}

static int32_t next_response_id(int32_t id)
{
    return id == INT32_MAX ? 0 : id + 1;
}

void rm_on_allocate(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    SV_DISPATCH_BATCH(rm->dispatcher);
    const AllocateRequest *q = (const AllocateRequest *)request;
    struct rm_attempt *att = rm_am_caller(call, rm);
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    AllocateResponse resp = HADOOP__YARN__ALLOCATE_RESPONSE_PROTO__INIT;
    struct rm_ask *asks;
    bool updated;

    if (!att)
        return;
    if (!a) {
        rm_answer_no_memory(call);
        return;
    }
    if (!att->registered) {
        ipc_call_fail(call, JAVA_AM_NOT_REGISTERED,
                      "AM is not registered for known application attempt: %s or RM had restarted "
                      "after AM registered.  AM should re-register.",
                      att->id_str);
        return;
    }
    if (att->last_response && next_response_id(q->response_id) == att->response_id) {
        ipc_call_reply_packed(call, att->last_response, att->last_response_len);
        return;
    }
    if (q->response_id != att->response_id) {
        ipc_call_fail(call, JAVA_INVALID_AM_REQUEST,
                      "Invalid responseId in AllocateRequest from application attempt: %s, expect "
                      "responseId to be %d, but get %d",
                      att->id_str, att->response_id, q->response_id);
        return;
    }
    att->progress = clamp_progress(q->progress);
    resp.has_response_id = true;
    resp.response_id = next_response_id(att->response_id);
    if (att->state == RM_ATT_ST_RUNNING) {
        if (!rm_am_address_fits(call, att, "tracking URL", q->tracking_url) ||
            !rm_am_updates_fit(call, q->n_update_requests) || read_asks(call, att, q, &asks) < 0 ||
            check_rest(call, att, q) < 0 || ask_scheduler(call, rm, att, q, asks) < 0)
            return;
        if (q->tracking_url && *q->tracking_url)
            rm_set_text(&att->tracking_url, q->tracking_url);
        acknowledge(att);
        release(rm, att, q);
        updated = rm_am_updates(att, q, a, &resp);
        sv_dispatcher_run(rm->dispatcher); /* runs the pass: this answer has its containers */
        if (!updated || !fill_answer(rm, att, a, &resp)) {
            rm_answer_no_memory(call);
            return;
        }
    } /* else the attempt is about to end: an empty answer */
    att->response_id = resp.response_id;
    rm_answer_remember(&resp.base, &att->last_response, &att->last_response_len);
    ipc_call_reply_packed(call, att->last_response, att->last_response_len);
}
