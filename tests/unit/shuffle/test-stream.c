/* Tests shuffle/stream.c: a file over a plain connection, over TLS, and over TLS of the kernel
 * where it has one (module tls). Both ends are driven by hand. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fd.h"
#include "shuffle/stream.h"
#include "tests/lib/tls-keys.h"

#define TURNS 1000000 /* more than any case needs */
#define LENGTH ((1u << 20) + 12345)

static char dir[] = "/tmp/test-stream-XXXXXX", path[64];
static uint8_t content[LENGTH];
static int file = -1;
static SSL_CTX *ctx;

struct ends {
    struct shf_stream server;
    int fd;      /* the client's */
    SSL *client; /* NULL: plain */
    struct sv_tls *keys;
};

/* Two ends of a TCP connection: kernel TLS is for these alone. */
static void connect_ends(int ret[2])
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof(a);
    _cleanup_close_ int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ret[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listening >= 0 && ret[1] >= 0);
    assert_int_equal(bind(listening, (struct sockaddr *)&a, n), 0);
    assert_int_equal(listen(listening, 1), 0);
    assert_int_equal(getsockname(listening, (struct sockaddr *)&a, &n), 0);
    assert_int_equal(connect(ret[1], (struct sockaddr *)&a, n), 0);
    ret[0] = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    assert_true(ret[0] >= 0);
    assert_int_equal(fcntl(ret[1], F_SETFL, O_NONBLOCK), 0);
}

static struct sv_tls *server_keys(bool kernel)
{
    struct sv_tls_conf conf = { .keys = { .key = "ssl.server.keystore.location",
                                          .path = strdup(path),
                                          .password = strdup("") },
                                .tls12 = true,
                                .reload_ms = 1000,
                                .kernel = kernel };
    struct sv_error err = { 0 };
    struct sv_tls *keys = NULL;

    if (sv_tls_new(&conf, &keys, &err) < 0)
        fail_msg("%s", err.text);
    return keys;
}

static struct ends begin(bool tls, bool kernel)
{
    struct ends e = { .server = { .fd = -1 } };
    const char *why = NULL;
    int fds[2], ours = -EAGAIN, theirs = 0;

    connect_ends(fds);
    e.server.fd = fds[0];
    e.fd = fds[1];
    if (!tls)
        return e;
    e.keys = server_keys(kernel);
    e.client = SSL_new(ctx);
    assert_int_equal(SSL_set_fd(e.client, e.fd), 1);
    SSL_set_connect_state(e.client);
    for (int i = 0; i < TURNS && (ours != 0 || theirs != 1); i++) {
        theirs = theirs == 1 ? 1 : SSL_do_handshake(e.client);
        ours = ours == 0 ? 0 : shf_stream_handshake(&e.server, e.keys, &why);
        if (ours < 0 && ours != -EAGAIN)
            fail_msg("%s", why);
    }
    assert_int_equal(ours, 0);
    assert_int_equal(theirs, 1);
    return e;
}

static void finish(struct ends *e)
{
    shf_stream_close(&e->server);
    SSL_free(e->client);
    (void)sv_close(e->fd);
    (void)sv_tls_free(e->keys);
}

/* Bytes that the client has by now. */
static size_t receive(struct ends *e, uint8_t *p, size_t room)
{
    ssize_t n = e->client ? SSL_read(e->client, p, (int)room) : recv(e->fd, p, room, 0);

    return n > 0 ? (size_t)n : 0;
}

static ssize_t send_more(struct ends *e, size_t at, bool by_file)
{
    if (by_file)
        return shf_stream_sendfile(&e->server, file, (off_t)at, LENGTH - at);
    return shf_stream_send(&e->server, content + at, SV_MIN((size_t)LENGTH - at, (size_t)65536),
                           false);
}

/* A text and the file behind it arrive as they are. */
static void carry(struct ends *e, bool by_file)
{
    static const char head[] = "HTTP/1.1 200 OK";
    uint8_t *found = calloc(1, LENGTH + sizeof(head) + 1);
    size_t sent = 0, got = 0;
    bool waited = false;

    assert_non_null(found);
    assert_int_equal(shf_stream_send(&e->server, head, sizeof(head), true), sizeof(head));
    for (int i = 0; i < TURNS && got < LENGTH + sizeof(head); i++) {
        ssize_t n = sent < LENGTH ? send_more(e, sent, by_file) : 0;

        assert_true(n >= 0 || n == -EAGAIN);
        if (n == -EAGAIN) {
            assert_int_equal(e->server.wants, EPOLLOUT);
            waited = true;
        }
        sent += n > 0 ? (size_t)n : 0;
        if (waited || sent == LENGTH)
            got += receive(e, found + got, LENGTH + sizeof(head) + 1 - got);
    }
    assert_int_equal(got, LENGTH + sizeof(head));
    assert_memory_equal(found, head, sizeof(head));
    assert_memory_equal(found + sizeof(head), content, LENGTH);
    if (by_file) /* the file ends here */
        assert_int_equal(shf_stream_sendfile(&e->server, file, LENGTH, 100), 0);
    free(found);
}

static void plain(void **state)
{
    struct ends e = begin(false, false);

    (void)state;
    assert_true(shf_stream_takes_files(&e.server));
    carry(&e, true);
    carry(&e, false);
    finish(&e);
}

static void in_the_process(void **state)
{
    struct ends e = begin(true, false);

    (void)state;
    assert_false(shf_stream_takes_files(&e.server));
    carry(&e, false);
    finish(&e);
}

static void in_the_kernel(void **state)
{
    struct ends e = begin(true, true);
    bool by_file = shf_stream_takes_files(&e.server);

    (void)state;
    assert_int_equal(by_file, sv_tls_in_kernel());
    if (!by_file)
        print_message("this kernel has no TLS: without its module, tls, the process encrypts\n");
    carry(&e, by_file);
    carry(&e, false);
    finish(&e);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(dir))
        return -1;
    (void)snprintf(path, sizeof(path), "%s/keys.pem", dir);
    write_keys(path, 1);
    ctx = SSL_CTX_new(TLS_client_method());
    for (size_t i = 0; i < LENGTH; i++)
        content[i] = (uint8_t)(i * 2654435761u >> 23);
    file = memfd_create("file.out", MFD_CLOEXEC);
    return ctx && write(file, content, LENGTH) == (ssize_t)LENGTH ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    SSL_CTX_free(ctx);
    (void)sv_close(file);
    (void)unlink(path);
    return rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(in_the_process),
        cmocka_unit_test(in_the_kernel),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
