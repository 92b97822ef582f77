/* common/static-groups.c: what is a mapping and what is not. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/static-groups.h"

static void accepted(void **state)
{
    struct sv_static_groups *s;
    const char *primary;
    char *const *groups;

    (void)state;
    assert_int_equal(sv_static_groups_parse(NULL, &s, NULL), 0);
    assert_null(sv_static_groups_of(s, "ann", &primary));
    sv_static_groups_free(s);
    assert_int_equal(sv_static_groups_parse(" ; ", &s, NULL), 0);
    assert_null(sv_static_groups_of(s, "", &primary));
    sv_static_groups_free(s);
    assert_int_equal(sv_static_groups_parse("ann = z,,a ;\n bob=", &s, NULL), 0);
    groups = sv_static_groups_of(s, "ann", &primary);
    assert_string_equal(groups[0], "a");
    assert_string_equal(groups[1], "z");
    assert_null(groups[2]);
    assert_string_equal(primary, "z");
    assert_null(*sv_static_groups_of(s, "bob", &primary));
    assert_null(primary);
    assert_null(sv_static_groups_of(s, "carol", &primary));
    sv_static_groups_free(s);
}

static void refused(void **state)
{
    static const char *const texts[] = { "ann", "=ops", "ann=a=b", "ann=a;ann=b", "a=b;;c" };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        struct sv_static_groups *s;
        struct sv_error err = { 0 };

        if (sv_static_groups_parse(texts[i], &s, &err) != -EINVAL)
            fail_msg("\"%s\" is accepted", texts[i]);
        assert_non_null(strstr(err.text, "hadoop.user.group.static.mapping.overrides"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepted),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
