/* Tests wire/token/node-secret.c: which files are taken as the secret, and tokens made with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "wire/token/node-secret.h"

#define SECRET "0123456789abcdef0123456789abcdef"

static char dir[64], path[96];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/test-node-secret-XXXXXX");
    snprintf(path, sizeof(path), "%s/secret", mkdtemp(dir));
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(dir);
}

static void write_secret(const void *p, size_t n, mode_t mode)
{
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, p, n), (ssize_t)n);
    assert_int_equal(fchmod(fd, mode), 0);
    sv_close(fd);
}

static int load(const char *file, struct yarn_node_secret *s, struct sv_error *err)
{
    _cleanup_(sv_conf_freep) struct sv_conf *c = sv_conf_new();
    *err = (struct sv_error){ 0 };
    assert_int_equal(sv_conf_set(c, "selvedge.node-secret.file", file), 0);
    return yarn_node_secret_load(c, s, err);
}

static void refused(int status, const char *words)
{
    struct yarn_node_secret s;
    struct sv_error err;
    assert_int_equal(load(path, &s, &err), status);
    assert_non_null(strstr(err.text, words));
    assert_non_null(strstr(err.text, "selvedge.node-secret.file"));
}

static void test_files(void **state)
{
    (void)state;
    struct yarn_node_secret s, t;
    struct sv_error err;
    char big[YARN_NODE_SECRET_MAX + 1];
    write_secret(SECRET, 32, 0600);
    assert_int_equal(load(path, &s, &err), 0);
    assert_int_equal(s.len, 32);
    write_secret(SECRET "\n", 33, 0400); /* an editor's last line */
    assert_int_equal(load(path, &t, &err), 0);
    assert_string_equal(s.id, t.id);
    write_secret(SECRET, 31, 0600);
    refused(-EINVAL, "32 random ones");
    write_secret(SECRET "                ", 31 + 16, 0600);
    assert_int_equal(load(path, &t, &err), 0);
    write_secret("                                        ", 40, 0600);
    refused(-EINVAL, "has 0 bytes");
    memset(big, 'x', sizeof(big));
    write_secret(big, sizeof(big) - 1, 0600);
    assert_int_equal(load(path, &t, &err), 0);
    write_secret(big, sizeof(big), 0600);
    refused(-EFBIG, "more than");
    for (unsigned mode = 0604; mode > 0600; mode--) {
        write_secret(SECRET, 32, mode);
        refused(-EPERM, "chmod 0600");
    }
    write_secret(SECRET, 32, 0640);
    refused(-EPERM, "0640");
    if (geteuid() == 0) {
        write_secret(SECRET, 32, 0600);
        assert_int_equal(chown(path, 12345, 0), 0);
        refused(-EPERM, "belongs to uid 12345");
    }
    (void)unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    refused(-EINVAL, "not a regular file");
    (void)unlink(path);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    refused(-ELOOP, "cannot open");
    (void)unlink(path);
    refused(-ENOENT, "cannot open"); /* configured and not there */
    assert_int_equal(load("", &s, &err), 0);
    assert_int_equal(s.len, 0);
}

static struct yarn_node_secret secret_of(const char *text)
{
    struct yarn_node_secret s;
    struct sv_error err;
    write_secret(text, strlen(text), 0600);
    assert_int_equal(load(path, &s, &err), 0);
    return s;
}

static int verify(const struct yarn_node_secret *s, const void *id, size_t n,
                  const struct yarn_node_token *t, char host[256], struct sv_error *err)
{
    uint8_t password[YARN_TOKEN_PASSWORD_MAX];
    size_t len;
    *err = (struct sv_error){ 0 };
    int r = yarn_node_token_verify(s, id, n, password, &len, host, err);
    if (r < 0)
        return r;
    return yarn_bytes_equal(password, len, t->password, t->token.password_len) ? 0 : -EBADMSG;
}

static void test_tokens(void **state)
{
    (void)state;
    struct yarn_node_secret s = secret_of(SECRET), other = secret_of(SECRET "x");
    struct yarn_node_token t, forged;
    struct sv_error err;
    char host[256];
    assert_string_not_equal(s.id, other.id);
    assert_int_equal(yarn_node_token_make(&s, "worker1.example", &t), 0);
    assert_string_equal(t.token.kind, "SELVEDGE_NODE_TOKEN");
    assert_null(memmem(t.id, t.token.id_len, SECRET, 8));
    assert_int_equal(verify(&s, t.id, t.token.id_len, &t, host, &err), 0);
    assert_string_equal(host, "worker1.example");
    assert_int_equal(verify(&other, t.id, t.token.id_len, &t, host, &err), -EACCES);
    assert_non_null(strstr(err.text, "secret differs"));
    /* the secret's id is public: with it alone the password is another */
    assert_int_equal(yarn_node_token_make(&other, "worker1.example", &forged), 0);
    assert_int_equal(verify(&s, t.id, t.token.id_len, &forged, host, &err), -EBADMSG);
    /* another host has another password */
    t.id[t.token.id_len - 1] ^= 1;
    assert_int_equal(verify(&s, t.id, t.token.id_len, &t, host, &err), -EBADMSG);
    assert_int_equal(yarn_node_token_make(&s, "", &t), -EINVAL);
    assert_int_equal(yarn_node_token_make(&s, "a b", &t), -EINVAL);
}

static void test_malformed(void **state)
{
    (void)state;
    struct yarn_node_secret s = secret_of(SECRET);
    struct yarn_node_token t;
    struct sv_error err;
    char host[256], id[YARN_NODE_TOKEN_ID_MAX + 8];
    assert_int_equal(yarn_node_token_make(&s, "h", &t), 0);
    for (size_t n = 0; n < t.token.id_len; n++) /* exact copies: a read beyond is found */ {
        uint8_t *cut = malloc(n + 1);
        memcpy(cut, t.id, n);
        assert_int_equal(verify(&s, cut, n, &t, host, &err), -EACCES);
        free(cut);
    }
    for (size_t i = 0; i < t.token.id_len; i++) {
        memcpy(id, t.id, t.token.id_len);
        id[i] = '\n';
        assert_int_equal(verify(&s, id, t.token.id_len, &t, host, &err), -EACCES);
    }
    memset(id, 'h', sizeof(id));
    memcpy(id, t.id, t.token.id_len);
    assert_int_equal(verify(&s, id, YARN_NODE_TOKEN_ID_MAX, &t, host, &err), -EACCES);
    assert_int_equal(verify(&s, id, t.token.id_len + 255, &t, host, &err), -EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_tokens, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(test_malformed, make_dir, remove_dir),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
