/* Tests wire/sasl/gssapi-final.c: offer and choice of protection, RFC 4752. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "wire/sasl/gssapi-final.h"
#include "wire/sasl/qop.h"

#define ALICE "alice@KRB.TEST"

static void test_put(void **state)
{
    (void)state;
    uint8_t p[GSSAPI_OFFER_LEN];

    ipc_gssapi_final_put(IPC_QOP_ALL, 0x123456, p);
    assert_memory_equal(p, "\x07\x12\x34\x56", 4);
}

static void test_offer(void **state)
{
    (void)state;
    static const struct {
        const char *p;
        size_t n;
        uint32_t allowed, qop; /* 0: refused */
        const char *words;
    } cases[] = {
        { "\x07\x01\x00\x00", 4, IPC_QOP_ALL, IPC_QOP_PRIVACY, NULL },
        { "\x07\x01\x00\x00", 4, IPC_QOP_AUTH, IPC_QOP_AUTH, NULL },
        { "\x03\x01\x00\x00", 4, IPC_QOP_ALL, IPC_QOP_INTEGRITY, NULL },
        { "\x01\x00\x00\x00", 4, IPC_QOP_ALL, IPC_QOP_AUTH, NULL },
        { "\x01\x01\x00\x00", 4, IPC_QOP_ALL, IPC_QOP_AUTH, NULL }, /* Java's server */
        { "\xff\x01\x00\x00", 4, IPC_QOP_ALL, IPC_QOP_PRIVACY, NULL },
        { "\x04\x00\x03\xff", 4, IPC_QOP_ALL, 0, "1023" },
        { "\x04\x00\x04\x00", 4, IPC_QOP_ALL, IPC_QOP_PRIVACY, NULL },
        { "\x01\x01\x00\x00", 4, IPC_QOP_PRIVACY, 0, "hadoop.rpc.protection" },
        { "\xf8\x01\x00\x00", 4, IPC_QOP_ALL, 0, "nothing" },
        { "\x00\x01\x00\x00", 4, IPC_QOP_ALL, 0, "nothing" },
        { "\x07\x01\x00", 3, IPC_QOP_ALL, 0, "malformed" },
        { "\x07\x01\x00\x00\x00", 5, IPC_QOP_ALL, 0, "malformed" },
        { "", 0, IPC_QOP_ALL, 0, "malformed" },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_error err = { 0 };
        uint32_t qop = 0, max = 0;
        int r = ipc_gssapi_offer_read((const uint8_t *)cases[i].p, cases[i].n, cases[i].allowed,
                                      &qop, &max, &err);

        assert_int_equal(r, cases[i].qop ? 0 : -EACCES);
        assert_int_equal(qop, cases[i].qop);
        if (r < 0)
            assert_non_null(strstr(err.text, cases[i].words));
    }
}

static void test_choice(void **state)
{
    (void)state;
    static const struct {
        const char *p;
        size_t n;
        uint32_t offered, qop;
        const char *words;
    } cases[] = {
        { "\x01\x00\x00\x00", 4, IPC_QOP_ALL, IPC_QOP_AUTH, NULL },
        { "\x01\x01\x00\x00", 4, IPC_QOP_ALL, IPC_QOP_AUTH, NULL }, /* Java's client */
        { "\x04\x01\x00\x00" ALICE, 4 + sizeof(ALICE) - 1, IPC_QOP_ALL, IPC_QOP_PRIVACY, NULL },
        { "\x02\x01\x00\x00", 4, IPC_QOP_INTEGRITY, IPC_QOP_INTEGRITY, NULL },
        { "\x02\x01\x00\x00" ALICE, 4 + sizeof(ALICE), IPC_QOP_ALL, 0, "Problem with callback" },
        { "\x02\x01\x00\x00" ALICE, 4 + sizeof(ALICE) - 2, IPC_QOP_ALL, 0, "Problem with" },
        { "\x01\x00\x00\x00"
          "alice",
          9, IPC_QOP_ALL, 0, "Problem with callback" },
        { "\x01\x00\x00\x00"
          "root@KRB.TEST.",
          18, IPC_QOP_ALL, 0, "Problem with callback" },
        { "\x02\x01\x00\x00", 4, IPC_QOP_PRIVACY, 0, "allows privacy" }, /* lowered in between */
        { "\x01\x00\x00\x00", 4, IPC_QOP_PRIVACY | IPC_QOP_INTEGRITY, 0, "allows integrity" },
        { "\x03\x01\x00\x00", 4, IPC_QOP_ALL, 0, "chose protection 3" },
        { "\x00\x01\x00\x00", 4, IPC_QOP_ALL, 0, "chose protection 0" },
        { "\x08\x01\x00\x00", 4, IPC_QOP_ALL, 0, "chose protection 8" },
        { "\x84\x01\x00\x00", 4, IPC_QOP_ALL, 0, "chose protection 132" },
        { "\x02\x00\x00\x00", 4, IPC_QOP_ALL, 0, "0 bytes only" },
        { "\x01\x00\x00", 3, IPC_QOP_ALL, 0, "malformed" },
        { "", 0, IPC_QOP_ALL, 0, "malformed" },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct sv_error err = { 0 };
        uint32_t qop = 0, max = 0;
        int r = ipc_gssapi_choice_read((const uint8_t *)cases[i].p, cases[i].n, cases[i].offered,
                                       ALICE, &qop, &max, &err);

        assert_int_equal(r, cases[i].qop ? 0 : -EACCES);
        assert_int_equal(qop, cases[i].qop);
        if (r < 0)
            assert_non_null(strstr(err.text, cases[i].words));
    }
}

static void test_long_names(void **state)
{
    (void)state;
    struct sv_error err = { 0 };
    char name[GSSAPI_NAME_MAX + 2];
    uint8_t p[GSSAPI_CHOICE_MAX + 1] = { IPC_QOP_AUTH };
    uint32_t qop, max;

    memset(name, 'a', sizeof(name));
    memset(p + GSSAPI_OFFER_LEN, 'a', sizeof(p) - GSSAPI_OFFER_LEN);
    name[GSSAPI_NAME_MAX] = 0;
    assert_int_equal(
        ipc_gssapi_choice_read(p, GSSAPI_CHOICE_MAX, IPC_QOP_AUTH, name, &qop, &max, &err), 0);
    name[GSSAPI_NAME_MAX] = 'a';
    name[GSSAPI_NAME_MAX + 1] = 0;
    assert_int_equal(
        ipc_gssapi_choice_read(p, GSSAPI_CHOICE_MAX + 1, IPC_QOP_AUTH, name, &qop, &max, &err),
        -EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put),
        cmocka_unit_test(test_offer),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_long_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
