/* A framework's master without YARN, files or network: what client/lib, the worker and the
 * transport are asked is noted, and the test answers. What is real: the engine with its policy, the
 * link, and the files of service/am/framework/ between them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "client/lib/client.h"
#include "service/am/framework/master-internal.h"
#include "service/am/framework/post.h"
#include "wire/exit-status.h"

#define JOBS_MAX 64

static struct {
    struct svc_fwm m;
    struct svc_fwm_options options;
    char log[8192];
    int32_t asked[JOBS_MAX]; /* priorities of open requests, in their order */
    size_t n_asked;
    int32_t asked_gpus; /* by the last request */
    struct svc_any_job jobs[JOBS_MAX];
    size_t n_jobs;
    svc_post_fn answered;
    void *answered_userdata;
    json_t *open; /* the request to the launcher; NULL: none */
    json_t *told; /* {"W-0": TaskStatus} */
    int64_t revision;
    struct sv_conf *conf;
    cli_nodes_fn nodes; /* NULL: the ResourceManager was not asked */
    cli_containers_fn containers;
} w;

static void note(const char *fmt, ...) _printf_(1, 2);
static void note(const char *fmt, ...)
{
    size_t n = strlen(w.log);
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(w.log + n, sizeof(w.log) - n, fmt, ap);
    va_end(ap);
}

static int times(const char *part)
{
    int n = 0;

    for (const char *s = w.log; (s = strstr(s, part)); s++)
        n++;
    return n;
}

/* ---- client/lib ---- */

int __wrap_cli_am_ask(struct cli_am *am, const struct cli_ask *a, struct sv_error *err);
int __wrap_cli_am_ask(struct cli_am *am, const struct cli_ask *a, struct sv_error *err)
{
    (void)am;
    (void)err;
    assert_int_equal(a->count, 1);
    w.asked[w.n_asked++] = a->priority;
    assert_true(a->n_places <= 1 && a->strict == (a->n_places > 0));
    w.asked_gpus = a->resource.gpus;
    note("ask(%s) ", a->n_places ? a->places[0].host : "*");
    return 0;
}

int __wrap_cli_am_cancel(struct cli_am *am, int32_t priority, int64_t request);
int __wrap_cli_am_cancel(struct cli_am *am, int32_t priority, int64_t request)
{
    (void)am;
    (void)request;
    note("cancel(%d) ", priority);
    return 0;
}

int __wrap_cli_am_release(struct cli_am *am, struct yarn_container_id id);
int __wrap_cli_am_release(struct cli_am *am, struct yarn_container_id id)
{
    (void)am;
    note("release(%lld) ", (long long)id.id);
    return 0;
}

int __wrap_cli_am_start(struct cli_am *am, struct yarn_container_id id,
                        const struct cli_launch *launch);
int __wrap_cli_am_start(struct cli_am *am, struct yarn_container_id id,
                        const struct cli_launch *launch)
{
    (void)am;
    assert_non_null(launch);
    note("start(%lld) ", (long long)id.id);
    return 0;
}

int __wrap_cli_am_stop(struct cli_am *am, struct yarn_container_id id);
int __wrap_cli_am_stop(struct cli_am *am, struct yarn_container_id id)
{
    (void)am;
    note("stop(%lld) ", (long long)id.id);
    return 0;
}

int __wrap_cli_am_blacklist(struct cli_am *am, const char *host, bool on);
int __wrap_cli_am_blacklist(struct cli_am *am, const char *host, bool on)
{
    (void)am;
    note("blacklist(%s %d) ", host, on);
    return 0;
}

void __wrap_cli_am_progress(struct cli_am *am, float progress);
void __wrap_cli_am_progress(struct cli_am *am, float progress)
{
    (void)am;
    (void)progress;
}

int __wrap_cli_am_finish(struct cli_am *am, enum cli_final final, const char *diagnostics);
int __wrap_cli_am_finish(struct cli_am *am, enum cli_final final, const char *diagnostics)
{
    (void)am;
    note("finish(%s %s) ", final == CLI_FINAL_SUCCEEDED ? "SUCCEEDED" : "FAILED", diagnostics);
    return 0;
}

int __wrap_cli_am_register(struct cli_am *am, const char *host, int32_t port, const char *url);
int __wrap_cli_am_register(struct cli_am *am, const char *host, int32_t port, const char *url)
{
    (void)am;
    (void)host;
    (void)url;
    note("register(%d) ", port);
    return 0;
}

const uint8_t *__wrap_cli_am_tokens(const struct cli_am *am, size_t *ret_len);
const uint8_t *__wrap_cli_am_tokens(const struct cli_am *am, size_t *ret_len)
{
    (void)am;
    *ret_len = 0;
    return NULL;
}

struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am);
struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am)
{
    (void)am;
    return (struct yarn_attempt_id){ { 1, 1 }, 1 };
}

/* Clients' calls: their answers are the test's. */
int __wrap_cli_rm_new(sd_event *event, struct sv_conf *conf, const char *user, struct cli_rm **ret,
                      struct sv_error *err);
int __wrap_cli_rm_new(sd_event *event, struct sv_conf *conf, const char *user, struct cli_rm **ret,
                      struct sv_error *err)
{
    (void)event;
    (void)conf;
    (void)err;
    assert_string_equal(user, "ann");
    *ret = NULL;
    return 0;
}

struct cli_rm *__wrap_cli_rm_free(struct cli_rm *rm);
struct cli_rm *__wrap_cli_rm_free(struct cli_rm *rm)
{
    (void)rm;
    return NULL;
}

int __wrap_cli_rm_nodes(struct cli_rm *rm, bool all_states, cli_nodes_fn fn, void *userdata);
int __wrap_cli_rm_nodes(struct cli_rm *rm, bool all_states, cli_nodes_fn fn, void *userdata)
{
    (void)rm;
    (void)all_states;
    (void)userdata;
    w.nodes = fn;
    return 0;
}

int __wrap_cli_rm_containers(struct cli_rm *rm, struct yarn_attempt_id attempt,
                             cli_containers_fn fn, void *userdata);
int __wrap_cli_rm_containers(struct cli_rm *rm, struct yarn_attempt_id attempt,
                             cli_containers_fn fn, void *userdata)
{
    (void)rm;
    (void)attempt;
    (void)userdata;
    w.containers = fn;
    return 0;
}

/* ---- The worker ---- */

int __wrap_svc_work_any(struct svc_work *work, const struct svc_any_job *any);
int __wrap_svc_work_any(struct svc_work *work, const struct svc_any_job *any)
{
    (void)work;
    assert_true(w.n_jobs < JOBS_MAX);
    w.jobs[w.n_jobs++] = *any;
    note("prepare ");
    return 0;
}

int __wrap_svc_work_replace(struct svc_work *work, const char *name, struct sv_buf *bytes,
                            svc_stored_fn fn, void *userdata);
int __wrap_svc_work_replace(struct svc_work *work, const char *name, struct sv_buf *bytes,
                            svc_stored_fn fn, void *userdata)
{
    struct sv_error err = { 0 };
    json_t *o = json_loadb((char *)bytes->data, bytes->len, JSON_REJECT_DUPLICATES, NULL);

    (void)work;
    assert_string_equal(name, "FrameworkInfo.json");
    assert_true(json_is_object(o));
    json_decref(o);
    sv_buf_free(bytes);
    note("publish ");
    fn(0, &err, userdata);
    return 0;
}

/* ---- The transport ---- */

int __wrap_svc_post_set_url(struct svc_post *p, const char *url);
int __wrap_svc_post_set_url(struct svc_post *p, const char *url)
{
    (void)p;
    (void)url;
    return 0;
}

int __wrap_svc_post_new(sd_event *event, const char *url, const char *header, svc_post_fn fn,
                        void *userdata, struct svc_post **ret, struct sv_error *err);
int __wrap_svc_post_new(sd_event *event, const char *url, const char *header, svc_post_fn fn,
                        void *userdata, struct svc_post **ret, struct sv_error *err)
{
    (void)event;
    (void)url;
    (void)header;
    (void)err;
    w.answered = fn;
    w.answered_userdata = userdata;
    *ret = (struct svc_post *)&w;
    return 0;
}

int __wrap_svc_post_send(struct svc_post *p, char *json, int64_t timeout_ms);
int __wrap_svc_post_send(struct svc_post *p, char *json, int64_t timeout_ms)
{
    (void)p;
    (void)timeout_ms;
    assert_null(w.open);
    w.open = json_loads(json, 0, NULL);
    free(json);
    return 0;
}

void __wrap_svc_post_cancel(struct svc_post *p);
void __wrap_svc_post_cancel(struct svc_post *p)
{
    (void)p;
    json_decref(w.open);
    w.open = NULL;
}

struct svc_post *__wrap_svc_post_free(struct svc_post *p);
struct svc_post *__wrap_svc_post_free(struct svc_post *p)
{
    (void)p;
    json_decref(w.open);
    w.open = NULL;
    return NULL;
}

/* ---- The test's side ---- */

static void turn(void)
{
    for (int i = 0; i < 1000; i++) {
        int r = sd_event_run(w.m.event, 0);

        assert_true(r >= 0);
        if (r == 0)
            return;
    }
    fail_msg("the loop does not come to rest");
}

static void take_told(void)
{
    const char *role;
    json_t *list, *task;
    size_t i;

    json_object_foreach(json_object_get(w.open, "taskRoles"), role, list)
    {
        json_array_foreach(list, i, task)
        {
            char name[64];

            (void)snprintf(name, sizeof(name), "%s-%d", role,
                           (int)json_integer_value(json_object_get(task, "taskIndex")));
            if (json_is_true(json_object_get(task, "removed")))
                (void)json_object_del(w.told, name);
            else
                assert_int_equal(json_object_set(w.told, name, task), 0);
        }
    }
}

/* Answers the open request; `more`: members of the answer. */
static void answer(const char *more)
{
    char body[4096];

    assert_non_null(w.open);
    take_told();
    (void)snprintf(body, sizeof(body), "{\"revision\": %lld%s}", (long long)w.revision, more);
    json_decref(w.open);
    w.open = NULL;
    w.answered(200, body, strlen(body), "", w.answered_userdata);
    turn();
}

/* Answers all that is told, until the master waits. */
static void settle(void)
{
    for (turn(); w.open && !json_is_true(json_object_get(w.open, "wait"));)
        answer("");
}

static void end_jobs(void)
{
    for (size_t i = 0; i < w.n_jobs; i++) {
        w.jobs[i].done(w.jobs[i].data, w.jobs[i].userdata);
        w.jobs[i].free(w.jobs[i].data);
    }
    w.n_jobs = 0;
}

static struct yarn_container_id id_of(int64_t number)
{
    return (struct yarn_container_id){ { { 1, 1 }, 1 }, number };
}

/* A container for the oldest open request. */
static void allocate(int64_t number, const char *host)
{
    struct cli_allocation c = { .id = id_of(number),
                                .http_address = "node1:8042",
                                .request_id = CLI_NO_REQUEST_ID };

    assert_true(w.n_asked > 0);
    c.priority = w.asked[0];
    memmove(w.asked, w.asked + 1, --w.n_asked * sizeof(w.asked[0]));
    (void)snprintf(c.node.host, sizeof(c.node.host), "%s", host);
    svc_fwm_yarn_ops.allocated(NULL, &c, &w.m);
    turn();
}

static void started(int64_t number)
{
    end_jobs();
    turn();
    svc_fwm_yarn_ops.started(NULL, id_of(number), 0, NULL, &w.m);
    settle();
}

static void ended(int64_t number, int32_t status)
{
    svc_fwm_yarn_ops.completed(NULL, id_of(number), status, "it ended", &w.m);
    turn();
}

static const char *told(const char *task, const char *key)
{
    static char text[256];
    const json_t *v = json_object_get(json_object_get(w.told, task), key);

    (void)snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(v));
    return json_is_string(v) ? json_string_value(v) : json_is_null(v) || !v ? "null" : text;
}

static int64_t retries(const char *task, const char *key)
{
    const json_t *t = json_object_get(json_object_get(w.told, task), "taskRetryPolicyState");

    return json_integer_value(json_object_get(t, key));
}

#define SERVICE(ports)                                                                             \
    "\"taskService\":{\"version\":7,\"entryPoint\":\"true\",\"sourceLocations\":[\"file:///x\"],"  \
    "\"resource\":{\"cpuNumber\":1,\"memoryMB\":64,\"portDefinitions\":{" ports "}}}"
#define ROLE(n, retry, ports, more)                                                                \
    "{\"version\":3,\"taskRoles\":{\"W\":{\"taskNumber\":" n ",\"taskRetryPolicy\":{" retry        \
    "}," SERVICE(ports) "}}" more "}"

static void new_master(const char *json, int32_t attempt)
{
    const struct svc_link_config cfg = { .launcher = "http://localhost:9191",
                                         .framework = "F",
                                         .application = "application_1_0001",
                                         .token = "t",
                                         .version = 3,
                                         .attempt = attempt,
                                         .ops = &svc_fwm_link_ops,
                                         .userdata = &w.m };
    struct sv_error err = { 0 };
    char *violations = NULL;

    memset(&w, 0, sizeof(w));
    w.told = json_object();
    w.revision = 1;
    w.options = (struct svc_fwm_options){ "url", "F", "ann", "node0" };
    w.m.options = &w.options;
    w.m.conf = w.conf = sv_conf_new();
    w.m.progress = -1;
    w.m.launcher = cfg.launcher;
    w.m.spec_arena = sv_arena_new(0);
    if (svc_fw_parse(json, strlen(json), true, w.m.spec_arena, &w.m.spec, &violations) < 0)
        fail_msg("%s", violations);
    assert_int_equal(sd_event_new(&w.m.event), 0);
    assert_int_equal(svc_ports_new(2000, 2001, &w.m.ports), 0);
    assert_true(svc_fwm_operate_new(&w.m) >= 0);
    assert_int_equal(svc_link_new(w.m.event, &cfg, &w.m.link, &err), 0);
    turn();
}

static void registered(void)
{
    const struct cli_registration r = { .queue = "default" };

    svc_fwm_yarn_ops.registered(NULL, &r, &w.m);
    settle();
}

static void begin(const char *json)
{
    new_master(json, 1);
    answer("");
    registered();
}

static int tear_down(void **state)
{
    (void)state;
    end_jobs();
    svc_link_free(w.m.link);
    svc_fwm_tasks_clear(&w.m);
    svc_fwm_cluster_free(&w.m);
    sv_conf_free(w.conf);
    svc_engine_free(w.m.engine);
    svc_ports_free(w.m.ports);
    svc_shared_text_unref(w.m.addresses);
    sd_event_source_disable_unref(w.m.engine_timer);
    sd_event_source_disable_unref(w.m.end_timer);
    sd_event_source_disable_unref(w.m.publish_timer);
    sd_event_source_disable_unref(w.m.publish_turn);
    sd_event_source_disable_unref(w.m.turn);
    sv_buf_free(&w.m.info);
    sv_arena_free(w.m.arena);
    sv_arena_free(w.m.spec_arena);
    free(w.m.final_text);
    json_decref(w.m.cluster);
    json_decref(w.told);
    sd_event_unref(w.m.event);
    return 0;
}

/* ---- Cases ---- */

/* Registered after the greeting; a container is prepared when the launcher has its task's state. */
static void test_told_before_started(void **state)
{
    (void)state;
    new_master(ROLE("1", "", "", ""), 1);
    assert_int_equal(times("register"), 0);
    answer("");
    assert_int_equal(times("register(-1)"), 1);
    registered();
    assert_string_equal(told("W-0", "taskState"), "CONTAINER_REQUESTED");
    allocate(2, "node1");
    assert_int_equal(times("prepare"), 0);
    assert_non_null(w.open);
    settle();
    assert_string_equal(told("W-0", "containerId"), "container_1_0001_01_000002");
    assert_string_equal(told("W-0", "containerHost"), "node1");
    assert_string_equal(told("W-0", "containerLogHttpAddress"),
                        "http://node1:8042/node/containerlogs/container_1_0001_01_000002/ann/");
    assert_int_equal(times("prepare"), 1);
    assert_int_equal(times("start("), 0);
    started(2);
    assert_int_equal(times("start(2)"), 1);
    assert_string_equal(told("W-0", "taskState"), "CONTAINER_RUNNING");
    ended(2, 0);
    assert_int_equal(times("finish"), 0); /* the end is told first */
    settle();
    assert_string_equal(told("W-0", "taskState"), "TASK_COMPLETED");
    assert_string_equal(told("W-0", "containerId"), "container_1_0001_01_000002");
    assert_memory_equal(told("W-0", "containerLogHttpAddress"), "http://node1:8042/", 18);
    assert_int_equal(times("finish(SUCCEEDED <LAUNCHER_AM_DIAGNOSTICS_START>"), 1);
    assert_int_equal(w.m.exit_code, 0);
}

/* A retry's count is on the launcher's disk before the next container starts. */
static void test_retry(void **state)
{
    (void)state;
    begin(ROLE("1", "\"maxRetryCount\":1", "", ""));
    allocate(2, "node1");
    settle();
    started(2);
    ended(2, 5);
    settle();
    assert_int_equal(retries("W-0", "retriedCount"), 1);
    allocate(3, "node1");
    settle();
    started(3);
    ended(3, 5);
    settle();
    assert_string_equal(told("W-0", "containerExitCode"), "5");
    assert_int_equal(times("finish(FAILED"), 1);
    assert_int_equal(w.m.exit_code, 200);
}

/* A host that lacks ports is refused: its container is released, another one asked for. */
static void test_ports(void **state)
{
    (void)state;
    begin(ROLE("2", "", "\"p\":{\"count\":2}", ""));
    allocate(2, "node1");
    allocate(3, "node1");
    assert_int_equal(times("release(3)"), 1);
    settle();
    assert_memory_equal(told("W-0", "containerPorts"), "p:2", 3);
    assert_non_null(strstr(told("W-1", "containerExitDiagnostics"), "free on node1"));
    assert_true(w.n_asked == 1 || times("ask") >= 2);
}

/* Where a port that is named was taken, the next container is asked for elsewhere for a while. */
static void test_avoided(void **state)
{
    (void)state;
    begin(ROLE("1", "\"fancyRetryPolicy\":true", "\"p\":{\"start\":2001,\"count\":1}", ""));
    allocate(2, "node1");
    settle();
    started(2);
    ended(2, YARN_EXIT_PORT_CONFLICT);
    settle();
    assert_int_equal(retries("W-0", "transientNormalRetriedCount"), 1);
    assert_int_equal(times("blacklist(node1 1) ask"), 1);
    allocate(3, "node1"); /* it was given before */
    settle();
    started(3);
    ended(3, YARN_EXIT_PORT_CONFLICT);
    assert_int_equal(times("blacklist(node1 1)"), 1);
    w.m.avoided->until = 0;
    assert_int_equal(sd_event_source_set_time_relative(w.m.avoid_timer, 0), 0);
    turn();
    assert_int_equal(times("blacklist(node1 0)"), 1);
    assert_null(w.m.avoided);
}

static void test_gang(void **state)
{
    (void)state;
    begin(ROLE("2", "", "", ",\"platformSpecificParameters\":{\"gangAllocation\":true}"));
    allocate(2, "node1");
    settle();
    assert_string_equal(told("W-0", "taskState"), "CONTAINER_ALLOCATED");
    assert_int_equal(times("prepare"), 0);
    allocate(3, "node2");
    settle();
    assert_int_equal(times("prepare"), 2);
    assert_string_equal(svc_fwm_addresses(&w.m)->text, "W 0 node1 \nW 1 node2 \n");
}

/* More addresses than a file may have end the framework, in words, and start nothing. */
static void test_large_gang(void **state)
{
    (void)state;
    begin(ROLE("2", "", "", ",\"platformSpecificParameters\":{\"gangAllocation\":true}"));
    w.m.addresses_max = strlen("W 0 node1 \nW 1 node2 ");
    allocate(2, "node1");
    allocate(3, "node2");
    settle();
    assert_int_equal(times("prepare"), 0);
    assert_int_equal(times("finish(FAILED"), 1);
    assert_non_null(strstr(w.log, "gangAllocation"));
    assert_non_null(strstr(w.log, "-7251"));
}

/* taskNumber of a later revision; what is removed is told as removed. */
static void test_flex(void **state)
{
    static const char more[] =
        ",\"descriptor\":{\"version\":3,\"taskRoles\":{\"W\":{\"taskNumber\":1," SERVICE("") "}}}";

    (void)state;
    begin(ROLE("2", "", "", ""));
    allocate(2, "node1");
    allocate(3, "node1");
    settle();
    assert_int_equal(json_object_size(w.told), 2);
    w.revision = 2;
    answer(more);
    settle();
    assert_int_equal(json_object_size(w.told), 1);
    assert_string_equal(told("W-0", "containerId"), "container_1_0001_01_000002");
}

static void test_migrate(void **state)
{
    (void)state;
    begin(ROLE("1", "\"fancyRetryPolicy\":true", "", ""));
    allocate(2, "node1");
    settle();
    started(2);
    w.revision = 2;
    answer(",\"migrate\":[\"container_1_0001_01_000002\"]");
    assert_int_equal(times("stop(2)"), 1);
    ended(2, YARN_EXIT_KILLED_BY_APPMASTER);
    settle();
    assert_int_equal(retries("W-0", "transientNormalRetriedCount"), 1);
}

/* A client's word of the progress counts more than the tasks that have ended. */
static void test_progress(void **state)
{
    (void)state;
    begin(ROLE("2", "", "", ""));
    settle();
    assert_true(json_number_value(json_object_get(w.open, "progress")) == 0);
    w.revision = 2;
    answer(",\"progress\":0.25");
    settle();
    assert_true(json_number_value(json_object_get(w.open, "progress")) == 0.25);
}

static void test_gone(void **state)
{
    (void)state;
    begin(ROLE("1", "", "", ""));
    json_decref(w.open);
    w.open = NULL;
    w.answered(410, "", 0, "", w.answered_userdata);
    turn();
    assert_int_equal(times("finish(FAILED"), 1);
    assert_int_equal(w.m.exit_code, 202);
}

/* A task that the attempt before told goes on in its container, with its counts and ports. */
static void test_resumed(void **state)
{
    static const char statuses[] =
        ",\"statuses\":{\"W\":[{\"taskIndex\":0,\"taskRoleName\":\"W\",\"taskState\":"
        "\"CONTAINER_RUNNING\",\"taskRetryPolicyState\":{\"retriedCount\":4,"
        "\"succeededRetriedCount\":0,\"transientNormalRetriedCount\":0,"
        "\"transientConflictRetriedCount\":0,\"nonTransientRetriedCount\":0,"
        "\"unKnownRetriedCount\":4},\"taskCreatedTimestamp\":1,\"taskServiceStatus\":{"
        "\"serviceVersion\":7},\"containerId\":\"container_1_0001_01_000002\",\"containerHost\":"
        "\"node1\",\"containerPorts\":\"p:2000,2001;\"}]}";
    const struct cli_allocation kept = { .id = id_of(2),
                                         .node = { "node1", 8041 },
                                         .http_address = "node1:8042",
                                         .request_id = CLI_NO_REQUEST_ID },
                                stranger = { .id = id_of(9),
                                             .node = { "node1", 8041 },
                                             .http_address = "node1:8042",
                                             .request_id = CLI_NO_REQUEST_ID };

    (void)state;
    new_master(ROLE("2", "\"maxRetryCount\":9", "\"p\":{\"count\":2}", ""), 2);
    answer(statuses);
    svc_fwm_yarn_ops.recovered(NULL, &kept, &w.m);
    svc_fwm_yarn_ops.recovered(NULL, &stranger, &w.m);
    turn();
    assert_int_equal(times("release"), 0);
    registered();
    assert_int_equal(times("release(9)") + times("stop(9)"), 1);
    assert_int_equal(times("release(2)") + times("stop(2)"), 0);
    ended(9, YARN_EXIT_KILLED_BY_APPMASTER);
    settle();
    assert_int_equal(w.n_asked, 1); /* of W-1 alone */
    allocate(3, "node1");
    assert_int_equal(times("release(3)"), 1); /* the ports are W-0's */
    ended(2, 7);
    settle();
    assert_int_equal(retries("W-0", "retriedCount"), 5);
    assert_int_equal(retries("W-0", "unKnownRetriedCount"), 5);
}

#define GPU_ROLE                                                                                   \
    "{\"version\":3,\"taskRoles\":{\"W\":{\"taskNumber\":3,\"taskRetryPolicy\":{"                  \
    "\"maxRetryCount\":-2},\"taskService\":{\"version\":1,\"entryPoint\":\"true\","                \
    "\"sourceLocations\":[\"file:///x\"],\"resource\":{\"cpuNumber\":1,\"memoryMB\":64,"           \
    "\"gpuNumber\":1,\"portDefinitions\":{\"p\":{\"count\":1}}}}}}}"

/* Requests for GPUs are for the node whose free ones they fill best; where none has enough, for
 * any. */
static void test_gpus(void **state)
{
    static const struct cli_node_report nodes[] = {
        { .id = { .host = "full" },
          .capability = { 4096, 8, 4, { 0 } },
          .used = { 0, 0, 4, { 0 } } },
        { .id = { .host = "half" },
          .capability = { 4096, 8, 4, { 0 } },
          .used = { 0, 0, 2, { 0 } } },
        { .id = { .host = "none" }, .capability = { 4096, 8, 0, { 0 } } },
    };

    (void)state;
    new_master(GPU_ROLE, 1);
    answer("");
    while (!w.nodes)
        assert_true(sd_event_run(w.m.event, UINT64_MAX) >= 0);
    w.nodes(0, nodes, 3, NULL, &w.m);
    registered();
    assert_int_equal(times("ask(half)"), 2);
    assert_int_equal(times("ask(*)"), 1);
    assert_int_equal(w.asked_gpus, 1);
    assert_non_null(strstr(told("W-2", "containerExitDiagnostics"),
                           "no node of 3 has room for it now: full has 0 of 4 GPUs free, 1 wanted; "
                           "half has 0 of 4"));
    allocate(2, "half");
    allocate(3, "half");
    assert_int_equal(w.m.n_answered, 2);
    settle();
    started(2);
    ended(2, 0);
    settle();
    assert_int_equal(times("ask(half)"), 3); /* what it had is free before the next list */
    w.nodes(0, nodes, 3, NULL, &w.m);
    assert_int_equal(w.m.n_answered, 0);
}

/* Nothing is asked for before the nodes are known, or known not to be had. */
static void test_nodes_first(void **state)
{
    (void)state;
    new_master(GPU_ROLE, 1);
    answer("");
    registered();
    assert_int_equal(w.n_asked, 0);
    while (!w.nodes)
        assert_true(sd_event_run(w.m.event, UINT64_MAX) >= 0);
    assert_int_equal(w.n_asked, 0);
    w.nodes(-EIO, NULL, 0, NULL, &w.m);
    assert_int_equal(times("ask(*)"), 3);
    w.nodes(-EIO, NULL, 0, NULL, &w.m);
    assert_int_equal(w.n_asked, 3);
}

/* The list is asked for, and answered. */
static void answer_list(int status, const struct cli_container_report *list, size_t n)
{
    w.containers = NULL;
    assert_int_equal(sd_event_source_set_time_relative(w.m.resync_timer, 0), 0);
    while (!w.containers)
        assert_true(sd_event_run(w.m.event, UINT64_MAX) >= 0);
    w.containers(status, list, n, NULL, &w.m);
}

/* A container that the ResourceManager does not list has ended, but only in a list of ours. */
static void test_listed(void **state)
{
    const struct cli_container_report list[] = { { .id = id_of(1), .state = "RUNNING" },
                                                 { .id = id_of(2), .state = "RUNNING" } };

    (void)state;
    (void)setenv("CONTAINER_ID", "container_1_0001_01_000001", 1);
    begin(ROLE("1", "", "",
               ",\"platformSpecificParameters\":{\"containerConnectionMaxLostCount\":0}"));
    allocate(2, "node1");
    settle();
    started(2);
    answer_list(0, list, 2);
    answer_list(0, list, 0); /* without the master's own */
    answer_list(-EIO, NULL, 0);
    assert_true(w.m.lists_fail); /* which was logged */
    settle();
    assert_string_equal(told("W-0", "taskState"), "CONTAINER_RUNNING");
    answer_list(0, list, 1);
    assert_false(w.m.lists_fail);
    settle();
    assert_int_equal(times("stop(2)"), 1);
    ended(2, YARN_EXIT_KILLED_BY_APPMASTER);
    settle();
    assert_string_equal(told("W-0", "containerExitCode"), "-7151");
}

/* With Kerberos lists are asked for by a token alone. */
static void test_lists_with_kerberos(void **state)
{
    (void)state;
    new_master(ROLE("1", "", "", ""), 1);
    assert_int_equal(sv_conf_set(w.m.conf, "hadoop.security.authentication", "kerberos"), 0);
    for (int with = 0; with < 2; with++) {
        struct sv_error err = { 0 };

        w.m.tokens.of_rm = with;
        assert_int_equal(svc_fwm_cluster_new(&w.m, &err), 0);
        assert_int_equal(w.m.resync_timer != NULL, with);
    }
}

/* A role that no node of the cluster can hold ends the application, in words. */
static void test_cannot(void **state)
{
    const struct cli_registration r = { .queue = "default",
                                        .maximum = { .memory_mb = 32, .vcores = 4 } };

    (void)state;
    new_master(ROLE("1", "", "", ""), 1);
    answer("");
    svc_fwm_yarn_ops.registered(NULL, &r, &w.m);
    settle();
    assert_int_equal(times("memoryMB: 64: the cluster gives a container at most 32"), 1);
    assert_int_equal(times("finish(FAILED"), 1);
    assert_int_equal(w.m.exit_code, 202);
}

static void publish(size_t room)
{
    assert_int_equal(sd_event_source_set_time_relative(w.m.publish_timer, 0), 0);
    w.m.info_stale = true;
    while (!w.m.info_open)
        assert_true(sd_event_run(w.m.event, UINT64_MAX) >= 0);
    w.m.info.max = SV_MIN(w.m.info.max, w.m.info.len + room);
    while (w.m.info_open)
        assert_true(sd_event_run(w.m.event, UINT64_MAX) >= 0);
}

/* Tasks with more to tell than the file may have do not end the master. */
static void test_info_too_large(void **state)
{
    (void)state;
    begin(ROLE("1", "", "", ""));
    publish(60);
    assert_int_equal(times("publish "), 0);
    assert_int_equal(w.m.info.len, 0);
    publish(SIZE_MAX / 2);
    assert_int_equal(times("publish "), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_told_before_started, tear_down),
        cmocka_unit_test_teardown(test_retry, tear_down),
        cmocka_unit_test_teardown(test_ports, tear_down),
        cmocka_unit_test_teardown(test_avoided, tear_down),
        cmocka_unit_test_teardown(test_gang, tear_down),
        cmocka_unit_test_teardown(test_large_gang, tear_down),
        cmocka_unit_test_teardown(test_flex, tear_down),
        cmocka_unit_test_teardown(test_migrate, tear_down),
        cmocka_unit_test_teardown(test_progress, tear_down),
        cmocka_unit_test_teardown(test_gone, tear_down),
        cmocka_unit_test_teardown(test_resumed, tear_down),
        cmocka_unit_test_teardown(test_gpus, tear_down),
        cmocka_unit_test_teardown(test_nodes_first, tear_down),
        cmocka_unit_test_teardown(test_listed, tear_down),
        cmocka_unit_test_teardown(test_lists_with_kerberos, tear_down),
        cmocka_unit_test_teardown(test_cannot, tear_down),
        cmocka_unit_test_teardown(test_info_too_large, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
