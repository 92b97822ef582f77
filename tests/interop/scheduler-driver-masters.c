/* The ApplicationMasters of scheduler-driver. */
#include "tests/interop/scheduler-driver.h"

#include <inttypes.h>

void cmd_master(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct app *app = app_named(w[1]);

    if (report(a, app)->app_resource_usage->num_used_containers < 1) {
        answer("waits");
        return;
    }
    for (int64_t until = peer_deadline(); app->n == 0 && peer_pause(until, 20);)
        ;
    if (app->n == 0)
        die("the master does not start", NULL);
    (void)peer_good(peer_register_master(a, &app->master, ""));
    answer("n%d", app->held[0].node);
}

static int by_id(const void *a, const void *b)
{
    return yarn_container_id_cmp(((const struct held *)a)->id, ((const struct held *)b)->id);
}

static void take_given(struct app *app, const AllocateResponse *resp)
{
    size_t first = app->n;

    for (size_t i = 0; i < resp->n_allocated_containers && app->n < HELD; i++) {
        const Hadoop__Yarn__ContainerProto *c = resp->allocated_containers[i];
        struct held *h = &app->held[app->n++];
        struct yarn_node_id node;

        memset(h, 0, sizeof(*h));
        if (yarn_container_id_from(c->id, &h->id) < 0 || yarn_node_id_from(c->nodeid, &node) < 0)
            die("allocate: a container", NULL);
        h->size = raw_size(c->resource);
        h->priority = c->priority ? c->priority->priority : 0;
        for (int k = 1; k < NODES; k++)
            if (g.nodes[k].server && sv_streq(g.nodes[k].id.host, node.host))
                h->node = k;
    }
    qsort(&app->held[first], app->n - first, sizeof(app->held[0]), by_id);
    for (size_t i = first; i < app->n; i++) {
        if (app->held[i].node > 0)
            peer_hold(&g.nodes[app->held[i].node], app->held[i].id);
        answer("%sn%d:", i > first ? " " : "", app->held[i].node);
        answer_size(app->held[i].size);
        answer("@%d", app->held[i].priority);
    }
    if (first == app->n)
        answer("nothing");
}

static struct held *held_of(struct app *app, const Hadoop__Yarn__ContainerIdProto *m)
{
    struct yarn_container_id id;

    if (yarn_container_id_from(m, &id) < 0)
        return NULL;
    for (size_t k = 0; k < app->n; k++)
        if (yarn_container_id_cmp(app->held[k].id, id) == 0)
            return &app->held[k];
    return NULL;
}

static void take_ended(struct app *app, const AllocateResponse *resp)
{
    for (size_t i = 0; i < resp->n_completed_container_statuses; i++) {
        struct held *h = held_of(app, resp->completed_container_statuses[i]->container_id);

        if (!h || h->told)
            continue;
        h->told = h->fresh = true;
        h->said = resp->completed_container_statuses[i]->exit_status;
    }
    for (size_t k = 0, n = 0; k < app->n; k++) {
        if (app->held[k].fresh)
            answer("%s%zu(%d)", n++ ? " " : " ended ", k, app->held[k].said);
        app->held[k].fresh = false;
    }
}

static int by_index(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* In the order of the containers, which Apache's does not keep. */
static void take_updated(struct app *app, const AllocateResponse *resp)
{
    int k[HELD];
    size_t n = 0;

    for (size_t i = 0; i < resp->n_updated_containers && n < HELD; i++) {
        const Hadoop__Yarn__ContainerProto *c = resp->updated_containers[i]->container;
        struct held *h = held_of(app, c->id);

        if (!h)
            die("allocate: an updated container", NULL);
        h->size = raw_size(c->resource);
        h->version = c->version;
        k[n++] = (int)(h - app->held);
    }
    qsort(k, n, sizeof(k[0]), by_index);
    for (size_t i = 0; i < n; i++) {
        answer("%s%d:", i ? " " : " updated ", k[i]);
        answer_size(app->held[k[i]].size);
        answer("@%d", app->held[k[i]].version);
    }
    for (size_t i = 0; i < resp->n_update_errors; i++) {
        const Hadoop__Yarn__UpdateContainerErrorProto *e = resp->update_errors[i];
        const struct held *h = held_of(app, e->update_request->container_id);

        answer("%s%d:%s", i ? " " : " error ", h ? (int)(h - app->held) : -1, e->reason);
    }
}

static void allocate(struct sv_arena *a, struct app *app, AllocateRequest *q)
{
    const AllocateResponse *resp;

    if (!app->master.rm) {
        answer("no master");
        return;
    }
    resp = peer_allocate(a, &app->master, q);
    if (!resp) {
        tell_refusal();
        answer("refused");
        return;
    }
    app->room = raw_size(resp->limit);
    take_given(app, resp);
    take_ended(app, resp);
    take_updated(app, resp);
}

void cmd_take(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

    allocate(a, app_named(w[1]), NULL);
}

static ResourceRequest *row(struct sv_arena *a, char **w, char *place)
{
    ResourceRequest *m =
        peer_ask(a, place, (struct yarn_resource){ 0, 0, 0 }, (int32_t)number(w[5]));
    size_t len = strlen(place);

    m->priority->priority = (int32_t)number(w[2]);
    m->has_allocation_request_id = true;
    m->allocation_request_id = number(w[3]);
    m->capability = size_of(a, w[4]);
    m->has_relax_locality = true;
    m->relax_locality = place[len - 1] != '!';
    if (!m->relax_locality)
        place[len - 1] = 0;
    if (place[0] == 'n')
        m->resource_name = sv_arena_printf(a, "127.0.1.%d", node_number(place));
    return m;
}

void cmd_ask(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    AllocateRequest *q = peer_request(a, "allocate");

    q->ask = sv_newn(a, ResourceRequest *, WORDS);
    for (char **place = w + 6; *place; place++)
        q->ask[q->n_ask++] = row(a, w, *place);
    allocate(a, app_named(w[1]), q);
}

/* At most one container with the tag a node. */
static Hadoop__Yarn__PlacementConstraintProto *apart(struct sv_arena *a, char **tag)
{
    Hadoop__Yarn__PlacementConstraintProto *m =
        PEER_NEW(a, hadoop__yarn__placement_constraint_proto);
    Hadoop__Yarn__SimplePlacementConstraintProto *simple =
        PEER_NEW(a, hadoop__yarn__simple_placement_constraint_proto);
    Hadoop__Yarn__PlacementConstraintTargetProto *target =
        PEER_NEW(a, hadoop__yarn__placement_constraint_target_proto);

    target->targettype =
        HADOOP__YARN__PLACEMENT_CONSTRAINT_TARGET_PROTO__TARGET_TYPE__ALLOCATION_TAG;
    target->targetvalues = tag;
    target->n_targetvalues = 1;
    simple->scope = peer_text("node");
    simple->targetexpressions = sv_newn(a, Hadoop__Yarn__PlacementConstraintTargetProto *, 1);
    simple->targetexpressions[0] = target;
    simple->n_targetexpressions = 1;
    simple->has_mincardinality = simple->has_maxcardinality = true; /* both 0: none is there */
    m->simpleconstraint = simple;
    return m;
}

void cmd_apart(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    AllocateRequest *q = peer_request(a, "allocate");
    Hadoop__Yarn__SchedulingRequestProto *m = PEER_NEW(a, hadoop__yarn__scheduling_request_proto);

    m->has_allocationrequestid = true;
    m->allocationrequestid = number(w[2]);
    m->priority = PEER_NEW(a, hadoop__yarn__priority_proto);
    m->priority->has_priority = true;
    m->priority->priority = 1;
    m->executiontype = PEER_NEW(a, hadoop__yarn__execution_type_request_proto);
    m->executiontype->has_execution_type = true; /* GUARANTEED */
    m->allocationtags = w + 5;
    m->n_allocationtags = 1;
    m->resourcesizing = PEER_NEW(a, hadoop__yarn__resource_sizing_proto);
    m->resourcesizing->has_numallocations = true;
    m->resourcesizing->numallocations = (int32_t)number(w[4]);
    m->resourcesizing->resources = size_of(a, w[3]);
    m->placementconstraint = apart(a, w + 5);
    q->scheduling_requests = &m;
    q->n_scheduling_requests = 1;
    allocate(a, app_named(w[1]), q);
}

static struct held *held_at(struct app *app, const char *index)
{
    int64_t i = number(index);

    if (i < 0 || (size_t)i >= app->n)
        die("no such container", NULL);
    return &app->held[i];
}

void cmd_release(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    AllocateRequest *q = peer_request(a, "allocate");
    struct app *app = app_named(w[1]);

    q->release = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, WORDS);
    for (char **index = w + 2; *index; index++)
        q->release[q->n_release++] = yarn_container_id_to(a, held_at(app, *index)->id);
    allocate(a, app, q);
}

void cmd_update(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UpdateContainerRequestProto *m =
        PEER_NEW(a, hadoop__yarn__update_container_request_proto);
    AllocateRequest *q = peer_request(a, "allocate");
    struct app *app = app_named(w[1]);
    const struct held *h = held_at(app, w[2]);
    struct size to;

    m->container_id = yarn_container_id_to(a, h->id);
    m->container_version = h->version;
    m->capability = size_of(a, w[3]);
    to = raw_size(m->capability);
    m->update_type =
        to.base.memory_mb > h->size.base.memory_mb || to.base.vcores > h->size.base.vcores
            ? HADOOP__YARN__CONTAINER_UPDATE_TYPE_PROTO__INCREASE_RESOURCE
            : HADOOP__YARN__CONTAINER_UPDATE_TYPE_PROTO__DECREASE_RESOURCE;
    q->update_requests = &m;
    q->n_update_requests = 1;
    allocate(a, app, q);
}

void cmd_end(char **w)
{
    for (char **index = w + 2; *index; index++) {
        const struct held *h = held_at(app_named(w[1]), *index);

        peer_end(&g.nodes[h->node], h->id, 0);
    }
    answer("ok");
}

void cmd_black(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    AllocateRequest *q = peer_request(a, "allocate");
    Hadoop__Yarn__ResourceBlacklistRequestProto *list =
        PEER_NEW(a, hadoop__yarn__resource_blacklist_request_proto);
    char *host = sv_arena_printf(a, "127.0.1.%d", node_number(w[2]));

    if (sv_streq(w[0], "black")) {
        list->blacklist_additions = &host;
        list->n_blacklist_additions = 1;
    } else {
        list->blacklist_removals = &host;
        list->n_blacklist_removals = 1;
    }
    q->blacklist_request = list;
    allocate(a, app_named(w[1]), q);
}

void cmd_room(char **w)
{
    answer_size(app_named(w[1])->room);
}

void cmd_preempted(char **w)
{
    struct app *app = app_named(w[1]);
    int64_t until = peer_deadline(), wanted = number(w[2]), n = 0;

    while (n < wanted && peer_pause(until, 20)) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);

        g.len = 0;
        allocate(a, app, NULL);
        n = 0;
        for (size_t k = 1; k < app->n; k++)
            n += app->held[k].told && app->held[k].said == -102;
    }
    g.len = 0;
    answer("%" PRId64 ":", n);
    for (size_t k = 1; k < app->n; k++)
        if (app->held[k].told && app->held[k].said == -102)
            answer(" %zu", k);
}

void cmd_finish(char **w)
{
    struct app *app = app_named(w[1]);

    while (!peer_finish(&app->master, ""))
        ;
    peer_end(&g.nodes[app->held[0].node], app->held[0].id, 0);
    app->master.rm = ipc_client_free(app->master.rm);
    answer("ok");
}
