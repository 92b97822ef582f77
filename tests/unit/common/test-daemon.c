/* Tests common/daemon.c: the options of a daemon, the exit status of its errors, and the loop that
 * a signal ends. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/daemon.h"
#include "common/log.h"

enum { RECORD = SV_DAEMON_OPTION, PRINT };

static const struct option own[] = { { "record", required_argument, NULL, RECORD },
                                     { "print", no_argument, NULL, PRINT },
                                     { 0 } };

static struct {
    int option;
    const char *argument;
} taken;

static int take(int option, const char *argument, void *userdata)
{
    taken.option = option;
    taken.argument = argument;
    return *(int *)userdata;
}

#define MAX 8

/* Reads the words, ended by NULL; getopt's state begins anew. */
static int read_words(struct sv_conf *conf, const char **ret_dir, int answer,
                      const char *const words[MAX])
{
    const struct sv_daemon_options o = { "usage\n", own, take, &answer };
    char *argv[MAX + 1] = { 0 };
    int argc = 0, r;

    while (argc < MAX && words[argc]) {
        argv[argc] = strdup(words[argc]);
        argc++;
    }
    optind = 0;
    memset(&taken, 0, sizeof(taken));
    r = sv_daemon_arguments(&o, argc, argv, conf, ret_dir);
    if (*ret_dir)
        *ret_dir = strdup(*ret_dir);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    return r;
}

static void test_arguments(void **state)
{
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    const char *dir = NULL;

    (void)state;
    assert_int_equal(read_words(conf, &dir, 0,
                                (const char *const[MAX]){ "x", "-c", "/etc/x", "-D", "a.b=c=d",
                                                          "--print", NULL }),
                     0);
    assert_string_equal(dir, "/etc/x");
    assert_string_equal(sv_conf_raw(conf, "a.b"), "c=d");
    assert_int_equal(taken.option, PRINT);
    free((char *)(uintptr_t)dir);
}

static void test_ends(void **state)
{
    static const struct {
        const char *words[MAX];
        int answer, wanted;
    } cases[] = {
        { { "x", "--help", "-D", "bad" }, 0, EXIT_SUCCESS + 1 },
        { { "x", "-D", "bad", "--help" }, 0, EXIT_FAILURE + 1 },
        { { "x", "--nothing" }, 0, EXIT_FAILURE + 1 },
        { { "x", "--record" }, 0, EXIT_FAILURE + 1 },
        { { "x", "--record", "/r", "--help" }, 3, 3 }, /* the program's own answer */
    };
    _cleanup_(sv_conf_freep) struct sv_conf *conf = sv_conf_new();
    const char *dir = NULL;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++)
        if (read_words(conf, &dir, cases[i].answer, cases[i].words) != cases[i].wanted)
            fail_msg("case %zu", i);
    assert_null(dir);
}

static void test_status(void **state)
{
    (void)state;
    assert_int_equal(sv_daemon_exit_status(-EINVAL), SV_EXIT_CONFIGURATION);
    assert_int_equal(sv_daemon_exit_status(-EPROTONOSUPPORT), SV_EXIT_CONFIGURATION);
    assert_int_equal(sv_daemon_exit_status(-EADDRINUSE), EXIT_FAILURE);
    assert_int_equal(sv_daemon_not_started(-ENOMEM, ""), EXIT_FAILURE);
    assert_int_equal(sv_daemon_not_started(-EACCES, "a key"), SV_EXIT_CONFIGURATION);
}

static void test_loop(void **state)
{
    sd_event *event = NULL;

    (void)state;
    assert_int_equal(sv_daemon_event(&event), 0);
    assert_int_equal(kill(getpid(), SIGTERM), 0);
    assert_true(sv_daemon_run(event) >= 0);
    sd_event_unref(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_loop),
    };

    sv_log_init("test");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
