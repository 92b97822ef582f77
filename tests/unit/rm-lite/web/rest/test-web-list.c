/* rm-lite/web/rest/web-list.c through GET /ws/v1/cluster/apps, /nodes and …/containers: the answer
 * has what the query asks for, and neither selecting nor writing a long list is one turn of the
 * loop. With LIST_ENTRIES=n, the longest turn with n applications is printed. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#include "common/str.h"
#include "rm-lite/requests/name-filter.h"
#include "rm-lite/requests/turn.h"
#include "rm-lite/web/rest/web-list.h"

#define CROWD 1500                    /* applications: some turns of nothing but comparisons */
#define TAGS 10                       /* of each, the most that Hadoop allows: "tag-0" to "tag-9" */
#define ANSWER_MAX ((size_t)64 << 20) /* never touched where nothing is read into it */

/* Comparisons of texts without regard to case, by the whole program. */
static size_t compared;
int __wrap_strcasecmp(const char *a, const char *b);
int __real_strcasecmp(const char *a, const char *b);

int __wrap_strcasecmp(const char *a, const char *b)
{
    compared++;
    return __real_strcasecmp(a, b);
}

static void setup_web(struct fix *f)
{
    static const char *const keys[][2] = {
        { "yarn.resourcemanager.recovery.enabled", "false" },
        { "yarn.scheduler.capacity.maximum-applications", "1000000" },
        { 0 },
    };

    setup_with(f, keys);
}

/* ---- A client ---- */

struct answer {
    char *text; /* header and body */
    size_t turns, most_compared;
    int64_t longest_us;
};

static int connect_to(const struct fix *f)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(f->rm->web_port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static int ask(const struct fix *f, const char *path)
{
    int fd = connect_to(f);

    assert_true(dprintf(fd, "GET /ws/v1/cluster%s HTTP/1.0\r\nConnection: close\r\n\r\n", path) >
                0);
    return fd;
}

static int64_t now_us(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void turn(const struct fix *f, struct answer *a)
{
    size_t before = compared;
    int64_t begin = now_us();

    assert_true(sd_event_run(f->event, 0) >= 0);
    a->most_compared = SV_MAX(a->most_compared, compared - before);
    a->longest_us = SV_MAX(a->longest_us, now_us() - begin);
    a->turns++;
}

/* Reads until the server closes. */
static struct answer await(const struct fix *f, int fd)
{
    struct answer a = { .text = calloc(1, ANSWER_MAX) };
    size_t len = 0;
    ssize_t n;

    assert_non_null(a.text);
    do {
        turn(f, &a);
        n = recv(fd, a.text + len, ANSWER_MAX - 1 - len, MSG_DONTWAIT);
        len += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EAGAIN));
    assert_int_equal(n, 0);
    close(fd);
    return a;
}

static json_t *body(const struct answer *a, int status)
{
    const char *end = strstr(a->text, "\r\n\r\n");
    json_t *o;

    assert_non_null(end);
    assert_int_equal(strtol(a->text + strlen("HTTP/1.1 "), NULL, 10), status);
    o = json_loads(end, 0, NULL);
    assert_non_null(o);
    return o;
}

/* Entries of the answer, {"OUTER":{"INNER":[…]}}. */
static size_t count(const struct answer *a, const char *outer, const char *inner)
{
    json_t *o = body(a, 200);
    const json_t *list = json_object_get(o, outer);
    size_t n;

    list = inner ? json_object_get(list, inner) : list;
    assert_true(json_is_array(list));
    n = json_array_size(list);
    json_decref(o);
    return n;
}

static size_t apps(const struct fix *f, const char *query)
{
    struct answer a = await(f, ask(f, query));
    size_t n = count(&a, "apps", "app");

    free(a.text);
    return n;
}

/* ---- Applications ---- */

static void submit_crowd(struct fix *f, size_t n)
{
    static char texts[TAGS][16];
    char *tags[TAGS];

    for (int i = 0; i < TAGS; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "tag-%d", i);
        tags[i] = texts[i];
    }
    for (size_t i = 0; i < n; i++) {
        struct submission s;
        struct sv_error err = { 0 };
        const char *class;

        submission_init(f, &s);
        s.ctx.unmanaged_am = true;
        s.ctx.applicationtags = tags;
        s.ctx.n_applicationtags = TAGS;
        s.ctx.applicationtype = i % 2 ? (char *)(uintptr_t) "SPARK" : NULL;
        s.ctx.application_name = i < 3 ? (char *)(uintptr_t) "named" : NULL;
        if (rm_app_submit(f->rm, &s.ctx, i % 3 ? "ann" : "bob", &class, &err) < 0)
            fail_msg("%s", err.text);
    }
    settle(f);
}

/* "/apps?applicationTags=other-0,other-1…" with n members that no application has. */
static char *largest(size_t n)
{
    size_t size = 64 + n * 12, len;
    char *path = malloc(size);

    assert_non_null(path);
    len = (size_t)snprintf(path, size, "/apps?applicationTags=");
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(path + len, size - len, "%sother-%zu", i ? "," : "", i);
    return path;
}

/* The largest query: each application costs ten look-ups of ten steps, and a turn has a bounded
 * number of applications, although the answer is empty. */
static void test_work(void **state)
{
    const char *n = getenv("LIST_ENTRIES");
    size_t crowd = n ? strtoul(n, NULL, 10) : CROWD;
    char *path = largest(RM_NAMES_MAX);
    struct answer a;
    struct fix f;

    (void)state;
    setup_web(&f);
    submit_crowd(&f, crowd);
    compared = 0;
    a = await(&f, ask(&f, path));
    assert_int_equal(count(&a, "apps", "app"), 0);
    assert_in_range(compared, crowd, (crowd + RM_NAMES_MAX) * TAGS * 11);
    assert_in_range(a.most_compared, 1, RM_TURN_MAKES * RM_TURN_LOOKS * TAGS * 11);
    assert_true(a.turns > crowd / (RM_TURN_MAKES * RM_TURN_LOOKS));
    if (n)
        print_message("none of %zu: %zu turns, the longest %.2f ms of CPU\n", crowd, a.turns,
                      (double)a.longest_us / 1000);
    free(a.text);
    free(path);
    a = await(&f, ask(&f, "/apps"));
    assert_int_equal(count(&a, "apps", "app"), crowd);
    assert_true(a.turns > crowd / RM_TURN_MAKES);
    if (n)
        print_message("all of %zu: %zu turns, the longest %.2f ms of CPU\n", crowd, a.turns,
                      (double)a.longest_us / 1000);
    free(a.text);
    teardown(&f);
}

static void test_refusal(void **state)
{
    char *path = largest(RM_NAMES_MAX + 1);
    struct answer a;
    const char *text;
    struct fix f;
    json_t *o;

    (void)state;
    setup_web(&f);
    a = await(&f, ask(&f, path));
    o = body(&a, 400);
    assert_int_equal(json_unpack(o, "{s:{s:s}}", "RemoteException", "message", &text), 0);
    assert_non_null(strstr(text, "applicationTags: more than 1000 members"));
    json_decref(o);
    free(a.text);
    free(path);
    teardown(&f);
}

/* Results of a list that is made at once equal those of one in turns. */
static void check_results(size_t crowd)
{
    const struct {
        const char *query;
        size_t n;
    } rows[] = {
        { "/apps", crowd },
        { "/apps?applicationTypes=spark", crowd / 2 },
        { "/apps?applicationTypes=yarn,%20SPARK%20,,", crowd },
        { "/apps?applicationTypes=,", crowd }, /* no member: no filter, as Hadoop */
        { "/apps?applicationTags=TAG-3", crowd },
        { "/apps?applicationTags=tag-33,tag", 0 },
        { "/apps?user=bob", crowd / 3 },
        { "/apps?user=bob,ann", crowd },
        { "/apps?user=Bob", 0 }, /* exactly, as Hadoop */
        { "/apps?queue=default", crowd },
        { "/apps?queue=root.default&queues=default", crowd },
        { "/apps?queue=root", 0 },
        { "/apps?name=named", 3 },
        { "/apps?states=accepted", crowd - 1 },
        { "/apps?states=KILLED", 1 },
        { "/apps?state=KILLED&states=ACCEPTED", crowd },
        { "/apps?finalStatus=killed", 1 },
        { "/apps?startedTimeEnd=1", 0 },
        { "/apps?limit=7", 7 },
        { "/apps?limit=7&user=ann&states=accepted", 7 },
    };
    struct fix f;

    setup_web(&f);
    submit_crowd(&f, crowd);
    kill_app(&f, f.rm->app_list);
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        size_t n = apps(&f, rows[i].query);

        if (n != rows[i].n)
            fail_msg("%s of %zu: %zu, not %zu", rows[i].query, crowd, n, rows[i].n);
    }
    teardown(&f);
}

static void test_results(void **state)
{
    (void)state;
    check_results(RM_LIST_SHORT - 4);
    check_results(RM_LIST_SHORT * 3);
}

/* One selection at a time: others wait, some leave, all the rest are answered; the ResourceManager
 * stops with lists half made. */
static void test_waiting(void **state)
{
    struct answer a = { 0 };
    int fds[8];
    struct fix f;

    (void)state;
    setup_web(&f);
    submit_crowd(&f, CROWD);
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++)
        fds[i] = ask(&f, i % 2 ? "/apps?user=nobody" : "/apps?limit=70");
    for (int i = 0; i < 40 && !f.rm->selecting; i++)
        turn(&f, &a);
    assert_non_null(f.rm->selecting);
    close(fds[0]);
    close(fds[3]);
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++) {
        if (i == 0 || i == 3)
            continue;
        a = await(&f, fds[i]);
        assert_int_equal(count(&a, "apps", "app"), i % 2 ? 0 : 70);
        free(a.text);
    }
    assert_null(f.rm->selecting);
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++)
        fds[i] = ask(&f, "/apps");
    a = (struct answer){ 0 };
    for (int i = 0; i < 40 && !f.rm->selecting; i++)
        turn(&f, &a);
    teardown(&f); /* under ASan: nothing is lost */
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++)
        close(fds[i]);
}

/* ---- Nodes ---- */

static void refused(const struct fix *f, const char *query, const char *words)
{
    struct answer a = await(f, ask(f, query));
    const char *exception, *message, *class;
    json_t *o = body(&a, 400);

    assert_int_equal(json_unpack(o, "{s:{s:s,s:s,s:s}}", "RemoteException", "exception", &exception,
                                 "message", &message, "javaClassName", &class),
                     0);
    assert_string_equal(exception, "IllegalArgumentException");
    assert_string_equal(class, "java.lang.IllegalArgumentException");
    assert_string_equal(message, words);
    json_decref(o);
    free(a.text);
}

static size_t nodes(const struct fix *f, const char *query)
{
    struct answer a = await(f, ask(f, query));
    size_t n = count(&a, "nodes", "node");

    free(a.text);
    return n;
}

/* Percent of the machine, not whole numbers. */
static void check_utilization(const struct fix *f, struct rm_node *n, double memory, double cpu)
{
    double mem_shown, cpu_shown;
    char path[400];
    struct answer a;
    json_t *o;

    (void)snprintf(path, sizeof(path), "/nodes/%s", n->key);
    a = await(f, ask(f, path));
    o = body(&a, 200);
    assert_int_equal(json_unpack(o, "{s:{s:f,s:f}}", "node", "memUtilization", &mem_shown,
                                 "cpuUtilization", &cpu_shown),
                     0);
    assert_true(mem_shown == memory && cpu_shown == cpu);
    json_decref(o);
    free(a.text);
}

static void test_utilization(void **state)
{
    struct rm_node *n;
    struct fix f;

    (void)state;
    setup_web(&f);
    n = add_node(&f, 1); /* of 8192 MB */
    check_utilization(&f, n, 0, 0);
    n->node_pmem = 1000;
    n->node_cpu = 1.25f;
    check_utilization(&f, n, 12.20703125, 125);
    n->physical = (struct rm_res){ 16000, 10 };
    check_utilization(&f, n, 6.25, 12.5);
    teardown(&f);
}

#define NO_CONSTANT "No enum constant org.apache.hadoop.yarn.api.records."

static void test_nodes(void **state)
{
    struct fix f;

    (void)state;
    setup_web(&f);
    for (int i = 1; i <= 100; i++) {
        struct rm_node *n = add_node(&f, i);

        if (i <= 20)
            rm_node_post(n, RM_NODE_EV_EXPIRE);
    }
    assert_int_equal(nodes(&f, "/nodes"), 100); /* in every state, as RMWebServices.getNodes */
    assert_int_equal(nodes(&f, "/nodes?states=RUNNING"), 80);
    assert_int_equal(nodes(&f, "/nodes?states=lost,running,"), 100);
    assert_int_equal(nodes(&f, "/nodes?states=LOST"), 20);
    assert_int_equal(nodes(&f, "/nodes?states=,"), 0);
    refused(&f, "/nodes?states=all", NO_CONSTANT "NodeState.ALL");
    refused(&f, "/nodes?states=", NO_CONSTANT "NodeState.");
    refused(&f, "/nodes?states=RUNNING,%20LOST", NO_CONSTANT "NodeState. LOST");
    refused(&f, "/apps?finalStatus=Good", NO_CONSTANT "FinalApplicationStatus.Good");
    teardown(&f);
}

/* ---- Containers ---- */

static void test_containers(void **state)
{
    char path[300];
    struct answer a;
    struct rm_app *app;
    struct rm_node *n;
    struct fix f;

    (void)state;
    setup_web(&f);
    n = add_node(&f, 1);
    app = submit(&f, false, 1);
    run_master(&f, app);
    rm_node_resize(n, (struct rm_res){ 1 << 30, 1 << 20 });
    settle(&f);
    ask_containers(&f, app, 299);
    assert_int_equal(app->n_live, 300);
    (void)snprintf(path, sizeof(path), "/apps/%s/appattempts/%s/containers", app->id_str,
                   app->current->id_str);
    a = await(&f, ask(&f, path));
    assert_int_equal(count(&a, "container", NULL), 300);
    assert_true(a.turns > 300 / RM_TURN_MAKES);
    free(a.text);
    teardown(&f);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_work),       cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_results),    cmocka_unit_test(test_waiting),
        cmocka_unit_test(test_nodes),      cmocka_unit_test(test_utilization),
        cmocka_unit_test(test_containers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
