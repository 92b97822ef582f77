/* A scenario of rm-driver: the unmanaged master that the AMRMProxy of a federation has at a member
 * which is not the application's home. */
#include "tests/integration/rm-lite/rm-driver.h"

#define CONTAINERS 3

static void submit_unmanaged(struct yarn_app_id id)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    SubmissionContext *m = PEER_NEW(a, hadoop__yarn__application_submission_context_proto);

    m->application_id = yarn_app_id_to(a, id);
    m->application_name = peer_text("UnmanagedAM-SC-1");
    m->queue = peer_text("default");
    m->am_container_spec = PEER_NEW(a, hadoop__yarn__container_launch_context_proto);
    m->resource = yarn_resource_to(a, (struct yarn_resource){ 1024, 1, 0 });
    m->has_unmanaged_am = m->unmanaged_am = true;
    m->has_keep_containers_across_application_attempts = true;
    m->keep_containers_across_application_attempts = true;
    peer_submit(a, g.client, m);
}

static bool launched(struct master *m)
{
    bool there = false;

    for (int64_t until = peer_deadline(); !there && peer_pause(until, 20);)
        there = peer_reported_token(g.client, &m->am);
    return there;
}

static void reconnect(struct master *m, struct peer_node *n)
{
    ipc_client_free(g.client);
    g.client = peer_open(PEER_CLIENTS, "ann", NULL);
    ipc_client_free(n->rm);
    n->rm = peer_open(PEER_TRACKER, "yarn", NULL);
    ipc_client_free(m->am.rm);
    m->am.rm = peer_open_master(&m->am);
}

/* The token that the proxy has stored is good after the restart, and the second registration, in
 * the order that Hadoop's relayer has, tells of the containers. */
static void check_second_life(struct sv_arena *a, struct master *m, struct peer_node *n)
{
    AllocateRequest *q = peer_request(a, "allocate");
    const MasterRegistered *again;

    check((int)report(a, m->am.app)->yarn_application_state == APP_STATE(ACCEPTED),
          "the unmanaged application is ACCEPTED again");
    submit_unmanaged(m->am.app); /* a proxy that does not know better */
    check(beat_with(a, n, n->response_id)->nodeaction == NODE_ACTION(RESYNC) && peer_join(n),
          "its node comes back with the containers");
    beat(n);
    q->has_response_id = true;
    q->response_id = m->am.response_id;
    refused(m->am.rm, "allocate", q, JAVA_AM_NOT_REGISTERED, "AM should re-register");
    for (int i = 0; i < 2; i++) { /* the proxy itself may be restarted, too */
        again = master_register(a, m);
        check(again->n_containers_from_previous_attempts == CONTAINERS &&
                  again->n_nm_tokens_from_previous_attempts == 1,
              "registering again answers %zu containers and %zu NMTokens",
              again->n_containers_from_previous_attempts,
              again->n_nm_tokens_from_previous_attempts);
    }
    beat(n);
    check(n->cleanups == 0, "none of them is stopped");
}

void run_uam(void)
{
    struct master m = { .am.app = { 1600000000000, 7 } };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct peer_node *n = add_node();
    const AllocateResponse *resp;

    beat(n);
    submit_unmanaged(m.am.app);
    submit_unmanaged(m.am.app);
    check(launched(&m), "an id of another member, submitted twice: its report has the token");
    (void)master_register(a, &m);
    (void)allocate(a, &m, CONTAINERS);
    beat(n);
    check(m.containers == CONTAINERS && n->n_held == CONTAINERS, "it gets containers");
    await_line("RESTART");
    reconnect(&m, n);
    check_second_life(a, &m, n);
    n->held[0].complete = true;
    n->held[0].exit = 7;
    beat(n);
    resp = allocate(a, &m, 1);
    check(resp->n_completed_container_statuses == 1 && m.exits == 7, "an exit arrives");
    for (int64_t until = peer_deadline(); m.containers == CONTAINERS && peer_pause(until, 20);) {
        beat(n);
        (void)allocate(a, &m, -1);
    }
    check(m.containers == CONTAINERS + 1 && n->held[n->n_held - 1].id.id >> 40 == 2001,
          "a new container carries the second epoch");
    check(peer_finish(&m.am, "well done"), "it is finished at once");
    check((int)report(a, m.am.app)->yarn_application_state == APP_STATE(FINISHED) &&
              report(a, m.am.app)->final_application_status ==
                  HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_SUCCEEDED,
          "and FINISHED for its client");
    beat(n);
    check(n->apps_cleaned > 0, "its node cleans up");
    m.am.rm = ipc_client_free(m.am.rm);
}
