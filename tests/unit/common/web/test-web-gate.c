/* Tests common/web/web-gate.c over real sockets: each answer, with cookies as Hadoop signs them
 * (Python's hmac). Tickets that are judged late: test-web-gate-waits.c. */
#include "tests/unit/common/web/gated-server.h"

/* ---- simple ---- */

static void by_name(void **state)
{
    const char *a;

    (void)state;
    serve("simple", false, false);
    a = get("/?user.name=bob", "");
    has(a, " 200 ");
    has(a, "user <bob>");
    has(a, "\r\nSet-Cookie: " BOB "; Path=/; HttpOnly\r\n");
    has(a, "\r\nCache-Control: no-store\r\n");
    /* The cookie says who it is, before a name does; no other one is issued. */
    a = get("/", "Cookie: a=b; " BOB "\r\n");
    has(a, "user <bob>");
    lacks(a, "Set-Cookie");
    a = get("/?user.name=eve", "Cookie: " BOB "\r\n");
    has(a, "user <bob>");
    lacks(a, "Set-Cookie");
    /* A cookie of tickets is none here, nor is one that has ended. */
    has(get("/", "Cookie: " ALICE "\r\n"), "user <>");
    sv_clock_set_test(1000, NOW_MS + 36001);
    has(get("/", "Cookie: " BOB "\r\n"), "user <>");
    a = get("/", "");
    has(a, " 200 ");
    has(a, "user <>");
    lacks(a, "Set-Cookie");
    a = get("/?user.name=b%20ob", "");
    has(a, "user <>");
    lacks(a, "Set-Cookie");
    a = get("/page?user.name=bob", "");
    a = strstr(a, "no-store");
    assert_non_null(a);
    lacks(a + 1, "no-store");
}

static void not_anonymous(void **state)
{
    const char *a;

    (void)state;
    login.anonymous = false;
    serve("simple", false, false);
    a = get("/", "");
    has(a, " 401 ");
    has(a, "\r\nWWW-Authenticate: PseudoAuth\r\n");
    has(a, "\r\n\r\nAuthentication required\n");
    has(a, NO_COOKIE);
    has(get("/?user.name=b,ob", ""), " 401 ");
    assert_int_equal(calls, 0);
    has(get("/?user.name=bob", ""), "user <bob>");
    has(get("/", "Cookie: " BOB "\r\n"), "user <bob>");
}

/* Answers of every kind carry the cookie. */
static void each_answer(void **state)
{
    const char *a;

    (void)state;
    login.domain = "example.com";
    login.persistent = true;
    serve("simple", false, true);
    a = get("/stream?user.name=bob", "");
    has(a, " 200 ");
    has(a, "\r\n\r\nbob");
    has(a, "\r\nSet-Cookie: " BOB "; Path=/; Domain=example.com; Expires=Tue, 14-Nov-2023 22:13:56 "
           "GMT; Secure; HttpOnly\r\n");
    a = get("/fails?user.name=bob", "");
    has(a, " 500 ");
    has(a, "Set-Cookie: " BOB);
    a = ask("OPTIONS", "/?user.name=bob", "");
    has(a, " 200 ");
    has(a, "Set-Cookie: " BOB);
    has(a, "\r\nAllow: ");
    a = ask("HEAD", "/?user.name=bob", "");
    has(a, "Set-Cookie: " BOB);
    lacks(a, "user <");
}

/* ---- kerberos ---- */

static void by_ticket(void **state)
{
    const char *a;

    (void)state;
    serve("kerberos", true, false);
    for (int i = 0; i < 2; i++) {
        a = i == 0 ? get("/?user.name=bob", "") : get("/", "Authorization: Basic Ym9iOmI=\r\n");
        has(a, " 401 ");
        has(a, "\r\nWWW-Authenticate: Negotiate\r\n");
        has(a, "\r\n\r\nAuthentication required\n");
        has(a, NO_COOKIE);
    }
    assert_int_equal(calls, 0);
    a = get("/", with("alice"));
    has(a, " 200 ");
    has(a, "user <alice>");
    has(a, "\r\nWWW-Authenticate: Negotiate YmFjaw==\r\n");
    has(a, "\r\nSet-Cookie: " ALICE "; Path=/; HttpOnly\r\n");
    a = get("/", "Cookie: " ALICE "\r\n");
    has(a, "user <alice>");
    lacks(a, "Set-Cookie");
    lacks(a, "WWW-Authenticate");
    a = get("/", with("quiet")); /* without a token for the client */
    has(a, "user <alice>");
    lacks(a, "WWW-Authenticate");
    assert_int_equal(asked, 2);
    has(get("/", with("host")), "user <nm>");
    /* A cookie of another type, and one that has ended. */
    has(get("/", "Cookie: " BOB "\r\n"), " 401 ");
    sv_clock_set_test(1000, NOW_MS + 36001);
    has(get("/", "Cookie: " ALICE "\r\n"), " 401 ");
}

static void refused(void **state)
{
    static const struct {
        const char *ticket, *status, *words;
    } t[] = {
        { "replay", " 403 ", "the ticket is refused: Request is a replay" },
        { "stranger", " 403 ", "alice@OTHER" },
        { "odd", " 403 ", "" },
    };
    const char *a;

    (void)state;
    serve("kerberos", true, false);
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++) {
        a = get("/", with(t[i].ticket));
        has(a, t[i].status);
        has(a, t[i].words);
        has(a, NO_COOKIE);
        lacks(a, "WWW-Authenticate");
    }
    a = get("/", with("more"));
    has(a, " 401 ");
    has(a, "\r\nWWW-Authenticate: Negotiate YmFjaw==\r\n");
    a = get("/", "Authorization: Negotiate TlRMTVNTUAABAAAA\r\n");
    has(a, " 403 ");
    has(a, "NTLM");
    has(get("/", "Authorization: Negotiate ***\r\n"), " 400 ");
    has(get("/", "Authorization: Negotiate\r\n"), " 400 ");
    assert_int_equal(calls, 0);
}

/* Nothing of ours is told to the client, and its cookie stays. */
static void unable(void **state)
{
    static const char *const tickets[] = { "broken", "down" };

    (void)state;
    serve("kerberos", true, false);
    for (size_t i = 0; i < SV_ARRAY_LEN(tickets); i++) {
        const char *a = get("/", with(tickets[i]));

        has(a, " 503 ");
        has(a, "try again later");
        lacks(a, "secret-host");
        lacks(a, "Set-Cookie");
    }
    assert_int_equal(calls, 0);
}

static void open_paths(void **state)
{
    char *paths[] = { (char *)"/metrics", (char *)"/jmx", NULL };

    (void)state;
    login.open_paths = paths;
    serve("kerberos", true, false);
    has(get("/metrics", ""), "user <>");
    has(get("/jmx?qry=x", ""), "user <>");
    has(get("/jmx?qry=x", "Cookie: " ALICE "\r\n"), "user <alice>");
    has(get("/metrics/", ""), " 401 ");
    has(get("/jm", ""), " 401 ");
    has(get("/%6amx", ""), "user <>"); /* decoded once, as the handler sees it */
    has(get("//jmx", ""), " 401 ");
}

static void without_acceptor(void **state)
{
    const char *a;

    (void)state;
    serve("kerberos", false, false);
    a = get("/", with("alice"));
    has(a, " 403 ");
    has(a, "takes no tickets");
    assert_int_equal(asked, 0);
    has(get("/", "Cookie: " ALICE "\r\n"), "user <alice>");
    has(get("/?user.name=bob", ""), " 403 ");
}

/* Hadoop's AuthenticatedURL asks by OPTIONS first; a browser's preflight has no ticket. */
static void options(void **state)
{
    static struct sv_http_filters filters = {
        .cors = true, .any_origin = true, .frame = "DENY", .policy = (char *)"default-src 'none'"
    };
    const char *a;

    (void)state;
    filters.script_policy = filters.policy;
    serve("kerberos", true, false);
    sv_http_set_filters(http, &filters);
    a = ask("OPTIONS", "/", "");
    has(a, " 401 ");
    has(a, "\r\nWWW-Authenticate: Negotiate\r\n");
    a = ask("OPTIONS", "/", with("alice"));
    has(a, " 200 ");
    has(a, "Set-Cookie: " ALICE);
    a = ask("OPTIONS", "/", "Origin: http://a\r\nAccess-Control-Request-Method: GET\r\n");
    has(a, " 200 ");
    assert_int_equal(calls, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(by_name), TEST(not_anonymous), TEST(each_answer),      TEST(by_ticket), TEST(refused),
        TEST(unable),  TEST(open_paths),    TEST(without_acceptor), TEST(options),
    };

    return cmocka_run_group_tests_name("web-gate", tests, NULL, NULL);
}
