/* The nodes of tests/lib/rm-peer.h. */
#include "tests/lib/rm-peer.h"

#include <errno.h>

/* ---- A node's own server ---- */

bool peer_signed(const Hadoop__Common__TokenProto *t, const struct yarn_master_key *key)
{
    uint8_t want[YARN_TOKEN_PASSWORD_MAX];
    size_t n;

    return yarn_token_password(YARN_HMAC_SHA1, key, t->identifier.data, t->identifier.len, want,
                               &n) >= 0 &&
           yarn_bytes_equal(want, n, t->password.data, t->password.len);
}

static void on_startContainers(struct ipc_call *c, const ProtobufCMessage *request, void *userdata)
{
    const Hadoop__Yarn__StartContainersRequestProto *q = (const void *)request;
    Hadoop__Yarn__StartContainersResponseProto resp =
        HADOOP__YARN__START_CONTAINERS_RESPONSE_PROTO__INIT;
    const Hadoop__Common__TokenProto *t;
    struct yarn_container_token id;

    if (q->n_start_container_request != 1)
        die("startContainers: not one container", NULL);
    t = q->start_container_request[0]->container_token;
    if (!peer_signed(t, &peer.container_key) ||
        yarn_container_token_decode(t->identifier.data, t->identifier.len, &id, NULL) < 0) {
        peer.bad_tokens++;
        ipc_call_fail(c, JAVA_INVALID_TOKEN, "bad container token");
        return;
    }
    peer_hold(userdata, id.container);
    if (peer.on_start)
        peer.on_start(userdata, id.container,
                      q->start_container_request[0]->container_launch_context);
    ipc_call_reply(c, &resp.base);
}

static void on_stopContainers(struct ipc_call *c, const ProtobufCMessage *request, void *userdata)
{
    Hadoop__Yarn__StopContainersResponseProto resp =
        HADOOP__YARN__STOP_CONTAINERS_RESPONSE_PROTO__INIT;

    (void)request;
    (void)userdata;
    peer.stops++;
    ipc_call_reply(c, &resp.base);
}

static int verify_nm_token(const uint8_t *id, size_t len, uint8_t ret[64], size_t *ret_len,
                           char user[256], const char **class, struct sv_error *err, void *data)
{
    struct yarn_nm_token t;
    int r = yarn_nm_token_decode(id, len, &t, err);

    (void)class;
    (void)data;
    if (r < 0)
        return r;
    if (t.key_id != peer.nm_key.key_id)
        return sv_error_set(err, -EACCES, "unknown key %d", t.key_id);
    yarn_attempt_id_text(t.attempt, user);
    return yarn_token_password(YARN_HMAC_SHA1, &peer.nm_key, id, len, ret, ret_len);
}

static const struct ipc_method nm_methods[] = {
    { "startContainers", &hadoop__yarn__start_containers_request_proto__descriptor,
      &hadoop__yarn__start_containers_response_proto__descriptor, on_startContainers },
    { "stopContainers", &hadoop__yarn__stop_containers_request_proto__descriptor,
      &hadoop__yarn__stop_containers_response_proto__descriptor, on_stopContainers },
};
static const struct ipc_protocol nm_protocol = { YARN_CONTAINER_MANAGEMENT_PROTOCOL, 1, nm_methods,
                                                 SV_ARRAY_LEN(nm_methods) };
static const struct ipc_protocol *const nm_protocols[] = { &nm_protocol, NULL };

void peer_serve(struct peer_node *n, const char *host)
{
    struct ipc_server_config cfg = { .host = n->id.host,
                                     .verify_token = verify_nm_token,
                                     .protocols = nm_protocols,
                                     .userdata = n };
    struct sv_error err = { 0 };

    (void)snprintf(n->id.host, sizeof(n->id.host), "%s", host);
    if (ipc_server_new(peer.event, &cfg, &n->server, &err) < 0)
        die("server of a node", &err);
    n->id.port = ipc_server_port(n->server);
}

/* ---- Nodes ---- */

void peer_hold(struct peer_node *n, struct yarn_container_id id)
{
    if (n->n_held == n->room) {
        n->room = SV_MAX(2 * n->room, (size_t)64);
        n->held = realloc(n->held, n->room * sizeof(*n->held));
        if (!n->held)
            die("memory of a node", NULL);
    }
    n->held[n->n_held++] = (struct peer_held){ .id = id };
}

static struct peer_held *find_held(struct peer_node *n, struct yarn_container_id id)
{
    for (size_t i = 0; i < n->n_held; i++)
        if (yarn_container_id_cmp(n->held[i].id, id) == 0)
            return &n->held[i];
    return NULL;
}

void peer_end(struct peer_node *n, struct yarn_container_id id, int32_t exit)
{
    struct peer_held *h = find_held(n, id);

    if (h) {
        h->complete = true;
        h->exit = exit;
    }
}

RegisterRequest *peer_registration(struct sv_arena *a, const struct peer_node *n)
{
    RegisterRequest *q = peer_request(a, "registerNodeManager");

    q->node_id = yarn_node_id_to(a, &n->id);
    q->has_http_port = true;
    q->http_port = 8042;
    q->resource = yarn_resource_to(a, (struct yarn_resource){ 65536, 64, 0 });
    q->nm_version = peer_text("3.4.2");
    q->container_statuses = sv_newn(a, Hadoop__Yarn__NMContainerStatusProto *, n->n_held + 1);
    for (size_t i = 0; i < n->n_held; i++) {
        Hadoop__Yarn__NMContainerStatusProto *m;

        if (n->held[i].complete)
            continue;
        m = PEER_NEW(a, hadoop__yarn__nmcontainer_status_proto);
        m->container_id = yarn_container_id_to(a, n->held[i].id);
        m->has_container_state = true;
        m->container_state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
        m->resource = yarn_resource_to(a, (struct yarn_resource){ 1024, 1, 0 });
        q->container_statuses[q->n_container_statuses++] = m;
    }
    return q;
}

static void take_key(const Hadoop__Yarn__MasterKeyProto *m, struct yarn_master_key *k)
{
    if (!m || m->bytes.len > sizeof(k->bytes))
        return;
    k->key_id = m->key_id;
    k->len = m->bytes.len;
    memcpy(k->bytes, m->bytes.data, m->bytes.len);
}

void peer_take_keys(const Hadoop__Yarn__MasterKeyProto *container_key,
                    const Hadoop__Yarn__MasterKeyProto *nm_key)
{
    take_key(container_key, &peer.container_key);
    take_key(nm_key, &peer.nm_key);
}

const RegisterResponse *peer_register(struct sv_arena *a, struct peer_node *n, RegisterRequest *q)
{
    const RegisterResponse *m;

    if (!n->rm)
        n->rm = peer_open(PEER_TRACKER, "yarn", NULL);
    m = peer_call(a, n->rm, "registerNodeManager", q);
    if (!m)
        return NULL;
    peer_take_keys(m->container_token_master_key, m->nm_token_master_key);
    n->response_id = 0;
    return m;
}

bool peer_join(struct peer_node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const RegisterResponse *m = peer_good(peer_register(a, n, peer_registration(a, n)));

    return m->nodeaction == NODE_ACTION(NORMAL);
}

ContainerStatus *peer_status(struct sv_arena *a, struct yarn_container_id id)
{
    ContainerStatus *m = PEER_NEW(a, hadoop__yarn__container_status_proto);

    m->container_id = yarn_container_id_to(a, id);
    m->has_state = m->has_exit_status = true;
    m->state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
    m->exit_status = -1000;
    m->diagnostics = peer_text("");
    return m;
}

static Hadoop__Yarn__MasterKeyProto *key_id(struct sv_arena *a, const struct yarn_master_key *k)
{
    Hadoop__Yarn__MasterKeyProto *m = PEER_NEW(a, hadoop__yarn__master_key_proto);

    m->has_key_id = true;
    m->key_id = k->key_id;
    return m;
}

HeartbeatRequest *peer_heartbeat(struct sv_arena *a, const struct peer_node *n)
{
    HeartbeatRequest *q = peer_request(a, "nodeHeartbeat");
    Hadoop__Yarn__NodeStatusProto *st = PEER_NEW(a, hadoop__yarn__node_status_proto);
    Hadoop__Yarn__NodeHealthStatusProto *health =
        PEER_NEW(a, hadoop__yarn__node_health_status_proto);

    health->has_is_node_healthy = health->is_node_healthy = true;
    health->health_report = peer_text("");
    st->node_id = yarn_node_id_to(a, &n->id);
    st->has_response_id = true;
    st->response_id = n->response_id;
    st->nodehealthstatus = health;
    st->containersstatuses = sv_newn(a, ContainerStatus *, n->n_held + 1);
    for (size_t i = 0; i < n->n_held; i++) {
        ContainerStatus *m;

        if (n->held[i].acked)
            continue;
        m = peer_status(a, n->held[i].id);
        if (n->held[i].complete) {
            m->state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_COMPLETE;
            m->exit_status = n->held[i].exit;
        }
        st->containersstatuses[st->n_containersstatuses++] = m;
    }
    q->node_status = st;
    q->last_known_container_token_master_key = key_id(a, &peer.container_key);
    q->last_known_nm_token_master_key = key_id(a, &peer.nm_key);
    return q;
}

static struct peer_held *find_told(struct peer_node *n, const Hadoop__Yarn__ContainerIdProto *m)
{
    struct yarn_container_id id;

    return yarn_container_id_from(m, &id) < 0 ? NULL : find_held(n, id);
}

static void take_beat(struct peer_node *n, const HeartbeatResponse *m)
{
    peer_take_keys(m->container_token_master_key, m->nm_token_master_key);
    for (size_t i = 0; i < m->n_containers_to_be_removed_from_nm; i++) {
        struct peer_held *h = find_told(n, m->containers_to_be_removed_from_nm[i]);

        if (h)
            h->acked = true;
    }
    for (size_t i = 0; i < m->n_containers_to_cleanup; i++) {
        struct peer_held *h = find_told(n, m->containers_to_cleanup[i]);

        if (h && !h->complete) {
            h->complete = true;
            h->exit = 143;
        }
    }
    n->removed += (int)m->n_containers_to_be_removed_from_nm;
    n->cleanups += (int)m->n_containers_to_cleanup;
    n->apps_cleaned += (int)m->n_applications_to_cleanup;
    n->response_id = m->response_id;
}

const HeartbeatResponse *peer_beat_with(struct sv_arena *a, struct peer_node *n,
                                        HeartbeatRequest *q)
{
    const HeartbeatResponse *m = peer_call(a, n->rm, "nodeHeartbeat", q);

    if (m)
        take_beat(n, m);
    return m;
}

void peer_beat(struct peer_node *n)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    (void)peer_good(peer_beat_with(a, n, peer_heartbeat(a, n)));
}
