/* service/server/: both web servers with processes of requests, on definitions of this machine;
 * without a ResourceManager. Limits, deadlines, who calls, clients that go. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "common/own-user.h"
#include "common/str.h"
#include "service/server/server.h"

#define TIMEOUT "1500ms"

struct fix {
    char base[64], socket[96], user[64];
    struct sv_conf *sv;
    struct svc_conf conf;
    struct svc_spawner *spawner;
    sd_event *event;
    struct svc_server *server;
    char answer[65536];
};

static int set_keys(struct fix *f)
{
    const char *const keys[][2] = {
        { "fs.defaultFS", "file:///" },
        { "yarn.service.base.path", f->base },
        { "yarn.service.api-server.address", "127.0.0.1:0" },
        { "selvedge.resourcemanager.services.socket", f->socket },
        { "selvedge.services.request-timeout", TIMEOUT },
        { "selvedge.services.max-requests-per-user", "2" },
        { "selvedge.services.max-requests", "3" },
        { "yarn.resourcemanager.address", "127.0.0.1:1" },
        { "hadoop.http.authentication.simple.anonymous.allowed", "true" },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++)
        if (sv_conf_set(f->sv, keys[i][0], keys[i][1]) < 0)
            return -1;
    return 0;
}

static int setup(void **state)
{
    static struct fix f;
    char services[96];
    struct sv_error err = { 0 };

    f = (struct fix){ .base = "/tmp/test-server-XXXXXX", .sv = sv_conf_new() };
    if (!mkdtemp(f.base) || chmod(f.base, 0755) < 0)
        return -1;
    (void)snprintf(services, sizeof(services), "%s/services", f.base);
    (void)snprintf(f.socket, sizeof(f.socket), "%s/socket", f.base);
    /* root becomes the caller, who cannot be root */
    (void)snprintf(f.user, sizeof(f.user), "%s", geteuid() ? sv_own_user() : "nobody");
    if (mkdir(services, 0755) < 0 || chmod(services, 01777) < 0 || set_keys(&f) < 0 ||
        svc_conf_read(f.sv, &f.conf, &err) < 0 || svc_spawner_new(&f.conf, &f.spawner, &err) < 0 ||
        sd_event_new(&f.event) < 0 ||
        svc_server_new(f.event, &f.conf, NULL, f.spawner, &f.server, &err) < 0) {
        print_error("%s\n", err.text);
        return -1;
    }
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fix *f = *state;
    _cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    f->server = svc_server_free(f->server);
    f->event = sd_event_unref(f->event);
    f->spawner = svc_spawner_free(f->spawner);
    svc_conf_free(&f->conf);
    f->sv = sv_conf_free(f->sv);
    return sv_remove_tree_at(tmp, f->base + strlen("/tmp/"));
}

/* ---- A client ---- */

static int connect_port(const struct fix *f)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                    .sin_port = htons(svc_server_port(f->server)) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static int connect_socket(const struct fix *f)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", f->socket);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static int send_on(int fd, const char *method, const char *path, const char *headers,
                   const char *body)
{
    char text[8192];
    int n = snprintf(text, sizeof(text),
                     "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%sContent-Length: %zu\r\n"
                     "\r\n%s",
                     method, path, headers, strlen(body), body);

    assert_true(n > 0 && n < (int)sizeof(text));
    assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
    return fd;
}

/* Reads to the end; the status. */
static int answered(struct fix *f, int fd)
{
    size_t n = 0;
    int64_t status;
    ssize_t k;

    for (;;) {
        k = recv(fd, f->answer + n, sizeof(f->answer) - 1 - n, MSG_DONTWAIT);
        if (k == 0 || (k < 0 && errno != EAGAIN))
            break;
        if (k > 0)
            n += (size_t)k;
        else
            assert_true(sd_event_run(f->event, 10000) >= 0);
    }
    close(fd);
    assert_true(n > 12);
    f->answer[n] = '\0';
    f->answer[12] = '\0';
    assert_int_equal(sv_parse_i64(f->answer + 9, 100, 599, &status), 0);
    f->answer[12] = ' ';
    return (int)status;
}

#define JSON "Content-Type: application/json\r\n"
#define SAVED                                                                                      \
    "{\"name\":\"shop\",\"version\":\"1\",\"state\":\"STOPPED\",\"components\":[{\"name\":"        \
    "\"web\",\"number_of_containers\":1,\"launch_command\":\"sleep 1\",\"resource\":{\"cpus\":1,"  \
    "\"memory\":\"256\"}}]}"

static const char *path(const struct fix *f, const char *rest)
{
    static char text[200];

    (void)snprintf(text, sizeof(text), "/app/v1/services%s?user.name=%s", rest, f->user);
    return text;
}

static int ask(struct fix *f, const char *method, const char *rest, const char *headers,
               const char *body)
{
    return answered(f, send_on(connect_port(f), method, path(f, rest), headers, body));
}

/* ---- Tests ---- */

static void test_requests(void **state)
{
    struct fix *f = *state;

    assert_int_equal(ask(f, "GET", "/shop", "", ""), 404);
    assert_int_equal(ask(f, "POST", "", JSON, SAVED), 202);
    assert_non_null(strstr(f->answer, "Service shop version 1 saved."));
    assert_int_equal(ask(f, "GET", "/shop", "", ""), 200);
    assert_non_null(strstr(f->answer, "\r\nContent-Type: application/json;charset=utf-8\r\n"));
    assert_non_null(strstr(f->answer, "\"state\":\"STOPPED\""));
    assert_int_equal(ask(f, "PUT", "/shop", JSON, "{}"), 204);
    assert_int_equal(ask(f, "HEAD", "/shop", "", ""), 200);
    assert_int_equal(ask(f, "POST", "", "Content-Type: text/plain\r\n", SAVED), 415);
    assert_int_equal(answered(f, send_on(connect_port(f), "GET", "/app/v1/services/shop", "", "")),
                     401);
    assert_int_equal(answered(f, send_on(connect_port(f), "GET", "/conf", "", "")), 200);
    assert_int_equal(answered(f, send_on(connect_port(f), "GET", "/", "", "")), 404);
}

/* Another user of this machine cannot be: the process is no root's, or becomes that user. */
static void test_other_users(void **state)
{
    struct fix *f = *state;
    static const char *const others[] = { "root", "daemon", "no-such-account", "..", "a%2fb" };
    char uri[200];

    assert_int_equal(ask(f, "POST", "", JSON, SAVED), 202);
    for (size_t i = 0; i < SV_ARRAY_LEN(others); i++) {
        int status;

        (void)snprintf(uri, sizeof(uri), "/v1/services/shop?user.name=%s", others[i]);
        status = answered(f, send_on(connect_port(f), "GET", uri, "", ""));
        assert_true(status == 403 || status == 404 || status == 401);
        status = answered(f, send_on(connect_port(f), "PUT", uri, JSON, "{\"state\":\"STARTED\"}"));
        assert_true(status == 403 || status == 404 || status == 401);
    }
}

static void test_relay(void **state)
{
    struct fix *f = *state;
    char header[100];

    (void)snprintf(header, sizeof(header), "Selvedge-User: %s\r\n", f->user);
    assert_int_equal(answered(f, send_on(connect_socket(f), "GET", path(f, "/shop"), "", "")), 401);
    assert_int_equal(answered(f, send_on(connect_socket(f), "GET",
                                         "/app/v1/services/shop?user.name=x", header, "")),
                     404);
    assert_non_null(strstr(f->answer, "Service shop not found"));
    /* the port does not believe it */
    assert_int_equal(
        answered(f, send_on(connect_port(f), "GET", "/app/v1/services/shop", header, "")), 401);
}

static void test_bodies(void **state)
{
    struct fix *f = *state;
    int fd = connect_port(f);
    char text[400];
    int n = snprintf(text, sizeof(text),
                     "POST %s HTTP/1.1\r\nHost: x\r\n" JSON "Content-Length: 104857600\r\n\r\n",
                     path(f, ""));

    assert_int_equal(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
    shutdown(fd, SHUT_WR);
    assert_int_equal(answered(f, fd), 413); /* before a byte of it has come */
    assert_int_equal(ask(f, "POST", "", JSON, "{bad"), 400);
    assert_int_equal(ask(f, "POST", "", JSON, ""), 400);
}

/* A DELETE asks the ResourceManager, which is not there, until its time is over. */
static void test_limits(void **state)
{
    struct fix *f = *state;
    int first = send_on(connect_port(f), "DELETE", path(f, "/shop"), "", "");
    int second, third, fourth;

    for (int i = 0; i < 50; i++) /* it is begun */
        assert_true(sd_event_run(f->event, 1000) >= 0);
    second = send_on(connect_port(f), "DELETE", path(f, "/shop"), "", ""); /* waits for the first */
    for (int i = 0; i < 10; i++)
        assert_true(sd_event_run(f->event, 1000) >= 0);
    third = send_on(connect_port(f), "GET", path(f, "/shop"), "", "");
    assert_int_equal(answered(f, third), 404);
    assert_int_equal(answered(f, first), 504);
    assert_non_null(strstr(f->answer, "ResourceManager"));
    fourth = send_on(connect_port(f), "GET", path(f, "/shop"), "", "");
    assert_int_equal(answered(f, fourth), 404);
    close(second); /* its process goes on until its time is over */
    for (int i = 0; i < 20; i++)
        assert_true(sd_event_run(f->event, 1000) >= 0);
}

/* Requests by method and status; those that had no process are in neither. */
static void test_metrics(void **state)
{
    static const char *const lines[] = {
        "\nselvedge_services_request_seconds_count{method=\"GET\"} 2\n",
        "\nselvedge_services_request_seconds_count{method=\"POST\"} 1\n",
        "\nselvedge_services_request_seconds_count{method=\"other\"} 1\n",
        "\nselvedge_services_request_seconds_count{method=\"DELETE\"} 0\n",
        "\nselvedge_services_answers_total{status=\"2xx\"} 3\n",
        "\nselvedge_services_answers_total{status=\"4xx\"} 1\n",
        "\nselvedge_services_requests_open 0\n",
        "\nselvedge_services_requests_refused_total 0\n",
    };
    struct fix *f = *state;

    assert_int_equal(ask(f, "GET", "/shop", "", ""), 404);
    assert_int_equal(ask(f, "POST", "", JSON, SAVED), 202);
    assert_int_equal(ask(f, "GET", "/shop", "", ""), 200);
    assert_int_equal(ask(f, "HEAD", "/shop", "", ""), 200);
    assert_int_equal(ask(f, "POST", "", "Content-Type: text/plain\r\n", SAVED), 415);
    assert_int_equal(answered(f, send_on(connect_port(f), "GET", "/metrics", "", "")), 200);
    for (size_t i = 0; i < SV_ARRAY_LEN(lines); i++)
        if (!strstr(f->answer, lines[i]))
            fail_msg("no line %s in %s", lines[i], f->answer);
    assert_int_equal(answered(f, send_on(connect_port(f), "POST", "/metrics", "", "")), 404);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = { T(test_requests), T(test_other_users), T(test_relay),
                                        T(test_bodies),   T(test_metrics),     T(test_limits) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
