/* Scenarios of rm-driver.c, which includes this once. */
#ifndef SELVEDGE_TESTS_RM_DRIVER_SCENARIOS_H
#define SELVEDGE_TESTS_RM_DRIVER_SCENARIOS_H

#define STATE(x) HADOOP__YARN__YARN_APPLICATION_STATE_PROTO__##x

/* Node, application, master registered: the beginning of most scenarios. */
static struct yarn_app_id begin(struct master *m)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__RegisterApplicationMasterResponseProto *resp;
    int starts = g.starts;
    struct yarn_app_id id;

    if (g.n_nodes == 0)
        beat(add_node());
    id = submit("default", 1);
    check(wait_start(starts + 1), "the master's container is started on its node");
    master_open(m);
    resp = master_register(a, m);
    check(resp->maximumcapability && sv_streq(resp->queue, "root.default") &&
              resp->n_resource_types == 2,
          "registerApplicationMaster tells capability, queue and resource types");
    return id;
}

/* The master unregisters, its container ends, the node must clean up. */
static void good_bye(struct master *m, struct yarn_app_id id)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    int cleaned = 0, now = 0;
    struct yarn_container_id master = g.master;

    check(finish(m), "finishApplicationMaster is answered true when the end is stored");
    m->c = ipc_client_free(m->c);
    check((int)report(a, id)->yarn_application_state == STATE(FINISHED),
          "the application is FINISHED for its client");
    for (int i = 0; i < g.n_nodes; i++) {
        end_held(&g.nodes[i], master, 0);
        cleaned += g.nodes[i].apps_cleaned;
    }
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < g.n_nodes; i++)
            beat(&g.nodes[i]);
    for (int i = 0; i < g.n_nodes; i++)
        now += g.nodes[i].apps_cleaned;
    check(now > cleaned, "its node is told to clean the application up");
    check(report(a, id)->final_application_status ==
                  HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_SUCCEEDED &&
              sv_streq(report(a, id)->diagnostics, "well done"),
          "final status and diagnostics are the master's");
}

static void run_life(void)
{
    struct master m;
    struct yarn_app_id id = begin(&m);
    struct node *n = &g.nodes[0];
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const AllocateResponse *resp;
    char want[128], text[YARN_ID_TEXT_MAX];
    size_t unacked = 0;

    (void)snprintf(want, sizeof(want), "/proxy/%s", yarn_app_id_text(id, text));
    check(sv_streq(g.env_base, want) && g.env_time[0],
          "the master's environment has its two variables");
    check(g.bad_tokens == 0, "the master's container token is signed with the node's key");
    resp = allocate(a, &m, 10);
    check(resp->n_allocated_containers == 10,
          "10 containers are in the answer that asked for them (%zu)",
          resp->n_allocated_containers);
    check(resp->n_nm_tokens == 1, "one NMToken for the node");
    check(resp->allocated_containers[0]->priority->priority == 1 &&
              resp->allocated_containers[0]->allocation_request_id == -1,
          "containers carry priority and allocation id of their ask");
    check(g.bad_tokens == 0, "all tokens are signed with the node's keys");
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
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    Hadoop__Yarn__SchedulingRequestProto scheduling = HADOOP__YARN__SCHEDULING_REQUEST_PROTO__INIT;
    Hadoop__Yarn__SchedulingRequestProto *one[1] = { &scheduling };
    Hadoop__Yarn__UpdateContainerRequestProto update[3];
    Hadoop__Yarn__UpdateContainerRequestProto *updates[3];
    struct yarn_container_id foreign = { { { 1, 1 }, 1 }, 1 };
    const AllocateResponse *resp;

    q.has_response_id = true;
    q.response_id = m->response_id;
    q.scheduling_requests = one;
    q.n_scheduling_requests = 1;
    refused(m->c, "allocate", &q.base, &hadoop__yarn__allocate_response_proto__descriptor,
            JAVA_YARN_EXCEPTION, "Found non empty SchedulingRequest in AllocateRequest");
    q.n_scheduling_requests = 0;
    for (int i = 0; i < 3; i++) {
        hadoop__yarn__update_container_request_proto__init(&update[i]);
        update[i].container_version = i == 1 ? 7 : 0;
        update[i].container_id = yarn_container_id_to(a, i == 0 ? foreign : g.master);
        update[i].update_type = HADOOP__YARN__CONTAINER_UPDATE_TYPE_PROTO__INCREASE_RESOURCE;
        updates[i] = &update[i];
    }
    q.update_requests = updates;
    q.n_update_requests = 3;
    resp = must(a, m->c, "allocate", &q.base, &hadoop__yarn__allocate_response_proto__descriptor);
    m->response_id = resp->response_id;
    check(resp->n_update_errors == 3 &&
              sv_streq(resp->update_errors[0]->reason, "INVALID_CONTAINER_ID") &&
              sv_streq(resp->update_errors[1]->reason, "INCORRECT_CONTAINER_VERSION_ERROR") &&
              strstr(resp->update_errors[2]->reason, "UPDATE_NOT_SUPPORTED"),
          "each update of a container gets its error (%zu)", resp->n_update_errors);
    check(resp->n_update_errors == 3 && resp->update_errors[2]->update_request &&
              resp->update_errors[2]->update_request->container_id->id == g.master.id,
          "with the request");
}

/* Runs with two containers until a line comes; then it ends, and another line is awaited. */
static void run_page(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct master m;
    struct yarn_app_id id = begin(&m);
    struct yarn_container_id master = g.master; /* those of the others come, too */
    char line[16];

    check(allocate(a, &m, 2)->n_allocated_containers == 2, "two containers are given");
    beat(&g.nodes[0]);
    for (int i = 0; getenv("CROWD") && i < strtol(getenv("CROWD"), NULL, 10); i++)
        (void)submit("default", 1);
    for (int i = 0; i < 2; i++) {
        printf("PAUSE\n");
        (void)fflush(stdout);
        if (!fgets(line, sizeof(line), stdin))
            die("stdin", NULL);
        g.master = master;
        if (i == 0)
            good_bye(&m, id);
    }
}

static void run_rules(void)
{
    struct master m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetAllResourceProfilesRequestProto profiles =
        HADOOP__YARN__GET_ALL_RESOURCE_PROFILES_REQUEST_PROTO__INIT;
    Hadoop__Yarn__GetApplicationReportRequestProto unknown =
        HADOOP__YARN__GET_APPLICATION_REPORT_REQUEST_PROTO__INIT;
    Hadoop__Yarn__GetQueueInfoRequestProto queue = HADOOP__YARN__GET_QUEUE_INFO_REQUEST_PROTO__INIT;
    Hadoop__Yarn__RegisterApplicationMasterRequestProto again =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    const ProtobufCMessageDescriptor *ad = &hadoop__yarn__allocate_response_proto__descriptor;
    const Hadoop__Yarn__GetQueueInfoResponseProto *info;
    const AllocateResponse *first, *second;
    Hadoop__Yarn__ContainerIdProto *foreign[1];
    struct yarn_app_id id = begin(&m);
    struct yarn_token bad = g.amrm;
    struct ipc_client *c;
    size_t had;

    refused(g.client, "getResourceProfiles", &profiles.base,
            &hadoop__yarn__get_all_resource_profiles_response_proto__descriptor,
            JAVA_FEATURE_NOT_ENABLED, "Resource profile is not enabled");
    unknown.application_id = yarn_app_id_to(a, (struct yarn_app_id){ 1, 1 });
    refused(g.client, "getApplicationReport", &unknown.base,
            &hadoop__yarn__get_application_report_response_proto__descriptor, JAVA_APP_NOT_FOUND,
            "Application with id 'application_1_0001' doesn't exist in RM.");
    queue.queuename = (char *)(uintptr_t) "default";
    queue.has_includeapplications = queue.includeapplications = true;
    info = must(a, g.client, "getQueueInfo", &queue.base,
                &hadoop__yarn__get_queue_info_response_proto__descriptor);
    check(info->queueinfo && info->queueinfo->n_applications == 1,
          "getQueueInfo lists the application");
    queue.queuename = (char *)(uintptr_t) "nowhere";
    info = must(a, g.client, "getQueueInfo", &queue.base,
                &hadoop__yarn__get_queue_info_response_proto__descriptor);
    check(!info->queueinfo, "getQueueInfo of an unknown queue is empty");

    refused(m.c, "registerApplicationMaster", &again.base,
            &hadoop__yarn__register_application_master_response_proto__descriptor,
            JAVA_INVALID_AM_REQUEST, "already registered");
    fill_ask(a, &q, 1, 1 << 20);
    q.has_response_id = true;
    refused(m.c, "allocate", &q.base, ad, JAVA_INVALID_RESOURCE_REQUEST,
            "greater than maximum allowed allocation");
    q.n_ask = 0;
    foreign[0] = yarn_container_id_to(a, (struct yarn_container_id){ { { 1, 1 }, 1 }, 1 });
    q.release = foreign;
    q.n_release = 1;
    refused(m.c, "allocate", &q.base, ad, JAVA_INVALID_RELEASE,
            "not belonging to this application");
    q.n_release = 0;
    q.response_id = 77;
    refused(m.c, "allocate", &q.base, ad, JAVA_INVALID_AM_REQUEST, "Invalid responseId");

    unsupported(a, &m);
    first = allocate(a, &m, 2);
    had = m.containers;
    m.response_id--; /* the answer was lost: ask again */
    second = allocate(a, &m, 2);
    check(second->response_id == first->response_id && second->n_allocated_containers == 2 &&
              sv_streq(second->allocated_containers[0]->node_http_address,
                       first->allocated_containers[0]->node_http_address),
          "a repeated request is answered as before");
    m.containers = had;

    g.amrm_password[0] ^= 1;
    c = open_client(g.am_port, YARN_APPLICATION_MASTER_PROTOCOL, NULL, &bad);
    q.response_id = m.response_id;
    refused(c, "allocate", &q.base, ad, "javax.security.sasl.SaslException", "");
    ipc_client_free(c);
    g.amrm_password[0] ^= 1;
    c = open_client(g.am_port, YARN_APPLICATION_MASTER_PROTOCOL, "ann", NULL);
    refused(c, "allocate", &q.base, ad, JAVA_ACCESS_CONTROL,
            "SIMPLE authentication is not enabled");
    ipc_client_free(c);
    good_bye(&m, id);
    c = open_client(g.am_port, YARN_APPLICATION_MASTER_PROTOCOL, NULL, &g.amrm);
    refused(c, "allocate", &q.base, ad, JAVA_INVALID_TOKEN, "not found in AMRMTokenSecretManager");
    ipc_client_free(c);
}

static void run_heartbeats(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct node *n = add_node();
    const HeartbeatResponse *first, *again;
    struct node stranger = { .id = { "127.0.0.9", 1 }, .rm = n->rm };

    first = beat_with(a, n, 0);
    check(first->response_id == 1 && first->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__NORMAL,
          "a heartbeat is answered with the next number");
    check(first->nextheartbeatinterval > 0, "and with the interval");
    again = beat_with(a, n, 0);
    check(again->response_id == 1, "a repeated heartbeat is answered as before");
    n->response_id = beat_with(a, n, 1)->response_id;
    check(n->response_id == 2, "and the next goes on");
    check(beat_with(a, &stranger, 0)->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__RESYNC,
          "an unknown node is told to resync");
    n->response_id = beat_with(a, n, 2)->response_id;
    check(beat_with(a, n, 0)->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__RESYNC,
          "a node that is too far behind is told to resync");
    check(register_node(n, true) == HADOOP__YARN__NODE_ACTION_PROTO__NORMAL,
          "and may register again");
    check(beat_with(a, n, 0)->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__NORMAL,
          "after which it is as new");
}

static void run_kill(void)
{
    struct master m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__KillApplicationRequestProto q =
        HADOOP__YARN__KILL_APPLICATION_REQUEST_PROTO__INIT;
    struct yarn_app_id id = begin(&m);
    const Hadoop__Yarn__KillApplicationResponseProto *resp = NULL;
    int64_t until = sv_now_ms() + PATIENCE_MS;

    (void)allocate(a, &m, 5);
    beat(&g.nodes[0]);
    q.application_id = yarn_app_id_to(a, id);
    do {
        beat(&g.nodes[0]);
        resp = must(a, g.client, "forceKillApplication", &q.base,
                    &hadoop__yarn__kill_application_response_proto__descriptor);
    } while (!resp->is_kill_completed && sv_now_ms() < until);
    check(resp->is_kill_completed, "forceKillApplication becomes true");
    check(strstr(report(a, id)->diagnostics, "was killed by user ann at 127.0.0.1") != NULL,
          "the diagnostics say who did it");
    until = sv_now_ms() + PATIENCE_MS;
    while ((g.nodes[0].cleanups < 6 || g.stops < 1) && sv_now_ms() < until) {
        beat(&g.nodes[0]);
        (void)sd_event_run(g.event, 100000);
    }
    check(g.nodes[0].cleanups >= 6, "the node is told to stop the master and its 5 containers (%d)",
          g.nodes[0].cleanups);
    check(g.stops == 1, "and is asked to stop the master at once");
    for (int i = 0; i < 3; i++)
        beat(&g.nodes[0]);
    for (size_t i = 0; i < g.nodes[0].n_held; i++)
        if (!g.nodes[0].held[i].acked)
            check(false, "a container's end is never acknowledged");
}

/* Two attempts fail: the words that a user sees. */
static void run_failure(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_app_id id;
    char want[256], text[YARN_ID_TEXT_MAX];

    beat(add_node());
    id = submit("default", 2);
    for (int i = 1; i <= 2; i++) {
        check(wait_start(i), "attempt %d is started", i);
        beat(&g.nodes[0]);
        end_held(&g.nodes[0], g.master, 1);
        beat(&g.nodes[0]);
    }
    check(wait_state(id, STATE(FAILED)), "the application is FAILED after two attempts");
    (void)snprintf(want, sizeof(want),
                   "Application %s failed 2 times due to AM Container for "
                   "appattempt_",
                   yarn_app_id_text(id, text));
    check(strstr(report(a, id)->diagnostics, want) &&
              strstr(report(a, id)->diagnostics, "exited with  exitCode: 1\n"),
          "its diagnostics are Hadoop's");
    id = submit("nowhere", 1);
    check(wait_state(id, STATE(FAILED)), "an application of an unknown queue is FAILED");
    check(strstr(report(a, id)->diagnostics, "submitted by user ann to unknown queue: nowhere"),
          "and told why");
}

/* Checks the report that one user gets of another's failed application. */
static void view_as(const char *user, struct yarn_app_id id, bool sees)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetApplicationAttemptsRequestProto q =
        HADOOP__YARN__GET_APPLICATION_ATTEMPTS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__GetApplicationsRequestProto all =
        HADOOP__YARN__GET_APPLICATIONS_REQUEST_PROTO__INIT;
    const ProtobufCMessageDescriptor *d =
        &hadoop__yarn__get_application_attempts_response_proto__descriptor;
    const Hadoop__Yarn__GetApplicationsResponseProto *list;
    const Hadoop__Yarn__ApplicationReportProto *m;
    struct ipc_client *ann = g.client;

    g.client = open_client(g.client_port, YARN_APPLICATION_CLIENT_PROTOCOL, user, NULL);
    list = must(a, g.client, "getApplications", &all.base,
                &hadoop__yarn__get_applications_response_proto__descriptor);
    check(list->n_applications == 1 && !!*list->applications[0]->diagnostics == sees,
          "%s sees %s diagnostics in the list", user, sees ? "the" : "no");
    m = report(a, id);
    check((int)m->yarn_application_state == STATE(FAILED) && sv_streq(m->user, "ann"),
          "%s sees that the application is there", user);
    check(!!*m->diagnostics == sees && sv_streq(m->trackingurl, "N/A") != sees,
          "%s sees %s diagnostics and addresses", user, sees ? "the" : "no");
    q.application_id = yarn_app_id_to(a, id);
    if (sees)
        check(((const Hadoop__Yarn__GetApplicationAttemptsResponseProto *)must(
                   a, g.client, "getApplicationAttempts", &q.base, d))
                      ->n_application_attempts == 1,
              "%s sees its attempt", user);
    else
        refused(g.client, "getApplicationAttempts", &q.base, d, JAVA_YARN_EXCEPTION,
                "does not have privilege to see this application");
    g.client = ipc_client_free(g.client);
    g.client = ann;
}

/* With yarn.acl.enable and yarn.admin.acl=boss. */
static void run_acls(void)
{
    struct yarn_app_id id;

    beat(add_node());
    id = submit("default", 1);
    check(wait_start(1), "an attempt is started");
    beat(&g.nodes[0]);
    end_held(&g.nodes[0], g.master, 1);
    beat(&g.nodes[0]);
    check(wait_state(id, STATE(FAILED)), "the application is FAILED");
    view_as("daemon", id, true); /* by its group; the first call waits for the name service */
    view_as("ann", id, true);
    view_as("eve", id, true);
    view_as("boss", id, true);
    view_as("bin", id, false); /* bin has a group that the ACL does not name */
    view_as("mallory", id, false);
}

/* kill -9 of the ResourceManager between two halves of a job. */
static void run_restart(void)
{
    struct master m, over;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__AllocateRequestProto q = HADOOP__YARN__ALLOCATE_REQUEST_PROTO__INIT;
    struct yarn_app_id first = begin(&over), id;
    struct node *n = &g.nodes[0];
    char line[16];
    size_t held;
    int64_t epoch;

    good_bye(&over, first);
    id = begin(&m);
    (void)allocate(a, &m, 5);
    beat(n);
    printf("RESTART\n");
    (void)fflush(stdout);
    if (!fgets(line, sizeof(line), stdin))
        die("stdin", NULL);
    /* The connections died with the daemon. */
    ipc_client_free(g.client);
    g.client = open_client(g.client_port, YARN_APPLICATION_CLIENT_PROTOCOL, "ann", NULL);
    ipc_client_free(n->rm);
    n->rm = open_client(g.tracker_port, YARN_RESOURCE_TRACKER_PROTOCOL, "yarn", NULL);
    ipc_client_free(m.c);
    m.c = open_client(g.am_port, YARN_APPLICATION_MASTER_PROTOCOL, NULL, &g.amrm);
    check((int)report(a, first)->yarn_application_state == STATE(FINISHED) &&
              sv_streq(report(a, first)->diagnostics, "well done"),
          "a finished application is still reported");
    check((int)report(a, id)->yarn_application_state == STATE(ACCEPTED),
          "a running one is ACCEPTED again");
    check(beat_with(a, n, n->response_id)->nodeaction == HADOOP__YARN__NODE_ACTION_PROTO__RESYNC,
          "its node is told to resync");
    check(register_node(n, true) == HADOOP__YARN__NODE_ACTION_PROTO__NORMAL,
          "and registers with its containers");
    beat(n);
    check(n->cleanups == 0, "none of them is stopped");
    q.has_response_id = true;
    q.response_id = m.response_id;
    refused(m.c, "allocate", &q.base, &hadoop__yarn__allocate_response_proto__descriptor,
            JAVA_AM_NOT_REGISTERED, "AM should re-register");
    (void)master_register(a, &m);
    held = n->n_held;
    (void)allocate(a, &m, 1);
    for (int64_t until = sv_now_ms() + PATIENCE_MS; n->n_held == held && sv_now_ms() < until;) {
        beat(n);
        (void)allocate(a, &m, 1);
        (void)sd_event_run(g.event, 20000);
    }
    epoch = n->held[held].id.id >> 40;
    check(n->n_held > held && epoch == 1, "new containers carry the epoch (%" PRId64 ")", epoch);
    m.done = 0;
    m.exits = 0;
    for (size_t i = held - 5; i < held; i++) {
        n->held[i].complete = true;
        n->held[i].exit = 7;
    }
    beat(n);
    (void)allocate(a, &m, 0);
    check(m.done == 5 && m.exits == 35, "the exits of the old ones arrive (%zu)", m.done);
    good_bye(&m, id);
}

/* With short expiries configured, silent peers are lost. */
static void run_expiry(void)
{
    struct master m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetClusterMetricsRequestProto q =
        HADOOP__YARN__GET_CLUSTER_METRICS_REQUEST_PROTO__INIT;
    const Hadoop__Yarn__GetClusterMetricsResponseProto *metrics = NULL;
    struct yarn_app_id id = begin(&m);
    struct node *n = &g.nodes[0];
    int64_t until = sv_now_ms() + PATIENCE_MS;

    (void)allocate(a, &m, 3);
    n->n_held -= 3; /* never started */
    while (m.done < 3 && sv_now_ms() < until) {
        beat(n);
        (void)allocate(a, &m, 0);
        (void)sd_event_run(g.event, 50000);
    }
    check(m.done == 3 && m.exits == -300, "containers that are not started expire with -100");
    check(wait_state(id, STATE(FAILED)), "a silent master is lost");
    check(strstr(report(a, id)->diagnostics, "timed out") != NULL, "and the diagnostics say so");
    until = sv_now_ms() + PATIENCE_MS;
    do {
        (void)sd_event_run(g.event, 100000);
        metrics = must(a, g.client, "getClusterMetrics", &q.base,
                       &hadoop__yarn__get_cluster_metrics_response_proto__descriptor);
    } while (metrics->cluster_metrics->num_lost_nms != 1 && sv_now_ms() < until);
    check(metrics->cluster_metrics->num_lost_nms == 1, "a silent node is lost");
}

/* Keys roll every few seconds: nodes get the next one before it signs, masters get a token of the
 * new one, and earlier tokens remain valid. */
static void run_roll(void)
{
    struct master m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_app_id id = begin(&m);
    int32_t first_nm = g.nm_key.key_id, first_ct = g.container_key.key_id;
    struct yarn_master_key old_ct = g.container_key, old_nm = g.nm_key;
    int64_t until = sv_now_ms() + PATIENCE_MS;
    bool new_token = false;
    size_t tokens = 0, had;

    (void)allocate(a, &m, 1);
    while (sv_now_ms() < until && (g.nm_key.key_id == first_nm || !new_token)) {
        const AllocateResponse *resp;

        old_ct = g.container_key;
        old_nm = g.nm_key;
        beat(&g.nodes[0]);
        resp = allocate(a, &m, 0);
        new_token |= resp->am_rm_token != NULL;
        (void)sd_event_run(g.event, 50000);
    }
    check(g.nm_key.key_id == first_nm + 1 && g.container_key.key_id == first_ct + 1,
          "the node learns the next keys by heartbeat");
    check(new_token, "the master gets a token of the new key");
    had = m.containers;
    while (sv_now_ms() < until && !tokens) { /* until the new key signs */
        const AllocateResponse *resp;
        struct yarn_master_key new_ct = g.container_key, new_nm = g.nm_key;

        beat(&g.nodes[0]);
        g.bad_tokens = 0;
        resp = allocate(a, &m, 1);
        if (g.bad_tokens) { /* still made with the old key, which nodes keep */
            g.container_key = old_ct;
            g.nm_key = old_nm;
            check(resp->n_allocated_containers == 0 ||
                      signed_well(resp->allocated_containers[0]->container_token, &old_ct),
                  "until then tokens are made with the old key");
            g.container_key = new_ct;
            g.nm_key = new_nm;
            until = SV_MIN(until, sv_now_ms() + PATIENCE_MS / 2);
        } else {
            tokens += resp->n_nm_tokens;
        }
        (void)sd_event_run(g.event, 300000);
    }
    check(tokens == 1 && m.containers > had,
          "then the node's NMToken is sent again, with the new key");
    good_bye(&m, id);
}

/* How fast containers are given and taken back over real IPC. */
static void run_rate(void)
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
    while (m.containers < 1000 && sv_now_ms() < t0 + PATIENCE_MS)
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
    for (int i = 0; i < g.n_nodes; i++)
        beat(&g.nodes[i]);
    (void)allocate(a, &m, 0);
    check(m.done == 1000 && done == 1000, "and all 1000 ends are told once");
    t0 = sv_now_ms();
    for (int k = 0; k < 100; k++)
        for (int i = 0; i < g.n_nodes; i++)
            beat(&g.nodes[i]);
    ms = SV_MAX(sv_now_ms() - t0, (int64_t)1);
    check(true, "%d heartbeats one after the other in %lld ms = %lld a second", 100 * g.n_nodes,
          (long long)ms, (long long)(100LL * g.n_nodes * 1000 / ms));
    good_bye(&m, id);
}

/* A container that pretends to be a node: the ResourceManager requires the node secret. */
static void run_stranger(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__RegisterNodeManagerRequestProto q =
        HADOOP__YARN__REGISTER_NODE_MANAGER_REQUEST_PROTO__INIT;
    struct ipc_client *c =
        open_client(g.tracker_port, YARN_RESOURCE_TRACKER_PROTOCOL, "yarn", NULL);
    struct yarn_node_id id = { .host = "127.0.0.1", .port = 1 };
    const Hadoop__Yarn__RegisterNodeManagerResponseProto *resp;
    const char *class = "";
    struct sv_error err;

    q.node_id = yarn_node_id_to(a, &id);
    q.resource = yarn_resource_to(a, (struct yarn_resource){ 65536, 64 });
    q.nm_version = (char *)(uintptr_t) "3.4.2";
    resp = call(a, c, "registerNodeManager", &q.base,
                &hadoop__yarn__register_node_manager_response_proto__descriptor, &class, &err);
    check(!resp || (!resp->container_token_master_key && !resp->nm_token_master_key),
          "a stranger gets no master key");
    check(!resp && sv_streq(class, JAVA_ACCESS_CONTROL), "and is refused before its request: %s",
          err.text);
    ipc_client_free(c);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    { "stranger", run_stranger },
    { "life", run_life },
    { "page", run_page },
    { "rules", run_rules },
    { "heartbeats", run_heartbeats },
    { "kill", run_kill },
    { "failure", run_failure },
    { "restart", run_restart },
    { "expiry", run_expiry },
    { "roll", run_roll },
    { "rate", run_rate },
    { "acls", run_acls },
};

#endif
