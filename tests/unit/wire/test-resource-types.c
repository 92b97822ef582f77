/* wire/resource-types.c: units; types of a configuration in messages and tokens. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proto/yarn.pb-c.h"
#include "wire/ids.h"
#include "wire/token/token.h"

static const struct {
    int64_t value;
    const char *from, *to;
    int r;
    int64_t want;
} conversions[] = {
    { 5, "", "", 0, 5 },
    { 0, "P", "p", 0, 0 },
    { 1, "k", "", 0, 1000 },
    { 2, "Ki", "k", 0, 2 }, /* 2048 / 1000 */
    { 125, "Ki", "k", 0, 128 },
    { 1, "P", "Pi", 0, 0 },
    { 1126, "G", "Ti", 0, 1 },
    { 2500, "m", "", 0, 2 },
    { 1, "u", "n", 0, 1000 },
    { 3, "", "p", 0, INT64_C(3000000000000) },
    { 7, "Ti", "Gi", 0, 7168 },
    { INT64_MAX, "", "", 0, INT64_MAX },
    { INT64_MAX, "Pi", "Pi", 0, INT64_MAX },
    { INT64_MAX, "n", "u", 0, INT64_MAX / 1000 },
    { INT64_MAX / 1000, "k", "", 0, INT64_MAX / 1000 * 1000 },
    { INT64_MAX / 1000 + 1, "k", "", -ERANGE, 0 },
    { INT64_MAX, "Pi", "p", -ERANGE, 0 }, /* more than 128 bits */
    { 1, "Pi", "p", -ERANGE, 0 },
    { 8192, "Pi", "", -ERANGE, 0 },
    { 8191, "Pi", "", 0, INT64_C(8191) << 50 },
    { -1, "", "", -EINVAL, 0 },
    { 1, "K", "", -EINVAL, 0 },
    { 1, "", "mi", -EINVAL, 0 },
    { 1, "Gib", "", -EINVAL, 0 },
};

static void units(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(conversions); i++) {
        int64_t got = 77;
        int r =
            yarn_unit_convert(conversions[i].value, conversions[i].from, conversions[i].to, &got);

        if (r != conversions[i].r || got != (r < 0 ? 77 : conversions[i].want))
            fail_msg("row %zu: %d, %lld", i, r, (long long)got);
    }
    assert_true(yarn_unit_ok("") && yarn_unit_ok("Pi") && yarn_unit_ok("p"));
    assert_false(yarn_unit_ok("g") || yarn_unit_ok("Mib"));
}

static const struct yarn_types some = { 2, { { "licenses", "" }, { "example.com/disk", "Gi" } } };

static int set_types(void **state)
{
    (void)state;
    yarn_types_set(&some);
    return 0;
}

static int no_types(void **state)
{
    (void)state;
    yarn_types_set(&(struct yarn_types){ 0 });
    return 0;
}

static void message(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct yarn_resource in = { 1024, 2, 1, { 7, 100 } }, out;
    Hadoop__Yarn__ResourceProto *m = yarn_resource_to(a, in);
    char unknown[64];

    (void)state;
    assert_int_equal(m->n_resource_value_map, 3);
    assert_string_equal(m->resource_value_map[2]->key, "example.com/disk");
    assert_string_equal(m->resource_value_map[2]->units, "Gi");
    assert_int_equal(yarn_resource_from(m, &out), 0);
    assert_memory_equal(&out, &in, sizeof(in));
    yarn_resource_unknown(m, unknown, sizeof(unknown));
    assert_string_equal(unknown, "");
    assert_true(yarn_resource_names(m, "licenses") && !yarn_resource_names(m, "fpga"));
    m->resource_value_map[2]->units = (char *)(uintptr_t) "Ti"; /* another's unit */
    assert_int_equal(yarn_resource_from(m, &out), 0);
    assert_int_equal(out.extra[1], 102400);
    m->resource_value_map[2]->units = (char *)(uintptr_t) "";
    m->resource_value_map[2]->value = INT64_C(5) << 30;
    assert_int_equal(yarn_resource_from(m, &out), 0);
    assert_int_equal(out.extra[1], 5);
    m->resource_value_map[2]->units = NULL; /* that of the type */
    m->resource_value_map[2]->value = 9;
    assert_int_equal(yarn_resource_from(m, &out), 0);
    assert_int_equal(out.extra[1], 9);
    m->resource_value_map[2]->units = (char *)(uintptr_t) "Pi";
    m->resource_value_map[2]->value = INT64_MAX;
    assert_int_equal(yarn_resource_from(m, &out), -EBADMSG);
    in = (struct yarn_resource){ 1024, 2 };
    assert_int_equal(yarn_resource_to(a, in)->n_resource_value_map, 0);
}

/* A process without the types, such as a node whose file lacks them. */
static void unknown_types(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    Hadoop__Yarn__ResourceProto *m =
        yarn_resource_to(a, (struct yarn_resource){ 1024, 2, 0, { 7, 0 } });
    struct yarn_resource out;
    char unknown[64];

    (void)state;
    m->resource_value_map[0]->key = (char *)(uintptr_t) "licenses"; /* not that of the table */
    m->resource_value_map[0]->units = NULL;
    yarn_types_set(&(struct yarn_types){ 0 });
    assert_int_equal(yarn_resource_from(m, &out), 0);
    assert_int_equal(out.extra[0], 0);
    yarn_resource_unknown(m, unknown, sizeof(unknown));
    assert_string_equal(unknown, "licenses");
}

static void token(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct yarn_container_token in = {
        .container = { { { 1700000000000, 1 }, 1 }, 1 },
        .nm_addr = "n:1",
        .submitter = "ann",
        .resource = { 1024, 2, 0, { 7, 100 } },
    };
    struct yarn_container_token out;
    const uint8_t *id;
    size_t len;

    (void)state;
    assert_int_equal(yarn_container_token_encode(a, &in, &id, &len), 0);
    assert_int_equal(yarn_container_token_decode(id, len, &out, NULL), 0);
    assert_int_equal(out.resource.extra[0], 7);
    assert_int_equal(out.resource.extra[1], 100);
    assert_string_equal(out.unknown_resource, "");
    yarn_types_set(&(struct yarn_types){ 0 });
    assert_int_equal(yarn_container_token_decode(id, len, &out, NULL), 0);
    assert_string_equal(out.unknown_resource, "licenses");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units),
        cmocka_unit_test_setup_teardown(message, set_types, no_types),
        cmocka_unit_test_setup_teardown(unknown_types, set_types, no_types),
        cmocka_unit_test_setup_teardown(token, set_types, no_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
