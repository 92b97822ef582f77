/* The scenario of rm-driver in which a master changes its running containers. */
#include "tests/integration/rm-lite/rm-driver.h"

#define UPDATE(x) HADOOP__YARN__CONTAINER_UPDATE_TYPE_PROTO__##x

typedef Hadoop__Yarn__UpdateContainerRequestProto UpdateRequest;
typedef Hadoop__Yarn__UpdatedContainerProto Updated;

static UpdateRequest *update(struct sv_arena *a, struct yarn_container_id id, int32_t version,
                             int type, int64_t memory)
{
    UpdateRequest *m = PEER_NEW(a, hadoop__yarn__update_container_request_proto);

    m->container_id = yarn_container_id_to(a, id);
    m->container_version = version;
    m->update_type = (Hadoop__Yarn__ContainerUpdateTypeProto)type;
    if (memory)
        m->capability = yarn_resource_to(a, (struct yarn_resource){ memory, 1, 0 });
    return m;
}

static const AllocateResponse *ask(struct sv_arena *a, struct master *m, UpdateRequest **updates,
                                   size_t n)
{
    AllocateRequest *q = peer_request(a, "allocate");

    q->update_requests = updates;
    q->n_update_requests = n;
    return peer_good(peer_allocate(a, &m->am, q));
}

/* Heartbeats of node and master until a container is updated. */
static const Updated *await(struct sv_arena *a, struct master *m, const AllocateResponse *resp)
{
    for (int64_t until = peer_deadline(); !resp->n_updated_containers && peer_pause(until, 20);) {
        beat(&g.nodes[0]);
        resp = allocate(a, m, -1);
    }
    if (!resp->n_updated_containers)
        die("no update of a container", NULL);
    return resp->updated_containers[0];
}

static void is(const Updated *u, int type, int32_t version, int64_t memory, const char *what)
{
    const Hadoop__Yarn__ContainerProto *c = u->container;
    struct yarn_container_token t = { 0 };
    struct yarn_token token;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    if (yarn_token_from(c->container_token, a, &token) < 0 ||
        yarn_container_token_decode(token.id, token.id_len, &t, NULL) < 0)
        die("the token of an updated container", NULL);
    check((int)u->update_type == type && c->version == version && t.version == version &&
              c->resource->memory == memory && t.resource.memory_mb == memory &&
              peer_signed(c->container_token, &peer.container_key),
          "%s: version %d with %lld MB, in the container and in its token (%d, %lld)", what,
          version, (long long)memory, t.version, (long long)t.resource.memory_mb);
}

/* A heartbeat in which the node says that a master has used the token of an increase. */
static const HeartbeatResponse *beat_increased(struct sv_arena *a, struct yarn_container_id id,
                                               int32_t version, int64_t memory)
{
    struct peer_node *n = &g.nodes[0];
    HeartbeatRequest *q = peer_heartbeat(a, n);
    Hadoop__Yarn__ContainerProto *c = PEER_NEW(a, hadoop__yarn__container_proto);

    c->id = yarn_container_id_to(a, id);
    c->resource = yarn_resource_to(a, (struct yarn_resource){ memory, 1, 0 });
    c->has_version = true;
    c->version = version;
    q->node_status->increased_containers = sv_newn(a, Hadoop__Yarn__ContainerProto *, 1);
    q->node_status->increased_containers[q->node_status->n_increased_containers++] = c;
    return peer_good(peer_beat_with(a, n, q));
}

static void errors(struct sv_arena *a, struct master *m, struct yarn_container_id id)
{
    struct yarn_container_id foreign = { { { 1, 1 }, 1 }, 1 };
    UpdateRequest *v[] = {
        update(a, foreign, 0, UPDATE(INCREASE_RESOURCE), 2048),
        update(a, id, 7, UPDATE(INCREASE_RESOURCE), 2048),
        update(a, id, 0, UPDATE(INCREASE_RESOURCE), 0),
        update(a, id, 0, UPDATE(INCREASE_RESOURCE), 1 << 20),
        update(a, id, 0, UPDATE(DECREASE_RESOURCE), 2048),
        update(a, id, 0, UPDATE(DEMOTE_EXECUTION_TYPE), 0),
        update(a, id, 0, UPDATE(INCREASE_RESOURCE), 2048),
        update(a, id, 0, UPDATE(DECREASE_RESOURCE), 1024),
    };
    static const char *const why[] = {
        "INVALID_CONTAINER_ID",
        "INCORRECT_CONTAINER_VERSION_ERROR",
        "RESOURCE_OUTSIDE_ALLOWED_RANGE",
        "RESOURCE_OUTSIDE_ALLOWED_RANGE",
        "RESOURCE_OUTSIDE_ALLOWED_RANGE",
        ("UPDATE_NOT_SUPPORTED: "
         "yarn.resourcemanager.opportunistic-container-allocation.enabled is false"),
        "UPDATE_OUTSTANDING_ERROR",
    };
    const AllocateResponse *resp = ask(a, m, v, SV_ARRAY_LEN(v));

    check(resp->n_update_errors == SV_ARRAY_LEN(why),
          "each update that cannot be has its error (%zu)", resp->n_update_errors);
    for (size_t i = 0; i < SV_MIN(resp->n_update_errors, SV_ARRAY_LEN(why)); i++)
        check(sv_streq(resp->update_errors[i]->reason, why[i]) &&
                  resp->update_errors[i]->current_container_version == (i == 0 ? -1 : 0) &&
                  resp->update_errors[i]->update_request->update_type ==
                      v[i < 6 ? i : i + 1]->update_type,
              "error %zu: %s", i, resp->update_errors[i]->reason);
    is(await(a, m, resp), UPDATE(INCREASE_RESOURCE), 1, 2048, "the one that can be");
}

void run_updates(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const HeartbeatResponse *told;
    struct yarn_container_id id;
    struct master m;
    struct yarn_app_id app = begin(&m);
    const AllocateResponse *resp = allocate(a, &m, 1);
    UpdateRequest *one;

    if (yarn_container_id_from(resp->allocated_containers[0]->id, &id) < 0)
        die("the id of a container", NULL);
    one = update(a, id, 0, UPDATE(INCREASE_RESOURCE), 2048);
    resp = ask(a, &m, &one, 1);
    check(resp->n_update_errors == 1 &&
              sv_has_prefix(resp->update_errors[0]->reason, "CONTAINER_NOT_RUNNING"),
          "no update before it runs");
    beat(&g.nodes[0]);
    errors(a, &m, id);
    told = beat_increased(a, id, 1, 2048);
    check(told->n_containers_to_update == 0, "the node is not told what it tells");

    one = update(a, id, 1, UPDATE(DECREASE_RESOURCE), 1024);
    is(await(a, &m, ask(a, &m, &one, 1)), UPDATE(DECREASE_RESOURCE), 2, 1024, "a decrease");
    told = peer_good(peer_beat_with(a, &g.nodes[0], peer_heartbeat(a, &g.nodes[0])));
    check(told->n_containers_to_update == 1 && told->containers_to_update[0]->version == 2 &&
              peer_signed(told->containers_to_update[0]->container_token, &peer.container_key),
          "the node is told of the decrease, with a token");
    told = peer_good(peer_beat_with(a, &g.nodes[0], peer_heartbeat(a, &g.nodes[0])));
    check(told->n_containers_to_update == 0, "once");

    one = update(a, id, 2, UPDATE(INCREASE_RESOURCE), 4096);
    is(await(a, &m, ask(a, &m, &one, 1)), UPDATE(INCREASE_RESOURCE), 3, 4096, "another increase");
    is(await(a, &m, allocate(a, &m, -1)), UPDATE(DECREASE_RESOURCE), 4, 1024,
       "and its end, as it is not used");
    told = beat_increased(a, id, 3, 4096); /* too late */
    check(told->n_containers_to_update == 1 && told->containers_to_update[0]->version == 4,
          "a node with an increase that has ended is told the size");
    peer_end(&g.nodes[0], id, 0);
    good_bye(&m, app);
}
