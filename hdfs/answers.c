/* See answers.h. */
#include "hdfs/answers.h"

#include <errno.h>
#include <string.h>

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
        .striped = m->ecpolicy || perm & OLD_STRIPED ||
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
    if (m->fileencryptioninfo)
        return "is in an encryption zone, which is not supported";
    if (m->ecpolicy)
        return "is erasure-coded, which is not supported";
    if (m->underconstruction && !m->islastblockcomplete)
        return "is being written, and its length is not known";
    return NULL;
}

const char *hdfs_answer_bad_block(const Hadoop__Hdfs__LocatedBlockProto *b)
{
    if (strlen(b->b->poolid) > HDFS_POOL_MAX)
        return "a pool with too long a name";
    if (b->blocktoken->identifier.len > HDFS_TOKEN_MAX ||
        b->blocktoken->password.len > HDFS_TOKEN_MAX || strlen(b->blocktoken->kind) > 255 ||
        strlen(b->blocktoken->service) > 255)
        return "too long a token";
    for (size_t i = 0; i < b->n_locs; i++)
        if (b->locs[i]->id->xferport == 0 || b->locs[i]->id->xferport > UINT16_MAX)
            return "a DataNode without a port";
    return NULL;
}

static const char *malformed(const Hadoop__Hdfs__LocatedBlockProto *b, uint64_t at)
{
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
    uint64_t at;

    if (why)
        return sv_error_set(err, -EOPNOTSUPP, "it %s", why);
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
        why = malformed(m->blocks[i], at);
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
