/* service/launcher/store.c: what is written is read again, a dropped set of tasks is swept in
 * turns, and files that are no such store, or another process', are refused. */
#include <errno.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/service/store-fixture.h"

struct seen {
    int frameworks, tasks, kills, metas, dropped;
    int64_t set;
};

static int framework(void *u, const char *name, const char *request, const char *status,
                     int64_t tasks)
{
    struct seen *s = u;

    assert_string_equal(name, "a");
    assert_string_equal(request, "{}");
    assert_string_equal(status, "s");
    s->frameworks++;
    s->set = tasks;
    return 0;
}
static int dropped(void *u, int64_t tasks)
{
    (void)tasks;
    ((struct seen *)u)->dropped++;
    return 0;
}
static int task(void *u, const char *name, const char *role, int32_t index, const char *text)
{
    struct seen *s = u;

    assert_string_equal(name, "a");
    assert_string_equal(role, "W");
    assert_true(index >= 0);
    assert_string_equal(text, "t");
    s->tasks++;
    return 0;
}
static int kill_of(void *u, const char *app, const char *user, const char *name)
{
    assert_string_equal(app, "application_1_0001");
    assert_string_equal(user, "ann");
    assert_string_equal(name, "");
    ((struct seen *)u)->kills++;
    return 0;
}
static int meta(void *u, const char *key, const char *value)
{
    assert_string_equal(key, "k");
    assert_string_equal(value, "v");
    ((struct seen *)u)->metas++;
    return 0;
}

static struct seen load(struct svc_lr_store *s)
{
    static const struct svc_lr_rows rows = { framework, dropped, task, kill_of, meta };
    struct sv_error err = { 0 };
    struct seen seen = { 0 };

    assert_int_equal(svc_lr_store_load(s, &rows, &seen, &err), 0);
    return seen;
}

static void written_and_read(void **state)
{
    _cleanup_(svc_lr_store_closep) struct svc_lr_store *s = NULL;
    struct sv_error err = { 0 };
    struct seen seen;

    (void)state;
    assert_int_equal(svc_lr_store_open(NULL, &s, &err), 0);
    svc_lr_store_begin(s);
    svc_lr_store_request(s, "a", "{}", 1);
    svc_lr_store_status(s, "a", "s");
    for (int i = 0; i < 1300; i++)
        svc_lr_store_task(s, 1, "W", i, "t");
    svc_lr_store_task(s, 1, "W", 7, NULL);
    svc_lr_store_kill(s, &(struct svc_lr_store_kill){ "application_1_0001", "ann", "", "a" });
    svc_lr_store_meta(s, "k", "v");
    assert_int_equal(svc_lr_store_commit(s), 0);
    seen = load(s);
    assert_int_equal(seen.frameworks + seen.kills + seen.metas, 3);
    assert_int_equal(seen.tasks, 1299);
    assert_int_equal(seen.set, 1);
    /* Another set: the first one is gone at once, and from the disk in turns. */
    svc_lr_store_begin(s);
    svc_lr_store_drop_tasks(s, 1);
    svc_lr_store_request(s, "a", "{}", 2);
    svc_lr_store_task(s, 2, "W", 0, "t");
    svc_lr_store_killed(s, "application_1_0001");
    assert_int_equal(svc_lr_store_commit(s), 0);
    seen = load(s);
    assert_int_equal(seen.tasks, 1);
    assert_int_equal(seen.kills, 0);
    assert_int_equal(seen.dropped, 1);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(svc_lr_store_sweep(s), 0);
        assert_int_equal(load(s).dropped, 1);
    }
    assert_int_equal(svc_lr_store_sweep(s), 0);
    assert_int_equal(load(s).dropped, 0);
    assert_int_equal(load(s).tasks, 1);
    /* A write that is not committed is not there. */
    svc_lr_store_begin(s);
    svc_lr_store_remove(s, "a");
    svc_lr_store_rollback(s);
    assert_int_equal(load(s).frameworks, 1);
}

static struct svc_lr_store *again(void *u, struct svc_lr_store *s)
{
    struct sv_error err = { 0 };

    s = svc_lr_store_close(s);
    assert_int_equal(svc_lr_store_open(u, &s, &err), 0);
    return s;
}
static void keep(void *u, struct svc_lr_store *s)
{
    (void)u;
    (void)s;
}

static void as_every_place(void **state)
{
    char dir[] = "/tmp/test-store-XXXXXX", path[64];
    const struct store_place place = { path, again, keep };

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/db", dir);
    store_check(&place);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void refused(void **state)
{
    char dir[] = "/tmp/test-store-XXXXXX", path[64];
    struct svc_lr_store *s = NULL, *other = NULL;
    struct sv_error err = { 0 };
    FILE *f;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/db", dir);
    assert_int_equal(svc_lr_store_open(path, &s, &err), 0);
    assert_int_equal(svc_lr_store_open(path, &other, &err), -EBUSY);
    s = svc_lr_store_close(s);
    run_sql(path, "PRAGMA user_version=99");
    assert_int_equal(svc_lr_store_open(path, &s, &err), -EPROTO);
    run_sql(path, "PRAGMA user_version=1; PRAGMA application_id=5");
    assert_int_equal(svc_lr_store_open(path, &s, &err), -EUCLEAN);
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(svc_lr_store_open(path, &s, &err), -EPERM);
    assert_int_equal(unlink(path), 0);
    f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs("no database, but longer than a header of one would be ................."
                      "..................................................................",
                      f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(svc_lr_store_open(path, &s, &err), -EUCLEAN);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(svc_lr_store_open(path, &s, &err), -EPERM);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_every_place),
        cmocka_unit_test(written_and_read),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
