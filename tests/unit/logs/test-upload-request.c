/* Tests logs/upload-request.c: log-uploader reads the NodeManager's request; truncated and
 * malformed requests and answers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "logs/upload-request.h"

static void put_all(struct sv_buf *b)
{
    static const uint8_t gz = LOGS_GZ, yes = 1;

    assert_int_equal(logs_upload_put_text(b, LOGS_USER, "alice"), 0);
    assert_int_equal(logs_upload_put_text(b, LOGS_GROUP, ""), 0);
    assert_int_equal(logs_upload_put(b, LOGS_TAG_CODEC, &gz, 1), 0);
    assert_int_equal(logs_upload_put(b, LOGS_TAG_HOSTNAMES, &yes, 1), 0);
    assert_int_equal(logs_upload_put(b, LOGS_TAG_CREDENTIALS, &yes, 1), 0);
    assert_int_equal(logs_upload_put_u32(b, LOGS_TAG_TIMEOUT, 60000), 0);
    assert_int_equal(logs_upload_put_u32(b, LOGS_TAG_PROTECTION, 0x41), 0);
    assert_int_equal(logs_upload_put_text(b, LOGS_TAG_RIGHT, "VIEW_APP"), 0);
    assert_int_equal(logs_upload_put_text(b, LOGS_TAG_LIST, "*"), 0);
    assert_int_equal(logs_upload_put_text(b, LOGS_TAG_RIGHT, "MODIFY_APP"), 0);
    for (int i = 0; i < 5; i++)
        assert_int_equal(logs_upload_put_text(b, LOGS_TAG_CONTAINER, i ? "container_2" : "c"), 0);
    assert_int_equal(logs_upload_put_text(b, LOGS_TAG_SKIP, "container_3"), 0);
}

static uint8_t *copy(const struct sv_buf *b, size_t n)
{
    uint8_t *p = malloc(n + 1);

    assert_non_null(p);
    memcpy(p, b->data, n);
    return p;
}

static void round_trip(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
    struct logs_upload u;

    (void)state;
    put_all(&b);
    assert_int_equal(logs_upload_parse(copy(&b, b.len), b.len, &u), 0);
    assert_string_equal(u.text[LOGS_USER], "alice");
    assert_string_equal(u.text[LOGS_GROUP], "");
    assert_string_equal(u.text[LOGS_SERVERS], "");
    assert_int_equal(u.codec, LOGS_GZ);
    assert_true(u.use_hostname);
    assert_true(u.has_credentials);
    assert_int_equal(u.io_timeout_ms, 60000);
    assert_int_equal(u.protection, 0x41);
    assert_int_equal(u.n_acls, 2);
    assert_string_equal(u.acls[0].list, "*");
    assert_string_equal(u.acls[1].list, "");
    assert_int_equal(u.containers.n, 5);
    assert_string_equal(u.containers.v[0], "c");
    assert_string_equal(u.containers.v[4], "container_2");
    assert_int_equal(u.skips.n, 1);
    logs_upload_clear(&u);
}

/* With the older layout there is no bucket, wherever its field stands. */
static void older_layout(void **state)
{
    (void)state;
    for (uint8_t older = 0; older <= 1; older++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        struct logs_upload u;

        assert_int_equal(logs_upload_put(&b, LOGS_TAG_OLDER_LAYOUT, &older, 1), 0);
        assert_int_equal(logs_upload_put_text(&b, LOGS_BUCKET, "0042"), 0);
        assert_int_equal(logs_upload_parse(copy(&b, b.len), b.len, &u), 0);
        assert_string_equal(u.text[LOGS_BUCKET], older ? "" : "0042");
        logs_upload_clear(&u);
    }
}

static void cut(void **state)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);

    (void)state;
    put_all(&b);
    for (size_t n = 0; n < b.len; n++) {
        struct logs_upload u;

        if (logs_upload_parse(copy(&b, n), n, &u) == 0) /* at the end of a field */
            logs_upload_clear(&u);
    }
}

static void malformed(void **state)
{
    static const struct {
        int tag;
        const char *p;
        size_t n;
    } bad[] = { { 0, "x", 1 },
                { LOGS_FIELDS, "x", 1 },
                { LOGS_USER, "a\0b", 3 },
                { LOGS_TAG_CODEC, "\2", 1 },
                { LOGS_TAG_TIMEOUT, "xyz", 3 },
                { LOGS_TAG_LIST, "*", 1 },
                { LOGS_TAG_CREDENTIALS, "HDTS", 4 },
                { 255, "", 0 } };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);
        struct logs_upload u;

        assert_int_equal(logs_upload_put(&b, bad[i].tag, bad[i].p, bad[i].n), 0);
        assert_int_equal(logs_upload_parse(copy(&b, b.len), b.len, &u), -EBADMSG);
    }
}

static void answers(void **state)
{
    struct logs_answer a = { .outcome = LOGS_FAILED }, is;

    (void)state;
    memset(a.text, 'x', sizeof(a.text));
    a.text[3] = '\n';
    assert_int_equal(logs_answer_parse(&a, sizeof(a), &is), 0);
    assert_int_equal(strlen(is.text), sizeof(is.text) - 1);
    assert_int_equal(is.text[3], '?');
    assert_int_equal(logs_answer_parse(&a, sizeof(a) - 1, &is), -EBADMSG);
    a.outcome = LOGS_REFUSED + 1;
    assert_int_equal(logs_answer_parse(&a, sizeof(a), &is), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip), cmocka_unit_test(older_layout), cmocka_unit_test(cut),
        cmocka_unit_test(malformed),  cmocka_unit_test(answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
