/* Tests gss/check.c and its parts, and gss/findings.c: lines about files, without a KDC. With one:
 * tests/integration/gss/test-check. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/mman.h>

#include "common/fd.h"
#include "gss/check-key-list.h"
#include "gss/check.h"
#include "gss/findings.h"
#include "tests/unit/gss/keys.h"

#define WHO "nm/localhost@R"

static const char *dir;
static char keytab[64], conf[64], text[16384];

/* Standard output, and a file in its place. */
static int saved = -1, caught = -1;

static void catch_output(void)
{
    (void)fflush(stdout);
    saved = dup(STDOUT_FILENO);
    caught = memfd_create("output", MFD_CLOEXEC);
    assert_int_equal(dup2(caught, STDOUT_FILENO), STDOUT_FILENO);
}

static const char *caught_output(void)
{
    ssize_t n;

    (void)fflush(stdout);
    assert_int_equal(dup2(saved, STDOUT_FILENO), STDOUT_FILENO);
    n = pread(caught, text, sizeof(text) - 1, 0);
    assert_true(n >= 0);
    text[n] = '\0';
    saved = sv_close(saved);
    caught = sv_close(caught);
    return text;
}

static const char *check(const struct sgss_keytabs *keytabs, const char *principal)
{
    struct sgss_check c = { .keytabs = keytabs, .krb5_conf = conf };

    if (principal)
        c.principals[c.n++] = principal;
    catch_output();
    sgss_check(&c);
    return caught_output();
}

static void expect(const char *output, const char *line)
{
    if (!strstr(output, line))
        fail_msg("no \"%s\" in:\n%s", line, output);
}

static void test_lines(void **state)
{
    (void)state;
    catch_output();
    sgss_find(SGSS_BAD, SGSS_AREA_KDC, "a\nb", "one\ttwo\nthree\x80\x1b[31m%s", "");
    sgss_find(SGSS_FINE, SGSS_AREA_CONF, NULL, "%s", "text");
    assert_string_equal(caught_output(), "bad\tKDC\tone?two?three??[31m\ta?b\n"
                                         "ok\tkrb5.conf\ttext\t\n");
}

static void test_long_line(void **state)
{
    char many[5000];
    const char *line;

    (void)state;
    memset(many, 'x', sizeof(many) - 1);
    many[sizeof(many) - 1] = '\0';
    catch_output();
    sgss_find(SGSS_NOTE, SGSS_AREA_KEYTAB, many, "%s", many);
    line = caught_output();
    assert_true(strlen(line) < 2100);
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

static void test_keys(void **state)
{
    const struct sgss_keytabs k = { .paths = { keytab }, .n = 1 };
    const char *output = check(&k, NULL);

    (void)state;
    expect(output, "ok\tkrb5.conf\t");
    expect(output, "default realm R, KDC 127.0.0.1:1");
    expect(output, "mode 0400");
    expect(output, WHO ", kvno 1: aes256-cts-hmac-sha1-96");
}

static void test_refused_keytab(void **state)
{
    const struct sgss_keytabs k = { .paths = { keytab }, .n = 1 };

    (void)state;
    assert_int_equal(chmod(keytab, 0440), 0);
    expect(check(&k, NULL), "bad\tkeytab\tkeytab ");
    expect(text, "mode 0440");
    assert_int_equal(chmod(keytab, 0400), 0);
}

static void test_nobody_answers(void **state)
{
    const struct sgss_keytabs k = { .paths = { keytab }, .n = 1 };

    (void)state;
    expect(check(&k, WHO), "bad\tKDC\t" WHO " with ");
    expect(text, "Cannot contact any KDC");
    expect(text, "port 88");
    expect(check(&k, "other/localhost@R"), "bad\tkeytab\tno keytab has a key of other/localhost@R");
}

static void test_missing_conf(void **state)
{
    const struct sgss_keytabs k = { 0 };

    (void)state;
    assert_int_equal(chmod(conf, 0640), 0);
    expect(check(&k, NULL), "mode 0640");
    assert_int_equal(chmod(conf, 0644), 0);
}

static void test_types(void **state)
{
    char buf[80];

    (void)state;
    assert_string_equal(sgss_enctype_text(ENCTYPE_ARCFOUR_HMAC, buf, sizeof(buf)), "arcfour-hmac");
    assert_string_equal(sgss_enctype_text(4711, buf, sizeof(buf)), "encryption type 4711");
}

static int setup(void **state)
{
    (void)state;
    dir = keys_dir();
    snprintf(keytab, sizeof(keytab), "%s/keytab", dir);
    snprintf(conf, sizeof(conf), "%s/krb5.conf", dir);
    keys_add(keytab, WHO);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    keys_remove(dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),          cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_keys),           cmocka_unit_test(test_refused_keytab),
        cmocka_unit_test(test_nobody_answers), cmocka_unit_test(test_missing_conf),
        cmocka_unit_test(test_types),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
