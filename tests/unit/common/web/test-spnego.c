/* Tests common/web/spnego.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/str.h"
#include "common/web/spnego.h"
#include "common/web/web-acceptor.h"

static int token_of(const char *header)
{
    uint8_t *token = NULL;
    size_t n = 0;
    int r = sv_spnego_token(header, &token, &n);

    if (r == 0 && (n != 3 || memcmp(token, "abc", 3) != 0))
        fail_msg("%s: another token", header);
    assert_true((r == 0) == (token != NULL));
    free(token);
    return r;
}

static void test_headers(void **state)
{
    static const struct {
        const char *header;
        int result;
    } t[] = {
        { "Negotiate YWJj", 0 },
        { "negotiate YWJj", 0 },
        { " \tNEGOTIATE \t YWJj \t", 0 },
        { "", -ENODATA },
        { "Basic YWJj", -ENODATA },
        { "Negotiat", -ENODATA },
        { "NegotiateYWJj", -ENODATA },
        { "Negotiate,YWJj", -ENODATA },
        { "Negotiate", -EBADMSG },
        { "Negotiate  ", -EBADMSG },
        { "Negotiate YWJ", -EBADMSG },
        { "Negotiate YW Jj", -EBADMSG },
        { "Negotiate YWJ*", -EBADMSG },
        { "Negotiate YWJj, Basic YWJj", -EBADMSG },
        { "Negotiate ====", -EBADMSG },
        { "Negotiate TlRMTVNTUAABAAAA", -EPROTONOSUPPORT },
        { "Negotiate TlRMTVNTUAA=", -EPROTONOSUPPORT },
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++)
        if (token_of(t[i].header) != t[i].result)
            fail_msg("\"%s\": not %d", t[i].header, t[i].result);
}

/* A token of the largest size, and one byte more. */
static void test_sizes(void **state)
{
    (void)state;
    for (size_t n = SV_WEB_TOKEN_MAX - 1; n <= SV_WEB_TOKEN_MAX + 1; n++) {
        _cleanup_free_ uint8_t *bytes = calloc(1, n), *token = NULL;
        _cleanup_free_ char *header = NULL;
        size_t len = 0;
        int r;

        assert_int_equal(sv_spnego_challenge(bytes, n, &header), 0);
        r = sv_spnego_token(header, &token, &len);
        assert_int_equal(r, n > SV_WEB_TOKEN_MAX ? -EMSGSIZE : 0);
        assert_true(r < 0 || (len == n && memcmp(token, bytes, n) == 0));
    }
}

static void test_challenge(void **state)
{
    char *text;

    (void)state;
    assert_int_equal(sv_spnego_challenge(NULL, 0, &text), 0);
    assert_string_equal(text, "Negotiate");
    free(text);
    assert_int_equal(sv_spnego_challenge((const uint8_t *)"abc", 3, &text), 0);
    assert_string_equal(text, "Negotiate YWJj");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_challenge),
    };

    return cmocka_run_group_tests_name("spnego", tests, NULL, NULL);
}
