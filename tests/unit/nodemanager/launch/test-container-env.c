/* launch/container-env.c: environment variables that an application may set in a container. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/launch/container-env.h"

#define CONTAINER "container_1_0001_01_000001"

static Hadoop__Yarn__ContainerLaunchContextProto clc;

/* `n` variables V0000… with values of `length` bytes. */
static void fill(size_t n, size_t length)
{
    hadoop__yarn__container_launch_context_proto__init(&clc);
    clc.environment = calloc(n, sizeof(*clc.environment));
    assert_non_null(clc.environment);
    for (size_t i = 0; i < n; i++) {
        Hadoop__Yarn__StringStringMapProto *e = malloc(sizeof(*e));
        char name[24];

        assert_non_null(e);
        hadoop__yarn__string_string_map_proto__init(e);
        (void)snprintf(name, sizeof(name), "V%04zu", i);
        e->key = strdup(name);
        e->value = malloc(length + 1);
        assert_true(e->key && e->value);
        memset(e->value, 'x', length);
        e->value[length] = '\0';
        clc.environment[clc.n_environment++] = e;
    }
}

static void empty(void)
{
    for (size_t i = 0; i < clc.n_environment; i++) {
        free(clc.environment[i]->key);
        free(clc.environment[i]->value);
        free(clc.environment[i]);
    }
    free(clc.environment);
}

/* words: of the refusal; NULL: accepted */
static void expect(size_t n, size_t length, const char *words)
{
    struct sv_error err = { 0 };

    fill(n, length);
    assert_int_equal(nm_env_check(&clc, CONTAINER, &err), words ? -E2BIG : 0);
    if (words) {
        assert_non_null(strstr(err.text, "Container " CONTAINER ": "));
        assert_non_null(strstr(err.text, words));
    }
    empty();
}

static void limits(void **state)
{
    (void)state;
    expect(0, 0, NULL);
    expect(EXE_ENV_MAX, 200, NULL);
    expect(EXE_ENV_MAX + 1, 1, "4097 environment variables, at most 4096 are accepted");
    expect(1, EXE_ENV_VARIABLE_MAX - 7, NULL);
    expect(1, EXE_ENV_VARIABLE_MAX - 6,
           "environment variable \"V0000\" has 131073 bytes, at most 131072 are accepted");
    expect(8, EXE_ENV_BYTES_MAX / 8 - 7, NULL);
    expect(1024, EXE_ENV_BYTES_MAX / 1024 - 5, NULL);
    expect(1024, EXE_ENV_BYTES_MAX / 1024 - 4,
           "1049600 bytes of environment, at most 1048576 are accepted");
}

/* The daemon's Kerberos stays its own, whatever the whitelist says; a job's own variable is one. */
static void kerberos(void **state)
{
    static char *whitelist[] = { (char *)"KRB5CCNAME", (char *)"KRB5_CONFIG",
                                 (char *)"CREDENTIALS_DIRECTORY", (char *)"SELVEDGE_TEST", NULL };
    const struct nm_conf conf = { .env_whitelist = whitelist };
    struct nm_context ctx = { .conf = &conf };
    struct nm_container c = { .ctx = &ctx, .clc = &clc };

    (void)state;
    fill(1, 3);
    for (char **name = whitelist; *name; name++)
        assert_int_equal(setenv(*name, "daemon's", 1), 0);
    assert_null(nm_env_value(&c, "KRB5CCNAME"));
    assert_null(nm_env_value(&c, "KRB5_CONFIG"));
    assert_null(nm_env_value(&c, "CREDENTIALS_DIRECTORY"));
    assert_string_equal(nm_env_value(&c, "SELVEDGE_TEST"), "daemon's");
    free(clc.environment[0]->key);
    clc.environment[0]->key = strdup("KRB5CCNAME");
    assert_string_equal(nm_env_value(&c, "KRB5CCNAME"), "xxx");
    empty();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(limits), cmocka_unit_test(kerberos) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
