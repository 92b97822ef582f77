/* Tests hdfs/zone.c with a key service of the test and server defaults of the test
 * (hdfs_namenode_defaults is wrapped). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hdfs/namenode-call.h"
#include "hdfs/zone.h"

#define LEN 200000

static Hadoop__Hdfs__FsServerDefaultsProto defaults;
static struct {
    int answer; /* of the key service */
    unsigned asked;
    char provider[64];
} service;
static struct sv_error err;
static uint8_t data[LEN], encrypted[LEN], got[LEN];
static size_t n_got;
static int sink_answer;

int __wrap_hdfs_namenode_defaults(struct hdfs_namenode *n, struct sv_arena *a,
                                  const Hadoop__Hdfs__FsServerDefaultsProto **ret,
                                  struct sv_error *e);
int __wrap_hdfs_namenode_defaults(struct hdfs_namenode *n, struct sv_arena *a,
                                  const Hadoop__Hdfs__FsServerDefaultsProto **ret,
                                  struct sv_error *e)
{
    (void)e;
    assert_null(n);
    assert_non_null(a);
    *ret = &defaults;
    return 0;
}

/* The key in the clear: each byte of the encrypted one and one. */
static int decrypt(void *userdata, const char *provider, const struct hdfs_edek *e,
                   uint8_t ret[HDFS_KEY_MAX], struct sv_error *why)
{
    assert_ptr_equal(userdata, &service);
    service.asked++;
    (void)snprintf(service.provider, sizeof(service.provider), "%s", provider);
    if (service.answer < 0)
        return sv_error_set(why, service.answer, "the service refuses");
    for (size_t i = 0; i < e->n; i++)
        ret[i] = (uint8_t)(e->key[i] + 1);
    return 0;
}

static struct hdfs_keys keys_of_the_test(void)
{
    return (struct hdfs_keys){ .decrypt = decrypt, .userdata = &service };
}

/* A file's encryption, its key filled with `fill`. */
struct file {
    Hadoop__Hdfs__FileEncryptionInfoProto m;
    uint8_t key[16], iv[HDFS_IV];
};

static void make(struct file *f, uint8_t fill)
{
    hadoop__hdfs__file_encryption_info_proto__init(&f->m);
    f->m.suite = HADOOP__HDFS__CIPHER_SUITE_PROTO__AES_CTR_NOPADDING;
    f->m.cryptoprotocolversion = HADOOP__HDFS__CRYPTO_PROTOCOL_VERSION_PROTO__ENCRYPTION_ZONES;
    memset(f->key, fill, sizeof(f->key));
    memset(f->iv, 7, sizeof(f->iv));
    f->m.key = (ProtobufCBinaryData){ sizeof(f->key), f->key };
    f->m.iv = (ProtobufCBinaryData){ sizeof(f->iv), f->iv };
    f->m.keyname = (char *)(uintptr_t) "key";
    f->m.ezkeyversionname = (char *)(uintptr_t) "key@0";
}

static int set_up(void **state)
{
    uint8_t key[16], iv[HDFS_IV];
    struct hdfs_crypto *c = NULL;

    (void)state;
    memset(&service, 0, sizeof(service));
    hadoop__hdfs__fs_server_defaults_proto__init(&defaults);
    defaults.keyprovideruri = (char *)(uintptr_t) "kms://http@h:9600/kms";
    for (size_t i = 0; i < LEN; i++)
        data[i] = (uint8_t)(i * 2654435761u >> 13);
    memset(key, 2, sizeof(key)); /* of a file that is made with 1 */
    memset(iv, 7, sizeof(iv));
    assert_int_equal(hdfs_crypto_new(key, sizeof(key), iv, 0, &c), 0);
    assert_int_equal(hdfs_crypto_next(c, data, encrypted, LEN), 0);
    hdfs_crypto_free(c);
    n_got = 0;
    sink_answer = 0;
    return 0;
}

static int sink(void *userdata, const void *p, size_t n)
{
    assert_ptr_equal(userdata, got);
    if (sink_answer < 0)
        return sink_answer;
    assert_true(n_got + n <= LEN);
    memcpy(got + n_got, p, n);
    n_got += n;
    return 0;
}

/* Reads [from, LEN) in pieces of `piece` bytes. */
static void read_from(struct hdfs_keys *k, size_t from, size_t piece)
{
    struct hdfs_zone_read z = { .sink = sink, .userdata = got };
    struct file f;

    make(&f, 1);
    n_got = 0;
    for (size_t at = from, n; at < LEN; at += n) {
        n = SV_MIN(piece, LEN - at);
        assert_int_equal(hdfs_zone_read_begin(&z, NULL, k, &f.m, from, &err), 0);
        assert_int_equal(hdfs_zone_read_sink(&z, encrypted + at, n), 0);
    }
    hdfs_zone_read_end(&z);
    assert_int_equal(n_got, LEN - from);
    assert_memory_equal(got, data + from, n_got);
}

/* One question for all the ranges of a file. */
static void test_read(void **state)
{
    struct hdfs_keys k = keys_of_the_test();

    (void)state;
    read_from(&k, 0, LEN);
    read_from(&k, 0, 1000);
    read_from(&k, 1, 65537);
    read_from(&k, LEN - 17, 3);
    assert_int_equal(service.asked, 1);
    assert_string_equal(service.provider, "kms://http@h:9600/kms");
    hdfs_keys_forget(&k);
    for (size_t i = 0; i < sizeof(k.known); i++)
        assert_int_equal(((const uint8_t *)k.known)[i], 0);
    read_from(&k, 5, LEN);
    assert_int_equal(service.asked, 2);
}

static void test_not_encrypted(void **state)
{
    struct hdfs_zone_read z = { .sink = sink, .userdata = got };
    struct file f;

    (void)state;
    make(&f, 1);
    assert_int_equal(hdfs_zone_read_begin(&z, NULL, NULL, NULL, 9, &err), 0);
    assert_int_equal(hdfs_zone_read_sink(&z, data, 100), 0);
    assert_int_equal(n_got, 100);
    assert_memory_equal(got, data, 100);
    assert_int_equal(hdfs_zone_read_begin(&z, NULL, NULL, &f.m, 9, &err), -ESTALE);
    hdfs_zone_read_end(&z);
}

/* Nine files: the key of the first is the one that was forgotten. */
static void test_known(void **state)
{
    struct hdfs_keys k = keys_of_the_test();
    struct hdfs_crypto *c = NULL;
    struct hdfs_edek e;
    struct file f;

    (void)state;
    for (unsigned i = 0; i <= HDFS_KEYS_KNOWN; i++) {
        make(&f, (uint8_t)i);
        assert_int_equal(hdfs_answer_edek(&f.m, &e, &err), 0);
        assert_int_equal(hdfs_zone_open(NULL, &k, &e, 0, &c, &err), 0);
        c = hdfs_crypto_free(c);
        assert_int_equal(service.asked, i + 1);
    }
    assert_int_equal(hdfs_zone_open(NULL, &k, &e, 0, &c, &err), 0);
    c = hdfs_crypto_free(c);
    assert_int_equal(service.asked, HDFS_KEYS_KNOWN + 1);
    make(&f, 0);
    assert_int_equal(hdfs_answer_edek(&f.m, &e, &err), 0);
    assert_int_equal(hdfs_zone_open(NULL, &k, &e, 0, &c, &err), 0);
    c = hdfs_crypto_free(c);
    assert_int_equal(service.asked, HDFS_KEYS_KNOWN + 2);
    e.version[0] = 'K'; /* another version, another key */
    assert_int_equal(hdfs_zone_open(NULL, &k, &e, 0, &c, &err), 0);
    c = hdfs_crypto_free(c);
    assert_int_equal(service.asked, HDFS_KEYS_KNOWN + 3);
}

static void test_refused(void **state)
{
    static char longer[HDFS_PROVIDER_MAX + 2];
    struct hdfs_keys k = keys_of_the_test();
    struct hdfs_zone_read z = { .sink = sink, .userdata = got };
    struct file f;

    (void)state;
    make(&f, 1);
    assert_int_equal(hdfs_zone_read_begin(&z, NULL, NULL, &f.m, 0, &err), -EOPNOTSUPP);
    hdfs_zone_read_end(&z);
    service.answer = -EACCES;
    assert_int_equal(hdfs_zone_read_begin(&z, NULL, &k, &f.m, 0, &err), -EACCES);
    assert_string_equal(err.text, "it is in an encryption zone: the service refuses");
    hdfs_zone_read_end(&z);
    service.answer = 0;
    memset(longer, 'k', sizeof(longer) - 1);
    defaults.keyprovideruri = longer;
    assert_int_equal(hdfs_zone_read_begin(&z, NULL, &k, &f.m, 0, &err), -EBADMSG);
    hdfs_zone_read_end(&z);
    defaults.keyprovideruri = NULL;
    assert_int_equal(hdfs_zone_read_begin(&z, NULL, &k, &f.m, 0, &err), 0);
    assert_string_equal(service.provider, "");
    sink_answer = -ENOSPC;
    assert_int_equal(hdfs_zone_read_sink(&z, encrypted, 100), -ENOSPC);
    make(&f, 2);
    assert_int_equal(hdfs_zone_read_begin(&z, NULL, &k, &f.m, 0, &err), -ESTALE);
    hdfs_zone_read_end(&z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_read, set_up),
        cmocka_unit_test_setup(test_not_encrypted, set_up),
        cmocka_unit_test_setup(test_known, set_up),
        cmocka_unit_test_setup(test_refused, set_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
