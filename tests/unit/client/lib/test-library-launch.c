/* client/lib/library-launch.c: an argv arrives as it was given, in the way that NodeManagers run a
 * command: `exec /bin/bash -c "<command>"` after {{X}} and <LOG_DIR> were replaced. Structures of
 * programs that were compiled with an older header are taken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/lib/library-internal.h"
#include "common/fd.h"

static char dir[] = "/tmp/test-library-launch-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    char path[64];

    (void)state;
    for (int i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof(path), "%s/%s", dir, i ? "stderr" : "stdout");
        (void)unlink(path);
    }
    return rmdir(dir);
}

/* Replaces <LOG_DIR>, and anything between {{ and }} as a NodeManager would. */
static void expand(const char *command, char *ret, size_t size)
{
    size_t n = 0;

    assert_null(strstr(command, "{{"));
    assert_null(strstr(command, "}}"));
    while (*command && n < size) {
        bool log = strncmp(command, "<LOG_DIR>", strlen("<LOG_DIR>")) == 0;

        n += (size_t)snprintf(ret + n, size - n, "%.*s", log ? (int)strlen(dir) : 1,
                              log ? dir : command);
        command += log ? strlen("<LOG_DIR>") : 1;
    }
    assert_true(n < size);
}

static void run_as_node(const char *command, char *ret, size_t size)
{
    char expanded[8192], line[9000], path[64];
    char *const argv[] = { (char *)"/bin/bash", (char *)"-c", line, NULL };
    char *const env[] = { (char *)"HOME=/expanded", NULL };
    int status, fd;
    ssize_t n;
    pid_t pid;

    expand(command, expanded, sizeof(expanded));
    (void)snprintf(line, sizeof(line), "exec /bin/bash -c \"%s\"", expanded);
    assert_int_equal(posix_spawn(&pid, argv[0], NULL, NULL, argv, env), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    (void)snprintf(path, sizeof(path), "%s/stdout", dir);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, ret, size - 1);
    assert_true(n >= 0);
    ret[n] = '\0';
    (void)sv_close(fd);
}

static void argv_is_exact(void **state)
{
    static const char *const argv[] = {
        "/usr/bin/printf",
        "[%s]",
        "a b",
        "it's",
        "\"quoted\"",
        "$HOME",
        "`echo x`",
        "\\",
        "\\n",
        "{{HOME}}",
        "}}",
        "{",
        "<CPS>",
        "<LOG_DIR>",
        "*",
        "a;b|c&d",
        "line\nend",
        "",
        "~",
        "\xc3\xa9",
        "$(id)",
        "!!",
        NULL,
    };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct selvedge_launch l = SELVEDGE_LAUNCH;
    char wanted[1024] = "", found[1024];
    struct cli_launch copy;

    (void)state;
    l.argv = argv;
    assert_int_equal(cli_lib_launch(a, &l, NULL, &copy), 0);
    run_as_node(copy.command, found, sizeof(found));
    for (size_t i = 2, n = 0; argv[i]; i++)
        n += (size_t)snprintf(wanted + n, sizeof(wanted) - n, "[%s]", argv[i]);
    assert_string_equal(found, wanted);
}

static void either_command_or_argv(void **state)
{
    static const char *const argv[] = { "true", NULL }, *const empty[] = { NULL };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct selvedge_launch l = SELVEDGE_LAUNCH;
    struct cli_launch copy;

    (void)state;
    assert_int_equal(cli_lib_launch(a, &l, NULL, &copy), -EINVAL);
    l.command = "true";
    assert_int_equal(cli_lib_launch(a, &l, NULL, &copy), 0);
    assert_string_equal(copy.command, "true");
    l.argv = argv;
    assert_int_equal(cli_lib_launch(a, &l, NULL, &copy), -EINVAL);
    l.command = NULL;
    l.argv = empty;
    assert_int_equal(cli_lib_launch(a, &l, NULL, &copy), -EINVAL);
}

/* A structure of SELVEDGE_API 2: nothing behind its size is read. */
static void older_program(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct selvedge_launch l = SELVEDGE_LAUNCH;
    struct cli_launch copy;

    (void)state;
    l.struct_size = 56;
    l.command = "true";
    l.argv = (const char *const *)(uintptr_t)1; /* not its own memory */
    assert_int_equal(cli_lib_launch(a, &l, NULL, &copy), 0);
    assert_string_equal(copy.command, "true");
}

static void resources(void **state)
{
    static const struct selvedge_resource wanted[] = { { "yarn.io/gpu", 2 }, { "disk", 7 } };
    const struct selvedge_resource nameless = { NULL, 1 }, negative = { "disk", -1 };
    struct selvedge_resource told[LIB_RESOURCES_MAX];
    struct yarn_resource r;
    char name[16];

    (void)state;
    assert_int_equal(cli_lib_resource(512, 3, wanted, 2, &r), 0);
    assert_true(r.memory_mb == 512 && r.vcores == 3 && r.gpus == 2);
    assert_int_equal(cli_lib_resources_of(&r, told), 2);
    assert_string_equal(told[0].name, "yarn.io/gpu");
    assert_true(told[0].value == 2 && told[1].value == 7);
    assert_string_equal(told[1].name, "disk");
    assert_int_equal(cli_lib_resource(1, 1, NULL, 1, &r), -EINVAL);
    assert_int_equal(cli_lib_resource(1, 1, &nameless, 1, &r), -EINVAL);
    assert_int_equal(cli_lib_resource(1, 1, &negative, 1, &r), -EINVAL);
    for (int i = 1; i < YARN_TYPES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "type%d", i);
        assert_int_equal(cli_lib_resource(1, 1, &(struct selvedge_resource){ name, 1 }, 1, &r), 0);
    }
    assert_int_equal(cli_lib_resource(1, 1, &(struct selvedge_resource){ "more", 1 }, 1, &r),
                     -ENOSPC);
    yarn_types_set(&(struct yarn_types){ 0 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(argv_is_exact),
        cmocka_unit_test(either_command_or_argv),
        cmocka_unit_test(older_program),
        cmocka_unit_test(resources),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
