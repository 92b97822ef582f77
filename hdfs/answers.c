/* See answers.h. */
#include "hdfs/answers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "common/utf8.h"

/* Hadoop 2 has no flags field: it sets these bits above the mode (FsPermissionExtension). */
#define OLD_ACL (1u << 12)
#define OLD_ENCRYPTED (1u << 13)
#define OLD_STRIPED (1u << 14)

int hdfs_answer_status(const Hadoop__Hdfs__HdfsFileStatusProto *m, struct hdfs_status *ret,
                       struct sv_error *err)
{
    uint32_t perm = m->permission->perm, flags = m->has_flags ? m->flags : 0;

    if (m->filetype < HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__FILE_TYPE__IS_DIR ||
        m->filetype > HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__FILE_TYPE__IS_SYMLINK)
        return sv_error_set(err, -EBADMSG, "the NameNode's answer has an unknown type of file");
    if (m->length > HDFS_FILE_MAX || m->modification_time > INT64_MAX)
        return sv_error_set(err, -EBADMSG, "the NameNode's answer has an invalid length or time");
    *ret = (struct hdfs_status){
        .kind = (enum hdfs_kind)m->filetype,
        .length = m->length,
        .mtime_ms = (int64_t)m->modification_time,
        .id = m->has_fileid ? m->fileid : 0,
        .mode = perm & 01777,
        .encrypted = m->fileencryptioninfo || perm & OLD_ENCRYPTED ||
                     flags & HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__FLAGS__HAS_CRYPT,
        .striped = (m->ecpolicy && m->ecpolicy->id != 0) || perm & OLD_STRIPED ||
                   flags & HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__FLAGS__HAS_EC,
        .block_size = m->has_blocksize ? m->blocksize : 0,
    };
    return 0;
}

int hdfs_answer_owner(const Hadoop__Hdfs__HdfsFileStatusProto *m, struct hdfs_owner *ret,
                      struct sv_error *err)
{
    size_t user = strlen(m->owner), group = strlen(m->group);
    uint32_t flags = m->has_flags ? m->flags : 0;

    if (user == 0 || user > HDFS_OWNER_MAX || group > HDFS_OWNER_MAX)
        return sv_error_set(err, -EBADMSG, "the NameNode's answer has an invalid owner or group");
    memcpy(ret->user, m->owner, user + 1);
    memcpy(ret->group, m->group, group + 1);
    ret->acl = m->permission->perm & OLD_ACL ||
               flags & HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__FLAGS__HAS_ACL;
    return 0;
}

int hdfs_answer_exception(const char *java_class)
{
    static const struct {
        const char *name;
        int code;
    } known[] = {
        { "FileNotFoundException", -ENOENT },
        { "AccessControlException", -EACCES },
        { "SecurityException", -EACCES },
        { "AuthorizationException", -EACCES },
        { "UnresolvedPathException", -ELOOP },
        { "FileAlreadyExistsException", -EEXIST },
        { "ParentNotDirectoryException", -ENOTDIR },
        { "PathIsNotEmptyDirectoryException", -ENOTEMPTY },
        { "PathComponentTooLongException", -ENAMETOOLONG },
        { "NSQuotaExceededException", -EDQUOT },
        { "DSQuotaExceededException", -EDQUOT },
        { "QuotaByStorageTypeExceededException", -EDQUOT },
        { "NotReplicatedYetException", -EAGAIN },
        { "SafeModeException", -EROFS },
        { "StandbyException", -EHOSTDOWN },
        { "AuthenticationException", -EKEYREJECTED },
        { "InvalidToken", -EKEYREJECTED },
    };
    const char *name = java_class ? java_class : "";

    while (name[strcspn(name, ".$")])
        name += strcspn(name, ".$") + 1;
    for (size_t i = 0; i < SV_ARRAY_LEN(known); i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].code;
    return -EREMOTEIO;
}

/* Returns NULL if not a valid file name. */
static const char *name_of(const ProtobufCBinaryData *b, struct sv_arena *a)
{
    const char *p = (const char *)b->data;
    char *name;

    if (b->len == 0 || b->len > HDFS_NAME_MAX || memchr(p, 0, b->len) || memchr(p, '/', b->len) ||
        (p[0] == '.' && (b->len == 1 || (b->len == 2 && p[1] == '.'))))
        return NULL;
    name = sv_arena_alloc(a, b->len + 1);
    if (name) {
        memcpy(name, p, b->len);
        name[b->len] = 0;
    }
    return name;
}

int hdfs_answer_listing(const Hadoop__Hdfs__DirectoryListingProto *m, struct sv_arena *a,
                        struct hdfs_listing *ret, struct sv_error *err)
{
    struct hdfs_listing l = { .more = m->remainingentries > 0 };

    if (l.more && m->n_partiallisting == 0)
        return sv_error_set(err, -EBADMSG, "the NameNode's listing is incomplete");
    if (m->n_partiallisting == 1 && m->partiallisting[0]->path.len == 0 &&
        m->partiallisting[0]->filetype != HADOOP__HDFS__HDFS_FILE_STATUS_PROTO__FILE_TYPE__IS_DIR)
        return sv_error_set(err, -ENOTDIR, "it is no directory");
    l.children = sv_newn(a, struct hdfs_child, m->n_partiallisting + 1);
    if (!l.children)
        return sv_error_errno(err, -ENOMEM, "listing");
    for (; l.n < m->n_partiallisting; l.n++) {
        struct hdfs_child *c = &l.children[l.n];
        int r = hdfs_answer_status(m->partiallisting[l.n], &c->st, err);

        if (r < 0)
            return r;
        c->name = name_of(&m->partiallisting[l.n]->path, a);
        if (!c->name)
            return sv_error_set(err, -EBADMSG, "the NameNode's listing has an invalid file name");
    }
    *ret = l;
    return 0;
}

static const char *unsupported(const Hadoop__Hdfs__LocatedBlocksProto *m)
{
    if (m->underconstruction && !m->islastblockcomplete)
        return "is being written, and its length is not known";
    return NULL;
}

/* Copies a name that becomes one component of a url's path. */
static bool take_key_name(const char *name, char ret[HDFS_KEY_NAME_MAX + 1])
{
    size_t n = strnlen(name, HDFS_KEY_NAME_MAX + 1), len = 0;

    if (n == 0 || n > HDFS_KEY_NAME_MAX || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return false;
    for (size_t at = 0; at < n; at += len) {
        uint32_t c = 0;

        len = sv_utf8_at(name + at, n - at, &c);
        if (len == 0 || c < 0x20 || c == 0x7f || c == '/')
            return false;
    }
    memcpy(ret, name, n + 1);
    return true;
}

int hdfs_answer_edek(const Hadoop__Hdfs__FileEncryptionInfoProto *m, struct hdfs_edek *ret,
                     struct sv_error *err)
{
    struct hdfs_edek e = { 0 };

    if (!m) {
        *ret = e;
        return 0;
    }
    if (m->suite != HADOOP__HDFS__CIPHER_SUITE_PROTO__AES_CTR_NOPADDING ||
        m->cryptoprotocolversion != HADOOP__HDFS__CRYPTO_PROTOCOL_VERSION_PROTO__ENCRYPTION_ZONES)
        return sv_error_set(err, -EOPNOTSUPP,
                            "it is encrypted by cipher %d, which is not supported: "
                            "AES/CTR/NoPadding is",
                            (int)m->suite);
    if (m->key.len != 16 && m->key.len != 24 && m->key.len != HDFS_KEY_MAX)
        return sv_error_set(err, -EBADMSG,
                            "the NameNode's answer has a file's key of %zu bytes, not 16, 24 or 32",
                            m->key.len);
    if (m->iv.len != HDFS_IV || !take_key_name(m->keyname, e.name) ||
        !take_key_name(m->ezkeyversionname, e.version))
        return sv_error_set(err, -EBADMSG,
                            "the NameNode's answer has an invalid vector or name of a file's key");
    e.n = m->key.len;
    memcpy(e.key, m->key.data, e.n);
    memcpy(e.iv, m->iv.data, HDFS_IV);
    *ret = e;
    return 0;
}

static bool is_bad_token(const Hadoop__Common__TokenProto *t)
{
    return t->identifier.len > HDFS_TOKEN_MAX || t->password.len > HDFS_TOKEN_MAX ||
           strlen(t->kind) > 255 || strlen(t->service) > 255;
}

const char *hdfs_answer_bad_block(const Hadoop__Hdfs__LocatedBlockProto *b)
{
    if (strlen(b->b->poolid) > HDFS_POOL_MAX)
        return "a pool with too long a name";
    if (is_bad_token(b->blocktoken))
        return "too long a token";
    for (size_t i = 0; i < b->n_locs; i++)
        if (b->locs[i]->id->xferport == 0 || b->locs[i]->id->xferport > UINT16_MAX)
            return "a DataNode without a port";
    return NULL;
}

int hdfs_answer_stripes(const Hadoop__Hdfs__ErasureCodingPolicyProto *m, struct hdfs_stripes *ret,
                        struct sv_error *err)
{
    /* By number: SystemErasureCodingPolicies. 3 is RS-LEGACY, another code. */
    static const struct hdfs_stripes built_in[] = {
        [1] = { HDFS_CODEC_RS, 6, 3, 1u << 20 },
        [2] = { HDFS_CODEC_RS, 3, 2, 1u << 20 },
        [4] = { HDFS_CODEC_XOR, 2, 1, 1u << 20 },
        [5] = { HDFS_CODEC_RS, 10, 4, 1u << 20 },
    };
    const Hadoop__Hdfs__ECSchemaProto *schema = m ? m->schema : NULL;
    struct hdfs_stripes s = { 0 };

    if (schema) {
        s = (struct hdfs_stripes){ .data = schema->dataunits,
                                   .parity = schema->parityunits,
                                   .cell = m->has_cellsize ? m->cellsize : 0 };
        s.codec = strcmp(schema->codecname, "rs") == 0    ? HDFS_CODEC_RS
                  : strcmp(schema->codecname, "xor") == 0 ? HDFS_CODEC_XOR
                                                          : HDFS_REPLICATED;
    } else if (m && m->id < SV_ARRAY_LEN(built_in)) {
        s = built_in[m->id];
    }
    if (!m || (m->id == 0 && s.codec == HDFS_REPLICATED)) {
        *ret = (struct hdfs_stripes){ 0 };
        return 0;
    }
    if (s.codec == HDFS_REPLICATED)
        return sv_error_set(err, -EOPNOTSUPP,
                            "it is erasure-coded by policy %u, %.64s, which is not supported: rs "
                            "and xor are",
                            m->id, schema ? schema->codecname : "no codec named");
    if (s.data == 0 || s.parity == 0 || s.data > HDFS_UNITS_MAX ||
        s.parity > HDFS_UNITS_MAX - s.data || (s.codec == HDFS_CODEC_XOR && s.parity != 1) ||
        s.cell == 0 || s.cell > HDFS_CELL_MAX || s.cell % 1024 != 0)
        return sv_error_set(err, -EBADMSG,
                            "the NameNode's answer has an erasure coding policy of %u and %u "
                            "units with cells of %u bytes",
                            s.data, s.parity, s.cell);
    *ret = s;
    return 0;
}

/* A unit for each location, and a token where there are any. */
static const char *bad_group(const Hadoop__Hdfs__LocatedBlockProto *b, const struct hdfs_stripes *s)
{
    if (!b->has_blockindices || b->blockindices.len != b->n_locs)
        return "not a unit for each location";
    for (size_t i = 0; i < b->n_locs; i++)
        if (b->blockindices.data[i] >= s->data + s->parity)
            return "a unit that its policy has not";
    if (b->n_blocktokens != 0 && b->n_blocktokens != b->n_locs)
        return "not a token for each location";
    for (size_t i = 0; i < b->n_blocktokens; i++)
        if (is_bad_token(b->blocktokens[i]))
            return "too long a token";
    return NULL;
}

static const char *malformed(const Hadoop__Hdfs__LocatedBlockProto *b, const struct hdfs_stripes *s,
                             uint64_t at)
{
    const char *why = s->codec == HDFS_REPLICATED ? NULL : bad_group(b, s);

    if (why)
        return why;
    if (!b->b->has_numbytes || b->b->numbytes == 0 || b->b->numbytes > HDFS_BLOCK_MAX)
        return "a length that no block has";
    if (b->offset > HDFS_FILE_MAX || b->offset != at)
        return "another offset than the end of the one before";
    return hdfs_answer_bad_block(b);
}

int hdfs_answer_blocks(const Hadoop__Hdfs__LocatedBlocksProto *m, uint64_t from, uint64_t length,
                       struct sv_error *err)
{
    const char *why = unsupported(m);
    struct hdfs_stripes stripes;
    uint64_t at;
    int r;

    if (why)
        return sv_error_set(err, -EOPNOTSUPP, "it %s", why);
    r = hdfs_answer_stripes(m->ecpolicy, &stripes, err);
    if (r < 0)
        return r;
    if (m->filelength != length)
        return sv_error_set(err, -ESTALE,
                            "it changed while it was read: it has %llu bytes, not "
                            "%llu",
                            (unsigned long long)m->filelength, (unsigned long long)length);
    if (length == 0 && m->n_blocks == 0)
        return 0;
    if (m->n_blocks == 0 || m->n_blocks > HDFS_BLOCKS_MAX)
        return sv_error_set(err, -EBADMSG,
                            "the NameNode's answer has %zu blocks, not between 1 "
                            "and %d",
                            m->n_blocks, HDFS_BLOCKS_MAX);
    at = m->blocks[0]->offset;
    for (size_t i = 0; i < m->n_blocks; i++) {
        why = malformed(m->blocks[i], &stripes, at);
        if (why)
            return sv_error_set(err, -EBADMSG, "the NameNode's answer has a block with %s", why);
        at += m->blocks[i]->b->numbytes;
        if (at > length)
            return sv_error_set(err, -EBADMSG,
                                "the NameNode's answer has blocks beyond the end "
                                "of the file");
        if (i == 0 && (m->blocks[0]->offset > from || at <= from))
            return sv_error_set(err, -EBADMSG,
                                "the NameNode's answer does not begin at offset "
                                "%llu",
                                (unsigned long long)from);
    }
    return 0;
}

/* ---- Encrypted data transfer ---- */

/* True for letters that need no quoting. */
static bool is_word(const char *s)
{
    for (const char *c = s; *c; c++)
        if (*c <= ' ' || *c >= 0x7f || *c == '"' || *c == '\\')
            return false;
    return *s;
}

int hdfs_answer_data_key(const Hadoop__Hdfs__DataEncryptionKeyProto *m, struct hdfs_data_key *ret,
                         struct sv_error *err)
{
    _cleanup_free_ char *nonce = NULL, *password = NULL;
    struct hdfs_data_key k = { .until_ms = (int64_t)SV_MIN(m->expirydate, (uint64_t)INT64_MAX) };

    if (!is_word(m->blockpoolid) || strlen(m->blockpoolid) > HDFS_POOL_MAX || m->nonce.len == 0 ||
        m->nonce.len > HDFS_NONCE_MAX || m->encryptionkey.len == 0 ||
        m->encryptionkey.len > HDFS_DATA_KEY_MAX)
        return sv_error_set(err, -EBADMSG,
                            "the NameNode's key of encrypted data transfer is malformed");
    if (sv_base64_encode(m->nonce.data, m->nonce.len, &nonce) < 0 ||
        sv_base64_encode(m->encryptionkey.data, m->encryptionkey.len, &password) < 0)
        return sv_error_errno(err, -ENOMEM, "key of encrypted data transfer");
    /* The key's number is signed in Java, and travels as unsigned. */
    (void)snprintf(k.user, sizeof(k.user), "%d %s %s", (int)(int32_t)m->keyid, m->blockpoolid,
                   nonce);
    (void)snprintf(k.password, sizeof(k.password), "%s", password);
    explicit_bzero(password, strlen(password));
    *ret = k;
    explicit_bzero(&k, sizeof(k));
    return 0;
}
