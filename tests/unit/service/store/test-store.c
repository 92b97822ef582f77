/* service/store/store.c on a directory of this machine: files are where Hadoop has them, with its
 * modes; what another account owns is absent or taken; names cannot leave the directory. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/own-user.h"
#include "service/store/store.h"

struct fix {
    char base[64];
    struct sv_conf *conf;
    struct svc_store *s;
    struct sv_error err;
};

static int setup(void **state)
{
    static struct fix f;
    char services[80];

    f = (struct fix){ .base = "/tmp/test-store-XXXXXX", .conf = sv_conf_new() };
    if (!mkdtemp(f.base) || sv_conf_set(f.conf, "yarn.service.base.path", f.base) < 0 ||
        sv_conf_set(f.conf, "fs.defaultFS", "file:///") < 0)
        return -1;
    (void)snprintf(services, sizeof(services), "%s/services", f.base);
    if (mkdir(services, 01777) < 0 || chmod(services, 01777) < 0)
        return -1;
    *state = &f;
    return svc_store_open(f.conf, sv_own_user(), -1, &f.s, &f.err);
}

static int teardown(void **state)
{
    struct fix *f = *state;
    _cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    f->s = svc_store_close(f->s);
    f->conf = sv_conf_free(f->conf);
    return sv_remove_tree_at(tmp, f->base + strlen("/tmp/"));
}

static mode_t mode_of(const struct fix *f, const char *path)
{
    char full[256];
    struct stat st;

    (void)snprintf(full, sizeof(full), "%s/%s", f->base, path);
    return stat(full, &st) < 0 ? 0 : st.st_mode & 07777;
}

static void test_files(void **state)
{
    struct fix *f = *state;
    _cleanup_free_ char *text = NULL, *upgraded = NULL;
    char *none = NULL, url[FS_URL_MAX + 1], expected[128];

    assert_int_equal(svc_store_read(f->s, "shop", NULL, &none, &f->err), -ENOENT);
    assert_int_equal(svc_store_replace(f->s, "shop", "{}", &f->err), -ENOENT);
    assert_int_equal(svc_store_create(f->s, "shop", NULL, "{\"a\":1}", &f->err), 0);
    assert_int_equal(svc_store_create(f->s, "shop", NULL, "{}", &f->err), -EEXIST);
    assert_int_equal(mode_of(f, "services/shop"), 0750);
    assert_int_equal(mode_of(f, "services/shop/shop.json") & 0027, 0);
    assert_int_equal(svc_store_replace(f->s, "shop", "{\"a\":2}", &f->err), 0);
    assert_int_equal(svc_store_read(f->s, "shop", NULL, &text, &f->err), 0);
    assert_string_equal(text, "{\"a\":2}");
    assert_int_equal(mode_of(f, "services/shop/shop.json.tmp"), 0);
    assert_int_equal(svc_store_create(f->s, "shop", "2.0", "{}", &f->err), 0);
    assert_int_equal(svc_store_create(f->s, "shop", "2.0", "{\"b\":1}", &f->err), 0);
    assert_int_equal(svc_store_read(f->s, "shop", "2.0", &upgraded, &f->err), 0);
    assert_string_equal(upgraded, "{\"b\":1}");
    assert_int_equal(mode_of(f, "services/shop/upgrade/2.0/shop.json") & 0027, 0);
    assert_int_equal(svc_store_url(f->s, "shop", url, &f->err), 0);
    (void)snprintf(expected, sizeof(expected), "file://%s/services/shop/shop.json", f->base);
    assert_string_equal(url, expected);
    assert_int_equal(svc_store_count(f->s, 10, &f->err), 1);
    assert_int_equal(svc_store_remove(f->s, "shop", &f->err), 1);
    assert_int_equal(svc_store_remove(f->s, "shop", &f->err), 0);
    assert_int_equal(mode_of(f, "services/shop"), 0);
    assert_int_equal(svc_store_count(f->s, 10, &f->err), 0);
}

static void test_files_of_the_master(void **state)
{
    struct fix *f = *state;
    struct svc_store_file a, b;
    char from[96];
    int fd;

    assert_int_equal(svc_store_put(f->s, "shop", "x", "1", NULL, &a, &f->err), -ENOENT);
    assert_int_equal(svc_store_create(f->s, "shop", NULL, "{}", &f->err), 0);
    assert_int_equal(svc_store_put(f->s, "shop", "site.xml", "<a/>", NULL, &a, &f->err), 0);
    assert_int_equal(a.size, 4);
    assert_int_equal(a.mtime_ms % 1000, 0);
    assert_non_null(strstr(a.url, "/services/shop/lib/site.xml"));
    (void)snprintf(from, sizeof(from), "%s/program", f->base);
    fd = open(from, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
    assert_int_equal(write(fd, "program", 7), 7);
    close(fd);
    assert_int_equal(svc_store_put(f->s, "shop", "p", NULL, from, &a, &f->err), 0);
    assert_int_equal(svc_store_put(f->s, "shop", "p", NULL, from, &b, &f->err), 0);
    assert_int_equal(a.size, 7);
    assert_int_equal(a.mtime_ms, b.mtime_ms);
    assert_int_equal(svc_store_put(f->s, "shop", "../p", NULL, from, &b, &f->err), -EINVAL);
}

static void test_hostile_names(void **state)
{
    static const char *const names[] = { "", "..", ".", "a/b", "A", "a_b", "/etc", "a\n" };
    static const char *const versions[] = { "", "..", ".", "../..", "a/b", "/", "a\nb" };
    struct fix *f = *state;
    char *text = NULL;

    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        assert_int_equal(svc_store_read(f->s, names[i], NULL, &text, &f->err), -EINVAL);
        assert_int_equal(svc_store_create(f->s, names[i], NULL, "{}", &f->err), -EINVAL);
        assert_int_equal(svc_store_replace(f->s, names[i], "{}", &f->err), -EINVAL);
        assert_int_equal(svc_store_remove(f->s, names[i], &f->err), -EINVAL);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(versions); i++) {
        assert_int_equal(svc_store_read(f->s, "shop", versions[i], &text, &f->err), -EINVAL);
        assert_int_equal(svc_store_create(f->s, "shop", versions[i], "{}", &f->err), -EINVAL);
    }
}

static void write_at(const struct fix *f, const char *path, const char *text, size_t n)
{
    char full[256];
    int fd;

    (void)snprintf(full, sizeof(full), "%s/%s", f->base, path);
    fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, text, n, 0), (ssize_t)n);
    close(fd);
}

static void test_hostile_files(void **state)
{
    struct fix *f = *state;
    char *text = NULL, link[160];

    assert_int_equal(svc_store_create(f->s, "shop", NULL, "{}", &f->err), 0);
    write_at(f, "services/shop/shop.json", "{\0}", 3);
    assert_int_equal(svc_store_read(f->s, "shop", NULL, &text, &f->err), -EBADMSG);
    (void)snprintf(link, sizeof(link), "%s/services/shop/shop.json", f->base);
    assert_int_equal(truncate(link, (off_t)(5 << 20)), 0);
    assert_int_equal(svc_store_read(f->s, "shop", NULL, &text, &f->err), -EFBIG);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("/etc/passwd", link), 0);
    assert_true(svc_store_read(f->s, "shop", NULL, &text, &f->err) < 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(mkfifo(link, 0600), 0); /* never waited for */
    assert_true(svc_store_read(f->s, "shop", NULL, &text, &f->err) < 0);
    assert_null(text);
}

/* As root: the directory is another account's. */
static void test_others(void **state)
{
    struct fix *f = *state;
    char dir[128], *text = NULL;
    struct svc_store_file file;

    if (geteuid() != 0)
        skip();
    assert_int_equal(svc_store_create(f->s, "shop", NULL, "{}", &f->err), 0);
    (void)snprintf(dir, sizeof(dir), "%s/services/shop", f->base);
    assert_int_equal(chown(dir, 65534, 65534), 0);
    assert_int_equal(svc_store_read(f->s, "shop", NULL, &text, &f->err), -ENOENT);
    assert_int_equal(svc_store_replace(f->s, "shop", "{}", &f->err), -ENOENT);
    assert_int_equal(svc_store_create(f->s, "shop", NULL, "{}", &f->err), -EEXIST);
    assert_int_equal(svc_store_create(f->s, "shop", "2", "{}", &f->err), -EEXIST);
    assert_int_equal(svc_store_put(f->s, "shop", "x", "1", NULL, &file, &f->err), -ENOENT);
    assert_int_equal(svc_store_remove(f->s, "shop", &f->err), 0);
    assert_int_equal(mode_of(f, "services/shop/shop.json") & 0400, 0400); /* is still there */
    assert_int_equal(svc_store_count(f->s, 10, &f->err), 1); /* far from the limit: not asked */
    assert_int_equal(svc_store_count(f->s, 1, &f->err), 0);
}

static void test_other_account(void **state)
{
    struct fix *f = *state;
    struct svc_store *s = NULL;
    bool local = false;

    assert_int_equal(svc_store_open(f->conf, "somebody", -1, &s, &f->err), -EPERM);
    assert_null(s);
    assert_int_equal(svc_store_is_local(f->conf, &local, &f->err), 0);
    assert_true(local);
    assert_int_equal(sv_conf_set(f->conf, "yarn.service.base.path", "hdfs://h:1/x"), 0);
    assert_int_equal(svc_store_is_local(f->conf, &local, &f->err), 0);
    assert_false(local);
}

/* Whoever made it could rename what is below. */
static void test_missing_directory_of_all(void **state)
{
    struct fix *f = *state;
    char services[80];

    (void)snprintf(services, sizeof(services), "%s/services", f->base);
    assert_int_equal(rmdir(services), 0);
    assert_true(svc_store_create(f->s, "shop", NULL, "{}", &f->err) < 0);
    assert_non_null(strstr(f->err.text, "1777"));
    assert_int_equal(mode_of(f, "services"), 0);
    assert_int_equal(svc_store_count(f->s, 10, &f->err), 0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = { T(test_files),
                                        T(test_files_of_the_master),
                                        T(test_hostile_names),
                                        T(test_hostile_files),
                                        T(test_others),
                                        T(test_other_account),
                                        T(test_missing_directory_of_all) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
