/* localizer/cache.c and its parts, with a localizer played by the test on the far end of the
 * channel: one download for many, failures, cancelling, hostile answers, eviction, recovery. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "localizer/cache.h"

#define PROCESSES 8

/* What the owner has seen. */
struct world {
    sd_event *event;
    struct loc_cache *cache;
    struct loc_config config;
    char dir[64];
    int far[PROCESSES + 1]; /* the test's end of process n's channel */
    unsigned started, stopped;
    bool start_fails;
    int pick, store_result;
    unsigned localized, failed, ready;
    struct yarn_container_id last;
    char path[512], text[1024];
    struct loc_counters counters;
    unsigned n_started, n_completed, n_removed, n_remove;
    char removed_rel[LOC_REL_MAX + 1];
    struct loc_scope scope;
    char scope_user[64];
    bool release_in_ready;
};

static int on_start(void *userdata, uint64_t process, const struct loc_scope *scope, int *ret,
                    struct sv_error *err)
{
    struct world *w = userdata;
    int s[2];

    if (w->start_fails)
        return sv_error_set(err, -EACCES, "helper refused: no such user");
    assert_true(process >= 1 && process <= PROCESSES);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, s), 0);
    w->far[process] = s[1];
    w->started++;
    w->scope = *scope;
    (void)snprintf(w->scope_user, sizeof w->scope_user, "%s", scope->user ? scope->user : "");
    *ret = s[0];
    return 0;
}

static void on_stop(void *userdata, uint64_t process)
{
    struct world *w = userdata;

    w->stopped++;
    w->far[process] = sv_close(w->far[process]);
}

static int on_pick(void *userdata, int64_t size)
{
    (void)size;
    return ((struct world *)userdata)->pick;
}

static void on_remove(void *userdata, const struct loc_record *r)
{
    struct world *w = userdata;

    w->n_remove++;
    (void)snprintf(w->removed_rel, sizeof w->removed_rel, "%s", r->rel);
}

static int on_started(void *userdata, const struct loc_record *r)
{
    struct world *w = userdata;

    assert_true(r->id >= 10 && loc_rel_valid(r->rel));
    w->n_started++;
    return w->store_result;
}

static int on_completed(void *userdata, const struct loc_record *r)
{
    (void)r;
    ((struct world *)userdata)->n_completed++;
    return 0;
}

static void on_removed(void *userdata, const struct loc_record *r)
{
    (void)r;
    ((struct world *)userdata)->n_removed++;
}

static void on_localized(void *userdata, struct yarn_container_id c, unsigned index,
                         const char *path)
{
    struct world *w = userdata;

    (void)index;
    w->localized++;
    w->last = c;
    (void)snprintf(w->path, sizeof w->path, "%s", path);
}

static void on_failed(void *userdata, struct yarn_container_id c, unsigned index, const char *text)
{
    struct world *w = userdata;

    (void)index;
    w->failed++;
    w->last = c;
    (void)snprintf(w->text, sizeof w->text, "%s", text);
}

static void on_ready(void *userdata, struct yarn_container_id c, const struct loc_counters *k)
{
    struct world *w = userdata;

    w->ready++;
    w->counters = *k;
    if (w->release_in_ready)
        loc_cache_release(w->cache, c);
}

static const struct loc_callbacks callbacks = {
    .start = on_start,         .stop = on_stop,           .pick_dir = on_pick,
    .remove = on_remove,       .on_started = on_started,  .on_completed = on_completed,
    .on_removed = on_removed,  .localized = on_localized, .failed = on_failed,
    .ready = on_ready,
};

static void make_cache(struct world *w)
{
    const char *dirs[] = { w->dir, "/nonexistent/second" };

    w->config.local_dirs = dirs;
    w->config.n_local_dirs = 2;
    assert_int_equal(loc_cache_new(w->event, &w->config, &callbacks, w, &w->cache, NULL), 0);
    w->config.local_dirs = NULL;
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);

    if (!w || sd_event_new(&w->event) < 0)
        return -1;
    for (int i = 0; i <= PROCESSES; i++)
        w->far[i] = -1;
    (void)snprintf(w->dir, sizeof w->dir, "/tmp/selvedge-test-cache.XXXXXX");
    if (!mkdtemp(w->dir))
        return -1;
    loc_config_defaults(&w->config);
    make_cache(w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    int tmp;

    loc_cache_free(w->cache);
    sd_event_unref(w->event);
    for (int i = 0; i <= PROCESSES; i++)
        sv_close(w->far[i]);
    tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    (void)!sv_remove_tree_at(tmp, strrchr(w->dir, '/') + 1);
    sv_close(tmp);
    free(w);
    return 0;
}

static struct yarn_container_id container(int app, int n)
{
    return (struct yarn_container_id){ .attempt = { .app = { 1700000000000, app }, .attempt = 1 },
                                       .id = n };
}

static struct loc_resource file(const char *url, enum loc_visibility v)
{
    return (struct loc_resource){ .url = url, .timestamp = 5, .size = 100, .type = LOC_FILE,
                                  .visibility = v };
}

static void ask(struct world *w, struct yarn_container_id c, const char *user,
                struct loc_resource r)
{
    assert_int_equal(loc_cache_localize(w->cache, c, user, &r, 1, NULL), 0);
}

/* Runs the loop until nothing is left to do at once. */
static void settle(struct world *w)
{
    while (sd_event_run(w->event, 0) > 0)
        ;
}

static void wait_until(struct world *w, const unsigned *counter, unsigned value)
{
    int64_t end = sv_now_ms() + 10000;

    while (*counter < value) {
        assert_true(sv_now_ms() < end);
        assert_true(sd_event_run(w->event, 100000) >= 0);
    }
}

static struct loc_msg take(struct world *w, int process)
{
    struct loc_msg m = { 0 };

    settle(w);
    assert_int_equal(loc_msg_recv(w->far[process], LOC_PEER_NM, &m), 1);
    return m;
}

static void nothing(struct world *w, int process)
{
    struct loc_msg m;

    settle(w);
    assert_int_equal(loc_msg_recv(w->far[process], LOC_PEER_NM, &m), -EAGAIN);
}

/* As the localizer would: the entry is on disk when DONE is sent. */
static void put_entry(struct world *w, const char *cache, const char *rel)
{
    char path[512];

    (void)snprintf(path, sizeof path, "%s/%s/%s", w->dir, cache, rel);
    assert_int_equal(sv_mkdir_p(path, 0755), 0);
}

static void say_done(struct world *w, int process, const struct loc_msg *asked, uint64_t size)
{
    struct loc_msg m = { .type = LOC_MSG_DONE, .request = asked->request };

    m.done.size = size;
    m.done.entries = 1;
    assert_int_equal(loc_msg_send(w->far[process], &m), 0);
    settle(w);
}

static void say_failed(struct world *w, int process, const struct loc_msg *asked,
                       enum loc_fail reason, const char *text)
{
    struct loc_msg m = { .type = LOC_MSG_FAILED, .request = asked->request };

    m.failed.reason = (uint8_t)reason;
    (void)snprintf(m.failed.text, sizeof m.failed.text, "%s", text);
    assert_int_equal(loc_msg_send(w->far[process], &m), 0);
    settle(w);
}

static struct loc_stats stats(struct world *w)
{
    struct loc_stats s;

    loc_cache_stats(w->cache, &s);
    return s;
}

/* PUBLIC entry from nothing to LOCALIZED and released. */
static void localize_public(struct world *w, int process, const char *url, int n)
{
    struct loc_msg m;

    ask(w, container(1, n), "joe", file(url, LOC_PUBLIC));
    m = take(w, process);
    put_entry(w, "filecache", m.fetch.rel);
    say_done(w, process, &m, 100);
    loc_cache_release(w->cache, container(1, n));
    settle(w);
}

static void test_one_download_for_many(void **state)
{
    struct world *w = *state;
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
    (void)snprintf(wanted, sizeof wanted, "%s/filecache/10/x", w->dir);
    assert_string_equal(w->path, wanted);
    assert_int_equal(w->counters.bytes_missed, 100);
    ask(w, container(60, 1), "eve", file("file:///a/x", LOC_PUBLIC)); /* a hit */
    settle(w);
    assert_int_equal(w->ready, 51);
    assert_int_equal(w->counters.bytes_cached, 100);
    assert_int_equal(w->counters.files_missed, 0);
    assert_int_equal(stats(w).hits, 50);
    assert_int_equal(stats(w).misses, 1);
    assert_int_equal(stats(w).bytes_public, 100);
}

static void test_keys(void **state)
{
    struct world *w = *state;
    struct loc_resource r[] = { file("file:///a/x", LOC_PUBLIC), file("file:///a/x", LOC_PUBLIC),
                                file("file:///a/x", LOC_PUBLIC), file("file:///a/x", LOC_PRIVATE),
                                file("file:///a/x", LOC_APPLICATION),
                                file("file:///a/x", LOC_PUBLIC) };

    r[1].timestamp = 6;
    r[2].type = LOC_ARCHIVE;
    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), "joe", r, 6, NULL), 0);
    settle(w);
    assert_int_equal(w->started, 2); /* PUBLIC; PRIVATE and APPLICATION share one */
    assert_int_equal(stats(w).misses, 5);
    assert_int_equal(stats(w).hits, 1);
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

static void test_failure(void **state)
{
    struct world *w = *state;
    struct loc_msg m;

    for (int i = 1; i <= 3; i++)
        ask(w, container(1, i), "joe", file("file:///a/x", LOC_PRIVATE));
    m = take(w, 1);
    say_failed(w, 1, &m, LOC_FAIL_CHANGED, "Resource file:///a/x changed on src filesystem");
    assert_int_equal(w->failed, 3);
    assert_string_equal(w->text, "Resource file:///a/x changed on src filesystem");
    assert_int_equal(w->n_removed, 1);
    assert_int_equal(w->n_remove, 0); /* the localizer has cleaned up */
    loc_cache_release(w->cache, container(1, 1));
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PRIVATE)); /* tried again */
    m = take(w, 1);
    assert_string_equal(m.fetch.rel, "11");
    say_failed(w, 1, &m, LOC_FAIL_LEFTOVER, "disk");
    assert_int_equal(w->n_remove, 1);
    assert_string_equal(w->removed_rel, "11");
    assert_int_equal(stats(w).failures, 2);
}

static void test_partial_failure(void **state)
{
    struct world *w = *state;
    struct loc_resource r[] = { file("file:///a", LOC_PUBLIC), file("file:///b", LOC_PUBLIC),
                                file("file:///c", LOC_PUBLIC) };
    struct loc_msg a, b, c;

    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), "joe", r, 3, NULL), 0);
    a = take(w, 1);
    b = take(w, 1);
    c = take(w, 1);
    say_done(w, 1, &a, 100);
    say_failed(w, 1, &b, LOC_FAIL_SOURCE, "no");
    say_failed(w, 1, &c, LOC_FAIL_SOURCE, "neither");
    assert_int_equal(w->failed, 1); /* once a container */
    assert_string_equal(w->text, "no");
    assert_int_equal(w->ready, 0);
}

static void test_cancel(void **state)
{
    struct world *w = *state;
    struct loc_msg m, cancel;

    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PUBLIC));
    ask(w, container(1, 2), "joe", file("file:///a/x", LOC_PUBLIC));
    m = take(w, 1);
    loc_cache_release(w->cache, container(1, 1));
    nothing(w, 1); /* one still waits */
    loc_cache_release(w->cache, container(1, 2));
    cancel = take(w, 1);
    assert_int_equal(cancel.type, LOC_MSG_CANCEL);
    assert_int_equal(cancel.request, m.request);
    say_done(w, 1, &m, 100); /* it was faster */
    assert_int_equal(w->n_remove, 1);
    assert_int_equal(w->localized + w->failed, 0);
    assert_int_equal(stats(w).entries, 0);
}

static void test_cancel_in_queue(void **state)
{
    struct world *w = *state;
    char url[32];
    struct loc_msg first, next;

    for (int i = 0; i < 6; i++) {
        (void)snprintf(url, sizeof url, "file:///f%d", i);
        ask(w, container(1, i), "joe", file(url, LOC_PUBLIC));
    }
    first = take(w, 1);
    for (int i = 1; i < 4; i++)
        (void)take(w, 1);
    nothing(w, 1); /* four at once */
    loc_cache_release(w->cache, container(1, 4));
    say_done(w, 1, &first, 100);
    next = take(w, 1);
    assert_string_equal(next.fetch.url, "file:///f5");
    assert_int_equal(w->n_started, 5); /* f4 was never recorded */
    assert_int_equal(w->n_remove + w->n_removed, 0);
}

static void test_process_dies(void **state)
{
    struct world *w = *state;
    char url[32];

    for (int i = 0; i < 6; i++) {
        (void)snprintf(url, sizeof url, "file:///f%d", i);
        ask(w, container(1, i), "joe", file(url, LOC_PUBLIC));
    }
    settle(w);
    w->far[1] = sv_close(w->far[1]);
    settle(w);
    assert_int_equal(w->failed, 4);
    assert_non_null(strstr(w->text, "ended before it had answered"));
    assert_int_equal(w->n_remove, 4);
    assert_int_equal(w->stopped, 1);
    assert_int_equal(w->started, 2); /* for the two that had not been asked for */
    (void)take(w, 2);
    (void)take(w, 2);
    loc_cache_process_failed(w->cache, 2, "helper: status 7");
    settle(w);
    assert_int_equal(w->failed, 6);
    assert_string_equal(w->text, "helper: status 7");
}

static void test_start_fails(void **state)
{
    struct world *w = *state;

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

static void test_no_disk_and_no_store(void **state)
{
    struct world *w = *state;

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

static void hostile(struct world *w, unsigned round, const void *data, size_t n)
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
    struct world *w = *state;
    struct loc_msg m = { .type = LOC_MSG_DONE, .request = 12345 };
    uint8_t buf[LOC_MSG_MAX] = { 0 };
    int n;

    hostile(w, 1, buf, 100);
    n = loc_msg_encode(&m, buf); /* a request that nobody made */
    hostile(w, 2, buf, (size_t)n);
    m.request = 3;
    m.done.size = 99; /* not what was asked for */
    n = loc_msg_encode(&m, buf);
    hostile(w, 3, buf, (size_t)n);
    m = (struct loc_msg){ .type = LOC_MSG_CANCEL, .request = 4 };
    n = loc_msg_encode(&m, buf); /* not its part */
    hostile(w, 4, buf, (size_t)n);
    memset(buf, 'x', sizeof buf);
    hostile(w, 5, buf, sizeof buf);
    assert_int_equal(stats(w).entries, 0);
}

static void test_progress_floods_and_stalls(void **state)
{
    struct world *w = *state;
    struct loc_msg m, p = { .type = LOC_MSG_PROGRESS };

    loc_cache_free(w->cache);
    w->config.stall_ms = 50;
    make_cache(w);
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PUBLIC));
    m = take(w, 1);
    p.request = m.request;
    for (int i = 0; i < 1000; i++)
        if (loc_msg_send(w->far[1], &p) == -EAGAIN)
            settle(w);
    settle(w);
    assert_int_equal(w->failed, 0);
    wait_until(w, &w->failed, 1); /* now it is silent */
    assert_non_null(strstr(w->text, "no sign of life"));
    assert_int_equal(w->stopped, 1);
}

static void test_idle(void **state)
{
    struct world *w = *state;

    loc_cache_free(w->cache);
    w->config.idle_ms = 20;
    make_cache(w);
    localize_public(w, 1, "file:///a/x", 1);
    assert_int_equal(w->stopped, 0);
    wait_until(w, &w->stopped, 1);
    assert_int_equal(stats(w).processes, 0);
    assert_int_equal(stats(w).entries, 1);
}

static void test_lru(void **state)
{
    struct world *w = *state;

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
    ask(w, container(1, 4), "joe", file("file:///one", LOC_PUBLIC)); /* used again, and held */
    settle(w);
    assert_int_equal(loc_cache_cleanup(w->cache), 1);
    settle(w);
    assert_string_equal(w->removed_rel, "11"); /* two */
    ask(w, container(1, 5), "joe", file("file:///three", LOC_PUBLIC));
    settle(w);
    assert_int_equal(stats(w).bytes_public, 200);
    w->n_remove = 0;
    localize_public(w, 1, "file:///four", 6);
    assert_int_equal(loc_cache_cleanup(w->cache), 1); /* only what nobody holds */
    settle(w);
    assert_string_equal(w->removed_rel, "13");
    sv_clock_reset();
}

static void test_vanished(void **state)
{
    struct world *w = *state;
    char path[512];
    struct loc_msg m;

    localize_public(w, 1, "file:///a/x", 1);
    (void)snprintf(path, sizeof path, "%s/filecache/10", w->dir);
    assert_int_equal(rmdir(path), 0);
    ask(w, container(1, 2), "joe", file("file:///a/x", LOC_PUBLIC));
    m = take(w, 1);
    assert_string_equal(m.fetch.rel, "11");
    assert_int_equal(w->n_removed, 1);
    assert_int_equal(w->n_remove, 0);
    assert_int_equal(stats(w).bytes_public, 0);
}

static void test_bad_disk(void **state)
{
    struct world *w = *state;

    localize_public(w, 1, "file:///a/x", 1);
    ask(w, container(1, 2), "joe", file("file:///a/x", LOC_PUBLIC));
    settle(w);
    loc_cache_dir_failed(w->cache, 0);
    settle(w);
    assert_int_equal(w->n_removed, 0); /* held */
    ask(w, container(1, 3), "joe", file("file:///a/x", LOC_PUBLIC));
    assert_string_equal(take(w, 1).fetch.rel, "11");
    loc_cache_release(w->cache, container(1, 2));
    settle(w);
    assert_int_equal(w->n_removed, 1);
    assert_int_equal(w->n_remove, 0);
}

static void test_app_finished(void **state)
{
    struct world *w = *state;
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
        loc_cache_release(w->cache, container(1, i));
    loc_cache_app_finished(w->cache, app);
    settle(w);
    assert_int_equal(w->stopped, 1);
    assert_int_equal(stats(w).entries, 0);
    assert_int_equal(stats(w).bytes_application, 0);
    assert_int_equal(w->n_removed + w->n_remove, 2);
    ask(w, container(1, 4), "joe", file("file:///a/x", LOC_APPLICATION));
    assert_string_equal(take(w, 2).fetch.rel, "10"); /* a tracker of its own again */
}

static struct loc_record record(struct world *w)
{
    return (struct loc_record){ .visibility = LOC_PRIVATE, .user = "joe",
                                .resource = file("file:///a/x", LOC_PRIVATE), .local_dir = w->dir,
                                .dir_number = 1, .id = 77, .local_size = 100, .rel = "0/77" };
}

static void test_recovery(void **state)
{
    struct world *w = *state;
    struct loc_record r = record(w);

    assert_int_equal(loc_cache_recover(w->cache, &r, true, NULL), 0);
    assert_int_equal(loc_cache_recover(w->cache, &r, true, NULL), -EINVAL);
    put_entry(w, "usercache/joe/filecache", "0/77");
    ask(w, container(1, 1), "joe", file("file:///a/x", LOC_PRIVATE));
    settle(w);
    assert_int_equal(w->ready, 1);
    assert_non_null(strstr(w->path, "/usercache/joe/filecache/0/77/x"));
    assert_int_equal(w->started, 0);
    assert_int_equal(stats(w).bytes_private, 100);
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

static void test_reserved_ids(void **state)
{
    struct world *w = *state;
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
    struct world *w = *state;
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

static void test_bad_requests(void **state)
{
    struct world *w = *state;
    struct loc_resource bad = file("file:///../x", LOC_PUBLIC), good = file("file:///x", LOC_PUBLIC);
    struct loc_resource both[] = { good, bad };

    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), "joe", both, 2, NULL), -EINVAL);
    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), "a/b", &good, 1, NULL), -EINVAL);
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
    assert_int_equal(loc_cache_localize(w->cache, container(1, 1), "joe", &good, 1, NULL), -EEXIST);
    assert_int_equal(loc_cache_localize(w->cache, container(1, 2), "joe", NULL, 0, NULL), 0);
    settle(w);
    assert_int_equal(w->ready, 1); /* nothing to wait for */
}

static void test_release_in_callback(void **state)
{
    struct world *w = *state;

    w->release_in_ready = true;
    localize_public(w, 1, "file:///a/x", 1);
    for (int i = 2; i < 20; i++)
        ask(w, container(1, i), "joe", file("file:///a/x", LOC_PUBLIC));
    settle(w);
    assert_int_equal(w->ready, 19);
}

static void test_hierarchy(void **state)
{
    static const struct {
        uint32_t number;
        const char *path;
    } known[] = {
        { 0, "" },       { 1, "0" },      { 10, "9" },       { 11, "a" },       { 36, "z" },
        { 37, "0/0" },   { 72, "0/z" },   { 73, "1/0" },     { 1296, "y/z" },
        { 1297, "0/0/0" },
    };
    struct world *w = *state;
    char buf[LOC_HIERARCHY_MAX], url[32];
    struct loc_msg m;

    for (size_t i = 0; i < SV_ARRAY_LEN(known); i++)
        assert_string_equal(loc_hierarchy_path(known[i].number, buf), known[i].path);
    assert_true(strlen(loc_hierarchy_path(UINT32_MAX, buf)) < sizeof buf);
    loc_cache_free(w->cache);
    w->config.max_files_per_dir = 38; /* two entries a directory */
    make_cache(w);
    for (int i = 0; i < 5; i++) {
        static const char *const rel[] = { "10", "11", "0/12", "0/13", "1/14" };

        (void)snprintf(url, sizeof url, "file:///f%d", i);
        ask(w, container(1, i), "joe", file(url, LOC_PUBLIC));
        m = take(w, 1);
        assert_string_equal(m.fetch.rel, rel[i]);
        say_done(w, 1, &m, 100);
    }
}

/* Every cell of the table that is not declared refuses; the graph has the states. */
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

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_one_download_for_many),
        T(test_keys),
        T(test_failure),
        T(test_partial_failure),
        T(test_cancel),
        T(test_cancel_in_queue),
        T(test_process_dies),
        T(test_start_fails),
        T(test_no_disk_and_no_store),
        T(test_hostile_localizer),
        T(test_progress_floods_and_stalls),
        T(test_idle),
        T(test_lru),
        T(test_vanished),
        T(test_bad_disk),
        T(test_app_finished),
        T(test_recovery),
        T(test_reserved_ids),
        T(test_broken_records),
        T(test_bad_requests),
        T(test_release_in_callback),
        T(test_hierarchy),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
