/* rm-lite/requests/reports.c, tracking.c and the texts of rm-app-manager.c and audit.c: reports to
 * clients about applications, attempts, containers and nodes at each stage. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "common/arena.h"
#include "rm-lite/core/audit.h"
#include "rm-lite/core/rm-node.h"
#include "rm-lite/core/tracking.h"
#include "rm-lite/requests/reports.h"

static void test_waiting_application(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationReportProto *m;
    struct fix f;
    struct rm_app *app;
    char page[300];

    (void)state;
    setup(&f);
    app = submit(&f, false, 2);
    m = rm_app_report(a, app, "ann");
    assert_non_null(m);
    assert_int_equal(m->yarn_application_state, W(ACCEPTED));
    assert_int_equal(m->final_application_status, F(UNDEFINED));
    assert_string_equal(m->host, "N/A");
    assert_int_equal(m->rpc_port, -1);
    assert_string_equal(m->originaltrackingurl, "N/A");
    (void)snprintf(page, sizeof(page), "http://127.0.0.1:%u/cluster/app/%s", f.rm->web_port,
                   app->id_str);
    assert_string_equal(m->trackingurl, page);
    assert_non_null(strstr(m->diagnostics,
                           "] Application is added to the scheduler and is not yet "
                           "activated. Skipping AM assignment as cluster resource "));
    assert_int_equal(m->app_resource_usage->num_used_containers, 0);
    assert_int_equal(m->currentapplicationattemptid->attemptid, 1);
    assert_null(m->am_rm_token); /* of unmanaged applications only */
    assert_int_equal(m->finishtime, 0);
    assert_int_equal(m->n_apptimeouts, 1);
    teardown(&f);
    sv_arena_free(a);
}

/* Clients on other hosts get the name of this one, not "localhost". */
static void test_page_on_any_address(void **state)
{
    static const char *const keys[][2] = { { "yarn.resourcemanager.webapp.address", "0.0.0.0:0" },
                                           { NULL, NULL } };
    char own[256], page[600], url[1024];
    struct rm_app *app;
    struct fix f;

    (void)state;
    assert_int_equal(gethostname(own, sizeof(own)), 0);
    setup_with(&f, keys);
    app = submit(&f, false, 2);
    rm_app_page(app, url, sizeof(url));
    (void)snprintf(page, sizeof(page), "http://%s:%u/cluster/app/%s", own, f.rm->web_port,
                   app->id_str);
    assert_string_equal(url, page);
    teardown(&f);
}

static void test_running_application(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationReportProto *m;
    Hadoop__Yarn__ApplicationAttemptReportProto *t;
    struct fix f;
    struct rm_app *app;
    char proxied[300];

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 2);
    rm_attempt_post(app->current, RM_ATT_EV_LAUNCHED, NULL);
    m = rm_app_report(a, app, "ann");
    assert_string_equal(m->diagnostics,
                        "AM container is launched, waiting for AM container to Register with RM");
    rm_set_text(&app->current->host, "worker-1");
    app->current->rpc_port = 4711;
    rm_set_text(&app->current->tracking_url, "http://worker-1:9999/ui");
    app->current->progress = 0.5f;
    app->current->registered = true;
    rm_attempt_post(app->current, RM_ATT_EV_REGISTERED, NULL);
    m = rm_app_report(a, app, "ann");
    assert_int_equal(m->yarn_application_state, W(RUNNING));
    assert_string_equal(m->host, "worker-1");
    assert_int_equal(m->rpc_port, 4711);
    assert_string_equal(m->originaltrackingurl, "http://worker-1:9999/ui");
    (void)snprintf(proxied, sizeof(proxied), "http://127.0.0.1:%u/proxy/%s/", f.rm->web_port,
                   app->id_str);
    assert_string_equal(m->trackingurl, proxied);
    assert_true(m->progress > 0.4f && m->progress < 0.6f);
    assert_int_equal(m->app_resource_usage->num_used_containers, 1);
    assert_int_equal(m->app_resource_usage->used_resources->memory, 1024);
    t = rm_attempt_report(a, app->current);
    assert_int_equal(t->yarn_application_attempt_state,
                     HADOOP__YARN__YARN_APPLICATION_ATTEMPT_STATE_PROTO__APP_ATTEMPT_RUNNING);
    assert_int_equal(t->am_container_id->id, app->current->master_id.id);
    rm_app_post(app, RM_APP_EV_KILL, "enough"); /* the link must not lead to the ended master */
    m = rm_app_report(a, app, "ann");
    assert_string_equal(m->originaltrackingurl, "N/A");
    (void)snprintf(proxied, sizeof(proxied), "http://127.0.0.1:%u/cluster/app/%s", f.rm->web_port,
                   app->id_str);
    assert_string_equal(m->trackingurl, proxied);
    teardown(&f);
    sv_arena_free(a);
}

static void test_ended_application(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ApplicationReportProto *m;
    struct fix f;
    struct rm_app *app;

    (void)state;
    setup(&f);
    add_node(&f, 1);
    app = submit(&f, false, 2);
    run_master(&f, app);
    kill_app(&f, app);
    m = rm_app_report(a, app, "ann");
    assert_int_equal(m->yarn_application_state, W(KILLED));
    assert_int_equal(m->final_application_status, F(KILLED));
    assert_string_equal(m->diagnostics, "Application was killed by user ann");
    assert_true(m->progress > 0.99f);
    assert_int_equal(m->app_resource_usage->num_used_containers, -1); /* not known any more */
    assert_int_equal(m->app_resource_usage->used_resources->memory, -1);
    assert_true(m->finishtime >= m->starttime);
    teardown(&f);
    sv_arena_free(a);
}

/* The client starts an unmanaged ApplicationMaster, so it gets its token; until it registers. */
static void test_unmanaged_application(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct fix f;
    struct rm_app *app;

    (void)state;
    setup(&f);
    app = submit(&f, true, 1);
    assert_non_null(rm_app_report(a, app, "ann")->am_rm_token);
    assert_null(rm_app_report(a, app, "bob")->am_rm_token); /* bob could be its master with it */
    assert_null(rm_app_report(a, app, NULL)->am_rm_token);
    rm_attempt_post(app->current, RM_ATT_EV_REGISTERED, NULL);
    assert_null(rm_app_report(a, app, "ann")->am_rm_token);
    teardown(&f);
    sv_arena_free(a);
}

static void test_container_and_node(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ContainerReportProto *c;
    Hadoop__Yarn__NodeReportProto *n;
    struct fix f;
    struct rm_node *node;
    struct rm_app *app;

    (void)state;
    setup(&f);
    node = add_node(&f, 1);
    add_node(&f, 2);
    app = submit(&f, false, 2);
    c = rm_container_report(a, app->current->master);
    assert_int_equal(c->container_state, HADOOP__YARN__CONTAINER_STATE_PROTO__C_NEW);
    assert_int_equal(c->container_exit_status, 0); /* -1000 is not shown */
    assert_non_null(strstr(c->log_url, "http://127.0.0.1:8042/node/containerlogs/container_"));
    assert_non_null(strstr(c->log_url, "/ann"));
    node = app->current->master->node;
    n = rm_node_report(a, node);
    assert_int_equal(n->numcontainers, 1);
    assert_int_equal(n->used->memory, 1024);
    assert_int_equal(n->capability->memory, 8192);
    assert_string_equal(n->health_report, "");
    assert_int_equal(n->node_update_type, HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_USABLE);
    rm_node_post_graceful(node, -1);
    n = rm_node_report(a, node);
    assert_int_equal(n->node_state, HADOOP__YARN__NODE_STATE_PROTO__NS_DECOMMISSIONING);
    assert_int_equal(n->node_update_type,
                     HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_DECOMMISSIONING);
    assert_int_equal(rm_active_nodes(f.rm), 2);
    rm_node_post(node, RM_NODE_EV_EXPIRE);
    n = rm_node_report(a, rm_node_find_inactive(f.rm, node->key));
    assert_int_equal(n->node_update_type, HADOOP__YARN__NODE_UPDATE_TYPE_PROTO__NODE_UNUSABLE);
    assert_int_equal(n->used->memory, 0);
    assert_int_equal(rm_active_nodes(f.rm), 1);
    assert_int_equal(rm_count_nodes(f.rm, RM_NODE_ST_LOST), 1);
    teardown(&f);
    sv_arena_free(a);
}

static void test_kill_text(void **state)
{
    struct sv_arena *a = sv_arena_new(0);
    struct rm_app app = { .id_str = "application_1_0001" };

    (void)state;
    assert_string_equal(rm_kill_text(a, &app, "ann", "10.0.0.7:5555", "enough"),
                        "Application application_1_0001 was killed by user ann at 10.0.0.7 with "
                        "diagnostic message: enough");
    assert_string_equal(rm_kill_text(a, &app, "ann", "[::1]:5555", ""),
                        "Application application_1_0001 was killed by user ann at [::1]");
    assert_string_equal(rm_kill_text(a, &app, "ann", NULL, NULL),
                        "Application application_1_0001 was killed by user ann");
    sv_arena_free(a);
}

/* A user's text must not add a field or a line to the summary. */
static void test_summary_is_escaped(void **state)
{
    char out[64], small[8];

    (void)state;
    rm_audit_escape(out, sizeof(out), "a,b=c\\d\ne\rf");
    assert_string_equal(out, "a\\,b\\=c\\\\d\\ne\\rf");
    rm_audit_escape(out, sizeof(out), NULL);
    assert_string_equal(out, "");
    rm_audit_escape(small, sizeof(small), ",,,,,,,,"); /* cut between characters */
    assert_string_equal(small, "\\,\\,\\,");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_application),
        cmocka_unit_test(test_page_on_any_address),
        cmocka_unit_test(test_running_application),
        cmocka_unit_test(test_ended_application),
        cmocka_unit_test(test_unmanaged_application),
        cmocka_unit_test(test_container_and_node),
        cmocka_unit_test(test_kill_text),
        cmocka_unit_test(test_summary_is_escaped),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
