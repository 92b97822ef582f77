/* service/server/framework-body.c: long bodies over HTTP, read on a thread; clients that go. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/fd.h"
#include "common/str.h"
#include "service/server/frameworks-internal.h"
#include "service/server/server.h"

#define ENTRY 60000 /* bytes of a role's entry point */

struct fix {
    struct sv_conf *sv;
    struct svc_conf conf;
    struct svc_spawner *spawner;
    sd_event *event;
    struct svc_server *server;
    char base[64], socket[96];
};

static void start(struct fix *f)
{
    const char *const keys[][2] = {
        { "yarn.service.api-server.address", "127.0.0.1:0" },
        { "selvedge.resourcemanager.services.socket", f->socket },
        { "hadoop.http.authentication.simple.anonymous.allowed", "true" },
        { "yarn.resourcemanager.address", "127.0.0.1:1" },
        { "selvedge.framework.enabled", "true" },
        { "selvedge.framework.state-dir", f->base },
    };
    struct sv_error err = { 0 };

    f->sv = sv_conf_new();
    assert_non_null(mkdtemp(f->base));
    (void)snprintf(f->socket, sizeof(f->socket), "%s/socket", f->base);
    for (size_t i = 0; i < SV_ARRAY_LEN(keys); i++)
        assert_int_equal(sv_conf_set(f->sv, keys[i][0], keys[i][1]), 0);
    assert_int_equal(svc_conf_read(f->sv, &f->conf, &err), 0);
    assert_int_equal(svc_spawner_new(&f->conf, &f->spawner, &err), 0);
    assert_true(sd_event_new(&f->event) >= 0);
    if (svc_server_new(f->event, &f->conf, NULL, f->spawner, &f->server, &err) < 0)
        fail_msg("%s", err.text);
}

static void stop(struct fix *f)
{
    _cleanup_close_ int tmp = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    f->server = svc_server_free(f->server);
    f->event = sd_event_unref(f->event);
    f->spawner = svc_spawner_free(f->spawner);
    svc_conf_free(&f->conf);
    f->sv = sv_conf_free(f->sv);
    assert_int_equal(sv_remove_tree_at(tmp, f->base + strlen("/tmp/")), 0);
}

/* A PUT of a descriptor of so many roles with long entry points, to be read to its end. */
static struct sv_buf request(const char *path, int roles)
{
    _cleanup_buf_ struct sv_buf body = SV_BUF_INIT(2 << 20);
    struct sv_buf all = SV_BUF_INIT(2 << 20);
    char entry[ENTRY + 1];

    memset(entry, 'x', ENTRY);
    entry[ENTRY] = '\0';
    assert_int_equal(sv_buf_put_str(&body, "{\"version\":1,\"taskRoles\":{"), 0);
    for (int i = 0; i < roles; i++)
        assert_int_equal(
            sv_buf_printf(&body,
                          "%s\"r%d\":{\"taskNumber\":1,\"taskService\":{\"version\":1,"
                          "\"sourceLocations\":[\"hdfs:///a\"],\"resource\":{\"cpuNumber\":1,"
                          "\"memoryMB\":64},\"entryPoint\":\"%s\"}}",
                          i ? "," : "", i, entry),
            0);
    assert_int_equal(sv_buf_put_str(&body, "}}"), 0);
    assert_int_equal(sv_buf_printf(&all,
                                   "PUT %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                                   "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                                   path, body.len),
                     0);
    assert_int_equal(sv_buf_put(&all, body.data, body.len), 0);
    return all;
}

static int connected(const struct fix *f)
{
    const struct sockaddr_in to = { .sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                    .sin_port = htons(svc_server_port(f->server)) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static void turn(struct fix *f)
{
    assert_true(sd_event_run(f->event, 10000) >= 0);
}

/* Sends all, and reads the status; `go`: closes the connection when all was sent. */
static int ask(struct fix *f, const char *path, int roles, bool go)
{
    struct sv_buf out = request(path, roles);
    char answer[4096];
    size_t sent = 0, n = 0;
    int fd = connected(f);
    int64_t status = 0;

    while (sent < out.len) {
        ssize_t k = send(fd, out.data + sent, out.len - sent, MSG_DONTWAIT | MSG_NOSIGNAL);

        assert_true(k > 0 || errno == EAGAIN);
        sent += k > 0 ? (size_t)k : 0;
        turn(f);
    }
    sv_buf_free(&out);
    while (!go && n < sizeof(answer)) {
        ssize_t k = recv(fd, answer + n, sizeof(answer) - n, MSG_DONTWAIT);

        if (k == 0 || (k < 0 && errno != EAGAIN))
            break;
        n += k > 0 ? (size_t)k : 0;
        turn(f);
    }
    close(fd);
    if (go)
        return 0;
    assert_true(n > 12);
    answer[12] = '\0';
    assert_int_equal(sv_parse_i64(answer + 9, 100, 599, &status), 0);
    return (int)status;
}

static void long_bodies(void **state)
{
    struct fix f = { .base = "/tmp/test-framework-body-XXXXXX" };

    (void)state;
    start(&f);
    assert_int_equal(ask(&f, "/v1/Frameworks/a", 14, false), 202);
    assert_int_equal(ask(&f, "/v1/Frameworks/b", 0, false), 400);  /* no roles */
    assert_int_equal(ask(&f, "/v1/Frameworks/c", 20, false), 400); /* more than 1 MiB */
    /* No way of writing the path makes the loop read it. */
    assert_int_equal(ask(&f, "/v1/%46rameworks/a", 2, false), 400);
    assert_int_equal(ask(&f, "/v1/Frameworks/a/ExecutionType", 2, false), 400);
    for (int i = 0; i < 5; i++)
        (void)ask(&f, "/v1/Frameworks/gone", 14, true);
    assert_int_equal(ask(&f, "/v1/Frameworks/a", 1, false), 202);
    (void)ask(&f, "/v1/Frameworks/gone", 14, true); /* the program ends meanwhile */
    stop(&f);
}

/* The thread's queue is bounded, with the bodies of clients that have gone. */
static void bounded(void **state)
{
    const struct svc_lr_settings settings = { .gpus = false };
    struct svc_frameworks s = { .cfg = { .settings = &settings } };
    char json[40000] = "{";
    struct sv_http_kept kept = { 0 };
    const struct sv_http_request req = { .method = "PUT",
                                         .uri = "/v1/Frameworks/a",
                                         .body = json,
                                         .body_len = sizeof(json),
                                         .kept = &kept };
    struct svc_lr_body *body;

    (void)state;
    assert_true(sd_event_new(&s.cfg.event) >= 0);
    s.reading = ((size_t)64 << 20) - sizeof(json) + 1;
    assert_int_equal(svc_frameworks_body(&s, &req, &body), -EBUSY);
    assert_null(kept.data);
    s.reading--;
    assert_int_equal(svc_frameworks_body(&s, &req, &body), -EAGAIN);
    assert_int_equal(s.reading, (size_t)64 << 20);
    kept.free(kept.data); /* the client goes */
    while (s.reading == (size_t)64 << 20)
        assert_true(sd_event_run(s.cfg.event, UINT64_MAX) >= 0);
    assert_int_equal(s.reading, ((size_t)64 << 20) - sizeof(json));
    (void)sv_worker_free(s.reader);
    sd_event_unref(s.cfg.event);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(long_bodies), cmocka_unit_test(bounded) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
