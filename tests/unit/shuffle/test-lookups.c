/* Tests shuffle/lookups.c: turns of many connections of one job and of a few of another, as threads
 * take them. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "shuffle/lookups.h"

#define GREEDY "job_1_0001"
#define OTHER "job_1_0002"

struct fixture {
    struct shf_lookups *q;
    int fd;
    struct shf_lookup l[100];
    const char *job[100];
    size_t n;
};

static int set_up(void **state)
{
    static struct fixture w;

    w = (struct fixture){ 0 };
    *state = &w;
    return shf_lookups_new(&w.q, &w.fd);
}

static int tear_down(void **state)
{
    struct fixture *w = *state;

    return shf_lookups_free(w->q) == NULL ? 0 : -1;
}

static bool signalled(const struct fixture *w)
{
    return poll(&(struct pollfd){ .fd = w->fd, .events = POLLIN }, 1, 0) == 1;
}

static struct shf_lookup *add(struct fixture *w, const char *job)
{
    struct shf_lookup *l = &w->l[w->n];

    l->owner = l;
    w->job[w->n++] = job;
    assert_int_equal(shf_lookups_add(w->q, job, l), 0);
    return l;
}

static const char *job_of(const struct fixture *w, const struct shf_lookup *l)
{
    return w->job[l - w->l];
}

static struct shf_lookup *take(struct fixture *w)
{
    struct shf_lookup *l;
    bool ready = signalled(w);

    l = shf_lookups_take(w->q);
    assert_true(ready == (l != NULL));
    return l;
}

/* Four threads: all for the only job, one for each of two. */
static void test_threads(void **state)
{
    struct fixture *w = *state;
    struct shf_lookup *running[4], *other;

    assert_null(take(w));
    for (int i = 0; i < 8; i++)
        add(w, GREEDY);
    for (int i = 0; i < 3; i++)
        running[i] = take(w);
    other = add(w, OTHER);
    assert_ptr_equal(take(w), other); /* before the five that have waited longer */
    add(w, OTHER);
    assert_null(take(w)); /* each has one, or more from before */
    for (int i = 0; i < 2; i++) {
        shf_lookups_done(w->q, running[i]);
        assert_null(take(w));
    }
    shf_lookups_done(w->q, running[2]);
    running[0] = take(w);
    assert_string_equal(job_of(w, running[0]), GREEDY);
    assert_null(take(w));
    shf_lookups_done(w->q, other);
    other = take(w);
    assert_string_equal(job_of(w, other), OTHER);
    running[1] = take(w); /* nobody else waits */
    running[2] = take(w);
    assert_non_null(running[2]);
    for (int i = 0; i < 3; i++)
        shf_lookups_done(w->q, running[i]);
    shf_lookups_done(w->q, other);
    while ((other = take(w)))
        shf_lookups_done(w->q, other);
}

/* One thread: of two jobs with 50 connections and one, each has every second turn. */
static void test_turns(void **state)
{
    struct fixture *w = *state;
    unsigned greedy = 0, others = 0;
    struct shf_lookup *l;

    for (int i = 0; i < 50; i++)
        add(w, GREEDY);
    add(w, OTHER);
    for (int i = 0; i < 40; i++) {
        const char *job;

        l = take(w);
        assert_non_null(l);
        job = job_of(w, l);
        *(job[9] == '1' ? &greedy : &others) += 1;
        shf_lookups_done(w->q, l);
        assert_int_equal(shf_lookups_add(w->q, job, l), 0);
    }
    assert_int_equal(greedy, 20);
    assert_int_equal(others, 20);
    while ((l = take(w)))
        shf_lookups_done(w->q, l);
    assert_false(signalled(w));
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = { T(test_threads), T(test_turns) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
