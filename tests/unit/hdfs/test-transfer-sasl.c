/* Tests hdfs/transfer-sasl.c and wrapped-bytes.c with a DataNode of the test (tests/lib): every
 * quality of protection, what a hostile one answers, and what it sends in the layer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hdfs/transfer-sasl.h"
#include "proto/hdfs_datanode.pb-c.h"
#include "tests/lib/sasl-datanode.h"
#include "wire/sasl/qop.h"

#define ALL "auth,auth-int,auth-conf"
#define CIPHERS "cipher=\"3des,rc4,des,rc4-56,rc4-40\","
#define ECHO_BYTES 200000u

static struct sv_error err;

static int handshake(struct hdfs_connection *c, uint32_t qop_mask, bool aes)
{
    const struct hdfs_transfer_login login = { .user = SASL_DATANODE_USER,
                                               .password = SASL_DATANODE_PASSWORD,
                                               .qop_mask = qop_mask,
                                               .aes = aes,
                                               .key = "dfs.data.transfer.protection" };

    err = (struct sv_error){ 0 };
    return hdfs_transfer_handshake(c, &login, &err);
}

/* Sends bytes in pieces of some sizes, and gets them back in pieces of others. */
static void echo(struct hdfs_connection *c)
{
    uint8_t *data = malloc(2 * ECHO_BYTES);

    for (size_t i = 0; i < ECHO_BYTES; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    for (size_t at = 0, n = 1; at < ECHO_BYTES; at += n, n = SV_MIN(3 * n + 1, (size_t)70000)) {
        n = SV_MIN(n, ECHO_BYTES - at);
        assert_int_equal(hdfs_send(c, data + at, n, &err), 0);
    }
    for (size_t at = 0, n = 5; at < ECHO_BYTES; at += n, n = 2 * n + 3) {
        n = SV_MIN(n, ECHO_BYTES - at);
        if (hdfs_receive(c, data + ECHO_BYTES + at, n, &err) != 0)
            fail_msg("at %zu: %s", at, err.text);
    }
    assert_memory_equal(data, data + ECHO_BYTES, ECHO_BYTES);
    free(data);
}

static void works(struct sasl_datanode d, uint32_t mask, bool aes, const char *qop)
{
    struct hdfs_connection *c;

    d.echo = ECHO_BYTES;
    c = sasl_datanode_start(&d, 10000);
    if (handshake(c, mask, aes) != 0)
        fail_msg("%s: %s", qop, err.text);
    echo(c);
    hdfs_connection_free(c);
    sasl_datanode_end(&d);
    assert_int_equal(d.magic, 0xdeadbeef);
    assert_true(d.first_empty && d.proven);
    assert_string_equal(d.qop, qop);
    assert_int_equal(d.offered_aes, aes && mask & IPC_QOP_PRIVACY);
}

static void test_qualities(void **state)
{
    const struct sasl_datanode d = { .qops = ALL, .cipher = CIPHERS };

    (void)state;
    works(d, IPC_QOP_AUTH, false, "auth");
    works(d, IPC_QOP_INTEGRITY, false, "auth-int");
    works(d, IPC_QOP_PRIVACY, false, "auth-conf");
    works(d, IPC_QOP_ALL, false, "auth-conf");
    works((struct sasl_datanode){ .qops = "auth-int" }, IPC_QOP_ALL, true, "auth-int");
    works((struct sasl_datanode){ .qops = "auth" }, IPC_QOP_AUTH, true, "auth");
}

static void test_aes(void **state)
{
    struct sasl_datanode d = { .qops = ALL, .cipher = CIPHERS };

    (void)state;
    works(d, IPC_QOP_PRIVACY, true, "auth-conf"); /* offered, not taken */
    for (d.aes = 16; d.aes <= 32; d.aes += 8)
        works(d, IPC_QOP_PRIVACY, true, "auth-conf");
}

struct hostile {
    const char *name;
    struct sasl_datanode d;
    uint32_t mask; /* 0: all */
    int error;
    const char *words;
};

#define GOOD .qops = ALL, .cipher = CIPHERS
static const struct hostile hostile[] = {
    { "unknown key", { GOOD, .status = { 1 } }, 0, -EKEYREVOKED, "the DataNode says so" },
    { "unknown key at the end", { GOOD, .status = { 0, 1 } }, 0, -EKEYREVOKED, "encryption key" },
    { "error", { GOOD, .status = { 2 } }, 0, -EACCES, "SASL handshake" },
    { "error at the end", { GOOD, .status = { 0, 2 } }, 0, -EACCES, "SASL handshake" },
    { "token", { GOOD, .status = { 0, 2 }, .token_error = true }, 0, -EKEYEXPIRED, "block token" },
    { "status without a name", { GOOD, .status = { 9 } }, 0, -EBADMSG, "malformed" },
    { "long challenge", { GOOD, .padding = 4000 }, 0, -EBADMSG, "too long" },
    { "NULs behind the challenge", { GOOD, .padding = 5 }, 0, -EACCES, "malformed challenge" },
    { "other realm", { GOOD, .realm = "default" }, 0, -EACCES, "malformed challenge" },
    { "no common quality",
      { .qops = "auth" },
      IPC_QOP_INTEGRITY | IPC_QOP_PRIVACY,
      -EACCES,
      "dfs.data.transfer.protection here asks for integrity,privacy" },
    { "weak ciphers alone",
      { .qops = "auth-conf", .cipher = "cipher=\"rc4,des\"," },
      IPC_QOP_PRIVACY,
      -EACCES,
      "here asks for privacy" },
    { "impostor", { GOOD, .impostor = true }, 0, -EACCES, "does not know the password" },
    { "keys too early", { GOOD, .aes = 16, .aes_early = true }, 0, -EBADMSG, "was not offered" },
    { "two ciphers", { GOOD, .aes = 16, .n_options = 2 }, 0, -EBADMSG, "more than one cipher" },
    { "SM4", { GOOD, .aes = 16, .aes_suite = 3 }, 0, -EBADMSG, "another cipher" },
    { "keys of 15 bytes", { GOOD, .aes = 15 }, 0, -EBADMSG, "have 15 and 15 bytes" },
    { "keys of 33 bytes", { GOOD, .aes = 33 }, 0, -EBADMSG, "have 33 and 33 bytes" },
    { "short counter", { GOOD, .aes = 16, .aes_iv = 15 }, 0, -EBADMSG, "wrong length" },
    { "forged keys", { GOOD, .aes = 16, .aes_forged = true }, 0, -EBADMSG, "malformed or forged" },
    { "keys in clear", { .qops = "auth-int", .aes = 16 }, 0, -EBADMSG, "without a layer" },
    { "keys without a layer", { .qops = "auth", .aes = 16 }, 0, -EBADMSG, "without a layer" },
    { "closes", { GOOD, .raw = (const uint8_t *)"" }, 0, -ECONNRESET, "closed the connection" },
    { "a length of 2 MiB",
      { GOOD, .raw = (const uint8_t *)"\xff\xff\x7f", .n_raw = 3 },
      0,
      -EBADMSG,
      "wrong length" },
    { "garbage",
      { GOOD, .raw = (const uint8_t *)"\x03\xff\xff\xff", .n_raw = 4 },
      0,
      -EBADMSG,
      "malformed" },
    { "half a message",
      { GOOD, .raw = (const uint8_t *)"\x05\x08", .n_raw = 2 },
      0,
      -ECONNRESET,
      "closed the connection" },
};

static void test_hostile(void **state)
{
    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(hostile); i++) {
        const struct hostile *h = &hostile[i];
        struct sasl_datanode d = h->d;
        struct hdfs_connection *c = sasl_datanode_start(&d, 10000);
        int r = handshake(c, h->mask ? h->mask : IPC_QOP_ALL, true);

        hdfs_connection_free(c);
        sasl_datanode_end(&d);
        if (r != h->error || !strstr(err.text, h->words))
            fail_msg("%s: %d: %s", h->name, r, err.text);
    }
}

/* ---- Messages in the layer ---- */

static int receive_after(uint32_t mask, const void *frame, size_t n)
{
    struct sasl_datanode d = {
        .qops = ALL, .cipher = CIPHERS, .frame = frame, .n_frame = n, .echo = 0
    };
    struct hdfs_connection *c = sasl_datanode_start(&d, 10000);
    uint8_t byte;
    int r = handshake(c, mask, false);

    assert_int_equal(r, 0);
    r = hdfs_receive(c, &byte, 1, &err);
    hdfs_connection_free(c);
    sasl_datanode_end(&d);
    return r;
}

static void test_frames(void **state)
{
    static const uint8_t large[] = { 0x01, 0x02, 0x00, 0x00 };
    static const uint8_t negative[] = { 0xff, 0xff, 0xff, 0xff }, tiny[] = { 0, 0, 0, 1, 'x' };
    static const uint8_t forged[4 + 32] = { 0, 0, 0, 32, 'a', 'b' }, none[8] = { 0 };

    (void)state;
    for (uint32_t mask = IPC_QOP_INTEGRITY; mask <= IPC_QOP_PRIVACY; mask <<= 1) {
        assert_int_equal(receive_after(mask, large, sizeof(large)), -EBADMSG);
        assert_non_null(strstr(err.text, "are accepted"));
        assert_int_equal(receive_after(mask, negative, sizeof(negative)), -EBADMSG);
        assert_int_equal(receive_after(mask, tiny, sizeof(tiny)), -EBADMSG);
        assert_int_equal(receive_after(mask, forged, sizeof(forged)), -EBADMSG);
        assert_non_null(strstr(err.text, "malformed, forged or out of order"));
        assert_int_equal(receive_after(mask, none, sizeof(none)), -ECONNRESET);
        assert_int_equal(receive_after(mask, tiny, 3), -ECONNRESET);
    }
}

/* Empty messages without end are time that passes. */
static void test_trickle(void **state)
{
    enum { N = 8 << 20 };
    uint8_t *frames = calloc(1, N), byte;
    struct sasl_datanode d = { .qops = ALL, .cipher = CIPHERS, .frame = frames, .n_frame = N };
    struct hdfs_connection *c = sasl_datanode_start(&d, 100);

    (void)state;
    while (handshake(c, IPC_QOP_INTEGRITY, false) != 0) { /* on a busy machine */
        assert_int_equal(err.code, -ETIMEDOUT);
        hdfs_connection_free(c);
        sasl_datanode_end(&d);
        c = sasl_datanode_start(&d, 100);
    }
    assert_int_equal(hdfs_receive(c, &byte, 1, &err), -ETIMEDOUT);
    hdfs_connection_free(c);
    sasl_datanode_end(&d);
    free(frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_qualities), cmocka_unit_test(test_aes),
        cmocka_unit_test(test_hostile),   cmocka_unit_test(test_frames),
        cmocka_unit_test(test_trickle),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
