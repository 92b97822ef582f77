/* client/doctor/doctor-gss.c: lines of selvedge-gss --check, good ones and others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "client/doctor/doctor-gss.h"

static bool take(struct doctor *d, const char *text)
{
    char line[256];

    snprintf(line, sizeof(line), "%s", text);
    return cli_doctor_gss_line(d, line);
}

static void test_states(void **state)
{
    struct doctor d = { 0 };

    (void)state;
    assert_true(take(&d, "ok\tkrb5.conf\t/etc/krb5.conf: default realm R\t"));
    assert_true(take(&d, "note\tkeytab\tand 3 principals more\t"));
    assert_true(take(&d, "weak\tKDC\ta ticket after 1200 ms\tsee kdc in krb5.conf"));
    assert_true(take(&d, "bad\tKDC\tno ticket\tstart it"));
    assert_true(take(&d, "bad\tkeytab\t\t"));
    assert_int_equal(d.counts[DOCTOR_OK], 1);
    assert_int_equal(d.counts[DOCTOR_NOTE], 1);
    assert_int_equal(d.counts[DOCTOR_WEAK], 1);
    assert_int_equal(d.counts[DOCTOR_BAD], 2);
    cli_doctor_findings_free(&d);
}

static void test_others(void **state)
{
    static const char *const lines[] = {
        "",
        "\t\t\t",
        "ok",
        "ok\tKDC",
        "ok\tKDC\ttext",
        "ok\tKDC\ttext\tremedy\tmore",
        "ok\tKDC\ttext\t\t",
        "OK\tKDC\ttext\t",
        "okay\tKDC\ttext\t",
        "ok\thelper\ttext\t",
        " ok\tKDC\ttext\t",
        "Usage: selvedge-gss --keytab FILE",
        "system call filter: Operation not permitted",
    };
    struct doctor d = { 0 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(lines); i++)
        if (take(&d, lines[i]))
            fail_msg("taken: %s", lines[i]);
    for (size_t i = 0; i < SV_ARRAY_LEN(d.counts); i++)
        assert_int_equal(d.counts[i], 0);
    assert_null(d.findings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
