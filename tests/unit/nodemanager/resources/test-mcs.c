/* resources/mcs.c: assignment of SELinux categories, also over restarts, and their release. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/resources/mcs.h"
#include "nodemanager/store/state-store.h"

static struct nm_conf conf = { .selinux_labels = true };
static struct nm_context ctx = { .conf = &conf };
static struct nm_mcs *mcs;
static char dir[] = "/tmp/selvedge-mcs-XXXXXX", store[64], local[64], logs[64];
static uint32_t good = 1;
static const char *known; /* the application that the daemon has not forgotten */
static struct nm_app here;

struct nm_app *nm_app_find(const struct nm_context *n, const char *text)
{
    (void)n;
    return known && !strcmp(known, text) ? &here : NULL;
}
uint32_t nm_dirs_local_mask(const struct nm_dirs *d)
{
    (void)d;
    return good;
}
uint32_t nm_dirs_log_mask(const struct nm_dirs *d)
{
    (void)d;
    return 1;
}
const char *nm_dirs_local(const struct nm_dirs *d, int i)
{
    (void)d;
    (void)i;
    return local;
}
const char *nm_dirs_log(const struct nm_dirs *d, int i)
{
    (void)d;
    (void)i;
    return logs;
}
int nm_dirs_n_local(const struct nm_dirs *d)
{
    (void)d;
    return 1;
}
int nm_dirs_n_log(const struct nm_dirs *d)
{
    (void)d;
    return 1;
}

static void start(void)
{
    struct sv_error err = { 0 };

    if (nm_store_open(ctx.event, store, &ctx.store, &err) < 0 || nm_mcs_new(&ctx, &mcs, &err) < 0)
        fail_msg("%s", err.text);
}

static void stop(void)
{
    mcs = nm_mcs_free(mcs);
    ctx.store = nm_store_close(ctx.store);
}

static int fresh(void **state)
{
    (void)state;
    (void)unlink(store);
    known = NULL;
    good = 1;
    start();
    return 0;
}

static int end(void **state)
{
    (void)state;
    stop();
    return 0;
}

static int assign(const char *app, const char *user, uint16_t ret[EXE_CATEGORIES])
{
    struct nm_app a = { .user = (char *)(uintptr_t)user };
    int r;

    (void)snprintf(a.text, sizeof(a.text), "%s", app);
    r = nm_mcs_assign(mcs, &a, NULL);
    memcpy(ret, a.categories, sizeof(a.categories));
    return r;
}

static void pairs_are_unique(void **state)
{
    static bool seen[EXE_CATEGORY_MAX / 2][EXE_CATEGORY_MAX / 2];
    uint16_t p[2];

    (void)state;
    assert_int_equal(NM_MCS_PAIRS, 130816);
    for (uint32_t i = 0; i < NM_MCS_PAIRS; i++) {
        nm_mcs_pair(i, p);
        assert_true(p[0] < p[1] && p[1] < EXE_CATEGORY_MAX / 2);
        assert_false(seen[p[0]][p[1]]);
        seen[p[0]][p[1]] = true;
    }
}

static void disabled(void **state)
{
    struct nm_conf off_conf = { 0 };
    struct nm_context other = { .conf = &off_conf };
    struct nm_mcs *none = NULL;
    struct sv_error err = { 0 };
    struct nm_app a = { .user = NULL };

    (void)state;
    assert_int_equal(nm_mcs_new(&other, &none, &err), 0);
    assert_null(none);
    assert_int_equal(nm_mcs_assign(NULL, &a, NULL), 0);
    assert_int_equal(a.categories[3], 0);
}

static void users_and_applications(void **state)
{
    uint16_t a[4], b[4], c[4];
    struct exe_request r = { .op = EXE_OP_INIT_APP,
                             .cluster_ts = 1,
                             .app = 1,
                             .user = "alice",
                             .submitter = "alice",
                             .local_mask = 1,
                             .log_mask = 1 };

    (void)state;
    known = "application_1_0001";
    assert_int_equal(assign("application_1_0001", "alice", a), 0);
    assert_int_equal(assign("application_1_0002", "alice", b), 0);
    assert_int_equal(assign("application_1_0003", "bob", c), 0);
    memcpy(r.categories, a, sizeof(a));
    assert_true(exe_request_ok(&r)); /* accepted by the helper */
    assert_memory_equal(a, b, 4);
    assert_memory_not_equal(a, c, 4);
    assert_memory_not_equal(a + 2, b + 2, 4);
    assert_memory_not_equal(a + 2, c + 2, 4);
    assert_int_equal(assign("application_1_0001", "alice", b), 0); /* the second request */
    assert_memory_equal(a, b, 8);
    /* A user may be called like an application. */
    assert_int_equal(assign("application_1_0004", "application_1_0004", b), 0);
}

static void restart(void **state)
{
    uint16_t a[4], b[4];

    (void)state;
    assert_int_equal(assign("application_1_0001", "alice", a), 0);
    stop();
    start();
    assert_int_equal(assign("application_1_0001", "alice", b), 0);
    assert_memory_equal(a, b, 8);
}

static void make(const char *top, const char *path)
{
    _cleanup_close_ int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(sv_mkdir_p_at(fd, path, 0755), 0);
}

static int count(const char *name, const char *owner, int64_t pair, void *u)
{
    (void)name;
    (void)pair;
    *(int *)u += *owner != '\0'; /* applications */
    return 0;
}

static int rows(void)
{
    int n = 0;

    assert_int_equal(nm_store_each_mcs(ctx.store, count, &n), 0);
    return n;
}

/* A pair stays in use while the application is known, while a file of it exists, and while a disk
 * cannot be read; otherwise the next application releases it. */
static void released(void **state)
{
    uint16_t a[4];
    char app_dir[128];

    (void)state;
    make(local, "usercache/alice/appcache/application_1_0001/x");
    make(logs, "application_1_0001/container_1");
    known = "application_1_0001";
    assert_int_equal(assign(known, "alice", a), 0);
    assert_int_equal(assign("application_1_0002", "alice", a), 0); /* 1: known, with files */
    assert_int_equal(rows(), 2);
    known = NULL;
    assert_int_equal(assign("application_1_0003", "alice", a), 0); /* 1: files; 2 is gone */
    assert_int_equal(rows(), 2);
    (void)snprintf(app_dir, sizeof(app_dir), "%s/usercache/alice/appcache", local);
    int fd = open(app_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(sv_remove_tree_at(fd, "application_1_0001"), 0);
    sv_close(fd);
    assert_int_equal(assign("application_1_0004", "alice", a), 0); /* 1: logs; 3 is gone */
    assert_int_equal(rows(), 2);
    fd = open(logs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(sv_remove_tree_at(fd, "application_1_0001"), 0);
    sv_close(fd);
    good = 0;
    assert_int_equal(assign("application_1_0005", "alice", a), 0); /* the disk cannot be read */
    assert_int_equal(rows(), 3);
    good = 1;
    assert_int_equal(assign("application_1_0006", "alice", a), 0);
    assert_int_equal(rows(), 1);
}

static void exhausted(void **state)
{
    uint16_t a[4];
    char name[32];

    (void)state;
    for (int64_t i = 0; i < NM_MCS_PAIRS; i++) {
        (void)snprintf(name, sizeof(name), "u%lld", (long long)i);
        assert_int_equal(nm_store_mcs(ctx.store, name, "", i), 0);
    }
    stop();
    start();
    assert_int_equal(assign("application_1_0001", "alice", a), -ENOSPC);
    assert_int_equal(a[3], 0);
    assert_int_equal(assign("application_1_0001", "u7", a), 0); /* an existing pair stays valid */
}

static void bad_records(void **state)
{
    static const int64_t pairs[] = { -1, NM_MCS_PAIRS, INT64_MAX };
    struct sv_error err = { 0 };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        stop();
        assert_int_equal(unlink(store), 0);
        start();
        assert_int_equal(nm_store_mcs(ctx.store, "application_1_0001", "alice", pairs[i]), 0);
        mcs = nm_mcs_free(mcs);
        assert_int_equal(nm_mcs_new(&ctx, &mcs, &err), -EBADMSG);
        assert_non_null(strstr(err.text, "categories"));
    }
    stop();
    (void)unlink(store);
    start();
    /* A pair in use is not assigned. */
    assert_int_equal(nm_store_mcs(ctx.store, "application_1_0001", "alice", 7), 0);
    assert_int_equal(nm_store_mcs(ctx.store, "alice", "", 7), 0); /* pairs of users are separate */
    assert_true(nm_store_mcs(ctx.store, "application_1_0002", "alice", 7) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_unique),
        cmocka_unit_test(disabled),
        cmocka_unit_test_setup_teardown(users_and_applications, fresh, end),
        cmocka_unit_test_setup_teardown(restart, fresh, end),
        cmocka_unit_test_setup_teardown(released, fresh, end),
        cmocka_unit_test_setup_teardown(exhausted, fresh, end),
        cmocka_unit_test_setup_teardown(bad_records, fresh, end),
    };
    int r;

    if (!mkdtemp(dir) || sd_event_new(&ctx.event) < 0)
        return 1;
    (void)snprintf(store, sizeof(store), "%s/nm.db", dir);
    (void)snprintf(local, sizeof(local), "%s/local", dir);
    (void)snprintf(logs, sizeof(logs), "%s/logs", dir);
    if (mkdir(local, 0755) < 0 || mkdir(logs, 0755) < 0)
        return 1;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    (void)sd_event_unref(ctx.event);
    int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)!sv_remove_tree_at(fd, strrchr(dir, '/') + 1);
    (void)close(fd);
    return r;
}
