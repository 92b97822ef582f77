/* Tests common/web/web-acting.c behind the gate, over real sockets: who comes with a delegation
 * token, who may act for whom, and what of both a cookie keeps. */
#include "common/web/web-acting.h"
#include "tests/unit/common/web/gated-server.h"

#define TOKEN "X-Hadoop-Delegation-Token: "
#define OLD "Hadoop-YARN-Auth-Delegation-Token: "
#define REFUSED "org.apache.hadoop.security.token.SecretManager$InvalidToken: "
#define AUTHENTICATION                                                                             \
    "\"exception\":\"AuthenticationException\",\"javaClassName\":"                                 \
    "\"org.apache.hadoop.security.authentication.client.AuthenticationException\"}}"
#define AUTHORIZATION                                                                              \
    "\"exception\":\"AuthorizationException\",\"javaClassName\":"                                  \
    "\"org.apache.hadoop.security.authorize.AuthorizationException\"}}"

static unsigned acted;   /* questions whether somebody may act */
static unsigned unknown; /* how many of them cannot be answered yet */

static int bearer(const char *text, struct sv_web_bearer *ret, struct sv_error *err, void *userdata)
{
    assert_ptr_equal(userdata, &acted);
    if (sv_streq(text, "alice's")) {
        snprintf(ret->user, sizeof(ret->user), "alice");
        snprintf(ret->full, sizeof(ret->full), "alice@KRB.TEST");
        return 0;
    }
    if (sv_streq(text, "oozie's")) {
        snprintf(ret->user, sizeof(ret->user), "alice");
        snprintf(ret->full, sizeof(ret->full), "alice@KRB.TEST");
        snprintf(ret->real, sizeof(ret->real), "oozie/h@KRB.TEST");
        return 0;
    }
    if (sv_streq(text, "odd"))
        snprintf(ret->user, sizeof(ret->user), "al,ice");
    if (sv_streq(text, "odd"))
        return 0;
    if (sv_streq(text, "broken"))
        return -EIO;
    return sv_error_set(err, -EACCES, REFUSED "\"%s\" is not known\n", text);
}

static int may_act(const struct sv_web_actor *who, struct sv_error *err, void *userdata)
{
    const struct sockaddr_in *from = (const struct sockaddr_in *)who->from;

    assert_ptr_equal(userdata, &acted);
    assert_int_equal(from->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    acted++;
    if (unknown > 0) {
        unknown--;
        return -EAGAIN;
    }
    if (sv_streq(who->user, "nm") && who->proven && sv_streq(who->full, "nm/host@KRB.TEST") &&
        sv_streq(who->for_user, "alice"))
        return 0;
    if (sv_streq(who->user, "bob") && !who->proven && sv_streq(who->for_user, "carol"))
        return 0;
    return sv_error_set(err, -EACCES, "User: %s is not allowed to impersonate %s", who->full,
                        who->for_full);
}

static const struct sv_web_rights all = { bearer, may_act, &acted };

static void serve_all(const char *type)
{
    rights = &all;
    acted = unknown = 0;
    serve(type, true, false);
}

/* ---- Tokens ---- */

static void by_token(void **state)
{
    const char *a;

    (void)state;
    serve_all("kerberos");
    a = get("/who", TOKEN "alice's\r\n");
    has(a, " 200 ");
    has(a, "<alice> <alice@KRB.TEST> <> 2");
    lacks(a, "Set-Cookie");
    lacks(a, "WWW-Authenticate");
    has(get("/who", OLD "alice's\r\n"), "<alice>");
    has(get("/who", TOKEN "\r\n" OLD "alice's\r\n"), "<alice>");
    has(get("/who?delegation=alice's", ""), "<alice>");
    has(get("/who", TOKEN "oozie's\r\n"), "<alice> <alice@KRB.TEST> <oozie/h@KRB.TEST> 2");
    /* The header before the query, the token before a ticket, the cookie before both. */
    has(get("/who?delegation=no", TOKEN "alice's\r\n"), "<alice>");
    has(get("/who", with("host")), "<nm> <nm/host@KRB.TEST> <> 1");
    has(get("/who?delegation=alice's", with("host")), "<alice>");
    has(get("/who?delegation=no", "Cookie: " ALICE "\r\n"), "<alice> <alice@KRB.TEST> <> 1");
    assert_int_equal(asked, 1);
}

static void refused_tokens(void **state)
{
    const char *a;

    (void)state;
    serve_all("kerberos");
    a = get("/who", TOKEN "no\r\n");
    has(a, " 403 ");
    has(a, "\r\nContent-Type: application/json\r\n");
    has(a, "{\"RemoteException\":{\"message\":\"" REFUSED
           "\\\"no\\\" is not known?\"," AUTHENTICATION);
    lacks(a, "WWW-Authenticate");
    lacks(a, "Set-Cookie");
    has(get("/who?delegation=", ""), "\\\"\\\" is not known");
    has(get("/who", TOKEN "odd\r\n"), AUTHENTICATION);
    has(get("/who", TOKEN "broken\r\n"), " 500 ");
    assert_int_equal(calls, 0);
    assert_int_equal(asked, 0);
}

/* Without them a token is no way in, and nobody acts for others. */
static void no_rights(void **state)
{
    const char *a;

    (void)state;
    serve("kerberos", true, false);
    a = get("/who?delegation=alice's", TOKEN "alice's\r\n");
    has(a, " 401 ");
    has(a, "\r\nWWW-Authenticate: Negotiate\r\n");
    has(get("/who?doAs=alice", with("host")), "<nm> <nm/host@KRB.TEST> <> 1");
}

/* ---- doAs ---- */

static void acts(void **state)
{
    const char *a;

    (void)state;
    serve_all("kerberos");
    a = get("/who?doAs=alice", with("host"));
    has(a, "<alice> <alice> <nm/host@KRB.TEST> 1");
    has(a, "u=nm&p=nm/host@KRB.TEST&t=kerberos"); /* the cookie is the service's own */
    has(get("/who?DOAS=alice@KRB.TEST", with("host")),
        "<alice> <alice@KRB.TEST> <nm/host@KRB.TEST>");
    has(get("/who?doas=alice&doAs=bob", with("host")), "<alice>");
    assert_int_equal(acted, 3);
    /* A cookie says who acts, each request for whom. */
    has(get("/who", "Cookie: " ALICE "\r\n"), "<alice> <alice@KRB.TEST> <> 1");
    a = get("/who?doAs=bob", "Cookie: " ALICE "\r\n");
    has(a, " 403 ");
    has(a, "User: alice@KRB.TEST is not allowed to impersonate bob");
    /* A token's holder acts for nobody else, as over RPC. */
    has(get("/who?doAs=bob", TOKEN "alice's\r\n"), "<alice> <alice@KRB.TEST> <> 2");
    assert_int_equal(acted, 4);
}

static void refused_acts(void **state)
{
    static const char *const nobody[] = { "", "a%2Cb", "a%0d%0ab", "alice@OTHER", "a/b/c" };
    const char *a;

    (void)state;
    serve_all("kerberos");
    a = get("/who?doAs=root", with("host"));
    has(a, " 403 ");
    has(a,
        "{\"RemoteException\":{\"message\":\"User: nm/host@KRB.TEST is not allowed to impersonate "
        "root\"," AUTHORIZATION);
    has(a, "Set-Cookie: hadoop.auth=\"u=nm&"); /* as Hadoop: it is who it says */
    for (size_t i = 0; i < SV_ARRAY_LEN(nobody); i++) {
        _cleanup_free_ char *path = NULL;

        assert_int_equal(sv_asprintf(&path, "/who?doAs=%s", nobody[i]), 0);
        a = get(path, with("host"));
        has(a, " 403 ");
        has(a, "doAs names nobody who has an account");
    }
    has(get("/who?doAs=alice", ""), " 401 "); /* who acts has to say who he is */
    assert_int_equal(acted, 1);
    assert_int_equal(calls, 0);
}

/* Without Kerberos both names are claims. */
static void acts_by_name(void **state)
{
    const char *a;

    (void)state;
    serve_all("simple");
    a = get("/who?user.name=bob&doAs=carol", "");
    has(a, "<carol> <carol> <bob> 0");
    has(a, "Set-Cookie: " BOB);
    has(get("/who?user.name=bob&doAs=dave", ""), " 403 ");
    has(get("/who?doAs=carol", ""), "<> <> <> 0");
    has(get("/who?delegation=alice's", ""), "<alice> <alice@KRB.TEST> <> 2");
}

/* Groups are looked up: the ticket is judged once all the same. */
static void waits(void **state)
{
    int fd;
    const char *a;

    (void)state;
    serve_all("kerberos");
    unknown = 2;
    fd = connect_client();
    request(fd, "GET", "/who?doAs=alice", with("host"));
    while (acted < 3) {
        judge();
        turn(1000);
        sv_http_retry(http);
    }
    a = answer(fd);
    has(a, "<alice> <alice> <nm/host@KRB.TEST> 1");
    assert_int_equal(asked, 1);
    assert_int_equal(calls, 1);
}

/* ---- Operations on tokens ---- */

/* A daemon that does not answer them asks everybody who he is, whatever the query. */
static void no_operations(void **state)
{
    (void)state;
    serve_all("kerberos");
    has(get("/who?op=CANCELDELEGATIONTOKEN&token=x", ""), " 401 ");
    has(get("/who?op=GETDELEGATIONTOKEN", TOKEN "alice's\r\n"), "<alice>");
    has(get("/who?op=RENEWDELEGATIONTOKEN", with("host")), "<nm>");
    assert_int_equal(calls, 2);
}

static void names_of_operations(void **state)
{
    static const struct {
        const char *op, *name, *method;
        enum sv_web_operation what;
    } rows[] = { { "GETDELEGATIONTOKEN", "GETDELEGATIONTOKEN", "GET", SV_WEB_GET_TOKEN },
                 { "renewDelegationToken", "RENEWDELEGATIONTOKEN", "PUT", SV_WEB_RENEW_TOKEN },
                 { "canceldelegationtoken", "CANCELDELEGATIONTOKEN", "PUT", SV_WEB_CANCEL_TOKEN },
                 { "GETDELEGATIONTOKENS", NULL, NULL, SV_WEB_NO_OPERATION },
                 { "", NULL, NULL, SV_WEB_NO_OPERATION },
                 { NULL, NULL, NULL, SV_WEB_NO_OPERATION } };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        const char *method = NULL, *name;
        enum sv_web_operation what;

        name = sv_web_operation_named(rows[i].op, &method, &what);
        assert_int_equal(what, rows[i].what);
        assert_true(sv_streq(name ?: "", rows[i].name ?: ""));
        assert_true(sv_streq(method ?: "", rows[i].method ?: ""));
    }
}

/* ---- A secure cluster whose web server asks for no tickets ---- */

static void nobody_is_proven(void **state)
{
    const char *a;

    (void)state;
    auth.proven_only = true;
    serve_all("simple");
    a = get("/who?user.name=bob&doAs=carol", "Cookie: " BOB "\r\n" TOKEN "alice's\r\n");
    has(a, " 200 ");
    has(a, "<> <> <> 0");
    lacks(a, "Set-Cookie");
    assert_int_equal(acted, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(by_token),      TEST(refused_tokens),      TEST(no_rights), TEST(acts),
        TEST(refused_acts),  TEST(acts_by_name),        TEST(waits),     TEST(nobody_is_proven),
        TEST(no_operations), TEST(names_of_operations),
    };

    return cmocka_run_group_tests_name("web-acting", tests, NULL, NULL);
}
