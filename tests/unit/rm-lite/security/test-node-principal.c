/* rm-lite/security/node-principal.c: which principals are nodes, and which node. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/error.h"
#include "rm-lite/security/node-principal.h"

static void test_nodes(void **state)
{
    static const struct {
        const char *configured, *principal;
        bool is_node;
    } cases[] = {
        { "nm/_HOST@R", "nm/worker1.example@R", true },
        { "nm/_HOST@R", "nm/_HOST@R", true }, /* no host has that name */
        { "nm/_HOST@R", "alice@R", false },
        { "nm/_HOST@R", "nm@R", false },
        { "nm/_HOST@R", "NM/worker1@R", false },
        { "nm/_HOST@R", "rm/worker1@R", false },
        { "nm/_HOST@R", "nm/worker1@OTHER", false },
        { "nm/_HOST@R", "nm/worker1", false },
        { "nm/_HOST@R", "nm/worker1@R@R", false },
        { "nm/_HOST@R", "nm/worker1/x@R", false },
        { "nm/_HOST@R", "nm\\/worker1@R", false },
        { "nm/_HOST@R", "", false },
        { "nm/worker1@R", "nm/worker1@R", true },
        { "nm/worker1@R", "nm/worker2@R", false },
        { "nm/worker1@R", "nm/WORKER1@R", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sv_error err = { 0 };
        int r = rm_node_principal_check(cases[i].configured, cases[i].principal, &err);

        if (r != (cases[i].is_node ? 0 : -EACCES))
            fail_msg("%s, %s: %d", cases[i].configured, cases[i].principal, r);
        if (r < 0)
            assert_non_null(strstr(err.text, cases[i].configured));
    }
}

static void test_hosts(void **state)
{
    (void)state;
    assert_true(rm_node_principal_is_host("nm/worker1.example@R", "worker1.example"));
    assert_true(rm_node_principal_is_host("nm/worker1@R", "Worker1"));
    assert_false(rm_node_principal_is_host("nm/worker1@R", "worker1.example"));
    assert_false(rm_node_principal_is_host("nm/worker1.example@R", "worker1"));
    assert_false(rm_node_principal_is_host("nm/worker1@R", ""));
    assert_false(rm_node_principal_is_host("nm@R", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_nodes),
                                        cmocka_unit_test(test_hosts) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
