/* executor/script.c, with bash as the oracle: random bytes survive quoting; a whole script does
 * what YARN specifies. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/str.h"
#include "executor/script.h"

static char dir[] = "/tmp/selvedge-script-XXXXXX";

/* Runs bash on the text, in `dir`, with an empty environment; returns its standard output. */
static char *bash(const void *text, size_t len, int *ret_status)
{
    char *out = NULL;
    size_t n = 0;
    int p[2];
    _cleanup_close_ int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(sv_write_file_atomic(at, "s.sh", text, len, 0600), 0);
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = { (char *)"bash", (char *)"s.sh", NULL };
        char *envp[] = { (char *)"OUTER=outer", (char *)"PATH=/usr/bin:/bin", NULL };
        if (chdir(dir) == 0 && dup2(p[1], 7) == 7)
            (void)execve("/bin/bash", argv, envp);
        _exit(99);
    }
    (void)close(p[1]);
    FILE *f = fdopen(p[0], "r");
    assert_non_null(f);
    char buf[65536];
    out = calloc(1, 1 << 20);
    for (size_t r; (r = fread(buf, 1, sizeof(buf), f)) > 0 && n + r < (1 << 20) - 1; n += r)
        memcpy(out + n, buf, r);
    (void)fclose(f);
    assert_int_equal(waitpid(pid, ret_status, 0), pid);
    return out;
}

static uint32_t seed = 12345;
static uint32_t rnd(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

/* Property: for any bytes but NUL, bash reads exe_quote(s) as s. */
static void test_quote_survives_every_byte(void **state)
{
    enum { N = 200 };
    char words[N][64];
    struct sv_buf script = SV_BUF_INIT(1 << 20);
    int status;
    (void)state;
    for (int i = 0; i < N; i++) {
        static const char nasty[] = "'\"\\$`!*?[]{}()<>|&;#~ \t\n\r=%\x7f\x80\xff-";
        size_t n = rnd() % 63;
        for (size_t k = 0; k < n; k++)
            words[i][k] = rnd() & 1 ? nasty[rnd() % (sizeof(nasty) - 1)] : (char)(rnd() % 255 + 1);
        words[i][n] = '\0';
        assert_int_equal(sv_buf_put_str(&script, "printf '%s\\0' "), 0);
        assert_int_equal(exe_quote(&script, words[i]), 0);
        assert_int_equal(sv_buf_put_str(&script, " >&7\n"), 0);
    }
    char *out = bash(script.data, script.len, &status), *at = out;
    assert_int_equal(status, 0);
    for (int i = 0; i < N; i++) {
        assert_string_equal(at, words[i]);
        at += strlen(at) + 1;
    }
    free(out);
    sv_buf_free(&script);
}

/* Without $, ` and backslash the expanding form is literal as well. */
static void test_quote_expand_is_one_word(void **state)
{
    enum { N = 200 };
    char words[N][64];
    struct sv_buf script = SV_BUF_INIT(1 << 20);
    int status;
    (void)state;
    for (int i = 0; i < N; i++) {
        size_t n = rnd() % 63;
        for (size_t k = 0; k < n; k++) {
            char c = (char)(rnd() % 255 + 1);
            words[i][k] = c == '$' || c == '`' || c == '\\' ? '"' : c;
        }
        words[i][n] = '\0';
        assert_int_equal(sv_buf_put_str(&script, "printf '%s\\0' "), 0);
        assert_int_equal(exe_quote_expand(&script, words[i]), 0);
        assert_int_equal(sv_buf_put_str(&script, " >&7\n"), 0);
    }
    char *out = bash(script.data, script.len, &status), *at = out;
    assert_int_equal(status, 0);
    for (int i = 0; i < N; i++) {
        assert_string_equal(at, words[i]);
        at += strlen(at) + 1;
    }
    free(out);
    sv_buf_free(&script);
}

static void expand(const char *s, const char *want)
{
    struct sv_buf script = SV_BUF_INIT(65536);
    int status;
    assert_int_equal(sv_buf_put_str(&script, "printf '%s' "), 0);
    assert_int_equal(exe_quote_expand(&script, s), 0);
    assert_int_equal(sv_buf_put_str(&script, " >&7\n"), 0);
    char *out = bash(script.data, script.len, &status);
    assert_string_equal(out, want);
    free(out);
    sv_buf_free(&script);
}

static void test_quote_expand_means_yarn(void **state)
{
    (void)state;
    expand("$OUTER:${OUTER}/x", "outer:outer/x");
    expand("{\"a\": 1}", "{\"a\": 1}");
    expand("\\\"kept\\\"", "\"kept\""); /* already escaped by the author */
    expand("\\$OUTER", "$OUTER");
    expand("end\\", "end\\"); /* would take the closing quote along */
    expand("end\\\\", "end\\");
    expand("'single'", "'single'");
}

static char *build_and_run(const struct exe_script *s, int *ret_status)
{
    struct sv_buf script = SV_BUF_INIT(1 << 20);
    struct sv_error err = { 0 };
    assert_int_equal(exe_script_build(s, &script, &err), 0);
    char *out = bash(script.data, script.len, ret_status);
    sv_buf_free(&script);
    return out;
}

static void test_script(void **state)
{
    const struct exe_env env[] = {
        { "A", "$B-$C", EXE_ENV_EXPAND },     { "B", "${C}b", EXE_ENV_EXPAND },
        { "C", "c", EXE_ENV_EXPAND },         { "LIT", "$C \"'`x`", EXE_ENV_LITERAL },
        { "OUTER", "nm", EXE_ENV_WHITELIST }, { "NEWONE", "{{C}}<CPS>x", EXE_ENV_WHITELIST },
        { "X", "$Y", EXE_ENV_EXPAND },        { "Y", "$X", EXE_ENV_EXPAND }, /* a circle */
        { "C", "cc", EXE_ENV_EXPAND }, /* replaces the first */
    };
    const struct exe_link links[] = { { "/etc/hostname", "plain" },
                                      { "/etc/host s'$x", "sub/-n\nl" } };
    const char *const commands[] = { "printf '%s|'",
                                     "\"$A\" {{OUTER}} $NEWONE >&7; printenv LIT >&7;",
                                     ("readlink 'sub/-n\nl' >&7; "
                                      "echo <LOG_DIR><ADD_OPENS> >&7;exit 5") };
    const struct exe_script s = { .env = env,
                                  .n_env = SV_ARRAY_LEN(env),
                                  .links = links,
                                  .n_links = 2,
                                  .commands = commands,
                                  .n_commands = 3,
                                  .log_dir = dir,
                                  .add_opens = "" };
    char want[256];
    int status;
    (void)state;
    char *out = build_and_run(&s, &status);
    (void)snprintf(want, sizeof(want), "ccb-cc|outer|cc:x|$C \"'`x`\n/etc/host s'$x\n%s\n", dir);
    assert_string_equal(out, want);
    assert_int_equal(WEXITSTATUS(status), 5);
    free(out);
    char path[128];
    (void)snprintf(path, sizeof(path), "%s/prelaunch.out", dir);
    assert_int_equal(access(path, R_OK), 0);
}

/* Another launch replaces the links of the last one: ln alone would follow a link to a directory.
 */
static void test_links_again(void **state)
{
    char first[128], second[128], want[256];
    const char *const command = "readlink sub/l >&7; ls -A sub/l/ | wc -l >&7";
    struct exe_link link = { first, "sub/l" };
    struct exe_script s = { .links = &link,
                            .n_links = 1,
                            .commands = &command,
                            .n_commands = 1,
                            .log_dir = dir,
                            .add_opens = "" };
    int status;
    (void)state;
    (void)snprintf(first, sizeof(first), "%s/first", dir);
    (void)snprintf(second, sizeof(second), "%s/second", dir);
    assert_return_code(mkdir(first, 0750), errno);
    assert_return_code(mkdir(second, 0750), errno);
    free(build_and_run(&s, &status));
    assert_int_equal(status, 0);
    link.target = second;
    s.again = true;
    char *out = build_and_run(&s, &status);
    (void)snprintf(want, sizeof(want), "%s\n0\n", second);
    assert_string_equal(out, want);
    free(out);
    assert_return_code(rmdir(first), errno); /* empty */
}

/* The built program: beside the folder of the unit tests. */
static const char *debug_program(void)
{
    static char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
    assert_true(n > 0);
    path[n] = '\0';
    char *tests = strstr(path, "/tests/unit/");
    assert_non_null(tests);
    (void)snprintf(tests, 64, "/container-debug-info");
    return path;
}

/* A work directory as archives can make it; the caller is in it. */
static void make_tree(void)
{
    static const char *const files[] = {
        "launch_container.sh", "a b", "new\nline", "q\"\\x", "\303\244", ".hidden", "old", "strange"
    };
    static const char *const dirs[] = { "d",         "d/2",         "d/2/3", "d/2/3/4",
                                        "d/2/3/4/5", "d/2/3/4/5/6", "closed" };
    static const char *const links[][2] = { { "nowhere", "broken" }, { "a b", "good" },
                                            { "d", "dlink" },        { "..", "d/loop" },
                                            { "self", "self" },      { "gone \"", "d/2/broken" } };
    const struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
    for (size_t i = 0; i < SV_ARRAY_LEN(files); i++) {
        int fd = open(files[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
        assert_return_code(write(fd, "of different lengths, up to here", i * 3), errno);
        (void)close(fd);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(dirs); i++)
        assert_return_code(mkdir(dirs[i], 0750), errno);
    for (size_t i = 0; i < SV_ARRAY_LEN(links); i++)
        assert_return_code(symlink(links[i][0], links[i][1]), errno);
    assert_return_code(mkfifo("pipe", 0600), errno);
    assert_return_code(chmod("d", 07754), errno);
    assert_return_code(chmod("closed", 07640), errno);
    assert_return_code(utimensat(AT_FDCWD, "old", old, 0), errno);
    if (geteuid() == 0)
        assert_return_code(chown("strange", 54321, 54322), errno);
}

/* find widens columns as it goes: runs of blanks count as one. */
static void squeeze(char *s)
{
    char *to = s;
    for (; *s; s++)
        if (*s != ' ' || to[-1] != ' ')
            *to++ = *s;
    *to = '\0';
}

/* The kernel reads the first line, as in a container. Variables of the application come later. */
static void test_niceness(void **state)
{
    static const struct exe_env env = { "PATH", "/nothing", EXE_ENV_LITERAL };
    const char *const command = "exec /usr/bin/nice >&7";
    const struct exe_script s = { .env = &env,
                                  .n_env = 1,
                                  .commands = &command,
                                  .n_commands = 1,
                                  .log_dir = dir,
                                  .niceness = 3 };
    _cleanup_buf_ struct sv_buf script = SV_BUF_INIT(1 << 20);
    const int wanted = SV_MIN(getpriority(PRIO_PROCESS, 0) + 3, 19);
    _cleanup_close_ int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sv_error err = { 0 };
    char path[PATH_MAX], said[16] = "";
    int p[2], status;
    (void)state;
    assert_int_equal(exe_script_build(&s, &script, &err), 0);
    assert_int_equal(sv_write_file_atomic(at, "n.sh", script.data, script.len, 0700), 0);
    (void)snprintf(path, sizeof(path), "%s/n.sh", dir);
    assert_int_equal(pipe(p), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char *argv[] = { path, NULL }, *envp[] = { (char *)"PATH=/usr/bin:/bin", NULL };
        if (dup2(p[1], 7) == 7)
            (void)execve(path, argv, envp);
        _exit(99);
    }
    (void)close(p[1]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_true(read(p[0], said, sizeof(said) - 1) > 0);
    (void)close(p[0]);
    assert_int_equal(strtol(said, NULL, 10), wanted);
}

/* Runs one variant of the script that writes debugging information in `work`, with logs in `logs`;
 * returns its output without messages. The script's name does not exist in `work`. */
static char *debugging(const char *work, const char *logs, const char *program)
{
    const char *const command = "exit 7";
    const struct exe_script s = { .commands = &command,
                                  .n_commands = 1,
                                  .log_dir = logs,
                                  .debug_info = true,
                                  .debug_program = program };
    struct sv_buf script = SV_BUF_INIT(1 << 20);
    struct sv_error err = { 0 };
    char path[PATH_MAX];
    struct stat st;
    int status;
    assert_int_equal(mkdir(logs, 0750), 0);
    assert_int_equal(exe_script_build(&s, &script, &err), 0);
    (void)snprintf(path, sizeof(path), "cd '%s'\n", work);
    _cleanup_buf_ struct sv_buf whole = SV_BUF_INIT(1 << 20);
    assert_int_equal(sv_buf_put_str(&whole, path), 0);
    assert_int_equal(sv_buf_put(&whole, script.data, script.len), 0);
    sv_buf_free(&script);
    free(bash(whole.data, whole.len, &status));
    assert_int_equal(WEXITSTATUS(status), 7);
    (void)snprintf(path, sizeof(path), "%s/launch_container.sh", logs);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    (void)snprintf(path, sizeof(path), "%s/directory.info", logs);
    FILE *f = fopen(path, "re");
    char *text = calloc(1, 1 << 20), *line = NULL;
    size_t size = 0, len = 0;
    assert_non_null(f);
    for (ssize_t n; (n = getline(&line, &size, f)) > 0;)
        if (line[0] != '\'' && !sv_has_prefix(line, "find: ")) {
            assert_true(len + (size_t)n < 1 << 20);
            memcpy(text + len, line, (size_t)n);
            len += (size_t)n;
        }
    (void)fclose(f);
    free(line);
    squeeze(text + 1);
    return text;
}

/* container-debug-info prints the output of ls and find. If the container cannot see it, these are
 * used. */
static void test_debug_info(void **state)
{
    char work[64], logs[3][64];
    (void)state;
    (void)snprintf(work, sizeof(work), "%s/work", dir);
    for (int i = 0; i < 3; i++)
        (void)snprintf(logs[i], sizeof(logs[i]), "%s/l o'g%d", dir, i);
    assert_int_equal(mkdir(work, 0750), 0);
    _cleanup_close_ int home = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(chdir(work), 0);
    make_tree();
    assert_int_equal(fchdir(home), 0);
    char *by_commands = debugging(work, logs[0], NULL);
    char *by_program = debugging(work, logs[1], debug_program());
    char *unseen = debugging(work, logs[2], "/nonexistent/container-debug-info");
    assert_non_null(strstr(by_commands, "./d/2/3/4/5\n"));
    assert_null(strstr(by_commands, "./d/2/3/4/5/6\n"));
    assert_string_equal(by_program, by_commands);
    assert_string_equal(unseen, by_commands);
    free(by_commands);
    free(by_program);
    free(unseen);
}

/* It executes the program whatever goes wrong. */
static void test_debug_info_without_logs(void **state)
{
    char *argv[] = { (char *)(uintptr_t)debug_program(),
                     (char *)"/nonexistent/logs",
                     (char *)"/bin/sh",
                     (char *)"-c",
                     (char *)"exit 9",
                     NULL };
    int status;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(2);
        (void)execve(argv[0], argv, argv + 5);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 9);
}

static void test_refused(void **state)
{
    static const char *const names[] = { "", "1A", "A=B", "A B", "A-B", "BASH_FUNC_x%%", "A\n" };
    static const char *const bad_links[] = { "", "/abs", "../x", "a/../x", "a//b", "a/", ".." };
    const char *const command = "true";
    struct sv_error err;
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        struct sv_buf out = SV_BUF_INIT(65536);
        const struct exe_env env = { names[i], "v", EXE_ENV_EXPAND };
        const struct exe_script s = {
            .env = &env, .n_env = 1, .commands = &command, .n_commands = 1, .log_dir = "/l"
        };
        assert_int_equal(exe_script_build(&s, &out, &err), -EINVAL);
        sv_buf_free(&out);
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(bad_links); i++) {
        struct sv_buf out = SV_BUF_INIT(65536);
        const struct exe_link l = { "/t", bad_links[i] };
        const struct exe_script s = {
            .links = &l, .n_links = 1, .commands = &command, .n_commands = 1, .log_dir = "/l"
        };
        assert_int_equal(exe_script_build(&s, &out, &err), -EINVAL);
        sv_buf_free(&out);
    }
}

/* Counts comparisons for `n` variables of an application whose values refer to each other `refs`
 * times. */
static uint64_t comparisons_of(size_t n, size_t refs)
{
    struct exe_env *env = calloc(n, sizeof(*env));
    char(*names)[24] = calloc(n, sizeof(*names));
    struct sv_buf out = SV_BUF_INIT(1 << 20);
    struct sv_error err = { 0 };
    uint64_t comparisons = 0;
    const char *const command = "true";
    struct exe_script s = { .env = env,
                            .n_env = n,
                            .commands = &command,
                            .n_commands = 1,
                            .log_dir = "/l",
                            .comparisons = &comparisons };
    assert_true(env && names);
    for (size_t i = 0; i < n; i++) {
        struct sv_buf value = SV_BUF_INIT(1 << 20);
        (void)snprintf(names[i], sizeof(names[i]), "V%zu", i);
        for (size_t k = 0; k < refs; k++)
            assert_int_equal(sv_buf_printf(&value, "$V%zu", (i * 7 + k * 13) % n), 0);
        assert_int_equal(sv_buf_put_u8(&value, 0), 0);
        env[i] = (struct exe_env){ names[i], (const char *)value.data, EXE_ENV_EXPAND };
    }
    assert_int_equal(exe_script_build(&s, &out, &err), 0);
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)env[i].value);
    free(env);
    free(names);
    sv_buf_free(&out);
    return comparisons;
}

/* Twice the variables with as many references each: twice the work, and a bit for the logarithm. */
static void test_growth(void **state)
{
    (void)state;
    for (size_t n = 128; n <= 1024; n *= 2)
        assert_true(comparisons_of(2 * n, 20) < 3 * comparisons_of(n, 20));
    assert_true(comparisons_of(EXE_ENV_MAX, 20) < 20ull * EXE_ENV_MAX * 20);
}

/* A variable that no kernel would execute; a name longer than any, as a reference. */
static void test_long_variables(void **state)
{
    char *value = malloc(EXE_ENV_VARIABLE_MAX + 1);
    const char *const command = "true";
    struct exe_env env = { "A", value, EXE_ENV_EXPAND };
    const struct exe_script s = {
        .env = &env, .n_env = 1, .commands = &command, .n_commands = 1, .log_dir = "/l"
    };
    struct sv_error err;
    (void)state;
    assert_non_null(value);
    memset(value, 'x', EXE_ENV_VARIABLE_MAX);
    value[0] = '$';
    for (size_t length = EXE_ENV_VARIABLE_MAX - 3; length <= EXE_ENV_VARIABLE_MAX - 2; length++) {
        struct sv_buf out = SV_BUF_INIT(1 << 20);
        value[length] = '\0';
        assert_int_equal(exe_script_build(&s, &out, &err),
                         length == EXE_ENV_VARIABLE_MAX - 3 ? 0 : -EINVAL);
        sv_buf_free(&out);
        value[length] = 'x';
    }
    free(value);
}

static void test_add_opens(void **state)
{
    _cleanup_close_ int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
    (void)state;
    assert_string_equal(exe_add_opens(dir), "");
    static const char old[] = "X=1\nJAVA_VERSION=\"1.8.0_3\"\n";
    static const char new[] = "JAVA_VERSION=\"17.0.1\"\n";
    assert_int_equal(sv_write_file_atomic(at, "release", old, strlen(old), 0644), 0);
    assert_string_equal(exe_add_opens(dir), "");
    assert_int_equal(sv_write_file_atomic(at, "release", new, strlen(new), 0644), 0);
    assert_non_null(strstr(exe_add_opens(dir), "--add-opens=java.base/java.lang=ALL-UNNAMED"));
    assert_string_equal(exe_add_opens(NULL), "");
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    _cleanup_close_ int at = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return sv_remove_tree_at(at, strrchr(dir, '/') + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quote_survives_every_byte),
        cmocka_unit_test(test_quote_expand_is_one_word),
        cmocka_unit_test(test_quote_expand_means_yarn),
        cmocka_unit_test(test_script),
        cmocka_unit_test(test_links_again),
        cmocka_unit_test(test_niceness),
        cmocka_unit_test(test_debug_info),
        cmocka_unit_test(test_debug_info_without_logs),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_long_variables),
        cmocka_unit_test(test_add_opens),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
