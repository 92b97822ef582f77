/* Tests client/lib/am-calls.c, am-updates.c and node-calls.c: calls to the node of a container, and
 * updates, which both the ResourceManager and the node answer. */
#include "tests/unit/client/am-fixture.h"

static const struct cli_launch sleeper = { .command = "sleep 1" };

static struct yarn_container_id two(void)
{
    return container(1, 2);
}

static void give(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                 struct sv_arena *a)
{
    (void)q;
    allocate_one(w, out, a, container_message(w, a, 2, 0, -1));
    w->on_allocate = NULL;
}

static void run_allocated(struct cluster *w)
{
    run_registered(w);
    w->on_allocate = give;
    RUN_UNTIL(w, w->n_allocated == 1);
}

static void run_started(struct cluster *w)
{
    run_allocated(w);
    assert_int_equal(cli_am_start(w->am, two(), &sleeper), 0);
    assert_int_equal(cli_am_start(w->am, two(), &sleeper), -EALREADY);
    RUN_UNTIL(w, w->n_started == 1);
    assert_int_equal(w->status, 0);
}

/* ---- Calls ---- */

struct end {
    int calls, status;
    char text[SV_ERROR_TEXT_MAX], seen[256];
};

static void on_end(struct cli_am *am, struct yarn_container_id id, int status,
                   const struct sv_error *err, void *userdata)
{
    struct end *e = userdata;

    assert_non_null(am);
    assert_int_equal(yarn_container_id_cmp(id, two()), 0);
    e->calls++;
    e->status = status;
    (void)snprintf(e->text, sizeof(e->text), "%s", err ? err->text : "");
}

static int reinitialize(struct cli_am *am, struct end *e)
{
    return cli_am_reinitialize(am, two(), &sleeper, false, on_end, e);
}
static int commit(struct cli_am *am, struct end *e)
{
    return cli_am_commit(am, two(), on_end, e);
}
static int rollback(struct cli_am *am, struct end *e)
{
    return cli_am_rollback(am, two(), on_end, e);
}
static int restart(struct cli_am *am, struct end *e)
{
    return cli_am_restart(am, two(), on_end, e);
}
static int localize(struct cli_am *am, struct end *e)
{
    const struct cli_resource file = { .name = "more",
                                       .url = "file:///tmp/x",
                                       .size = 3,
                                       .timestamp = 4,
                                       .type = CLI_FILE,
                                       .visibility = CLI_APPLICATION };

    return cli_am_localize(am, two(), &file, 1, on_end, e);
}
static int signal_it(struct cli_am *am, struct end *e)
{
    return cli_am_signal(am, two(), CLI_SIGNAL_TERM, on_end, e);
}

static const struct {
    int (*call)(struct cli_am *am, struct end *e);
    const char *method;
} calls[] = {
    { reinitialize, "reInitializeContainer" },
    { commit, "commitLastReInitialization" },
    { rollback, "rollbackLastReInitialization" },
    { restart, "restartContainer" },
    { localize, "localize" },
    { signal_it, "signalToContainer" },
};

static void test_calls(void **state)
{
    struct cluster *w = *state;

    for (size_t i = 0; i < SV_ARRAY_LEN(calls); i++)
        assert_int_equal(calls[i].call(w->am, NULL), -ENOENT);
    run_started(w);
    for (size_t i = 0; i < SV_ARRAY_LEN(calls); i++) {
        struct end e = { 0 };

        assert_int_equal(calls[i].call(w->am, &e), 0);
        assert_int_equal(e.calls, 0);
        RUN_UNTIL(w, e.calls == 1);
        assert_int_equal(e.status, 0);
        assert_string_equal(w->node_method, calls[i].method);

        w->refuse_node = "not now";
        assert_int_equal(calls[i].call(w->am, &e), 0);
        RUN_UNTIL(w, e.calls == 2);
        assert_int_equal(e.status, -EREMOTEIO);
        assert_non_null(strstr(e.text, "node 127.0.0.1:"));
        assert_non_null(strstr(e.text, "not now"));
        w->refuse_node = NULL;
    }
}

static void test_messages(void **state)
{
    struct cluster *w = *state;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ReInitializeContainerRequestProto *reinit;
    Hadoop__Yarn__ResourceLocalizationRequestProto *more;
    Hadoop__Yarn__SignalContainerRequestProto *sig;
    struct end e = { 0 };

    run_started(w);
    assert_int_equal(reinitialize(w->am, &e), 0);
    RUN_UNTIL(w, e.calls == 1);
    reinit = hadoop__yarn__re_initialize_container_request_proto__unpack(
        sv_arena_protobuf(a), w->node_request_len, w->node_request);
    assert_false(reinit->auto_commit);
    assert_string_equal(reinit->container_launch_context->command[0], "sleep 1");
    assert_int_equal(localize(w->am, &e), 0);
    RUN_UNTIL(w, e.calls == 2);
    more = hadoop__yarn__resource_localization_request_proto__unpack(
        sv_arena_protobuf(a), w->node_request_len, w->node_request);
    assert_string_equal(more->local_resources[0]->key, "more");
    assert_int_equal(signal_it(w->am, &e), 0);
    RUN_UNTIL(w, e.calls == 3);
    sig = hadoop__yarn__signal_container_request_proto__unpack(
        sv_arena_protobuf(a), w->node_request_len, w->node_request);
    assert_int_equal(sig->command, HADOOP__YARN__SIGNAL_CONTAINER_COMMAND_PROTO__GRACEFUL_SHUTDOWN);
}

/* A launch whose URL is malformed is refused at once. */
static void test_bad_url(void **state)
{
    struct cluster *w = *state;
    const struct cli_resource file = { .name = "x", .url = "nowhere" };
    const struct cli_launch bad = { .command = "true", .resources = &file, .n_resources = 1 };
    struct end e = { 0 };

    run_allocated(w);
    assert_int_equal(cli_am_start(w->am, two(), &bad), -EINVAL);
    assert_int_equal(cli_am_reinitialize(w->am, two(), &bad, true, on_end, &e), -EINVAL);
    assert_int_equal(cli_am_localize(w->am, two(), &file, 1, on_end, &e), -EINVAL);
    assert_int_equal(cli_am_start(w->am, two(), &sleeper), 0);
    assert_int_equal(e.calls, 0);
}

/* Open calls end with the master. */
static void test_open_calls_at_the_end(void **state)
{
    struct cluster *w = *state;
    struct end e = { 0 };

    run_started(w);
    assert_int_equal(restart(w->am, &e), 0);
    w->am = cli_am_free(w->am);
    assert_int_equal(e.calls, 1);
    assert_int_equal(e.status, -ECANCELED);
}

/* ---- Status ---- */

static void on_status(struct cli_am *am, struct yarn_container_id id, int status,
                      const struct cli_container_status *s, const struct sv_error *err,
                      void *userdata)
{
    struct end *e = userdata;

    on_end(am, id, status, err, e);
    if (status < 0) {
        assert_null(s);
        return;
    }
    (void)snprintf(e->seen, sizeof(e->seen), "%s %s %d %s %s %s %s", s->state, s->sub_state,
                   s->exit_status, s->host, s->ips, s->ports, s->diagnostics);
}

static void test_status(void **state)
{
    struct cluster *w = *state;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ContainerStatusProto status = HADOOP__YARN__CONTAINER_STATUS_PROTO__INIT;
    Hadoop__Yarn__StringStringMapProto rows[3], *list[3];
    static const char *const texts[][2] = { { "HOST", "c1" },
                                            { "IPS", "10.0.0.1,10.0.0.2" },
                                            { "PORTS", "{}" } };
    struct end e = { 0 };

    for (int i = 0; i < 3; i++) {
        hadoop__yarn__string_string_map_proto__init(&rows[i]);
        rows[i].key = (char *)(uintptr_t)texts[i][0];
        rows[i].value = (char *)(uintptr_t)texts[i][1];
        list[i] = &rows[i];
    }
    run_started(w);
    status.container_id = yarn_container_id_to(a, two());
    status.has_state = status.has_container_sub_state = true;
    status.state = HADOOP__YARN__CONTAINER_STATE_PROTO__C_RUNNING;
    status.container_sub_state = HADOOP__YARN__CONTAINER_SUB_STATE_PROTO__CSS_RUNNING;
    status.diagnostics = (char[]){ "fine" };
    status.container_attributes = list;
    status.n_container_attributes = 3;
    w->container_status = &status;
    assert_int_equal(cli_am_status(w->am, two(), on_status, &e), 0);
    RUN_UNTIL(w, e.calls == 1);
    assert_string_equal(e.seen, "RUNNING RUNNING -1000 c1 10.0.0.1,10.0.0.2 {} fine");

    w->container_status = NULL;
    assert_int_equal(cli_am_status(w->am, two(), on_status, &e), 0);
    RUN_UNTIL(w, e.calls == 2);
    assert_int_equal(e.status, -ENOENT);
    assert_int_equal(cli_am_status(w->am, container(1, 99), on_status, &e), -ENOENT);
}

static void on_localized(struct cli_am *am, struct yarn_container_id id, int status,
                         const struct cli_localized *list, size_t n, const struct sv_error *err,
                         void *userdata)
{
    struct end *e = userdata;

    (void)am;
    (void)id;
    assert_true(status == 0 ? err == NULL : err != NULL && n == 0);
    e->calls++;
    e->status = status;
    e->seen[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(e->seen);

        (void)snprintf(e->seen + len, sizeof(e->seen) - len, "%s %s%s %s;", list[i].key,
                       list[i].state, list[i].pending ? "!" : "", list[i].diagnostics);
    }
}

static void test_localized(void **state)
{
    struct cluster *w = *state;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ContainerLocalizationStatusesProto m =
        HADOOP__YARN__CONTAINER_LOCALIZATION_STATUSES_PROTO__INIT;
    Hadoop__Yarn__LocalizationStatusProto rows[3], *list[3];
    char keys[3][8] = { "lib", "words", "x" };
    struct end e = { 0 };

    for (int i = 0; i < 3; i++) {
        hadoop__yarn__localization_status_proto__init(&rows[i]);
        rows[i].resource_key = keys[i];
        rows[i].has_localization_state = true;
        rows[i].localization_state = (Hadoop__Yarn__LocalizationStateProto)(i + 1);
        list[i] = &rows[i];
    }
    rows[2].diagnostics = (char[]){ "no such file" };
    run_started(w);
    m.container_id = yarn_container_id_to(a, two());
    m.localization_statuses = list;
    m.n_localization_statuses = 3;
    w->localized = &m;
    assert_int_equal(cli_am_localized(w->am, two(), on_localized, &e), 0);
    RUN_UNTIL(w, e.calls == 1);
    assert_string_equal(w->node_method, "getLocalizationStatuses");
    assert_string_equal(e.seen, "lib PENDING! ;words COMPLETED ;x FAILED no such file;");
    w->localized = NULL;
    assert_int_equal(cli_am_localized(w->am, two(), on_localized, &e), 0);
    RUN_UNTIL(w, e.calls == 2);
    assert_int_equal(e.status, -ENOENT);
    w->refuse_node = "no";
    assert_int_equal(cli_am_localized(w->am, two(), on_localized, &e), 0);
    RUN_UNTIL(w, e.calls == 3);
    assert_int_equal(e.status, -EREMOTEIO);
    assert_int_equal(cli_am_localized(w->am, container(1, 99), on_localized, &e), -ENOENT);
}

/* ---- Updates ---- */

static void updated(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                    struct sv_arena *a)
{
    Hadoop__Yarn__UpdatedContainerProto *m = sv_new(a, Hadoop__Yarn__UpdatedContainerProto);

    if (q->n_update_requests == 0)
        return;
    hadoop__yarn__updated_container_proto__init(m);
    m->update_type = q->update_requests[0]->update_type;
    m->container = container_message(w, a, 2, 0, -1);
    m->container->resource = q->update_requests[0]->capability;
    m->container->has_version = true;
    m->container->version = q->update_requests[0]->container_version + 1;
    out->updated_containers = sv_newn(a, Hadoop__Yarn__UpdatedContainerProto *, 1);
    out->updated_containers[0] = m;
    out->n_updated_containers = 1;
    w->on_allocate = NULL;
}

static void test_update(void **state)
{
    struct cluster *w = *state;
    const struct yarn_resource bigger = { .memory_mb = 1024, .vcores = 2 };
    const Hadoop__Yarn__UpdateContainerRequestProto *m;

    run_started(w);
    w->on_allocate = updated;
    assert_int_equal(cli_am_update(w->am, container(1, 99), CLI_INCREASE, bigger), -ENOENT);
    assert_int_equal(cli_am_update(w->am, two(), CLI_INCREASE, bigger), 0);
    assert_int_equal(cli_am_update(w->am, two(), CLI_INCREASE, bigger), -EALREADY);
    RUN_UNTIL(w, w->n_updated == 1);
    m = w->last->update_requests[0];
    assert_int_equal(m->update_type, HADOOP__YARN__CONTAINER_UPDATE_TYPE_PROTO__INCREASE_RESOURCE);
    assert_int_equal(m->capability->memory, 1024);
    assert_false(m->has_execution_type);
    assert_int_equal(w->status, 0);
    assert_string_equal(w->node_method, "updateContainer");
    assert_int_equal(w->allocation.version, 1);
    assert_int_equal(w->allocation.resource.memory_mb, 1024);
    assert_int_equal(cli_am_container(w->am, two())->resource.vcores, 2);

    w->on_allocate = updated; /* promotion; the node was told by the ResourceManager */
    w->refuse_node = "Container x has update version [2] >= requested version [2]";
    assert_int_equal(cli_am_update(w->am, two(), CLI_PROMOTE, bigger), 0);
    RUN_UNTIL(w, w->n_updated == 2);
    m = w->last->update_requests[0];
    assert_int_equal(m->container_version, 1);
    assert_null(m->capability);
    assert_int_equal(m->execution_type, HADOOP__YARN__EXECUTION_TYPE_PROTO__GUARANTEED);
    assert_int_equal(w->status, 0);

    w->on_allocate = updated;
    w->refuse_node = "the cgroup says no";
    assert_int_equal(cli_am_update(w->am, two(), CLI_DECREASE, bigger), 0);
    RUN_UNTIL(w, w->n_updated == 3);
    assert_int_equal(w->update_type, CLI_DECREASE);
    assert_int_equal(w->status, -EREMOTEIO);
    assert_non_null(strstr(w->text, "the cgroup says no"));
}

/* A container that was not started has no process: its node is not told. */
static void test_update_before_start(void **state)
{
    struct cluster *w = *state;

    run_allocated(w);
    w->on_allocate = updated;
    assert_int_equal(cli_am_update(w->am, two(), CLI_INCREASE,
                                   (struct yarn_resource){ .memory_mb = 1024, .vcores = 1 }),
                     0);
    RUN_UNTIL(w, w->n_updated == 1);
    assert_int_equal(w->status, 0);
    assert_int_equal(w->node_calls, 0);
}

static void refuse_update(struct cluster *w, const AllocateRequest *q, AllocateResponse *out,
                          struct sv_arena *a)
{
    Hadoop__Yarn__UpdateContainerErrorProto *m = sv_new(a, Hadoop__Yarn__UpdateContainerErrorProto);

    if (q->n_update_requests == 0)
        return;
    hadoop__yarn__update_container_error_proto__init(m);
    m->reason = sv_arena_strdup(a, "RESOURCE_OUTSIDE_ALLOWED_RANGE");
    m->update_request = q->update_requests[0];
    m->has_current_container_version = true;
    m->current_container_version = 9;
    out->update_errors = sv_newn(a, Hadoop__Yarn__UpdateContainerErrorProto *, 1);
    out->update_errors[0] = m;
    out->n_update_errors = 1;
    w->on_allocate = NULL;
}

static void test_update_refused(void **state)
{
    struct cluster *w = *state;

    run_started(w);
    w->on_allocate = refuse_update;
    assert_int_equal(cli_am_update(w->am, two(), CLI_INCREASE,
                                   (struct yarn_resource){ .memory_mb = 1 << 30, .vcores = 1 }),
                     0);
    RUN_UNTIL(w, w->n_updated == 1);
    assert_int_equal(w->status, -EREMOTEIO);
    assert_non_null(strstr(w->text, "RESOURCE_OUTSIDE_ALLOWED_RANGE"));
    assert_int_equal(w->allocation.version, 9);
    /* Another one may follow; a restart of the ResourceManager sends it once more. */
    assert_int_equal(cli_am_update(w->am, two(), CLI_DEMOTE, (struct yarn_resource){ 0 }), 0);
    run_asked(w);
    assert_int_equal(w->last->update_requests[0]->container_version, 9);
    run_heartbeats(w);
    w->refuse_allocate = JAVA_AM_NOT_REGISTERED;
    run_asked(w);
    assert_int_equal(w->last->n_update_requests, 1);
}

/* An update that was not sent goes with its container. */
static void test_release_with_update(void **state)
{
    struct cluster *w = *state;

    run_started(w);
    assert_int_equal(cli_am_update(w->am, two(), CLI_DEMOTE, (struct yarn_resource){ 0 }), 0);
    assert_int_equal(cli_am_release(w->am, two()), 0);
    run_asked(w);
    assert_int_equal(w->last->n_update_requests, 0);
    assert_int_equal(w->last->n_release, 1);
}

#define T(f) cmocka_unit_test_setup_teardown(f, cluster_set_up, cluster_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_calls),          T(test_messages),
        T(test_bad_url),        T(test_open_calls_at_the_end),
        T(test_status),         T(test_localized),
        T(test_update),         T(test_update_before_start),
        T(test_update_refused), T(test_release_with_update),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
