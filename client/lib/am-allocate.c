/* Request and response of an ApplicationMaster's heartbeat. Responses come from the
 * ResourceManager, which is trusted; an unusable entry is skipped. */
#include <errno.h>
#include <string.h>

#include "client/lib/am-internal.h"

static struct am_container *find_any(struct cli_am *am, struct yarn_container_id id)
{
    struct am_container *c;
    char key[YARN_ID_TEXT_MAX];

    yarn_container_id_text(id, key);
    HASH_FIND_STR(am->containers, key, c);
    return c;
}

struct am_container *cli_am_find(struct cli_am *am, struct yarn_container_id id)
{
    struct am_container *c = find_any(am, id);

    return c && !c->over ? c : NULL;
}

void cli_am_retire(struct am_container *c, bool released)
{
    c->over = true;
    c->released = released;
    c->arena = sv_arena_free(c->arena);
    c->token = (struct yarn_token){ 0 };
    c->allocation.http_address = "";
}

void cli_am_forget_all(struct cli_am *am)
{
    struct am_container *c, *tmp;

    HASH_ITER (hh, am->containers, c, tmp) {
        HASH_DEL(am->containers, c);
        sv_arena_free(c->arena);
        free(c);
    }
}

static int add_asks(struct cli_am *am, struct sv_arena *a, Hadoop__Yarn__AllocateRequestProto *m)
{
    struct am_ask *w;
    size_t n = 0;

    LL_COUNT(am->asks, w, n);
    m->ask = sv_newn(a, Hadoop__Yarn__ResourceRequestProto *, n + 1);
    if (!m->ask)
        return -ENOMEM;
    LL_FOREACH (am->asks, w) {
        Hadoop__Yarn__ResourceRequestProto *ask = sv_new(a, Hadoop__Yarn__ResourceRequestProto);
        Hadoop__Yarn__PriorityProto *priority = sv_new(a, Hadoop__Yarn__PriorityProto);

        if (!w->dirty)
            continue;
        if (!ask || !priority)
            return -ENOMEM;
        hadoop__yarn__resource_request_proto__init(ask);
        hadoop__yarn__priority_proto__init(priority);
        priority->has_priority = ask->has_num_containers = ask->has_relax_locality = true;
        priority->priority = w->priority;
        ask->priority = priority;
        ask->resource_name = sv_arena_strdup(a, "*");
        ask->capability = yarn_resource_to(a, w->resource);
        ask->num_containers = w->count;
        ask->relax_locality = true;
        if (!ask->resource_name || !ask->capability)
            return -ENOMEM;
        m->ask[m->n_ask++] = ask;
    }
    return 0;
}

static int add_releases(struct cli_am *am, struct sv_arena *a,
                        Hadoop__Yarn__AllocateRequestProto *m)
{
    struct am_release *rel;
    size_t n = 0;

    LL_COUNT(am->releases, rel, n);
    m->release = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, n + 1);
    if (!m->release)
        return -ENOMEM;
    LL_FOREACH (am->releases, rel) {
        m->release[m->n_release] = yarn_container_id_to(a, rel->id);
        if (!m->release[m->n_release])
            return -ENOMEM;
        m->n_release++;
    }
    return 0;
}

int cli_am_make_request(struct cli_am *am)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__AllocateRequestProto *m =
        a ? sv_new(a, Hadoop__Yarn__AllocateRequestProto) : NULL;
    struct am_release *rel, *next;
    struct am_ask *w;

    if (!m)
        return -ENOMEM;
    hadoop__yarn__allocate_request_proto__init(m);
    m->has_response_id = m->has_progress = true;
    m->response_id = am->response_id;
    m->progress = am->progress;
    if (add_asks(am, a, m) < 0 || add_releases(am, a, m) < 0)
        return -ENOMEM;
    LL_FOREACH (am->asks, w)
        w->dirty = false;
    LL_FOREACH_SAFE (am->releases, rel, next)
        free(rel);
    am->releases = NULL;
    am->request_arena = SV_TAKE(a);
    am->request = m;
    return 0;
}

static void take_tokens(struct cli_am *am, const Hadoop__Yarn__AllocateResponseProto *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_token token;
    struct yarn_node_id node;

    for (size_t i = 0; a && i < m->n_nm_tokens; i++)
        if (yarn_node_id_from(m->nm_tokens[i]->nodeid, &node) == 0 && m->nm_tokens[i]->token &&
            yarn_token_from(m->nm_tokens[i]->token, a, &token) == 0)
            if (cli_nodes_token(am->nodes, &node, &token) < 0)
                continue; /* a start on that node will fail for lack of the token */
    if (a && m->am_rm_token && yarn_token_from(m->am_rm_token, a, &am->new_token) == 0) {
        sv_arena_free(am->new_token_arena);
        am->new_token_arena = SV_TAKE(a);
    }
}

static void take_allocated(struct cli_am *am, const Hadoop__Yarn__ContainerProto *m)
{
    struct am_container *c = calloc(1, sizeof(*c));
    struct am_ask *w;

    if (!c || !(c->arena = sv_arena_new(1 << 20)) || yarn_container_id_from(m->id, &c->id) < 0 ||
        yarn_node_id_from(m->nodeid, &c->allocation.node) < 0 ||
        yarn_resource_from(m->resource, &c->allocation.resource) < 0 || !m->container_token ||
        yarn_token_from(m->container_token, c->arena, &c->token) < 0 || find_any(am, c->id)) {
        if (c)
            sv_arena_free(c->arena);
        free(c); /* unusable or already known: the ResourceManager reclaims it when it expires */
        return;
    }
    yarn_container_id_text(c->id, c->key);
    c->allocation.id = c->id;
    c->allocation.priority = m->priority ? m->priority->priority : 0;
    c->allocation.http_address =
        sv_arena_strdup(c->arena, m->node_http_address ? m->node_http_address : "");
    HASH_ADD_STR(am->containers, key, c);
    LL_FOREACH (am->asks, w)
        if (w->priority == c->allocation.priority && w->count > 0)
            w->count--; /* as the ResourceManager does */
    if (am->ops.allocated)
        am->ops.allocated(am, &c->allocation, am->userdata);
}

static void take_completed(struct cli_am *am, const Hadoop__Yarn__ContainerStatusProto *m)
{
    struct yarn_container_id id;
    struct am_container *c;

    if (yarn_container_id_from(m->container_id, &id) < 0 || !(c = find_any(am, id)))
        return; /* never allocated to this attempt */
    if (c->over) {
        am->repeated += !c->released;
        return;
    }
    cli_am_retire(c, false);
    if (am->ops.completed)
        am->ops.completed(am, id, m->exit_status, m->diagnostics ? m->diagnostics : "",
                          am->userdata);
}

void cli_am_take_answer(struct cli_am *am, const Hadoop__Yarn__AllocateResponseProto *m)
{
    take_tokens(am, m);
    for (size_t i = 0; i < m->n_allocated_containers && am->phase != OVER; i++)
        take_allocated(am, m->allocated_containers[i]);
    for (size_t i = 0; i < m->n_completed_container_statuses && am->phase != OVER; i++)
        take_completed(am, m->completed_container_statuses[i]);
}
