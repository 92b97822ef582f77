/* service/am/framework/task-launch.c: the command of a task, as bash runs it behind the node's
 * double quotes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "service/am/framework/task-launch.h"

static struct svc_fw_role role(const char *entry, int32_t gpus, int64_t mask)
{
    return (struct svc_fw_role){
        .name = "W",
        .entry_point = entry,
        .resource = { .gpus = gpus, .gpu_mask = mask },
    };
}

static void test_streams(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct svc_fw_role r = role("sh run.sh", 0, 0);

    (void)state;
    assert_string_equal(svc_task_command(&r, a), "sh run.sh 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr");
}

/* <LOG_DIR> replaced and between double quotes, as in a node's launch script. Returns the exit
 * status; *ret: what the task wrote. */
static int run(const struct svc_fw_role *r, const char *indexes, char ret[64])
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    char dir[] = "/tmp/test-task-launch.XXXXXX", path[128], *script;
    const char *line = svc_task_command(r, a), *from;
    FILE *f;
    pid_t pid;
    int status;

    assert_non_null(mkdtemp(dir));
    script = sv_arena_printf(a, "exec /bin/bash -c \"");
    while ((from = strstr(line, "<LOG_DIR>"))) {
        script = sv_arena_printf(a, "%s%.*s%s", script, (int)(from - line), line, dir);
        line = from + strlen("<LOG_DIR>");
    }
    script = sv_arena_printf(a, "%s%s\"", script, line);
    pid = fork();
    if (pid == 0) {
        if (indexes)
            (void)setenv("SELVEDGE_GPU_INDEXES", indexes, 1);
        (void)execl("/bin/bash", "bash", "-c", script, NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)snprintf(path, sizeof(path), "%s/stdout", dir);
    ret[0] = '\0';
    f = fopen(path, "re");
    if (f) {
        ret[fread(ret, 1, 63, f)] = '\0';
        (void)fclose(f);
    }
    (void)unlink(path);
    (void)snprintf(path, sizeof(path), "%s/stderr", dir);
    (void)unlink(path);
    assert_int_equal(rmdir(dir), 0);
    return WEXITSTATUS(status);
}

static void test_gpus(void **state)
{
    const struct svc_fw_role any = role("printenv CONTAINER_GPUS", 2, 0),
                             mine = role("printenv CONTAINER_GPUS", 2, 0x24);
    char text[64];

    (void)state;
    assert_int_equal(run(&any, "2,5", text), 0);
    assert_string_equal(text, "36\n");
    assert_int_equal(run(&any, NULL, text), 1); /* not set: the node does not tell */
    assert_int_equal(run(&mine, "2,5", text), 0);
    assert_string_equal(text, "36\n");
    assert_int_equal(run(&mine, "2,4", text), 193);
    assert_int_equal(run(&mine, NULL, text), 194);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_gpus),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
