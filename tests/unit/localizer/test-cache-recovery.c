/* Tests localizer/cache-recovery.c and cache-hierarchy.c: eviction, bad disks, recovery after a
 * restart, directories. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "tests/unit/localizer/cache-fixture.h"

static void test_lru(void **state)
{
    struct fixture *w = *state;

    loc_cache_free(w->cache);
    w->config.target_size = 250;
    make_cache(w);
    sv_clock_set_test(1000, 1000);
    localize_public(w, 1, "file:///one", 1);
    sv_clock_set_test(2000, 2000);
    localize_public(w, 1, "file:///two", 2);
    assert_int_equal(loc_cache_cleanup(w->cache), 0);
    sv_clock_set_test(3000, 3000);
    localize_public(w, 1, "file:///three", 3);
    sv_clock_set_test(4000, 4000);
    ask(w, container(1, 4), "joe",
        file("file:///one", LOC_PUBLIC)); /* used again, and referenced */
    settle(w);
    assert_int_equal(loc_cache_cleanup(w->cache), 1);
    settle(w);
    assert_string_equal(w->removed_rel, "11"); /* two */
    ask(w, container(1, 5), "joe", file("file:///three", LOC_PUBLIC));
    settle(w);
    assert_int_equal(tally(w, LOC_PUBLIC).bytes, 200);
    w->n_remove = 0;
    localize_public(w, 1, "file:///four", 6);
    assert_int_equal(loc_cache_cleanup(w->cache), 1); /* only entries without references */
    settle(w);
    assert_string_equal(w->removed_rel, "13");
    sv_clock_reset();
}

static void test_vanished(void **state)
{
    struct fixture *w = *state;
    char path[512];
    struct loc_msg m;

    localize_public(w, 1, "file:///a/x", 1);
    (void)snprintf(path, sizeof(path), "%s/filecache/10", w->dir);
    assert_int_equal(rmdir(path), 0);
    ask(w, container(1, 2), "joe", file("file:///a/x", LOC_PUBLIC));
    m = take(w, 1);
    assert_string_equal(m.fetch.rel, "11");
    assert_int_equal(w->n_removed, 1);
    assert_int_equal(w->n_remove, 0);
    assert_int_equal(tally(w, LOC_PUBLIC).bytes, 0);
}

static void test_bad_disk(void **state)
{
    struct fixture *w = *state;

    localize_public(w, 1, "file:///a/x", 1);
    ask(w, container(1, 2), "joe", file("file:///a/x", LOC_PUBLIC));
    settle(w);
    loc_cache_dir_failed(w->cache, 0, false);
    settle(w);
    assert_int_equal(w->n_removed, 0); /* held */
    ask(w, container(1, 3), "joe", file("file:///a/x", LOC_PUBLIC));
    assert_string_equal(take(w, 2).fetch.rel, "11"); /* by a process that opens the disk anew */
    loc_cache_release(w->cache, container(1, 2), 0);
    settle(w);
    assert_int_equal(w->n_removed + w->n_remove, 0); /* the record waits for the disk */
}

static void test_full_disk(void **state)
{
    struct fixture *w = *state;

    localize_public(w, 1, "file:///a/x", 1);
    loc_cache_dir_failed(w->cache, 0, true);
    settle(w);
    assert_int_equal(w->n_remove, 1); /* which makes space */
    assert_int_equal(tally(w, LOC_PUBLIC).entries, 0);
}

/* A download that continues on the bad disk is not served; queued requests move to the new
 * process. */
static void test_bad_disk_meanwhile(void **state)
{
    struct fixture *w = *state;
    struct loc_msg first;

    loc_cache_free(w->cache);
    w->config.parallel_public = 1;
    make_cache(w);
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PUBLIC));
    ask(w, container(1, 2), "joe", file("file:///a/y", LOC_PUBLIC));
    first = take(w, 1);
    loc_cache_dir_failed(w->cache, 0, false);
    settle(w);
    assert_string_equal(take(w, 2).fetch.url, "file:///a/y");
    say_done(w, 1, &first, 100);
    assert_int_equal(w->failed, 1);
    assert_non_null(strstr(w->text, "its local directory became full, went bad or was replaced"));
    assert_int_equal(w->n_removed + w->n_remove + w->n_completed, 0);
    wait_until(w, &w->stopped, 1);
}

static void test_app_finished(void **state)
{
    struct fixture *w = *state;
    struct loc_msg m;
    struct yarn_app_id app = container(1, 0).attempt.app;

    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_APPLICATION));
    m = take(w, 1);
    put_entry(w, "usercache/joe/appcache/application_1700000000000_0001/filecache", m.fetch.rel);
    say_done(w, 1, &m, 100);
    ask(w, container(1, 2), "joe", file("file:///a/y", LOC_APPLICATION));
    settle(w);
    ask(w, container(1, 3), "joe", file("file:///a/z", LOC_APPLICATION));
    for (int i = 1; i <= 3; i++)
        loc_cache_release(w->cache, container(1, i), 0);
    loc_cache_app_finished(w->cache, app);
    settle(w);
    assert_int_equal(w->stopped, 1);
    assert_int_equal(tally(w, LOC_APPLICATION).entries, 0);
    assert_int_equal(tally(w, LOC_APPLICATION).bytes, 0);
    assert_int_equal(w->n_removed + w->n_remove, 2);
    ask(w, container(1, 4), "joe", file("file:///a/x", LOC_APPLICATION));
    assert_string_equal(take(w, 2).fetch.rel, "10"); /* a new tracker */
}

static struct loc_record record(struct fixture *w)
{
    return (struct loc_record){ .visibility = LOC_PRIVATE,
                                .user = "joe",
                                .resource = file("file:///a/x", LOC_PRIVATE),
                                .local_dir = w->dir,
                                .dir_number = 1,
                                .id = 77,
                                .local_size = 100,
                                .rel = "0/77" };
}

static void test_recovery(void **state)
{
    struct fixture *w = *state;
    struct loc_record r = record(w);

    assert_int_equal(loc_cache_recover(w->cache, &r, true, NULL), 0);
    put_entry(w, "usercache/joe/filecache", "0/77");
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PRIVATE));
    settle(w);
    assert_int_equal(w->ready, 1);
    assert_non_null(strstr(w->path, "/usercache/joe/filecache/0/77/x"));
    assert_int_equal(w->started, 0);
    assert_int_equal(tally(w, LOC_PRIVATE).bytes, 100);
    r.resource.url = "file:///a/unfinished";
    r.id = 90;
    r.rel = "0/90";
    assert_int_equal(loc_cache_recover(w->cache, &r, false, NULL), 0);
    settle(w);
    assert_int_equal(w->n_remove, 1);
    assert_string_equal(w->removed_rel, "0/90");
    ask(w, container(1, 2), "joe", file("file:///a/new", LOC_PRIVATE));
    assert_string_equal(take(w, 1).fetch.rel, "91");
    r.local_dir = "/gone";
    r.id = 95;
    r.rel = "0/95";
    r.resource.url = "file:///a/elsewhere";
    assert_int_equal(loc_cache_recover(w->cache, &r, true, NULL), 0);
    settle(w);
    assert_int_equal(w->n_removed, 1);
}

/* The localizer of a daemon that died may write for a while: what it left is deleted after that,
 * when everything else has long been. */
static void test_orphans(void **state)
{
    struct fixture *w = *state;
    struct loc_record r = record(w);
    int64_t begun = sv_now_ms();

    loc_cache_free(w->cache);
    w->config.orphan_ms = 300;
    w->config.idle_ms = 20; /* it looks twice in that time */
    make_cache(w);
    assert_int_equal(loc_cache_recover(w->cache, &r, false, NULL), 0);
    settle(w);
    assert_true(w->n_remove == 0 || sv_now_ms() - begun >= 300);
    while (w->n_remove == 0)
        assert_true(sd_event_run(w->event, UINT64_MAX) >= 0);
    assert_true(sv_now_ms() - begun >= 300);
    assert_string_equal(w->removed_rel, r.rel);
}

/* A resource that was fetched again while its disk was away is on record twice: the later one
 * stays. */
static void test_recovery_of_two(void **state)
{
    struct fixture *w = *state;
    struct loc_record older = record(w), later = record(w);

    later.id = 78;
    later.rel = "0/78";
    for (int i = 0; i < 2; i++) {
        assert_int_equal(loc_cache_recover(w->cache, i ? &later : &older, true, NULL), 0);
        assert_int_equal(loc_cache_recover(w->cache, i ? &older : &later, true, NULL), 0);
        settle(w);
        assert_int_equal(w->n_remove, i + 1);
        assert_string_equal(w->removed_rel, "0/77");
        assert_int_equal(tally(w, LOC_PRIVATE).entries, 1);
        loc_cache_free(w->cache);
        make_cache(w);
    }
}

/* A node without a network: nothing is fetched from other machines, cached resources are used. */
static void test_no_network(void **state)
{
    struct fixture *w = *state;
    struct loc_record done = record(w);
    struct loc_resource r[] = { file("file:///a/x", LOC_PRIVATE),
                                file("https://h/y?z", LOC_PRIVATE) };
    struct sv_error err = { 0 };

    loc_cache_free(w->cache);
    w->config.no_network = "the setting is none";
    make_cache(w);
    done.resource.url = "http://h/x";
    assert_int_equal(loc_cache_recover(w->cache, &done, true, NULL), 0);
    put_entry(w, "usercache/joe/filecache", "0/77");
    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), 0, "joe", r, 2, &err), -EPERM);
    assert_string_equal(err.text, "Resource https://h/y?z is not fetched: the setting is none");
    settle(w);
    assert_int_equal(w->started, 0); /* nor is the file of the same container */
    ask(w, container(1, 2), "joe", done.resource);
    settle(w);
    assert_int_equal(w->ready, 1);
    assert_int_equal(w->started, 0);
    r[0].url = done.resource.url;
    assert_int_equal(loc_cache_localize(w->cache, container(1, 3), 0, "ann", r, 1, &err), -EPERM);
    r[0].url = "file:///a/x";
    ask(w, container(1, 4), "joe", r[0]);
    settle(w);
    assert_int_equal(w->started, 1);
}

static void test_reserved_ids(void **state)
{
    struct fixture *w = *state;
    struct yarn_app_id none = { 0 };

    assert_int_equal(loc_cache_reserve(w->cache, LOC_PRIVATE, "joe", none, 40), 0);
    assert_int_equal(loc_cache_reserve(w->cache, LOC_PRIVATE, "joe", none, 30), 0);
    assert_int_equal(loc_cache_reserve(w->cache, LOC_PRIVATE, "a/b", none, 30), -EINVAL);
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PRIVATE));
    assert_string_equal(take(w, 1).fetch.rel, "41");
    ask(w, container(1, 2), "ann", file("file:///a/x", LOC_PRIVATE));
    assert_string_equal(take(w, 2).fetch.rel, "10");
}

static void test_broken_records(void **state)
{
    struct fixture *w = *state;
    struct loc_record r;

#define BROKEN(change)                                                                             \
    do {                                                                                           \
        r = record(w);                                                                             \
        change;                                                                                    \
        assert_int_equal(loc_cache_recover(w->cache, &r, true, NULL), -EINVAL);                    \
    } while (0)
    BROKEN(r.rel = "../77");
    BROKEN(r.rel = "1/77");
    BROKEN(r.rel = NULL);
    BROKEN(r.id = 9);
    BROKEN(r.user = "../joe");
    BROKEN(r.user = NULL);
    BROKEN(r.visibility = 0);
    BROKEN(r.local_dir = NULL);
    BROKEN(r.resource.url = "x");
#undef BROKEN
    settle(w);
    assert_int_equal(w->n_remove + w->n_removed, 0);
}

static void test_hierarchy(void **state)
{
    static const struct {
        uint32_t number;
        const char *path;
    } known[] = {
        { 0, "" },     { 1, "0" },    { 10, "9" },   { 11, "a" },     { 36, "z" },
        { 37, "0/0" }, { 72, "0/z" }, { 73, "1/0" }, { 1296, "y/z" }, { 1297, "0/0/0" },
    };
    struct fixture *w = *state;
    char buf[LOC_HIERARCHY_MAX], url[32];
    struct loc_msg m;

    for (size_t i = 0; i < SV_ARRAY_LEN(known); i++)
        assert_string_equal(loc_hierarchy_path(known[i].number, buf), known[i].path);
    assert_true(strlen(loc_hierarchy_path(UINT32_MAX, buf)) < sizeof(buf));
    loc_cache_free(w->cache);
    w->config.max_files_per_dir = 38; /* two entries per directory */
    make_cache(w);
    for (int i = 0; i < 5; i++) {
        static const char *const rel[] = { "10", "11", "0/12", "0/13", "1/14" };

        (void)snprintf(url, sizeof(url), "file:///f%d", i);
        ask(w, container(1, i), "joe", file(url, LOC_PUBLIC));
        m = take(w, 1);
        assert_string_equal(m.fetch.rel, rel[i]);
        say_done(w, 1, &m, 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_lru),          T(test_vanished),
        T(test_bad_disk),     T(test_bad_disk_meanwhile),
        T(test_full_disk),    T(test_recovery_of_two),
        T(test_app_finished), T(test_recovery),
        T(test_orphans),      T(test_no_network),
        T(test_reserved_ids), T(test_broken_records),
        T(test_hierarchy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
