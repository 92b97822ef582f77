/* Fixture of test-cache and test-cache-recovery: the localizer's cache, with the test in the roles
 * of its owner and of the localizers at the far end of each channel. */
#ifndef SELVEDGE_TESTS_UNIT_LOCALIZER_CACHE_FIXTURE_H
#define SELVEDGE_TESTS_UNIT_LOCALIZER_CACHE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fd.h"
#include "localizer/cache.h"

#define PROCESSES 8

/* Calls that the owner received. */
struct fixture {
    sd_event *event;
    struct loc_cache *cache;
    struct loc_config config;
    char dir[64];
    int far[PROCESSES + 1]; /* the test's end of process n's channel */
    unsigned started, stopped;
    bool start_fails;
    int pick, store_result;
    unsigned localized, failed, ready, part; /* part: of the last */
    struct yarn_container_id last;
    char path[512], text[1024];
    struct loc_counters counters;
    unsigned n_started, n_completed, n_removed, n_remove;
    char removed_rel[LOC_REL_MAX + 1];
    struct loc_scope scope;
    char scope_user[64];
    bool release_in_ready;
    const char *waiting;     /* urls that begin so have no credentials yet */
    const char *credentials; /* of others, or NULL: none */
    bool no_credentials;     /* there will be none */
    unsigned n_refused;
    bool others; /* after a refusal */
};

static inline int on_start(void *userdata, uint64_t process, const struct loc_scope *scope,
                           int *ret, struct sv_error *err)
{
    struct fixture *w = userdata;
    int s[2];

    if (w->start_fails)
        return sv_error_set(err, -EACCES, "helper refused: no such user");
    assert_true(process >= 1 && process <= PROCESSES);
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, s), 0);
    w->far[process] = s[1];
    w->started++;
    w->scope = *scope;
    (void)snprintf(w->scope_user, sizeof(w->scope_user), "%s", scope->user ? scope->user : "");
    *ret = s[0];
    return 0;
}

static inline void on_stop(void *userdata, uint64_t process)
{
    struct fixture *w = userdata;

    w->stopped++;
    w->far[process] = sv_close(w->far[process]);
}

static inline int on_pick(void *userdata, uint64_t process, int64_t size)
{
    (void)process;
    (void)size;
    return ((struct fixture *)userdata)->pick;
}

static inline void on_remove(void *userdata, const struct loc_record *r)
{
    struct fixture *w = userdata;

    w->n_remove++;
    (void)snprintf(w->removed_rel, sizeof(w->removed_rel), "%s", r->rel);
}

static inline int on_started(void *userdata, const struct loc_record *r)
{
    struct fixture *w = userdata;

    assert_true(r->id >= 10 && loc_rel_valid(r->rel));
    w->n_started++;
    return w->store_result;
}

static inline int on_completed(void *userdata, const struct loc_record *r)
{
    (void)r;
    ((struct fixture *)userdata)->n_completed++;
    return 0;
}

static inline void on_removed(void *userdata, const struct loc_record *r)
{
    (void)r;
    ((struct fixture *)userdata)->n_removed++;
}

static inline void on_localized(void *userdata, struct yarn_container_id c, unsigned part,
                                unsigned index, const char *path)
{
    struct fixture *w = userdata;

    (void)index;
    w->part = part;
    w->localized++;
    w->last = c;
    (void)snprintf(w->path, sizeof(w->path), "%s", path);
}

static inline void on_failed(void *userdata, struct yarn_container_id c, unsigned part,
                             unsigned index, const char *text)
{
    struct fixture *w = userdata;

    (void)index;
    w->part = part;
    w->failed++;
    w->last = c;
    (void)snprintf(w->text, sizeof(w->text), "%s", text);
}

static inline void on_ready(void *userdata, struct yarn_container_id c, unsigned part,
                            const struct loc_counters *k)
{
    struct fixture *w = userdata;

    w->part = part;
    w->ready++;
    w->counters = *k;
    if (w->release_in_ready)
        loc_cache_release(w->cache, c, part);
}

static inline int on_credentials(void *userdata, struct yarn_container_id c,
                                 const struct loc_resource *r, int *ret, struct sv_error *err)
{
    struct fixture *w = userdata;

    (void)c;
    if (w->waiting && !strncmp(r->url, w->waiting, strlen(w->waiting)))
        return 1;
    if (w->no_credentials)
        return sv_error_set(err, -EACCES, "no token: the KDC is away");
    if (w->credentials) {
        *ret = sv_memfd_sealed("credentials", w->credentials, strlen(w->credentials));
        assert_true(*ret >= 0);
    }
    return 0;
}

static inline bool on_refused(void *userdata, const struct loc_resource *r)
{
    struct fixture *w = userdata;

    assert_int_equal(r->visibility, LOC_PUBLIC);
    w->n_refused++;
    return w->others;
}

static const struct loc_callbacks callbacks = {
    .start = on_start,
    .stop = on_stop,
    .pick_dir = on_pick,
    .credentials = on_credentials,
    .refused = on_refused,
    .remove = on_remove,
    .on_started = on_started,
    .on_completed = on_completed,
    .on_removed = on_removed,
    .localized = on_localized,
    .failed = on_failed,
    .ready = on_ready,
};

static inline void make_cache(struct fixture *w)
{
    const char *dirs[] = { w->dir, "/nonexistent/second" };

    w->config.local_dirs = dirs;
    w->config.n_local_dirs = 2;
    assert_int_equal(loc_cache_new(w->event, &w->config, &callbacks, w, &w->cache, NULL), 0);
    w->config.local_dirs = NULL;
}

static inline int set_up(void **state)
{
    struct fixture *w = calloc(1, sizeof(*w));

    if (!w || sd_event_new(&w->event) < 0)
        return -1;
    for (int i = 0; i <= PROCESSES; i++)
        w->far[i] = -1;
    (void)snprintf(w->dir, sizeof(w->dir), "/tmp/selvedge-test-cache.XXXXXX");
    if (!mkdtemp(w->dir))
        return -1;
    loc_config_defaults(&w->config);
    w->config.orphan_ms = 0;
    make_cache(w);
    *state = w;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *w = *state;
    int tmp;

    sv_clock_reset(); /* left frozen by a failed test: the next ones would wait for ever */
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

static inline struct yarn_container_id container(int app, int n)
{
    return (struct yarn_container_id){ .attempt = { .app = { 1700000000000, app }, .attempt = 1 },
                                       .id = n };
}

static inline struct loc_resource file(const char *url, enum loc_visibility v)
{
    return (struct loc_resource){
        .url = url, .timestamp = 5, .size = 100, .type = LOC_FILE, .visibility = v
    };
}

static inline void ask(struct fixture *w, struct yarn_container_id c, const char *user,
                       struct loc_resource r)
{
    assert_int_equal(loc_cache_localize(w->cache, c, 0, user, &r, 1, NULL), 0);
}

/* Runs the loop until no source is ready. */
static inline void settle(struct fixture *w)
{
    while (sd_event_run(w->event, 0) > 0)
        ;
}

static inline void wait_until(struct fixture *w, const unsigned *counter, unsigned value)
{
    int64_t end = sv_now_ms() + 60000; /* only for hangs */

    while (*counter < value) {
        assert_true(sv_now_ms() < end);
        assert_true(sd_event_run(w->event, 100000) >= 0);
    }
}

static inline struct loc_msg take(struct fixture *w, int process)
{
    struct loc_msg m = { 0 };

    settle(w);
    assert_int_equal(loc_msg_recv(w->far[process], LOC_PEER_NM, &m), 1);
    return m;
}

/* As take(); *ret_with: the message has credentials. */
static inline struct loc_msg take_with(struct fixture *w, int process, bool *ret_with)
{
    struct loc_msg m = { 0 };
    int fd = -1;

    settle(w);
    assert_int_equal(loc_msg_recv_with(w->far[process], LOC_PEER_NM, &m, &fd), 1);
    *ret_with = fd >= 0;
    sv_close(fd);
    return m;
}

static inline void nothing(struct fixture *w, int process)
{
    struct loc_msg m;

    settle(w);
    assert_int_equal(loc_msg_recv(w->far[process], LOC_PEER_NM, &m), -EAGAIN);
}

/* As the localizer does: the entry is on disk when DONE is sent. */
static inline void put_entry(struct fixture *w, const char *cache, const char *rel)
{
    char path[512];

    (void)snprintf(path, sizeof(path), "%s/%s/%s", w->dir, cache, rel);
    assert_int_equal(sv_mkdir_p(path, 0755), 0);
}

static inline void say_done(struct fixture *w, int process, const struct loc_msg *asked,
                            uint64_t size)
{
    struct loc_msg m = { .type = LOC_MSG_DONE, .request = asked->request };

    m.done.size = size;
    m.done.entries = 1;
    assert_int_equal(loc_msg_send(w->far[process], &m), 0);
    settle(w);
}

static inline void say_failed(struct fixture *w, int process, const struct loc_msg *asked,
                              enum loc_fail reason, const char *text)
{
    struct loc_msg m = { .type = LOC_MSG_FAILED, .request = asked->request };

    m.failed.reason = (uint8_t)reason;
    (void)snprintf(m.failed.text, sizeof(m.failed.text), "%s", text);
    assert_int_equal(loc_msg_send(w->far[process], &m), 0);
    settle(w);
}

static inline struct loc_stats stats(struct fixture *w)
{
    struct loc_stats s;

    loc_cache_stats(w->cache, &s);
    return s;
}

static inline struct loc_tally tally(struct fixture *w, enum loc_visibility v)
{
    return stats(w).of[v];
}

/* Localizes and releases a PUBLIC entry. */
static inline void localize_public(struct fixture *w, int process, const char *url, int n)
{
    struct loc_msg m;

    ask(w, container(1, n), "joe", file(url, LOC_PUBLIC));
    m = take(w, process);
    put_entry(w, "filecache", m.fetch.rel);
    say_done(w, process, &m, 100);
    loc_cache_release(w->cache, container(1, n), 0);
    settle(w);
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

#endif
