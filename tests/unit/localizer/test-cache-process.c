/* Tests localizer/cache-process.c with cache.c: localizers that end, fail, lie, flood or stall, and
 * credentials of downloads that are not there yet. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "localizer/cache-internal.h"
#include "tests/unit/localizer/cache-fixture.h"

static void test_process_dies(void **state)
{
    struct fixture *w = *state;
    char url[32];

    for (int i = 0; i < 6; i++) {
        (void)snprintf(url, sizeof(url), "file:///f%d", i);
        ask(w, container(1, i), "joe", file(url, LOC_PUBLIC));
    }
    settle(w);
    w->far[1] = sv_close(w->far[1]);
    settle(w);
    assert_int_equal(w->failed, 4);
    assert_non_null(strstr(w->text, "ended before it had answered"));
    assert_int_equal(w->n_remove, 4);
    assert_int_equal(w->stopped, 1);
    assert_int_equal(w->started, 2); /* for the two entries in the queue */
    (void)take(w, 2);
    (void)take(w, 2);
    loc_cache_process_failed(w->cache, 2, "helper: status 7");
    settle(w);
    assert_int_equal(w->failed, 6);
    assert_string_equal(w->text, "helper: status 7");
}

static void test_start_fails(void **state)
{
    struct fixture *w = *state;

    w->start_fails = true;
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PRIVATE));
    settle(w);
    assert_int_equal(w->failed, 1);
    assert_string_equal(w->text, "helper refused: no such user");
    assert_int_equal(w->n_started, 0);
    w->start_fails = false;
    ask(w, container(1, 2), "joe", file("file:///a/x", LOC_PRIVATE));
    settle(w);
    assert_int_equal(w->started, 1);
}

static void hostile(struct fixture *w, unsigned round, const void *data, size_t n)
{
    ask(w, container(1, (int)round), "joe", file("file:///a/x", LOC_PUBLIC));
    (void)take(w, (int)round);
    assert_int_equal(send(w->far[round], data, n, 0), (ssize_t)n);
    settle(w);
    assert_int_equal(w->stopped, round);
    assert_int_equal(w->failed, round);
    assert_non_null(strstr(w->text, "broke its protocol"));
}

static void test_hostile_localizer(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m = { .type = LOC_MSG_DONE, .request = 12345 };
    uint8_t buf[LOC_MSG_MAX] = { 0 };
    int n;

    hostile(w, 1, buf, 100);
    n = loc_msg_encode(&m, buf); /* an unknown request */
    hostile(w, 2, buf, (size_t)n);
    m.request = 3;
    m.done.size = 99; /* a size other than requested */
    n = loc_msg_encode(&m, buf);
    hostile(w, 3, buf, (size_t)n);
    m = (struct loc_msg){ .type = LOC_MSG_CANCEL, .request = 4 };
    n = loc_msg_encode(&m, buf); /* a message of the other side */
    hostile(w, 4, buf, (size_t)n);
    memset(buf, 'x', sizeof(buf));
    hostile(w, 5, buf, sizeof(buf));
    assert_int_equal(tally(w, LOC_PUBLIC).entries, 0);
}

static void test_progress_floods_and_stalls(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m, p = { .type = LOC_MSG_PROGRESS };

    loc_cache_free(w->cache);
    w->config.stall_ms = 4000; /* long enough for a starved machine */
    make_cache(w);
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PUBLIC));
    m = take(w, 1);
    p.request = m.request;
    for (int i = 0; i < 1000; i++)
        if (loc_msg_send(w->far[1], &p) == -EAGAIN)
            settle(w);
    settle(w);
    assert_int_equal(w->failed, 0);
    wait_until(w, &w->failed, 1); /* silent from now on */
    assert_non_null(strstr(w->text, "no sign of life"));
    assert_int_equal(w->stopped, 1);
}

static void test_progress(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m, p = { .type = LOC_MSG_PROGRESS, .progress.bytes = 40 };
    struct loc_resource_progress got;
    struct loc_resource r[] = { file("file:///a", LOC_PUBLIC), file("file:///b", LOC_PUBLIC) };

    r[1].size = 0;
    assert_int_equal(loc_cache_progress(w->cache, container(1, 1), 0, 0, &got), -ENOENT);
    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), 0, "joe", r, 2, NULL), 0);
    assert_int_equal(loc_cache_progress(w->cache, container(1, 1), 0, 0, &got), 0);
    assert_true(!got.ready && !got.downloading && got.bytes == 0 && got.total == 100);
    sv_clock_set_test(1000, 1000);
    m = take(w, 1);
    (void)take(w, 1);
    sv_clock_set_test(3000, 3000);
    p.request = m.request;
    assert_int_equal(loc_msg_send(w->far[1], &p), 0);
    settle(w);
    assert_int_equal(loc_cache_progress(w->cache, container(1, 1), 0, 0, &got), 0);
    assert_true(got.downloading && got.bytes == 40 && got.rate == 20);
    p.progress.bytes = UINT64_MAX; /* hostile: no overflow */
    assert_int_equal(loc_msg_send(w->far[1], &p), 0);
    say_done(w, 1, &m, 100);
    assert_int_equal(loc_cache_progress(w->cache, container(1, 1), 0, 0, &got), 0);
    assert_true(got.ready && !got.downloading && got.bytes == 100 && got.rate == 0);
    assert_int_equal(loc_cache_progress(w->cache, container(1, 1), 0, 1, &got), 0);
    assert_true(!got.ready && got.downloading && got.total == -1);
    assert_int_equal(loc_cache_progress(w->cache, container(1, 1), 0, 2, &got), -ENOENT);
    sv_clock_reset();
}

static void test_idle(void **state)
{
    struct fixture *w = *state;

    loc_cache_free(w->cache);
    w->config.idle_ms = 2000; /* the same */
    make_cache(w);
    localize_public(w, 1, "file:///a/x", 1);
    assert_int_equal(w->stopped, 0);
    wait_until(w, &w->stopped, 1);
    assert_int_equal(stats(w).processes, 0);
    assert_int_equal(tally(w, LOC_PUBLIC).entries, 1);
}

/* A download waits for its credentials; others of its localizer go on. */
static void test_credentials_wait(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m;
    bool with;

    w->waiting = "hdfs://nn/";
    ask(w, container(1, 1), "joe", file("hdfs://nn/a", LOC_PUBLIC));
    ask(w, container(1, 2), "joe", file("hdfs://nn/b", LOC_PUBLIC));
    ask(w, container(1, 3), "joe", file("file:///c", LOC_PUBLIC));
    m = take_with(w, 1, &with);
    assert_string_equal(m.fetch.url, "file:///c");
    assert_false(with);
    nothing(w, 1);
    loc_cache_credentials_came(w->cache); /* of another file system */
    nothing(w, 1);
    w->waiting = NULL;
    w->credentials = "HDTS";
    loc_cache_credentials_came(w->cache);
    m = take_with(w, 1, &with);
    assert_string_equal(m.fetch.url, "hdfs://nn/a");
    assert_true(with);
    say_done(w, 1, &m, 100);
    m = take_with(w, 1, &with);
    assert_string_equal(m.fetch.url, "hdfs://nn/b");
    say_done(w, 1, &m, 100);
    assert_int_equal(w->ready, 2);
    assert_int_equal(w->failed, 0);
    assert_int_equal(w->started, 1);
}

static void test_no_credentials(void **state)
{
    struct fixture *w = *state;

    w->waiting = "hdfs://nn/";
    ask(w, container(1, 1), "joe", file("hdfs://nn/a", LOC_PUBLIC));
    nothing(w, 1);
    w->waiting = NULL;
    w->no_credentials = true;
    loc_cache_credentials_came(w->cache);
    nothing(w, 1);
    assert_int_equal(w->failed, 1);
    assert_non_null(strstr(w->text, "the KDC is away"));
    assert_int_equal(w->n_started, 0); /* nothing is on record */
    ask(w, container(1, 2), "joe", file("hdfs://nn/a", LOC_PRIVATE));
    settle(w);
    assert_int_equal(w->failed, 2);
    assert_int_equal(w->n_remove, 0);
}

/* Whoever waits for them may go before they come. */
static void test_released_in_wait(void **state)
{
    struct fixture *w = *state;

    w->waiting = "hdfs://nn/";
    ask(w, container(1, 1), "joe", file("hdfs://nn/a", LOC_PUBLIC));
    ask(w, container(1, 2), "joe", file("hdfs://nn/b", LOC_PUBLIC));
    nothing(w, 1);
    loc_cache_release(w->cache, container(1, 1), 0);
    settle(w);
    w->waiting = NULL;
    loc_cache_credentials_came(w->cache);
    assert_string_equal(take(w, 1).fetch.url, "hdfs://nn/b");
    nothing(w, 1);
    w->waiting = "hdfs://nn/";
    ask(w, container(1, 3), "joe", file("hdfs://nn/c", LOC_PUBLIC));
    settle(w);
    w->far[1] = sv_close(w->far[1]); /* what waits goes to another localizer */
    wait_until(w, &w->failed, 1);
    w->waiting = NULL;
    loc_cache_credentials_came(w->cache);
    assert_string_equal(take(w, 2).fetch.url, "hdfs://nn/c");
}

/* Once, and only if there are others. */
static void test_credentials_refused(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m, again;

    w->others = true;
    ask(w, container(1, 1), "joe", file("hdfs://nn/a", LOC_PUBLIC));
    m = take(w, 1);
    say_failed(w, 1, &m, LOC_FAIL_AUTH, "InvalidToken");
    again = take(w, 1);
    assert_string_equal(again.fetch.rel, m.fetch.rel);
    assert_true(again.request > m.request);
    assert_int_equal(w->failed, 0);
    say_failed(w, 1, &again, LOC_FAIL_AUTH, "InvalidToken");
    assert_int_equal(w->n_refused, 1);
    assert_int_equal(w->failed, 1);
    assert_non_null(strstr(w->text, "InvalidToken"));
    assert_int_equal(w->n_removed, 1);
    w->others = false;
    ask(w, container(1, 2), "joe", file("hdfs://nn/b", LOC_PUBLIC));
    m = take(w, 1);
    say_failed(w, 1, &m, LOC_FAIL_AUTH, "InvalidToken");
    assert_int_equal(w->n_refused, 2);
    assert_int_equal(w->failed, 2);
    ask(w, container(1, 3), "joe", file("hdfs://nn/c", LOC_PRIVATE)); /* the job's own */
    m = take(w, 2);
    say_failed(w, 2, &m, LOC_FAIL_AUTH, "InvalidToken");
    assert_int_equal(w->n_refused, 2);
    assert_int_equal(w->failed, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_process_dies),      T(test_start_fails),
        T(test_hostile_localizer), T(test_progress_floods_and_stalls),
        T(test_progress),          T(test_idle),
        T(test_credentials_wait),  T(test_no_credentials),
        T(test_released_in_wait),  T(test_credentials_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
