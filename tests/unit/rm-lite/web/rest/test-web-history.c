/* rm-lite/web/rest/web-history.c through GET /ws/v1/selvedge/history: pages, sums, who sees what,
 * wrong queries; and no turn of the loop reads more than RM_PAST_TURN rows. With HISTORY_ROWS=n,
 * the longest turn with n rows is printed. */
#include "tests/unit/rm-lite/store/history-fixture.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "rm-lite/requests/turn.h"
#include "rm-lite/web/rest/history-sums.h"
#include "rm-lite/web/rest/web-history.h"
#include "rm-lite/web/rest/web-list.h"

#define ROWS 2500
#define ANSWER_MAX ((size_t)8 << 20)

static size_t steps; /* of SQLite, by the whole program */
int __wrap_sqlite3_step(sqlite3_stmt *q);
int __real_sqlite3_step(sqlite3_stmt *q);

int __wrap_sqlite3_step(sqlite3_stmt *q)
{
    steps++;
    return __real_sqlite3_step(q);
}

/* ---- A client ---- */

struct answer {
    int status;
    json_t *body;
    size_t turns, most_steps;
    int64_t longest_us;
};

static int ask(const struct fix *f, const char *path)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(f->rm->web_port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_true(dprintf(fd, "GET /ws/v1/%s%s HTTP/1.0\r\nConnection: close\r\n\r\n",
                        strncmp(path, "/history", 8) == 0 ? "selvedge" : "cluster", path) > 0);
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
    size_t before = steps;
    int64_t begin = now_us();

    assert_true(sd_event_run(f->event, 0) >= 0);
    a->most_steps = SV_MAX(a->most_steps, steps - before);
    a->longest_us = SV_MAX(a->longest_us, now_us() - begin);
    a->turns++;
}

static struct answer get(const struct fix *f, const char *path)
{
    static char text[ANSWER_MAX];
    struct answer a = { .status = 0 };
    int fd = ask(f, path);
    size_t len = 0;
    ssize_t n;

    do {
        turn(f, &a);
        n = recv(fd, text + len, sizeof(text) - 1 - len, MSG_DONTWAIT);
        len += n > 0 ? (size_t)n : 0;
    } while (n > 0 || (n < 0 && errno == EAGAIN));
    assert_int_equal(n, 0);
    close(fd);
    text[len] = 0;
    a.status = (int)strtol(text + strlen("HTTP/1.1 "), NULL, 10);
    assert_non_null(strstr(text, "\r\n\r\n"));
    a.body = json_loads(strstr(text, "\r\n\r\n"), 0, NULL);
    assert_non_null(a.body);
    return a;
}

/* "history"'s member of this name; the answer is the caller's. */
static const json_t *part(const struct answer *a, const char *name)
{
    if (a->status != 200)
        fail_msg("%d: %s", a->status, json_dumps(a->body, JSON_COMPACT));
    return json_object_get(json_object_get(a->body, "history"), name);
}

static const char *text(const json_t *o, const char *key)
{
    const char *s = json_string_value(json_object_get(o, key));

    return s ? s : "";
}

static int64_t number(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);

    assert_true(json_is_integer(v));
    return json_integer_value(v);
}

static size_t count(const struct fix *f, const char *path)
{
    struct answer a = get(f, path);
    size_t n = json_array_size(part(&a, "apps"));

    json_decref(a.body);
    return n;
}

/* ---- Pages ---- */

static void pages(void **state)
{
    const char *env = getenv("HISTORY_ROWS");
    int n = env ? (int)strtol(env, NULL, 10) : ROWS, seen = 0;
    char path[160] = "/history";
    struct fix f;

    (void)state;
    setup(&f);
    fill(&f, n);
    while (*path) {
        struct answer a = get(&f, path);
        const json_t *list = part(&a, "apps"), *next = part(&a, "next"), *app;
        size_t i;

        assert_true(json_array_size(list) <= RM_HISTORY_PAGE);
        json_array_foreach(list, i, app)
        {
            struct yarn_app_id id;

            assert_int_equal(yarn_app_id_parse(text(app, "id"), &id), 0);
            assert_int_equal(id.id, n - seen++); /* newest first, each once */
        }
        assert_int_equal(next != NULL, json_array_size(list) == RM_HISTORY_PAGE);
        *path = 0;
        if (next)
            (void)snprintf(path, sizeof(path), "/history?after=%s", json_string_value(next));
        assert_in_range(a.most_steps, 0, RM_PAST_TURN + 2);
        assert_true(a.turns > json_array_size(list) / RM_TURN_MAKES);
        if (env)
            print_message("page: %zu turns, the longest %.2f ms of CPU\n", a.turns,
                          (double)a.longest_us / 1000);
        json_decref(a.body);
    }
    assert_int_equal(seen, n);
    teardown(&f);
}

static void one_row(void **state)
{
    const json_t *app;
    struct answer a;
    struct fix f;

    (void)state;
    setup(&f);
    fill(&f, 3);
    a = get(&f, "/history?limit=1");
    assert_int_equal(json_array_size(part(&a, "apps")), 1);
    app = json_array_get(part(&a, "apps"), 0);
    assert_string_equal(text(app, "id"), "application_1700000000000_0003");
    assert_string_equal(text(app, "user"), "user3");
    assert_string_equal(text(app, "queue"), "root.q0");
    assert_string_equal(text(app, "name"), "name 3");
    assert_string_equal(text(app, "applicationType"), "SPARK");
    assert_string_equal(text(app, "state"), "FAILED");
    assert_string_equal(text(app, "finalStatus"), "FAILED");
    assert_string_equal(text(app, "diagnostics"), "why 3");
    assert_int_equal(number(app, "memorySeconds"), 3600);
    assert_int_equal(number(app, "vcoreSeconds"), 36);
    assert_int_equal(number(app, "startedTime"), 1600000000000);
    assert_int_equal(number(app, "attempts"), 1);
    assert_true(number(app, "finishedTime") > sv_wall_ms() - 60000);
    assert_true(json_is_false(part(&a, "full")));
    assert_int_equal(json_integer_value(part(&a, "oldest")), rm_store_history_oldest(f.rm));
    json_decref(a.body);

    a = get(&f, "/apps/application_1700000000000_0002"); /* forgotten, but in the history */
    assert_int_equal(a.status, 200);
    assert_string_equal(text(json_object_get(a.body, "app"), "name"), "name 2");
    json_decref(a.body);
    a = get(&f, "/apps/application_1700000000000_0004");
    assert_int_equal(a.status, 404);
    json_decref(a.body);
    a = get(&f, "/apps/application_1700000000000_0002/appattempts");
    assert_int_equal(a.status, 404);
    json_decref(a.body);
    teardown(&f);
}

static void selected(void **state)
{
    static const struct {
        const char *query;
        size_t n;
    } rows[] = {
        { "/history?user=user3", 60 },
        { "/history?user=user3,user4", 120 },
        { "/history?queue=root.q1", 200 },
        { "/history?queue=q1&user=user1", 20 },
        { "/history?states=FAILED", 300 },
        { "/history?states=FINISHED,KILLED&limit=1000", 300 },
        { "/history?finalStatus=SUCCEEDED", 300 },
        { "/history?applicationTypes=spark", 600 },
        { "/history?applicationTypes=MAPREDUCE", 0 },
        { "/history?applicationTags=any", 0 }, /* rows have none */
        { "/history?name=name%2017", 1 },
        { "/history?finishedTimeBegin=1", 600 },
        { "/history?finishedTimeEnd=1", 0 },
        { "/history?limit=7", 7 },
        { "/history?limit=9999999", 600 },
        { "/history?after=1-application_1700000000000_0042", 0 },
    };
    struct fix f;

    (void)state;
    setup(&f);
    fill(&f, 600);
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        size_t n = count(&f, rows[i].query);

        if (n != rows[i].n)
            fail_msg("%s: %zu, not %zu", rows[i].query, n, rows[i].n);
    }
    teardown(&f);
}

static void between_ends(void **state)
{
    char path[128];
    struct fix f;
    int64_t oldest;

    (void)state;
    setup(&f);
    fill(&f, 100);
    oldest = rm_store_history_oldest(f.rm);
    (void)snprintf(path, sizeof(path), "/history?finishedTimeBegin=%lld&finishedTimeEnd=%lld",
                   (long long)(oldest + 10 * ROW_MS), (long long)(oldest + 19 * ROW_MS));
    assert_int_equal(count(&f, path), 10); /* both included */
    teardown(&f);
}

/* ---- Sums ---- */

static void sums(void **state)
{
    struct answer a;
    const json_t *sum;
    struct fix f;
    size_t i;

    (void)state;
    setup(&f);
    fill(&f, ROWS);
    stop(&f);
    sql(&f, "UPDATE history SET type1='yarn.io/gpu', used1=8000 WHERE user='user7'");
    start(&f);
    a = get(&f, "/history?by=user&limit=1"); /* of all, whatever the limit */
    assert_string_equal(json_string_value(part(&a, "by")), "user");
    assert_int_equal(json_array_size(part(&a, "sums")), 10);
    json_array_foreach(part(&a, "sums"), i, sum)
    {
        const json_t *types = json_object_get(json_object_get(sum, "resourceSecondsMap"), "entry");
        bool gpus = strcmp(text(sum, "user"), "user7") == 0;

        assert_int_equal(number(sum, "apps"), ROWS / 10);
        assert_int_equal(number(sum, "succeeded") + number(sum, "failed"), ROWS / 10);
        assert_int_equal(number(sum, "killed"), 0);
        assert_int_equal(number(sum, "hidden"), 0);
        assert_int_equal(number(sum, "memorySeconds"), ROWS / 10 * 3600);
        assert_int_equal(number(sum, "vcoreSeconds"), ROWS / 10 * 36);
        assert_int_equal(json_array_size(types), gpus ? 3 : 2);
        if (gpus)
            assert_string_equal(text(json_array_get(types, 2), "value"), "2000");
    }
    assert_in_range(a.most_steps, 0, RM_PAST_TURN + 2);
    json_decref(a.body);
    a = get(&f, "/history?by=queue&user=user1");
    assert_int_equal(json_array_size(part(&a, "sums")), 3);
    json_decref(a.body);
    a = get(&f, "/history?by=queue&user=nobody");
    assert_int_equal(json_array_size(part(&a, "sums")), 0);
    json_decref(a.body);
    teardown(&f);
}

static void too_many_groups(void **state)
{
    struct rm_past_app past = { .final_status = F(SUCCEEDED), .n_used = 2 };
    struct rm_sums s = { .groups = NULL };
    struct rm_sum *sum;
    int64_t apps = 0;
    size_t groups = 0;
    char name[32];

    (void)state;
    past.used[0].used_ms = past.used[1].used_ms = INT64_MAX;
    for (int i = 0; i < 2 * (RM_SUMS_GROUPS + 5); i++) {
        (void)snprintf(name, sizeof(name), "user%d", i / 2);
        assert_int_equal(rm_sums_add(&s, name, &past, true), 0);
    }
    for (int i = 0; i < 1100; i++) /* a sum ends at the largest number */
        assert_int_equal(rm_sums_add(&s, "user0", &past, true), 0);
    for (bool rest = false; (sum = rm_sums_take(&s)); groups++) {
        assert_false(rest); /* it is the last */
        rest = !sum->name;
        assert_int_equal(rest ? sum->apps : 10, 10);
        if (sum->name && strcmp(sum->name, "user0") == 0)
            assert_int_equal(sum->memory_s, INT64_MAX);
        apps += sum->apps;
        rm_sum_free(sum);
    }
    assert_int_equal(groups, RM_SUMS_GROUPS + 1);
    assert_int_equal(apps, 2 * (RM_SUMS_GROUPS + 5) + 1100);
    assert_int_equal(rm_sums_add(&s, "again", &past, true), 0);
    rm_sums_free(&s);
}

/* ---- Access ---- */

static void access_lists(void **state)
{
    static const char *const keys[][2] = { { "yarn.acl.enable", "true" },
                                           { "yarn.admin.acl", "boss" },
                                           { 0 } };
    static const struct {
        const char *who;
        size_t rows; /* of 30, with their usage */
    } viewers[] = { { "?user.name=boss", 30 },
                    { "?user.name=user3", 4 }, /* three of its own, and one whose list names it */
                    { "?user.name=eve", 0 },
                    { "?limit=30", 0 } };
    struct answer a;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    fill(&f, 30);
    stop(&f);
    sql(&f, "UPDATE history SET viewers='user3,user33' WHERE id=4");
    start(&f);
    for (size_t i = 0; i < SV_ARRAY_LEN(viewers); i++) {
        char path[128];
        const json_t *app, *sum;
        size_t k, sees = 0, hidden = 0;

        (void)snprintf(path, sizeof(path), "/history%s", viewers[i].who);
        a = get(&f, path);
        assert_int_equal(json_array_size(part(&a, "apps")), 30); /* that they were, as in `ps` */
        json_array_foreach(part(&a, "apps"), k, app)
        {
            assert_true(*text(app, "user") && *text(app, "state"));
            assert_int_equal(!json_object_get(app, "memorySeconds"),
                             !json_object_get(app, "diagnostics"));
            sees += json_object_get(app, "memorySeconds") != NULL;
        }
        assert_int_equal(sees, viewers[i].rows);
        json_decref(a.body);

        (void)snprintf(path, sizeof(path), "/history%s&by=user", viewers[i].who);
        a = get(&f, path);
        sees = 0;
        json_array_foreach(part(&a, "sums"), k, sum)
        {
            hidden += (size_t)number(sum, "hidden");
            sees += (size_t)number(sum, "memorySeconds") / 3600;
        }
        assert_int_equal(sees, viewers[i].rows);
        assert_int_equal(hidden, 30 - viewers[i].rows);
        json_decref(a.body);
    }
    a = get(&f, "/apps/application_1700000000000_0004?user.name=eve");
    assert_null(json_object_get(json_object_get(a.body, "app"), "diagnostics"));
    json_decref(a.body);
    teardown(&f);
}

/* ---- Wrong queries ---- */

static void refused(void **state)
{
    static const struct {
        const char *query, *words;
    } rows[] = {
        { "/history?after=", "is not a place" },
        { "/history?after=x", "is not a place" },
        { "/history?after=-1-application_1700000000000_0001", "is not a place" },
        { "/history?after=1-application_1700000000000", "is not a place" },
        { "/history?after=99999999999999999999999999-application_1_1", "is not a place" },
        { "/history?by=", "neither user nor queue" },
        { "/history?by=users", "neither user nor queue" },
        { "/history?limit=0", "limit value" },
        { "/history?limit=-1", "limit value" },
        { "/history?limit=x", "limit value" },
        { "/history?states=NONE", "Invalid application-state" },
        { "/history?finalStatus=NONE", "FinalApplicationStatus.NONE" },
        { "/history?finishedTimeBegin=x", "is not a number" },
        { "/history?finishedTimeEnd=-5", "greater than 0" },
    };
    struct fix f;

    (void)state;
    setup(&f);
    fill(&f, 3);
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct answer a = get(&f, rows[i].query);
        const char *words = text(json_object_get(a.body, "RemoteException"), "message");

        if (a.status != 400 || !strstr(words, rows[i].words))
            fail_msg("%s: %d %s", rows[i].query, a.status, words);
        json_decref(a.body);
    }
    assert_int_equal(f.rm->n_lists, 0);
    teardown(&f);
}

static void off(void **state)
{
    static const char *const keys[][2] = { { "yarn.resourcemanager.recovery.enabled", "false" },
                                           { 0 } };
    struct answer a;
    struct fix f;

    (void)state;
    setup_with(&f, keys);
    a = get(&f, "/history");
    assert_int_equal(a.status, 404);
    assert_non_null(
        strstr(text(json_object_get(a.body, "RemoteException"), "message"), "recovery.enabled"));
    json_decref(a.body);
    teardown(&f);
}

/* Clients that leave, and one too many; the ResourceManager stops with answers half made. */
static void crowd(void **state)
{
    struct answer a = { .status = 0 };
    int fds[RM_LISTS_MAX];
    struct fix f;

    (void)state;
    setup(&f);
    fill(&f, ROWS);
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++)
        fds[i] = ask(&f, i % 2 ? "/history?user=nobody" : "/history?by=queue");
    for (int i = 0; i < 1000 && f.rm->n_lists == 0; i++)
        turn(&f, &a);
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i += 2)
        close(fds[i]);
    for (int i = 0; i < 100000 && f.rm->n_lists > 0; i++)
        turn(&f, &a);
    assert_int_equal(f.rm->n_lists, 0);
    f.rm->n_lists = RM_LISTS_MAX;
    a = get(&f, "/history");
    assert_int_equal(a.status, 503);
    json_decref(a.body);
    f.rm->n_lists = 0;
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i += 2)
        fds[i] = ask(&f, "/history");
    for (int i = 0; i < 1000 && f.rm->n_lists == 0; i++)
        turn(&f, &a);
    assert_true(f.rm->n_lists > 0);
    teardown(&f); /* under ASan: nothing is lost */
    for (size_t i = 0; i < SV_ARRAY_LEN(fds); i++)
        close(fds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages),        cmocka_unit_test(one_row),
        cmocka_unit_test(selected),     cmocka_unit_test(between_ends),
        cmocka_unit_test(sums),         cmocka_unit_test(too_many_groups),
        cmocka_unit_test(access_lists), cmocka_unit_test(refused),
        cmocka_unit_test(off),          cmocka_unit_test(crowd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
