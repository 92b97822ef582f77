/* Clients and ApplicationMasters of scheduler-driver.c, which includes this once. */
#ifndef SELVEDGE_TESTS_SCHEDULER_DRIVER_APPS_H
#define SELVEDGE_TESTS_SCHEDULER_DRIVER_APPS_H

static struct ipc_client *client_of(const char *user)
{
    return open_client(g.client_port, YARN_APPLICATION_CLIENT_PROTOCOL, user, NULL);
}

static const Hadoop__Yarn__ApplicationReportProto *report(struct sv_arena *a, const struct app *app)
{
    Hadoop__Yarn__GetApplicationReportRequestProto q =
        HADOOP__YARN__GET_APPLICATION_REPORT_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__GetApplicationReportResponseProto *resp;
    static struct ipc_client *c;

    if (!c)
        c = client_of("yarn");
    q.application_id = yarn_app_id_to(a, app->id);
    resp = must(a, c, "getApplicationReport", &q.base,
                &hadoop__yarn__get_application_report_response_proto__descriptor);
    return resp->application_report;
}

static void cmd_rack(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetClusterNodesRequestProto q =
        HADOOP__YARN__GET_CLUSTER_NODES_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__GetClusterNodesResponseProto *resp;
    struct ipc_client *c = client_of("yarn");

    resp = must(a, c, "getClusterNodes", &q.base,
                &hadoop__yarn__get_cluster_nodes_response_proto__descriptor);
    for (size_t i = 0; i < resp->n_nodereports; i++)
        if (sv_streq(resp->nodereports[i]->nodeid->host, g.nodes[node_number(w[1])].id.host))
            answer("%s", resp->nodereports[i]->rackname);
    ipc_client_free(c);
}

static const char *state_name(int state)
{
    static const char *const names[] = { "",          "NEW",      "NEW_SAVING",
                                         "SUBMITTED", "ACCEPTED", "RUNNING",
                                         "FINISHED",  "FAILED",   "KILLED" };

    switch (state) {
    case HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__ACCEPTED:
        return names[4];
    case HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__RUNNING:
        return names[5];
    case HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__FINISHED:
        return names[6];
    case HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__FAILED:
        return names[7];
    case HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__KILLED:
        return names[8];
    default:
        return NULL; /* on its way */
    }
}

static void cmd_app(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetNewApplicationRequestProto nq =
        HADOOP__YARN__GET_NEW_APPLICATION_REQUEST_PROTO__INIT;
    Hadoop__Yarn__SubmitApplicationRequestProto q =
        HADOOP__YARN__SUBMIT_APPLICATION_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ApplicationSubmissionContextProto ctx =
        HADOOP__YARN__APPLICATION_SUBMISSION_CONTEXT_PROTO__INIT;
    Hadoop__Yarn__ContainerLaunchContextProto clc =
        HADOOP__YARN__CONTAINER_LAUNCH_CONTEXT_PROTO__INIT;
    Hadoop__Yarn__PriorityProto priority = HADOOP__YARN__PRIORITY_PROTO__INIT;
    const Hadoop__Yarn__GetNewApplicationResponseProto *fresh;
    struct app *app = &g.apps[g.n_apps++];
    struct ipc_client *c = client_of(w[2]);
    char *command = text_of("true");
    const char *state = NULL;

    if (g.n_apps == APPS)
        die("too many applications", NULL);
    (void)snprintf(app->name, sizeof(app->name), "%s", w[1]);
    fresh = must(a, c, "getNewApplication", &nq.base,
                 &hadoop__yarn__get_new_application_response_proto__descriptor);
    if (yarn_app_id_from(fresh->application_id, &app->id) < 0)
        die("getNewApplication", NULL);
    clc.command = &command;
    clc.n_command = 1;
    ctx.application_id = fresh->application_id;
    ctx.application_name = w[1];
    ctx.queue = w[3];
    ctx.am_container_spec = &clc;
    ctx.resource = size_of(a, w[4]);
    ctx.has_maxappattempts = true;
    ctx.maxappattempts = 1;
    priority.has_priority = true;
    priority.priority = (int32_t)number(w[5]);
    ctx.priority = &priority;
    q.application_submission_context = &ctx;
    if (!call(a, c, "submitApplication", &q.base,
              &hadoop__yarn__submit_application_response_proto__descriptor)) {
        answer("refused");
    } else {
        while (!(state = state_name((int)report(a, app)->yarn_application_state)))
            (void)sd_event_run(g.event, 5000);
        answer("%s in %s", state, report(a, app)->queue);
    }
    ipc_client_free(c);
}

static void cmd_master(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    struct app *app = app_named(w[1]);
    int64_t until = sv_now_ms() + PATIENCE_MS;

    if (report(a, app)->app_resource_usage->num_used_containers < 1) {
        answer("waits");
        return;
    }
    while (app->n == 0 && sv_now_ms() < until)
        (void)sd_event_run(g.event, 20000);
    if (app->n == 0)
        die("the master does not start", NULL);
    app->master = open_client(g.am_port, YARN_APPLICATION_MASTER_PROTOCOL, NULL, &app->token);
    q.host = text_of("127.0.0.1");
    q.has_rpc_port = true;
    q.rpc_port = 4711;
    q.tracking_url = text_of("");
    (void)must(a, app->master, "registerApplicationMaster", &q.base,
               &hadoop__yarn__register_application_master_response_proto__descriptor);
    answer("n%d", app->held[0].node);
}

/* ----------------------------------------------------------- ApplicationMasters */

static int by_id(const void *a, const void *b)
{
    return yarn_container_id_cmp(((const struct held *)a)->id, ((const struct held *)b)->id);
}

static void take_given(struct app *app, const Hadoop__Yarn__AllocateResponseProto *resp)
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
        answer("%sn%d:", i > first ? " " : "", app->held[i].node);
        answer_size(app->held[i].size);
        answer("@%d", app->held[i].priority);
    }
    if (first == app->n)
        answer("nothing");
}

static void take_ended(struct app *app, const Hadoop__Yarn__AllocateResponseProto *resp)
{
    for (size_t i = 0; i < resp->n_completed_container_statuses; i++) {
        struct held *h = held_of(resp->completed_container_statuses[i]->container_id);

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

static void allocate(struct app *app, Hadoop__Yarn__AllocateRequestProto *q)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__AllocateResponseProto *resp;

    if (!app->master) {
        answer("no master");
        return;
    }
    q->has_response_id = q->has_progress = true;
    q->response_id = app->response_id;
    q->progress = 0.5f;
    resp = call(a, app->master, "allocate", &q->base,
                &hadoop__yarn__allocate_response_proto__descriptor);
    if (!resp) {
        answer("refused");
        return;
    }
    app->response_id = resp->response_id;
    app->room = raw_size(resp->limit);
    take_given(app, resp);
    take_ended(app, resp);
}

static void cmd_take(char **w)
{
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;

    allocate(app_named(w[1]), &q);
}

static Hadoop__Yarn__ResourceRequestProto *row(struct sv_arena *a, char **w, char *place)
{
    Hadoop__Yarn__ResourceRequestProto *m = sv_new(a, Hadoop__Yarn__ResourceRequestProto);
    size_t len = strlen(place);

    hadoop__yarn__resource_request_proto__init(m);
    m->priority = sv_new(a, Hadoop__Yarn__PriorityProto);
    hadoop__yarn__priority_proto__init(m->priority);
    m->priority->has_priority = true;
    m->priority->priority = (int32_t)number(w[2]);
    m->has_allocation_request_id = true;
    m->allocation_request_id = number(w[3]);
    m->capability = size_of(a, w[4]);
    m->has_num_containers = true;
    m->num_containers = (int32_t)number(w[5]);
    m->has_relax_locality = true;
    m->relax_locality = place[len - 1] != '!';
    if (!m->relax_locality)
        place[len - 1] = 0;
    m->resource_name =
        place[0] == 'n' ? sv_arena_printf(a, "127.0.1.%d", node_number(place)) : place;
    return m;
}

static void cmd_ask(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;

    q.ask = sv_newn(a, Hadoop__Yarn__ResourceRequestProto *, WORDS);
    for (char **place = w + 6; *place; place++)
        q.ask[q.n_ask++] = row(a, w, *place);
    allocate(app_named(w[1]), &q);
}

static struct held *held_at(struct app *app, const char *index)
{
    int64_t i = number(index);

    if (i < 0 || (size_t)i >= app->n)
        die("no such container", NULL);
    return &app->held[i];
}

static void cmd_release(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    struct app *app = app_named(w[1]);

    q.release = sv_newn(a, Hadoop__Yarn__ContainerIdProto *, WORDS);
    for (char **index = w + 2; *index; index++)
        q.release[q.n_release++] = yarn_container_id_to(a, held_at(app, *index)->id);
    allocate(app, &q);
}

static void cmd_end(char **w)
{
    for (char **index = w + 2; *index; index++) {
        struct held *h = held_at(app_named(w[1]), *index);

        h->ended = true;
        h->exit = 0;
    }
    answer("ok");
}

static void cmd_black(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__ResourceBlacklistRequestProto list =
        HADOOP__YARN__RESOURCE_BLACKLIST_REQUEST_PROTO__INIT;
    char *host = sv_arena_printf(a, "127.0.1.%d", node_number(w[2]));

    if (sv_streq(w[0], "black")) {
        list.blacklist_additions = &host;
        list.n_blacklist_additions = 1;
    } else {
        list.blacklist_removals = &host;
        list.n_blacklist_removals = 1;
    }
    q.blacklist_request = &list;
    allocate(app_named(w[1]), &q);
}

static void cmd_used(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__ApplicationReportProto *m = report(a, app_named(w[1]));
    const Hadoop__Yarn__ApplicationResourceUsageReportProto *u = m->app_resource_usage;

    answer("%d of ", SV_MAX(u->num_used_containers, 0));
    answer_size(raw_size(u->used_resources));
    if (u->num_reserved_containers > 0) {
        answer(" reserved %d of ", u->num_reserved_containers);
        answer_size(raw_size(u->reserved_resources));
    }
}

static void cmd_room(char **w)
{
    answer_size(app_named(w[1])->room);
}

static void cmd_preempted(char **w)
{
    struct app *app = app_named(w[1]);
    int64_t until = sv_now_ms() + PATIENCE_MS, wanted = number(w[2]), n = 0;

    while (n < wanted && sv_now_ms() < until) {
        Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;

        g.len = 0;
        allocate(app, &q);
        n = 0;
        for (size_t k = 1; k < app->n; k++)
            n += app->held[k].told && app->held[k].said == -102;
        (void)sd_event_run(g.event, 20000);
    }
    g.len = 0;
    answer("%" PRId64 ":", n);
    for (size_t k = 1; k < app->n; k++)
        if (app->held[k].told && app->held[k].said == -102)
            answer(" %zu", k);
}

/* ------------------------------------------------------------ clients, operators */

static void cmd_finish(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__FinishApplicationMasterRequestProto q =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__FinishApplicationMasterResponseProto *resp;
    struct app *app = app_named(w[1]);

    q.has_final_application_status = true;
    q.final_application_status = HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_SUCCEEDED;
    q.diagnostics = text_of("");
    do {
        resp = must(a, app->master, "finishApplicationMaster", &q.base,
                    &hadoop__yarn__finish_application_master_response_proto__descriptor);
    } while (!resp->isunregistered);
    app->held[0].ended = true;
    app->master = ipc_client_free(app->master);
    answer("ok");
}

static void cmd_kill(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__KillApplicationRequestProto q =
        HADOOP__YARN__KILL_APPLICATION_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__KillApplicationResponseProto *resp;
    struct app *app = app_named(w[1]);
    struct ipc_client *c = client_of(w[2] ? w[2] : "yarn");

    q.application_id = yarn_app_id_to(a, app->id);
    do {
        resp = call(a, c, "forceKillApplication", &q.base,
                    &hadoop__yarn__kill_application_response_proto__descriptor);
        (void)sd_event_run(g.event, 5000);
    } while (resp && !resp->is_kill_completed);
    answer(resp ? "ok" : "refused");
    ipc_client_free(c);
}

static void cmd_priority(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__UpdateApplicationPriorityRequestProto q =
        HADOOP__YARN__UPDATE_APPLICATION_PRIORITY_REQUEST_PROTO__INIT;
    Hadoop__Yarn__PriorityProto priority = HADOOP__YARN__PRIORITY_PROTO__INIT;
    struct ipc_client *c = client_of("yarn");

    priority.has_priority = true;
    priority.priority = (int32_t)number(w[2]);
    q.applicationid = yarn_app_id_to(a, app_named(w[1])->id);
    q.applicationpriority = &priority;
    answer(call(a, c, "updateApplicationPriority", &q.base,
                &hadoop__yarn__update_application_priority_response_proto__descriptor)
               ? "ok"
               : "refused");
    ipc_client_free(c);
}

static void cmd_move(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__MoveApplicationAcrossQueuesRequestProto q =
        HADOOP__YARN__MOVE_APPLICATION_ACROSS_QUEUES_REQUEST_PROTO__INIT;
    struct ipc_client *c = client_of("yarn");

    q.application_id = yarn_app_id_to(a, app_named(w[1])->id);
    q.target_queue = w[2];
    answer(call(a, c, "moveApplicationAcrossQueues", &q.base,
                &hadoop__yarn__move_application_across_queues_response_proto__descriptor)
               ? "ok"
               : "refused");
    ipc_client_free(c);
}

static void cmd_refresh(char **w)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__RefreshQueuesRequestProto q = HADOOP__YARN__REFRESH_QUEUES_REQUEST_PROTO__INIT;
    struct ipc_client *c = open_client(g.admin_port, YARN_ADMIN_PROTOCOL, "yarn", NULL);

    (void)w;
    answer(call(a, c, "refreshQueues", &q.base,
                &hadoop__yarn__refresh_queues_response_proto__descriptor)
               ? "ok"
               : "refused");
    ipc_client_free(c);
}

#endif
