/* Tests service/am/launch/launch.c, files.c and work.c on a directory of this machine. */
#include "service/am/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "service/am/launch/work.h"
#include "tests/unit/service/am-fixture.h"

static const char shop[] =
    "{\"name\":\"shop\",\"version\":\"1\",\"resource\":{\"cpus\":1,\"memory\":\"64\"},"
    "\"components\":[{\"name\":\"web\",\"number_of_containers\":1,"
    "\"launch_command\":\"run ${COMPONENT_INSTANCE_NAME} ${DB-0_HOST} ${PLACE} ${UNKNOWN}\","
    "\"artifact\":{\"type\":\"TARBALL\",\"id\":\"%s/web.tgz\"},"
    "\"configuration\":{\"properties\":{\"selvedge.service.container.network\":\"none\","
    "\"selvedge.service.container.pids.max\":\"100\"},\"env\":{\"PLACE\":\"${SERVICE_NAME}/"
    "${COMPONENT_ID}\",\"LANG\":\"C\"},"
    "\"files\":[{\"type\":\"PROPERTIES\",\"dest_file\":\"a.conf\","
    "\"properties\":{\"name\":\"${SERVICE_NAME}\"}},"
    "{\"type\":\"TEMPLATE\",\"dest_file\":\"b.conf\",\"src_file\":\"%s/b.template\"},"
    "{\"type\":\"STATIC\",\"dest_file\":\"data\",\"src_file\":\"%s/web.tgz\"}]}}]}";

struct world {
    char dir[64], url[96];
    struct sv_conf *conf;
    struct svc_files *files;
    struct svc_plan *plan;
    struct svc_tokens *tokens;
    struct am_fixture others; /* a service whose instance db-0 is the peer */
    struct svc_names *names;
    struct svc_peers *peers;
};

static const char pair[] =
    "{\"name\":\"shop\",\"version\":\"1\",\"resource\":{\"cpus\":1,\"memory\":\"64\"},"
    "\"components\":[{\"name\":\"db\",\"number_of_containers\":1,\"launch_command\":\"db\"},"
    "{\"name\":\"web\",\"number_of_containers\":0,\"launch_command\":\"web\","
    "\"dependencies\":[\"db\"]}]}";

static void add_peers(struct world *w)
{
    struct svc_names_config cfg = { .heading = "# shop\n" };

    am_fixture_new(&w->others, pair);
    assert_int_equal(svc_container_address(w->others.containers.table, "10.0.0.7", "node7"), 1);
    cfg.engine = w->others.engine;
    cfg.containers = &w->others.containers;
    cfg.tokens = w->tokens;
    assert_int_equal(svc_names_new(&cfg, &w->names), 0);
    w->peers = svc_names_peers(w->names, &w->others.plan->resolved->components[1], false);
    assert_non_null(w->peers);
}

static void write_file(const struct world *w, const char *name, const char *text)
{
    _cleanup_close_ int dir = open(w->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    assert_int_equal(sv_write_file_atomic(dir, name, text, strlen(text), 0644), 0);
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    struct sv_error err = { 0 };
    char json[4096];

    (void)snprintf(w->dir, sizeof(w->dir), "/tmp/selvedge-launch-XXXXXX");
    assert_non_null(mkdtemp(w->dir));
    (void)snprintf(w->url, sizeof(w->url), "file:%s/shop.json", w->dir);
    (void)snprintf(json, sizeof(json), shop, w->dir, w->dir, w->dir);
    write_file(w, "shop.json", json);
    write_file(w, "web.tgz", "archive");
    write_file(w, "b.template", "I am ${COMPONENT_INSTANCE_NAME}\n");
    w->conf = sv_conf_new();
    assert_int_equal(sv_conf_set(w->conf, "fs.defaultFS", "file:///"), 0);
    if (svc_files_open(w->conf, w->url, "alice", &w->files, &err) < 0 ||
        svc_plan_new(json, strlen(json), w->conf, &w->plan, &err) < 0 ||
        svc_launch_tokens(w->plan->stored, w->conf, "alice", svc_files_url(w->files), &w->tokens,
                          &err) < 0)
        fail_msg("%s", err.text);
    add_peers(w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    _cleanup_close_ int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

    svc_peers_unref(w->peers);
    svc_names_free(w->names);
    am_fixture_free(&w->others);
    svc_tokens_free(w->tokens);
    svc_plan_free(w->plan);
    svc_files_close(w->files);
    sv_conf_free(w->conf);
    assert_int_equal(sv_remove_tree_at(tmp, w->dir + strlen("/tmp/")), 0);
    free(w);
    return 0;
}

static const char *env_of(const struct cli_launch *l, const char *name)
{
    for (size_t i = 0; i < l->n_env; i++)
        if (strcmp(l->env[i].name, name) == 0)
            return l->env[i].value;
    return NULL;
}

static const struct cli_resource *resource_of(const struct cli_launch *l, const char *name)
{
    for (size_t i = 0; i < l->n_resources; i++)
        if (strcmp(l->resources[i].name, name) == 0)
            return &l->resources[i];
    fail_msg("no resource %s", name);
    return NULL;
}

static struct svc_launch_request request(const struct world *w, const char *instance)
{
    return (struct svc_launch_request){ .component = &w->plan->components[0],
                                        .tokens = w->tokens,
                                        .user = "alice",
                                        .instance = instance,
                                        .container = "container_1_0001_01_000002",
                                        .peers = w->peers };
}

static void whole(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct world *w = *state;
    const struct svc_launch_request q = request(w, "web-3");
    const struct cli_resource *r;
    _cleanup_free_ char *text = NULL;
    struct sv_error err = { 0 };
    struct cli_launch l;
    size_t len;

    if (svc_launch_prepare(w->files, &q, a, &l, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(l.command, "run web-3 node7 shop/3 ${UNKNOWN} 1><LOG_DIR>/stdout.txt "
                                   "2><LOG_DIR>/stderr.txt");
    assert_string_equal(env_of(&l, "PLACE"), "shop/3");
    assert_string_equal(env_of(&l, "LANG"), "C"); /* the definition's wins */
    assert_string_equal(env_of(&l, "WORK_DIR"), "{{PWD}}");
    assert_string_equal(env_of(&l, "HADOOP_USER_NAME"), "alice");
    assert_string_equal(env_of(&l, "SELVEDGE_CONTAINER_NETWORK"), "none");
    assert_string_equal(env_of(&l, "SELVEDGE_CONTAINER_PIDS"), "100");
    assert_null(env_of(&l, "SELVEDGE_CONTAINER_PROFILE")); /* the node's */
    assert_int_equal(l.n_resources, 5);
    r = resource_of(&l, "lib");
    assert_int_equal(r->type, CLI_ARCHIVE);
    assert_int_equal(r->size, strlen("archive"));
    assert_int_equal(strncmp(r->url, "file:///tmp/", 12), 0);
    assert_int_equal(resource_of(&l, "data")->type, CLI_FILE);
    r = resource_of(&l, "conf/b.conf");
    assert_int_equal(svc_files_source(w->files, r->url, 100, &text, &len, &err), 0);
    assert_string_equal(text, "I am web-3\n");
    assert_int_equal(r->size, len);
    assert_int_equal(r->timestamp % 1000, 0);
    free(SV_TAKE(text));
    r = resource_of(&l, "conf/selvedge-hosts");
    assert_int_equal(r->visibility, CLI_APPLICATION);
    assert_int_equal(svc_files_source(w->files, r->url, 100, &text, &len, &err), 0);
    assert_string_equal(text, "# shop\n10.0.0.7 db-0\n");
}

/* Files without an instance's tokens are the same file of all instances. */
static void shared(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct world *w = *state;
    const struct svc_launch_request one = request(w, "web-1"), two = request(w, "web-2");
    struct sv_error err = { 0 };
    struct cli_launch l, m;

    assert_int_equal(svc_launch_prepare(w->files, &one, a, &l, &err), 0);
    assert_int_equal(svc_launch_prepare(w->files, &two, a, &m, &err), 0);
    assert_string_equal(resource_of(&l, "conf/a.conf")->url, resource_of(&m, "conf/a.conf")->url);
    assert_string_not_equal(resource_of(&l, "conf/b.conf")->url,
                            resource_of(&m, "conf/b.conf")->url);
}

static void missing(void **state)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct world *w = *state;
    const struct svc_launch_request q = request(w, "web-1");
    char path[96];
    struct sv_error err = { 0 };
    struct cli_launch l;

    (void)snprintf(path, sizeof(path), "%s/web.tgz", w->dir);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(svc_launch_prepare(w->files, &q, a, &l, &err), -ENOENT);
    assert_non_null(strstr(err.text, "component web"));
    assert_non_null(strstr(err.text, "web.tgz"));
}

static void replaced(void **state)
{
    struct world *w = *state;
    _cleanup_free_ char *text = NULL;
    struct sv_error err = { 0 };
    size_t len;

    assert_int_equal(svc_files_replace(w->files, "shop.json", "{}", 2, &err), 0);
    assert_int_equal(svc_files_read(w->files, "shop.json", 10, &text, &len, &err), 0);
    assert_string_equal(text, "{}");
    assert_int_equal(svc_files_read(w->files, "nothing", 10, &text, &len, &err), -ENOENT);
    assert_int_equal(svc_files_replace(w->files, "long", "0123456789a", 11, &err), 0);
    assert_int_equal(svc_files_read(w->files, "long", 10, &text, &len, &err), -EFBIG);
}

struct outcome {
    unsigned order, stored, launched, planned;
    int status;
};

static void on_stored(int status, const struct sv_error *err, void *userdata)
{
    struct outcome *o = userdata;

    (void)err;
    assert_int_equal(status, 0);
    o->stored = ++o->order;
}

static void on_launched(struct yarn_container_id id, int status, const struct cli_launch *launch,
                        const struct sv_error *err, void *userdata)
{
    struct outcome *o = userdata;

    if (status < 0)
        fail_msg("%s", err->text);
    assert_int_equal(id.id, 2);
    assert_int_equal(launch->n_resources, 5);
    o->launched = ++o->order;
}

static void on_planned(int status, struct svc_plan *plan, const struct sv_error *err,
                       void *userdata)
{
    struct outcome *o = userdata;

    (void)err;
    assert_null(plan);
    o->status = status;
    o->planned = ++o->order;
}

/* Jobs run in order: what was stored first is stored when a launch is ready. */
static void in_order(void **state)
{
    struct world *w = *state;
    const struct svc_launch_request q = request(w, "web-1");
    struct sv_buf bytes = SV_BUF_INIT(100);
    struct outcome o = { 0 };
    struct svc_work *work;
    sd_event *event;

    assert_int_equal(sd_event_new(&event), 0);
    assert_int_equal(svc_work_new(event, w->files, w->conf, &work), 0);
    assert_int_equal(sv_buf_put_str(&bytes, "journal"), 0);
    assert_int_equal(svc_work_replace(work, "journal", &bytes, on_stored, &o), 0);
    assert_int_equal(
        svc_work_launch(work, (struct yarn_container_id){ .id = 2 }, &q, on_launched, &o), 0);
    assert_int_equal(svc_work_plan(work, "2", on_planned, &o), 0);
    assert_int_equal(svc_work_plan(work, "../x", on_planned, &o), -EINVAL);
    assert_int_equal(svc_work_plan(work, "..", on_planned, &o), -EINVAL);
    while (!o.planned)
        assert_true(sd_event_run(event, 20000000) > 0);
    assert_true(o.stored == 1 && o.launched == 2);
    assert_int_equal(o.status, -ENOENT);
    svc_work_free(work);
    w->files = NULL; /* the work's */
    sd_event_unref(event);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = { TEST(whole), TEST(shared), TEST(missing), TEST(replaced),
                                        TEST(in_order) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
