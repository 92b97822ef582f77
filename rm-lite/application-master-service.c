/* ApplicationMasterService: masters register, allocate and finish (8030).
 *
 * The peer is a user's program, authenticated by its AMRMToken; the attempt in the token is who it
 * is. Everything in a request is hostile. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/am-service.h"
#include "rm-lite/audit.h"
#include "rm-lite/machines.h"
#include "rm-lite/reports.h"
#include "rm-lite/rm-app-manager.h"
#include "rm-lite/secrets.h"
#include "rm-lite/services.h"
#include "rm-lite/tokens.h"

#define ARRAY(a, type, n) sv_newn(a, type *, SV_MAX((size_t)(n), (size_t)1))

typedef Hadoop__Yarn__AllocateRequestProto AllocateRequest;
typedef Hadoop__Yarn__AllocateResponseProto AllocateResponse;
typedef Hadoop__Yarn__RegisterApplicationMasterRequestProto RegisterRequest;
typedef Hadoop__Yarn__RegisterApplicationMasterResponseProto RegisterResponse;
typedef Hadoop__Yarn__FinishApplicationMasterRequestProto FinishRequest;
typedef Hadoop__Yarn__FinishApplicationMasterResponseProto FinishResponse;

int rm_am_verify_token(const uint8_t *id, size_t id_len, uint8_t ret_password[64],
                       size_t *ret_password_len, char ret_user[256], const char **ret_class,
                       struct sv_error *err, void *userdata)
{
    struct rm *rm = userdata;
    struct yarn_amrm_token t;
    struct rm_attempt *att;
    char text[YARN_ID_TEXT_MAX];
    int r = yarn_amrm_token_decode(id, id_len, &t, err);

    (void)ret_class; /* InvalidToken */
    if (r < 0)
        return r;
    yarn_attempt_id_text(t.attempt, text);
    att = rm_attempt_find(rm, t.attempt);
    if (!att || !att->token_live)
        return sv_error_set(err, -EACCES, "%s not found in AMRMTokenSecretManager.", text);
    r = rm_secrets_password(rm->secrets, RM_SECRET_AMRM, t.key_id, id, id_len, ret_password,
                            ret_password_len);
    if (r < 0)
        return sv_error_set(err, r, "Invalid AMRMToken from %s", text);
    (void)snprintf(ret_user, 256, "%s", text);
    return 0;
}

/* The attempt behind a call, or NULL after the call was answered. */
static struct rm_attempt *caller(struct ipc_call *call, struct rm *rm)
{
    const struct ipc_peer *peer = ipc_call_peer(call);
    struct yarn_amrm_token t;
    struct rm_attempt *att = NULL;

    if (peer->token && yarn_amrm_token_decode(peer->token_id, peer->token_id_len, &t, NULL) >= 0)
        att = rm_attempt_find(rm, t.attempt);
    if (!att || !att->token_live || att != att->app->current) {
        ipc_call_fail(call, JAVA_ATTEMPT_NOT_FOUND,
                      "Application attempt %s doesn't exist in ApplicationMasterService cache.",
                      peer->user ? peer->user : "null");
        return NULL;
    }
    att->seen_ms = sv_now_ms();
    return att;
}

static void no_memory(struct ipc_call *call)
{
    ipc_call_fail(call, JAVA_IO_EXCEPTION, "the ResourceManager has no memory for this request");
}

/* ------------------------------------------------------------------ containers */

static Hadoop__Yarn__ContainerProto *container_to(struct sv_arena *a, const struct rm_container *c)
{
    Hadoop__Yarn__ContainerProto *m = sv_new(a, Hadoop__Yarn__ContainerProto);

    if (!m)
        return NULL;
    hadoop__yarn__container_proto__init(m);
    m->id = yarn_container_id_to(a, c->id);
    m->nodeid = yarn_node_id_to(a, &c->node_id);
    m->node_http_address = c->node_http;
    m->resource = yarn_resource_to(a, rm_res_to_yarn(c->resource));
    m->priority = rm_priority_to(a, c->priority);
    m->container_token = rm_token_container(a, c);
    m->has_execution_type = true;
    m->execution_type = HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED;
    m->has_allocation_request_id = true;
    m->allocation_request_id = c->allocation_id;
    m->has_version = true;
    return m->id && m->nodeid && m->resource && m->priority && m->container_token ? m : NULL;
}

/* An NMToken once a node and key: the master keeps them. */
static Hadoop__Yarn__NMTokenProto *nm_token_for(struct sv_arena *a, struct rm_attempt *att,
                                                const struct yarn_node_id *node)
{
    int32_t key_id = rm_secrets_signing(att->rm->secrets, RM_SECRET_NM)->key_id;
    Hadoop__Yarn__NMTokenProto *m;
    struct rm_name_set *have;
    char key[300];

    yarn_node_id_text(node, key);
    have = rm_set_get(att->nm_tokens, key);
    if (have && have->number == key_id)
        return NULL;
    m = sv_new(a, Hadoop__Yarn__NMTokenProto);
    if (!m)
        return NULL;
    hadoop__yarn__nmtoken_proto__init(m);
    m->nodeid = yarn_node_id_to(a, node);
    m->token = rm_token_nm(a, att, node);
    if (!m->nodeid || !m->token)
        return NULL;
    rm_set_add(&att->nm_tokens, key)->number = key_id;
    return m;
}

static bool pull_fresh(struct sv_arena *a, struct rm_attempt *att, AllocateResponse *resp)
{
    struct rm_container *c, *tmp;
    size_t n = 0;

    DL_COUNT2(att->fresh, c, n, f_next);
    if (!n)
        return true;
    resp->allocated_containers = ARRAY(a, Hadoop__Yarn__ContainerProto, n);
    resp->nm_tokens = ARRAY(a, Hadoop__Yarn__NMTokenProto, n);
    if (!resp->allocated_containers || !resp->nm_tokens)
        return false;
    DL_FOREACH_SAFE2(att->fresh, c, tmp, f_next)
    {
        Hadoop__Yarn__ContainerProto *m;
        Hadoop__Yarn__NMTokenProto *t;

        if (c->state != RM_CON_ST_ALLOCATED)
            continue;
        m = container_to(a, c);
        if (!m)
            return false;
        t = nm_token_for(a, att, &c->node_id);
        if (t)
            resp->nm_tokens[resp->n_nm_tokens++] = t;
        resp->allocated_containers[resp->n_allocated_containers++] = m;
        DL_DELETE2(att->fresh, c, f_prev, f_next);
        c->in_fresh = false;
        rm_post(att->rm, RM_M_CONTAINER, c, RM_CON_EV_ACQUIRED);
    }
    rm_drain(att->rm);
    return true;
}

/* What the last answer told is known to the master now: the nodes may forget it. */
static void acknowledge(struct rm_attempt *att)
{
    struct rm_done *d, *tmp;

    DL_FOREACH_SAFE (att->sent, d, tmp) {
        struct rm_node *n = NULL;

        if (d->node)
            HASH_FIND_STR(att->rm->nodes, d->node, n);
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
    resp->completed_container_statuses = ARRAY(a, Hadoop__Yarn__ContainerStatusProto, n);
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
        m->capability = yarn_resource_to(a, rm_res_to_yarn(d->resource));
        m->has_executiontype = true;
        m->executiontype = HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED;
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
    struct rm_name_set *it, *tmp;
    size_t n = HASH_COUNT(att->node_updates);

    if (!n)
        return true;
    resp->updated_nodes = ARRAY(a, Hadoop__Yarn__NodeReportProto, n);
    if (!resp->updated_nodes)
        return false;
    HASH_ITER (hh, att->node_updates, it, tmp) {
        struct rm_node *node;

        HASH_FIND_STR(att->rm->nodes, it->name, node);
        if (!node)
            HASH_FIND_STR(att->rm->inactive_nodes, it->name, node);
        if (node) {
            resp->updated_nodes[resp->n_updated_nodes] = rm_node_report(a, node);
            if (!resp->updated_nodes[resp->n_updated_nodes])
                return false;
            resp->n_updated_nodes++;
        }
    }
    rm_set_clear(&att->node_updates);
    return true;
}

/* -------------------------------------------------------------------- register */

static bool register_previous(struct sv_arena *a, struct rm_attempt *att, RegisterResponse *resp)
{
    struct rm *rm = att->rm;
    size_t n = HASH_COUNT(rm->containers), i = 0;

    if (!att->app->keep_containers || att->id.attempt == 1)
        return true;
    resp->containers_from_previous_attempts = ARRAY(a, Hadoop__Yarn__ContainerProto, n);
    resp->nm_tokens_from_previous_attempts = ARRAY(a, Hadoop__Yarn__NMTokenProto, n);
    if (!resp->containers_from_previous_attempts || !resp->nm_tokens_from_previous_attempts)
        return false;
    for (struct rm_container *c = rm->containers; c && i < n; c = c->hh.next) {
        Hadoop__Yarn__NMTokenProto *t;

        if (c->app != att->app || c->attempt == att || c->is_master ||
            (c->state != RM_CON_ST_RUNNING && c->state != RM_CON_ST_ACQUIRED))
            continue;
        resp->containers_from_previous_attempts[i] = container_to(a, c);
        if (!resp->containers_from_previous_attempts[i++])
            return false;
        t = nm_token_for(a, att, &c->node_id);
        if (t)
            resp->nm_tokens_from_previous_attempts[resp->n_nm_tokens_from_previous_attempts++] = t;
    }
    resp->n_containers_from_previous_attempts = i;
    return true;
}

static void on_registerApplicationMaster(struct ipc_call *call, const ProtobufCMessage *request,
                                         void *userdata)
{
    struct rm *rm = userdata;
    const RegisterRequest *q = (const RegisterRequest *)request;
    struct rm_attempt *att = caller(call, rm);
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    RegisterResponse resp = HADOOP__YARN__REGISTER_APPLICATION_MASTER_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__SchedulerResourceTypes types[2] = {
        HADOOP__YARN__SCHEDULER_RESOURCE_TYPES__MEMORY, HADOOP__YARN__SCHEDULER_RESOURCE_TYPES__CPU
    };

    if (!att)
        return;
    if (att->registered && !(att->app->unmanaged && att->app->keep_containers)) {
        ipc_call_fail(call, JAVA_INVALID_AM_REQUEST,
                      "Application Master is already registered : %s", att->app->id_str);
        return;
    }
    resp.maximumcapability =
        yarn_resource_to(a, rm_res_to_yarn(rm_sched_max_allocation(rm->sched, att->app->queue)));
    resp.queue = att->app->queue;
    resp.scheduler_resource_types = types;
    resp.n_scheduler_resource_types = rm_sched_calculator(rm->sched) == RM_CALC_DOMINANT ? 2 : 1;
    resp.resource_types = rm_resource_types(a, &resp.n_resource_types);
    rm_set_clear(&att->nm_tokens); /* a master that comes anew has none */
    if (!resp.maximumcapability || !resp.resource_types || !register_previous(a, att, &resp)) {
        no_memory(call);
        return;
    }
    resp.application_acls = rm_app_acls(att->app, &resp.n_application_acls);
    att->registered = true;
    att->response_id = 0;
    free(att->last_response);
    att->last_response = NULL;
    rm_set_text(&att->host, q->host ? q->host : "");
    att->rpc_port = q->has_rpc_port ? q->rpc_port : -1;
    rm_set_text(&att->tracking_url, q->tracking_url ? q->tracking_url : "");
    rm_audit_ok(&(struct rm_audit){ .user = att->app->user,
                                    .operation = "Register App Master",
                                    .ip = ipc_call_peer(call)->address,
                                    .target = "ApplicationMasterService",
                                    .app = att->app->id_str,
                                    .attempt = att->id_str });
    rm_post(rm, RM_M_ATTEMPT, att, RM_ATT_EV_REGISTERED);
    rm_drain(rm);
    ipc_call_reply(call, &resp.base);
}

/* -------------------------------------------------------------------- allocate */

static int read_asks(struct ipc_call *call, struct rm_attempt *att, const AllocateRequest *q,
                     struct rm_ask **ret)
{
    struct sv_arena *a = ipc_call_arena(call); /* the asks live as long as the call */
    struct rm_ask *asks = sv_newn(a, struct rm_ask, SV_MAX(q->n_ask, (size_t)1));

    if (!asks) {
        no_memory(call);
        return -ENOMEM;
    }
    for (size_t i = 0; i < q->n_ask; i++) {
        const Hadoop__Yarn__ResourceRequestProto *m = q->ask[i];
        struct yarn_resource r;
        struct rm_res cap;

        if (!m->resource_name || yarn_resource_from(m->capability, &r) < 0 ||
            m->num_containers < 0) {
            ipc_call_fail(call, JAVA_INVALID_RESOURCE_REQUEST,
                          "Invalid resource request: resource name, capability or number of "
                          "containers is missing or negative");
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
        cap = rm_res_of(r);
        if (rm_sched_normalize(att->rm->sched, att->app->queue, &cap) < 0) {
            struct sv_error err = { 0 };

            rm_invalid_resource(cap, rm_sched_max_allocation(att->rm->sched, att->app->queue),
                                &err);
            ipc_call_fail(call, JAVA_INVALID_RESOURCE_REQUEST, "%s", err.text);
            return -ERANGE;
        }
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

static int check_rest(struct ipc_call *call, struct rm_attempt *att, const AllocateRequest *q)
{
    for (size_t i = 0; q->blacklist_request && i < q->blacklist_request->n_blacklist_additions; i++)
        if (sv_streq(q->blacklist_request->blacklist_additions[i], RM_ANY)) {
            ipc_call_fail(call,
                          "org.apache.hadoop.yarn.exceptions."
                          "InvalidResourceBlacklistRequestException",
                          "Cannot add * to the blacklist!");
            return -EINVAL;
        }
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
        rm_post_full(rm,
                     (struct rm_event){ .machine = RM_M_CONTAINER,
                                        .object = c,
                                        .event = RM_CON_EV_RELEASED,
                                        .exit_status = YARN_EXIT_ABORTED },
                     "Container released by application");
    }
}

static int ask_scheduler(struct ipc_call *call, struct rm *rm, struct rm_attempt *att,
                         const AllocateRequest *q, const struct rm_ask *asks)
{
    const Hadoop__Yarn__ResourceBlacklistRequestProto *b = q->blacklist_request;
    struct rm_sched_event ev = {
        .type = RM_SCHED_ASK, .app = att->app->id, .asks = asks, .n_asks = q->n_ask
    };
    struct sv_error err = { 0 };

    if (b) {
        ev.blacklist_add = (const char *const *)b->blacklist_additions;
        ev.n_blacklist_add = b->n_blacklist_additions;
        ev.blacklist_remove = (const char *const *)b->blacklist_removals;
        ev.n_blacklist_remove = b->n_blacklist_removals;
    }
    if (rm_schedule(rm, &ev, &err) < 0) {
        ipc_call_fail(call, JAVA_YARN_EXCEPTION, "%s",
                      err.text[0] ? err.text : "the scheduler cannot take these requests");
        return -EIO;
    }
    if (q->n_ask)
        rm_want_round(rm);
    return 0;
}

static bool fill_answer(struct rm *rm, struct rm_attempt *att, struct sv_arena *a,
                        AllocateResponse *resp)
{
    struct rm_app_usage use;
    struct rm_res headroom = { 0, 0 };

    if (!pull_done(a, att, resp) || !pull_fresh(a, att, resp) || !pull_nodes(a, att, resp))
        return false;
    if (rm_sched_app_usage(rm->sched, att->app->id, &use) >= 0)
        headroom = use.headroom;
    resp->limit = yarn_resource_to(a, rm_res_to_yarn(headroom));
    resp->has_num_cluster_nodes = true;
    resp->num_cluster_nodes = rm_active_nodes(rm);
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

static void remember(struct rm_attempt *att, const AllocateResponse *resp)
{
    size_t len = hadoop__yarn__allocate_response_proto__get_packed_size(resp);

    free(att->last_response);
    att->last_response = malloc(SV_MAX(len, (size_t)1));
    if (!att->last_response)
        rm_out_of_memory();
    att->last_response_len = hadoop__yarn__allocate_response_proto__pack(resp, att->last_response);
}

static void repeat(struct ipc_call *call, const struct rm_attempt *att)
{
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    AllocateResponse *resp = hadoop__yarn__allocate_response_proto__unpack(
        sv_arena_protobuf(a), att->last_response_len, att->last_response);

    if (resp)
        ipc_call_reply(call, &resp->base);
    else
        no_memory(call);
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

static void on_allocate(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    const AllocateRequest *q = (const AllocateRequest *)request;
    struct rm_attempt *att = caller(call, rm);
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    AllocateResponse resp = HADOOP__YARN__ALLOCATE_RESPONSE_PROTO__INIT;
    struct rm_ask *asks;

    if (!att)
        return;
    if (!att->registered) {
        ipc_call_fail(call, JAVA_AM_NOT_REGISTERED,
                      "AM is not registered for known application attempt: %s or RM had restarted "
                      "after AM registered.  AM should re-register.",
                      att->id_str);
        return;
    }
    if (att->last_response && next_response_id(q->response_id) == att->response_id) {
        repeat(call, att);
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
        if (read_asks(call, att, q, &asks) < 0 || check_rest(call, att, q) < 0 ||
            ask_scheduler(call, rm, att, q, asks) < 0)
            return;
        if (q->tracking_url && *q->tracking_url)
            rm_set_text(&att->tracking_url, q->tracking_url);
        acknowledge(att);
        release(rm, att, q);
        rm_drain(rm); /* with the round: what fits now is in this answer */
        if (!fill_answer(rm, att, a, &resp)) {
            no_memory(call);
            return;
        }
    } /* else it is about to end: an empty answer */
    att->response_id = resp.response_id;
    remember(att, &resp);
    ipc_call_reply(call, &resp.base);
}

/* ---------------------------------------------------------------------- finish */

void rm_am_finish_answer(struct rm_attempt *att)
{
    FinishResponse resp = HADOOP__YARN__FINISH_APPLICATION_MASTER_RESPONSE_PROTO__INIT;

    if (!att->finish_call)
        return;
    resp.has_isunregistered = true;
    resp.isunregistered = rm_app_final_stored(att->app);
    ipc_call_reply(SV_TAKE(att->finish_call), &resp.base);
}

static void on_finishApplicationMaster(struct ipc_call *call, const ProtobufCMessage *request,
                                       void *userdata)
{
    struct rm *rm = userdata;
    const FinishRequest *q = (const FinishRequest *)request;
    struct rm_attempt *att = caller(call, rm);
    FinishResponse resp = HADOOP__YARN__FINISH_APPLICATION_MASTER_RESPONSE_PROTO__INIT;

    if (!att)
        return;
    if (!att->registered) {
        ipc_call_fail(call, JAVA_AM_NOT_REGISTERED,
                      "Application Master is trying to unregister before registering for: %s",
                      att->app->id_str);
        return;
    }
    resp.has_isunregistered = true;
    resp.isunregistered = rm_app_final_stored(att->app) || att->app->unmanaged;
    if (!rm_app_final_stored(att->app)) {
        if (q->tracking_url)
            rm_set_text(&att->tracking_url, q->tracking_url);
        rm_audit_ok(&(struct rm_audit){ .user = att->app->user,
                                        .ip = ipc_call_peer(call)->address,
                                        .operation = "Unregister App Master",
                                        .target = "ApplicationMasterService",
                                        .app = att->app->id_str,
                                        .attempt = att->id_str });
        rm_post_full(rm,
                     (struct rm_event){ .machine = RM_M_ATTEMPT,
                                        .object = att,
                                        .event = RM_ATT_EV_UNREGISTERED,
                                        .number = q->final_application_status },
                     q->diagnostics);
    }
    if (resp.isunregistered || att->finish_call) { /* stored, or one such call waits already */
        ipc_call_reply(call, &resp.base);
    } else {
        att->finish_call = call; /* answered when the final state is on disk */
    }
    rm_drain(rm);
}

#define ROW(name, request, response)                                                               \
    { #name, &request##__descriptor, &response##__descriptor, on_##name },
static const struct ipc_method methods[] = { YARN_APPLICATION_MASTER_METHODS(ROW) };
static const struct ipc_protocol protocol = {
    .name = YARN_APPLICATION_MASTER_PROTOCOL,
    .version = 1,
    .methods = methods,
    .n_methods = SV_ARRAY_LEN(methods),
};
const struct ipc_protocol *const rm_am_protocols[] = { &protocol, NULL };
