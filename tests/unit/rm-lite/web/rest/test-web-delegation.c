/* rm-lite/web/rest/web-delegation.c and web-token-ops.c over real sockets: tokens for callers whose
 * cookie was given for a ticket, refusals in Hadoop's words, and answers that wait until the token
 * is on disk. */
#include "tests/unit/rm-lite/rm-fixture.h"

#include <arpa/inet.h>
#include <fcntl.h>

#include "common/clock.h"
#include "common/str.h"
#include "common/web/auth-cookie.h"
#include "rm-lite/security/delegation.h"

#define PATH "/ws/v1/cluster/delegation-token"
#define RENEW PATH "/expiration"
#define TOKEN "Hadoop-YARN-RM-Delegation-Token: "
#define SECRET "of all daemons"
#define BODY "Content-Type: application/json\r\nContent-Length: 18\r\n"
#define RENEWER "{\"renewer\":\"yarn\"} "

static char secret_file[] = "/tmp/test-web-delegation-XXXXXX";
static const char *const keys[][2] = {
    { "hadoop.http.authentication.type", "kerberos" },
    { "hadoop.http.authentication.signature.secret.file", secret_file },
    { 0 },
};
static struct fix f;
static char answer[16384];

static int begin(void **state)
{
    (void)state;
    setup_with(&f, keys);
    return 0;
}

static int end(void **state)
{
    (void)state;
    teardown(&f);
    return 0;
}

static void request(int fd, const char *method, const char *path, const char *user,
                    const char *headers, const char *body)
{
    _cleanup_free_ char *value = NULL, *text = NULL;
    char principal[64];
    struct sv_auth_cookie c = { user, principal, "kerberos", sv_wall_ms() + 60000 };
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                              .sin_port = htons(f.rm->web_port) };

    (void)snprintf(principal, sizeof(principal), "%s@R", user ? user : "");
    c.user = user ? user : "nobody";
    assert_int_equal(sv_auth_cookie_sign(&c, SECRET, strlen(SECRET), &value), 0);
    assert_true(sv_asprintf(&text,
                            "%s %s HTTP/1.1\r\nHost: rm\r\nConnection: close\r\n"
                            "Cookie: %s=\"%s\"\r\n%s\r\n%s",
                            method, path, user ? "hadoop.auth" : "none", value, headers,
                            body) >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void receive(int fd)
{
    size_t n = 0;
    ssize_t got = -1;

    while (got != 0) {
        assert_true(sd_event_run(f.event, 1000) >= 0);
        got = recv(fd, answer + n, sizeof(answer) - 1 - n, MSG_DONTWAIT);
        n += got > 0 ? (size_t)got : 0;
    }
    answer[n] = 0;
    close(fd);
}

static void check(const char *method, const char *path, const char *user, const char *headers,
                  const char *body, const char *status, const char *words)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    request(fd, method, path, user, headers, body);
    receive(fd);
    if (strncmp(answer + 9, status, 3) != 0 || !strstr(answer, words))
        fail_msg("%s %s: \"%s\" is not %s with \"%s\"", method, path, answer, status, words);
}

/* The token of the last answer, as the header `name`. */
static const char *as_header(const char *name)
{
    static char line[4096];
    const char *at = strstr(answer, "\"token\":\"");

    assert_non_null(at);
    at += strlen("\"token\":\"");
    (void)snprintf(line, sizeof(line), "%s%.*s\r\n", name, (int)strcspn(at, "\""), at);
    return line;
}

static void test_life(void **state)
{
    char token[4096];

    (void)state;
    check("POST", PATH, "alice", BODY, RENEWER, "200",
          "\"renewer\":\"yarn\",\"owner\":\"alice@R\"");
    assert_non_null(strstr(answer, "\"kind\":\"RM_DELEGATION_TOKEN\",\"expiration-time\":"));
    (void)snprintf(token, sizeof(token), "%s", as_header(TOKEN));
    assert_int_equal(rm_delegation_count(f.rm), 1);
    stop(&f);
    start(&f);
    assert_int_equal(rm_delegation_count(f.rm), 1);
    check("POST", RENEW, "yarn", token, "", "200", "{\"expiration-time\":");
    check("POST", RENEW, "alice", token, "", "403", "with non-matching renewer yarn");
    check("DELETE", PATH, "mallory", token, "", "403", "is not authorized to cancel the token");
    check("DELETE", PATH, "alice", token, "", "200", "\r\n\r\n");
    check("DELETE", PATH, "alice", token, "", "400", "Token not found");
    assert_int_equal(rm_delegation_count(f.rm), 0);
}

/* A request without a token, with a text that is none, and with a body of another form. */
static void test_refusals(void **state)
{
    (void)state;
    check("POST", RENEW, "yarn", "", "", "400",
          "Header 'Hadoop-YARN-RM-Delegation-Token' containing encoded token not found");
    check("POST", RENEW, "yarn", TOKEN "x\r\n", "", "400", "Could not decode encoded token");
    check("POST", RENEW, "yarn", TOKEN "AAEAATAA\r\n", "", "400", "\"BadRequestException\"");
    check("POST", PATH, "alice", "Content-Length: 18\r\n", RENEWER, "415", "Content-Type");
    check("POST", PATH, "alice", "Content-Type: application/json\r\nContent-Length: 14\r\n",
          "{\"renewer\":{}}", "400", "renewer: not a text");
    assert_int_equal(rm_delegation_count(f.rm), 0);
}

/* A token is no way to a token. */
static void test_token_for_a_token(void **state)
{
    static const char *const how[][2] = { { "POST", PATH }, { "POST", RENEW }, { "DELETE", PATH } };
    char headers[8192];

    (void)state;
    check("POST", PATH, "alice", BODY, RENEWER, "200", "token");
    (void)snprintf(headers, sizeof(headers), "%s%s", as_header("X-Hadoop-Delegation-Token: "),
                   BODY);
    for (size_t i = 0; i < SV_ARRAY_LEN(how); i++)
        check(how[i][0], how[i][1], NULL, headers, RENEWER, "403",
              "Delegation token operations cannot be carried out using delegation token "
              "authentication.");
    assert_int_equal(rm_delegation_count(f.rm), 1);
}

/* ---- ?op= ---- */

#define OP "/ws/v1/cluster/info?op="

/* OP, the name, and the token of the last answer that had one. */
static const char *with_token(const char *name)
{
    static char path[4096];
    static char token[2048];
    const char *at = strstr(answer, "\"urlString\":\"");

    if (at) {
        at += strlen("\"urlString\":\"");
        (void)snprintf(token, sizeof(token), "%.*s", (int)strcspn(at, "\""), at);
    }
    (void)snprintf(path, sizeof(path), OP "%s&token=%s", name, token);
    return path;
}

static void test_operations(void **state)
{
    (void)state;
    check("GET", "/cluster?op=getdelegationtoken&renewer=yarn&service=here:1", "alice",
          "Accept: application/xml\r\n", "", "200", "{\"Token\":{\"urlString\":\"");
    assert_null(strstr(answer, "Set-Cookie"));
    assert_int_equal(rm_delegation_count(f.rm), 1);
    (void)with_token("");
    stop(&f); /* what was answered was stored */
    start(&f);
    check("PUT", with_token("RENEWDELEGATIONTOKEN"), "yarn", "", "", "200", "{\"long\":");
    check("PUT", with_token("RENEWDELEGATIONTOKEN"), "alice", "", "", "403",
          "with non-matching renewer yarn");
    check("PUT", with_token("CANCELDELEGATIONTOKEN"), "mallory", "", "", "404",
          "Invalid delegation token, cannot cancel");
    assert_int_equal(rm_delegation_count(f.rm), 1);
    check("PUT", with_token("CANCELDELEGATIONTOKEN"), "alice", "", "", "200", "\r\n\r\n");
    check("PUT", with_token("CANCELDELEGATIONTOKEN"), "alice", "", "", "404", "cannot cancel");
    check("PUT", with_token("RENEWDELEGATIONTOKEN"), "yarn", "", "", "403", "unknown token");
    assert_int_equal(rm_delegation_count(f.rm), 0);
    /* A link that alice's browser follows. */
    check("GET", OP "GETDELEGATIONTOKEN", "alice", "Sec-Fetch-Site: cross-site\r\n", "", "403",
          "not for browsers");
    check("GET", OP "GETDELEGATIONTOKEN", "alice",
          "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0)\r\n", "", "403",
          "not for browsers"); /* without TLS */
    assert_int_equal(rm_delegation_count(f.rm), 0);
    /* Without a renewer it is the owner's own. */
    check("GET", OP "GETDELEGATIONTOKEN", "alice", "", "", "200", "urlString");
    check("PUT", with_token("RENEWDELEGATIONTOKEN"), "alice", "", "", "200", "{\"long\":");
}

#define NO_TICKETS "this server takes no tickets" /* nobody judges them here */

/* Nobody but a ticket's owner, or a cookie's, gets one; whoever has a token may cancel it. */
static void test_operations_of_nobody(void **state)
{
    static const char *const gets[][2] = { { "GET", "GETDELEGATIONTOKEN" },
                                           { "PUT", "RENEWDELEGATIONTOKEN" } };
    char forged[4096], *last;

    (void)state;
    check("GET", OP "GETDELEGATIONTOKEN&renewer=yarn", "alice", "", "", "200", "urlString");
    (void)with_token("");
    for (size_t i = 0; i < SV_ARRAY_LEN(gets); i++) {
        check(gets[i][0], with_token(gets[i][1]), NULL, "", "", "403", NO_TICKETS);
        /* A token is no way to a token. */
        (void)snprintf(forged, sizeof(forged), "X-Hadoop-Delegation-Token: %s\r\n",
                       strstr(with_token(""), "token=") + 6);
        check(gets[i][0], with_token(gets[i][1]), NULL, forged, "", "403", NO_TICKETS);
    }
    check("POST", OP "GETDELEGATIONTOKEN", NULL, "", "", "400",
          "Wrong HTTP method [POST] for operation [GETDELEGATIONTOKEN], it should be [GET]");
    check("GET", OP "canceldelegationtoken", NULL, "", "", "400",
          "Wrong HTTP method [GET] for operation [CANCELDELEGATIONTOKEN], it should be [PUT]");
    check("PUT", OP "RENEWDELEGATIONTOKEN", "yarn", "", "", "400",
          "Operation [RENEWDELEGATIONTOKEN] requires the parameter [token]");
    check("PUT", OP "CANCELDELEGATIONTOKEN", NULL, "", "", "400", "requires the parameter [token]");
    check("PUT", OP "CANCELDELEGATIONTOKEN&token=x", NULL, "", "", "404", "not a token");
    check("PUT", OP "CANCELDELEGATIONTOKEN&token=AAEAATAA", NULL, "", "", "404", "not a token");
    /* Nothing else is open to nobody by such a query. */
    check("PUT", "/ws/v1/cluster/apps/application_1_0001/state?op=CANCELDELEGATIONTOKEN", NULL, "",
          "", "400", "requires the parameter [token]");
    check("OPTIONS", OP "GETDELEGATIONTOKEN", NULL, "", "", "403", NO_TICKETS);
    check("GET", "/cluster?op=GETFILESTATUS", NULL, "", "", "403", NO_TICKETS);
    (void)snprintf(forged, sizeof(forged), "%s", with_token("CANCELDELEGATIONTOKEN"));
    last = strstr(forged, "token=") + 6 + 20; /* of the identifier */
    *last = *last == 'A' ? 'B' : 'A';
    check("PUT", forged, NULL, "", "", "404", "cannot cancel");
    assert_int_equal(rm_delegation_count(f.rm), 1);
    check("PUT", with_token("CANCELDELEGATIONTOKEN"), NULL, "", "", "200", "\r\n\r\n");
    assert_int_equal(rm_delegation_count(f.rm), 0);
}

/* The browser goes before the token is on disk. */
static void test_gone(void **state)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    request(fd, "POST", PATH, "alice", BODY, RENEWER);
    while (rm_delegation_count(f.rm) == 0)
        assert_true(sd_event_run(f.event, 1000) >= 0);
    close(fd);
    for (int i = 0; i < 10; i++)
        assert_true(sd_event_run(f.event, 1000) >= 0);
    check("POST", PATH, "alice", BODY, RENEWER, "200", "token");
}

static int make_secret(void **state)
{
    int fd = mkstemp(secret_file);

    (void)state;
    return fd >= 0 && write(fd, SECRET, strlen(SECRET)) > 0 ? close(fd) : -1;
}

static int drop_secret(void **state)
{
    (void)state;
    return unlink(secret_file);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, begin, end)
    const struct CMUnitTest tests[] = { TEST(test_life),
                                        TEST(test_refusals),
                                        TEST(test_token_for_a_token),
                                        TEST(test_operations),
                                        TEST(test_operations_of_nobody),
                                        TEST(test_gone) };

    return cmocka_run_group_tests_name("web-delegation", tests, make_secret, drop_secret);
}
