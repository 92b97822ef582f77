/* Tests hdfs/answers.c: accepted and rejected answers of a NameNode. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "hdfs/answers.h"

static struct hdfs_status status_of(uint32_t perm, uint32_t flags)
{
    Hadoop__Hdfs__HdfsFileStatusProto m = HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__INIT;
    Hadoop__Hdfs__FsPermissionProto p = HADOOP__HDFS__FS_PERMISSION_PROTO__INIT;
    struct hdfs_status s;

    m.filetype = HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__FILE_TYPE__IS_FILE;
    m.permission = &p;
    p.perm = perm;
    m.length = 7;
    m.modification_time = 1700000000250;
    m.has_flags = true;
    m.flags = flags;
    assert_int_equal(hdfs_answer_status(&m, &s, NULL), 0);
    return s;
}

static void test_status(void **state)
{
    Hadoop__Hdfs__HdfsFileStatusProto m = HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__INIT;
    Hadoop__Hdfs__FsPermissionProto p = HADOOP__HDFS__FS_PERMISSION_PROTO__INIT;
    struct hdfs_status s = status_of(01644, 0);
    struct sv_error err = { 0 };

    (void)state;
    assert_true(s.kind == HDFS_FILE && s.length == 7 && s.mtime_ms == 1700000000250);
    assert_int_equal(s.mode, 01644);
    assert_false(s.encrypted || s.striped);
    assert_true(status_of(0644, 2).encrypted);
    assert_true(status_of(0644, 4).striped);
    assert_true(status_of(0644 | 1 << 13, 0).encrypted); /* Hadoop 2 */
    m.permission = &p;
    m.filetype = HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__FILE_TYPE__IS_FILE;
    m.length = HDFS_FILE_MAX + 1;
    assert_int_equal(hdfs_answer_status(&m, &s, &err), -EBADMSG);
    m.length = 1;
    m.modification_time = UINT64_MAX;
    assert_int_equal(hdfs_answer_status(&m, &s, &err), -EBADMSG);
    m.modification_time = 1;
    m.filetype = (Hadoop__Hdfs__HdfsFileStatusProto__FileType)4;
    assert_int_equal(hdfs_answer_status(&m, &s, &err), -EBADMSG);
}

static void test_owner(void **state)
{
    Hadoop__Hdfs__HdfsFileStatusProto m = HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__INIT;
    Hadoop__Hdfs__FsPermissionProto p = HADOOP__HDFS__FS_PERMISSION_PROTO__INIT;
    char longer[HDFS_OWNER_MAX + 2];
    struct hdfs_owner o;

    (void)state;
    memset(longer, 'a', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = 0;
    m.permission = &p;
    m.owner = (char *)(uintptr_t) "bob";
    m.group = (char *)(uintptr_t) "hadoop";
    p.perm = 0770;
    assert_int_equal(hdfs_answer_owner(&m, &o, NULL), 0);
    assert_string_equal(o.user, "bob");
    assert_string_equal(o.group, "hadoop");
    assert_false(o.acl);
    p.perm = 0770 | 1 << 12; /* Hadoop 2 */
    assert_int_equal(hdfs_answer_owner(&m, &o, NULL), 0);
    assert_true(o.acl);
    p.perm = 0770;
    m.has_flags = true;
    m.flags = 1;
    assert_int_equal(hdfs_answer_owner(&m, &o, NULL), 0);
    assert_true(o.acl);
    m.owner = (char *)(uintptr_t) "";
    assert_int_equal(hdfs_answer_owner(&m, &o, NULL), -EBADMSG);
    m.owner = longer;
    assert_int_equal(hdfs_answer_owner(&m, &o, NULL), -EBADMSG);
    m.owner = m.group;
    m.group = longer;
    assert_int_equal(hdfs_answer_owner(&m, &o, NULL), -EBADMSG);
}

static int listing_of(const char *name, size_t len, uint32_t remaining, struct hdfs_listing *ret)
{
    static Hadoop__Hdfs__HdfsFileStatusProto st, *children[2] = { &st, &st };
    static Hadoop__Hdfs__FsPermissionProto p;
    static struct sv_arena *a;
    Hadoop__Hdfs__DirectoryListingProto m = HADOOP__HDFS__DIRECTORY_LISTING_PROTO__INIT;

    hadoop__hdfs__hdfs_file_status_proto__init(&st);
    hadoop__hdfs__fs_permission_proto__init(&p);
    st.filetype = HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__FILE_TYPE__IS_DIR;
    st.permission = &p;
    st.path.data = (uint8_t *)(uintptr_t)name;
    st.path.len = len;
    m.partiallisting = children;
    m.n_partiallisting = name ? 2 : 0;
    m.remainingentries = remaining;
    sv_arena_free(a);
    a = sv_arena_new(0);
    return hdfs_answer_listing(&m, a, ret, NULL);
}

static void test_listing(void **state)
{
    static const char *const bad[] = { "", ".", "..", "a/b", "/", "a\0b" };
    static const size_t lengths[] = { 0, 1, 2, 3, 1, 3 };
    static char longest[HDFS_NAME_MAX + 1];
    struct hdfs_listing l = { 0 };

    (void)state;
    assert_int_equal(listing_of("...", 3, 5, &l), 0);
    assert_true(l.n == 2 && l.more && l.children[1].st.kind == HDFS_DIRECTORY);
    assert_string_equal(l.children[1].name, "...");
    assert_int_equal(listing_of(NULL, 0, 0, &l), 0);
    assert_true(l.n == 0 && !l.more);
    assert_int_equal(listing_of(NULL, 0, 1, &l), -EBADMSG); /* for ever */
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        assert_int_equal(listing_of(bad[i], lengths[i], 0, &l), -EBADMSG);
    memset(longest, 'x', sizeof(longest));
    assert_int_equal(listing_of(longest, HDFS_NAME_MAX, 0, &l), 0);
    assert_int_equal(listing_of(longest, HDFS_NAME_MAX + 1, 0, &l), -EBADMSG);
}

/* NameNodes list a file as a child without a name. */
static void test_listing_of_file(void **state)
{
    Hadoop__Hdfs__DirectoryListingProto m = HADOOP__HDFS__DIRECTORY_LISTING_PROTO__INIT;
    Hadoop__Hdfs__HdfsFileStatusProto st = HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__INIT, *one = &st;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_error err = { 0 };
    struct hdfs_listing l;

    (void)state;
    st.filetype = HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__FILE_TYPE__IS_FILE;
    m.partiallisting = &one;
    m.n_partiallisting = 1;
    assert_int_equal(hdfs_answer_listing(&m, a, &l, &err), -ENOTDIR);
}

#define N 3
static Hadoop__Hdfs__LocatedBlocksProto all;
static Hadoop__Hdfs__LocatedBlockProto blocks[N], *list[N];
static Hadoop__Hdfs__ExtendedBlockProto ids[N];
static Hadoop__Common__TokenProto token;
static Hadoop__Hdfs__DatanodeInfoProto node, *nodes[1];
static Hadoop__Hdfs__DatanodeIDProto id;

/* Three blocks of 100, 100 and 50 bytes. */
static int fill(void **state)
{
    (void)state;
    hadoop__hdfs__located_blocks_proto__init(&all);
    hadoop__common__token_proto__init(&token);
    hadoop__hdfs__datanode_info_proto__init(&node);
    hadoop__hdfs__datanode_idproto__init(&id);
    token.kind = token.service = (char *)(uintptr_t) "";
    id.xferport = 9866;
    node.id = &id;
    nodes[0] = &node;
    for (size_t i = 0; i < N; i++) {
        hadoop__hdfs__located_block_proto__init(&blocks[i]);
        hadoop__hdfs__extended_block_proto__init(&ids[i]);
        ids[i].poolid = (char *)(uintptr_t) "BP-1";
        ids[i].has_numbytes = true;
        ids[i].numbytes = i == N - 1 ? 50 : 100;
        blocks[i].b = &ids[i];
        blocks[i].offset = i * 100;
        blocks[i].blocktoken = &token;
        blocks[i].n_locs = 1;
        blocks[i].locs = nodes;
        list[i] = &blocks[i];
    }
    all.filelength = 250;
    all.n_blocks = N;
    all.blocks = list;
    all.islastblockcomplete = true;
    return 0;
}

static int check(uint64_t from)
{
    struct sv_error err = { 0 };
    int r = hdfs_answer_blocks(&all, from, 250, &err);

    assert_true((r < 0) == (err.text[0] != 0));
    return r;
}

static void test_blocks(void **state)
{
    (void)state;
    assert_int_equal(check(0), 0);
    assert_int_equal(check(99), 0);
    assert_int_equal(check(100), -EBADMSG); /* the first block ends there */
    all.blocks++;
    all.n_blocks--;
    assert_int_equal(check(100), 0);
    assert_int_equal(check(99), -EBADMSG);
    all.n_blocks = 0;
    assert_int_equal(check(0), -EBADMSG);
    all.n_blocks = HDFS_BLOCKS_MAX + 1;
    assert_int_equal(check(0), -EBADMSG);
    all.n_blocks = 0;
    all.filelength = 0;
    assert_int_equal(hdfs_answer_blocks(&all, 0, 0, NULL), 0);
}

static void test_bad_blocks(void **state)
{
    static char long_name[HDFS_POOL_MAX + 2];

    ids[1].numbytes = 0;
    assert_int_equal(check(0), -EBADMSG);
    fill(state);
    ids[1].numbytes = UINT64_MAX;
    assert_int_equal(check(0), -EBADMSG);
    fill(state);
    ids[2].numbytes = 51; /* beyond the end */
    assert_int_equal(check(0), -EBADMSG);
    fill(state);
    blocks[1].offset = 99;
    assert_int_equal(check(0), -EBADMSG);
    fill(state);
    blocks[0].offset = UINT64_MAX;
    assert_int_equal(check(0), -EBADMSG);
    fill(state);
    memset(long_name, 'x', sizeof(long_name) - 1);
    ids[0].poolid = long_name;
    assert_int_equal(check(0), -EBADMSG);
    fill(state);
    token.identifier.len = HDFS_TOKEN_MAX + 1;
    assert_int_equal(check(0), -EBADMSG);
    fill(state);
    id.xferport = 65536;
    assert_int_equal(check(0), -EBADMSG);
    fill(state);
    all.filelength = 251;
    assert_int_equal(check(0), -ESTALE);
}

static int stripes_of(uint32_t number, const char *codec, uint32_t data, uint32_t parity,
                      uint32_t cell, struct hdfs_stripes *ret)
{
    Hadoop__Hdfs__ErasureCodingPolicyProto policy;
    Hadoop__Hdfs__ECSchemaProto schema;
    struct sv_error err = { 0 };

    hadoop__hdfs__erasure_coding_policy_proto__init(&policy);
    hadoop__hdfs__ecschema_proto__init(&schema);
    policy.id = number;
    schema.codecname = (char *)(uintptr_t)codec;
    schema.dataunits = data;
    schema.parityunits = parity;
    policy.has_cellsize = cell > 0;
    policy.cellsize = cell;
    policy.schema = codec ? &schema : NULL;
    return hdfs_answer_stripes(&policy, ret, &err);
}

static void test_stripes(void **state)
{
    static const struct {
        uint32_t number;
        const char *codec;
        uint32_t data, parity, cell;
        int result;
    } t[] = {
        { 64, "rs", 12, 4, 4u << 20, 0 },
        { 64, "xor", 3, 1, 1024, 0 },
        { 1, "rs", 6, 3, 1u << 20, 0 },
        { 64, "rs", 0, 3, 1u << 20, -EBADMSG },
        { 64, "rs", 6, 0, 1u << 20, -EBADMSG },
        { 64, "rs", 13, 4, 1u << 20, -EBADMSG },
        { 64, "rs", 4, UINT32_MAX - 2, 1u << 20, -EBADMSG },
        { 64, "rs", UINT32_MAX, 2, 1u << 20, -EBADMSG },
        { 64, "rs", 6, 3, 0, -EBADMSG },
        { 64, "rs", 6, 3, 1000, -EBADMSG },
        { 64, "rs", 6, 3, (4u << 20) + 1024, -EBADMSG },
        { 64, "xor", 2, 2, 1u << 20, -EBADMSG },
        { 64, "rs-legacy", 6, 3, 1u << 20, -EOPNOTSUPP },
        { 3, NULL, 0, 0, 0, -EOPNOTSUPP },
        { 6, NULL, 0, 0, 0, -EOPNOTSUPP },
        { UINT32_MAX, NULL, 0, 0, 0, -EOPNOTSUPP },
    };
    struct hdfs_stripes s;

    (void)state;
    for (size_t i = 0; i < SV_ARRAY_LEN(t); i++)
        if (stripes_of(t[i].number, t[i].codec, t[i].data, t[i].parity, t[i].cell, &s) !=
            t[i].result)
            fail_msg("row %zu", i);
    assert_int_equal(stripes_of(4, NULL, 0, 0, 0, &s), 0);
    assert_true(s.codec == HDFS_CODEC_XOR && s.data == 2 && s.parity == 1 && s.cell == 1u << 20);
    assert_int_equal(stripes_of(0, "replication", 1, 2, 1u << 20, &s), 0);
    assert_int_equal(s.codec, HDFS_REPLICATED);
    assert_int_equal(hdfs_answer_stripes(NULL, &s, NULL), 0);
    assert_int_equal(s.codec, HDFS_REPLICATED);
}

/* Groups of RS-3-2: one location is there, unit `index`. */
static void test_groups(void **state)
{
    Hadoop__Hdfs__ErasureCodingPolicyProto policy;
    Hadoop__Common__TokenProto other, *tokens[1] = { &other };
    uint8_t index = 4;

    hadoop__hdfs__erasure_coding_policy_proto__init(&policy);
    hadoop__common__token_proto__init(&other);
    other.kind = other.service = (char *)(uintptr_t) "";
    policy.id = 2;
    all.ecpolicy = &policy;
    assert_int_equal(check(0), -EBADMSG); /* no units */
    for (size_t i = 0; i < N; i++) {
        blocks[i].has_blockindices = true;
        blocks[i].blockindices = (ProtobufCBinaryData){ 1, &index };
    }
    assert_int_equal(check(0), 0);
    index = 5;
    assert_int_equal(check(0), -EBADMSG);
    index = 0;
    blocks[1].n_locs = 0;
    assert_int_equal(check(0), -EBADMSG);
    blocks[1].n_locs = 1;
    blocks[1].n_blocktokens = 1;
    blocks[1].blocktokens = tokens;
    assert_int_equal(check(0), 0);
    other.password.len = HDFS_TOKEN_MAX + 1;
    assert_int_equal(check(0), -EBADMSG);
    blocks[1].n_blocktokens = 2;
    assert_int_equal(check(0), -EBADMSG);
    (void)fill(state);
}

static void test_unsupported(void **state)
{
    Hadoop__Hdfs__ErasureCodingPolicyProto policy;

    hadoop__hdfs__erasure_coding_policy_proto__init(&policy);
    policy.id = 3; /* RS-LEGACY */
    all.ecpolicy = &policy;
    assert_int_equal(check(0), -EOPNOTSUPP);
    fill(state);
    all.underconstruction = true;
    assert_int_equal(check(0), 0); /* its last block is complete */
    all.islastblockcomplete = false;
    assert_int_equal(check(0), -EOPNOTSUPP);
}

static int edek_of(size_t key, size_t iv, const char *name, const char *version,
                   struct hdfs_edek *ret)
{
    static uint8_t bytes[HDFS_KEY_MAX + 1] = { 1, 2, 3 };
    Hadoop__Hdfs__FileEncryptionInfoProto m;

    hadoop__hdfs__file_encryption_info_proto__init(&m);
    m.suite = HADOOP__HDFS__CIPHER_SUITE_PROTO__AES_CTR_NOPADDING;
    m.cryptoprotocolversion = HADOOP__HDFS__CRYPTO_PROTOCOL_VERSION_PROTO__ENCRYPTION_ZONES;
    m.key = (ProtobufCBinaryData){ key, bytes };
    m.iv = (ProtobufCBinaryData){ iv, bytes };
    m.keyname = (char *)(uintptr_t)name;
    m.ezkeyversionname = (char *)(uintptr_t)version;
    return hdfs_answer_edek(&m, ret, NULL);
}

static void test_edek(void **state)
{
    static const char *const bad[] = { "",     ".",        "..", "a/b",  "a\nb",         "a\x7f",
                                       "\xff", "\xc0\xaf", "/",  "\x01", "\xed\xa0\x80", "a\xc3" };
    Hadoop__Hdfs__FileEncryptionInfoProto m;
    char longest[HDFS_KEY_NAME_MAX + 2] = "";
    struct hdfs_edek e;

    (void)state;
    assert_int_equal(hdfs_answer_edek(NULL, &e, NULL), 0);
    assert_int_equal(e.n, 0);
    for (size_t n = 0; n <= HDFS_KEY_MAX + 1; n++)
        assert_int_equal(edek_of(n, 16, "k", "k@0", &e),
                         n == 16 || n == 24 || n == 32 ? 0 : -EBADMSG);
    assert_int_equal(edek_of(24, 16, "a key", "schl\xc3\xbcssel@1", &e), 0);
    assert_int_equal(e.n, 24);
    assert_true(e.key[2] == 3 && e.iv[1] == 2);
    assert_string_equal(e.name, "a key");
    assert_string_equal(e.version, "schl\xc3\xbcssel@1");
    assert_int_equal(edek_of(16, 15, "k", "k@0", &e), -EBADMSG);
    assert_int_equal(edek_of(16, 17, "k", "k@0", &e), -EBADMSG);
    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++) {
        assert_int_equal(edek_of(16, 16, bad[i], "k@0", &e), -EBADMSG);
        assert_int_equal(edek_of(16, 16, "k", bad[i], &e), -EBADMSG);
    }
    memset(longest, 'k', HDFS_KEY_NAME_MAX);
    assert_int_equal(edek_of(16, 16, longest, longest, &e), 0);
    longest[HDFS_KEY_NAME_MAX] = 'k';
    longest[HDFS_KEY_NAME_MAX + 1] = 0;
    assert_int_equal(edek_of(16, 16, longest, "k@0", &e), -EBADMSG);
    hadoop__hdfs__file_encryption_info_proto__init(&m);
    m.suite = HADOOP__HDFS__CIPHER_SUITE_PROTO__SM4_CTR_NOPADDING;
    m.cryptoprotocolversion = HADOOP__HDFS__CRYPTO_PROTOCOL_VERSION_PROTO__ENCRYPTION_ZONES;
    assert_int_equal(hdfs_answer_edek(&m, &e, NULL), -EOPNOTSUPP);
    m.suite = HADOOP__HDFS__CIPHER_SUITE_PROTO__AES_CTR_NOPADDING;
    m.cryptoprotocolversion = HADOOP__HDFS__CRYPTO_PROTOCOL_VERSION_PROTO__UNKNOWN_PROTOCOL_VERSION;
    assert_int_equal(hdfs_answer_edek(&m, &e, NULL), -EOPNOTSUPP);
}

static void test_exception(void **state)
{
    (void)state;
    assert_int_equal(hdfs_answer_exception("java.io.FileNotFoundException"), -ENOENT);
    assert_int_equal(hdfs_answer_exception("ParentNotDirectoryException"), -ENOTDIR);
    assert_int_equal(
        hdfs_answer_exception("org.apache.hadoop.security.token.SecretManager$InvalidToken"),
        -EKEYREJECTED);
    assert_int_equal(hdfs_answer_exception("AuthorizationException"), -EACCES);
    assert_int_equal(hdfs_answer_exception("java.io.IOException"), -EREMOTEIO);
    assert_int_equal(hdfs_answer_exception("InvalidToken."), -EREMOTEIO);
    assert_int_equal(hdfs_answer_exception(NULL), -EREMOTEIO);
}

static int data_key(const char *pool, size_t n_nonce, size_t n_key, struct hdfs_data_key *ret)
{
    static uint8_t bytes[HDFS_DATA_KEY_MAX + 1] = { 0xff, 0xfe, 0xfd };
    Hadoop__Hdfs__DataEncryptionKeyProto m = HADOOP__HDFS__DATA_ENCRYPTION_KEY_PROTO__INIT;

    m.keyid = 0xfffffffe; /* -2 */
    m.blockpoolid = (char *)(uintptr_t)pool;
    m.nonce = (ProtobufCBinaryData){ n_nonce, bytes };
    m.encryptionkey = (ProtobufCBinaryData){ n_key, bytes };
    m.expirydate = UINT64_MAX;
    return hdfs_answer_data_key(&m, ret, NULL);
}

static void test_data_key(void **state)
{
    char pool[HDFS_POOL_MAX + 2];
    struct hdfs_data_key k;

    (void)state;
    assert_int_equal(data_key("BP-1-10.0.0.1-2", 3, 3, &k), 0);
    assert_string_equal(k.user, "-2 BP-1-10.0.0.1-2 //79");
    assert_string_equal(k.password, "//79");
    assert_true(k.until_ms == INT64_MAX);
    memset(pool, 'p', sizeof(pool) - 1);
    pool[sizeof(pool) - 1] = 0;
    assert_int_equal(data_key(pool, 1, 1, &k), -EBADMSG);
    pool[HDFS_POOL_MAX] = 0;
    assert_int_equal(data_key(pool, HDFS_NONCE_MAX, HDFS_DATA_KEY_MAX, &k), 0);
    assert_int_equal(strlen(k.user), 3 + HDFS_POOL_MAX + 1 + 88);
    assert_int_equal(strlen(k.password), 88);
    assert_int_equal(data_key("", 1, 1, &k), -EBADMSG);
    assert_int_equal(data_key("a b", 1, 1, &k), -EBADMSG);
    assert_int_equal(data_key("a\"", 1, 1, &k), -EBADMSG);
    assert_int_equal(data_key("a\\", 1, 1, &k), -EBADMSG);
    assert_int_equal(data_key("a\xc3\xa4", 1, 1, &k), -EBADMSG);
    assert_int_equal(data_key("a", 0, 1, &k), -EBADMSG);
    assert_int_equal(data_key("a", HDFS_NONCE_MAX + 1, 1, &k), -EBADMSG);
    assert_int_equal(data_key("a", 1, 0, &k), -EBADMSG);
    assert_int_equal(data_key("a", 1, HDFS_DATA_KEY_MAX + 1, &k), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_owner),
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_listing_of_file),
        cmocka_unit_test(test_exception),
        cmocka_unit_test(test_data_key),
        cmocka_unit_test(test_edek),
        cmocka_unit_test_setup(test_blocks, fill),
        cmocka_unit_test_setup(test_bad_blocks, fill),
        cmocka_unit_test_setup(test_stripes, fill),
        cmocka_unit_test_setup(test_groups, fill),
        cmocka_unit_test_setup(test_unsupported, fill),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
