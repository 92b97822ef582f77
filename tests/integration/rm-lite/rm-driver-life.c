/* Scenarios of rm-driver in which everybody plays by the rules, but for some requests that are
 * refused. */
#include "tests/integration/rm-lite/rm-driver.h"

void run_life(void)
{
    struct master m;
    struct yarn_app_id id = begin(&m);
    struct peer_node *n = &g.nodes[0];
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const AllocateResponse *resp;
    char want[128], text[YARN_ID_TEXT_MAX];
    size_t unacked = 0;

    (void)snprintf(want, sizeof(want), "/proxy/%s", yarn_app_id_text(id, text));
    check(sv_streq(g.env_base, want) && g.env_time[0],
          "the master's environment has its two variables");
    check(peer.bad_tokens == 0, "the master's container token is signed with the node's key");
    resp = allocate(a, &m, 10);
    check(resp->n_allocated_containers == 10,
          "10 containers are in the answer that asked for them (%zu)",
          resp->n_allocated_containers);
    check(resp->n_nm_tokens == 1, "one NMToken for the node");
    check(resp->allocated_containers[0]->priority->priority == 1 &&
              resp->allocated_containers[0]->allocation_request_id == -1,
          "containers carry priority and allocation id of their ask");
    check(peer.bad_tokens == 0, "all tokens are signed with the node's keys");
    beat(n);
    for (size_t i = 1; i < n->n_held; i++) {
        n->held[i].complete = true;
        n->held[i].exit = (int32_t)i;
    }
    beat(n);
    resp = allocate(a, &m, -1);
    check(resp->n_completed_container_statuses == 10 && m.exits == 55,
          "every exit code arrives (%zu, sum %lld)", resp->n_completed_container_statuses,
          (long long)m.exits);
    beat(n);
    check(n->removed == 0, "the node keeps them until the master has confirmed");
    resp = allocate(a, &m, -1);
    check(m.done == 10, "no exit is told twice");
    beat(n);
    for (size_t i = 1; i < n->n_held; i++)
        unacked += !n->held[i].acked;
    check(unacked == 0, "then it may forget them");
    good_bye(&m, id);
}

/* Unsupported calls are refused, not dropped: a master would wait for the answer. */
static void unsupported(struct sv_arena *a, struct master *m)
{
    AllocateRequest *q = peer_request(a, "allocate");
    Hadoop__Yarn__SchedulingRequestProto *scheduling =
        PEER_NEW(a, hadoop__yarn__scheduling_request_proto);
    Hadoop__Yarn__SchedulingRequestProto *one[1] = { scheduling };

    q->has_response_id = true;
    q->response_id = m->am.response_id;
    q->scheduling_requests = one;
    q->n_scheduling_requests = 1;
    refused(m->am.rm, "allocate", q, JAVA_YARN_EXCEPTION,
            "Found non empty SchedulingRequest in AllocateRequest");
    q->n_scheduling_requests = 0;
}

/* Runs with two containers until a line comes; then it ends, and another line is awaited. */
void run_page(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct master m;
    struct yarn_app_id id = begin(&m);
    struct yarn_container_id master = g.master; /* those of the others come, too */

    check(allocate(a, &m, 2)->n_allocated_containers == 2, "two containers are given");
    beat(&g.nodes[0]);
    for (int i = 0; getenv("CROWD") && i < strtol(getenv("CROWD"), NULL, 10); i++)
        (void)submit("default", 1);
    for (int i = 0; i < 2; i++) {
        await_line("PAUSE");
        g.master = master;
        if (i == 0)
            good_bye(&m, id);
    }
}

void run_rules(void)
{
    struct master m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetApplicationReportRequestProto *unknown =
        peer_request(a, "getApplicationReport");
    Hadoop__Yarn__GetQueueInfoRequestProto *queue = peer_request(a, "getQueueInfo");
    AllocateRequest *q = request(a, 1, 1 << 20);
    const Hadoop__Yarn__GetQueueInfoResponseProto *info;
    const AllocateResponse *first, *second;
    Hadoop__Yarn__ContainerIdProto *foreign[1];
    struct yarn_app_id id = begin(&m);
    struct peer_master forged = g.am;
    struct ipc_client *c;
    size_t had;

    refused(g.client, "getResourceProfiles", NULL, JAVA_FEATURE_NOT_ENABLED,
            "Resource profile is not enabled");
    unknown->application_id = yarn_app_id_to(a, (struct yarn_app_id){ 1, 1 });
    refused(g.client, "getApplicationReport", unknown, JAVA_APP_NOT_FOUND,
            "Application with id 'application_1_0001' doesn't exist in RM.");
    queue->queuename = peer_text("default");
    queue->has_includeapplications = queue->includeapplications = true;
    info = peer_must(a, g.client, "getQueueInfo", queue);
    check(info->queueinfo && info->queueinfo->n_applications == 1,
          "getQueueInfo lists the application");
    queue->queuename = peer_text("nowhere");
    info = peer_must(a, g.client, "getQueueInfo", queue);
    check(!info->queueinfo, "getQueueInfo of an unknown queue is empty");

    refused(m.am.rm, "registerApplicationMaster", NULL, JAVA_INVALID_AM_REQUEST,
            "already registered");
    q->has_response_id = true;
    refused(m.am.rm, "allocate", q, JAVA_INVALID_RESOURCE_REQUEST,
            "greater than maximum allowed allocation");
    q->n_ask = 0;
    foreign[0] = yarn_container_id_to(a, (struct yarn_container_id){ { { 1, 1 }, 1 }, 1 });
    q->release = foreign;
    q->n_release = 1;
    refused(m.am.rm, "allocate", q, JAVA_INVALID_RELEASE, "not belonging to this application");
    q->n_release = 0;
    q->response_id = 77;
    refused(m.am.rm, "allocate", q, JAVA_INVALID_AM_REQUEST, "Invalid responseId");

    unsupported(a, &m);
    first = allocate(a, &m, 2);
    had = m.containers;
    m.am.response_id--; /* the answer was lost: ask again */
    second = allocate(a, &m, 2);
    check(second->response_id == first->response_id && second->n_allocated_containers == 2 &&
              sv_streq(second->allocated_containers[0]->node_http_address,
                       first->allocated_containers[0]->node_http_address),
          "a repeated request is answered as before");
    m.containers = had;

    forged.password[0] ^= 1;
    c = peer_open_master(&forged);
    q->response_id = m.am.response_id;
    refused(c, "allocate", q, "javax.security.sasl.SaslException", "");
    ipc_client_free(c);
    c = peer_open(PEER_MASTERS, "ann", NULL);
    refused(c, "allocate", q, JAVA_ACCESS_CONTROL, "SIMPLE authentication is not enabled");
    ipc_client_free(c);
    good_bye(&m, id);
    c = peer_open_master(&g.am);
    refused(c, "allocate", q, JAVA_INVALID_TOKEN, "not found in AMRMTokenSecretManager");
    ipc_client_free(c);
}

void run_heartbeats(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct peer_node *n = add_node();
    const HeartbeatResponse *first, *again;
    struct peer_node stranger = { .id = { "127.0.0.9", 1 }, .rm = n->rm };

    first = beat_with(a, n, 0);
    check(first->response_id == 1 && first->nodeaction == NODE_ACTION(NORMAL),
          "a heartbeat is answered with the next number");
    check(first->nextheartbeatinterval > 0, "and with the interval");
    again = beat_with(a, n, 0);
    check(again->response_id == 1, "a repeated heartbeat is answered as before");
    check(beat_with(a, n, 1)->response_id == 2, "and the next goes on");
    check(beat_with(a, &stranger, 0)->nodeaction == NODE_ACTION(RESYNC),
          "an unknown node is told to resync");
    (void)beat_with(a, n, 2);
    check(beat_with(a, n, 0)->nodeaction == NODE_ACTION(RESYNC),
          "a node that is too far behind is told to resync");
    check(peer_join(n), "and may register again");
    check(beat_with(a, n, 0)->nodeaction == NODE_ACTION(NORMAL), "after which it is as new");
}

/* Keys roll every few seconds: nodes get the next one before it signs, masters get a token of the
 * new one, and earlier tokens remain valid. */
void run_roll(void)
{
    struct master m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_app_id id = begin(&m);
    int32_t first_nm = peer.nm_key.key_id, first_ct = peer.container_key.key_id;
    struct yarn_master_key old_ct = peer.container_key, old_nm = peer.nm_key;
    int64_t until = peer_deadline();
    bool new_token = false;
    size_t tokens = 0, had;

    (void)allocate(a, &m, 1);
    while ((peer.nm_key.key_id == first_nm || !new_token) && peer_pause(until, 50)) {
        old_ct = peer.container_key;
        old_nm = peer.nm_key;
        beat(&g.nodes[0]);
        new_token |= allocate(a, &m, 0)->am_rm_token != NULL;
    }
    check(peer.nm_key.key_id == first_nm + 1 && peer.container_key.key_id == first_ct + 1,
          "the node learns the next keys by heartbeat");
    check(new_token, "the master gets a token of the new key");
    had = m.containers;
    while (!tokens && peer_pause(until, 300)) { /* until the new key signs */
        const AllocateResponse *resp;
        struct yarn_master_key new_ct = peer.container_key, new_nm = peer.nm_key;

        beat(&g.nodes[0]);
        peer.bad_tokens = 0;
        resp = allocate(a, &m, 1);
        if (peer.bad_tokens) { /* still made with the old key, which nodes keep */
            peer.container_key = old_ct;
            peer.nm_key = old_nm;
            check(resp->n_allocated_containers == 0 ||
                      peer_signed(resp->allocated_containers[0]->container_token, &old_ct),
                  "until then tokens are made with the old key");
            peer.container_key = new_ct;
            peer.nm_key = new_nm;
            until = SV_MIN(until, sv_now_ms() + peer.patience_ms / 2);
        } else {
            tokens += resp->n_nm_tokens;
        }
    }
    check(tokens == 1 && m.containers > had,
          "then the node's NMToken is sent again, with the new key");
    good_bye(&m, id);
}

/* How fast containers are given and taken back over real IPC. */
void run_rate(void)
{
    struct master m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_app_id id = begin(&m);
    int64_t t0, ms;
    size_t done = 0;

    while (g.n_nodes < NODES)
        beat(add_node());
    t0 = sv_now_ms();
    (void)allocate(a, &m, 1000);
    check(m.containers > 0 && m.containers <= 256, "the first answer has one turn's work (%zu)",
          m.containers);
    while (m.containers < 1000 && sv_now_ms() < t0 + peer.patience_ms)
        (void)allocate(a, &m, -1);
    ms = SV_MAX(sv_now_ms() - t0, (int64_t)1);
    check(m.containers == 1000,
          "1000 containers on %d nodes without a heartbeat, %lld ms = %lld a second", g.n_nodes,
          (long long)ms, (long long)(1000 * 1000 / ms));
    for (int i = 0; i < g.n_nodes; i++)
        for (size_t k = 0; k < g.nodes[i].n_held; k++) {
            g.nodes[i].held[k].complete =
                yarn_container_id_cmp(g.nodes[i].held[k].id, g.master) != 0;
            done += g.nodes[i].held[k].complete;
        }
    beat_all();
    (void)allocate(a, &m, 0);
    check(m.done == 1000 && done == 1000, "and all 1000 ends are told once");
    t0 = sv_now_ms();
    for (int k = 0; k < 100; k++)
        beat_all();
    ms = SV_MAX(sv_now_ms() - t0, (int64_t)1);
    check(true, "%d heartbeats one after the other in %lld ms = %lld a second", 100 * g.n_nodes,
          (long long)ms, (long long)(100LL * g.n_nodes * 1000 / ms));
    good_bye(&m, id);
}
