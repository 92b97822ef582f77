/* The start of a framework's master, on a directory of this machine: what is wrong is said before
 * anything is told. The ResourceManager's side and the transport are wrapped. */
#include "service/am/framework/master.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* after the three above */
#include <cmocka.h>

#include "common/fd.h"
#include "service/am/framework/master-internal.h"
#include "service/am/framework/post.h"

#define DESCRIPTOR                                                                                 \
    "{\"version\":3,\"taskRoles\":{\"W\":{\"taskNumber\":2,\"taskService\":{\"version\":1,"        \
    "\"entryPoint\":\"true\",\"sourceLocations\":[\"file:///x\"],\"resource\":{\"cpuNumber\":1,"   \
    "\"memoryMB\":64,\"portDefinitions\":{}}}}}}"

static struct {
    char dir[64], url[96], post[128];
    sd_event *event;
    struct sv_conf *conf;
    struct svc_fwm_options options;
    struct sv_error err;
} w;

int __wrap_cli_am_new(sd_event *event, const struct cli_am_config *cfg, struct cli_am **ret,
                      struct sv_error *err);
int __wrap_cli_am_new(sd_event *event, const struct cli_am_config *cfg, struct cli_am **ret,
                      struct sv_error *err)
{
    (void)event;
    (void)err;
    assert_int_equal(cfg->n_schedulers, 1);
    assert_int_equal(cfg->max_wait_ms, -1); /* without a ResourceManager it waits for ever */
    *ret = NULL;
    return 0;
}

const uint8_t *__wrap_cli_am_tokens(const struct cli_am *am, size_t *ret_len);
const uint8_t *__wrap_cli_am_tokens(const struct cli_am *am, size_t *ret_len)
{
    (void)am;
    *ret_len = 0;
    return NULL;
}

struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am);
struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am)
{
    (void)am;
    return (struct yarn_attempt_id){ { 1, 1 }, 2 };
}

int __wrap_svc_post_new(sd_event *event, const char *url, const char *header, svc_post_fn fn,
                        void *userdata, struct svc_post **ret, struct sv_error *err);
int __wrap_svc_post_new(sd_event *event, const char *url, const char *header, svc_post_fn fn,
                        void *userdata, struct svc_post **ret, struct sv_error *err)
{
    (void)event;
    (void)fn;
    (void)userdata;
    (void)err;
    (void)snprintf(w.post, sizeof(w.post), "%s %s", url, header);
    *ret = NULL;
    return 0;
}

struct svc_post *__wrap_svc_post_free(struct svc_post *p);
struct svc_post *__wrap_svc_post_free(struct svc_post *p)
{
    (void)p;
    return NULL;
}

static int set_up(void **state)
{
    (void)state;
    memset(&w, 0, sizeof(w));
    (void)snprintf(w.dir, sizeof(w.dir), "/tmp/test-fwm-XXXXXX");
    assert_non_null(mkdtemp(w.dir));
    (void)snprintf(w.url, sizeof(w.url), "file://%s/framework.json", w.dir);
    w.conf = sv_conf_new();
    assert_int_equal(sd_event_new(&w.event), 0);
    assert_int_equal(sv_conf_set(w.conf, "fs.defaultFS", "file:///"), 0);
    assert_int_equal(
        sv_conf_set(w.conf, "yarn.resourcemanager.scheduler.address", "127.0.0.1:8030"), 0);
    w.options = (struct svc_fwm_options){ w.url, "ann~F", "ann", "127.0.0.1" };
    (void)unsetenv("HADOOP_TOKEN_FILE_LOCATION");
    (void)setenv("SELVEDGE_LAUNCHER", "http://127.0.0.1:9191", 1);
    (void)setenv("SELVEDGE_LAUNCHER_TOKEN", "t0", 1);
    return 0;
}

static int tear_down(void **state)
{
    _cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    sd_event_unref(w.event);
    sv_conf_free(w.conf);
    return sv_remove_tree_at(tmp, w.dir + strlen("/tmp/"));
}

static void write_file(const char *text)
{
    _cleanup_close_ int dir = open(w.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(sv_write_file_atomic(dir, "framework.json", text, strlen(text), 0644), 0);
}

static void starts(const char *text)
{
    struct svc_fwm *m = NULL;

    write_file(text);
    if (svc_fwm_new(w.event, &w.options, w.conf, &m, &w.err) < 0)
        fail_msg("%s", w.err.text);
    assert_string_equal(w.post, "http://127.0.0.1:9191/v1/Masters/ann~F Selvedge-Master: t0");
    assert_int_equal(m->spec->roles[0].tasks, 2);
    assert_string_equal(m->attempt, "appattempt_1_0001_000002");
    svc_fwm_free(m);
}

static void fails(const char *text, const char *part)
{
    struct svc_fwm *m = NULL;

    write_file(text);
    w.err = (struct sv_error){ 0 };
    assert_true(svc_fwm_new(w.event, &w.options, w.conf, &m, &w.err) < 0);
    if (!strstr(w.err.text, part))
        fail_msg("\"%s\" is not in: %s", part, w.err.text);
}

static void test_descriptor(void **state)
{
    (void)state;
    starts(DESCRIPTOR);
    starts("{\"frameworkName\":\"ann~F\",\"descriptor\":" DESCRIPTOR "}");
    fails("{}", "taskRoles");
    fails("{", "framework.json");
    fails("{\"descriptor\":{\"version\":1}}", "taskRoles");
}

static void test_environment(void **state)
{
    (void)state;
    (void)unsetenv("SELVEDGE_LAUNCHER_TOKEN");
    fails(DESCRIPTOR, "SELVEDGE_LAUNCHER_TOKEN");
    (void)unsetenv("SELVEDGE_LAUNCHER");
    fails(DESCRIPTOR, "SELVEDGE_LAUNCHER");
}

static void test_ports(void **state)
{
    (void)state;
    assert_int_equal(sv_conf_set(w.conf, "selvedge.framework.port-range", "3000-2000"), 0);
    fails(DESCRIPTOR, "selvedge.framework.port-range");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_descriptor, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_environment, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ports, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
