/* common/web/log-level.c over a real socket: who may change the level, what `hadoop daemonlog`
 * reads, wrong levels, and requests of other sites. */
#include "common/web/log-level.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/fd.h"

static const struct sv_html_site site = { .program = "Test", .refused = "No" };
static struct sv_web_auth auth = { .admin_acl = "ann",
                                   .auth_type = "simple",
                                   .daemon_user = (char *)"yarn" };
static sd_event *event;
static struct sv_http *http;

static int handler(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    (void)userdata;
    return sv_log_level_answer(&site, &auth, NULL, "set KEY", req, ret);
}

static int set_up(void **state)
{
    struct sv_error err;

    (void)state;
    auth.acl_enabled = true;
    sv_log_set_level(SV_LOG_INFO);
    return sd_event_new(&event) < 0
               ? -1
               : sv_http_new(event, "127.0.0.1", 0, handler, NULL, &http, &err);
}

static int tear_down(void **state)
{
    (void)state;
    http = sv_http_free(http);
    event = sd_event_unref(event);
    return 0;
}

/* The whole answer. `more`: a header line, or "". */
static const char *ask(const char *query, const char *more)
{
    static char text[1 << 16];
    char request[1024];
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t n = 0;
    ssize_t got;

    (void)snprintf(request, sizeof(request), "GET /logLevel%s HTTP/1.0\r\n%s\r\n", query, more);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
    while ((got = recv(fd, text + n, sizeof(text) - n - 1, MSG_DONTWAIT)) != 0) {
        n += got > 0 ? (size_t)got : 0;
        assert_true(sd_event_run(event, 100000) >= 0);
    }
    text[n] = 0;
    sv_close(fd);
    return text;
}

static void expect(const char *query, const char *more, const char *status, const char *words,
                   enum sv_log_level level)
{
    const char *text = ask(query, more);

    if (!strstr(text, status) || !strstr(text, words))
        fail_msg("%s: not %s with \"%s\": %s", query, status, words, text);
    assert_int_equal(sv_log_get_level(), level);
}

static void shown(void **state)
{
    (void)state;
    assert_null(strstr(ask("", ""), "<!-- OUTPUT -->"));
    expect("", "", " 200 ", "<form action=\"/logLevel\">", SV_LOG_INFO);
    expect("?log=org.apache.X", "", " 200 ",
           "\n<!-- OUTPUT -->Submitted Class Name: <b>org.apache.X</b><br>\n"
           "<!-- OUTPUT -->Effective Level: <b>INFO</b><br>\n",
           SV_LOG_INFO);
    expect("?log=%3Cscript%3E", "", " 200 ", "<b>&lt;script&gt;</b>", SV_LOG_INFO);
    expect("?level=DEBUG&user.name=ann", "", " 200 ", "Get or set", SV_LOG_INFO);
}

static void changed(void **state)
{
    (void)state;
    expect("?log=x&level=debug&user.name=ann", "", " 200 ",
           "\n<!-- OUTPUT -->Submitted Level: <b>debug</b><br>\n"
           "<!-- OUTPUT -->Setting Level to DEBUG ...<br>\n"
           "<!-- OUTPUT -->Effective Level: <b>DEBUG</b><br>\n",
           SV_LOG_DEBUG);
    expect("?log=x&level=ERROR&user.name=yarn", "", " 200 ", "<b>ERROR</b>", SV_LOG_ERR);
    expect("?log=x&level=WARN&user.name=ann", "Sec-Fetch-Site: same-origin\r\n", " 200 ",
           "<b>WARN</b>", SV_LOG_WARNING);
    expect("?log=x&level=OFF&user.name=ann", "", " 200 ", "Bad Level : <b>OFF</b>", SV_LOG_WARNING);
}

static void refused(void **state)
{
    (void)state;
    expect("?log=x&level=DEBUG", "", " 403 ", "no administrator", SV_LOG_INFO);
    expect("?log=x&level=DEBUG&user.name=eve", "", " 403 ", "eve", SV_LOG_INFO);
    expect("?log=x&level=DEBUG&user.name=ann", "Sec-Fetch-Site: cross-site\r\n", " 403 ",
           "another site", SV_LOG_INFO);
    auth.proven_only = true; /* Kerberos, without tickets here: a claim is no name */
    expect("?log=x&level=DEBUG&user.name=ann", "", " 403 ", "no administrator", SV_LOG_INFO);
    auth.proven_only = false;
    auth.acl_enabled = false;
    expect("?log=x&level=DEBUG&user.name=ann", "", " 403 ", "Instead, set KEY.", SV_LOG_INFO);
    expect("?log=x", "", " 200 ", "Effective Level: <b>INFO</b>", SV_LOG_INFO);
}

static void levels(void **state)
{
    static const struct {
        const char *text;
        int level; /* 0: none */
    } rows[] = { { "FATAL", SV_LOG_ERR },
                 { "error", SV_LOG_ERR },
                 { "Warning", SV_LOG_WARNING },
                 { "notice", SV_LOG_NOTICE },
                 { "Info", SV_LOG_INFO },
                 { "TRACE", SV_LOG_DEBUG },
                 { "ALL", SV_LOG_DEBUG },
                 { "OFF", 0 },
                 { "", 0 },
                 { "debugging", 0 } };

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++) {
        enum sv_log_level level = 0;

        assert_int_equal(sv_log_level_parse(rows[i].text, &level) >= 0, rows[i].level != 0);
        assert_int_equal(level, rows[i].level);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shown, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
        cmocka_unit_test(levels),
    };

    return cmocka_run_group_tests_name("log-level", tests, NULL, NULL);
}
