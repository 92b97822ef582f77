/* Tests service/am/master.c: the start of a master in its order, on a directory of this machine;
 * the ResourceManager's side is wrapped. What is wrong is said before anything is registered. */
#include "service/am/master.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
/* after the three above */
#include <cmocka.h>

#include "client/lib/am-server.h"
#include "common/fd.h"
#include "service/am/facts/journal.h"
#include "service/am/master-internal.h"

#define SHOP(name, properties)                                                                     \
    "{\"name\":\"" name "\",\"version\":\"7\",\"configuration\":{\"properties\":{" properties      \
    "}},\"components\":[{\"name\":\"web\",\"number_of_containers\":2,\"launch_command\":\"web\","  \
    "\"resource\":{\"cpus\":1,\"memory\":\"64\"}}]}"

static struct {
    char dir[64], url[96];
    sd_event *event;
    struct sv_conf *conf;
    struct svc_am_options options;
    struct sv_error err;
    char registered[256];
    uint16_t first, last; /* ports that it wanted to listen on */
} w;

/* ---- client/lib ---- */

int __wrap_cli_am_new(sd_event *event, const struct cli_am_config *cfg, struct cli_am **ret,
                      struct sv_error *err);
int __wrap_cli_am_new(sd_event *event, const struct cli_am_config *cfg, struct cli_am **ret,
                      struct sv_error *err)
{
    (void)event;
    (void)err;
    assert_int_equal(cfg->n_schedulers, 1);
    assert_string_equal(cfg->schedulers[0].host, "127.0.0.1");
    assert_int_equal(cfg->max_wait_ms, -1); /* without a ResourceManager it waits for ever */
    *ret = NULL;
    return 0;
}

struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am);
struct yarn_attempt_id __wrap_cli_am_attempt(const struct cli_am *am)
{
    (void)am;
    return (struct yarn_attempt_id){ { 1, 1 }, 2 };
}

int __wrap_cli_am_serve(struct cli_am *am, const struct cli_am_server_config *cfg,
                        struct cli_am_server **ret, struct sv_error *err);
int __wrap_cli_am_serve(struct cli_am *am, const struct cli_am_server_config *cfg,
                        struct cli_am_server **ret, struct sv_error *err)
{
    (void)am;
    (void)err;
    w.first = cfg->first;
    w.last = cfg->last;
    *ret = NULL;
    return 0;
}

uint16_t __wrap_cli_am_server_port(const struct cli_am_server *s);
uint16_t __wrap_cli_am_server_port(const struct cli_am_server *s)
{
    (void)s;
    return 4711;
}

int __wrap_cli_am_register(struct cli_am *am, const char *host, int32_t port, const char *url);
int __wrap_cli_am_register(struct cli_am *am, const char *host, int32_t port, const char *url)
{
    (void)am;
    (void)snprintf(w.registered, sizeof(w.registered), "%s %d %s", host, port, url);
    return 0;
}

/* ---- Set-up ---- */

static void write_file(const char *name, const char *text)
{
    _cleanup_close_ int dir = open(w.dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(sv_write_file_atomic(dir, name, text, strlen(text), 0644), 0);
}

static int set_up(void **state)
{
    (void)state;
    memset(&w, 0, sizeof(w));
    (void)snprintf(w.dir, sizeof(w.dir), "/tmp/test-master-XXXXXX");
    assert_non_null(mkdtemp(w.dir));
    (void)snprintf(w.url, sizeof(w.url), "file://%s/shop.json", w.dir);
    w.conf = sv_conf_new();
    assert_int_equal(sd_event_new(&w.event), 0);
    assert_int_equal(sv_conf_set(w.conf, "fs.defaultFS", "file:///"), 0);
    assert_int_equal(
        sv_conf_set(w.conf, "yarn.resourcemanager.scheduler.address", "127.0.0.1:8030"), 0);
    assert_int_equal(sv_conf_set(w.conf, "yarn.resourcemanager.address", "127.0.0.1:8032"), 0);
    w.options = (struct svc_am_options){ .yarnfile = w.url,
                                         .name = "shop",
                                         .user = "alice",
                                         .host = "127.0.0.1",
                                         .proxy_base = "/proxy/application_1_0001" };
    (void)unsetenv("HADOOP_TOKEN_FILE_LOCATION");
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

static struct svc_master *started(void)
{
    struct svc_master *m = NULL;

    w.err = (struct sv_error){ 0 };
    if (svc_master_new(w.event, &w.options, w.conf, &m, &w.err) < 0)
        fail_msg("%s", w.err.text);
    return m;
}

static void assert_refused(const char *text)
{
    struct svc_master *m = NULL;

    w.err = (struct sv_error){ 0 };
    assert_true(svc_master_new(w.event, &w.options, w.conf, &m, &w.err) < 0);
    if (!strstr(w.err.text, text))
        fail_msg("\"%s\" is not in: %s", text, w.err.text);
    assert_null(m);
    assert_string_equal(w.registered, "");
}

/* ---- Tests ---- */

static void starts(void **state)
{
    struct svc_master *m;
    char url[64];

    (void)state;
    write_file("shop.json", SHOP("shop", "\"yarn.service.am.client.port-range\":\"4000-4010\""));
    m = started();
    (void)snprintf(url, sizeof(url), "127.0.0.1 4711 http://127.0.0.1:%u/", svc_rest_port(m->rest));
    assert_string_equal(w.registered, url);
    assert_true(w.first == 4000 && w.last == 4010);
    assert_string_equal(m->version, "7");
    assert_string_equal(m->definition_file, "shop.json");
    svc_master_free(m);
}

/* Properties of the service come before the configuration's keys. */
static void properties_override(void **state)
{
    struct svc_master *m;

    (void)state;
    write_file("shop.json",
               SHOP("shop", "\"yarn.service.am.client.port-range\":\"4000-4010\",\"a.key\":\"b\""));
    assert_int_equal(sv_conf_set(w.conf, "a.key", "c"), 0);
    m = started();
    assert_string_equal(sv_conf_raw(w.conf, "a.key"), "b");
    svc_master_free(m);
}

static void refuses(void **state)
{
    (void)state;
    assert_refused("shop.json");
    write_file("shop.json", "{\"name\":");
    assert_refused("not JSON");
    write_file("shop.json", SHOP("other", ""));
    assert_refused("is the service other, not shop");
    write_file("shop.json", SHOP("shop", "\"yarn.service.am.client.port-range\":\"70000\""));
    assert_refused("yarn.service.am.client.port-range: \"70000\"");
    write_file("shop.json", SHOP("shop", ""));
    w.options.yarnfile = "relative";
    assert_refused("relative");
}

/* Names of the attempt before are expected; a journal that is none costs them alone. */
static void journal(void **state)
{
    struct svc_master *m;

    (void)state;
    write_file("shop.json", SHOP("shop", ""));
    write_file(SVC_JOURNAL_FILE, "nonsense\n");
    m = started();
    assert_int_equal(m->expected.n, 0);
    svc_master_free(m);
}

static void tokens(void **state)
{
    char path[96];

    (void)state;
    write_file("shop.json", SHOP("shop", ""));
    write_file("tokens", "HDTS nonsense");
    (void)snprintf(path, sizeof(path), "%s/tokens", w.dir);
    assert_int_equal(setenv("HADOOP_TOKEN_FILE_LOCATION", path, 1), 0);
    assert_refused(path);
    (void)unsetenv("HADOOP_TOKEN_FILE_LOCATION");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = { TEST(starts), TEST(properties_override), TEST(refuses),
                                        TEST(journal), TEST(tokens) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
