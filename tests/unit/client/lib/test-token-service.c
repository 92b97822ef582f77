/* Tests client/lib/token-service.c: the names of tokens' services. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "client/lib/token-service.h"

struct told {
    sd_event *event;
    struct cli_service_name *name;
    int n;
    char text[CLI_SERVICE_MAX];
};

static void on_name(const char *service, void *userdata)
{
    struct told *t = userdata;

    t->n++;
    snprintf(t->text, sizeof(t->text), "%s", service);
    t->name = cli_service_name_free(t->name);
    sd_event_exit(t->event, 0);
}

static void find(struct told *t, const char *use_ip, const struct cli_service_server *list,
                 size_t n)
{
    struct sv_conf *c = sv_conf_new();

    memset(t, 0, sizeof(*t));
    if (use_ip)
        assert_int_equal(sv_conf_set(c, "hadoop.security.token.service.use_ip", use_ip), 0);
    assert_int_equal(sd_event_new(&t->event), 0);
    assert_int_equal(cli_service_name_find(t->event, c, list, n, on_name, t, &t->name), 0);
    sv_conf_free(c);
    assert_int_equal(t->n, 0); /* never from inside the call */
    assert_int_equal(sd_event_loop(t->event), 0);
    assert_int_equal(t->n, 1);
    sd_event_unref(t->event);
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct cli_service_server one[] = { { "localhost", 8032 } },
                                           two[] = { { "127.0.0.2", 8032 }, { "127.0.0.3", 8033 } },
                                           none[] = { { "no.such.name.invalid", 80 } };
    struct told t;

    find(&t, NULL, one, 1);
    assert_string_equal(t.text, "127.0.0.1:8032");
    find(&t, "true", two, 2);
    assert_string_equal(t.text, "127.0.0.2:8032,127.0.0.3:8033");
    find(&t, NULL, none, 1);
    assert_string_equal(t.text, "no.such.name.invalid:80");
}

static void test_names(void **state)
{
    (void)state;
    static const struct cli_service_server two[] = { { "a.example", 1 }, { "b.example", 2 } };
    struct told t;

    find(&t, "false", two, 2);
    assert_string_equal(t.text, "a.example:1,b.example:2");
}

/* Names that are too long for one service do not run over. */
static void test_many(void **state)
{
    (void)state;
    static char host[256];
    struct cli_service_server many[20];
    struct told t;

    memset(host, 'h', sizeof(host) - 1);
    for (size_t i = 0; i < SV_ARRAY_LEN(many); i++)
        many[i] = (struct cli_service_server){ host, 65535 };
    find(&t, "false", many, SV_ARRAY_LEN(many));
    assert_true(strlen(t.text) < CLI_SERVICE_MAX);
    assert_int_equal(strlen(t.text) % 262, 261); /* whole ones alone */
}

static void test_given_up(void **state)
{
    (void)state;
    static const struct cli_service_server one[] = { { "no.such.name.invalid", 8032 } };
    struct told t = { 0 };
    struct sv_conf *c = sv_conf_new();

    assert_int_equal(sd_event_new(&t.event), 0);
    assert_int_equal(cli_service_name_find(t.event, c, one, 1, on_name, &t, &t.name), 0);
    assert_true(sd_event_run(t.event, 0) >= 0); /* the look-up is under way */
    t.name = cli_service_name_free(t.name);
    assert_null(cli_service_name_free(NULL));
    assert_int_equal(t.n, 0);
    sv_conf_free(c);
    sd_event_unref(t.event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
