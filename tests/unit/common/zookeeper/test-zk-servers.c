/* Tests common/zookeeper/zk-servers.c: lists of servers, and their addresses from a thread. */
#include "common/zookeeper/zk-servers.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
/* after the three above */
#include <cmocka.h>

/* A label that is too long: no name service is asked for it. */
#define NO_NAME "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffgggggggggg"

struct found {
    sd_event *event;
    bool any;
    char text[SV_ZK_ADDRESSES_MAX];
};

static void on_found(const char *addresses, void *userdata)
{
    struct found *f = userdata;

    f->any = addresses != NULL;
    (void)snprintf(f->text, sizeof(f->text), "%s", addresses ? addresses : "");
    (void)sd_event_exit(f->event, 0);
}

static void look_up(const char *list, struct found *f)
{
    struct sv_zk_servers *s;

    assert_int_equal(sd_event_new(&f->event), 0);
    assert_int_equal(sv_zk_servers_new(f->event, list, on_found, f, &s, NULL), 0);
    assert_int_equal(sv_zk_servers_look_up(s), 0);
    assert_int_equal(sd_event_loop(f->event), 0);
    assert_null(sv_zk_servers_free(s));
    f->event = sd_event_unref(f->event);
}

static void addresses(void **state)
{
    static const struct {
        const char *list, *found;
    } rows[] = {
        { "127.0.0.1:2182", "127.0.0.1:2182" },
        { " 127.0.0.1 , 127.0.0.2:3", "127.0.0.1:2181,127.0.0.2:3" },
        { "[::1]:2182,[::1],::1", "::1:2182,::1:2181,::1:2181" },
        { "127.0.0.1:65535," NO_NAME, "127.0.0.1:65535" },
    };
    struct found f = { 0 };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        look_up(rows[i].list, &f);
        assert_string_equal(f.text, rows[i].found);
    }
}

static void none(void **state)
{
    struct found f = { .any = true };

    (void)state;
    look_up(NO_NAME ":1", &f);
    assert_false(f.any);
}

static void refused(void **state)
{
    static const char *const lists[] = {
        "",     ",",      "a:0",  "a:65536", "a:x",        "a:",    ":1",
        "[::1", "[::1]x", "[]:1", "a b:1",   "a:1/chroot", "u@a:1",
    };
    struct sv_zk_servers *s;
    sd_event *event;
    char many[SV_ZK_SERVERS_MAX * 2 + 3] = "";

    (void)state;
    assert_int_equal(sd_event_new(&event), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(lists); i++) {
        struct sv_error err = { 0 };

        if (sv_zk_servers_new(event, lists[i], on_found, NULL, &s, &err) != -EINVAL)
            fail_msg("taken: %s", lists[i]);
        assert_non_null(strstr(err.text, "HOST"));
    }
    for (size_t i = 0; i <= SV_ZK_SERVERS_MAX; i++)
        memcpy(many + 2 * i, "a,", 2);
    assert_int_equal(sv_zk_servers_new(event, many, on_found, NULL, &s, NULL), -EINVAL);
    sd_event_unref(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(none),
        cmocka_unit_test(refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
