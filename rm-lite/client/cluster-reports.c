/* ApplicationClientProtocol's reports on nodes and queues. Part of client-rm-service.c's table. */
#include "rm-lite/client/cluster-reports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/client/application-reports.h"
#include "rm-lite/core/queue-counters.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/text.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/requests/call-list.h"
#include "rm-lite/requests/reports.h"
#include "rm-lite/requests/viewer.h"
#include "rm-lite/scheduler/scheduler.h"
#include "rm-lite/security/queue-access.h"

typedef Hadoop__Yarn__QueueInfoProto QueueInfo;

void rm_on_getClusterMetrics(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    Hadoop__Yarn__GetClusterMetricsResponseProto resp =
        HADOOP__YARN__GET_CLUSTER_METRICS_RESPONSE_PROTO__INIT;
    Hadoop__Yarn__YarnClusterMetricsProto m = HADOOP__YARN__YARN_CLUSTER_METRICS_PROTO__INIT;

    (void)request;
    m.has_num_node_managers = m.has_num_decommissioned_nms = m.has_num_active_nms = true;
    m.has_num_lost_nms = m.has_num_unhealthy_nms = m.has_num_rebooted_nms = true;
    m.has_num_decommissioning_nms = m.has_num_shutdown_nms = true;
    m.num_node_managers = (int32_t)HASH_COUNT(rm->nodes);
    m.num_active_nms = rm_count_nodes(rm, RM_NODE_ST_RUNNING);
    m.num_decommissioned_nms = rm_count_nodes(rm, RM_NODE_ST_DECOMMISSIONED);
    m.num_decommissioning_nms = rm_count_nodes(rm, RM_NODE_ST_DECOMMISSIONING);
    m.num_lost_nms = rm_count_nodes(rm, RM_NODE_ST_LOST);
    m.num_unhealthy_nms = rm_count_nodes(rm, RM_NODE_ST_UNHEALTHY);
    m.num_rebooted_nms = rm_count_nodes(rm, RM_NODE_ST_REBOOTED);
    m.num_shutdown_nms = rm_count_nodes(rm, RM_NODE_ST_SHUTDOWN);
    resp.cluster_metrics = &m;
    ipc_call_reply(call, &resp.base);
}

/* A bit for each value of NodeStateProto; 0: the active ones. */
struct wanted_nodes {
    uint32_t states;
};

static bool is_requested(const struct wanted_nodes *w, const struct rm_node *n)
{
    return w->states ? (w->states >> rm_node_wire_state(n)) & 1 : rm_node_is_active(n);
}

static int node_entry(struct rm *rm, struct sv_arena *a, void *wanted,
                      const struct rm_call_item *item, const ProtobufCMessage **ret)
{
    const struct rm_node *n = rm_node_find_key(rm, item->node);
    Hadoop__Yarn__NodeReportProto *m;

    if (!n && !(n = rm_node_find_inactive(rm, item->node)))
        return 0;
    if (!is_requested(wanted, n))
        return 0;
    m = rm_node_report(a, n);
    if (!m)
        return -ENOMEM;
    m->has_node_update_type = false; /* for ApplicationMasters only */
    *ret = &m->base;
    return 0;
}

/* A list of all nodes; NULL: no memory. */
static struct wanted_nodes *all_nodes(struct rm *rm, struct rm_call_items *ret)
{
    struct rm_node *tables[] = { rm->nodes, rm->inactive_nodes };
    struct wanted_nodes *w = calloc(1, sizeof(*w));

    if (!w || !rm_call_items_new(ret, HASH_COUNT(rm->nodes) + HASH_COUNT(rm->inactive_nodes))) {
        free(w);
        return NULL;
    }
    ret->wanted = w;
    ret->free_wanted = free;
    for (size_t t = 0; t < SV_ARRAY_LEN(tables); t++)
        for (const struct rm_node *n = tables[t]; n; n = n->hh.next)
            ret->items[ret->n++].node = rm_strdup(n->key);
    return w;
}

void rm_on_getClusterNodes(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    static const struct rm_call_kind kind = { node_entry, 1 };
    struct rm *rm = userdata;
    const Hadoop__Yarn__GetClusterNodesRequestProto *q =
        (const Hadoop__Yarn__GetClusterNodesRequestProto *)request;
    const struct rm_call_request r = { call, request, rm_on_getClusterNodes };
    _cleanup_(rm_call_items_free) struct rm_call_items list = { 0 };
    struct wanted_nodes *w = all_nodes(rm, &list);

    if (!w) {
        rm_answer_no_memory(call);
        return;
    }
    for (size_t i = 0; i < q->n_nodestates; i++)
        w->states |= UINT32_C(1) << q->nodestates[i];
    rm_call_list(rm, &r, &kind, &list, NULL);
}

/* -------------------------------------------------------------------- queues */

static void count_apps(Hadoop__Yarn__QueueStatisticsProto *m, const struct rm_queue_counters *c)
{
    m->has_numappssubmitted = m->has_numappsrunning = m->has_numappspending = true;
    m->has_numappscompleted = m->has_numappskilled = m->has_numappsfailed = true;
    m->numappssubmitted = c->sum[RM_COUNT_SUBMITTED];
    m->numappsrunning = c->live.running;
    m->numappspending = c->live.pending;
    m->numappscompleted = c->sum[RM_COUNT_COMPLETED];
    m->numappskilled = c->sum[RM_COUNT_KILLED];
    m->numappsfailed = c->sum[RM_COUNT_FAILED];
}

/* As in the queue's metrics, reserved resources are not allocated. */
static Hadoop__Yarn__QueueStatisticsProto *statistics(struct sv_arena *a, const struct rm *rm,
                                                      const struct rm_queue_info *q)
{
    const struct rm_queue_counters *c = rm_queue_counters_find(rm, q->path, NULL);
    struct rm_res used = rm_res_sub(q->used, q->reserved);
    Hadoop__Yarn__QueueStatisticsProto *m = sv_new(a, Hadoop__Yarn__QueueStatisticsProto);
    struct rm_res left = rm_res_max(rm_res_sub(q->effective_max, q->used), (struct rm_res){ 0, 0 });

    if (!m)
        return NULL;
    hadoop__yarn__queue_statistics_proto__init(m);
    count_apps(m, c);
    m->has_numactiveusers = true;
    m->numactiveusers = q->users;
    m->has_availablememorymb = m->has_allocatedmemorymb = m->has_pendingmemorymb = true;
    m->has_reservedmemorymb = true;
    m->availablememorymb = left.mem;
    m->allocatedmemorymb = used.mem;
    m->pendingmemorymb = q->pending.mem;
    m->reservedmemorymb = q->reserved.mem;
    m->has_availablevcores = m->has_allocatedvcores = m->has_pendingvcores = true;
    m->has_reservedvcores = true;
    m->availablevcores = left.vcores;
    m->allocatedvcores = used.vcores;
    m->pendingvcores = q->pending.vcores;
    m->reservedvcores = q->reserved.vcores;
    m->has_allocatedcontainers = m->has_pendingcontainers = m->has_reservedcontainers = true;
    m->allocatedcontainers = q->containers;
    m->pendingcontainers = c->live.pending_containers;
    m->reservedcontainers = c->live.reserved_containers;
    return m;
}

static QueueInfo *queue_to(struct sv_arena *a, const struct rm *rm, const struct rm_queue_info *q)
{
    static char any[] = "*", *any_label[] = { any };
    QueueInfo *m = sv_new(a, QueueInfo);

    if (!m)
        return NULL;
    hadoop__yarn__queue_info_proto__init(m);
    m->queuename = sv_arena_strdup(a, q->name);
    m->queuepath = sv_arena_strdup(a, q->path);
    m->has_capacity = m->has_maximumcapacity = m->has_currentcapacity = true;
    m->capacity = (float)q->capacity;
    m->maximumcapacity = (float)q->max_capacity;
    m->currentcapacity = (float)q->used_capacity;
    m->has_state = true;
    m->state = (Hadoop__Yarn__QueueStateProto)q->state;
    m->queuestatistics = statistics(a, rm, q);
    m->accessiblenodelabels = any_label;
    m->n_accessiblenodelabels = SV_ARRAY_LEN(any_label);
    m->has_preemptiondisabled = m->has_intraqueuepreemptiondisabled = true;
    m->preemptiondisabled = q->preemption_disabled;
    m->intraqueuepreemptiondisabled = q->inside_disabled;
    m->has_maxparallelapps = true;
    m->maxparallelapps = q->max_parallel_apps;
    m->has_weight = true;
    m->weight = (float)q->weight;
    m->schedulertype = (char *)(uintptr_t) "CapacityScheduler";
    return m->queuename && m->queuepath && m->queuestatistics ? m : NULL;
}

/* A queue of the answer below which the walk is. */
struct level {
    QueueInfo *queue;
    size_t cap; /* of its children */
    struct level *above;
};

struct walk {
    struct sv_arena *a;
    struct rm *rm;
    QueueInfo *root; /* of the answer */
    bool recursive;
    struct level *lowest; /* NULL until the root has been seen */
};

static int enter(struct walk *w, QueueInfo *queue)
{
    struct level *l = sv_new(w->a, struct level);

    if (!l)
        return -ENOMEM;
    *l = (struct level){ .queue = queue, .above = w->lowest };
    w->lowest = l;
    return 0;
}

static int add_child(struct walk *w, struct level *to, const struct rm_queue_info *q)
{
    QueueInfo *into = to->queue, *m = queue_to(w->a, w->rm, q);

    if (into->n_childqueues == to->cap) {
        size_t cap = to->cap ? to->cap * 2 : 8;
        QueueInfo **v = sv_newn(w->a, QueueInfo *, cap);

        if (v && to->cap)
            memcpy(v, into->childqueues, to->cap * sizeof(QueueInfo *));
        into->childqueues = v;
        to->cap = cap;
    }
    if (!m || !into->childqueues)
        return -ENOMEM;
    into->childqueues[into->n_childqueues++] = m;
    w->lowest = to;
    return enter(w, m);
}

/* Parents come before their children, so a queue's parent is among the levels or not in the
 * answer. */
static int on_queue(const struct rm_queue_info *q, void *userdata)
{
    struct walk *w = userdata;
    struct level *l = w->lowest;

    if (!l)
        return sv_streq(q->path, w->root->queuepath) ? enter(w, w->root) : 0;
    while (l && !sv_streq(l->queue->queuepath, q->parent))
        l = l->above;
    if (!l || (l->above && !w->recursive))
        return 0;
    return add_child(w, l, q);
}

void rm_on_getQueueInfo(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    const Hadoop__Yarn__GetQueueInfoRequestProto *q =
        (const Hadoop__Yarn__GetQueueInfoRequestProto *)request;
    Hadoop__Yarn__GetQueueInfoResponseProto resp =
        HADOOP__YARN__GET_QUEUE_INFO_RESPONSE_PROTO__INIT;
    const struct rm_call_request r = { call, request, rm_on_getQueueInfo };
    _cleanup_(rm_call_items_free) struct rm_call_items list = { 0 };
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    struct rm_queue_info info;
    struct rm_viewer who;

    if (!a) {
        rm_answer_no_memory(call);
        return;
    }
    rm_viewer_of_call(rm, call, &who);
    if (rm_viewer_waits(&who)) {
        rm_groups_wait(rm, call, request, rm_on_getQueueInfo);
        return;
    }
    if (!q->queuename || rm_sched_queue(rm->sched, q->queuename, &info) < 0) {
        ipc_call_reply(call, &resp.base); /* as Hadoop: an empty answer for an unknown queue */
        return;
    }
    rm_queue_counters_gather(rm);
    resp.queueinfo = queue_to(a, rm, &info);
    if (!resp.queueinfo || (q->includeapplications && !rm_call_apps_in(&who, info.path, &list))) {
        rm_answer_no_memory(call);
        return;
    }
    if (q->includechildqueues || q->recursive) {
        struct walk w = { .a = a, .rm = rm, .root = resp.queueinfo, .recursive = q->recursive };

        if (rm_sched_each_queue(rm->sched, on_queue, &w) < 0) {
            rm_answer_no_memory(call);
            return;
        }
    }
    rm_call_list(rm, &r, &rm_call_queue_apps, &list, &resp.queueinfo->base);
}

struct acls {
    struct rm *rm;
    const char *user;
    struct sv_arena *a;
    Hadoop__Yarn__GetQueueUserAclsInfoResponseProto *resp;
    size_t cap;
};

static int count_queue(const struct rm_queue_info *q, void *userdata)
{
    (void)q;
    (*(size_t *)userdata)++;
    return 0;
}

static int add_acl(const struct rm_queue_info *q, void *userdata)
{
    struct acls *s = userdata;
    Hadoop__Yarn__QueueUserACLInfoProto *m = sv_new(s->a, Hadoop__Yarn__QueueUserACLInfoProto);
    bool submit, administer;

    if (!m || s->resp->n_queueuseracls >= s->cap)
        return -1;
    hadoop__yarn__queue_user_aclinfo_proto__init(m);
    m->queuename = sv_arena_strdup(s->a, q->path);
    m->useracls = sv_newn(s->a, Hadoop__Yarn__QueueACLProto, 2);
    if (!m->queuename || !m->useracls)
        return -1;
    rm_queue_rights(s->rm, q->path, s->user, &submit, &administer);
    if (submit)
        m->useracls[m->n_useracls++] = HADOOP__YARN__QUEUE_ACLPROTO__QACL_SUBMIT_APPLICATIONS;
    if (administer)
        m->useracls[m->n_useracls++] = HADOOP__YARN__QUEUE_ACLPROTO__QACL_ADMINISTER_QUEUE;
    s->resp->queueuseracls[s->resp->n_queueuseracls++] = m;
    return 0;
}

/* The caller's rights in each queue. */
void rm_on_getQueueUserAcls(struct ipc_call *call, const ProtobufCMessage *request, void *userdata)
{
    struct rm *rm = userdata;
    Hadoop__Yarn__GetQueueUserAclsInfoResponseProto resp =
        HADOOP__YARN__GET_QUEUE_USER_ACLS_INFO_RESPONSE_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = rm_answer_arena();
    struct acls s = { rm, ipc_call_peer(call)->user, a, &resp, 0 };
    bool complete;

    if (!a) {
        rm_answer_no_memory(call);
        return;
    }
    (void)sv_groups_missed(rm->groups);                        /* missed by others, ignoring */
    (void)rm_sched_each_queue(rm->sched, count_queue, &s.cap); /* never fails */
    resp.queueuseracls = RM_ANSWER_ARRAY(s.a, Hadoop__Yarn__QueueUserACLInfoProto, s.cap);
    complete = resp.queueuseracls && rm_sched_each_queue(rm->sched, add_acl, &s) >= 0;
    if (!complete)
        rm_answer_no_memory(call);
    else if (sv_groups_missed(rm->groups))
        rm_groups_wait(rm, call, request, rm_on_getQueueUserAcls);
    else
        ipc_call_reply(call, &resp.base);
}
