/* Tests fs/local.c: nothing is opened through a link or above the root, what was entered stays the
 * root, and random operations do what a model of a few names does, with the same causes. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/web/curl.h"
#include "fs/fs.h"
#include "tests/lib/fs-steps.h"

static char place[64];

static struct fs *open_place(void)
{
    static struct fs_url url;
    const struct fs_options o = { .url = &url, .root = -1, .identity = { .credentials = -1 } };
    struct sv_error err = { 0 };
    struct fs *fs;

    url.scheme = FS_SCHEME_FILE;
    (void)snprintf(url.path, sizeof(url.path), "%s", place);
    assert_int_equal(fs_open(&o, &fs, &err), 0);
    return fs;
}

static int setup(void **state)
{
    (void)snprintf(place, sizeof(place), "/tmp/test-local-XXXXXX");
    *state = mkdtemp(place) ? open_place() : NULL;
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    _cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    *state = fs_close(*state);
    return sv_remove_tree_at(tmp, place + strlen("/tmp/"));
}

static int write_file(struct fs *fs, const char *path, const char *text, bool append)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    struct sv_error err = { 0 };
    int r = append ? fs_append(fs, path, &f, &err) : fs_create(fs, path, 0640, &f, &err);

    if (r == 0)
        r = fs_write(f, text, strlen(text), &err);
    if (r == 0)
        r = fs_finish(f, &err);
    assert_true(r == 1 || (err.code == r && err.text[0]));
    return r < 0 ? r : 0;
}

static int read_file(struct fs *fs, const char *path, char ret[100])
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    struct sv_error err = { 0 };
    struct fs_status st;
    int r = fs_open_file(fs, path, &f, &st, &err);

    if (r < 0)
        return r;
    assert_true(st.kind == FS_FILE && st.length < 100);
    ret[st.length] = 0;
    return fs_read(f, 0, ret, st.length, &err);
}

static void test_links(void **state)
{
    struct fs *fs = *state;
    struct sv_error err = { 0 };
    struct fs_status st;
    char text[100], path[128];

    assert_int_equal(fs_mkdir(fs, "d", 0700, &err), 0);
    assert_int_equal(write_file(fs, "d/f", "one", false), 0);
    (void)snprintf(path, sizeof(path), "%s/link", place);
    assert_int_equal(symlink("d", path), 0);
    (void)snprintf(path, sizeof(path), "%s/d/link", place);
    assert_int_equal(symlink("f", path), 0);
    assert_int_equal(fs_status(fs, "link", &st, NULL, &err), 0);
    assert_int_equal(st.kind, FS_LINK);
    assert_int_equal(fs_cause(read_file(fs, "link/f", text)), FS_CAUSE_EXISTS);
    assert_int_equal(fs_cause(read_file(fs, "d/link", text)), FS_CAUSE_EXISTS);
    assert_int_equal(fs_cause(write_file(fs, "link/g", "x", false)), FS_CAUSE_EXISTS);
    assert_int_equal(fs_enter(fs, "link", &st, NULL, &err), -ENOTDIR);
    assert_true(read_file(fs, "../etc/passwd", text) < 0);
    assert_int_equal(write_file(fs, "d/link", "two", false), 0); /* replaces the link */
    assert_int_equal(read_file(fs, "d/f", text), 0);
    assert_string_equal(text, "one");
}

struct sink {
    const char *touch; /* gets a byte more during the read, if not NULL */
    size_t n;
    int answer;
};

static int on_bytes(void *userdata, const void *p, size_t n)
{
    struct sink *k = userdata;

    (void)p;
    k->n += n;
    if (k->touch)
        assert_int_equal(truncate(k->touch, 4), 0);
    return k->answer;
}

static void test_stream(void **state)
{
    struct fs *fs = *state;
    struct sv_error err = { 0 };
    struct sink k = { 0 };
    struct fs_stream s = { .sink = on_bytes, .userdata = &k };
    struct fs_status st;
    char path[128];

    assert_int_equal(write_file(fs, "f", "abc", false), 0);
    assert_int_equal(fs_status(fs, "f", &st, NULL, &err), 0);
    assert_int_equal(fs_stream(fs, "f", &st, &s, &err), 0);
    assert_true(k.n == 3 && s.bytes == 3 && !s.sink_failed);
    k = (struct sink){ .answer = -ENOSPC };
    s.bytes = 0;
    assert_int_equal(fs_stream(fs, "f", &st, &s, &err), -ENOSPC);
    assert_true(s.sink_failed);
    (void)snprintf(path, sizeof(path), "%s/f", place);
    k = (struct sink){ .touch = path };
    s = (struct fs_stream){ .sink = on_bytes, .userdata = &k };
    assert_int_equal(fs_stream(fs, "f", &st, &s, &err), -ESTALE); /* at the end */
    s.bytes = 0;
    k.n = 0;
    assert_int_equal(fs_stream(fs, "f", &st, &s, &err), -ESTALE); /* before a byte */
    assert_int_equal(k.n, 0);
}

static int on_kind(void *userdata, const struct fs_child *c)
{
    unsigned *seen = userdata;

    *seen |= 1u << c->st.kind;
    assert_true(!c->target == (c->st.kind != FS_LINK));
    assert_true(!c->target || strcmp(c->target, "to where") == 0);
    return strcmp(c->name, "last") == 0 ? -EPERM : 0;
}

static void test_list(void **state)
{
    struct fs *fs = *state;
    struct sv_error err = { 0 };
    unsigned seen = 0;
    char path[128];

    assert_int_equal(write_file(fs, "f", "", false), 0);
    assert_int_equal(fs_mkdir(fs, "d", 0700, &err), 0);
    (void)snprintf(path, sizeof(path), "%s/link", place);
    assert_int_equal(symlink("to where", path), 0);
    (void)snprintf(path, sizeof(path), "%s/fifo", place);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(fs_list(fs, "", on_kind, &seen, &err), 0);
    assert_int_equal(seen, 1u << FS_FILE | 1u << FS_DIRECTORY | 1u << FS_LINK | 1u << FS_FIFO);
    assert_int_equal(write_file(fs, "d/last", "", false), 0);
    assert_int_equal(fs_list(fs, "d", on_kind, &seen, &err), -EPERM);
}

/* Whoever may rename in the parent moves the checked directory away, and puts another one there. */
static void test_entered(void **state)
{
    struct fs *fs = *state;
    struct sv_error err = { 0 };
    struct fs_status st;
    struct fs_owner owner;
    char path[128], moved[128], text[100];
    struct fs *other = open_place();

    assert_int_equal(fs_enter(fs, "mine", &st, &owner, &err), -ENOENT);
    assert_int_equal(fs_mkdir(fs, "mine", 0755, &err), 0);
    assert_int_equal(fs_enter(fs, "mine", &st, &owner, &err), 0);
    assert_true(st.kind == FS_DIRECTORY && owner.own && owner.user[0] && !owner.acl);
    assert_string_equal(owner.group, fs_own_group(fs));
    (void)snprintf(path, sizeof(path), "%s/mine", place);
    (void)snprintf(moved, sizeof(moved), "%s/moved", place);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(fs_set_mode(fs, "", 0770, &err), 0);
    assert_int_equal(write_file(fs, "f.tmp", "text", false), 0);
    assert_int_equal(fs_rename(fs, "f.tmp", "f", &err), 0);
    assert_int_equal(read_file(other, "moved/f", text), 0);
    assert_int_equal(read_file(other, "mine/f", text), -ENOENT);
    assert_int_equal(fs_status(other, "moved", &st, NULL, &err), 0);
    assert_int_equal(st.mode, 0770);
    assert_int_equal(fs_close(other) != NULL, 0);
}

static void test_absent(void **state)
{
    struct fs *fs = *state;
    struct sv_error err = { 0 };

    assert_int_equal(fs_set_replication(fs, "f", 3, &err), -EOPNOTSUPP);
    assert_non_null(strstr(err.text, "/f: replication is not supported on a local directory"));
    assert_false(fs_cause_retry(fs_cause(err.code)));
}

static void test_copy(void **state)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    struct fs *fs = *state;
    struct sv_error err = { 0 };
    struct fs_status st;
    char text[100];
    int fds[2];

    assert_int_equal(fs_mkdir(fs, "tree", 0700, &err), 0);
    assert_int_equal(write_file(fs, "tree/a", "abc", false), 0);
    assert_int_equal(write_file(fs, "tree/a", "def", true), 0);
    assert_int_equal(read_file(fs, "tree/a", text), 0);
    assert_string_equal(text, "abcdef");
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], "piped", 5), 5);
    close(fds[1]);
    assert_int_equal(fs_create(fs, "tree/b", 0600, &f, &err), 0);
    assert_int_equal(fs_write_from(f, fds[0], &err), 0);
    assert_int_equal(fs_finish(f, &err), 1);
    assert_int_equal(fs_write(f, "x", 1, &err), -EBADF);
    close(fds[0]);
    assert_int_equal(read_file(fs, "tree/b", text), 0);
    assert_string_equal(text, "piped");
    assert_int_equal(fs_set_time(fs, "tree/b", 1700000000123, &err), 0);
    assert_int_equal(fs_status(fs, "tree/b", &st, NULL, &err), 0);
    assert_true(st.mtime_ms == 1700000000123);
    assert_int_equal(fs_sync(fs, "tree/b", &err) + fs_sync(fs, "tree", &err), 0);
    assert_int_equal(fs_cause(fs_remove(fs, "tree", &err)), FS_CAUSE_EXISTS);
    assert_int_equal(fs_remove_tree(fs, "tree", &err), 0);
    assert_int_equal(fs_remove_tree(fs, "tree", &err), 0);
    assert_int_equal(fs_status(fs, "tree", &st, NULL, &err), -ENOENT);
}

/* Others can read a file only if they can search every directory above it. */
static void test_public(void **state)
{
    struct fs *fs = *state;
    struct sv_error err = { 0 };
    struct fs_status st;
    bool open = false;

    assert_int_equal(fs_set_mode(fs, "", 0755, &err), 0);
    assert_int_equal(fs_mkdir(fs, "a", 0755, &err) + fs_mkdir(fs, "a/b", 0711, &err), 0);
    assert_int_equal(write_file(fs, "a/b/f", "x", false), 0);
    for (int i = 0; i < 4; i++) {
        static const struct {
            const char *path;
            uint32_t mode;
            bool open;
        } rows[] = { { "a/b/f", 0640, false },
                     { "a/b/f", 0644, true },
                     { "a", 0750, false },
                     { "a", 0755, true } };

        assert_int_equal(fs_set_mode(fs, rows[i].path, rows[i].mode, &err), 0);
        assert_int_equal(fs_status(fs, "a/b/f", &st, NULL, &err), 0);
        assert_int_equal(fs_is_public(fs, "a/b/f", &st, &open, &err), 0);
        assert_int_equal(open, rows[i].open);
    }
    st.encrypted = true;
    assert_int_equal(fs_is_public(fs, "a/b/f", &st, &open, &err), 0);
    assert_false(open);
}

/* Web servers and S3 have whole files alone. */
static void test_absent_web(void **state)
{
    const struct fs_s3 s3 = { .endpoint = "http://127.0.0.1:1" };
    const char *urls[] = { "http://127.0.0.1:1/f", "s3a://bucket/f" };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(urls); i++) {
        _cleanup_(fs_closep) struct fs *fs = NULL;
        struct sv_error err = { 0 };
        struct fs_file *f;
        struct fs_status st;
        struct fs_url url;
        struct fs_options o = { .url = &url, .path = "/", .s3 = &s3, .curl = &sv_curl_linked };

        assert_int_equal(fs_url_parse(urls[i], &url, &err), 0);
        o.text = urls[i];
        assert_int_equal(fs_open(&o, &fs, &err), 0);
        assert_false(fs_has_status(fs));
        assert_int_equal(fs_status(fs, "f", &st, NULL, &err), -EOPNOTSUPP);
        assert_int_equal(fs_enter(fs, "f", &st, NULL, &err), -EOPNOTSUPP);
        assert_int_equal(fs_list(fs, "", on_kind, NULL, &err), -EOPNOTSUPP);
        assert_int_equal(fs_open_file(fs, "f", &f, NULL, &err), -EOPNOTSUPP);
        assert_int_equal(fs_create(fs, "f", 0600, &f, &err), -EOPNOTSUPP);
        assert_int_equal(fs_remove(fs, "f", &err), -EOPNOTSUPP);
    }
}

/* ---- Random operations ---- */

#define STEPS 2000
#define TEXT_MAX 4096 /* of a file; appending beyond it is left out */

struct model { /* of the entries of a directory, by step_names */
    enum fs_kind kind;
    uint32_t mode, length;
    uint8_t text[TEXT_MAX];
};

static struct model *find(struct model *m, const char *name)
{
    unsigned i = 0;

    while (i < STEP_NAMES && strcmp(step_names[i], name) != 0)
        i++;
    assert_in_range(i, 0, STEP_NAMES - 1);
    return m + i;
}

static int model_write(struct model *e, const struct step *s)
{
    if (e->kind == FS_DIRECTORY)
        return -EISDIR;
    if (s->op == STEP_APPEND && e->kind != FS_FILE)
        return -ENOENT;
    if (s->op == STEP_CREATE)
        *e = (struct model){ .kind = FS_FILE, .mode = s->mode };
    for (uint32_t i = 0; i < s->size; i++)
        e->text[e->length++] = step_byte(s, i);
    return 0;
}

static int model_rename(struct model *from, struct model *to)
{
    if (!from->kind)
        return -ENOENT;
    if (from == to)
        return 0;
    if (to->kind && to->kind != from->kind)
        return -EEXIST;
    *to = *from;
    from->kind = 0;
    return 0;
}

static int model_remove(struct model *e)
{
    e->kind = 0;
    return 0;
}

static int model_mkdir(struct model *e, uint32_t mode)
{
    if (e->kind == FS_FILE)
        return -EEXIST;
    if (!e->kind)
        *e = (struct model){ .kind = FS_DIRECTORY, .mode = mode };
    return 0;
}

static int model_set_mode(struct model *e, uint32_t mode)
{
    if (e->kind)
        e->mode = mode;
    return e->kind ? 0 : -ENOENT;
}

/* Sets the answer that the file system must give. */
static void model_run(struct model *m, const struct step *s, struct answer *ret)
{
    struct model *e = find(m, s->path);
    uint32_t offset = s->offset % SV_MAX(e->length, 1u);
    int r = e->kind ? 0 : -ENOENT;

    answer_set(ret, 0, "ok");
    if (s->op == STEP_STATUS && r == 0)
        answer_status(ret, "", e->kind, e->mode, e->length);
    else if (s->op == STEP_LIST && e->kind == FS_DIRECTORY)
        answer_set(ret, 0, "0 children");
    else if (s->op == STEP_LIST && e->kind == FS_FILE)
        r = -ENOTDIR;
    else if (s->op == STEP_READ && e->kind == FS_DIRECTORY)
        r = -EINVAL;
    else if (s->op == STEP_READ && r == 0)
        answer_bytes(ret, e->text + offset, offset, e->length - offset);
    else if (s->op == STEP_CREATE || s->op == STEP_APPEND)
        r = model_write(e, s);
    else if (s->op == STEP_RENAME)
        r = model_rename(e, find(m, s->to));
    else if (s->op == STEP_REMOVE || s->op == STEP_REMOVE_TREE)
        r = model_remove(e);
    else if (s->op == STEP_MKDIR)
        r = model_mkdir(e, s->mode);
    else if (s->op == STEP_MODE)
        r = model_set_mode(e, s->mode);
    else if (s->op == STEP_REPLICATION)
        r = -EOPNOTSUPP;
    if (r < 0)
        answer_set(ret, r, "%s", "");
}

static int on_child(void *userdata, const struct fs_child *c)
{
    const struct model *e = find(userdata, c->name);

    assert_true(e->kind == c->st.kind && e->mode == c->st.mode && e->length == c->st.length);
    return 0;
}

static void test_random(void **state)
{
    static struct model m[STEP_NAMES];
    struct steps steps = { .random = 12345, .depth = 1, .max_size = 513 };
    struct answer got, wanted;
    struct sv_error err = { 0 };
    struct fs *fs = *state;
    char text[3 * STEP_PATH_MAX];
    struct fs_status st;

    umask(022);
    assert_int_equal(fs_mkdir(fs, "random", 0700, &err), 0);
    assert_int_equal(fs_enter(fs, "random", &st, NULL, &err), 0);
    for (unsigned i = 0; i < STEPS; i++) {
        struct step s;

        step_next(&steps, &s);
        if (s.op == STEP_APPEND && find(m, s.path)->length + s.size > TEXT_MAX)
            continue;
        model_run(m, &s, &wanted);
        step_run(fs, &s, &got);
        if (got.cause != wanted.cause || strcmp(got.text, wanted.text) != 0)
            fail_msg("step %u, %s: %s (%s), must be %s", i, step_text(&s, text), got.text, got.why,
                     wanted.text);
        assert_int_equal(fs_list(fs, "", on_child, m, &err), 0);
    }
}

/* A closed file or directory can be opened again by its owner, and one in the way is named. */
static void test_closed(void **state)
{
    struct fs *fs = *state;
    struct sv_error err = { 0 };
    struct fs_status st;
    char text[100];

    assert_int_equal(write_file(fs, "f", "abc", false), 0);
    assert_int_equal(fs_set_mode(fs, "f", 0, &err), 0);
    assert_int_equal(fs_set_mode(fs, "f", 0600, &err), 0);
    assert_int_equal(read_file(fs, "f", text), 0);
    assert_int_equal(fs_mkdir(fs, "f", 0700, &err), -EEXIST);
    assert_int_equal(fs_mkdir(fs, "d", 0700, &err), 0);
    assert_int_equal(write_file(fs, "d/f", "abc", false), 0);
    assert_int_equal(fs_set_mode(fs, "d", 0500, &err), 0);
    if (geteuid() != 0)
        assert_int_equal(fs_cause(write_file(fs, "d/f", "def", false)), FS_CAUSE_DENIED);
    assert_int_equal(fs_cause(fs_remove(fs, "d", &err)), FS_CAUSE_EXISTS);
    assert_int_equal(fs_rename(fs, "d", "d/e", &err), -EINVAL);
    assert_int_equal(fs_rename(fs, "d", "d", &err), 0);
    assert_int_equal(fs_set_mode(fs, "d", 0700, &err), 0);
    assert_int_equal(fs_remove(fs, "d/f", &err) + fs_remove(fs, "d", &err), 0);
    assert_int_equal(fs_status(fs, "d", &st, NULL, &err), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_links, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stream, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_entered, setup, teardown),
        cmocka_unit_test_setup_teardown(test_absent, setup, teardown),
        cmocka_unit_test_setup_teardown(test_copy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_public, setup, teardown),
        cmocka_unit_test(test_absent_web),
        cmocka_unit_test_setup_teardown(test_random, setup, teardown),
        cmocka_unit_test_setup_teardown(test_closed, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
