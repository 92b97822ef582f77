/* rm-lite/security/proxy-users.h: hadoop.proxyuser.* rows, Hadoop's words, hosts by address,
 * network and name, and the groups that a check waits for. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <arpa/inet.h>
#include <stdlib.h>

#include "common/user-groups.h"
#include "rm-lite/security/proxy-users.h"

#define P "hadoop.proxyuser."

static const char *const rows[][2] = {
    { P "hive.hosts", "10.1.0.0/16, 192.0.2.7" },
    { P "hive.groups", "staff" },
    { P "hive.users", "carl, dora" },
    { P "oozie.hosts", "*" },
    { P "oozie.groups", "*" },
    { P "a.b.hosts", "localhost" },
    { P "a.b.users", "*" },
    { P "nowhere.users", "*" }, /* no hosts: from none */
    { NULL, NULL },
};

static char **groups_of(void *data, const char *user, char *why, size_t why_size)
{
    char **list = calloc(2, sizeof(*list));

    (void)data, (void)why, (void)why_size;
    if (list)
        list[0] = strdup(strcmp(user, "bob") == 0 ? "staff" : "x");
    return list;
}

static void on_known(void *userdata)
{
    (void)userdata;
}

static int ask(struct fix *f, const char *real, const char *user, const char *ip,
               char text[SV_ERROR_TEXT_MAX])
{
    struct ipc_peer peer = { .user = user, .real_user = real, .address = "192.0.2.1:1" };
    struct sv_error err = { 0 };
    char mapped[64];
    int r;

    (void)snprintf(mapped, sizeof(mapped), "::ffff:%s", ip);
    assert_int_equal(inet_pton(AF_INET6, mapped, &peer.ip), 1);
    while ((r = rm_proxy_users_check(f->rm, &peer, &err)) == -EAGAIN)
        assert_true(sd_event_run(f->event, UINT64_MAX) >= 0);
    memcpy(text, err.text, SV_ERROR_TEXT_MAX);
    return r;
}

static void test_rows(void **state)
{
    static const struct {
        const char *real, *user, *ip, *refused; /* NULL: admitted */
    } cases[] = {
        { "hive", "bob", "10.1.2.3", NULL }, /* by his group */
        { "hive", "dora", "192.0.2.7", NULL },
        { "hive", "dora", "192.0.2.8",
          "Unauthorized connection for super-user: hive from IP 192.0.2.8" },
        { "hive", "bob", "10.2.0.1", "Unauthorized connection for super-user: hive from IP" },
        { "hive", "eve", "10.1.2.3", "User: hive is not allowed to impersonate eve" },
        { "oozie", "eve", "198.51.100.1", NULL },
        { "a.b", "eve", "127.0.0.1", NULL }, /* a name that is resolved */
        { "a.b", "eve", "127.0.0.2", "Unauthorized connection for super-user: a.b" },
        { "nowhere", "eve", "127.0.0.1", "Unauthorized connection for super-user: nowhere" },
        { "mallory", "eve", "127.0.0.1", "User: mallory is not allowed to impersonate eve" },
    };
    const struct sv_groups_conf conf = {
        .cache_ms = 60000, .negative_ms = 60000, .source = { .names = groups_of }, .known = on_known
    };
    struct fix f;
    char text[SV_ERROR_TEXT_MAX];

    (void)state;
    setup_with(&f, rows);
    f.rm->groups = sv_groups_free(f.rm->groups);
    assert_true(sv_groups_new(f.event, &conf, &f.rm->groups) >= 0);
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        int r = ask(&f, cases[i].real, cases[i].user, cases[i].ip, text);

        if (r != (cases[i].refused ? -EACCES : 0) ||
            (cases[i].refused && !strstr(text, cases[i].refused)))
            fail_msg("case %zu: %d, %s", i, r, text);
    }
    teardown(&f);
}

/* refreshSuperUserGroupsConfiguration: other rows at once; bad ones are refused and change
 * nothing. */
static void test_refresh(void **state)
{
    struct sv_conf *conf = sv_conf_new();
    struct sv_error err = { 0 };
    struct fix f;
    char text[SV_ERROR_TEXT_MAX];

    (void)state;
    setup_with(&f, rows);
    assert_int_equal(sv_conf_set(conf, P "hive.users", "eve"), 0);
    assert_int_equal(sv_conf_set(conf, P "hive.hosts", "*"), 0);
    while (ask(&f, "hive", "eve", "10.9.0.1", text) != 0)
        assert_int_equal(rm_proxy_users_read(f.rm, conf, &err), 0);
    assert_int_equal(ask(&f, "oozie", "eve", "10.9.0.1", text), -EACCES);
    assert_int_equal(sv_conf_set(conf, P "hive.hosts", "10.0.0.0/64"), 0);
    assert_int_equal(rm_proxy_users_read(f.rm, conf, &err), -EINVAL);
    assert_non_null(strstr(err.text, P "hive.hosts: \"10.0.0.0/64\" is not ADDRESS/BITS"));
    assert_int_equal(ask(&f, "hive", "eve", "10.9.0.1", text), 0);
    sv_conf_free(conf);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refresh),
    };

    sv_log_init("test");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
