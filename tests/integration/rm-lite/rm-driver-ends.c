/* Scenarios of rm-driver with ends that are not the master's own: killed, failed, expired, a
 * ResourceManager that is killed, and peers that are not trusted. */
#include "tests/integration/rm-lite/rm-driver.h"

#include <inttypes.h>

void run_kill(void)
{
    struct master m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__KillApplicationRequestProto *q = peer_request(a, "forceKillApplication");
    struct yarn_app_id id = begin(&m);
    const Hadoop__Yarn__KillApplicationResponseProto *resp = NULL;
    int64_t until = peer_deadline();

    (void)allocate(a, &m, 5);
    beat(&g.nodes[0]);
    q->application_id = yarn_app_id_to(a, id);
    do {
        beat(&g.nodes[0]);
        resp = peer_must(a, g.client, "forceKillApplication", q);
    } while (!resp->is_kill_completed && sv_now_ms() < until);
    check(resp->is_kill_completed, "forceKillApplication becomes true");
    check(strstr(report(a, id)->diagnostics, "was killed by user ann at 127.0.0.1") != NULL,
          "the diagnostics say who did it");
    for (until = peer_deadline();
         (g.nodes[0].cleanups < 6 || peer.stops < 1) && peer_pause(until, 100);)
        beat(&g.nodes[0]);
    check(g.nodes[0].cleanups >= 6, "the node is told to stop the master and its 5 containers (%d)",
          g.nodes[0].cleanups);
    check(peer.stops == 1, "and is asked to stop the master at once");
    for (int i = 0; i < 3; i++)
        beat(&g.nodes[0]);
    for (size_t i = 0; i < g.nodes[0].n_held; i++)
        if (!g.nodes[0].held[i].acked)
            check(false, "a container's end is never acknowledged");
}

/* Two attempts fail: the words that a user sees. */
void run_failure(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_app_id id;
    char want[256], text[YARN_ID_TEXT_MAX];

    beat(add_node());
    id = submit("default", 2);
    for (int i = 1; i <= 2; i++) {
        check(wait_start(i), "attempt %d is started", i);
        beat(&g.nodes[0]);
        peer_end(&g.nodes[0], g.master, 1);
        beat(&g.nodes[0]);
    }
    check(wait_state(id, APP_STATE(FAILED)), "the application is FAILED after two attempts");
    (void)snprintf(want, sizeof(want),
                   "Application %s failed 2 times due to AM Container for appattempt_",
                   yarn_app_id_text(id, text));
    check(strstr(report(a, id)->diagnostics, want) &&
              strstr(report(a, id)->diagnostics, "exited with  exitCode: 1\n"),
          "its diagnostics are Hadoop's");
    id = submit("nowhere", 1);
    check(wait_state(id, APP_STATE(FAILED)), "an application of an unknown queue is FAILED");
    check(strstr(report(a, id)->diagnostics, "submitted by user ann to unknown queue: nowhere"),
          "and told why");
}

/* Checks the report that one user gets of another's failed application. */
static void view_as(const char *user, struct yarn_app_id id, bool sees)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__GetApplicationAttemptsRequestProto *q = peer_request(a, "getApplicationAttempts");
    const Hadoop__Yarn__GetApplicationAttemptsResponseProto *attempts;
    const Hadoop__Yarn__GetApplicationsResponseProto *list;
    const ApplicationReport *m;
    struct ipc_client *ann = g.client;

    g.client = peer_open(PEER_CLIENTS, user, NULL);
    list = peer_must(a, g.client, "getApplications", NULL);
    check(list->n_applications == 1 && !!*list->applications[0]->diagnostics == sees,
          "%s sees %s diagnostics in the list", user, sees ? "the" : "no");
    m = report(a, id);
    check((int)m->yarn_application_state == APP_STATE(FAILED) && sv_streq(m->user, "ann"),
          "%s sees that the application is there", user);
    check(!!*m->diagnostics == sees && sv_streq(m->trackingurl, "N/A") != sees,
          "%s sees %s diagnostics and addresses", user, sees ? "the" : "no");
    q->application_id = yarn_app_id_to(a, id);
    if (sees) {
        attempts = peer_must(a, g.client, "getApplicationAttempts", q);
        check(attempts->n_application_attempts == 1, "%s sees its attempt", user);
    } else {
        refused(g.client, "getApplicationAttempts", q, JAVA_YARN_EXCEPTION,
                "does not have privilege to see this application");
    }
    ipc_client_free(g.client);
    g.client = ann;
}

/* With yarn.acl.enable and yarn.admin.acl=boss. */
void run_acls(void)
{
    struct yarn_app_id id;

    beat(add_node());
    id = submit("default", 1);
    check(wait_start(1), "an attempt is started");
    beat(&g.nodes[0]);
    peer_end(&g.nodes[0], g.master, 1);
    beat(&g.nodes[0]);
    check(wait_state(id, APP_STATE(FAILED)), "the application is FAILED");
    view_as("daemon", id, true); /* by its group; the first call waits for the name service */
    view_as("ann", id, true);
    view_as("eve", id, true);
    view_as("boss", id, true);
    view_as("bin", id, false); /* bin has a group that the ACL does not name */
    view_as("mallory", id, false);
}

/* The ResourceManager died before the node had started the first attempt's ApplicationMaster. */
static void check_second_start(struct sv_arena *a, struct yarn_app_id id, int starts)
{
    struct yarn_container_id other = g.master;
    struct master second;

    check(wait_start(starts + 1), "a master that never started is started by another attempt");
    check(report(a, id)->currentapplicationattemptid->attemptid == 2,
          "which the one attempt that the submission allows does not forbid");
    second = (struct master){ .am = g.am };
    (void)master_register(a, &second);
    good_bye(&second, id);
    g.master = other;
}

/* kill -9 of the ResourceManager between two halves of a job. */
void run_restart(void)
{
    struct master m, over;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    AllocateRequest *q = peer_request(a, "allocate");
    struct yarn_app_id first = begin(&over), id, lost;
    struct peer_node *n = &g.nodes[0];
    struct yarn_container_id master;
    size_t held;
    int64_t epoch;

    good_bye(&over, first);
    id = begin(&m);
    master = g.master;
    (void)allocate(a, &m, 5);
    beat(n);
    lost = submit("default", 1);
    check(wait_start(g.starts + 1), "another master's container is on its way to the node");
    n->n_held--;
    g.master = master;
    await_line("RESTART");
    /* The connections died with the daemon. */
    ipc_client_free(g.client);
    g.client = peer_open(PEER_CLIENTS, "ann", NULL);
    ipc_client_free(n->rm);
    n->rm = peer_open(PEER_TRACKER, "yarn", NULL);
    ipc_client_free(m.am.rm);
    m.am.rm = peer_open_master(&m.am);
    check((int)report(a, first)->yarn_application_state == APP_STATE(FINISHED) &&
              sv_streq(report(a, first)->diagnostics, "well done"),
          "a finished application is still reported");
    check((int)report(a, id)->yarn_application_state == APP_STATE(ACCEPTED),
          "a running one is ACCEPTED again");
    q->has_response_id = true;
    q->response_id = m.am.response_id;
    refused(m.am.rm, "allocate", q, JAVA_AM_NOT_REGISTERED, "AM should re-register");
    (void)master_register(a, &m);
    check(allocate(a, &m, 0)->num_cluster_nodes == 1,
          "its master counts the node that has not come back yet");
    check(beat_with(a, n, n->response_id)->nodeaction == NODE_ACTION(RESYNC),
          "its node is told to resync");
    check(peer_join(n), "and registers with its containers");
    beat(n);
    check(n->cleanups == 0, "none of them is stopped");
    check_second_start(a, lost, g.starts);
    held = n->n_held;
    (void)allocate(a, &m, 1);
    for (int64_t until = peer_deadline(); n->n_held == held && peer_pause(until, 20);) {
        beat(n);
        (void)allocate(a, &m, 1);
    }
    epoch = n->held[held].id.id >> 40;
    check(n->n_held > held && epoch == 1, "new containers carry the epoch (%" PRId64 ")", epoch);
    m.done = 0;
    m.exits = 0;
    for (size_t i = 0; i < held; i++)
        if (yarn_app_id_cmp(n->held[i].id.attempt.app, id) == 0 && n->held[i].id.id > 1) {
            n->held[i].complete = true;
            n->held[i].exit = 7;
        }
    beat(n);
    (void)allocate(a, &m, 0);
    check(m.done == 5 && m.exits == 35, "the exits of the old ones arrive (%zu)", m.done);
    good_bye(&m, id);
}

/* With short expiries configured, silent peers are lost. */
void run_expiry(void)
{
    struct master m;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Yarn__GetClusterMetricsResponseProto *metrics = NULL;
    struct yarn_app_id id = begin(&m);
    struct peer_node *n = &g.nodes[0];
    int64_t until = peer_deadline();

    (void)allocate(a, &m, 3);
    n->n_held -= 3; /* never started */
    while (m.done < 3 && peer_pause(until, 50)) {
        beat(n);
        (void)allocate(a, &m, 0);
    }
    check(m.done == 3 && m.exits == -300, "containers that are not started expire with -100");
    check(wait_state(id, APP_STATE(FAILED)), "a silent master is lost");
    check(strstr(report(a, id)->diagnostics, "timed out") != NULL, "and the diagnostics say so");
    until = peer_deadline();
    do
        metrics = peer_must(a, g.client, "getClusterMetrics", NULL);
    while (metrics->cluster_metrics->num_lost_nms != 1 && peer_pause(until, 100));
    check(metrics->cluster_metrics->num_lost_nms == 1, "a silent node is lost");
}

/* A container that pretends to be a node: the ResourceManager requires the node secret. */
void run_stranger(void)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct peer_node n = { .id = { .host = "127.0.0.1", .port = 1 } };
    struct ipc_client *c = peer_open(PEER_TRACKER, "yarn", NULL);
    const RegisterResponse *resp;

    resp = peer_call(a, c, "registerNodeManager", peer_registration(a, &n));
    check(!resp || (!resp->container_token_master_key && !resp->nm_token_master_key),
          "a stranger gets no master key");
    check(!resp && sv_streq(peer.class, JAVA_ACCESS_CONTROL),
          "and is refused before its request: %s", peer.err.text);
    ipc_client_free(c);
}
