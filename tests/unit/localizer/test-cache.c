/* Tests localizer/cache.c and cache-entry.c: one download for many containers, keys, ids, failures,
 * cancellation. test-cache-process tests localizers, test-cache-recovery the contents of the disk.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "localizer/cache-internal.h"
#include "tests/unit/localizer/cache-fixture.h"

static void test_one_download_for_many(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m;
    char wanted[600];

    for (int i = 1; i <= 50; i++)
        ask(w, container(i, 1), i % 2 ? "joe" : "ann", file("file:///a/x", LOC_PUBLIC));
    m = take(w, 1);
    nothing(w, 1);
    assert_true(w->scope.public_cache);
    assert_string_equal(m.fetch.url, "file:///a/x");
    assert_string_equal(m.fetch.rel, "10");
    assert_string_equal(m.fetch.name, "x");
    assert_int_equal(m.fetch.size, 100);
    assert_int_equal(w->n_started, 1);
    assert_int_equal(w->ready, 0);
    put_entry(w, "filecache", "10");
    say_done(w, 1, &m, 100);
    assert_int_equal(w->localized, 50);
    assert_int_equal(w->ready, 50);
    assert_int_equal(w->n_completed, 1);
    (void)snprintf(wanted, sizeof(wanted), "%s/filecache/10/x", w->dir);
    assert_string_equal(w->path, wanted);
    assert_int_equal(w->counters.bytes_missed, 100);
    ask(w, container(60, 1), "eve", file("file:///a/x", LOC_PUBLIC)); /* a hit */
    settle(w);
    assert_int_equal(w->ready, 51);
    assert_int_equal(w->counters.bytes_cached, 100);
    assert_int_equal(w->counters.files_missed, 0);
    assert_int_equal(tally(w, LOC_PUBLIC).hits, 50);
    assert_int_equal(tally(w, LOC_PUBLIC).misses, 1);
    assert_int_equal(tally(w, LOC_PUBLIC).bytes, 100);
    assert_int_equal(tally(w, LOC_PUBLIC).hit_bytes, 5000);
    assert_int_equal(tally(w, LOC_PUBLIC).downloads, 1);
}

/* A request of what is there wakes its own container alone: others may hold it many times. */
static void test_request_wakes_one(void **state)
{
    struct fixture *w = *state;
    struct loc_resource r = file("file:///a/x", LOC_PUBLIC);
    struct cache_request *q;
    struct loc_msg m;
    int dirty = 0;

    for (int i = 1; i <= 3; i++)
        ask(w, container(1, i), "joe", r);
    m = take(w, 1);
    put_entry(w, "filecache", "10");
    say_done(w, 1, &m, 100);
    assert_int_equal(w->ready, 3);
    assert_int_equal(loc_cache_localize(w->cache, container(1, 4), 0, "joe", &r, 1, NULL), 0);
    DL_FOREACH (w->cache->dirty, q)
        dirty++;
    assert_int_equal(dirty, 1);
    settle(w);
    assert_int_equal(w->ready, 4);
}

static void test_keys(void **state)
{
    struct fixture *w = *state;
    struct loc_resource r[] = {
        file("file:///a/x", LOC_PUBLIC),      file("file:///a/x", LOC_PUBLIC),
        file("file:///a/x", LOC_PUBLIC),      file("file:///a/x", LOC_PRIVATE),
        file("file:///a/x", LOC_APPLICATION), file("file:///a/x", LOC_PUBLIC)
    };

    r[1].timestamp = 6;
    r[2].type = LOC_ARCHIVE;
    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), 0, "joe", r, 6, NULL), 0);
    settle(w);
    assert_int_equal(w->started, 2); /* PUBLIC; PRIVATE and APPLICATION share one */
    assert_int_equal(tally(w, LOC_PUBLIC).misses, 3);
    assert_int_equal(tally(w, LOC_PUBLIC).hits, 1);
    assert_int_equal(tally(w, LOC_PRIVATE).misses, 1);
    assert_int_equal(tally(w, LOC_APPLICATION).misses, 1);
    assert_int_equal(tally(w, LOC_APPLICATION).miss_bytes, 100);
    assert_string_equal(take(w, 1).fetch.rel, "10");
    assert_string_equal(take(w, 1).fetch.rel, "11");
    assert_string_equal(take(w, 1).fetch.rel, "12");
    assert_int_equal(take(w, 2).fetch.visibility, LOC_PRIVATE);
    assert_int_equal(take(w, 2).fetch.visibility, LOC_APPLICATION);
    assert_string_equal(w->scope_user, "joe");
    ask(w, container(1, 2), "ann", file("file:///a/x", LOC_PRIVATE)); /* not joe's */
    settle(w);
    assert_int_equal(w->started, 3);
}

/* Some ApplicationMasters send a size of 0, which means unknown. */
static void test_no_size(void **state)
{
    struct fixture *w = *state;
    struct loc_resource r = file("file:///a/x", LOC_PUBLIC);
    struct loc_msg m;

    r.size = 0;
    ask(w, container(1, 1), "joe", r);
    m = take(w, 1);
    assert_int_equal(m.fetch.size, -1);
    say_done(w, 1, &m, 5000);
    assert_int_equal(w->ready, 1);
    assert_int_equal(tally(w, LOC_PUBLIC).bytes, 5000);
}

static void test_size_not_verified(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m;

    loc_cache_free(w->cache);
    w->config.verify_size = false;
    make_cache(w);
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PUBLIC));
    m = take(w, 1);
    assert_int_equal(m.fetch.size, -1);
    say_done(w, 1, &m, 5000);
    assert_int_equal(w->ready, 1);
}

/* Has no size of its own: that of the request is of another kind. */
static void test_directory(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m, done = { .type = LOC_MSG_DONE, .done = { 5000, 3, 1 } };

    ask(w, container(1, 1), "joe", file("hdfs://nn/dir", LOC_PUBLIC));
    m = take(w, 1);
    done.request = m.request;
    assert_int_equal(loc_msg_send(w->far[1], &done), 0);
    settle(w);
    assert_int_equal(w->ready, 1);
}

/* Entries of a run whose records are lost have the first ids: more than are tried one by one. */
static void test_taken_ids(void **state)
{
    struct fixture *w = *state;
    unsigned tries = 1, last;
    struct loc_msg m;

    for (int i = 1; i <= 2; i++)
        ask(w, container(1, i), "joe", file("file:///a/x", LOC_PRIVATE));
    m = take(w, 1);
    while ((last = (unsigned)strtoul(m.fetch.rel, NULL, 10)) < 10 + 66) {
        say_failed(w, 1, &m, LOC_FAIL_TAKEN, "File exists");
        m = take(w, 1);
        tries++;
    }
    assert_true(tries < 10);
    assert_int_equal(w->n_started, tries);
    assert_int_equal(w->n_removed, tries - 1);
    assert_int_equal(w->n_remove, 0); /* not ours to delete */
    assert_int_equal(w->failed, 0);
    put_entry(w, "usercache/joe/filecache", m.fetch.rel);
    say_done(w, 1, &m, 100);
    assert_int_equal(w->ready, 2);
    ask(w, container(1, 3), "joe", file("file:///a/y", LOC_PRIVATE)); /* goes on from there */
    assert_int_equal(strtoul(take(w, 1).fetch.rel, NULL, 10), last + 1);
}

/* A localizer that never finds a place: hostile, or the disk is. */
static void test_all_ids_taken(void **state)
{
    struct fixture *w = *state;
    unsigned tries = 0;

    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PRIVATE));
    while (w->failed == 0) {
        struct loc_msg m = take(w, 1);

        say_failed(w, 1, &m, LOC_FAIL_TAKEN, "cannot publish the entry: File exists");
        assert_true(++tries < 100);
    }
    assert_int_equal(tries, 21);
    assert_string_equal(w->text, "cannot publish the entry: File exists");
    assert_int_equal(w->n_removed, w->n_started);
    assert_int_equal(stats(w).downloading, 0);
}

static void test_failure(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m;

    for (int i = 1; i <= 3; i++)
        ask(w, container(1, i), "joe", file("file:///a/x", LOC_PRIVATE));
    m = take(w, 1);
    say_failed(w, 1, &m, LOC_FAIL_CHANGED, "Resource file:///a/x changed on src filesystem");
    assert_int_equal(w->failed, 3);
    assert_string_equal(w->text, "Resource file:///a/x changed on src filesystem");
    assert_int_equal(w->n_removed, 1);
    assert_int_equal(w->n_remove, 0); /* the localizer has cleaned up */
    loc_cache_release(w->cache, container(1, 1), 0);
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PRIVATE)); /* retried */
    m = take(w, 1);
    assert_string_equal(m.fetch.rel, "11");
    say_failed(w, 1, &m, LOC_FAIL_LEFTOVER, "disk");
    assert_int_equal(w->n_remove, 1);
    assert_string_equal(w->removed_rel, "11");
    assert_int_equal(tally(w, LOC_PRIVATE).failures, 2);
}

static void test_partial_failure(void **state)
{
    struct fixture *w = *state;
    struct loc_resource r[] = { file("file:///a", LOC_PUBLIC), file("file:///b", LOC_PUBLIC),
                                file("file:///c", LOC_PUBLIC) };
    struct loc_msg a, b, c;

    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), 0, "joe", r, 3, NULL), 0);
    a = take(w, 1);
    b = take(w, 1);
    c = take(w, 1);
    say_done(w, 1, &a, 100);
    say_failed(w, 1, &b, LOC_FAIL_SOURCE, "no");
    say_failed(w, 1, &c, LOC_FAIL_SOURCE, "neither");
    assert_int_equal(w->failed, 1); /* once per container */
    assert_string_equal(w->text, "no");
    assert_int_equal(w->ready, 0);
}

static void test_cancel(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m, cancel;

    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PUBLIC));
    ask(w, container(1, 2), "joe", file("file:///a/x", LOC_PUBLIC));
    m = take(w, 1);
    loc_cache_release(w->cache, container(1, 1), 0);
    nothing(w, 1); /* one still waits */
    loc_cache_release(w->cache, container(1, 2), 0);
    cancel = take(w, 1);
    assert_int_equal(cancel.type, LOC_MSG_CANCEL);
    assert_int_equal(cancel.request, m.request);
    say_done(w, 1, &m, 100); /* it finished before the cancellation */
    assert_int_equal(w->n_remove, 1);
    assert_int_equal(w->localized + w->failed, 0);
    assert_int_equal(tally(w, LOC_PUBLIC).entries, 0);
}

static void test_cancel_in_queue(void **state)
{
    struct fixture *w = *state;
    char url[32];
    struct loc_msg first, next;

    for (int i = 0; i < 6; i++) {
        (void)snprintf(url, sizeof(url), "file:///f%d", i);
        ask(w, container(1, i), "joe", file(url, LOC_PUBLIC));
    }
    first = take(w, 1);
    for (int i = 1; i < 4; i++)
        (void)take(w, 1);
    nothing(w, 1); /* four at once */
    loc_cache_release(w->cache, container(1, 4), 0);
    say_done(w, 1, &first, 100);
    next = take(w, 1);
    assert_string_equal(next.fetch.url, "file:///f5");
    assert_int_equal(w->n_started, 5); /* f4 was never recorded */
    assert_int_equal(w->n_remove + w->n_removed, 0);
}

static void ask_many(struct fixture *w, int app, int n)
{
    struct loc_resource *r = calloc((size_t)n, sizeof(*r));
    char(*urls)[32] = calloc((size_t)n, sizeof(*urls));

    assert_true(r && urls);
    for (int i = 0; i < n; i++) {
        (void)snprintf(urls[i], sizeof(urls[i]), "file:///app%d/f%d", app, i);
        r[i] = file(urls[i], i % 2 ? LOC_PRIVATE : LOC_APPLICATION);
    }
    assert_int_equal(
        loc_cache_localize(w->cache, container(app, 1), 0, "joe", r, (unsigned)n, NULL), 0);
    free(r);
    free(urls);
}

/* 16 concurrent downloads over all applications; the next one is started for the application with
 * the fewest, and an application without any does not wait. */
static void test_fair_by_application(void **state)
{
    struct fixture *w = *state;
    struct loc_msg of1[16], m;

    ask_many(w, 1, LOC_RESOURCES_MAX);
    for (int i = 0; i < 16; i++)
        of1[i] = take(w, 1);
    nothing(w, 1);
    ask_many(w, 2, 1); /* all 16 are taken */
    m = take(w, 2);
    assert_string_equal(m.fetch.url, "file:///app2/f0");
    say_done(w, 2, &m, 100);
    assert_int_equal(w->ready, 1);
    nothing(w, 1);
    ask_many(w, 3, 3);
    m = take(w, 3);
    nothing(w, 3);
    say_done(w, 1, &of1[0], 100); /* 15 and one */
    nothing(w, 1);
    nothing(w, 3);
    say_done(w, 1, &of1[1], 100); /* 14 and one: the place is not app 1's */
    nothing(w, 1);
    assert_string_equal(take(w, 3).fetch.url, "file:///app3/f1");
    ask(w, container(1, 2), "joe", file("file:///public", LOC_PUBLIC)); /* not among the 16 */
    assert_string_equal(take(w, 4).fetch.url, "file:///public");
    say_done(w, 3, &m, 100);
    assert_string_equal(take(w, 3).fetch.url, "file:///app3/f2");
    nothing(w, 1);
}

static void test_no_disk_and_no_store(void **state)
{
    struct fixture *w = *state;

    w->pick = -ENOSPC;
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PRIVATE));
    settle(w);
    assert_int_equal(w->failed, 1);
    assert_non_null(strstr(w->text, "no local directory"));
    w->pick = 1;
    w->store_result = -EIO;
    ask(w, container(1, 2), "joe", file("file:///a/x", LOC_PRIVATE));
    settle(w);
    assert_int_equal(w->failed, 2);
    assert_non_null(strstr(w->text, "state store"));
    assert_int_equal(w->n_remove + w->n_removed, 0);
}

static void test_bad_requests(void **state)
{
    struct fixture *w = *state;
    struct loc_resource bad = file("file:///../x", LOC_PUBLIC),
                        good = file("file:///x", LOC_PUBLIC);
    struct loc_resource both[] = { good, bad };

    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), 0, "joe", both, 2, NULL),
                     -EINVAL);
    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), 0, "a/b", &good, 1, NULL),
                     -EINVAL);
    bad = good;
    bad.type = 4;
    assert_int_equal(loc_resource_check(&bad, NULL), -EINVAL);
    bad = good;
    bad.pattern = "x";
    assert_int_equal(loc_resource_check(&bad, NULL), -EINVAL);
    bad = good;
    bad.timestamp = -1;
    assert_int_equal(loc_resource_check(&bad, NULL), -EINVAL);
    settle(w);
    assert_int_equal(w->started, 0);
    ask(w, container(1, 1), "joe", good);
    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), 0, "joe", &good, 1, NULL),
                     -EEXIST);
    assert_int_equal(loc_cache_localize(w->cache, container(1, 2), 0, "joe", NULL, 0, NULL), 0);
    settle(w);
    assert_int_equal(w->ready, 1); /* no resources */
}

/* Two requests of one container: each is told of its own, and released by itself. */
static void test_parts(void **state)
{
    struct fixture *w = *state;
    struct loc_resource a = file("file:///a/x", LOC_PUBLIC), b = file("file:///a/y", LOC_PUBLIC);
    struct loc_resource_progress got;

    localize_public(w, 1, "file:///a/x", 1);
    assert_int_equal(loc_cache_localize(w->cache, container(1, 9), 0, "joe", &a, 1, NULL), 0);
    settle(w);
    assert_true(w->ready == 2 && w->part == 0);
    assert_int_equal(loc_cache_localize(w->cache, container(1, 9), 7, "joe", &a, 1, NULL), 0);
    assert_int_equal(loc_cache_localize(w->cache, container(1, 9), 7, "joe", &b, 1, NULL), -EEXIST);
    settle(w);
    assert_true(w->ready == 3 && w->part == 7);
    loc_cache_release(w->cache, container(1, 9), 0);
    assert_int_equal(loc_cache_progress(w->cache, container(1, 9), 0, 0, &got), -ENOENT);
    assert_int_equal(loc_cache_progress(w->cache, container(1, 9), 7, 0, &got), 0);
    loc_cache_release(w->cache, container(1, 9), 7);
}

static void test_release_in_callback(void **state)
{
    struct fixture *w = *state;

    w->release_in_ready = true;
    localize_public(w, 1, "file:///a/x", 1);
    for (int i = 2; i < 20; i++)
        ask(w, container(1, i), "joe", file("file:///a/x", LOC_PUBLIC));
    settle(w);
    assert_int_equal(w->ready, 19);
}

/* Every undeclared cell of the table rejects its event; the graph has the states. */
static void test_table(void **state)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    (void)state;
    sv_fsm_print_dot(&loc_entry_fsm, f);
    fclose(f);
    assert_non_null(strstr(text, "DOWNLOADING"));
    free(text);
    for (int s = 1; s < loc_entry_fsm.n_states; s++)
        for (int e = 1; e < loc_entry_fsm.n_events; e++) {
            const struct sv_fsm_cell *c = &loc_entry_fsm.cells[s * loc_entry_fsm.n_events + e];
            int now = s;

            if (c->next == SV_FSM_REFUSED)
                assert_int_equal(sv_fsm_run(&loc_entry_fsm, &now, e, NULL, NULL), -EPROTO);
            assert_int_equal(now, s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_one_download_for_many),
        T(test_request_wakes_one),
        T(test_keys),
        T(test_no_size),
        T(test_size_not_verified),
        T(test_directory),
        T(test_taken_ids),
        T(test_all_ids_taken),
        T(test_failure),
        T(test_partial_failure),
        T(test_cancel),
        T(test_cancel_in_queue),
        T(test_fair_by_application),
        T(test_no_disk_and_no_store),
        T(test_bad_requests),
        T(test_parts),
        T(test_release_in_callback),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
