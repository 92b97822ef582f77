/* Tests registry/registry.c with a back end of this file: the newest record of a path wins, order,
 * a back end that goes away, removals of what never arrived, sweeping. */
#include "registry/registry.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

#include "common/clock.h"

#define OPEN_MAX 256

struct open_request {
    reg_done done;
    reg_listed listed;
    void *userdata;
};
struct fake {
    struct reg_backend base;
    struct open_request open[OPEN_MAX];
    size_t n_open, most_open;
    int refuse; /* status of calls */
    char log[8192];
    bool freed;
};

static struct fake fake;
static sd_event *event;
static struct reg_registry *registry;
static unsigned idle_calls, news[REG_REFUSED + 1];

/* ---- The back end ---- */

static int note(const char *what, const char *path, const void *text, size_t len)
{
    size_t n = strlen(fake.log);

    (void)snprintf(fake.log + n, sizeof(fake.log) - n, "%s %s%s%.*s;", what, path, len ? "=" : "",
                   (int)len, len ? (const char *)text : "");
    return fake.refuse;
}

static int begin(const char *what, const char *path, const void *text, size_t len, reg_done done,
                 reg_listed listed, void *userdata)
{
    int r = note(what, path, text, len);

    if (r == 0)
        fake.open[fake.n_open++] = (struct open_request){ done, listed, userdata };
    if (fake.n_open > fake.most_open)
        fake.most_open = fake.n_open;
    return r;
}

static int put(struct reg_backend *b, const char *path, const void *text, size_t len, reg_done done,
               void *userdata)
{
    (void)b;
    return begin("put", path, text, len, done, NULL, userdata);
}

static int remove_one(struct reg_backend *b, const char *path, reg_done done, void *userdata)
{
    (void)b;
    return begin("remove", path, NULL, 0, done, NULL, userdata);
}

static int remove_tree(struct reg_backend *b, const char *path, reg_done done, void *userdata)
{
    (void)b;
    return begin("tree", path, NULL, 0, done, NULL, userdata);
}

static int list(struct reg_backend *b, const char *path, reg_listed done, void *userdata)
{
    (void)b;
    return begin("list", path, NULL, 0, NULL, done, userdata);
}

static void free_fake(struct reg_backend *b)
{
    ((struct fake *)b)->freed = true;
}

static const struct reg_backend_ops ops = {
    .name = "fake",
    .put = put,
    .remove = remove_one,
    .remove_tree = remove_tree,
    .list = list,
    .free = free_fake,
};

/* ---- Driving it ---- */

static void on_idle(void *userdata)
{
    (void)userdata;
    idle_calls++;
}

static void on_news(enum reg_news what, const char *text, void *userdata)
{
    (void)userdata;
    news[what]++;
    assert_non_null(strstr(text, "registry in memory: "));
}

static int new_registry(void **state)
{
    const struct reg_config cfg = {
        .backend = &fake.base, .retry_min_ms = 1, .retry_max_ms = 4, .idle = on_idle, .say = on_news
    };

    (void)state;
    fake = (struct fake){ .base = { .ops = &ops, .where = "memory" } };
    idle_calls = 0;
    memset(news, 0, sizeof(news));
    return sd_event_new(&event) < 0 || reg_new(event, &cfg, &registry) < 0;
}

static int free_registry(void **state)
{
    (void)state;
    registry = reg_free(registry);
    event = sd_event_unref(event);
    return fake.freed ? 0 : -1;
}

static void turn(void)
{
    while (sd_event_run(event, 0) > 0)
        ;
}

/* Ends the first request that is open. */
static void end(int status)
{
    struct open_request q = fake.open[0];

    assert_true(fake.n_open > 0);
    memmove(fake.open, fake.open + 1, --fake.n_open * sizeof(*fake.open));
    if (q.done)
        q.done(status, status < 0 ? "broken" : "", q.userdata);
    turn();
}

static void end_list(char *const *names, size_t n)
{
    struct open_request q = fake.open[0];

    assert_non_null(q.listed);
    fake.n_open--;
    q.listed(0, names, n, "", q.userdata);
    turn();
}

static void logged(const char *wanted)
{
    assert_string_equal(fake.log, wanted);
    fake.log[0] = '\0';
}

static void put_text(const char *path, const char *text)
{
    assert_int_equal(reg_put(registry, path, text, strlen(text)), 0);
}

/* Waits for the timer. */
static void wait_for_request(void)
{
    for (unsigned i = 0; fake.n_open == 0 && i < 1000; i++)
        assert_true(sd_event_run(event, 10000) >= 0);
    assert_true(fake.n_open > 0);
}

/* ---- Tests ---- */

static void in_order(void **state)
{
    (void)state;
    assert_true(reg_idle(registry));
    put_text("/s", "1");
    put_text("/s/c/a", "2");
    assert_false(reg_idle(registry));
    turn();
    logged("put /s=1;put /s/c/a=2;");
    end(0);
    assert_int_equal(idle_calls, 0);
    end(0);
    assert_true(idle_calls > 0);
    reg_remove(registry, "/s/c/a");
    turn();
    logged("remove /s/c/a;");
    end(0);
    assert_int_equal(reg_counts(registry).known, 1);
    assert_int_equal(reg_counts(registry).written, 2);
    assert_int_equal(reg_counts(registry).removed, 1);
}

static void the_newest_wins(void **state)
{
    (void)state;
    put_text("/a", "1");
    put_text("/a", "2");
    turn();
    logged("put /a=2;");
    put_text("/a", "3");
    put_text("/a", "4");
    turn();
    logged(""); /* one request a path */
    end(0);
    logged("put /a=4;");
    reg_remove(registry, "/a");
    end(0);
    logged("remove /a;");
    put_text("/a", "5");
    end(0);
    logged("put /a=5;");
    end(0);
    assert_true(reg_idle(registry));
}

static void never_arrived(void **state)
{
    (void)state;
    put_text("/a", "1");
    reg_remove(registry, "/a");
    reg_remove(registry, "/unknown");
    turn();
    logged("");
    assert_int_equal(reg_counts(registry).known, 0);
}

static void bounded_requests(void **state)
{
    char path[16];

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        (void)snprintf(path, sizeof(path), "/%u", i);
        put_text(path, "x");
    }
    turn();
    assert_int_equal(fake.n_open, 64);
    while (fake.n_open > 0)
        end(0);
    assert_int_equal(fake.most_open, 64);
    assert_int_equal(reg_counts(registry).written, 200);
}

/* A record of before the outage is removed after it; one that came and went meanwhile never is
 * written. */
static void away_and_back(void **state)
{
    (void)state;
    put_text("/a", "1");
    put_text("/b", "1");
    turn();
    end(0);
    end(0);
    fake.refuse = -ENOTCONN;
    put_text("/a", "2");
    turn();
    assert_true(reg_counts(registry).away);
    assert_true(reg_idle(registry)); /* the master need not wait for it */
    fake.log[0] = '\0';
    put_text("/a", "3");
    put_text("/c", "1");
    reg_remove(registry, "/b");
    reg_remove(registry, "/c");
    logged(""); /* not before its time, in a turn of the loop */
    fake.refuse = 0;
    wait_for_request();
    logged("put /a=3;"); /* one finds out */
    end(0);
    logged("remove /b;");
    end(0);
    assert_false(reg_counts(registry).away);
    assert_int_equal(reg_counts(registry).known, 1);
    assert_int_equal(news[REG_AWAY], 1);
    assert_int_equal(news[REG_BACK], 1);
}

/* The back end tells that it is back: no timer is waited for. */
static void told_that_it_is_back(void **state)
{
    (void)state;
    fake.refuse = -ENOTCONN;
    put_text("/a", "1");
    turn();
    logged("put /a=1;");
    fake.refuse = 0;
    fake.base.ready(fake.base.userdata);
    turn();
    logged("put /a=1;");
    end(0);
}

/* A request that was open when the connection broke may have been done. */
static void lost_requests(void **state)
{
    (void)state;
    put_text("/a", "1");
    turn();
    reg_remove(registry, "/a");
    end(-ENOTCONN);
    fake.log[0] = '\0';
    wait_for_request();
    logged("remove /a;");
    end(-ENOTCONN);
    fake.log[0] = '\0';
    wait_for_request();
    logged("remove /a;");
    end(0);
    assert_int_equal(reg_counts(registry).known, 0);
}

static void refusals_are_final(void **state)
{
    (void)state;
    put_text("/a", "1");
    put_text("/b", "1");
    turn();
    logged("put /a=1;put /b=1;");
    end(-EACCES);
    end(0);
    logged("");
    assert_true(reg_idle(registry));
    assert_false(reg_counts(registry).away);
    assert_int_equal(reg_counts(registry).failed, 1);
    assert_int_equal(news[REG_REFUSED], 1);
}

/* A tree is removed alone, and nothing that waited below it comes back. */
static void trees(void **state)
{
    (void)state;
    put_text("/s/c/a", "1");
    turn();
    put_text("/s/c/a", "2");
    put_text("/s/c/b", "1");
    put_text("/t", "1");
    assert_int_equal(reg_remove_tree(registry, "/s"), 0);
    fake.log[0] = '\0';
    turn();
    logged("put /t=1;");
    end(-ENOTCONN); /* of /s/c/a, which is not tried again */
    end(0);
    logged("tree /s;");
    put_text("/s", "3");
    turn();
    logged("");
    end(0);
    logged("put /s=3;");
    end(0);
    assert_int_equal(reg_counts(registry).known, 2);
}

static void with_children_of_others(void **state)
{
    (void)state;
    assert_int_equal(reg_known(registry, "/s"), 0);
    reg_remove(registry, "/s");
    turn();
    end(-ENOTEMPTY);
    assert_true(reg_idle(registry));
    assert_int_equal(reg_counts(registry).known, 0);
}

static void sweeping(void **state)
{
    char *const names[] = { "a", "b", "c" };

    (void)state;
    assert_int_equal(reg_known(registry, "/s/a"), 0);
    put_text("/s/b", "1");
    reg_sweep(registry, "/s");
    turn();
    logged("put /s/b=1;"); /* first what is wanted there */
    end(0);
    logged("list /s;");
    end_list(names, 3);
    logged("tree /s/c;");
    end(0);
    assert_true(reg_idle(registry));
}

static void freed_with_open_requests(void **state)
{
    (void)state;
    put_text("/a", "1");
    put_text("/b", "1");
    reg_sweep(registry, "/");
    turn();
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, new_registry, free_registry)
    const struct CMUnitTest tests[] = {
        T(in_order),      T(the_newest_wins),         T(never_arrived), T(bounded_requests),
        T(away_and_back), T(told_that_it_is_back),    T(lost_requests), T(refusals_are_final),
        T(trees),         T(with_children_of_others), T(sweeping),      T(freed_with_open_requests),
    };
#undef T

    return cmocka_run_group_tests(tests, NULL, NULL);
}
