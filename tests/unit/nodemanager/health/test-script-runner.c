/* health/script-runner.c with shell scripts that end well, fail, hang, fork and print without end.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "nodemanager/health/script-runner.h"

static sd_event *event;
static struct nm_runner *runner;
static char output[NM_RUN_OUTPUT_MAX + 1], why[256];
static enum nm_run_end last;
static int ends;
static int64_t interval_ms, timeout_ms;

static void ended(enum nm_run_end end, const char *text, void *userdata)
{
    assert_ptr_equal(userdata, &ends);
    snprintf(output, sizeof(output), "%s", end == NM_RUN_GOOD ? text : "");
    snprintf(why, sizeof(why), "%s", end == NM_RUN_GOOD ? "" : text);
    last = end;
    ends++;
}

static struct nm_runner_conf conf_of(char **argv)
{
    return (struct nm_runner_conf){ .group = "test-runner",
                                    .name = "test-runner script",
                                    .argv = argv,
                                    .interval_ms = &interval_ms,
                                    .timeout_ms = &timeout_ms,
                                    .ended = ended,
                                    .userdata = &ends };
}

/* Runs a script of the shell until it has ended `n` times. */
static void run_script(const char *script, int64_t interval, int64_t timeout, int n)
{
    static char *argv[4] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c" };
    const struct nm_runner_conf conf = conf_of(argv);
    struct sv_error err = { 0 };

    argv[2] = (char *)(uintptr_t)script;
    interval_ms = interval;
    timeout_ms = timeout;
    ends = 0;
    if (nm_runner_new(event, &conf, &runner, &err) < 0)
        fail_msg("%s", err.text);
    while (ends < n)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
}

static int set_up(void **state)
{
    (void)state;
    interval_ms = -1;
    timeout_ms = 60000;
    return sd_event_new(&event);
}

static int tear_down(void **state)
{
    (void)state;
    runner = nm_runner_free(runner);
    event = sd_event_unref(event);
    return 0;
}

static void output_of_good_ends(void **state)
{
    (void)state;
    run_script("echo one; echo wrong >&2; printf two; exit 0", -1, 60000, 1);
    assert_string_equal(why, "");
    assert_string_equal(output, "one\ntwo");
    assert_int_equal(sd_event_run(event, 0), 0); /* it is not run again */
    assert_int_equal(ends, 1);
}

static void again(void **state)
{
    (void)state;
    run_script("echo $$", 1, 60000, 3);
    assert_int_equal(ends, 3);
}

static void bad_ends(void **state)
{
    (void)state;
    run_script("echo one; exit 3", -1, 60000, 1);
    assert_string_equal(why, "exited with status 3");
    assert_int_equal(last, NM_RUN_FAILED);
    tear_down(NULL);
    set_up(NULL);
    run_script("kill -9 $$", -1, 60000, 1);
    assert_string_equal(why, "was killed by signal 9");
}

static void not_there(void **state)
{
    static char *argv[] = { (char *)(uintptr_t) "/nonexistent/script", NULL };
    const struct nm_runner_conf conf = conf_of(argv);

    (void)state;
    ends = 0;
    assert_int_equal(nm_runner_new(event, &conf, &runner, NULL), 0);
    while (!ends)
        assert_true(sd_event_run(event, UINT64_MAX) >= 0);
    assert_string_equal(why, "cannot be started: No such file or directory");
    assert_int_equal(last, NM_RUN_NOT_STARTED);
}

/* Reads the process number that the script has written, and waits until it is no process: a zombie
 * counts as one, so the test must not be its parent. */
static void wait_for_end(const char *path)
{
    FILE *f = fopen(path, "r");
    int pid = 0;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &pid), 1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(unlink(path), 0);
    while (kill(pid, 0) == 0) {
        char stat[64], text[64] = "";

        snprintf(stat, sizeof(stat), "/proc/%d/stat", pid);
        f = fopen(stat, "r");
        if (f && fgets(text, sizeof(text), f) && strstr(text, ") Z")) {
            fclose(f);
            return;
        }
        if (f)
            fclose(f);
    }
    assert_int_equal(errno, ESRCH);
}

static void hangs_with_children(void **state)
{
    char script[256], file[] = "/tmp/selvedge-runner-XXXXXX";
    int fd = mkstemp(file);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    snprintf(script, sizeof(script), "sleep 1000 & echo $! >%s; echo told; wait", file);
    run_script(script, -1, 300, 1);
    assert_string_equal(why, "it did not end within 300 ms");
    assert_int_equal(last, NM_RUN_TIMED_OUT);
    wait_for_end(file);
}

/* A child that keeps the output open does not keep the run open, and ends with it. */
static void leaves_a_child(void **state)
{
    char script[256], file[] = "/tmp/selvedge-runner-XXXXXX";
    int fd = mkstemp(file);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    snprintf(script, sizeof(script), "sleep 1000 & echo $! >%s; echo told", file);
    run_script(script, -1, 60000, 1);
    assert_string_equal(output, "told\n");
    wait_for_end(file);
}

static void prints_without_end(void **state)
{
    char said[64];

    (void)state;
    run_script("while :; do echo 0123456789012345678901234567890123456789; done", -1, 60000, 1);
    snprintf(said, sizeof(said), "it printed more than %d bytes", NM_RUN_OUTPUT_MAX);
    assert_string_equal(why, said);
    assert_int_equal(last, NM_RUN_TOO_MUCH);
    tear_down(NULL);
    set_up(NULL);
    run_script("head -c 65537 /dev/zero | tr '\\0' x", -1, 60000, 1); /* and ends */
    assert_string_equal(why, said);
    tear_down(NULL);
    set_up(NULL);
    run_script("head -c 65536 /dev/zero | tr '\\0' x", -1, 60000, 1);
    assert_string_equal(why, "");
    assert_int_equal(strlen(output), NM_RUN_OUTPUT_MAX);
}

static void freed_meanwhile(void **state)
{
    static char *argv[] = { (char *)(uintptr_t) "/bin/sleep", (char *)(uintptr_t) "1000", NULL };
    const struct nm_runner_conf conf = conf_of(argv);

    (void)state;
    ends = 0;
    assert_int_equal(nm_runner_new(event, &conf, &runner, NULL), 0);
    assert_true(sd_event_run(event, UINT64_MAX) >= 0); /* it starts */
    runner = nm_runner_free(runner);
    assert_int_equal(ends, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(output_of_good_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(not_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hangs_with_children, set_up, tear_down),
        cmocka_unit_test_setup_teardown(leaves_a_child, set_up, tear_down),
        cmocka_unit_test_setup_teardown(prints_without_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(freed_meanwhile, set_up, tear_down),
    };

    sv_log_init("test");
    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
