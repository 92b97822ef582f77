/* service/am/framework/task-launch.c: what a task is given, on a directory of this machine, and its
 * command, as bash runs it behind the node's double quotes. */
#include <errno.h>
#include <fcntl.h>
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

#include "common/fd.h"
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

/* A framework's directory with two source locations of these names. */
struct place {
    char dir[64], url[96], sources[2][96];
    const char *list[2];
    struct sv_conf *conf;
    struct svc_files *files;
};

static void place_new(struct place *p, const char *const names[2])
{
    struct sv_error err = { 0 };

    (void)snprintf(p->dir, sizeof(p->dir), "/tmp/test-task-launch-XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    (void)snprintf(p->url, sizeof(p->url), "file://%s/framework.json", p->dir);
    for (int i = 0; i < 2; i++) {
        _cleanup_close_ int dir = open(p->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

        (void)snprintf(p->sources[i], sizeof(p->sources[i]), "file://%s/%s", p->dir, names[i]);
        p->list[i] = p->sources[i];
        assert_int_equal(sv_write_file_atomic(dir, names[i], "x", 1, 0644), 0);
    }
    p->conf = sv_conf_new();
    assert_int_equal(sv_conf_set(p->conf, "fs.defaultFS", "file:///"), 0);
    if (svc_files_open(p->conf, p->url, "ann", &p->files, &err) < 0)
        fail_msg("%s", err.text);
}

static void place_free(struct place *p)
{
    _cleanup_close_ int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

    svc_files_close(p->files);
    sv_conf_free(p->conf);
    assert_int_equal(sv_remove_tree_at(tmp, p->dir + strlen("/tmp/")), 0);
}

static struct svc_task_launch_request request(const struct svc_fw_role *r)
{
    return (struct svc_task_launch_request){ .framework = "ann~F",
                                             .user = "ann",
                                             .launcher = "http://l:1",
                                             .version = 3,
                                             .role = r,
                                             .index = 7,
                                             .application = "application_1_0002",
                                             .attempt = "appattempt_1_0002_000001",
                                             .host = "127.0.0.1",
                                             .ports = "http:5,6;" };
}

static const char *env_of(const struct cli_launch *l, const char *name)
{
    for (size_t i = 0; i < l->n_env; i++)
        if (strcmp(l->env[i].name, name) == 0)
            return l->env[i].value;
    return NULL;
}

/* Each variable of the launcher's manual but CONTAINER_ID, which is YARN's. */
static void test_environment(void **state)
{
    static const struct {
        const char *name, *value;
    } rows[] = {
        { "LAUNCHER_ADDRESS", "http://l:1" },
        { "FRAMEWORK_NAME", "ann~F" },
        { "FRAMEWORK_VERSION", "3" },
        { "TASKROLE_NAME", "W" },
        { "TASK_INDEX", "7" },
        { "SERVICE_NAME", "W" },
        { "SERVICE_VERSION", "9" },
        { "APP_ID", "application_1_0002" },
        { "CONTAINER_IP", "127.0.0.1" },
        { "CONTAINER_GPUS", "0" },
        { "CONTAINER_PORTS", "http:5,6;" },
    };
    static const char *const names[2] = { "a.zip", "b" };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_fw_role r = role("a.zip/run", 0, 0);
    struct svc_task_launch_request q = request(&r);
    char ip[SVC_TASK_IP_MAX];
    struct cli_launch l = { 0 }, next = { 0 };
    struct sv_error err = { 0 };
    struct place p = { 0 };

    (void)state;
    r.service_version = 9;
    place_new(&p, names);
    assert_int_equal(svc_task_launch_prepare(p.files, &q, a, &l, ip, &err), 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        const char *value = env_of(&l, rows[i].name);

        if (!value || strcmp(value, rows[i].value) != 0)
            fail_msg("%s: %s", rows[i].name, value ?: "not set");
    }
    /* In its next container the attempt's own are others, who the task is does not change. */
    q.application = "application_1_0003";
    q.host = "127.0.0.2";
    q.ports = "http:8,9;";
    assert_int_equal(svc_task_launch_prepare(p.files, &q, a, &next, ip, &err), 0);
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(env_of(&next, rows[i].name), rows[i].value);
    assert_string_equal(env_of(&next, "APP_ID"), q.application);
    assert_string_equal(env_of(&next, "CONTAINER_IP"), q.host);
    assert_string_equal(env_of(&next, "CONTAINER_PORTS"), q.ports);
    assert_string_equal(env_of(&next, "SELVEDGE_CONTAINER_PORTS"), q.ports);
    assert_null(env_of(&next, "SELVEDGE_CONTAINER_GPUS"));
    /* Several are prepared before the first is sent. */
    assert_string_equal(env_of(&l, "CONTAINER_IP"), "127.0.0.1");
    /* The cards of gpuAttribute are the node's to give; which it gave the command finds out. */
    r.resource.gpus = 3;
    r.resource.gpu_mask = INT64_C(0x4000000000000005);
    assert_int_equal(svc_task_launch_prepare(p.files, &q, a, &l, ip, &err), 0);
    assert_string_equal(env_of(&l, "SELVEDGE_CONTAINER_GPUS"), "0,2,62");
    assert_null(env_of(&l, "CONTAINER_GPUS"));
    place_free(&p);
}

/* A ZIP is unpacked, all else is as it is; each has the name that its URL ends with. */
static void test_sources(void **state)
{
    static const char *const names[2] = { "a.zip", "b" };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct svc_fw_role r = role("a.zip/run", 0, 0);
    const struct svc_task_launch_request q = request(&r);
    char ip[SVC_TASK_IP_MAX];
    struct cli_launch l = { 0 };
    struct sv_error err = { 0 };
    struct place p = { 0 };

    (void)state;
    place_new(&p, names);
    r.sources = p.list;
    r.n_sources = 2;
    assert_int_equal(svc_task_launch_prepare(p.files, &q, a, &l, ip, &err), 0);
    assert_int_equal(l.n_resources, 2);
    assert_string_equal(l.resources[0].name, "a.zip");
    assert_int_equal(l.resources[0].type, CLI_ARCHIVE);
    assert_string_equal(l.resources[1].name, "b");
    assert_int_equal(l.resources[1].type, CLI_FILE);
    p.list[1] = p.list[0];
    assert_int_equal(svc_task_launch_prepare(p.files, &q, a, &l, ip, &err), -EEXIST);
    place_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_gpus),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_sources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
