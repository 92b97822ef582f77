/* client/doctor/doctor-rules.c: what becomes of principals on this machine, whose accounts are
 * those that every system has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "client/doctor/doctor-rules.h"
#include "common/identity/auth-to-local.h"

static void doctor_new(struct doctor *d, const char *rules)
{
    struct sv_error err = { 0 };

    *d = (struct doctor){ .policy = { .known = true, .min_uid = 1000 } };
    d->conf.kerberos.own.principal = "nm/node.example@R";
    if (sv_auth_to_local_new(rules, SV_AUTH_HADOOP, "R", &d->conf.kerberos.own.rules, &err) < 0)
        fail_msg("%s: %s", rules, err.text);
}

static void doctor_end(struct doctor *d)
{
    cli_doctor_findings_free(d);
    d->conf.kerberos.own.rules = sv_auth_to_local_free(d->conf.kerberos.own.rules);
}

/* One principal's finding; the node's own one is another. */
static enum doctor_state of(const char *rules, const char *principal)
{
    struct doctor d;
    enum doctor_state found = DOCTOR_NOTE;

    doctor_new(&d, rules);
    d.principals[d.n_principals++] = principal;
    cli_doctor_rules(&d);
    d.counts[DOCTOR_OK]--; /* the node's */
    for (size_t i = 0; i < SV_ARRAY_LEN(d.counts); i++)
        if (d.counts[i])
            found = (enum doctor_state)i;
    doctor_end(&d);
    return found;
}

static void test_accounts(void **state)
{
    (void)state;
    assert_int_equal(of("DEFAULT", "nobody@R"), DOCTOR_OK);
    assert_int_equal(of("DEFAULT", "nobody"), DOCTOR_OK); /* needs no rule */
    assert_int_equal(of("DEFAULT", "daemon@R"), DOCTOR_WEAK);
    assert_int_equal(of("DEFAULT", "root@R"), DOCTOR_BAD);
    assert_int_equal(of("DEFAULT", "no-such-account@R"), DOCTOR_BAD);
    assert_int_equal(of("DEFAULT", "nobody@ELSEWHERE"), DOCTOR_BAD);
    assert_int_equal(of("DEFAULT", "a/b/c@R"), DOCTOR_BAD);
    assert_int_equal(of("RULE:[1:$1@$0](.*@E)s/.*/nobody/ DEFAULT", "eve@E"), DOCTOR_OK);
}

static void test_node(void **state)
{
    struct doctor d;

    (void)state;
    doctor_new(&d, "RULE:[1:$1]");
    cli_doctor_rules(&d); /* no rule for two components */
    assert_int_equal(d.counts[DOCTOR_WEAK], 1);
    assert_int_equal(d.counts[DOCTOR_NOTE], 1);
    assert_int_equal(d.counts[DOCTOR_BAD], 0);
    doctor_end(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accounts),
        cmocka_unit_test(test_node),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
