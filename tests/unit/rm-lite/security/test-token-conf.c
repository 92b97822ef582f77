/* rm-lite/security/token-conf.c: which NameNodes a job's configuration names, of bytes that Hadoop
 * 3.4.2 has written (tests/fuzz/corpus/token-conf). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "rm-lite/security/token-conf.h"
#include "wire/token/writable.h"

static size_t read_seed(const char *name, uint8_t *dst, size_t size)
{
    char path[256];
    FILE *f;
    size_t n;

    snprintf(path, sizeof(path), "tests/fuzz/corpus/token-conf/%s", name);
    f = fopen(path, "rb");
    assert_non_null(f);
    n = fread(dst, 1, size, f);
    fclose(f);
    return n;
}

static void test_java(void **state)
{
    struct sv_conf *c;
    struct sv_error err = { 0 };
    uint8_t b[4096];

    (void)state;
    assert_int_equal(rm_token_conf_parse(b, read_seed("far", b, sizeof(b)), &c, &err), 0);
    assert_string_equal(sv_conf_raw(c, "dfs.nameservices"), "far,near");
    assert_string_equal(sv_conf_raw(c, "dfs.ha.namenodes.far"), "nn1,nn2");
    assert_string_equal(sv_conf_raw(c, "dfs.namenode.rpc-address.far.nn2"), "far2.example:8020");
    assert_null(sv_conf_raw(c, "dfs.namenode.kerberos.principal.pattern")); /* the RM's counts */
    sv_conf_free(c);
    assert_int_equal(rm_token_conf_parse(b, read_seed("empty", b, sizeof(b)), &c, &err), 0);
    sv_conf_free(c);
}

static void test_variables_are_dropped(void **state)
{
    struct sv_conf *c;
    uint8_t b[4096];

    (void)state;
    assert_int_equal(rm_token_conf_parse(b, read_seed("resource", b, sizeof(b)), &c, NULL), 0);
    assert_null(sv_conf_raw(c, "dfs.nameservices"));
    assert_null(sv_conf_raw(c, "x.y"));
    sv_conf_free(c);
}

static void test_cut(void **state)
{
    struct sv_conf *c = NULL;
    struct sv_error err = { 0 };
    uint8_t b[4096];
    size_t n = read_seed("far", b, sizeof(b));

    (void)state;
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rm_token_conf_parse(b, i, &c, &err), -EBADMSG);
    assert_non_null(strstr(err.text, "tokens_conf: malformed near byte"));
    b[0] = 0x88; /* a count of eight bytes to come */
    memset(b + 1, 0xff, 8);
    assert_int_equal(rm_token_conf_parse(b, n, &c, &err), -EBADMSG);
}

static void test_too_many(void **state)
{
    struct sv_buf b = SV_BUF_INIT(1 << 20);
    struct sv_conf *c = NULL;
    struct sv_error err = { 0 };
    char name[64];

    (void)state;
    assert_int_equal(ipc_writable_put_vlong(&b, RM_TOKEN_CONF_KEPT_MAX + 1), 0);
    for (int i = 0; i <= RM_TOKEN_CONF_KEPT_MAX; i++) {
        snprintf(name, sizeof(name), "dfs.ha.namenodes.n%d", i);
        assert_int_equal(ipc_writable_put_text(&b, name), 0);
        assert_int_equal(ipc_writable_put_text(&b, "a"), 0);
        assert_int_equal(sv_buf_put_u32(&b, UINT32_MAX), 0);
    }
    assert_int_equal(rm_token_conf_parse(b.data, b.len, &c, &err), -E2BIG);
    assert_non_null(strstr(err.text, "more than 256 NameNodes"));
    assert_int_equal(rm_token_conf_parse(b.data, RM_TOKEN_CONF_MAX + 1, &c, &err), -E2BIG);
    sv_buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_java),
        cmocka_unit_test(test_variables_are_dropped),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_too_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
