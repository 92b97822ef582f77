/* service/am/framework/ports.c: named and free ports of tasks on a host, and their text. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "service/am/framework/ports.h"

static struct svc_ports *ports(uint16_t first, uint16_t last)
{
    struct svc_ports *p;

    assert_int_equal(svc_ports_new(first, last, &p), 0);
    return p;
}

static int take(struct svc_ports *p, const char *host, struct svc_fw_ports *list, size_t n,
                uint32_t random, const char *want)
{
    const struct svc_fw_resource r = { .ports = list, .n_ports = n };
    char *text = NULL;
    int s = svc_ports_take(p, host, &r, random, &text);

    if (s == 0)
        assert_string_equal(text, want);
    free(text);
    return s;
}

/* Named ones first, in the order of labels. */
static void test_order(void **state)
{
    struct svc_ports *p = ports(2000, 2009);
    struct svc_fw_ports list[] = { { "a", 0, 2 }, { "http_Port", 40, 2 }, { "ssh", 0, 1 } };

    (void)state;
    assert_int_equal(take(p, "h", list, 3, 8, "http_Port:40,41;a:2008,2009;ssh:2000;"), 0);
    assert_int_equal(take(p, "h", list, 3, 0, NULL), -EADDRINUSE);
    assert_int_equal(take(p, "g", list, 3, 0, "http_Port:40,41;a:2000,2001;ssh:2002;"), 0);
    assert_int_equal(take(p, "h", NULL, 0, 0, ""), 0);
    svc_ports_free(p);
}

/* The ports of one label may be another's of the same task, and are no other task's. */
static void test_two_labels(void **state)
{
    struct svc_ports *p = ports(2000, 2009);
    struct svc_fw_ports list[] = { { "a", 40, 2 }, { "b", 41, 2 } };

    (void)state;
    assert_int_equal(take(p, "h", list, 2, 0, "a:40,41;b:41,42;"), 0);
    assert_int_equal(take(p, "h", &list[1], 1, 0, NULL), -EADDRINUSE);
    svc_ports_give(p, "h", "a:40,41;b:41,42;");
    assert_int_equal(take(p, "h", &list[1], 1, 0, "b:41,42;"), 0);
    svc_ports_free(p);
}

/* A failed pick takes nothing; what is given back can be taken. */
static void test_full(void **state)
{
    struct svc_ports *p = ports(2000, 2003);
    struct svc_fw_ports three = { "p", 0, 3 }, two = { "p", 0, 2 }, one = { "p", 0, 1 };

    (void)state;
    assert_int_equal(take(p, "h", &three, 1, 2, "p:2002,2003,2000;"), 0);
    assert_int_equal(take(p, "h", &two, 1, 0, NULL), -ENOSPC);
    assert_int_equal(take(p, "h", &one, 1, 0, "p:2001;"), 0);
    assert_int_equal(take(p, "h", &one, 1, 0, NULL), -ENOSPC);
    svc_ports_give(p, "h", "p:2002,2003,2000;");
    svc_ports_give(p, "unknown", "p:1;");
    assert_int_equal(take(p, "h", &three, 1, 1, "p:2002,2003,2000;"), 0);
    svc_ports_free(p);
}

static void test_limits(void **state)
{
    struct svc_ports *p = ports(1, 65535);
    struct svc_fw_ports high = { "p", 65535, 2 }, many = { "p", 0, 50000 };

    (void)state;
    assert_int_equal(take(p, "h", &high, 1, 0, NULL), -EADDRNOTAVAIL);
    assert_int_equal(take(p, "h", &many, 1, 0, NULL), -EFBIG);
    svc_ports_free(p);
}

static void test_adopt(void **state)
{
    struct svc_ports *p = ports(2000, 2001);
    struct svc_fw_ports one = { "p", 0, 1 };

    (void)state;
    assert_int_equal(svc_ports_adopt(p, "h", "l:2000"), 0); /* the manual's, without ';' */
    assert_int_equal(take(p, "h", &one, 1, 0, "p:2001;"), 0);
    assert_int_equal(svc_ports_adopt(p, "h", ""), 0);
    svc_ports_free(p);
}

static void count(uint16_t port, void *userdata)
{
    int *sum = userdata;

    *sum += port;
}

static void test_text(void **state)
{
    static const char *const bad[] = { "a", "a:", "a:x;", "a:1,;", "a:70000;", "a:1 ;", "a:-1;" };
    int sum = 0;

    (void)state;
    assert_int_equal(svc_ports_each("l1:80,81;l2:1021;", count, &sum), 0);
    assert_int_equal(sum, 80 + 81 + 1021);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(svc_ports_each(bad[i], NULL, NULL), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order), cmocka_unit_test(test_two_labels),
        cmocka_unit_test(test_full),  cmocka_unit_test(test_limits),
        cmocka_unit_test(test_adopt), cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
