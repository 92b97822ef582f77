/* Tests hdfs/aes-bytes.c with the vectors of NIST SP 800-38A, F.5. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "common/fd.h"
#include "hdfs/aes-bytes.h"
#include "hdfs/connection.h"

static const uint8_t counter[16] = { 0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7,
                                     0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff };
static const uint8_t key128[16] = { 0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                    0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c };
static const uint8_t key256[32] = { 0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe,
                                    0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77, 0x81,
                                    0x1f, 0x35, 0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7,
                                    0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14, 0xdf, 0xf4 };
static const uint8_t plain[32] = { 0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96, 0xe9, 0x3d, 0x7e,
                                   0x11, 0x73, 0x93, 0x17, 0x2a, 0xae, 0x2d, 0x8a, 0x57, 0x1e, 0x03,
                                   0xac, 0x9c, 0x9e, 0xb7, 0x6f, 0xac, 0x45, 0xaf, 0x8e, 0x51 };
static const uint8_t by128[32] = { 0x87, 0x4d, 0x61, 0x91, 0xb6, 0x20, 0xe3, 0x26, 0x1b, 0xef, 0x68,
                                   0x64, 0x99, 0x0d, 0xb6, 0xce, 0x98, 0x06, 0xf6, 0x6b, 0x79, 0x70,
                                   0xfd, 0xff, 0x86, 0x17, 0x18, 0x7b, 0xb9, 0xff, 0xfd, 0xff };
static const uint8_t by256[16] = { 0x60, 0x1e, 0xc3, 0x13, 0x77, 0x57, 0x89, 0xa5,
                                   0xb7, 0xa7, 0xf5, 0x04, 0xbb, 0xf3, 0xd2, 0x28 };

static struct hdfs_protected *aes(const uint8_t *key, size_t n)
{
    const struct hdfs_aes_key k = { key, n, counter };
    struct hdfs_protected *p = NULL;

    assert_int_equal(hdfs_aes_bytes_new(&k, &k, &p), 0);
    return p;
}

static void pair(int fds[2])
{
    struct timeval tv = { .tv_sec = 10 };

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(setsockopt(fds[i], SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)), 0);
}

/* Sent in pieces of every size, the bytes are those of one stream. */
static void test_golden(void **state)
{
    (void)state;
    for (size_t piece = 1; piece <= sizeof(plain); piece++) {
        struct hdfs_protected *p = aes(key128, sizeof(key128));
        uint8_t sent[sizeof(plain)], back[sizeof(plain)];
        int fds[2];

        pair(fds);
        for (size_t at = 0; at < sizeof(plain); at += piece)
            assert_int_equal(
                p->f->send(p, fds[0], plain + at, SV_MIN(piece, sizeof(plain) - at), NULL), 0);
        assert_int_equal(hdfs_socket_receive(fds[1], sent, sizeof(sent), NULL), 0);
        assert_memory_equal(sent, by128, sizeof(sent));
        assert_int_equal(hdfs_socket_send(fds[1], by128, sizeof(by128), NULL), 0);
        for (size_t at = 0; at < sizeof(back); at += piece)
            assert_int_equal(
                p->f->receive(p, fds[0], back + at, SV_MIN(piece, sizeof(back) - at), NULL), 0);
        assert_memory_equal(back, plain, sizeof(plain));
        hdfs_protected_free(p);
        sv_close(fds[0]);
        sv_close(fds[1]);
    }
}

static void test_256(void **state)
{
    struct hdfs_protected *p = aes(key256, sizeof(key256));
    uint8_t sent[sizeof(by256)];
    int fds[2];

    (void)state;
    pair(fds);
    assert_int_equal(p->f->send(p, fds[0], plain, sizeof(sent), NULL), 0);
    assert_int_equal(hdfs_socket_receive(fds[1], sent, sizeof(sent), NULL), 0);
    assert_memory_equal(sent, by256, sizeof(sent));
    hdfs_protected_free(p);
    sv_close(fds[0]);
    sv_close(fds[1]);
}

/* More than is encrypted at once. */
static void test_large(void **state)
{
    enum { N = 90000 };
    struct hdfs_protected *a = aes(key128, 16), *b = aes(key128, 16);
    uint8_t *data = calloc(2, N);
    int fds[2], big = 4 * N;

    (void)state;
    pair(fds);
    assert_int_equal(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &big, sizeof(big)), 0);
    for (size_t i = 0; i < N; i++)
        data[i] = (uint8_t)(i * 31 >> 3);
    assert_int_equal(a->f->send(a, fds[0], data, N, NULL), 0);
    assert_int_equal(b->f->receive(b, fds[1], data + N, N, NULL), 0);
    assert_memory_equal(data, data + N, N);
    hdfs_protected_free(a);
    hdfs_protected_free(b);
    free(data);
    sv_close(fds[0]);
    sv_close(fds[1]);
}

static void test_lengths(void **state)
{
    (void)state;
    for (size_t n = 0; n <= sizeof(key256); n++) {
        const struct hdfs_aes_key good = { key256, 16, counter }, k = { key256, n, counter };
        bool accepted = n == 16 || n == 24 || n == 32;
        struct hdfs_protected *p = NULL;

        assert_int_equal(hdfs_aes_bytes_new(&k, &good, &p), accepted ? 0 : -EINVAL);
        p = hdfs_protected_free(p);
        assert_int_equal(hdfs_aes_bytes_new(&good, &k, &p), accepted ? 0 : -EINVAL);
        hdfs_protected_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_256),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_lengths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
