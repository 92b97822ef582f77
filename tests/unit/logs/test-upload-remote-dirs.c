/* Tests logs/upload-remote-dirs.c with a file system of a few directories, as the hostile neighbour
 * of a submitter leaves them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fs/backend.h"
#include "logs/upload-remote-dirs.h"

#define ROOT "/app-logs"
#define USER ROOT "/bob"
#define APP USER "/bucket-logs-tfile/0042/application_1_0042"

struct dir {
    char path[200], owner[50], group[50];
    bool directory, acl;
    uint32_t mode;
};

struct fake {
    struct dir dirs[16];
    size_t n;
    unsigned made, modes, groups;
    bool chgrp_denied;
};

static struct dir *find(struct fake *f, const char *path)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->dirs[i].path, path) == 0)
            return &f->dirs[i];
    return NULL;
}

static struct dir *put(struct fake *f, const char *path, const char *owner, const char *group,
                       uint32_t mode)
{
    struct dir *d = &f->dirs[f->n++];

    *d = (struct dir){ .directory = true, .mode = mode };
    (void)snprintf(d->path, sizeof(d->path), "%s", path);
    (void)snprintf(d->owner, sizeof(d->owner), "%s", owner);
    (void)snprintf(d->group, sizeof(d->group), "%s", group);
    return d;
}

static struct dir *at(struct fs *fs, const char *path)
{
    char full[FS_PATH_MAX];

    assert_int_equal(fs_path(fs, path, full, NULL), 0);
    return find(fs->data, full);
}

static int status(struct fs *fs, const char *path, struct fs_status *ret,
                  struct fs_owner *ret_owner, struct sv_error *err)
{
    const struct dir *d = at(fs, path);

    if (!d)
        return sv_error_set(err, -ENOENT, "%s does not exist", path);
    *ret = (struct fs_status){ .kind = d->directory ? FS_DIRECTORY : FS_FILE, .mode = d->mode };
    *ret_owner = (struct fs_owner){ .acl = d->acl, .own = strcmp(d->owner, "bob") == 0 };
    (void)snprintf(ret_owner->user, sizeof(ret_owner->user), "%s", d->owner);
    (void)snprintf(ret_owner->group, sizeof(ret_owner->group), "%s", d->group);
    return 0;
}

/* As HDFS: the group of the parent, and a umask. */
static int make(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    struct fake *f = fs->data;
    char full[FS_PATH_MAX];

    assert_int_equal(fs_path(fs, path, full, err), 0);
    put(f, full, "bob", *fs->own_group ? fs->own_group : at(fs, "")->group, mode & 0750);
    f->made++;
    return 0;
}

static int set_mode(struct fs *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    (void)err;
    ((struct fake *)fs->data)->modes++;
    at(fs, path)->mode = mode;
    return 0;
}

static int set_group(struct fs *fs, const char *path, const char *group, struct sv_error *err)
{
    struct fake *f = fs->data;
    struct dir *d = at(fs, path);

    if (f->chgrp_denied)
        return sv_error_set(err, -EACCES, "bob does not belong to %s", group);
    f->groups++;
    (void)snprintf(d->group, sizeof(d->group), "%s", group);
    return 0;
}

static const struct fs_ops ops = { .status = status };
static const struct fs_write_ops writing = { .mkdir = make,
                                             .set_mode = set_mode,
                                             .set_group = set_group };

/* `own`: the account's group, as of POSIX; "": as of HDFS. */
static int enter_as(struct fake *f, const char *own, const char *group,
                    char note[LOGS_UPLOAD_TEXT_MAX], struct sv_error *err)
{
    struct fs fs = { .ops = &ops, .writing = &writing, .root = ROOT, .data = f };
    struct logs_upload u = { 0 };
    int r;

    (void)snprintf(fs.own_group, sizeof(fs.own_group), "%s", own);
    for (size_t i = 0; i < LOGS_FIELDS; i++)
        u.text[i] = (char *)(uintptr_t) "";
    u.text[LOGS_REMOTE] = (char *)(uintptr_t)ROOT;
    u.text[LOGS_USER] = (char *)(uintptr_t) "bob";
    u.text[LOGS_SUFFIX] = (char *)(uintptr_t) "bucket-logs-tfile";
    u.text[LOGS_BUCKET] = (char *)(uintptr_t) "0042";
    u.text[LOGS_APP] = (char *)(uintptr_t) "application_1_0042";
    u.text[LOGS_GROUP] = (char *)(uintptr_t)group;
    note[0] = 0;
    r = logs_remote_dirs(&fs, &u, note, err);
    if (r == 0)
        assert_string_equal(fs.root, APP);
    return r;
}

static int enter(struct fake *f, const char *group, char note[LOGS_UPLOAD_TEXT_MAX],
                 struct sv_error *err)
{
    return enter_as(f, "", group, note, err);
}

static void assert_refused(struct fake *f, const char *what)
{
    char note[LOGS_UPLOAD_TEXT_MAX];
    struct sv_error err = { 0 };
    size_t n = f->n;

    assert_int_equal(enter(f, "", note, &err), -EPERM);
    if (!strstr(err.text, what))
        fail_msg("%s: not \"%s\"", err.text, what);
    assert_int_equal(f->n, n);
}

static void test_made(void **state)
{
    char note[LOGS_UPLOAD_TEXT_MAX];
    struct sv_error err = { 0 };
    struct fake f = { 0 };

    (void)state;
    put(&f, ROOT, "yarn", "hadoop", 01777);
    assert_int_equal(enter(&f, "", note, &err), 0);
    assert_int_equal(f.made, 4);
    assert_string_equal(note, "");
    for (size_t i = 1; i < f.n; i++) {
        assert_int_equal(f.dirs[i].mode, 0770);
        assert_string_equal(f.dirs[i].group, "hadoop");
    }
    f.modes = 0;
    assert_int_equal(enter(&f, "", note, &err), 0); /* the second upload changes nothing */
    assert_int_equal(f.made + f.modes + f.groups, 4);
    assert_int_equal(enter(&f, "loggers", note, &err), 0); /* nor a key that is new */
    assert_int_equal(f.groups, 0);
}

static void test_group(void **state)
{
    char note[LOGS_UPLOAD_TEXT_MAX];
    struct sv_error err = { 0 };
    struct fake f = { 0 };

    (void)state;
    put(&f, ROOT, "yarn", "hadoop", 0777);
    assert_int_equal(enter(&f, "loggers", note, &err), 0);
    assert_non_null(strstr(note, "not 1777"));
    assert_string_equal(find(&f, USER)->group, "loggers");
    assert_string_equal(find(&f, APP)->group, "loggers");
    f.chgrp_denied = true;
    assert_int_equal(enter(&f, "loggers", note, &err), 0);
    assert_int_equal(enter(&f, "", note, &err), -EACCES); /* the key is gone, its group is not */
    assert_non_null(strstr(err.text, "its group is loggers, not hadoop: bob does not belong"));
}

/* A directory of this machine: what an account makes has its own group, which is as good as the
 * parent's. */
static void test_own_group(void **state)
{
    char note[LOGS_UPLOAD_TEXT_MAX];
    struct sv_error err = { 0 };
    struct fake f = { 0 };

    (void)state;
    put(&f, ROOT, "yarn", "hadoop", 01777);
    assert_int_equal(enter_as(&f, "staff", "", note, &err), 0);
    assert_int_equal(f.groups, 0);
    assert_string_equal(find(&f, APP)->group, "staff");
    assert_int_equal(enter_as(&f, "staff", "loggers", note, &err), 0); /* they exist: kept */
    assert_int_equal(f.groups, 0);
    (void)snprintf(find(&f, APP)->group, 50, "alice");
    assert_int_equal(enter_as(&f, "staff", "", note, &err), 0);
    assert_string_equal(find(&f, APP)->group, "staff");
    f.n = 1;
    assert_int_equal(enter_as(&f, "staff", "loggers", note, &err), 0);
    assert_string_equal(find(&f, APP)->group, "loggers");
}

/* Before bob's first upload alice makes his directories, or those of his next application. */
static void test_planted(void **state)
{
    struct fake f = { 0 };

    (void)state;
    put(&f, ROOT, "yarn", "hadoop", 01777);
    put(&f, USER, "alice", "hadoop", 0777);
    assert_refused(&f, "directory /app-logs/bob: it belongs to alice, not to bob");
    assert_refused(&f, "move it away");
    f.n = 1;
    put(&f, USER, "bob", "hadoop", 0770);
    put(&f, USER "/bucket-logs-tfile", "bob", "hadoop", 0770);
    put(&f, USER "/bucket-logs-tfile/0042", "alice", "hadoop", 0770);
    assert_refused(&f, "tfile/0042: it belongs to alice");
    f.n = 1;
    put(&f, USER, "bob", "hadoop", 0770)->directory = false;
    assert_int_equal(enter(&f, "", (char[LOGS_UPLOAD_TEXT_MAX]){ 0 }, &(struct sv_error){ 0 }),
                     -ENOTDIR);
}

/* A directory that bob made in one of alice's has her group and her ACL; she may move it. */
static void test_moved(void **state)
{
    char note[LOGS_UPLOAD_TEXT_MAX];
    struct sv_error err = { 0 };
    struct fake f = { 0 };

    (void)state;
    put(&f, ROOT, "yarn", "hadoop", 01777);
    put(&f, USER, "bob", "alice", 0755);
    assert_int_equal(enter(&f, "", note, &err), 0);
    assert_string_equal(find(&f, USER)->group, "hadoop");
    assert_int_equal(find(&f, USER)->mode, 0770);
    find(&f, APP)->acl = true;
    assert_refused(&f, "0042: it has an ACL");
    find(&f, ROOT)->acl = true; /* the administrator's */
    assert_int_equal(enter(&f, "", note, &err), 0);
}

static void test_no_root(void **state)
{
    char note[LOGS_UPLOAD_TEXT_MAX];
    struct sv_error err = { 0 };
    struct fake f = { 0 };

    (void)state;
    assert_int_equal(enter(&f, "", note, &err), -ENOENT);
    assert_non_null(strstr(err.text, "make it with mode 1777"));
    put(&f, ROOT, "yarn", "hadoop", 0644)->directory = false;
    assert_int_equal(enter(&f, "", note, &err), -ENOTDIR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made),    cmocka_unit_test(test_group),
        cmocka_unit_test(test_planted), cmocka_unit_test(test_moved),
        cmocka_unit_test(test_no_root), cmocka_unit_test(test_own_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
