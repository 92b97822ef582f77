/* rm-lite/security/web-rights.c: whose delegation token a request has, and who may act for whom
 * over HTTP. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "rm-lite/security/delegation.h"
#include "rm-lite/security/web-rights.h"

#define T0 1700000000000
#define DAY (24 * 3600000LL)
#define INVALID "org.apache.hadoop.security.token.SecretManager$InvalidToken: "

static const char *const keys[][2] = {
    { "hadoop.proxyuser.oozie.users", "alice" },
    { "hadoop.proxyuser.oozie.hosts", "10.0.0.0/8" },
    { 0 },
};
static struct fix f;
static struct sv_web_rights rights;
static struct sv_arena *arena;

static int begin(void **state)
{
    (void)state;
    sv_clock_set_test(1000000, T0);
    setup_with(&f, keys);
    rm_web_rights_init(f.rm, &rights);
    arena = sv_arena_new(0);
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    arena = sv_arena_free(arena);
    teardown(&f);
    sv_clock_reset();
    return 0;
}

static struct yarn_token issue(const char *owner, const char *real)
{
    const char *class = NULL;
    struct sv_error err = { 0 };
    struct yarn_token t = { 0 };

    assert_int_equal(rm_delegation_issue(f.rm, arena, owner, "yarn", real, &t, &class, &err), 0);
    settle(&f);
    return t;
}

static const char *text_of(const struct yarn_token *t)
{
    const char *text;

    assert_int_equal(yarn_token_text(arena, t, &text), 0);
    return text;
}

static void check_holder(const char *text, const char *user, const char *real)
{
    struct sv_web_bearer who = { .real = "" };
    struct sv_error err = { 0 };

    assert_int_equal(rights.bearer(text, &who, &err, rights.userdata), 0);
    assert_string_equal(who.user, user);
    assert_string_equal(who.full, user);
    assert_string_equal(who.real, real);
}

static void check_refused(const char *text, const char *words)
{
    struct sv_web_bearer who;
    struct sv_error err = { 0 };

    assert_int_equal(rights.bearer(text, &who, &err, rights.userdata), -EACCES);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" lacks \"%s\"", err.text, words);
}

static void test_tokens(void **state)
{
    uint8_t wrong[64] = "wrong";
    struct yarn_token t = issue("alice", NULL), other = issue("alice", "oozie");

    (void)state;
    check_holder(text_of(&t), "alice", "");
    check_holder(text_of(&other), "alice", "oozie");
    other.password = wrong;
    check_refused(text_of(&other), INVALID "the token is invalid, password doesn't match");
    other.password_len = 0;
    check_refused(text_of(&other), INVALID "the token is invalid, password doesn't match");
    other = t;
    other.kind = YARN_KIND_AMRM;
    check_refused(text_of(&other), INVALID "not a delegation token");
    other = t;
    other.id_len--;
    check_refused(text_of(&other), INVALID "Token for real user: , can't be found in cache");
    check_refused("", "java.io.IOException: the token cannot be decoded");
    check_refused("AAAA", "java.io.IOException: the token cannot be decoded");
    check_refused("<>", "java.io.IOException: the token cannot be decoded");
}

static void test_expiry(void **state)
{
    struct yarn_token t = issue("alice", NULL);
    const char *text = text_of(&t), *class;
    const struct yarn_token_caller alice = { "alice", "alice" };
    struct sv_error err = { 0 };

    (void)state;
    assert_int_equal(rm_delegation_expires(f.rm, &t), T0 + DAY);
    sv_clock_set_test(1000000 + DAY + 1, T0 + DAY + 1);
    check_refused(text, "has expired");
    sv_clock_set_test(1000000, T0);
    check_holder(text, "alice", "");
    assert_int_equal(rm_delegation_cancel(f.rm, &t, &alice, &class, &err), 0);
    settle(&f);
    check_refused(text, "can't be found in cache");
    assert_int_equal(rm_delegation_expires(f.rm, &t), 0);
}

static int may_act(const char *real, const char *whom, const char *from, struct sv_error *err)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    bool four = from && inet_pton(AF_INET, from, &v4.sin_addr) == 1;
    struct sv_web_actor who = { .user = real, .full = real, .for_user = whom, .for_full = whom };

    if (from && !four)
        assert_int_equal(inet_pton(AF_INET6, from, &v6.sin6_addr), 1);
    if (from)
        who.from = four ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    *err = (struct sv_error){ 0 };
    return rights.may_act(&who, err, rights.userdata);
}

static void test_acts(void **state)
{
    struct sv_error err;

    (void)state;
    assert_int_equal(may_act("oozie", "alice", "10.1.2.3", &err), 0);
    assert_int_equal(may_act("oozie", "alice", "::ffff:10.1.2.3", &err), 0);
    assert_int_equal(may_act("oozie", "bob", "10.1.2.3", &err), -EACCES);
    assert_string_equal(err.text, "User: oozie is not allowed to impersonate bob");
    assert_int_equal(may_act("alice", "oozie", "10.1.2.3", &err), -EACCES);
    assert_int_equal(may_act("oozie", "alice", "192.168.0.1", &err), -EACCES);
    assert_string_equal(err.text,
                        "Unauthorized connection for super-user: oozie from IP 192.168.0.1");
    assert_int_equal(may_act("oozie", "alice", "fd00::1", &err), -EACCES);
    assert_int_equal(may_act("oozie", "alice", NULL, &err), -EACCES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_tokens, begin, end),
        cmocka_unit_test_setup_teardown(test_expiry, begin, end),
        cmocka_unit_test_setup_teardown(test_acts, begin, end),
    };

    return cmocka_run_group_tests_name("web-rights", tests, NULL, NULL);
}
