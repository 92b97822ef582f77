/* For tests of a framework's master without YARN, files or network: what client/lib, the worker and
 * the transport are asked is noted, and the test answers. What is real: the engine with its policy,
 * the link, and the files of service/am/framework/ between them. */
#ifndef SELVEDGE_TESTS_UNIT_SERVICE_FRAMEWORK_MASTER_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_SERVICE_FRAMEWORK_MASTER_FIXTURE_H

#include "tests/unit/service/am-calls.h"

#include <errno.h>

#include "service/am/framework/master-internal.h"
#include "service/am/framework/post.h"
#include "wire/exit-status.h"

#define JOBS_MAX 64

static struct {
    struct svc_fwm m;
    struct svc_fwm_options options;
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

static inline int times(const char *part)
{
    int n = 0;

    for (const char *s = am_calls.log; (s = strstr(s, part)); s++)
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
    am_note("ask(%s) ", a->n_places ? a->places[0].host : "*");
    return 0;
}

int __wrap_cli_am_cancel(struct cli_am *am, int32_t priority, int64_t request);
int __wrap_cli_am_cancel(struct cli_am *am, int32_t priority, int64_t request)
{
    (void)am;
    (void)request;
    am_note("cancel(%d) ", priority);
    return 0;
}

void __wrap_cli_am_progress(struct cli_am *am, float progress);
void __wrap_cli_am_progress(struct cli_am *am, float progress)
{
    (void)am;
    (void)progress;
}

int __wrap_cli_am_register(struct cli_am *am, const char *host, int32_t port, const char *url);
int __wrap_cli_am_register(struct cli_am *am, const char *host, int32_t port, const char *url)
{
    (void)am;
    (void)host;
    (void)url;
    am_note("register(%d) ", port);
    return 0;
}

const uint8_t *__wrap_cli_am_tokens(const struct cli_am *am, size_t *ret_len);
const uint8_t *__wrap_cli_am_tokens(const struct cli_am *am, size_t *ret_len)
{
    (void)am;
    *ret_len = 0;
    return NULL;
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
    am_note("prepare ");
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
    am_note("publish ");
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

static inline void take_told(void)
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
static inline void answer(const char *more)
{
    char body[4096];

    assert_non_null(w.open);
    take_told();
    (void)snprintf(body, sizeof(body), "{\"revision\": %lld%s}", (long long)w.revision, more);
    json_decref(w.open);
    w.open = NULL;
    w.answered(200, body, strlen(body), "", w.answered_userdata);
    am_turn(w.m.event);
}

/* Answers all that is told, until the master waits. */
static inline void settle(void)
{
    for (am_turn(w.m.event); w.open && !json_is_true(json_object_get(w.open, "wait"));)
        answer("");
}

static inline void end_jobs(void)
{
    for (size_t i = 0; i < w.n_jobs; i++) {
        w.jobs[i].done(w.jobs[i].data, w.jobs[i].userdata);
        w.jobs[i].free(w.jobs[i].data);
    }
    w.n_jobs = 0;
}

/* A container for the oldest open request. */
static inline void allocate(int64_t number, const char *host)
{
    struct cli_allocation c = { .id = am_container(number),
                                .http_address = "node1:8042",
                                .request_id = CLI_NO_REQUEST_ID };

    assert_true(w.n_asked > 0);
    c.priority = w.asked[0];
    memmove(w.asked, w.asked + 1, --w.n_asked * sizeof(w.asked[0]));
    (void)snprintf(c.node.host, sizeof(c.node.host), "%s", host);
    svc_fwm_yarn_ops.allocated(NULL, &c, &w.m);
    am_turn(w.m.event);
}

static inline void started(int64_t number)
{
    end_jobs();
    am_turn(w.m.event);
    svc_fwm_yarn_ops.started(NULL, am_container(number), 0, NULL, &w.m);
    settle();
}

static inline void ended(int64_t number, int32_t status)
{
    svc_fwm_yarn_ops.completed(NULL, am_container(number), status, "it ended", &w.m);
    am_turn(w.m.event);
}

static inline const char *told(const char *task, const char *key)
{
    static char text[256];
    const json_t *v = json_object_get(json_object_get(w.told, task), key);

    (void)snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(v));
    return json_is_string(v) ? json_string_value(v) : json_is_null(v) || !v ? "null" : text;
}

static inline int64_t retries(const char *task, const char *key)
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

static inline void new_master(const char *json, int32_t attempt)
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
    memset(&am_calls, 0, sizeof(am_calls));
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
    am_turn(w.m.event);
}

static inline void registered(void)
{
    const struct cli_registration r = { .queue = "default" };

    svc_fwm_yarn_ops.registered(NULL, &r, &w.m);
    settle();
}

static inline void begin(const char *json)
{
    new_master(json, 1);
    answer("");
    registered();
}

static inline int tear_down(void **state)
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

#endif
