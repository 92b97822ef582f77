/* Tests service/am/resuming.c: an attempt goes on with the upgrade of the one before it. */
#include "tests/unit/service/master-fixture.h"

#include <errno.h>

#define SHOP(version, command)                                                                     \
    "{\"name\":\"shop\",\"version\":\"" version "\",\"components\":[{\"name\":\"web\","            \
    "\"number_of_containers\":2,\"launch_command\":\"" command "\",\"resource\":{\"cpus\":1,"      \
    "\"memory\":\"64\"}}]}"

static struct {
    const char *target; /* what is stored of it; NULL: nothing */
    unsigned reads;
} stored;

int __wrap_svc_files_version(const struct svc_files *f, const char *version,
                             char ret[SVC_PATH_MAX]);
int __wrap_svc_files_version(const struct svc_files *f, const char *version, char ret[SVC_PATH_MAX])
{
    (void)f;
    (void)snprintf(ret, SVC_PATH_MAX, "upgrade/%s", version);
    return 0;
}

int __wrap_svc_files_read(struct svc_files *f, const char *path, size_t max, char **ret,
                          size_t *ret_len, struct sv_error *err);
int __wrap_svc_files_read(struct svc_files *f, const char *path, size_t max, char **ret,
                          size_t *ret_len, struct sv_error *err)
{
    (void)f;
    (void)max;
    assert_string_equal(path, "upgrade/8");
    stored.reads++;
    if (!stored.target)
        return sv_error_set(err, -ENOENT, "no such file");
    *ret = strdup(stored.target);
    *ret_len = strlen(stored.target);
    return *ret ? 0 : -ENOMEM;
}

int __wrap_cli_am_reinitialize(struct cli_am *am, struct yarn_container_id id,
                               const struct cli_launch *launch, bool auto_commit,
                               cli_container_fn fn, void *userdata);
int __wrap_cli_am_reinitialize(struct cli_am *am, struct yarn_container_id id,
                               const struct cli_launch *launch, bool auto_commit,
                               cli_container_fn fn, void *userdata)
{
    (void)am;
    (void)fn;
    (void)userdata;
    assert_non_null(launch);
    assert_true(auto_commit);
    am_note("reinitialize(%lld) ", (long long)id.id);
    return 0;
}

/* A record of the journal. */
static void expect(int64_t number, const char *instance, bool new, bool turning)
{
    static const struct yarn_resource resource = { .memory_mb = 64, .vcores = 1 };
    static const struct yarn_node_id node = { "node1", 8041 };
    struct svc_container *c =
        svc_containers_add(&mf.m.expected, am_container(number), &node, &resource, "");

    assert_non_null(c);
    assert_int_equal(svc_container_name(c, instance), 0);
    c->upgrade = new || turning ? SVC_RESUMED : 0;
    c->turning = turning;
}

static void hand_back(int64_t number)
{
    const struct cli_allocation c = { .id = am_container(number),
                                      .node = { "node1", 8041 },
                                      .http_address = "node1:8042" };

    svc_master_yarn_ops.recovered(NULL, &c, &mf.m);
}

static void begin(enum svc_journal_upgrade upgrade, const char *target)
{
    mf_new(SHOP("7", "old"));
    stored.target = target;
    stored.reads = 0;
    mf.m.past.upgrade = upgrade;
    (void)snprintf(mf.m.past.version, sizeof(mf.m.past.version), "8");
    mf.next = 100; /* containers of this attempt */
}

/* web-0 was turned to version 8, web-1 was not yet, or it was being turned. */
static void recover(bool turning)
{
    svc_master_read_target(&mf.m, NULL, mf.conf);
    expect(7, "web-0", true, false);
    expect(8, "web-1", false, turning);
    hand_back(7);
    hand_back(8);
    mf_registered();
    mf_settle(0);
}

static bool outdated(const char *instance)
{
    struct svc_instance_view v;

    assert_int_equal(svc_engine_find(mf.m.engine, instance, &v), 0);
    return v.outdated;
}

static void end(void)
{
    mf.m.next = svc_plan_free(mf.m.next);
    mf_free();
}

static void goes_on(void **state)
{
    (void)state;
    begin(SVC_UPGRADE_MANUAL, SHOP("8", "new"));
    recover(false);
    assert_int_equal(svc_engine_state(mf.m.engine), SVC_UPGRADING);
    assert_false(outdated("web-0"));
    assert_true(outdated("web-1"));
    assert_null(strstr(am_calls.log, "prepare(")); /* its user turns it */
    mf_assert_log("store(selvedge-instances) ");
    end();
}

/* A container that was being turned may run either version: it is turned. */
static void turns_again(void **state)
{
    (void)state;
    begin(SVC_UPGRADE_MANUAL, SHOP("8", "new"));
    recover(true);
    assert_int_equal(svc_engine_state(mf.m.engine), SVC_UPGRADING);
    assert_null(strstr(am_calls.log, "reinitialize(7)"));
    mf_assert_log("reinitialize(8) ");
    end();
}

static void express(void **state)
{
    (void)state;
    begin(SVC_UPGRADE_EXPRESS, SHOP("8", "new"));
    recover(false);
    assert_int_equal(svc_engine_state(mf.m.engine), SVC_EXPRESS_UPGRADING);
    assert_true(mf.m.upgrade.express && mf.m.upgrade.auto_finalize);
    mf_ready("web-0");
    mf_settle(0);
    mf_assert_log("reinitialize(8) ");
    end();
}

static void automatic(void **state)
{
    (void)state;
    begin(SVC_UPGRADE_AUTO_FINALIZE, SHOP("8", "new"));
    recover(false);
    assert_int_equal(svc_engine_state(mf.m.engine), SVC_UPGRADING_AUTO_FINALIZE);
    end();
}

/* An instance that had been turned goes back; one that was being turned counts as turned. */
static void goes_back(void **state)
{
    (void)state;
    begin(SVC_UPGRADE_CANCELLED, SHOP("8", "new"));
    recover(true);
    assert_int_equal(svc_engine_state(mf.m.engine), SVC_CANCEL_UPGRADING);
    mf_assert_log("reinitialize(");
    end();
}

/* A container that is handed back after the start. */
static void late(void **state)
{
    (void)state;
    begin(SVC_UPGRADE_MANUAL, SHOP("8", "new"));
    svc_master_read_target(&mf.m, NULL, mf.conf);
    expect(7, "web-0", true, false);
    expect(8, "web-1", false, true);
    hand_back(7);
    mf_registered();
    mf_settle(0);
    assert_null(strstr(am_calls.log, "reinitialize("));
    hand_back(8);
    mf_settle(0);
    mf_assert_log("reinitialize(8) ");
    assert_int_equal(mf.m.containers.n, 2);
    end();
}

/* Without the stored target the service stays as it was stored; so it does with one that the
 * engine refuses, or that is no definition. */
static void cannot(void **state)
{
    static const char *const targets[] = { NULL, "{", SHOP("7", "new"),
                                           "{\"name\":\"shop\",\"version\":\"8\","
                                           "\"components\":[]}" };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(targets); i++) {
        begin(SVC_UPGRADE_MANUAL, targets[i]);
        recover(true);
        assert_int_equal(stored.reads, 1);
        assert_null(mf.m.next);
        assert_null(svc_engine_target(mf.m.engine));
        assert_int_equal(mf_state("web-0"), SVC_INSTANCE_STARTED);
        end();
    }
}

/* The upgrade had ended: the stored definition is its target. */
static void had_ended(void **state)
{
    (void)state;
    begin(SVC_NO_UPGRADE, SHOP("8", "new"));
    recover(false);
    assert_int_equal(stored.reads, 0);
    end();
    begin(SVC_UPGRADE_MANUAL, SHOP("8", "new"));
    (void)snprintf(mf.m.past.version, sizeof(mf.m.past.version), "7");
    recover(false);
    assert_int_equal(stored.reads, 0);
    assert_int_equal(svc_engine_state(mf.m.engine), SVC_STARTED);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_on),   cmocka_unit_test(turns_again), cmocka_unit_test(express),
        cmocka_unit_test(automatic), cmocka_unit_test(goes_back),   cmocka_unit_test(late),
        cmocka_unit_test(cannot),    cmocka_unit_test(had_ended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
