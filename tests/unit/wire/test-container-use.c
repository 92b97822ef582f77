/* wire/container-use.c: what is written is read, and no more than that. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/container-use.h"

static void round_trip(void **state)
{
    const struct yarn_use use = { .bytes = 9007199254740992, .peak_bytes = 7, .millicores = 0 };
    struct yarn_use got;
    char text[YARN_USE_TEXT_MAX];

    (void)state;
    assert_string_equal(yarn_use_text(&use, text), "9007199254740992 7 0");
    assert_int_equal(yarn_use_parse(text, &got), 0);
    assert_int_equal(got.bytes, use.bytes);
    assert_int_equal(got.peak_bytes, 7);
    assert_int_equal(got.millicores, 0);
}

static void malformed(void **state)
{
    static const char *const texts[] = { "",
                                         " ",
                                         "1",
                                         "1 2",
                                         "1 2 ",
                                         "1  2 3",
                                         "1 2 3 4",
                                         "1 2 3x",
                                         "-1 2 3",
                                         "+1 2 3",
                                         "1 2 3\n",
                                         "9007199254740993 0 0",
                                         "0x1 2 3",
                                         "1.5 2 3",
                                         "nan nan nan",
                                         "1\t2\t3",
                                         "99999999999999999999999999 1 1" };
    struct yarn_use got = { .bytes = 5 };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_int_equal(yarn_use_parse(texts[i], &got), -EBADMSG);
    assert_int_equal(got.bytes, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(malformed),
    };

    return cmocka_run_group_tests_name("container-use", tests, NULL, NULL);
}
