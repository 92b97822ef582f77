/* health/health-script.c: real scripts, run by a loop: their reports, what they leave running, what
 * is killed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/log.h"
#include "nodemanager/health/health-script.h"

static char dir[] = "/tmp/selvedge-health-XXXXXX";
static char path[64], pipe_path[64];
static char *argv[] = { path, (char *)(uintptr_t) "one", (char *)(uintptr_t) "two", NULL };
static struct nm_conf_health all;
static struct nm_conf_script conf;
static struct nm_script *script;
static sd_event *event;

static void write_script(const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

    assert_true(fd >= 0);
    assert_int_equal(sv_write_all(fd, text, strlen(text)), 0);
    sv_close(fd);
}

static void begin(const char *text)
{
    struct sv_error err = { 0 };

    write_script(text);
    if (nm_script_new(event, &all, &conf, "test-health", &script, &err) < 0)
        fail_msg("%s", err.text);
}

static void expect(const char *report)
{
    while (nm_script_checked_ms(script) == 0)
        assert_true(sd_event_run(event, UINT64_MAX) > 0);
    assert_string_equal(nm_script_report(script), report);
}

/* Runs the loop until the report is another one. */
static void expect_next(const char *report)
{
    char before[1024];

    snprintf(before, sizeof(before), "%s", nm_script_report(script));
    while (strcmp(nm_script_report(script), before) == 0)
        assert_true(sd_event_run(event, UINT64_MAX) > 0);
    assert_string_equal(nm_script_report(script), report);
}

static int setup(void **state)
{
    (void)state;
    memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
    if (!mkdtemp(dir) || sd_event_new(&event) < 0)
        return -1;
    snprintf(path, sizeof(path), "%s/script", dir);
    snprintf(pipe_path, sizeof(pipe_path), "%s/pipe", dir);
    all = (struct nm_conf_health){ .interval_ms = 3600000, .timeout_ms = 3600000 };
    conf = (struct nm_conf_script){ .name = "s", .argv = argv };
    return mkfifo(pipe_path, 0600);
}

static int teardown(void **state)
{
    _cleanup_close_ int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    script = nm_script_free(script);
    event = sd_event_unref(event);
    return sv_remove_tree_at(tmp, strrchr(dir, '/') + 1);
}

/* ERROR and its arguments; then OK again. The interval is its own. */
static void error_and_back(void **state)
{
    (void)state;
    conf.interval_ms = 100;
    begin("#!/bin/sh\necho checked\necho ERROR $1 $2\n");
    assert_string_equal(nm_script_report(script), "");
    expect("checked\nERROR one two\n");
    write_script("#!/bin/sh\necho fine\n");
    expect_next("");
    write_script("#!/bin/sh\necho ERROR again\n");
    expect_next("ERROR again\n");
}

/* As in Hadoop: the output of a script that fails does not count, nor does its stderr. */
static void ignored_outputs(void **state)
{
    (void)state;
    begin("#!/bin/sh\necho ERROR\nexit 1\n");
    expect("");
    script = nm_script_free(script);
    begin("#!/bin/sh\necho ERROR\nkill -9 $$\n");
    expect("");
    script = nm_script_free(script);
    begin("#!/bin/sh\necho ERROR >&2\n");
    expect("");
}

static void cannot_be_started(void **state)
{
    char words[128];

    (void)state;
    begin("#!/nonexistent/interpreter\n");
    snprintf(words, sizeof(words), "%s: cannot be started: %s", path, strerror(ENOENT));
    expect(words);
    script = nm_script_free(script);
    assert_int_equal(unlink(path), 0);
    begin("#!/bin/sh\necho fine\n");
    expect("");
}

/* The pipe that is open in all processes of the script: its end says that all of them are gone. */
static int follow(void)
{
    int fd = open(pipe_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    assert_true(fd >= 0);
    assert_return_code(fcntl(fd, F_SETFL, 0), errno);
    return fd;
}

static void expect_gone(int fd)
{
    char text[16];
    ssize_t n;

    do
        n = read(fd, text, sizeof(text)); /* "runs", then the end */
    while (n > 0);
    assert_int_equal(n, 0);
    sv_close(fd);
}

#define HANGS                                                                                      \
    "#!/bin/sh\nexec 5>`dirname $0`/pipe\necho runs >&5\necho ERROR before\nsleep 1000 &\nwait\n"

/* Killed with what it has forked, though it has written ERROR before; Hadoop's words. */
static void hangs(void **state)
{
    int fd = follow();

    (void)state;
    all.timeout_ms = 300;
    begin(HANGS);
    expect("Node health script timed out");
    expect_gone(fd);
}

/* A run that is interrupted by the daemon's end. */
static void ends_with_the_daemon(void **state)
{
    int fd = follow();
    char text[4];

    (void)state;
    begin(HANGS);
    assert_true(sd_event_run(event, UINT64_MAX) > 0); /* started */
    while (read(fd, text, sizeof(text)) == 0)
        continue; /* the writer has not come yet */
    script = nm_script_free(script);
    expect_gone(fd);
}

/* The end of the script is the end of the run: a child that holds its output is killed. */
static void child_keeps_the_pipe(void **state)
{
    int fd = follow();

    (void)state;
    begin("#!/bin/sh\nexec 5>`dirname $0`/pipe\necho runs >&5\nsleep 1000 &\necho ERROR left\n");
    expect("ERROR left\n");
    expect_gone(fd);
}

/* More than any pipe holds; ERROR in the last line. */
static void writes_much(void **state)
{
    (void)state;
    begin("#!/bin/sh\nhead -c 16777216 /dev/zero\necho\necho ERROR at last\n");
    expect("ERROR at last\n...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(error_and_back, setup, teardown),
        cmocka_unit_test_setup_teardown(ignored_outputs, setup, teardown),
        cmocka_unit_test_setup_teardown(cannot_be_started, setup, teardown),
        cmocka_unit_test_setup_teardown(hangs, setup, teardown),
        cmocka_unit_test_setup_teardown(ends_with_the_daemon, setup, teardown),
        cmocka_unit_test_setup_teardown(child_keeps_the_pipe, setup, teardown),
        cmocka_unit_test_setup_teardown(writes_much, setup, teardown),
    };

    sv_log_init("test");
    sv_log_set_level((enum sv_log_level)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
