/* Tests service/am/facts/peers.c: tokens and hosts files of launches, built once between two
 * changes. */
#include "service/am/facts/peers.h"

#include "common/clock.h"
#include "tests/unit/service/am-fixture.h"

#define SHOP                                                                                       \
    "{\"name\":\"shop\",\"version\":\"7\",\"resource\":{\"cpus\":1,\"memory\":\"64\"},"            \
    "\"components\":[{\"name\":\"db\",\"number_of_containers\":2,\"launch_command\":\"db\"},"      \
    "{\"name\":\"web\",\"number_of_containers\":1,\"launch_command\":\"web\","                     \
    "\"dependencies\":[\"db\"]}]}"

static struct am_fixture fixture;
static struct svc_names *names;
static struct svc_tokens *tokens;
static const struct svc_component *db, *web;

static void new_names(const char *suffix)
{
    struct svc_names_config cfg = { .heading = "# shop\n", .suffix = suffix };

    cfg.engine = fixture.engine;
    cfg.containers = &fixture.containers;
    cfg.tokens = tokens;
    names = svc_names_free(names);
    assert_int_equal(svc_names_new(&cfg, &names), 0);
}

static int set_up(void **state)
{
    (void)state;
    am_fixture_new(&fixture, SHOP);
    db = &fixture.plan->resolved->components[0];
    web = &fixture.plan->resolved->components[1];
    tokens = svc_tokens_new(NULL);
    if (svc_tokens_set(tokens, "SERVICE_NAME", "shop") < 0)
        return -1;
    new_names(NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    names = svc_names_free(names);
    tokens = svc_tokens_free(tokens);
    am_fixture_free(&fixture);
    return 0;
}

/* As a node tells the address of an instance's container. */
static void set_address(const char *instance, const char *ip)
{
    struct svc_instance_view v;

    assert_int_equal(svc_engine_find(fixture.engine, instance, &v), 0);
    assert_true(
        svc_container_address(svc_containers_find(&fixture.containers, v.container), ip, "h") >= 0);
    svc_names_changed(names, instance);
}

static void assert_hosts(const struct svc_component *c, bool all, const char *wanted)
{
    struct svc_peers *p = svc_names_peers(names, c, all);
    const char *text = svc_peers_hosts(p);

    if (wanted)
        assert_string_equal(text, wanted);
    else
        assert_null(text);
    svc_peers_unref(p);
}

static void of_dependencies(void **state)
{
    struct svc_peers *p;

    (void)state;
    assert_hosts(web, false, "# shop\n");
    assert_hosts(db, false, NULL); /* it depends on none */
    set_address("db-0", "10.0.0.1");
    set_address("db-1", "fd00::2");
    set_address("web-0", "10.0.0.3");
    assert_hosts(web, false, "# shop\n10.0.0.1 db-0\nfd00::2 db-1\n");
    assert_hosts(db, true, "# shop\n10.0.0.1 db-0\nfd00::2 db-1\n10.0.0.3 web-0\n");
    p = svc_names_peers(names, web, false);
    assert_string_equal(svc_tokens_get(svc_peers_tokens(p), "DB-1_IP"), "fd00::2");
    assert_string_equal(svc_tokens_get(svc_peers_tokens(p), "DB-1_HOST"), "h");
    assert_string_equal(svc_tokens_get(svc_peers_tokens(p), "SERVICE_NAME"), "shop");
    assert_null(svc_tokens_get(svc_peers_tokens(p), "WEB-0_IP"));
    svc_peers_unref(p);
}

static void with_a_domain(void **state)
{
    (void)state;
    new_names(".shop.alice.example.org");
    set_address("db-0", "10.0.0.1");
    assert_hosts(web, false, "# shop\n10.0.0.1 db-0.shop.alice.example.org db-0\n");
}

/* Nodes are hostile: a line is an address and a name. */
static void not_an_address(void **state)
{
    (void)state;
    set_address("db-0", "10.0.0.1\n10.0.0.9 evil");
    set_address("db-1", "localhost");
    assert_hosts(web, false, "# shop\n");
}

static void built_once(void **state)
{
    struct svc_peers *first, *second;

    (void)state;
    set_address("db-0", "10.0.0.1");
    first = svc_names_peers(names, web, false);
    set_address("web-0", "10.0.0.3"); /* web does not depend on it */
    second = svc_names_peers(names, web, false);
    assert_ptr_equal(first, second);
    svc_peers_unref(second);
    set_address("db-0", "10.0.0.2");
    second = svc_names_peers(names, web, false);
    assert_ptr_not_equal(first, second);
    assert_string_equal(svc_peers_hosts(first), "# shop\n10.0.0.1 db-0\n"); /* still in use */
    assert_string_equal(svc_peers_hosts(second), "# shop\n10.0.0.2 db-0\n");
    svc_peers_unref(first);
    svc_peers_unref(second);
}

/* Many are looked for once a second, however often one of them changes. */
static void many(void **state)
{
    char name[32], ip[32];
    struct svc_peers *first, *second;

    (void)state;
    for (int have = 2; have < SVC_PEERS_MANY + 1;) {
        have = SV_MIN(have + 100, SVC_PEERS_MANY + 1);
        assert_int_equal(svc_engine_flex(fixture.engine, 1, "db", have, NULL), 0);
        am_fixture_settle(&fixture);
    }
    for (int i = 0; i < SVC_PEERS_MANY + 1; i++) {
        (void)snprintf(name, sizeof(name), "db-%d", i);
        (void)snprintf(ip, sizeof(ip), "10.0.%d.%d", i / 250, i % 250);
        set_address(name, ip);
    }
    sv_clock_set_test(1000, 1000);
    first = svc_names_peers(names, web, false);
    set_address("db-0", "10.9.9.9");
    second = svc_names_peers(names, web, false);
    assert_ptr_equal(first, second);
    svc_peers_unref(second);
    sv_clock_set_test(1000 + SVC_PEERS_FRESH_MS, 1000);
    second = svc_names_peers(names, web, false);
    assert_ptr_not_equal(first, second);
    svc_peers_unref(first);
    svc_peers_unref(second);
    sv_clock_reset();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = { TEST(of_dependencies), TEST(with_a_domain),
                                        TEST(not_an_address), TEST(built_once), TEST(many) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
