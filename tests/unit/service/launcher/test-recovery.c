/* service/launcher/: the program ends before or right after each of its commits. What follows the
 * restart is what would have followed without an end: no application is submitted twice, no master
 * runs beside another, and the last status is the same. */
#include <sqlite3.h>
#include <unistd.h>

#include "service/engine/exit-table.h"
#include "service/framework/link.h"
#include "tests/unit/service/launcher-fixture.h"

#define WORDS(code, type)                                                                          \
    SVC_FW_DIAGNOSTICS_START "{\"applicationExitCode\":" #code ",\"applicationExitType\":\"" type  \
                             "\"}" SVC_FW_DIAGNOSTICS_END

static int commits_left; /* until the end; < 0: it never comes */
static bool after;       /* the commit itself succeeds */
static bool down;        /* the disk, for a while */
static struct fake *current;

int __real_sqlite3_step(sqlite3_stmt *st);
int __wrap_sqlite3_step(sqlite3_stmt *st);
int __wrap_sqlite3_step(sqlite3_stmt *st)
{
    bool commit = strcmp(sqlite3_sql(st), "COMMIT") == 0;

    if (down && commit)
        return SQLITE_FULL;
    if (current && current->dead && commit)
        return SQLITE_IOERR;
    if (commit && current && commits_left >= 0 && commits_left-- == 0) {
        current->dead = true;
        return after ? __real_sqlite3_step(st) : SQLITE_IOERR;
    }
    return __real_sqlite3_step(st);
}

/* The next life of the program, if this one has ended. */
static bool reborn(struct fake *k)
{
    if (!k->dead)
        return false;
    fake_stop(k);
    k->dead = false;
    k->n_ids = k->n_submits = k->n_kills = 0;
    assert_int_equal(fake_open(k), 0);
    svc_lr_tick(k->l);
    return true;
}

static void settle(struct fake *k)
{
    do {
        fake_run(k);
    } while (reborn(k));
}

/* A client repeats a call until it is answered well. */
static void insist(struct fake *k, const char *method, const char *uri, const char *body)
{
    unsigned status = 0;

    for (int i = 0; i < 5 && status != 202; i++) {
        status = status_of(k, method, uri, body);
        if (reborn(k))
            status = 0;
    }
    assert_int_equal(status, 202);
    settle(k);
}

static struct fake_app *running_app(struct fake *k)
{
    const struct svc_framework *f = svc_lr_find(&k->l->all, "a");
    struct fake_app *a = f ? fake_find(k, f->st.app) : NULL;

    return a && a->submitted && !a->ended ? a : NULL;
}

static void tell_task(struct fake *k, struct fake_app *a)
{
    _cleanup_free_ char *text =
        message(a, 1, 1, ",\"taskRoles\":{\"W\":[" TASK(0, "CONTAINER_RUNNING", CONTAINER) "]}");
    unsigned status = 0;

    for (int i = 0; i < 5 && status != 200; i++) {
        _cleanup_said_ struct said s = tell(k, a, a->token, text);

        status = s.status;
        settle(k);
    }
    assert_int_equal(status, 200);
    assert_non_null(svc_lr_role_of(svc_lr_find(&k->l->all, "a"), "W"));
}

static void end_app(struct fake *k, struct fake_app *a, int final, const char *words)
{
    a->ended = true;
    a->final = final;
    a->diagnostics = words;
    for (int i = 0; i < 3; i++) {
        svc_lr_tick(k->l);
        fake_poll(k);
        settle(k);
    }
}

/* A framework whose first master fails, and whose second one succeeds; another is stopped, a third
 * deleted. False: it did not end. */
static int life(struct fake *k)
{
    const struct svc_framework *f;
    struct fake_app *a;

    current = k;
    insist(k, "PUT", "/v1/Frameworks/a", BODY(1, "\"retryPolicy\":{\"fancyRetryPolicy\":true},"));
    a = running_app(k);
    assert_non_null(a);
    a->running = true;
    fake_poll(k);
    settle(k);
    tell_task(k, a);
    end_app(k, a, SVC_LR_FINAL_UNKNOWN, WORDS(-7103, "TRANSIENT_NORMAL"));
    a = running_app(k);
    assert_non_null(a);
    tell_task(k, a);
    insist(k, "PUT", "/v1/Frameworks/s", BODY(1, ""));
    insist(k, "PUT", "/v1/Frameworks/s/ExecutionType", "{\"executionType\":\"STOP\"}");
    insist(k, "PUT", "/v1/Frameworks/d", BODY(1, ""));
    insist(k, "DELETE", "/v1/Frameworks/d", NULL);
    end_app(k, a, SVC_LR_FINAL_SUCCEEDED, WORDS(0, "SUCCEEDED"));
    f = svc_lr_find(&k->l->all, "a");
    assert_non_null(f);
    assert_int_equal(f->st.state, SVC_LR_COMPLETED);
    assert_int_equal(f->st.exit.code, 0);
    assert_int_equal(f->st.retries.transient_normal, 1);
    assert_int_equal(f->st.retries.retried, 0);
    assert_int_equal(f->running, 1); /* shown as completed */
    f = svc_lr_find(&k->l->all, "s");
    assert_int_equal(f->st.state, SVC_LR_COMPLETED);
    assert_int_equal(f->st.exit.code, SVC_FW_EXIT_STOP_REQUESTED);
    assert_null(svc_lr_find(&k->l->all, "d"));
    assert_null(k->l->kills);
    /* All that was submitted has ended. */
    for (int i = 0; i < k->n_apps; i++)
        assert_true(!k->apps[i].submitted || k->apps[i].ended || k->apps[i].killed);
    return commits_left;
}

static void run_life(int commits, bool behind, int *ret_left)
{
    struct fake k = { 0 };
    char path[] = "/tmp/test-recovery-XXXXXX", file[64];
    const char *const ends[] = { "", "-wal", "-shm" };

    assert_non_null(mkdtemp(path));
    (void)snprintf(file, sizeof(file), "%s/db", path);
    k.path = file;
    fake_start(&k);
    commits_left = commits;
    after = behind;
    *ret_left = life(&k);
    current = NULL;
    fake_stop(&k);
    for (size_t i = 0; i < SV_ARRAY_LEN(ends); i++) {
        (void)snprintf(file, sizeof(file), "%s/db%s", path, ends[i]);
        (void)unlink(file);
    }
    assert_int_equal(rmdir(path), 0);
}

static void killed_at_every_commit(void **state)
{
    int left = -1, all = 1000, n;

    (void)state;
    run_life(all, false, &left);
    n = all - left;
    assert_true(n > 15);
    for (int i = 0; i < n; i++)
        for (int behind = 0; behind < 2; behind++)
            run_life(i, behind, &left);
    print_message("%d commits\n", n);
}

/* A disk that is full for a while: refused, read anew, and well again. */
static void a_full_disk(void **state)
{
    _cleanup_free_ char *text = NULL;
    _cleanup_said_ struct said s = { 0 };
    const struct svc_framework *f;
    struct fake k = { 0 };
    uint64_t generation;

    (void)state;
    current = NULL;
    commits_left = -1;
    fake_start(&k);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/a", BODY(1, "")), 202);
    fake_run(&k);
    down = true;
    text = message(&k.apps[0], 1, 0, ",\"taskRoles\":{\"W\":[1]}");
    s = tell(&k, &k.apps[0], k.apps[0].token, text); /* refused, and nothing is written */
    assert_int_equal(s.status, 503);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/b", BODY(1, "")), 503);
    assert_int_equal(status_of(&k, "GET", "/v1/Frameworks/a", NULL), 503);
    f = svc_lr_find(&k.l->all, "a");
    generation = f->generation;
    svc_lr_tick(k.l);
    assert_int_equal(status_of(&k, "PUT", "/v1/Frameworks/b", BODY(1, "")), 503);
    /* Nothing was read meanwhile: all frameworks would be, each second. */
    assert_ptr_equal(svc_lr_find(&k.l->all, "a"), f);
    assert_int_equal(f->generation, generation);
    down = false;
    svc_lr_tick(k.l);
    assert_int_equal(status_of(&k, "GET", "/v1/Frameworks/a", NULL), 200);
    assert_int_equal(status_of(&k, "GET", "/v1/Frameworks/b", NULL), 404);
    assert_int_equal(svc_lr_find(&k.l->all, "a")->st.state, SVC_LR_LAUNCHED);
    fake_stop(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_every_commit),
        cmocka_unit_test(a_full_disk),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
