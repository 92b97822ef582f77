/* amrmproxy/dial.c: addresses of the federation's store, callers, exceptions' texts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "nodemanager/amrmproxy/dial.h"

static struct ipc_proxy_config own = { .servers = { { .host = "127.0.0.1", .port = 8030 } },
                                       .n_servers = 1 };
static struct nm_amrm_env env = { .own_rm = &own };

static int dial(const struct nm_amrm_dial *d, const char *wanted)
{
    struct ipc_proxy *p = NULL;
    struct sv_error err = { 0 };
    int r = nm_amrm_dial(&env, d, &p, &err);
    char text[360];

    if (r >= 0)
        assert_string_equal(ipc_proxy_server_text(ipc_proxy_current(p), text, sizeof(text)),
                            wanted);
    ipc_proxy_free(p);
    return r;
}

static int dial_member(const char *address, const char *wanted)
{
    return dial(
        &(struct nm_amrm_dial){ .service = YARN_RM_CLIENTS, .address = address, .user = "alice" },
        wanted);
}

static void addresses(void **state)
{
    static const char *const bad[] = { "",           "host",        ":8032",    "host:",  "host:0",
                                       "host:65536", "host:123456", "host:80x", "host:-1" };
    char longest[400];

    (void)state;
    assert_int_equal(dial_member("rm.example:8032", "rm.example:8032"), 0);
    assert_int_equal(dial_member("[::1]:8032", "::1:8032"), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(dial_member(bad[i], ""), -EINVAL);
    memset(longest, 'x', sizeof(longest));
    memcpy(longest + sizeof(longest) - 6, ":8032", 6);
    assert_int_equal(dial_member(longest, ""), -EINVAL);
}

static void callers(void **state)
{
    const struct yarn_token t = { (const uint8_t *)"id", 2, (const uint8_t *)"pw", 2,
                                  YARN_KIND_AMRM,        "" };

    (void)state;
    assert_int_equal(
        dial(&(struct nm_amrm_dial){ .service = YARN_RM_SCHEDULER, .token = &t }, "127.0.0.1:8030"),
        0);
    assert_int_equal(dial(&(struct nm_amrm_dial){ .service = YARN_RM_SCHEDULER }, ""), -EINVAL);
    assert_int_equal(
        dial(&(struct nm_amrm_dial){ .service = YARN_RM_CLIENTS, .user = "alice" }, ""),
        -EINVAL); /* whose? */
}

static void texts(void **state)
{
    struct sv_error err = { .text = "127.0.0.1:8030: allocate: no: not you" };

    (void)state;
    assert_string_equal(nm_amrm_exception_text(&err), "no: not you");
    memcpy(err.text, "plain", 6);
    assert_string_equal(nm_amrm_exception_text(&err), "plain");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),
        cmocka_unit_test(callers),
        cmocka_unit_test(texts),
    };
    int r;

    if (sd_event_new(&env.event) < 0)
        return 1;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    sd_event_unref(env.event);
    return r;
}
