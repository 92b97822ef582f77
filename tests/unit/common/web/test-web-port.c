/* Tests common/web/web-port.c: the port, the gate in front of it, and what is refused before it
 * listens. TLS itself: test-https.c. */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "common/conf.h"
#include "common/fd.h"
#include "common/str.h"
#include "common/web/http-listen.h"
#include "common/web/web-port.h"
#include "common/web/web-user.h"

static struct sv_web_auth auth = { .auth_type = "simple", .secret = (char *)"s", .secret_len = 1 };
static const struct sv_web_login login = { .validity_ms = 1000, .anonymous = true };

static int on_request(const struct sv_http_request *req, struct sv_http_response *ret,
                      void *userdata)
{
    char user[SV_AUTH_USER_MAX];

    assert_null(userdata);
    sv_web_user(&auth, req, user);
    ret->status = 200;
    ret->body = strdup(user);
    ret->body_len = strlen(user);
    return 0;
}

static struct sv_web_port_config config(int fd)
{
    return (struct sv_web_port_config){ .host = "127.0.0.1",
                                        .fd = fd,
                                        .gate = { .auth = &auth, .login = &login } };
}

static void check_served(sd_event *event, const struct sv_web_port *p)
{
    static const char request[] = "GET /?user.name=bob HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                                  "\r\n";
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(sv_http_port(p->http)),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[4096] = "";
    size_t n = 0;
    ssize_t got = -1;

    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
    while (got != 0) {
        assert_true(sd_event_run(event, 1000) >= 0);
        got = recv(fd, text + n, sizeof(text) - n - 1, MSG_DONTWAIT);
        n += got > 0 ? (size_t)got : 0;
    }
    assert_non_null(strstr(text, "\r\n\r\nbob"));
    assert_non_null(strstr(text, "Set-Cookie: hadoop.auth=\"u=bob&"));
}

static void opens(void **state)
{
    struct sv_web_port p = { .http = NULL };
    struct sv_error err = { 0 };
    sd_event *event;

    (void)state;
    assert_true(sd_event_new(&event) >= 0);
    for (int held = 0; held < 2; held++) {
        struct sv_web_port_config cfg = config(held ? http_listen("127.0.0.1", 0, &err) : -1);

        assert_int_equal(sv_web_port_open(event, &cfg, on_request, NULL, &p, &err), 0);
        assert_null(p.https);
        assert_false(p.gate.cfg.https);
        check_served(event, &p);
        sv_web_port_close(&p);
        assert_null(p.http);
    }
    sd_event_unref(event);
}

static void refused(void **state)
{
    struct sv_web_port p = { .http = NULL };
    struct sv_error err = { 0 };
    struct sv_web_port_config cfg = config(-1);
    struct sv_conf *conf = sv_conf_new(); /* without ssl-server.xml */
    uint16_t port;
    sd_event *event;
    int fd = http_listen("127.0.0.1", 0, &err);

    (void)state;
    assert_true(sd_event_new(&event) >= 0);
    assert_int_equal(http_listen_port(fd, &port, &err), 0);
    cfg.port = port;
    assert_int_equal(sv_web_port_open(event, &cfg, on_request, NULL, &p, &err), -EADDRINUSE);
    cfg.fd = fd; /* is closed */
    cfg.https = conf;
    assert_true(sv_web_port_open(event, &cfg, on_request, NULL, &p, &err) < 0);
    assert_non_null(strstr(err.text, "yarn.http.policy=HTTPS_ONLY"));
    assert_int_equal(close(fd), -1);
    assert_null(p.http);
    sv_conf_free(conf);
    sd_event_unref(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(opens), cmocka_unit_test(refused) };

    return cmocka_run_group_tests_name("web-port", tests, NULL, NULL);
}
