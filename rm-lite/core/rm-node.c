/* Nodes as objects, with the lists for the next heartbeat's answer; see rm-node.h. */
#include "rm-lite/core/rm-node.h"

#include <errno.h>

#include "common/oom.h"
#include "proto/yarn.pb-c.h"
#include "proto/yarn_server.pb-c.h"
#include "rm-lite/core/node-updates.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/text.h"
#include "rm-lite/scheduler/scheduler.h"

#define NS(x) HADOOP__YARN__NODE_STATE_PROTO__NS_##x

_Static_assert(RM_NODE_STATES <= RM_NODE_STATES_MAX, "counted by state");

void rm_node_recount(struct rm_node *n, bool in_table)
{
    if (n->counted >= 0)
        n->rm->node_counts[n->counted]--;
    n->counted = in_table ? n->state : -1;
    if (in_table)
        n->rm->node_counts[n->state]++;
}

int32_t rm_active_nodes(const struct rm *rm)
{
    return rm_count_nodes(rm, RM_NODE_ST_RUNNING) + rm_count_nodes(rm, RM_NODE_ST_DECOMMISSIONING);
}

int32_t rm_told_nodes(const struct rm *rm)
{
    int32_t active = rm_active_nodes(rm);

    return rm->hold_until_ms ? SV_MAX(active, rm->stored_nodes) : active;
}

int32_t rm_count_nodes(const struct rm *rm, int state)
{
    return rm->node_counts[state];
}

struct rm_node *rm_node_new(struct rm *rm, const struct yarn_node_id *id)
{
    struct rm_node *n = rm_pool_take(&rm->node_pool);

    n->rm = rm;
    n->id = *id;
    yarn_node_id_text(id, n->key);
    n->state = RM_NODE_ST_NEW;
    n->rack = rm_strdup(RM_DEFAULT_RACK);
    n->seen_ms = sv_now_ms();
    rm_node_enter(rm, n);
    n->counted = -1;
    rm_node_recount(n, true);
    return n;
}

void rm_node_clear_lists(struct rm_node *n)
{
    struct rm_cid *c, *ctmp;
    struct rm_aid *a, *atmp;

    struct rm_cid **lists[] = { &n->to_cleanup, &n->to_remove, &n->to_signal, &n->to_update };

    for (size_t i = 0; i < SV_ARRAY_LEN(lists); i++)
        DL_FOREACH_SAFE (*lists[i], c, ctmp) {
            DL_DELETE(*lists[i], c);
            free(c);
        }
    HASH_ITER (hh, n->apps_to_cleanup, a, atmp) {
        HASH_DEL(n->apps_to_cleanup, a);
        free(a);
    }
}

void rm_node_free(struct rm_node *n)
{
    rm_node_updates_forget(n);
    rm_node_recount(n, false);
    rm_node_clear_lists(n);
    rm_set_clear(&n->apps);
    free(n->rack);
    free(n->version);
    free(n->selvedge);
    free(n->labels);
    free(n->http);
    free(n->health);
    free(n->last_response);
    rm_pool_give(&n->rm->node_pool, n);
}

int rm_node_wire_state(const struct rm_node *n)
{
    static const int wire[RM_NODE_STATES] = {
        NS(NEW),  NS(NEW),      NS(RUNNING), NS(UNHEALTHY), NS(DECOMMISSIONING), NS(DECOMMISSIONED),
        NS(LOST), NS(REBOOTED), NS(SHUTDOWN)
    };

    return wire[n->state];
}

bool rm_node_is_active(const struct rm_node *n)
{
    return n->state == RM_NODE_ST_RUNNING || n->state == RM_NODE_ST_UNHEALTHY ||
           n->state == RM_NODE_ST_DECOMMISSIONING;
}

static void cid_add(struct rm_cid **list, struct yarn_container_id id)
{
    struct rm_cid *c = calloc(1, sizeof(*c));

    if (!c)
        sv_out_of_memory();
    c->id = id;
    DL_APPEND(*list, c);
}

void rm_node_cleanup_container(struct rm_node *n, struct yarn_container_id id)
{
    cid_add(&n->to_cleanup, id);
}

void rm_node_pulled(struct rm_node *n, struct yarn_container_id id)
{
    cid_add(&n->to_remove, id);
}

void rm_node_update_container(struct rm_container *c)
{
    if (!c->node || c->node_waits) /* once, however often its master asks for updates */
        return;
    cid_add(&c->node->to_update, c->id);
    c->node_waits = true;
}

int rm_node_signal_container(struct rm_node *n, struct yarn_container_id id, int command)
{
    struct rm_cid *c;
    size_t waiting;

    DL_COUNT(n->to_signal, c, waiting);
    if (waiting >= RM_NODE_SIGNALS_MAX)
        return -EBUSY;
    cid_add(&n->to_signal, id);
    n->to_signal->prev->command = command;
    return 0;
}

void rm_node_take_signals(struct rm_node *n, struct sv_arena *a,
                          Hadoop__Yarn__NodeHeartbeatResponseProto *resp)
{
    struct rm_cid *c, *tmp;
    size_t count;

    DL_COUNT(n->to_signal, c, count);
    resp->containers_to_signal =
        count ? sv_newn(a, typeof(*resp->containers_to_signal), count) : NULL;
    if (!resp->containers_to_signal)
        return; /* without memory: left for the next heartbeat */
    DL_FOREACH_SAFE (n->to_signal, c, tmp) {
        Hadoop__Yarn__SignalContainerRequestProto *m =
            sv_new(a, Hadoop__Yarn__SignalContainerRequestProto);

        if (m)
            hadoop__yarn__signal_container_request_proto__init(m);
        if (!m || !(m->container_id = yarn_container_id_to(a, c->id)))
            return;
        m->command = (Hadoop__Yarn__SignalContainerCommandProto)c->command;
        resp->containers_to_signal[resp->n_containers_to_signal++] = m;
        DL_DELETE(n->to_signal, c);
        free(c);
    }
}

void rm_node_cleanup_app(struct rm_node *n, struct yarn_app_id id)
{
    struct rm_aid *a, probe = { .key = { id.cluster_ts, id.id } };
    char id_str[YARN_ID_TEXT_MAX];

    HASH_FIND(hh, n->apps_to_cleanup, &probe.key, sizeof(probe.key), a);
    if (a)
        return;
    a = calloc(1, sizeof(*a));
    if (!a)
        sv_out_of_memory();
    a->key.ts = id.cluster_ts;
    a->key.id = id.id;
    a->id = id;
    HASH_ADD(hh, n->apps_to_cleanup, key, sizeof(a->key), a);
    rm_set_remove(&n->apps, yarn_app_id_text(id, id_str));
}

void rm_node_take_apps(struct rm_node *n, struct sv_arena *a,
                       Hadoop__Yarn__NodeHeartbeatResponseProto *resp)
{
    size_t count = HASH_COUNT(n->apps_to_cleanup);
    struct rm_aid *it, *tmp;

    resp->applications_to_cleanup =
        count ? sv_newn(a, Hadoop__Yarn__ApplicationIdProto *, count) : NULL;
    if (!resp->applications_to_cleanup)
        return;
    HASH_ITER (hh, n->apps_to_cleanup, it, tmp) {
        Hadoop__Yarn__ApplicationIdProto *m = yarn_app_id_to(a, it->id);

        if (!m)
            return;
        resp->applications_to_cleanup[resp->n_applications_to_cleanup++] = m;
        HASH_DEL(n->apps_to_cleanup, it);
        free(it);
    }
}

static void post(struct rm_node *n, enum rm_node_event event, const void *payload, size_t size)
{
    sv_dispatcher_post(n->rm->dispatcher, &(struct sv_event){ .machine = RM_M_NODE,
                                                              .type = event,
                                                              .object = n,
                                                              .payload = payload,
                                                              .payload_size = size });
}

void rm_node_resize(struct rm_node *n, struct rm_res total)
{
    n->total = total;
    n->resize_waits = true;
    rm_node_post(n, RM_NODE_EV_RESOURCE_UPDATE);
}

void rm_node_post(struct rm_node *n, enum rm_node_event event)
{
    post(n, event, NULL, 0);
}

void rm_node_post_health(struct rm_node *n, enum rm_node_event event, bool healthy)
{
    struct rm_node_health p = { .healthy = healthy };

    post(n, event, &p, sizeof(p));
}

void rm_node_post_graceful(struct rm_node *n, int64_t timeout_ms)
{
    struct rm_node_grace p = { .timeout_ms = timeout_ms };

    post(n, RM_NODE_EV_GRACEFUL, &p, sizeof(p));
}
