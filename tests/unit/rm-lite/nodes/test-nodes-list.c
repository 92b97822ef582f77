/* rm-lite/nodes/nodes-list.c and rm-lite/core/version.c: include and exclude files, and the effect
 * of a refresh on the nodes. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include "rm-lite/core/version.h"
#include "rm-lite/nodes/hosts-xml.h"
#include "rm-lite/nodes/nodes-list.h"
#include "wire/ipc/ipc-client.h"

struct lists {
    char dir[64], include[96], exclude[96];
    const char *keys[3][2];
};

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

static void lists_setup_as(struct lists *l, struct fix *f, const char *suffix, const char *include,
                           const char *exclude)
{
    (void)snprintf(l->dir, sizeof(l->dir), "%s", "/tmp/test-nodes-XXXXXX");
    assert_non_null(mkdtemp(l->dir));
    (void)snprintf(l->include, sizeof(l->include), "%s/include%s", l->dir, suffix);
    (void)snprintf(l->exclude, sizeof(l->exclude), "%s/exclude%s", l->dir, suffix);
    write_file(l->include, include);
    write_file(l->exclude, exclude);
    memset(l->keys, 0, sizeof(l->keys));
    l->keys[0][0] = "yarn.resourcemanager.nodes.include-path";
    l->keys[0][1] = l->include;
    l->keys[1][0] = "yarn.resourcemanager.nodes.exclude-path";
    l->keys[1][1] = l->exclude;
    setup_with(f, (const char *const(*)[2])l->keys);
}

static void lists_setup(struct lists *l, struct fix *f, const char *include, const char *exclude)
{
    lists_setup_as(l, f, "", include, exclude);
}

static void lists_teardown(struct lists *l, struct fix *f)
{
    teardown(f);
    (void)nftw(l->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void test_format(void **state)
{
    struct lists l;
    struct fix f;

    (void)state;
    lists_setup(&l, &f, "# of rack 1\nhost-a  host-b,host-c # the last\r\n\n\thost-d#no blank",
                "host-b\nhost-x");
    assert_int_equal(HASH_COUNT(f.rm->include), 4);
    assert_true(rm_nodes_list_allows(f.rm, "host-a"));
    assert_true(rm_nodes_list_allows(f.rm, "host-c"));
    assert_true(rm_nodes_list_allows(f.rm, "host-d"));
    assert_false(rm_nodes_list_allows(f.rm, "host-b")); /* on both lists: excluded */
    assert_false(rm_nodes_list_allows(f.rm, "host-e")); /* on none */
    assert_false(rm_nodes_list_allows(f.rm, "the"));    /* a word of a comment */
    lists_teardown(&l, &f);
}

static void test_xml(void **state)
{
    static const char *const bad[] = {
        "<hosts><host>", "<hosts><host><name>a</name><timeout>soon</timeout></host></hosts>", ""
    };
    struct rm_name_set *set = NULL;
    struct sv_error err = { 0 };
    const char *text = "<?xml version=\"1.0\"?><hosts><host><name> host-a\n host-b</name></host>"
                       "<!-- --><other/><host><timeout> 60 </timeout><name>host-c</name></host>"
                       "<host><name>host-d</name><timeout>-1</timeout></host></hosts>";

    (void)state;
    assert_int_equal(rm_hosts_xml(text, strlen(text), "x.xml", &set, &err), 0);
    assert_int_equal(HASH_COUNT(set), 4);
    assert_true(rm_set_get(set, "host-b")->number == RM_NO_TIMEOUT);
    assert_int_equal(rm_set_get(set, "host-c")->number, 60000);
    assert_int_equal(rm_set_get(set, "host-d")->number, -1);
    rm_set_clear(&set);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(rm_hosts_xml(bad[i], strlen(bad[i]), "x.xml", &set, &err), -EINVAL);
}

/* refreshNodes of an administrator: gracefully, without a timeout. */
static void refresh_nodes(struct fix *f)
{
    Hadoop__Yarn__RefreshNodesRequestProto q = HADOOP__YARN__REFRESH_NODES_REQUEST_PROTO__INIT;
    const struct ipc_client_config cfg = { .host = "127.0.0.1",
                                           .port = f->rm->admin_port,
                                           .protocol = YARN_ADMIN_PROTOCOL,
                                           .version = 1,
                                           .user = "ann" };
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    const char *class = NULL;
    ProtobufCMessage *m = NULL;
    struct ipc_client *c;

    q.has_decommissiontype = q.has_decommissiontimeout = true;
    q.decommissiontype = HADOOP__YARN__DECOMMISSION_TYPE_PROTO__GRACEFUL;
    q.decommissiontimeout = -1;
    assert_int_equal(ipc_client_new(f->event, &cfg, &c, NULL), 0);
    if (ipc_client_call_sync(c, "refreshNodes", &q.base,
                             &hadoop__yarn__refresh_nodes_response_proto__descriptor, a, &m, &class,
                             &err) < 0)
        fail_msg("refreshNodes: %s", err.text);
    ipc_client_free(c);
}

/* Lists whose names end with .xml, at start and by refreshNodes: hosts are those of <name>, and
 * <timeout> applies to its host. */
static void test_xml_files(void **state)
{
    struct rm_node *n[2];
    struct lists l;
    struct fix f;

    (void)state;
    lists_setup_as(&l, &f, ".xml",
                   "<hosts><host><name>127.0.0.1</name></host>"
                   "<host><name>127.0.0.2</name></host></hosts>",
                   "<hosts><host><name>host-x</name></host></hosts>");
    assert_int_equal(HASH_COUNT(f.rm->include), 2);
    assert_int_equal(HASH_COUNT(f.rm->exclude), 1);
    assert_true(rm_nodes_list_allows(f.rm, "127.0.0.2"));
    assert_false(rm_nodes_list_allows(f.rm, "127.0.0.3"));
    assert_true(rm_set_has(f.rm->exclude, "host-x"));
    for (int i = 0; i < 2; i++) {
        n[i] = add_node(&f, i + 1);
        rm_set_add(&n[i]->apps, "application_1_0001");
    }
    write_file(l.exclude, "<hosts><host><name>127.0.0.1</name></host><host><name>127.0.0.2</name>"
                          "<timeout>3600</timeout></host></hosts>");
    refresh_nodes(&f);
    for (int i = 0; i < 2; i++)
        assert_int_equal(n[i]->state, RM_NODE_ST_DECOMMISSIONING);
    assert_true(n[0]->decommission_deadline_ms == 0); /* from the request */
    assert_true(n[1]->decommission_deadline_ms > sv_now_ms());
    lists_teardown(&l, &f);
}

/* A host's own timeout in the list wins over that of the request. */
static void test_own_timeouts(void **state)
{
    struct rm_node *n[2];
    struct lists l;
    struct fix f;

    (void)state;
    lists_setup(&l, &f, "", "");
    for (int i = 0; i < 2; i++) {
        n[i] = add_node(&f, i + 1);
        rm_set_add(&n[i]->apps, "application_1_0001");
        rm_set_add(&f.rm->exclude, n[i]->id.host)->number = i ? 5000 : RM_NO_TIMEOUT;
    }
    rm_nodes_list_apply(f.rm, true, -1);
    assert_int_equal(n[0]->state, RM_NODE_ST_DECOMMISSIONING);
    assert_true(n[0]->decommission_deadline_ms == 0);
    assert_true(n[1]->decommission_deadline_ms > sv_now_ms());
    lists_teardown(&l, &f);
}

/* A node that leaves gracefully goes on with it after a restart of the ResourceManager. */
static void test_drains_over_a_restart(void **state)
{
    struct rm_node *n;
    struct lists l;
    struct fix f;

    (void)state;
    lists_setup(&l, &f, "", "");
    n = add_node(&f, 1);
    rm_set_add(&n->apps, "application_1_0001");
    write_file(l.exclude, "127.0.0.1\n");
    assert_int_equal(rm_nodes_list_read(f.rm, NULL), 0);
    rm_nodes_list_apply(f.rm, true, 60000);
    assert_int_equal(n->state, RM_NODE_ST_DECOMMISSIONING);
    settle(&f);
    stop(&f);
    start(&f);
    assert_false(rm_nodes_list_allows(f.rm, "127.0.0.1"));
    assert_true(rm_nodes_list_drains(f.rm, "127.0.0.1:1"));
    assert_false(rm_nodes_list_drains(f.rm, "127.0.0.2:1"));
    n = add_node(&f, 1);
    rm_set_add(&n->apps, "application_1_0001");
    rm_nodes_list_joined(f.rm, n);
    assert_int_equal(n->state, RM_NODE_ST_DECOMMISSIONING);
    assert_true(n->decommission_deadline_ms > sv_now_ms() &&
                n->decommission_deadline_ms <= sv_now_ms() + 60000);
    rm_set_clear(&f.rm->exclude); /* it is welcome again */
    rm_nodes_list_apply(f.rm, true, 60000);
    assert_int_equal(n->state, RM_NODE_ST_RUNNING);
    settle(&f);
    stop(&f);
    start(&f);
    assert_false(rm_nodes_list_drains(f.rm, "127.0.0.1:1"));
    lists_teardown(&l, &f);
}

static void test_untracked(void **state)
{
    struct rm_node *n;
    struct lists l;
    struct fix f;

    (void)state;
    lists_setup(&l, &f, "host-a 127.0.0.1", "");
    n = add_node(&f, 1);
    rm_node_post(n, RM_NODE_EV_SHUTDOWN);
    settle(&f);
    assert_int_equal(HASH_COUNT(f.rm->inactive_nodes), 1);
    rm_nodes_list_forget(f.rm, 1000);
    rm_nodes_list_forget(f.rm, 1000 + f.rm->conf.untracked_ms);
    assert_int_equal(HASH_COUNT(f.rm->inactive_nodes), 1); /* it is in the list */
    rm_set_remove(&f.rm->include, "127.0.0.1");
    rm_nodes_list_forget(f.rm, 1000);
    rm_nodes_list_forget(f.rm, 999 + f.rm->conf.untracked_ms);
    assert_int_equal(HASH_COUNT(f.rm->inactive_nodes), 1);
    rm_nodes_list_forget(f.rm, 1000 + f.rm->conf.untracked_ms);
    assert_int_equal(HASH_COUNT(f.rm->inactive_nodes), 0);
    lists_teardown(&l, &f);
}

static void test_empty_include_allows_all(void **state)
{
    struct lists l;
    struct fix f;

    (void)state;
    lists_setup(&l, &f, "# no host\n", "host-x");
    assert_true(rm_nodes_list_allows(f.rm, "host-a"));
    assert_false(rm_nodes_list_allows(f.rm, "host-x"));
    lists_teardown(&l, &f);
}

static void test_error_keeps_the_lists(void **state)
{
    struct sv_error err = { 0 };
    struct lists l;
    struct fix f;

    (void)state;
    lists_setup(&l, &f, "host-a", "host-x");
    write_file(l.include, "host-b");
    assert_int_equal(unlink(l.exclude), 0);
    assert_int_equal(rm_nodes_list_read(f.rm, &err), -ENOENT);
    assert_non_null(strstr(err.text, l.exclude));
    assert_true(rm_nodes_list_allows(f.rm, "host-a"));
    assert_false(rm_nodes_list_allows(f.rm, "host-b"));
    write_file(l.exclude, "");
    assert_int_equal(rm_nodes_list_read(f.rm, &err), 0);
    assert_false(rm_nodes_list_allows(f.rm, "host-a"));
    assert_true(rm_nodes_list_allows(f.rm, "host-b"));
    lists_teardown(&l, &f);
}

static void test_refresh(void **state)
{
    struct sv_error err = { 0 };
    struct lists l;
    struct fix f;
    struct rm_node *a, *b;

    (void)state;
    lists_setup(&l, &f, "", "");
    a = add_node(&f, 1);
    b = add_node(&f, 2);
    write_file(l.exclude, "127.0.0.1");
    assert_int_equal(rm_nodes_list_read(f.rm, &err), 0);
    rm_nodes_list_apply(f.rm, true, 60000);
    assert_int_equal(a->state, RM_NODE_ST_DECOMMISSIONING);
    assert_true(a->decommission_deadline_ms > sv_now_ms());
    assert_int_equal(b->state, RM_NODE_ST_RUNNING);

    write_file(l.exclude, ""); /* before its end: it stays a node */
    assert_int_equal(rm_nodes_list_read(f.rm, &err), 0);
    rm_nodes_list_apply(f.rm, true, 60000);
    assert_int_equal(a->state, RM_NODE_ST_RUNNING);
    assert_int_equal(a->decommission_deadline_ms, 0);

    write_file(l.exclude, "127.0.0.1 127.0.0.2"); /* both at once, while the table is walked */
    assert_int_equal(rm_nodes_list_read(f.rm, &err), 0);
    rm_nodes_list_apply(f.rm, false, 0);
    assert_null(f.rm->nodes);
    assert_int_equal(HASH_COUNT(f.rm->inactive_nodes), 2);
    assert_int_equal(b->state, RM_NODE_ST_DECOMMISSIONED);
    lists_teardown(&l, &f);
}

static void test_versions(void **state)
{
    static const char *const ascending[] = {
        "2.9.9", "3.0.0-SNAPSHOT", "3.0.0", "3.4", "3.4.2", "3.4.10", "10.0.0",
    };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(ascending); i++)
        for (size_t j = 0; j < SV_ARRAY_LEN(ascending); j++) {
            int expected = i < j ? -1 : i > j, r = rm_version_cmp(ascending[i], ascending[j]);

            if ((r > 0) - (r < 0) != expected)
                fail_msg("%s and %s: %d", ascending[i], ascending[j], r);
        }
    assert_true(rm_version_cmp("", "3.4.2") < 0); /* a node that states none */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_xml),
        cmocka_unit_test(test_xml_files),
        cmocka_unit_test(test_own_timeouts),
        cmocka_unit_test(test_drains_over_a_restart),
        cmocka_unit_test(test_untracked),
        cmocka_unit_test(test_empty_include_allows_all),
        cmocka_unit_test(test_error_keeps_the_lists),
        cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_versions),
    };

    sv_log_set_level(SV_LOG_ERR);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
