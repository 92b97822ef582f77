/* An attempt behind the federation's interceptor, for its tests: the pipeline's half, a federation
 * of fake members over a store in memory, and a master that keeps a book of its containers. */
#ifndef SELVEDGE_TESTS_UNIT_NODEMANAGER_FEDERATION_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_NODEMANAGER_FEDERATION_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/error.h"
#include "nodemanager/federation/classes.h"
#include "nodemanager/federation/fed-shared.h"
#include "tests/unit/nodemanager/fake-members.h"

#define RECORDS 16
#define TOLD_MAX 8192
#define PATIENCE_MS 20000

typedef Hadoop__Yarn__AllocateResponseProto answer_proto;

static struct {
    sd_event *event;
    struct fed_store *store;
    struct fed_cache *cache;
    struct sv_conf *conf;
    struct fed_policy_conf policy;
    struct nm_amrm_env env;
    struct nm_fed_shared *shared;
    struct nm_amrm_attempt at;
    void *self;
    /* The pipeline's half. */
    struct record {
        char name[NM_AMRM_RECORD_NAME];
        uint8_t *p;
        size_t n;
    } records[RECORDS], durable[RECORDS];
    bool lose_commits;
    struct {
        void (*fn)(void *userdata, int result);
        void *userdata;
    } commits[64];
    size_t n_commits;
    sd_event_source *commit;
    struct nm_amrm_call call;
    bool open, answered, failed, stopped;
    ProtobufCMessage *answer; /* in `a` */
    char class[128], text[512];
    struct sv_arena *a;
    int32_t response_id;
    /* The master's book. */
    int64_t told[TOLD_MAX], ended[TOLD_MAX];
    size_t n_told, n_ended;
} g;

/* ---- The pipeline's half ---- */

void nm_amrm_answer(struct nm_amrm_call *call, const ProtobufCMessage *response)
{
    size_t n = protobuf_c_message_get_packed_size(response);
    uint8_t *p = malloc(n + 1);

    assert_ptr_equal(call, &g.call);
    assert_true(g.open);
    (void)protobuf_c_message_pack(response, p);
    assert_int_equal(ipc_unpack(g.a, response->descriptor, p, n, &g.answer), 0);
    free(p);
    g.open = false;
    g.answered = true;
    g.call.arena = sv_arena_free(g.call.arena);
}

void nm_amrm_fail(struct nm_amrm_call *call, const char *java_class, const char *fmt, ...)
{
    va_list ap;

    assert_ptr_equal(call, &g.call);
    assert_true(g.open);
    va_start(ap, fmt);
    (void)vsnprintf(g.text, sizeof(g.text), fmt, ap);
    va_end(ap);
    (void)snprintf(g.class, sizeof(g.class), "%s", java_class);
    g.open = false;
    g.failed = true;
    g.call.arena = sv_arena_free(g.call.arena);
}

static inline struct record *find_record(const char *name)
{
    for (size_t i = 0; i < RECORDS; i++)
        if (strcmp(g.records[i].name, name) == 0)
            return &g.records[i];
    return NULL;
}

int nm_amrm_keep(struct nm_amrm_attempt *at, const char *name, const void *p, size_t n)
{
    struct record *r = find_record(name) ?: find_record("");
    uint8_t *copy;

    assert_ptr_equal(at, &g.at);
    if (!r) {
        fail();
        return -ENOMEM;
    }
    copy = malloc(n + 1);
    memcpy(copy, p, n); /* of a record, perhaps */
    free(r->p);
    (void)snprintf(r->name, sizeof(r->name), "%s", name);
    r->p = copy;
    r->n = n;
    return 0;
}

static inline void drop_record(struct record *r)
{
    free(r->p);
    *r = (struct record){ 0 };
}

int nm_amrm_forget(struct nm_amrm_attempt *at, const char *name)
{
    struct record *r = find_record(name);

    (void)at;
    if (r)
        drop_record(r);
    return 0;
}

int nm_amrm_after_commit(struct nm_amrm_attempt *at, void (*fn)(void *userdata, int result),
                         void *userdata)
{
    (void)at;
    assert_true(g.n_commits < SV_ARRAY_LEN(g.commits));
    g.commits[g.n_commits].fn = fn;
    g.commits[g.n_commits++].userdata = userdata;
    (void)sd_event_source_set_enabled(g.commit, SD_EVENT_ONESHOT);
    return 0;
}

static inline void copy_records(struct record *to, const struct record *from)
{
    for (size_t i = 0; i < RECORDS; i++) {
        drop_record(&to[i]);
        to[i] = from[i];
        if (!from[i].p)
            continue;
        to[i].p = malloc(from[i].n + 1);
        memcpy(to[i].p, from[i].p, from[i].n);
    }
}

static inline int on_commit(sd_event_source *s, void *userdata)
{
    size_t n = g.n_commits;

    (void)s;
    (void)userdata;
    g.n_commits = 0;
    copy_records(g.durable, g.records);
    for (size_t i = 0; i < n; i++)
        g.commits[i].fn(g.commits[i].userdata, 0);
    return 0;
}

void nm_amrm_take_token(struct nm_amrm_attempt *at, const Hadoop__Common__TokenProto *m)
{
    (void)at;
    free((void *)(uintptr_t)g.at.rm_token.id);
    g.at.rm_token.id =
        (const uint8_t *)strndup((const char *)m->identifier.data, m->identifier.len);
    g.at.rm_token.id_len = m->identifier.len;
    nm_amrm_federation_interceptor.token(g.self);
}

void nm_amrm_stopped(struct nm_amrm_attempt *at)
{
    (void)at;
    assert_false(g.stopped);
    g.stopped = true;
}

int nm_amrm_dial(const struct nm_amrm_env *env, const struct nm_amrm_dial *d,
                 struct ipc_proxy **ret, struct sv_error *err)
{
    (void)env;
    (void)d;
    (void)ret;
    (void)err;
    fail();
    return -EINVAL;
}

/* ---- The federation ---- */

static inline void done(const struct fed_answer *a, void *userdata)
{
    (void)userdata;
    assert_int_equal(a->error, 0);
}

static inline void store(const struct fed_request *q)
{
    assert_int_equal(fed_store_call(g.store, q, done, NULL, NULL), 0);
    for (int i = 0; i < 10; i++)
        (void)sd_event_run(g.event, 0);
}

/* The member of number i, from 0, at the address of number `at`. */
static inline void add_member(int i, int at)
{
    char am[32], client[32], id[8];

    (void)snprintf(id, sizeof(id), "SC-%d", i + 1);
    (void)snprintf(am, sizeof(am), "127.0.0.1:10%d", at + 1);
    (void)snprintf(client, sizeof(client), "127.0.0.1:20%d", at + 1);
    store(&(struct fed_request){ .op = FED_MEMBER_REGISTER,
                                 .member = { .id = id,
                                             .am = am,
                                             .client = client,
                                             .admin = am,
                                             .web = am,
                                             .state = FED_RUNNING,
                                             .last_start_ms = 1 + i,
                                             .capability = "" } });
}

static inline void start(void)
{
    struct sv_error err = { 0 };

    assert_int_equal(nm_amrm_federation_interceptor.start(&g.at, g.shared, &g.self, &err), 0);
}

static inline void set_key(const char *key, const char *value)
{
    assert_int_equal(sv_conf_set(g.conf, key, value), 0);
}

static inline int open_all(const char *policy, const char *weights)
{
    static const uint8_t context[] = { 0 };
    struct sv_error err = { 0 };
    static const char token[] = "home-token";

    memset(&g, 0, sizeof(g));
    assert_int_equal(sd_event_new(&g.event), 0);
    assert_int_equal(fed_store_open_memory(g.event, &g.store), 0);
    g.cache = fed_cache_new(g.store, 60000, 100);
    g.conf = sv_conf_new();
    set_key("yarn.federation.policy-manager", policy);
    set_key("yarn.federation.policy-manager-params", weights);
    set_key("yarn.federation.amrmproxy.register.uam.interval", "1");
    /* A case that waits for it fails. */
    set_key("yarn.federation.amrmproxy.hb.maximum.wait.ms", "600000");
    assert_int_equal(fed_policy_conf_load(g.conf, FED_SIDE_PROXY, &g.policy, &err), 0);
    g.env = (struct nm_amrm_env){
        .event = g.event, .conf = g.conf, .cluster_id = "SC-1", .fed = g.cache, .policy = &g.policy
    };
    fakes_open(g.event);
    for (int i = 0; i < FAKES; i++)
        add_member(i, i);
    store(&(struct fed_request){ .op = FED_HOME_ADD,
                                 .home = { .app = FAKE_APP, .home = "SC-1", .context = context } });
    assert_int_equal(nm_fed_shared_open(&g.env, &g.shared, &err), 0);
    g.shared->wire = &fake_wire;
    g.shared->conf.uam.poll_ms = 1;
    (void)sd_event_add_defer(g.event, &g.commit, on_commit, NULL);
    (void)sd_event_source_set_enabled(g.commit, SD_EVENT_OFF);
    g.a = sv_arena_new(SIZE_MAX / 2);
    g.at = (struct nm_amrm_attempt){ .env = &g.env,
                                     .id = { FAKE_APP, 1 },
                                     .user = "alice",
                                     .rm_token = { .id = (const uint8_t *)strdup(token),
                                                   .id_len = strlen(token),
                                                   .password = (const uint8_t *)"pw",
                                                   .password_len = 2,
                                                   .kind = YARN_KIND_AMRM,
                                                   .service = "" } };
    yarn_attempt_id_text(g.at.id, g.at.text);
    yarn_app_id_text(g.at.id.app, g.at.app_text);
    start();
    return 0;
}

#define WEIGHTS                                                                                    \
    "{\"routerPolicyWeights\":{\"entry\":{\"key\":{\"id\":\"SC-1\"},\"value\":\"1.0\"}},"          \
    "\"amrmPolicyWeights\":{\"entry\":[{\"key\":{\"id\":\"SC-1\"},\"value\":\"0.5\"},"             \
    "{\"key\":{\"id\":\"SC-2\"},\"value\":\"0.5\"}]},\"headroomAlpha\":\"0.0\"}"

static inline int setup(void **state)
{
    (void)state;
    return open_all(FED_MANAGER_PACKAGE "WeightedLocalityPolicyManager", WEIGHTS);
}

static inline int teardown(void **state)
{
    (void)state;
    if (g.self)
        nm_amrm_federation_interceptor.free(g.self);
    while (g.n_commits)
        g.n_commits--;
    g.call.arena = sv_arena_free(g.call.arena);
    g.cache = fed_cache_free(g.cache);
    nm_fed_shared_close(g.shared);
    fed_store_free(g.store);
    fed_policy_conf_clear(&g.policy);
    sv_conf_free(g.conf);
    for (size_t i = 0; i < RECORDS; i++) {
        drop_record(&g.records[i]);
        drop_record(&g.durable[i]);
    }
    free((void *)(uintptr_t)g.at.rm_token.id);
    fakes_close();
    sd_event_source_disable_unref(g.commit);
    sd_event_unref(g.event);
    sv_arena_free(g.a);
    return 0;
}

/* ---- The master ---- */

static inline void wait_until(bool (*is)(void))
{
    int64_t end = sv_now_ms() + PATIENCE_MS;

    while (!is()) {
        assert_true(sv_now_ms() < end);
        assert_true(sd_event_run(g.event, 1000) >= 0);
    }
}

static inline bool is_closed(void)
{
    return !g.open;
}

static inline void turns(int n)
{
    while (n--)
        (void)sd_event_run(g.event, 0);
}

static inline void call(enum nm_amrm_method method, ProtobufCMessage *q)
{
    g.answered = g.failed = false;
    g.answer = NULL;
    g.open = true;
    g.call = (struct nm_amrm_call){ .method = method,
                                    .request = q,
                                    .arena = sv_arena_new(
                                        ipc_arena_max(protobuf_c_message_get_packed_size(q))) };
    nm_amrm_federation_interceptor.handle(g.self, &g.call);
}

static inline Hadoop__Yarn__RegisterApplicationMasterResponseProto *reg_as(const char *host)
{
    Hadoop__Yarn__RegisterApplicationMasterRequestProto q =
        HADOOP__YARN__REGISTER_APPLICATION_MASTER_REQUEST_PROTO__INIT;

    q.host = (char *)(uintptr_t)host;
    call(NM_AMRM_REGISTER, &q.base);
    wait_until(is_closed);
    g.response_id = 0;
    return (void *)g.answer;
}

static inline void reg(void)
{
    assert_non_null(reg_as("here"));
    assert_true(g.answered);
}

static inline Hadoop__Yarn__ResourceRequestProto *row(int32_t n)
{
    Hadoop__Yarn__ResourceRequestProto *r = sv_new(g.a, Hadoop__Yarn__ResourceRequestProto);
    Hadoop__Yarn__PriorityProto *p = sv_new(g.a, Hadoop__Yarn__PriorityProto);

    hadoop__yarn__resource_request_proto__init(r);
    hadoop__yarn__priority_proto__init(p);
    p->has_priority = true;
    p->priority = 1;
    r->priority = p;
    r->resource_name = sv_arena_strdup(g.a, "*");
    r->capability = yarn_resource_to(g.a, (struct yarn_resource){ .memory_mb = 1, .vcores = 1 });
    r->has_num_containers = true;
    r->num_containers = n;
    return r;
}

static Hadoop__Yarn__AllocateRequestProto beat_q;

/* n < 0: asks for nothing new. */
static inline void beat_begin(int32_t n)
{
    static Hadoop__Yarn__ResourceRequestProto *rows[1];

    hadoop__yarn__allocate_request_proto__init(&beat_q);
    beat_q.has_response_id = true;
    beat_q.response_id = g.response_id;
    if (n >= 0) {
        rows[0] = row(n);
        beat_q.ask = rows;
        beat_q.n_ask = 1;
    }
    call(NM_AMRM_ALLOCATE, &beat_q.base);
}

static inline void book(int64_t *list, size_t *n, const Hadoop__Yarn__ContainerIdProto *m)
{
    struct yarn_container_id id;

    assert_int_equal(yarn_container_id_from(m, &id), 0);
    for (size_t i = 0; i < *n; i++)
        assert_true(list[i] != id.id);
    assert_true(*n < TOLD_MAX);
    list[(*n)++] = id.id;
}

static inline answer_proto *beat_end(void)
{
    answer_proto *m;

    wait_until(is_closed);
    m = g.answered ? (answer_proto *)g.answer : NULL;
    if (!m)
        return NULL;
    g.response_id = m->response_id;
    for (size_t i = 0; i < m->n_allocated_containers; i++)
        book(g.told, &g.n_told, m->allocated_containers[i]->id);
    for (size_t i = 0; i < m->n_completed_container_statuses; i++)
        book(g.ended, &g.n_ended, m->completed_container_statuses[i]->container_id);
    return m;
}

static inline answer_proto *beat(int32_t n)
{
    beat_begin(n);
    return beat_end();
}

static inline void beat_until(size_t n_told)
{
    int64_t end = sv_now_ms() + PATIENCE_MS;

    while (g.n_told < n_told) {
        assert_true(sv_now_ms() < end);
        assert_non_null(beat(-1));
        (void)sd_event_run(g.event, 1000);
    }
    assert_int_equal(g.n_told, n_told);
}

static inline bool finish(void)
{
    Hadoop__Yarn__FinishApplicationMasterRequestProto q =
        HADOOP__YARN__FINISH_APPLICATION_MASTER_REQUEST_PROTO__INIT;

    q.has_final_application_status = true;
    q.final_application_status = HADOOP__YARN__FINAL_APPLICATION_STATUS_PROTO__APP_SUCCEEDED;
    call(NM_AMRM_FINISH, &q.base);
    wait_until(is_closed);
    return g.answered &&
           ((Hadoop__Yarn__FinishApplicationMasterResponseProto *)g.answer)->isunregistered;
}

/* It is killed before what was kept since the last commit is on disk. */
static inline void lose_records(void)
{
    copy_records(g.records, g.durable);
}

/* The daemon restarts. */
static inline void restart(enum nm_amrm_recovery from)
{
    struct nm_amrm_record v[RECORDS];
    struct sv_error err = { 0 };
    size_t n = 0;

    nm_amrm_federation_interceptor.free(g.self);
    g.n_commits = 0;
    g.call.arena = sv_arena_free(g.call.arena);
    g.open = false;
    for (size_t i = 0; i < RECORDS; i++)
        if (*g.records[i].name)
            v[n++] = (struct nm_amrm_record){ g.records[i].name, g.records[i].p, g.records[i].n };
    start();
    assert_int_equal(nm_amrm_federation_interceptor.recover(g.self, from, v, n, &err), 0);
}

#define CASE(x) cmocka_unit_test_setup_teardown(x, setup, teardown)

#endif
