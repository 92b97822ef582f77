/* rm-lite/requests/call-list.c through the methods that use it: a long list has every entry that is
 * asked for, is selected and made in many turns of the loop, and one that is asked for meanwhile
 * comes after it. With LIST_ENTRIES=n that many entries, and the longest turn of each method is
 * printed. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "rm-lite/requests/app-filter.h"
#include "rm-lite/requests/cut-texts.h"
#include "rm-lite/requests/turn.h"
#include "wire/ipc/ipc-client.h"

#define TURN RM_TURN_MAKES

/* Comparisons of texts without regard to case, by the whole program. */
static size_t compared;
int __wrap_strcasecmp(const char *a, const char *b);
int __real_strcasecmp(const char *a, const char *b);

int __wrap_strcasecmp(const char *a, const char *b)
{
    compared++;
    return __real_strcasecmp(a, b);
}

static size_t entries(void)
{
    const char *n = getenv("LIST_ENTRIES");

    return n ? (size_t)strtoul(n, NULL, 10) : 500;
}

static void setup_entries(struct fix *f)
{
    static const char *const keys[][2] = {
        { "yarn.resourcemanager.recovery.enabled", "false" },
        { "yarn.scheduler.capacity.maximum-applications", "1000000" },
        { 0 },
    };

    setup_with(f, keys);
}

struct answers {
    struct fix *f;
    sd_event *event; /* of the client */
    struct ipc_client *client;
    struct sv_arena *a;
    size_t expected, n, turns, most_compared; /* in one turn */
    int64_t longest_us;
    char error[200]; /* expected with the next answer, or "" */
    bool gone;       /* the client is */
    const char *method;
    size_t (*check)(struct answers *s, const ProtobufCMessage *m); /* how many entries */
};

static void on_done(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct answers *s = userdata;

    if (s->gone)
        return;
    if (*s->error) {
        assert_true(r->status < 0);
        assert_non_null(strstr(err->text, s->error));
    } else {
        if (r->status < 0)
            fail_msg("%s: %s", s->method, err->text);
        assert_int_equal(s->check(s, r->response), s->expected);
    }
    s->n++;
}

static int64_t now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

/* The server's loop and the client's in turns; both in this thread. */
static void await(struct answers *s, size_t n)
{
    while (s->n < n) {
        int64_t begin = now_us();
        size_t before = compared;

        assert_true(sd_event_run(s->f->event, 0) >= 0);
        s->longest_us = SV_MAX(s->longest_us, now_us() - begin);
        s->most_compared = SV_MAX(s->most_compared, compared - before);
        s->turns++;
        for (int i = 0; i < 8; i++)
            assert_true(sd_event_run(s->event, 0) >= 0);
    }
    if (getenv("LIST_ENTRIES"))
        print_message("%s of %zu: %zu turns, the longest %.2f ms of CPU\n", s->method, s->expected,
                      s->turns, (double)s->longest_us / 1000);
}

static void call(struct answers *s, const ProtobufCMessage *request,
                 const ProtobufCMessageDescriptor *answer)
{
    assert_int_equal(ipc_client_call(s->client, s->method, request, answer, 0, on_done, s), 0);
}

static void begin(struct answers *s, struct fix *f)
{
    struct ipc_client_config cfg = { .host = "127.0.0.1",
                                     .port = f->rm->client_port,
                                     .protocol = YARN_APPLICATION_CLIENT_PROTOCOL,
                                     .version = 1,
                                     .user = "ann" };

    *s = (struct answers){ .f = f, .expected = entries() };
    assert_true(sd_event_new(&s->event) >= 0);
    assert_int_equal(ipc_client_new(s->event, &cfg, &s->client, NULL), 0);
}

static void end(struct answers *s)
{
    ipc_client_free(s->client);
    sd_event_unref(s->event);
}

/* ---- Applications ---- */

static size_t check_apps(struct answers *s, const ProtobufCMessage *m)
{
    const Hadoop__Yarn__GetApplicationsResponseProto *r = (const void *)m;

    for (size_t i = 0; i < r->n_applications; i++) {
        assert_int_equal(r->applications[i]->applicationid->id, (int)i + 1);
        assert_string_equal(r->applications[i]->user, "ann");
    }
    (void)s;
    return r->n_applications;
}

static void submit_all(struct fix *f)
{
    for (size_t i = 0; i < entries(); i++) {
        struct submission s;
        struct sv_error err = { 0 };
        const char *class;

        submission_init(f, &s);
        s.ctx.unmanaged_am = true;
        if (rm_app_submit(f->rm, &s.ctx, "ann", &class, &err) < 0)
            fail_msg("%s", err.text);
    }
    settle(f);
}

static void test_applications(void **state)
{
    Hadoop__Yarn__GetApplicationsRequestProto q =
        HADOOP__YARN__GET_APPLICATIONS_REQUEST_PROTO__INIT;
    struct answers s;
    struct fix f;

    (void)state;
    setup_entries(&f);
    submit_all(&f);
    begin(&s, &f);
    s.method = "getApplications";
    s.check = check_apps;
    for (int i = 0; i < 3; i++) /* the second and third one wait */
        call(&s, &q.base, &hadoop__yarn__get_applications_response_proto__descriptor);
    await(&s, 3);
    assert_true(s.turns >= 3 * entries() / TURN);
    q.has_limit = true; /* a short one */
    q.limit = 3;
    s.expected = 3;
    call(&s, &q.base, &hadoop__yarn__get_applications_response_proto__descriptor);
    await(&s, 4);
    q.limit = 0;
    s.expected = 0;
    call(&s, &q.base, &hadoop__yarn__get_applications_response_proto__descriptor);
    await(&s, 5);
    s.expected = entries();
    end(&s);
    teardown(&f);
}

/* Texts as a store of an earlier version may have: the list has all entries, each cut. */
static void test_long_texts(void **state)
{
    Hadoop__Yarn__GetApplicationsRequestProto q =
        HADOOP__YARN__GET_APPLICATIONS_REQUEST_PROTO__INIT;
    size_t each = (size_t)2 << 20; /* all: eight times what an answer may have */
    char *text = malloc(each + 1);
    struct answers s;
    struct rm_app *app;
    struct fix f;

    (void)state;
    setup_entries(&f);
    submit_all(&f);
    memset(text, 'd', each);
    text[each] = 0;
    DL_FOREACH (f.rm->app_list, app)
        app->diagnostics = text;
    begin(&s, &f);
    s.method = "getApplications";
    s.check = check_apps;
    call(&s, &q.base, &hadoop__yarn__get_applications_response_proto__descriptor);
    await(&s, 1);
    DL_FOREACH (f.rm->app_list, app)
        app->diagnostics = NULL;
    free(text);
    end(&s);
    teardown(&f);
}

/* One entry that is larger than its share has shorter texts, at least 64 bytes of each. */
static void test_cut(void **state)
{
    Hadoop__Yarn__ApplicationReportProto m = HADOOP__YARN__APPLICATION_REPORT_PROTO__INIT;
    Hadoop__Yarn__ApplicationAttemptIdProto id = HADOOP__YARN__APPLICATION_ATTEMPT_ID_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    char name[8192], tag[8192], *tags[] = { tag };

    (void)state;
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = 0;
    (void)memcpy(tag, name, sizeof(tag));
    (void)memcpy(name + RM_LIST_TEXT_MAX - 1, "\xc3\xa4", 2); /* a character at the end */
    m.name = name;
    m.applicationtags = tags;
    m.n_applicationtags = 1;
    m.currentapplicationattemptid = &id;
    assert_int_equal(rm_cut_texts(a, &m.base, SIZE_MAX), 0);
    assert_int_equal(strlen(m.name), RM_LIST_TEXT_MAX - 1);
    assert_int_equal(strlen(m.applicationtags[0]), RM_LIST_TEXT_MAX);
    assert_int_equal(strlen(tag), sizeof(tag) - 1); /* the application's own */
    assert_ptr_equal(tags[0], tag);
    assert_int_equal(rm_cut_texts(a, &m.base, 1000), 0);
    assert_in_range(protobuf_c_message_get_packed_size(&m.base), 400, 1000);
    assert_int_equal(rm_cut_texts(a, &m.base, 0), 0);
    assert_int_equal(strlen(m.name), 64);
}

static void kill_every_second(struct fix *f)
{
    struct rm_app *app, *tmp;

    DL_FOREACH_SAFE (f->rm->app_list, app, tmp)
        if (app->id.id % 2 == 0)
            kill_app(f, app);
}

/* Entries removed before their turn are omitted; the RM stops with a list half made. */
static void test_changes_meanwhile(void **state)
{
    Hadoop__Yarn__GetApplicationsRequestProto q =
        HADOOP__YARN__GET_APPLICATIONS_REQUEST_PROTO__INIT;
    struct answers s;
    struct fix f;

    (void)state;
    setup_entries(&f);
    submit_all(&f);
    begin(&s, &f);
    s.method = "getApplications";
    s.check = check_apps;
    for (int i = 0; i < 3; i++)
        call(&s, &q.base, &hadoop__yarn__get_applications_response_proto__descriptor);
    for (int i = 0; i < 200 && !f.rm->call_lists; i++) {
        assert_true(sd_event_run(f.event, 0) >= 0);
        assert_true(sd_event_run(s.event, 0) >= 0);
    }
    assert_non_null(f.rm->call_lists);
    kill_every_second(&f);
    s.gone = true;
    ipc_client_free(s.client);
    sd_event_unref(s.event);
    teardown(&f); /* under ASan: nothing is lost */
}

/* ---- Filters ---- */

#define CROWD 1500 /* applications: some turns of nothing but comparisons */
#define TAGS 10    /* of each, the most that Hadoop allows: "tag-0" to "tag-9" */
#define MEMBERS RM_NAMES_MAX

struct members {
    char texts[MEMBERS + 1][16];
    char *list[MEMBERS + 1];
};

static void fill(struct members *m, const char *prefix)
{
    for (int i = 0; i <= MEMBERS; i++) {
        (void)snprintf(m->texts[i], sizeof(m->texts[i]), "%s-%d", prefix, i);
        m->list[i] = m->texts[i];
    }
}

static void submit_crowd(struct fix *f, struct members *tags)
{
    for (int i = 0; i < CROWD; i++) {
        struct submission s;
        struct sv_error err = { 0 };
        const char *class;

        submission_init(f, &s);
        s.ctx.unmanaged_am = true;
        s.ctx.applicationtags = tags->list;
        s.ctx.n_applicationtags = TAGS;
        s.ctx.applicationtype = i % 2 ? (char *)(uintptr_t) "SPARK" : NULL;
        if (rm_app_submit(f->rm, &s.ctx, "ann", &class, &err) < 0)
            fail_msg("%s", err.text);
    }
    settle(f);
}

static size_t count_apps(struct answers *s, const ProtobufCMessage *m)
{
    (void)s;
    return ((const Hadoop__Yarn__GetApplicationsResponseProto *)(const void *)m)->n_applications;
}

static void ask(struct answers *s, Hadoop__Yarn__GetApplicationsRequestProto *q, size_t expected)
{
    s->expected = expected;
    s->most_compared = 0;
    call(s, &q->base, &hadoop__yarn__get_applications_response_proto__descriptor);
    await(s, s->n + 1);
    *q = (Hadoop__Yarn__GetApplicationsRequestProto)
        HADOOP__YARN__GET_APPLICATIONS_REQUEST_PROTO__INIT;
}

/* The largest filters: each application costs ten look-ups of ten steps, and a turn has a bounded
 * number of applications, although the answer is empty. */
static void test_filter_work(void **state)
{
    Hadoop__Yarn__GetApplicationsRequestProto q =
        HADOOP__YARN__GET_APPLICATIONS_REQUEST_PROTO__INIT;
    static struct members tags, other;
    struct answers s;
    struct fix f;

    (void)state;
    fill(&tags, "tag");
    fill(&other, "Other");
    setup_entries(&f);
    submit_crowd(&f, &tags);
    begin(&s, &f);
    s.method = "getApplications";
    s.check = count_apps;
    compared = 0;
    q.applicationtags = other.list;
    q.n_applicationtags = MEMBERS;
    ask(&s, &q, 0);
    assert_in_range(compared, CROWD, (CROWD + MEMBERS) * TAGS * 11);
    assert_in_range(s.most_compared, 1, TURN * RM_TURN_LOOKS * TAGS * 11);
    assert_true(s.turns >= CROWD / (TURN * RM_TURN_LOOKS));
    q.applicationtags = other.list; /* one member more */
    q.n_applicationtags = MEMBERS + 1;
    (void)snprintf(s.error, sizeof(s.error), "applicationTags: more than 1000 members");
    ask(&s, &q, 0);
    end(&s);
    teardown(&f);
}

static void test_filter_results(void **state)
{
    Hadoop__Yarn__GetApplicationsRequestProto q =
        HADOOP__YARN__GET_APPLICATIONS_REQUEST_PROTO__INIT;
    Hadoop__Yarn__YarnApplicationStateProto states[] = { W(RUNNING), W(KILLED) };
    char *names[3] = { (char *)(uintptr_t) "spark", (char *)(uintptr_t) "TAG-3",
                       (char *)(uintptr_t) "Ann" };
    static struct members tags;
    struct answers s;
    struct fix f;

    (void)state;
    fill(&tags, "tag");
    setup_entries(&f);
    submit_crowd(&f, &tags);
    begin(&s, &f);
    s.method = "getApplications";
    s.check = count_apps;
    q.application_types = names; /* without regard to case, as Hadoop */
    q.n_application_types = 1;
    ask(&s, &q, CROWD / 2);
    q.applicationtags = names + 1;
    q.n_applicationtags = 2;
    ask(&s, &q, CROWD);
    q.users = names + 2; /* exactly */
    q.n_users = 1;
    ask(&s, &q, 0);
    kill_app(&f, f.rm->app_list);
    q.application_states = states;
    q.n_application_states = 2;
    ask(&s, &q, 1);
    q.has_limit = true;
    q.limit = CROWD - 1;
    ask(&s, &q, CROWD - 1);
    end(&s);
    teardown(&f);
}

/* ---- Queue ---- */

static size_t check_queue(struct answers *s, const ProtobufCMessage *m)
{
    const Hadoop__Yarn__GetQueueInfoResponseProto *r = (const void *)m;

    (void)s;
    assert_string_equal(r->queueinfo->queuename, "default");
    assert_true(r->queueinfo->has_capacity);
    assert_int_equal(r->queueinfo->maxparallelapps, INT32_MAX); /* no limit, in Hadoop's form */
    assert_int_equal(r->queueinfo->n_childqueues, 0);
    for (size_t i = 0; i < r->queueinfo->n_applications; i++)
        assert_int_equal(r->queueinfo->applications[i]->applicationid->id, (int)i + 1);
    return r->queueinfo->n_applications;
}

static void test_queue(void **state)
{
    Hadoop__Yarn__GetQueueInfoRequestProto q = HADOOP__YARN__GET_QUEUE_INFO_REQUEST_PROTO__INIT;
    struct answers s;
    struct fix f;

    (void)state;
    setup_entries(&f);
    submit_all(&f);
    begin(&s, &f);
    s.method = "getQueueInfo";
    s.check = check_queue;
    q.queuename = (char *)(uintptr_t) "default";
    q.has_includeapplications = q.includeapplications = true;
    call(&s, &q.base, &hadoop__yarn__get_queue_info_response_proto__descriptor);
    await(&s, 1);
    assert_true(s.turns >= entries() / TURN);
    end(&s);
    teardown(&f);
}

/* "a(b c(d))": the queue and those below it in the answer. */
static void put_tree(const Hadoop__Yarn__QueueInfoProto *q, char *text, size_t size)
{
    size_t n = strlen(text);

    (void)snprintf(text + n, size - n, "%s%s", q->queuename, q->n_childqueues ? "(" : "");
    for (size_t i = 0; i < q->n_childqueues; i++) {
        n = strlen(text);
        (void)snprintf(text + n, size - n, "%s", i ? " " : "");
        put_tree(q->childqueues[i], text, size);
    }
    n = strlen(text);
    (void)snprintf(text + n, size - n, "%s", q->n_childqueues ? ")" : "");
}

static char tree[200];

static size_t check_tree(struct answers *s, const ProtobufCMessage *m)
{
    (void)s;
    *tree = '\0';
    put_tree(((const Hadoop__Yarn__GetQueueInfoResponseProto *)(const void *)m)->queueinfo, tree,
             sizeof(tree));
    return 0;
}

static void test_queue_tree(void **state)
{
    static const char *const keys[][2] = {
        { "yarn.resourcemanager.recovery.enabled", "false" },
        { "yarn.scheduler.capacity.root.queues", "a,b,c" },
        { "yarn.scheduler.capacity.root.a.capacity", "40" },
        { "yarn.scheduler.capacity.root.b.capacity", "40" },
        { "yarn.scheduler.capacity.root.c.capacity", "20" },
        { "yarn.scheduler.capacity.root.b.queues", "x,y" },
        { "yarn.scheduler.capacity.root.b.x.capacity", "50" },
        { "yarn.scheduler.capacity.root.b.y.capacity", "50" },
        { "yarn.scheduler.capacity.root.b.x.queues", "deep" },
        { "yarn.scheduler.capacity.root.b.x.deep.capacity", "100" },
        { 0 },
    };
    static const struct {
        const char *queue;
        bool children, recursive;
        const char *tree;
    } rows[] = {
        { "root", false, true, "root(a b(x(deep) y) c)" },
        { "root", true, false, "root(a b c)" },
        { "root", false, false, "root" },
        { "root.b", false, true, "b(x(deep) y)" },
        { "root.b", true, false, "b(x y)" },
        { "root.b.x", true, true, "x(deep)" },
        { "root.c", true, true, "c" },
    };
    struct answers s;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    begin(&s, &f);
    s.method = "getQueueInfo";
    s.check = check_tree;
    s.expected = 0;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        Hadoop__Yarn__GetQueueInfoRequestProto q = HADOOP__YARN__GET_QUEUE_INFO_REQUEST_PROTO__INIT;

        q.queuename = (char *)(uintptr_t)rows[i].queue;
        q.has_includechildqueues = q.has_recursive = true;
        q.includechildqueues = rows[i].children;
        q.recursive = rows[i].recursive;
        call(&s, &q.base, &hadoop__yarn__get_queue_info_response_proto__descriptor);
        await(&s, i + 1);
        assert_string_equal(tree, rows[i].tree);
    }
    end(&s);
    teardown(&f);
}

/* ---- Nodes ---- */

static size_t check_nodes(struct answers *s, const ProtobufCMessage *m)
{
    const Hadoop__Yarn__GetClusterNodesResponseProto *r = (const void *)m;
    bool *seen = calloc(s->expected, sizeof(*seen));

    for (size_t i = 0; i < r->n_nodereports; i++) {
        int32_t port = r->nodereports[i]->nodeid->port;

        assert_in_range(port, 1, s->expected);
        assert_false(seen[port - 1]);
        seen[port - 1] = true;
        assert_false(r->nodereports[i]->has_node_update_type);
    }
    free(seen);
    return r->n_nodereports;
}

static void test_nodes(void **state)
{
    Hadoop__Yarn__GetClusterNodesRequestProto q =
        HADOOP__YARN__GET_CLUSTER_NODES_REQUEST_PROTO__INIT;
    struct answers s;
    struct fix f;

    (void)state;
    setup_entries(&f);
    for (size_t i = 0; i < entries(); i++) {
        struct yarn_node_id id = { .host = "127.0.0.1", .port = (int32_t)i + 1 };
        struct rm_node *n = rm_node_new(f.rm, &id);

        n->http = rm_strdup("127.0.0.1:8042");
        n->version = rm_strdup("3.4.2");
        n->total = (struct rm_res){ 8192, 8 };
        rm_node_post_health(n, RM_NODE_EV_STARTED, true);
    }
    begin(&s, &f);
    s.method = "getClusterNodes";
    s.check = check_nodes;
    call(&s, &q.base, &hadoop__yarn__get_cluster_nodes_response_proto__descriptor);
    await(&s, 1);
    assert_true(s.turns >= entries() / TURN);
    end(&s);
    teardown(&f);
}

/* ---- Containers ---- */

static size_t check_containers(struct answers *s, const ProtobufCMessage *m)
{
    const Hadoop__Yarn__GetContainersResponseProto *r = (const void *)m;
    bool *seen = calloc(s->expected + 1, sizeof(*seen));

    for (size_t i = 0; i < r->n_containers; i++) {
        int64_t id = r->containers[i]->container_id->id & 0xffffffff;

        assert_in_range(id, 1, s->expected);
        assert_false(seen[id]);
        seen[id] = true;
    }
    free(seen);
    return r->n_containers;
}

static void test_containers(void **state)
{
    Hadoop__Yarn__GetContainersRequestProto q = HADOOP__YARN__GET_CONTAINERS_REQUEST_PROTO__INIT;
    struct rm_ask ask = { .priority = 1,
                          .allocation_id = -1,
                          .name = RM_ANY,
                          .capability = { 1, 1 },
                          .count = (int32_t)entries() - 1,
                          .relax = true };
    struct rm_sched_event ev = { .type = RM_SCHED_ASK, .ask = { .asks = &ask, .n_asks = 1 } };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct answers s;
    struct rm_app *app;
    struct fix f;
    struct rm_node *n;

    (void)state;
    setup_entries(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    rm_node_resize(n, (struct rm_res){ 1 << 30, 1 << 20 });
    settle(&f);
    ev.ask.app = app->id;
    assert_int_equal(rm_schedule(f.rm, &ev, NULL), 0);
    for (size_t i = 0; i < entries() && (size_t)app->n_live < entries(); i++)
        heartbeat(&f, n);
    begin(&s, &f);
    s.expected = (size_t)app->n_live;
    assert_in_range(s.expected, 100, 1000000);
    s.method = "getContainers";
    s.check = check_containers;
    q.application_attempt_id = yarn_attempt_id_to(a, app->current->id);
    call(&s, &q.base, &hadoop__yarn__get_containers_response_proto__descriptor);
    await(&s, 1);
    assert_true(s.turns >= s.expected / TURN);
    end(&s);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applications), cmocka_unit_test(test_long_texts),
        cmocka_unit_test(test_cut),          cmocka_unit_test(test_changes_meanwhile),
        cmocka_unit_test(test_filter_work),  cmocka_unit_test(test_filter_results),
        cmocka_unit_test(test_queue),        cmocka_unit_test(test_queue_tree),
        cmocka_unit_test(test_nodes),        cmocka_unit_test(test_containers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
