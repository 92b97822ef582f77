/* Tests wire/ipc/ipc-client-conn.c against servers that break the protocol. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/wire/ipc-raw.h"

struct fake {
    const void *bytes;
    size_t n;
    int fd, conn;
};

static int on_fake(sd_event_source *src, int fd, uint32_t revents, void *userdata)
{
    (void)src, (void)revents;
    struct fake *f = userdata;
    f->conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(f->conn >= 0);
    raw_send(f->conn, f->bytes, f->n);
    (void)shutdown(f->conn, SHUT_WR);
    return 0;
}

struct outcome {
    int count, status;
    char text[SV_ERROR_TEXT_MAX];
};

static void on_outcome(const struct ipc_result *r, const struct sv_error *err, void *userdata)
{
    struct outcome *o = userdata;
    o->count++;
    o->status = r->status;
    snprintf(o->text, sizeof(o->text), "%s", r->status < 0 ? err->text : "");
}

static void test_hostile_server(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        bool token;
    } cases[] = {
        { "", 0, false },
        { "HTTP/1.1 400 Bad Request\r\n", 26, false },
        { "\xff\xff\xff\xff", 4, false },
        { "\0\0\0\0", 4, false },
        { "\x7f\xff\xff\xff", 4, false },
        { "\0\0\0\1\xff", 5, false },
        { "\0\0\0\2\1\xff", 6, false },
        { "\0\0\0\5\4\x08\1\x10\0", 9, false }, /* success of another call */
        { "\0\0\0\5\4\x08\1\x10\x09", 9, false },
        { "\0\0\0\x0c\x08\x08\xdf\xff\xff\xff\x0f\x10\0\2\x10\0", 15, false },
        { "\0\0\0\x0b\x08\x08\xdf\xff\xff\xff\x0f\x10\0\2\x10\0", 16, true },
        { "\0\0\0\x05\4\x08\1\x10\0", 9, true }, /* an answer before SASL */
    };
    sd_event *event;
    assert_true(sd_event_new(&event) >= 0);
    struct peer_server s = { .event = event };
    for (size_t i = 0; i < SV_ARRAY_LEN(cases); i++) {
        struct fake f = { cases[i].bytes, cases[i].n, -1, -1 };
        struct sockaddr_in sa = { .sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        socklen_t len = sizeof(sa);
        f.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(bind(f.fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
        assert_int_equal(listen(f.fd, 8), 0);
        assert_int_equal(getsockname(f.fd, (struct sockaddr *)&sa, &len), 0);
        sd_event_source *io = NULL;
        assert_true(sd_event_add_io(event, &io, f.fd, EPOLLIN, on_fake, &f) >= 0);
        struct ipc_client_config cfg = { .host = "127.0.0.1",
                                         .port = ntohs(sa.sin_port),
                                         .version = 1,
                                         .protocol = PEER_PROTOCOL,
                                         .user = "a",
                                         .token = cases[i].token ? &peer_token : NULL };
        struct ipc_client *c;
        struct outcome o = { .count = 0 };
        echo_message m = ECHO_INIT;
        m.protocol = (char *)"x";
        assert_int_equal(ipc_client_new(event, &cfg, &c, NULL), 0);
        assert_int_equal(ipc_client_call(c, "echo", &m.base, ECHO_DESCRIPTOR, 0, on_outcome, &o),
                         0);
        peer_run_until(&s, o.count);
        if (o.status >= 0 || !o.text[0])
            fail_msg("case %zu: status %d", i, o.status);
        assert_int_equal(o.count, 1);
        ipc_client_free(c);
        sd_event_source_disable_unref(io);
        sv_close(f.fd);
        sv_close(f.conn);
    }
    sd_event_unref(event);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
