/* The replies to heartbeats. See heartbeat-reply.h. */
#include "rm-lite/nodes/heartbeat-reply.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "rm-lite/am/am-session.h"
#include "rm-lite/core/context.h"
#include "rm-lite/core/rm-container.h"
#include "rm-lite/core/secrets.h"
#include "rm-lite/requests/answer.h"
#include "rm-lite/scheduler/resource-types.h"
#include "rm-lite/security/system-credentials.h"
#include "rm-lite/security/token-renewer.h"
#include "wire/ipc/methods.h"

typedef Hadoop__Yarn__NodeHeartbeatResponseProto HeartbeatResponse;

Hadoop__Yarn__MasterKeyProto *rm_master_key_to(struct sv_arena *a, const struct yarn_master_key *k)
{
    Hadoop__Yarn__MasterKeyProto *m = sv_new(a, Hadoop__Yarn__MasterKeyProto);

    if (!m)
        return NULL;
    hadoop__yarn__master_key_proto__init(m);
    m->has_key_id = true;
    m->key_id = k->key_id;
    m->has_bytes = true;
    m->bytes.len = k->len;
    m->bytes.data = sv_arena_memdup(a, k->bytes, k->len);
    return m->bytes.data ? m : NULL;
}

/* Moves a list of ids into the answer. Without memory the rest stays for the next heartbeat. */
static Hadoop__Yarn__ContainerIdProto **take_containers(struct sv_arena *a, struct rm_cid **list,
                                                        size_t *ret_n)
{
    Hadoop__Yarn__ContainerIdProto **v;
    struct rm_cid *it, *tmp;
    size_t n = 0;

    DL_COUNT(*list, it, n);
    *ret_n = 0;
    v = n ? sv_newn(a, Hadoop__Yarn__ContainerIdProto *, n) : NULL;
    if (!v)
        return NULL;
    DL_FOREACH_SAFE (*list, it, tmp) {
        v[*ret_n] = yarn_container_id_to(a, it->id);
        if (!v[*ret_n])
            break;
        (*ret_n)++;
        DL_DELETE(*list, it);
        free(it);
    }
    return v;
}

#define UPDATES_MAX 1000 /* of an answer: each is signed */

static bool is_2x(const struct rm_node *n)
{
    return n->version && strncmp(n->version, "2.", 2) == 0;
}

/* Moves the updates of running containers into the answer. Without memory the rest stays for the
 * next heartbeat. NodeManagers before 3.0 read another list, of decreases; all are. */
static void take_updates(struct rm_node *n, struct sv_arena *a, HeartbeatResponse *resp)
{
    Hadoop__Yarn__ContainerProto **v;
    struct rm_cid *it, *tmp;
    size_t count = 0;

    v = n->to_update ? sv_newn(a, Hadoop__Yarn__ContainerProto *, UPDATES_MAX) : NULL;
    if (!v)
        return;
    DL_FOREACH_SAFE (n->to_update, it, tmp) {
        struct rm_container *c = rm_container_find(n->rm, it->id);

        if (c && c->node == n && count == UPDATES_MAX)
            break;
        if (c && c->node == n) { /* else it has ended meanwhile */
            v[count] = rm_am_container(a, c);
            if (!v[count++])
                break;
            c->node_waits = false;
        }
        DL_DELETE(n->to_update, it);
        free(it);
    }
    count -= count > 0 && !v[count - 1];
    if (is_2x(n)) {
        resp->containers_to_decrease = v;
        resp->n_containers_to_decrease = count;
    } else {
        resp->containers_to_update = v;
        resp->n_containers_to_update = count;
    }
}

/* Without memory a key stays for the next heartbeat. */
static void new_keys(struct rm_node *n, struct sv_arena *a, HeartbeatResponse *resp)
{
    const struct yarn_master_key *ct = rm_secrets_announce(n->rm->secrets, RM_SECRET_CONTAINER);
    const struct yarn_master_key *nm = rm_secrets_announce(n->rm->secrets, RM_SECRET_NM);

    if (ct->key_id != n->container_key)
        resp->container_token_master_key = rm_master_key_to(a, ct);
    if (resp->container_token_master_key)
        n->container_key = ct->key_id;
    if (nm->key_id != n->nm_key)
        resp->nm_token_master_key = rm_master_key_to(a, nm);
    if (resp->nm_token_master_key)
        n->nm_key = nm->key_id;
}

void rm_heartbeat_refuse(struct ipc_call *call, int action, const char *why)
{
    HeartbeatResponse resp = HADOOP__YARN__NODE_HEARTBEAT_RESPONSE_PROTO__INIT;

    resp.has_nodeaction = true;
    resp.nodeaction = (Hadoop__Yarn__NodeActionProto)action;
    resp.diagnostics_message = (char *)(uintptr_t)why;
    ipc_call_reply(call, &resp.base);
}

void rm_heartbeat_repeat(struct ipc_call *call, struct rm_node *n)
{
    sv_log_info("Received duplicate heartbeat from node %s responseId=%d", n->key,
                n->response_id - 1);
    ipc_call_reply_packed(call, n->last_response, n->last_response_len);
}

/* The HDFS tokens that were got for applications, unless the node has them. Not remembered for a
 * repeated answer: the next heartbeat tells the same old number, and brings them. */
static bool add_credentials(const struct rm_node *n, struct sv_arena *a, HeartbeatResponse *resp)
{
    struct rm_system_credentials *s = rm_token_renewer_system(n->rm);
    const struct rm_credentials_row *rows;
    Hadoop__Yarn__SystemCredentialsForAppsProto *m;
    size_t count = 0, i;

    if (!s || n->token_sequence == rm_system_credentials_sequence(s) ||
        !rm_system_credentials_take(s, &rows, &count))
        return false;
    resp->system_credentials_for_apps =
        sv_newn(a, Hadoop__Yarn__SystemCredentialsForAppsProto *, SV_MAX(count, (size_t)1));
    m = sv_newn(a, Hadoop__Yarn__SystemCredentialsForAppsProto, SV_MAX(count, (size_t)1));
    if (!resp->system_credentials_for_apps || !m)
        return false;
    for (i = 0; i < count; i++) {
        hadoop__yarn__system_credentials_for_apps_proto__init(&m[i]);
        m[i].appid = yarn_app_id_to(a, rows[i].app);
        if (!m[i].appid)
            return false;
        m[i].has_credentialsforapp = true;
        m[i].credentialsforapp =
            (ProtobufCBinaryData){ rows[i].len, (uint8_t *)(uintptr_t)rows[i].bytes };
        resp->system_credentials_for_apps[i] = &m[i];
    }
    resp->n_system_credentials_for_apps = count;
    resp->has_tokensequenceno = true;
    resp->tokensequenceno = rm_system_credentials_sequence(s);
    return true;
}

void rm_heartbeat_reply(struct ipc_call *call, struct rm_node *n, int32_t heartbeat_id,
                        struct sv_arena *a)
{
    HeartbeatResponse resp = HADOOP__YARN__NODE_HEARTBEAT_RESPONSE_PROTO__INIT;

    n->response_id = heartbeat_id == INT32_MAX ? 0 : heartbeat_id + 1;
    resp.has_response_id = true;
    resp.response_id = n->response_id;
    resp.has_nodeaction = true;
    resp.nodeaction = HADOOP__YARN__NODE_ACTION_PROTO__NORMAL;
    resp.has_nextheartbeatinterval = true;
    resp.nextheartbeatinterval = n->rm->conf.heartbeat_ms;
    resp.containers_to_cleanup = take_containers(a, &n->to_cleanup, &resp.n_containers_to_cleanup);
    resp.containers_to_be_removed_from_nm =
        take_containers(a, &n->to_remove, &resp.n_containers_to_be_removed_from_nm);
    rm_node_take_apps(n, a, &resp);
    rm_node_take_signals(n, a, &resp);
    take_updates(n, a, &resp);
    if (n->resize_waits)
        resp.resource = rm_res_to(a, n->total);
    n->resize_waits &= !resp.resource; /* without memory it stays for the next heartbeat */
    new_keys(n, a, &resp);
    rm_answer_remember(&resp.base, &n->last_response, &n->last_response_len);
    if (add_credentials(n, a, &resp))
        ipc_call_reply(call, &resp.base);
    else
        ipc_call_reply_packed(call, n->last_response, n->last_response_len);
}
