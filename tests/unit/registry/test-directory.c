/* Tests registry/directory.c on a directory of this machine: the layout of Hadoop's registry in a
 * file system. */
#include "registry/directory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* after the three above */
#include <cmocka.h>

#include "common/fd.h"
#include "registry/record.h"

#define PLACE "/users/alice/services/yarn-service/sleepers"

struct answer {
    bool done;
    int status;
    char text[256];
    size_t n;
};

static sd_event *event;
static struct sv_conf *conf;
static struct reg_backend *backend;
static char root[64];

static int open_all(void **state)
{
    struct reg_directory_config cfg = { .folder = "registry",
                                        .program = "test",
                                        .credentials = -1 };
    struct sv_error err = { 0 };
    char url[128];

    (void)state;
    (void)snprintf(root, sizeof(root), "/tmp/test-registry-XXXXXX");
    if (!mkdtemp(root))
        return -1;
    (void)snprintf(url, sizeof(url), "file://%s", root);
    cfg.url = url;
    conf = sv_conf_new();
    if (sd_event_new(&event) < 0 || reg_directory_open(event, conf, &cfg, &backend, &err) < 0)
        return -1;
    return 0;
}

static int close_all(void **state)
{
    _cleanup_close_ int tmp = open("/tmp", O_DIRECTORY | O_RDONLY | O_CLOEXEC);

    (void)state;
    reg_backend_free(backend);
    conf = sv_conf_free(conf);
    event = sd_event_unref(event);
    return sv_remove_tree_at(tmp, root + strlen("/tmp/"));
}

static void on_done(int status, const char *why, void *userdata)
{
    struct answer *a = userdata;

    a->done = true;
    a->status = status;
    (void)snprintf(a->text, sizeof(a->text), "%s", why);
}

static void on_got(int status, const void *bytes, size_t len, const char *why, void *userdata)
{
    struct answer *a = userdata;

    on_done(status, why, a);
    if (status == 0)
        (void)snprintf(a->text, sizeof(a->text), "%.*s", (int)len, (const char *)bytes);
}

static void on_listed(int status, char *const *names, size_t n, const char *why, void *userdata)
{
    struct answer *a = userdata;

    on_done(status, why, a);
    a->n = n;
    if (n == 1)
        (void)snprintf(a->text, sizeof(a->text), "%s", names[0]);
}

static struct answer wait_for(struct answer *a, int r)
{
    assert_int_equal(r, 0);
    while (!a->done)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    return *a;
}

static struct answer put(const char *path, const char *text)
{
    struct answer a = { 0 };

    return wait_for(&a, backend->ops->put(backend, path, text, strlen(text), on_done, &a));
}

static struct answer get(const char *path)
{
    struct answer a = { 0 };

    return wait_for(&a, backend->ops->get(backend, path, on_got, &a));
}

static struct answer list(const char *path)
{
    struct answer a = { 0 };

    return wait_for(&a, backend->ops->list(backend, path, on_listed, &a));
}

static struct answer removed(const char *path, bool tree)
{
    struct answer a = { 0 };

    return wait_for(
        &a, (tree ? backend->ops->remove_tree : backend->ops->remove)(backend, path, on_done, &a));
}

static bool exists(const char *below)
{
    char path[512];
    struct stat st;

    (void)snprintf(path, sizeof(path), "%s/registry%s", root, below);
    return lstat(path, &st) == 0;
}

static void layout(void **state)
{
    (void)state;
    assert_int_equal(put(PLACE, "{1}").status, 0);
    assert_int_equal(put(PLACE "/components/ctr-1", "{2}").status, 0);
    assert_true(exists(PLACE "/_record"));
    assert_true(exists(PLACE "/components/ctr-1/_record"));
    assert_false(exists(PLACE "/_record.new"));
    assert_string_equal(get(PLACE).text, "{1}");
    assert_int_equal(put(PLACE, "{3}").status, 0);
    assert_string_equal(get(PLACE).text, "{3}");
    assert_string_equal(list(PLACE "/components").text, "ctr-1");
}

static void removals(void **state)
{
    (void)state;
    assert_int_equal(put(PLACE, "{1}").status, 0);
    assert_int_equal(put(PLACE "/components/ctr-1", "{2}").status, 0);
    assert_int_equal(removed(PLACE, false).status, -ENOTEMPTY);
    assert_int_equal(get(PLACE).status, -ENOENT);
    assert_int_equal(removed(PLACE "/components/ctr-1", false).status, 0);
    assert_int_equal(removed(PLACE "/components/ctr-1", false).status, 0); /* a missing one */
    assert_false(exists(PLACE "/components/ctr-1"));
    assert_int_equal(put(PLACE "/components/ctr-2", "{2}").status, 0);
    assert_int_equal(removed(PLACE, true).status, 0);
    assert_false(exists(PLACE));
    assert_int_equal(removed(PLACE, true).status, 0);
}

static void of_a_killed_process(void **state)
{
    char path[512];
    int fd;

    (void)state;
    assert_int_equal(put(PLACE, "{1}").status, 0);
    (void)snprintf(path, sizeof(path), "%s/registry" PLACE "/_record.new", root);
    fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(removed(PLACE, false).status, 0);
    assert_false(exists(PLACE));
}

static void nothing_there(void **state)
{
    struct answer a = { 0 };

    (void)state;
    assert_int_equal(list("/users").status, 0);
    assert_int_equal(list("/users").n, 0);
    assert_int_equal(get("/users").status, -ENOENT);
    assert_int_equal(backend->ops->get(backend, "users", on_got, &a), -EINVAL);
}

/* Records are anybody's who may write there. */
static void too_large(void **state)
{
    char path[512];
    int fd;

    (void)state;
    assert_int_equal(put(PLACE, "{1}").status, 0);
    (void)snprintf(path, sizeof(path), "%s/registry" PLACE "/_record", root);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, (off_t)REG_RECORD_MAX + 1), 0);
    close(fd);
    assert_int_equal(get(PLACE).status, -E2BIG);
}

static void away(void **state)
{
    char path[128];

    (void)state;
    (void)snprintf(path, sizeof(path), "%s/registry", root);
    assert_int_equal(close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)), 0);
    assert_int_equal(put(PLACE, "{1}").status, -ENOTDIR);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, open_all, close_all)
    const struct CMUnitTest tests[] = {
        T(layout), T(removals), T(of_a_killed_process), T(nothing_there), T(too_large), T(away),
    };
#undef T

    return cmocka_run_group_tests(tests, NULL, NULL);
}
