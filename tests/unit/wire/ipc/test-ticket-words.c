/* Tests wire/ipc/ticket-words.c: each failure of a login says what is wrong and what helps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <gssapi/gssapi.h>
#include <krb5.h>
#include <string.h>

#include "wire/ipc/ticket-words.h"

#define ALICE "alice@A.TEST"
#define RM "rm/host@A.TEST"
#define KEY "yarn.resourcemanager.principal"

struct row {
    struct ipc_ticket_failure failure;
    int code;
    const char *words[4];
};

static const struct row rows[] = {
    /* Nothing is there: by the routine error, or by the cache's. */
    { { .major = GSS_S_NO_CRED, .text = "No Kerberos credentials available" },
      -ENOKEY,
      { "No Kerberos credentials available", "run kinit" } },
    { { .major = GSS_S_FAILURE, .minor = (uint32_t)KRB5_FCC_NOFILE, .text = "No cache found" },
      -ENOKEY,
      { "No cache found", "run kinit" } },
    { { .major = GSS_S_NO_CRED, .text = "none", .principal = ALICE },
      -ENOKEY,
      { "run kinit " ALICE } },
    /* It has ended: at the look, or at the login. */
    { { .major = GSS_S_CREDENTIALS_EXPIRED, .text = "", .principal = ALICE },
      -EKEYEXPIRED,
      { ALICE " has ended", "run kinit" } },
    { { .major = GSS_S_CREDENTIALS_EXPIRED, .text = "" },
      -EKEYEXPIRED,
      { "has ended", "run kinit" } },
    { { .major = GSS_S_FAILURE,
        .minor = (uint32_t)KRB5KRB_AP_ERR_TKT_EXPIRED,
        .text = "Ticket expired",
        .principal = ALICE,
        .target = RM },
      -EKEYEXPIRED,
      { ALICE " has ended", "run kinit" } },
    { { .major = GSS_S_FAILURE,
        .minor = (uint32_t)KRB5KRB_AP_ERR_SKEW,
        .text = "Clock skew too great",
        .principal = ALICE,
        .target = RM },
      -EACCES,
      { "Clock skew too great", "the clock here says 2", "chronyc", "kinit" } },
    { { .major = GSS_S_FAILURE,
        .minor = (uint32_t)KRB5KRB_AP_ERR_TKT_NYV,
        .text = "Ticket not yet valid",
        .principal = ALICE },
      -EACCES,
      { "Ticket not yet valid", "clocks" } },
    /* Servers and realms. */
    { { .major = GSS_S_FAILURE,
        .minor = (uint32_t)KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN,
        .text = "Server not found",
        .principal = ALICE,
        .target = RM,
        .key = KEY },
      -EACCES,
      { RM, KEY, "kinit" } },
    { { .major = GSS_S_FAILURE,
        .minor = (uint32_t)KRB5KDC_ERR_S_PRINCIPAL_UNKNOWN,
        .text = "Server krbtgt/A.TEST@B.TEST not found",
        .principal = "carol@B.TEST",
        .target = RM,
        .key = KEY },
      -EACCES,
      { "carol@B.TEST", RM, "kinit with a principal of A.TEST" } },
    { { .major = GSS_S_FAILURE,
        .minor = (uint32_t)KRB5_KDC_UNREACH,
        .text = "Cannot contact any KDC for realm 'A.TEST'",
        .principal = ALICE,
        .target = RM },
      -EAGAIN,
      { "no KDC answers", "krb5.conf" } },
    { { .major = GSS_S_FAILURE, .minor = 1, .text = "Something else", .target = RM },
      -EACCES,
      { "login to " RM, "Something else", "kinit" } },
    /* Keytabs: kinit is no help. */
    { { .major = GSS_S_FAILURE,
        .minor = (uint32_t)KRB5_KT_NOTFOUND,
        .text = "no key",
        .principal = ALICE,
        .keytab = "/etc/a.keytab" },
      -EACCES,
      { "keytab /etc/a.keytab", ALICE, "klist -k" } },
    { { .major = GSS_S_NO_CRED,
        .minor = (uint32_t)KRB5KDC_ERR_PREAUTH_FAILED,
        .text = "Preauthentication failed",
        .principal = ALICE,
        .keytab = "/etc/a.keytab" },
      -EACCES,
      { "Preauthentication failed", "ktadd" } },
    { { .major = GSS_S_NO_CRED,
        .minor = (uint32_t)KRB5_KDC_UNREACH,
        .text = "Cannot contact any KDC",
        .principal = ALICE,
        .keytab = "/etc/a.keytab" },
      -EAGAIN,
      { "no KDC answers" } },
};

static void test_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct sv_error err = { 0 };

        assert_int_equal(ipc_ticket_words(&rows[i].failure, &err), rows[i].code);
        assert_int_equal(err.code, rows[i].code);
        assert_null(strchr(err.text, '\n'));
        for (size_t k = 0; k < SV_ARRAY_LEN(rows[i].words) && rows[i].words[k]; k++)
            if (!strstr(err.text, rows[i].words[k]))
                fail_msg("row %zu: \"%s\" lacks \"%s\"", i, err.text, rows[i].words[k]);
    }
}

/* A key in a file is never replaced by a password that is typed. */
static void test_keytab(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        struct sv_error err = { 0 };

        if (!rows[i].failure.keytab || rows[i].code == -EAGAIN)
            continue;
        (void)ipc_ticket_words(&rows[i].failure, &err);
        assert_null(strstr(err.text, "kinit"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_keytab),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
