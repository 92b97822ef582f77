/* store/state-store.c: records are read back as written, group commits call all waiters, and
 * foreign files are refused with a message. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/log.h"
#include "common/loop-guard.h"
#include "nodemanager/store/state-store.h"

static sd_event *event;
static char dir[] = "/tmp/selvedge-store-XXXXXX";
static char path[128];

static struct nm_store *open_store(void)
{
    struct nm_store *s = NULL;
    struct sv_error err = { 0 };

    if (nm_store_open(event, path, &s, &err) < 0)
        fail_msg("%s", err.text);
    return s;
}

static int fresh(void **state)
{
    (void)state;
    (void)unlink(path);
    return 0;
}

static int got_apps, got_containers, got_keys, got_tokens, got_deletions, got_logs, got_resources;

static int on_app(const struct nm_stored_app *a, void *u)
{
    (void)u;
    assert_string_equal(a->id, "application_1_0001");
    assert_string_equal(a->user, "alice");
    assert_string_equal(a->view_acl, "bob");
    assert_true(a->finished);
    got_apps++;
    return 0;
}

static int on_container(const struct nm_stored_container *c, void *u)
{
    (void)u;
    assert_string_equal(c->id, "container_1_0001_01_000001");
    assert_int_equal(c->request_len, 4);
    assert_memory_equal(c->request, "\0\1\2\3", 4);
    assert_int_equal(c->start_ms, 111);
    assert_int_equal(c->launch_ms, 222);
    assert_int_equal(c->finish_ms, 333);
    assert_true(c->launched && c->killed && c->completed && c->done);
    assert_int_equal(c->local_dir, 1);
    assert_int_equal(c->log_dir, 2);
    assert_int_equal(c->exit_code, -105);
    assert_int_equal(c->kill_code, -105);
    assert_string_equal(c->diagnostics, "why\nnot");
    assert_string_equal(c->assigned, "gpu=1");
    assert_string_equal(c->retry, "2 444");
    assert_int_equal(c->ended_ms, 555);
    got_containers++;
    return 0;
}

static int on_key(const char *name, const struct yarn_master_key *k, void *u)
{
    (void)u;
    assert_string_equal(name, "nm.current");
    assert_int_equal(k->key_id, -7);
    assert_int_equal(k->len, 8);
    assert_memory_equal(k->bytes, "\0abcdefg", 8);
    got_keys++;
    return 0;
}

static int on_token(const char *c, int64_t expiry, void *u)
{
    (void)u;
    assert_string_equal(c, "container_late");
    assert_int_equal(expiry, 2000);
    got_tokens++;
    return 0;
}

static int on_deletion(int64_t id, int64_t at, const char *task, void *u)
{
    (void)u;
    assert_int_equal(id, 5);
    assert_int_equal(at, 99);
    assert_string_equal(task, "task");
    got_deletions++;
    return 0;
}

static int on_log(const char *app, const char *user, int64_t at, void *u)
{
    (void)u;
    assert_string_equal(app, "application_1_0001");
    assert_string_equal(user, "alice");
    assert_int_equal(at, 77);
    got_logs++;
    return 0;
}

static int on_resource(const char *key, const void *v, size_t n, void *u)
{
    (void)u;
    assert_string_equal(key, "k");
    assert_memory_equal(v, "vv", n);
    got_resources++;
    return 0;
}

static int on_request(const void *request, size_t len, void *u)
{
    assert_int_equal(len, 4);
    assert_memory_equal(request, "\0\1\2\3", 4);
    return *(int *)u;
}

static void records_are_read_back(void **state)
{
    struct yarn_master_key key = { .key_id = -7, .len = 8 };
    struct nm_store *s = open_store();
    const char *id = "container_1_0001_01_000001";

    (void)state;
    memcpy(key.bytes, "\0abcdefg", 8);
    assert_int_equal(nm_store_app(s, "application_1_0001", "alice", "bob", " "), 0);
    assert_int_equal(nm_store_app(s, "application_1_0002", "alice", "bob", " "), 0);
    assert_int_equal(nm_store_app_remove(s, "application_1_0002"), 0);
    assert_int_equal(nm_store_app_finished(s, "application_1_0001"), 0);
    assert_int_equal(
        nm_store_container(s, id, "application_1_0001", "\0\1\2\3", 4, 111, 1, 2, "gpu=1"), 0);
    assert_int_equal(nm_store_container_again(s, id, "2 444", 555), 0);
    assert_int_equal(nm_store_container_launched(s, id, 222), 0);
    assert_int_equal(nm_store_container_killed(s, id, -105), 0);
    assert_int_equal(nm_store_container_completed(s, id, 143), 0);
    assert_int_equal(nm_store_container_done(s, id, -105, 333, "why\nnot"), 0);
    assert_int_equal(nm_store_key(s, "nm.current", &key), 0);
    assert_int_equal(nm_store_key(s, "gone", &key), 0);
    assert_int_equal(nm_store_key_remove(s, "gone"), 0);
    assert_int_equal(nm_store_used_token(s, "container_early", 1000), 0);
    assert_int_equal(nm_store_used_token(s, "container_late", 2000), 0);
    assert_int_equal(nm_store_used_tokens_expire(s, 1500), 0);
    assert_int_equal(nm_store_deletion(s, 5, 99, "task"), 0);
    assert_int_equal(nm_store_deletion(s, 6, 99, "task"), 0);
    assert_int_equal(nm_store_deletion_remove(s, 6), 0);
    assert_int_equal(nm_store_log_deleter(s, "application_1_0001", "alice", 77), 0);
    assert_int_equal(nm_store_resource(s, "k", "vv", 2), 0);
    nm_store_close(s);

    s = open_store();
    assert_int_equal(nm_store_each_app(s, on_app, NULL), 0);
    assert_int_equal(nm_store_each_container(s, on_container, NULL), 0);
    assert_int_equal(nm_store_each_key(s, on_key, NULL), 0);
    assert_int_equal(nm_store_each_used_token(s, on_token, NULL), 0);
    assert_int_equal(nm_store_each_deletion(s, on_deletion, NULL), 0);
    assert_int_equal(nm_store_each_log_deleter(s, on_log, NULL), 0);
    assert_int_equal(nm_store_each_resource(s, on_resource, NULL), 0);
    assert_true(got_apps == 1 && got_containers == 1 && got_keys == 1 && got_tokens == 1);
    assert_true(got_deletions == 1 && got_logs == 1 && got_resources == 1);
    for (int i = 0; i < 2; i++) { /* the statement is reset */
        int result = -7;

        assert_int_equal(nm_store_container_request(s, id, NM_STORED_REQUEST, on_request, &result),
                         -7);
    }
    assert_int_equal(nm_store_container_request(s, "other", NM_STORED_REQUEST, on_request, NULL),
                     -ENOENT);
    assert_int_equal(nm_store_container_request(s, id, NM_STORED_NEXT, on_request, NULL), -ENOENT);
    nm_store_close(s);
}

static int on_bytes(const void *request, size_t len, void *u)
{
    memcpy(u, request, len);
    ((char *)u)[len] = 0;
    return 0;
}

/* "request next previous", each "-" if there is none. */
static const char *requests(struct nm_store *s)
{
    static char text[64];
    char one[16];

    text[0] = 0;
    for (int which = NM_STORED_REQUEST; which <= NM_STORED_PREVIOUS; which++) {
        if (nm_store_container_request(s, "c", (enum nm_stored_request)which, on_bytes, one) < 0)
            (void)snprintf(one, sizeof(one), "-");
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", which ? " " : "",
                       one);
    }
    return text;
}

static int on_reinit(const struct nm_stored_container *c, void *u)
{
    *(struct nm_stored_container *)u = *c;
    return 0;
}

static void reinit_is(struct nm_store *s, bool launched, int reinit, bool previous, int late)
{
    struct nm_stored_container c = { 0 };

    assert_int_equal(nm_store_each_container(s, on_reinit, &c), 0);
    assert_true(c.launched == launched && c.reinit == reinit && c.has_previous == previous);
    assert_int_equal(c.late, late);
}

/* Each step of re-initializations is one statement: no other daemon finds half of it. */
static void reinitializations(void **state)
{
    struct nm_store *s = open_store();

    (void)state;
    assert_int_equal(nm_store_container(s, "c", "a", "one", 3, 1, 0, 0, ""), 0);
    assert_int_equal(nm_store_container_launched(s, "c", 2), 0);
    assert_int_equal(nm_store_container_again(s, "c", "1", 5), 0);
    assert_int_equal(nm_store_container_launched(s, "c", 2), 0);
    assert_int_equal(nm_store_container_extend(s, "c", "more", 4, 2), 0);
    reinit_is(s, true, 0, false, 2);
    assert_int_equal(nm_store_container_reinit_kills(s, "c"), 0); /* none is under way */
    assert_int_equal(nm_store_container_reinit(s, "c", NM_REINIT_UPGRADE, "two", 3), 0);
    assert_string_equal(requests(s), "more two -");
    reinit_is(s, true, NM_REINIT_UPGRADE, false, 2);
    assert_int_equal(nm_store_container_reinit_kills(s, "c"), 0);
    reinit_is(s, true, NM_REINIT_UPGRADE | NM_STORED_REINIT_KILLS, false, 2);
    assert_int_equal(nm_store_container_replace(s, "c", NM_REINIT_UPGRADE, 6), 0);
    assert_string_equal(requests(s), "two - more");
    reinit_is(s, false, 0, true, 0);
    assert_int_equal(nm_store_container_replace(s, "c", NM_REINIT_RESTART, 7), 0);
    assert_string_equal(requests(s), "two - more");
    assert_int_equal(nm_store_container_replace(s, "c", NM_REINIT_ROLLBACK, 8), 0);
    assert_string_equal(requests(s), "more - -");
    assert_int_equal(nm_store_container_reinit(s, "c", NM_REINIT_UPGRADE, "three", 5), 0);
    assert_int_equal(nm_store_container_replace(s, "c", NM_REINIT_UPGRADE, 9), 0);
    assert_int_equal(nm_store_container_commit(s, "c"), 0);
    assert_string_equal(requests(s), "three - -");
    assert_int_equal(nm_store_container_reinit(s, "c", NM_REINIT_COMMITTED, "four", 4), 0);
    assert_int_equal(nm_store_container_reinit(s, "c", NM_REINIT_NONE, NULL, 0), 0); /* refused */
    assert_string_equal(requests(s), "three - -");
    assert_int_equal(nm_store_container_reinit(s, "c", NM_REINIT_COMMITTED, "four", 4), 0);
    assert_int_equal(nm_store_container_replace(s, "c", NM_REINIT_COMMITTED, 10), 0);
    assert_string_equal(requests(s), "four - -");
    nm_store_close(s);
}

static void on_committed(void *userdata, int result)
{
    *(int *)userdata += result == 0 ? 1 : 100;
}

/* Two writers in one transaction; the loop calls both after the one commit. */
static void group_commit(void **state)
{
    struct nm_store *s = open_store();
    int calls = 0;

    (void)state;
    assert_int_equal(nm_store_used_token(s, "a", 1), 0);
    assert_int_equal(nm_store_after_commit(s, on_committed, &calls), 0);
    assert_int_equal(nm_store_used_token(s, "b", 1), 0);
    assert_int_equal(nm_store_after_commit(s, on_committed, &calls), 0);
    assert_int_equal(calls, 0);
    while (calls == 0)
        assert_true(sd_event_run(event, 1000000) >= 0);
    assert_int_equal(calls, 2);
    nm_store_close(s);
}

static int one_more(const char *key, const void *value, size_t len, void *userdata)
{
    (void)key;
    (void)value;
    (void)len;
    ++*(int *)userdata;
    return 0;
}

/* A write that is flushed inside a handler survives the death of the process; who waits for the
 * commit is told by the loop, not by the flush. */
static void flushed(void **state)
{
    struct nm_store *s;
    int calls = 0, found = 0, status = 0;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) { /* a daemon that is killed */
        sd_event *own = NULL;

        if (sd_event_new(&own) < 0 || nm_store_open(own, path, &s, NULL) < 0 ||
            nm_store_resource(s, "kept", "v", 1) < 0 || nm_store_flush(s) < 0 ||
            nm_store_resource(s, "lost", "v", 1) < 0)
            _exit(1);
        _exit(0);
    }
    assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
    assert_int_equal(status, 0);
    s = open_store();
    assert_int_equal(nm_store_each_resource(s, one_more, &found), 0);
    assert_int_equal(found, 1);
    assert_int_equal(nm_store_resource(s, "more", "v", 1), 0);
    assert_int_equal(nm_store_after_commit(s, on_committed, &calls), 0);
    assert_int_equal(nm_store_flush(s), 0);
    assert_int_equal(calls, 0);
    while (calls == 0)
        assert_true(sd_event_run(event, 1000000) >= 0);
    nm_store_close(s);
}

/* A failed write (duplicate id) fails its transaction: every waiter gets the failure. */
static void failed_write_fails_the_group(void **state)
{
    struct nm_store *s = open_store();
    int calls = 0;

    (void)state;
    sv_log_set_level((enum sv_log_level)0);
    assert_int_equal(nm_store_container(s, "c", "a", "r", 1, 1, 0, 0, ""), 0);
    assert_int_equal(nm_store_container(s, "c", "a", "r", 1, 1, 0, 0, ""), -EIO);
    assert_null(nm_store_failure(s)); /* the caller's fault */
    assert_int_equal(nm_store_after_commit(s, on_committed, &calls), 0);
    nm_store_commit(s);
    assert_int_equal(calls, 100);
    assert_int_equal(nm_store_container(s, "c", "a", "r", 1, 1, 0, 0, ""), 0); /* rolled back */
    nm_store_commit(s);
    sv_log_set_level(SV_LOG_ERR);
    nm_store_close(s);
}

static struct {
    int64_t now;
    int told, most; /* in one handler of the loop */
    int in_this;
} turns;

/* Takes 2 ms. */
static void on_committed_slowly(void *userdata, int result)
{
    (void)userdata;
    assert_int_equal(result, 0);
    turns.in_this = sv_loop_spent_ms() == 0 ? 1 : turns.in_this + 1;
    turns.most = turns.in_this > turns.most ? turns.in_this : turns.most;
    sv_clock_set_test(turns.now += 2, 1);
    if (++turns.told == 100)
        sd_event_exit(event, 0);
}

/* Many waiters of one commit are told in turns of the loop; a commit outside of it tells all. */
static void waiters_take_turns(void **state)
{
    struct nm_store *s = open_store();

    (void)state;
    turns.now = 1000;
    sv_clock_set_test(turns.now, 1);
    assert_int_equal(nm_store_used_token(s, "turns", 1), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(nm_store_after_commit(s, on_committed_slowly, NULL), 0);
    assert_int_equal(sv_loop_run(event), 0);
    assert_int_equal(turns.told, 100);
    assert_int_equal(turns.most, 3);
    sv_clock_reset();
    nm_store_close(s);
}

static int on_no_probe(const char *container, int64_t expiry_ms, void *userdata)
{
    (void)userdata;
    return strlen(container) == 1 && expiry_ms == 1 ? 0 : -EEXIST;
}

/* A full file system: logged until the store can be written again, and recovers by itself. */
static void full_file_system(void **state)
{
    struct nm_store *s = open_store();
    struct rlimit unlimited, full;
    int calls = 0;

    (void)state;
    assert_int_equal(nm_store_used_token(s, "a", 1), 0);
    assert_int_equal(nm_store_commit(s), 0);
    assert_null(nm_store_failure(s));
    sv_log_set_level((enum sv_log_level)0);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    full = (struct rlimit){ 1, unlimited.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    (void)!nm_store_used_token(s, "b", 1);
    (void)!nm_store_after_commit(s, on_committed, &calls);
    while (calls == 0)
        assert_true(sd_event_run(event, 1000000) >= 0);
    (void)setrlimit(RLIMIT_FSIZE, &unlimited);
    assert_int_equal(calls, 100);
    assert_non_null(nm_store_failure(s));
    assert_non_null(strstr(nm_store_failure(s), path));
    while (nm_store_failure(s))
        assert_true(sd_event_run(event, 5000000) > 0);
    assert_int_equal(nm_store_each_used_token(s, on_no_probe, NULL), 0);
    sv_log_set_level(SV_LOG_ERR);
    nm_store_close(s);
}

static int refused(const char *words)
{
    struct nm_store *s = NULL;
    struct sv_error err = { 0 };
    int r = nm_store_open(event, path, &s, &err);

    assert_true(r < 0);
    assert_null(s);
    assert_non_null(strstr(err.text, path));
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    return r;
}

static void run_sql(const char *text)
{
    sqlite3 *db;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void future_version(void **state)
{
    (void)state;
    nm_store_close(open_store());
    run_sql("PRAGMA user_version=99");
    assert_int_equal(refused("schema 99"), -EPROTO);
}

/* The message must not advise moving the store away. */
static void second_daemon(void **state)
{
    struct nm_store *s = open_store();

    (void)state;
    assert_int_equal(nm_store_used_token(s, "a", 1), 0);
    nm_store_commit(s);
    assert_int_equal(refused("another NodeManager uses it"), -EBUSY);
    nm_store_close(s);
    nm_store_close(open_store());
}

static int on_old(const struct nm_stored_container *c, void *u)
{
    assert_string_equal(c->id, "c");
    assert_string_equal(c->assigned, "");
    assert_string_equal(c->retry, "");
    assert_int_equal(c->ended_ms, -1);
    assert_true(c->late == 0 && c->reinit == 0 && !c->has_previous);
    ++*(int *)u;
    return 0;
}

/* A start that ends early leaves the clearing of the local directories to the next one. */
static void new_until_told(void **state)
{
    struct nm_store *s;

    (void)state;
    for (int i = 0; i < 2; i++) {
        s = open_store();
        assert_true(nm_store_is_new(s));
        nm_store_close(s);
    }
    s = open_store();
    assert_int_equal(nm_store_not_new(s), 0);
    assert_true(nm_store_is_new(s)); /* at this start */
    nm_store_close(s);
    s = open_store();
    assert_false(nm_store_is_new(s));
    nm_store_close(s);
}

/* A store of schema 1 as an old version created it. */
static void older_version(void **state)
{
    int seen = 0;

    (void)state;
    struct nm_store *first = open_store();

    assert_true(nm_store_is_new(first));
    assert_int_equal(nm_store_not_new(first), 0);
    nm_store_close(first);
    run_sql("ALTER TABLE containers DROP COLUMN assigned;"
            "ALTER TABLE containers DROP COLUMN updated;"
            "ALTER TABLE containers DROP COLUMN retry;"
            "ALTER TABLE containers DROP COLUMN ended_ms;"
            "ALTER TABLE containers DROP COLUMN late; ALTER TABLE containers DROP COLUMN reinit;"
            "ALTER TABLE containers DROP COLUMN next; ALTER TABLE containers DROP COLUMN previous;"
            "DROP TABLE mcs; DROP TABLE service_data; "
            "DROP TABLE log_uploads; DROP TABLE log_skips; DROP TABLE amrmproxy; "
            "PRAGMA user_version=1;"
            "INSERT INTO containers(id,app,request,start_ms) VALUES('c','a',x'00',1)");
    for (int i = 0; i < 2; i++) {
        struct nm_store *s = open_store();

        assert_false(nm_store_is_new(s));
        assert_int_equal(nm_store_each_container(s, on_old, &seen), 0);
        nm_store_close(s);
    }
    assert_int_equal(seen, 2);
}

static void foreign_database(void **state)
{
    (void)state;
    run_sql("CREATE TABLE something(x)");
    refused("not a NodeManager's store");
}

static void damaged(void **state)
{
    struct nm_store *s = open_store();
    char junk[4096];
    int fd;

    (void)state;
    for (int i = 0; i < 200; i++) {
        char id[32];

        snprintf(id, sizeof(id), "container_%d", i);
        assert_int_equal(nm_store_container(s, id, "a", junk, sizeof(junk), 1, 0, 0, ""), 0);
    }
    nm_store_close(s);
    memset(junk, 0xa5, sizeof(junk));
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    for (off_t at = 0; at < 200 * 4096; at += 3 * 4096) /* bit rot, header included */
        assert_int_equal(pwrite(fd, junk, 512, at), 512);
    sv_close(fd);
    refused("damaged");
    fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(fd, "no database at all, really not", 30), 30);
    sv_close(fd);
    refused("damaged");
}

static void unsafe_file(void **state)
{
    (void)state;
    nm_store_close(open_store());
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(refused("only this account may write"), -EPERM);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/tmp/elsewhere.db", path), 0);
    assert_int_equal(refused("regular file"), -EPERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(records_are_read_back, fresh),
        cmocka_unit_test_setup(reinitializations, fresh),
        cmocka_unit_test_setup(group_commit, fresh),
        cmocka_unit_test_setup(flushed, fresh),
        cmocka_unit_test_setup(failed_write_fails_the_group, fresh),
        cmocka_unit_test_setup(full_file_system, fresh),
        cmocka_unit_test_setup(future_version, fresh),
        cmocka_unit_test_setup(new_until_told, fresh),
        cmocka_unit_test_setup(older_version, fresh),
        cmocka_unit_test_setup(foreign_database, fresh),
        cmocka_unit_test_setup(second_daemon, fresh),
        cmocka_unit_test_setup(damaged, fresh),
        cmocka_unit_test_setup(unsafe_file, fresh),
        cmocka_unit_test_setup(waiters_take_turns, fresh), /* the loop ends */
    };
    int r, tmp;

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    if (!mkdtemp(dir) || sd_event_default(&event) < 0)
        return 1;
    snprintf(path, sizeof(path), "%s/nm-state.db", dir);
    r = cmocka_run_group_tests(tests, NULL, NULL);
    tmp = open("/tmp", O_PATH | O_CLOEXEC);
    r += sv_remove_tree_at(tmp, strrchr(dir, '/') + 1) < 0;
    sv_close(tmp);
    sd_event_unref(event);
    return r;
}
