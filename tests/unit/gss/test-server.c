/* Tests gss/server.c, handshake.c, web-step.c, ticket.c and login.c as far as they go without a
 * KDC, in this process: what is no request ends the helper, garbage in place of a ticket does not.
 * With a KDC:
 * tests/integration/gss/test-gss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>

#include "gss/protocol.h"
#include "gss/server.h"
#include "tests/unit/gss/keys.h"

#define NM "nm/host@R"
#define RM "rm/host@R"
#define WEB "HTTP/host@R"

static struct sgss_keytabs keytabs;
static const char *dir;

struct helper {
    int fd; /* the daemon's end */
    struct sgss_server *server;
    pthread_t thread;
    int result;
    struct sv_error err;
};

static void *serve(void *data)
{
    struct helper *h = data;

    h->result = sgss_server_run(h->server, &h->err);
    return NULL;
}

static void start(struct helper *h)
{
    int pair[2];

    *h = (struct helper){ 0 };
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    h->fd = pair[0];
    assert_int_equal(sgss_server_new(pair[1], &keytabs, &h->server), 0);
    assert_int_equal(pthread_create(&h->thread, NULL, serve, h), 0);
}

static int end(struct helper *h)
{
    (void)shutdown(h->fd, SHUT_WR);
    assert_int_equal(pthread_join(h->thread, NULL), 0);
    close(h->fd);
    return h->result;
}

static void put(struct helper *h, const struct sgss_request *m)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(0);

    assert_int_equal(sgss_request_put(&b, m), 0);
    assert_int_equal(send(h->fd, b.data, b.len, 0), (ssize_t)b.len);
}

/* The answer to the request; texts are of the last call's. */
static struct sgss_answer ask(struct helper *h, const struct sgss_request *m)
{
    static uint8_t frame[SGSS_FRAME_MAX];
    struct sgss_answer a;
    ssize_t n;

    put(h, m);
    n = recv(h->fd, frame, sizeof(frame), 0);
    assert_true(n > 0);
    assert_int_equal(sgss_answer_get(frame, (size_t)n, &a), 0);
    assert_int_equal(a.id, m->id);
    return a;
}

static void test_login(void **state)
{
    (void)state;
    struct helper h;
    struct sgss_answer a;

    start(&h);
    a = ask(&h, &(struct sgss_request){ SGSS_LOGIN, 1, 0, 20000, NM });
    assert_int_equal(a.status, SGSS_NOT_ABLE);
    assert_non_null(strstr(a.words, "login of " NM));
    assert_non_null(strstr(a.words, "KDC"));
    a = ask(&h, &(struct sgss_request){ SGSS_LOGIN, 2, 0, 20000, "else@R" });
    assert_int_equal(a.status, SGSS_NOT_ABLE);
    assert_non_null(strstr(a.words, "no keytab has a key of else@R"));
    (void)ask(&h, &(struct sgss_request){ SGSS_LOGIN, 3, 0, 20000, "third@R" });
    (void)ask(&h, &(struct sgss_request){ SGSS_LOGIN, 4, 0, 20000, "fourth@R" });
    a = ask(&h, &(struct sgss_request){ SGSS_LOGIN, 5, 0, 20000, "fifth@R" });
    assert_int_equal(a.status, SGSS_NOT_ABLE);
    assert_non_null(strstr(a.words, "principals log in"));
    assert_int_equal(end(&h), 0);
}

static void test_handshakes(void **state)
{
    (void)state;
    static uint8_t zeros[SGSS_TOKEN_MAX];
    struct sgss_request m = { SGSS_ACCEPT, 1, 1, 20000, RM };
    struct helper h;
    struct sgss_answer a;

    start(&h);
    m.token = zeros;
    for (m.token_len = 1; m.token_len <= sizeof(zeros); m.token_len *= 4) {
        a = ask(&h, &m);
        assert_int_equal(a.status, SGSS_REFUSED);
        assert_non_null(strstr(a.words, RM ": the client's ticket"));
        m.id++;
    }
    m.token_len = 5;
    m.principal = "rm/other@R";
    a = ask(&h, &m);
    assert_int_equal(a.status, SGSS_NOT_ABLE);
    assert_non_null(strstr(a.words, "no keytab has a key"));
    m = (struct sgss_request){ SGSS_INIT, 99, 2, 20000, NM, RM };
    a = ask(&h, &m);
    assert_int_equal(a.status, SGSS_NOT_ABLE);
    /* an answer to a question that was not asked */
    m.token = zeros;
    m.token_len = 10;
    a = ask(&h, &m);
    assert_int_equal(a.status, SGSS_NOT_ABLE);
    assert_non_null(strstr(a.words, "out of turn"));
    put(&h, &(struct sgss_request){ SGSS_FORGET, 0, 2 });
    put(&h, &(struct sgss_request){ SGSS_FORGET, 0, 12345 });
    a = ask(&h, &(struct sgss_request){ SGSS_LOGIN, 100, 0, 20000, "else@R" });
    assert_int_equal(a.status, SGSS_NOT_ABLE);
    assert_int_equal(end(&h), 0);
}

/* Tokens that name no mechanism, SPNEGO with nothing in it, with NTLM alone, and Kerberos with
 * garbage for a ticket. */
static void test_web(void **state)
{
    (void)state;
    static const struct {
        const char *p;
        size_t n;
    } tokens[] = {
#define TOKEN(s) { s, sizeof(s) - 1 }
        TOKEN("x"),
        TOKEN("NTLMSSP\0\1\0\0\0"),
        TOKEN("\x60\x08\x06\x06\x2b\x06\x01\x05\x05\x02"),
        TOKEN("\x60\x1c\x06\x06\x2b\x06\x01\x05\x05\x02\xa0\x12\x30\x10\xa0\x0e\x30\x0c\x06\x0a\x2b"
              "\x06"
              "\x01\x04\x01\x82\x37\x02\x02\x0a"),
        TOKEN("\x60\x17\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01\x00\x6e\x08garbage!"),
        TOKEN("\x60\xff\xff\xff\xff"),
#undef TOKEN
    };
    static const char *const principals[] = { WEB, SGSS_WEB_ANY };
    struct sgss_request m = { SGSS_WEB, 1, 0, 20000 };
    struct helper h;
    struct sgss_answer a;

    start(&h);
    for (size_t i = 0; i < 2 * SV_ARRAY_LEN(tokens); i++, m.id++) {
        m.principal = principals[i % 2];
        m.token = (const uint8_t *)tokens[i / 2].p;
        m.token_len = tokens[i / 2].n;
        a = ask(&h, &m);
        if (a.status != SGSS_REFUSED || !strstr(a.words, ": the client's ticket"))
            fail_msg("token %zu: status %d, %s", i / 2, a.status, a.words);
    }
    m.principal = "HTTP/other@R";
    a = ask(&h, &m);
    assert_int_equal(a.status, SGSS_NOT_ABLE);
    assert_non_null(strstr(a.words, "no keytab has a key of HTTP/other@R"));
    assert_int_equal(end(&h), 0);
}

static void test_rogue(void **state)
{
    (void)state;
    static const char *const frames[] = { "x", "\1\1", "\1\3 and so on, for longer than a head" };

    for (size_t i = 0; i < SV_ARRAY_LEN(frames); i++) {
        struct helper h;

        start(&h);
        assert_true(send(h.fd, frames[i], strlen(frames[i]), 0) > 0);
        assert_int_equal(pthread_join(h.thread, NULL), 0);
        assert_int_equal(h.result, -EBADMSG);
        assert_non_null(strstr(h.err.text, "is no request"));
        close(h.fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_login),
        cmocka_unit_test(test_handshakes),
        cmocka_unit_test(test_web),
        cmocka_unit_test(test_rogue),
    };
    static char path[64];
    int r;

    dir = keys_dir();
    snprintf(path, sizeof(path), "%s/nm.keytab", dir);
    keys_add(path, NM);
    keys_add(path, RM);
    keys_add(path, WEB);
    keytabs.paths[keytabs.n++] = path;
    r = cmocka_run_group_tests(tests, NULL, NULL);
    keys_remove(dir);
    _exit(r); /* the helpers' threads wait for ever */
}
