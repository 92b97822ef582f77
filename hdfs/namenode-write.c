/* See namenode-write.h. Hostile: the answers. */
#include "hdfs/namenode-write.h"

#include <errno.h>
#include <string.h>

#include "hdfs/namenode-call.h"
#include "wire/ipc/methods-hdfs.h"

#define CREATE 1u /* CreateFlag */
#define OVERWRITE 2u
#define REPLICATION_MAX 512
#define BLOCK_SIZE_MIN 512

#define TEXT(s) ((char *)(uintptr_t)(s))

/* Calls a method whose answer is unused. */
static int simple(struct hdfs_namenode *n, const char *method, const ProtobufCMessage *q,
                  const ProtobufCMessageDescriptor *answer, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    ProtobufCMessage *m = NULL;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "NameNode");
    return hdfs_namenode_call(n, method, q, answer, a, &m, err);
}

int hdfs_get_defaults(struct hdfs_namenode *n, struct hdfs_defaults *ret, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Hdfs__FsServerDefaultsProto *d = NULL;
    int r = a ? hdfs_namenode_defaults(n, a, &d, err) : sv_error_errno(err, -ENOMEM, "NameNode");

    if (r < 0)
        return r;
    if (d->blocksize < BLOCK_SIZE_MIN || d->blocksize > HDFS_BLOCK_MAX ||
        d->blocksize % BLOCK_SIZE_MIN != 0 || d->replication == 0 ||
        d->replication > REPLICATION_MAX)
        return sv_error_set(err, -EBADMSG,
                            "the NameNode's default block size %llu or replication %u is invalid",
                            (unsigned long long)d->blocksize, d->replication);
    *ret = (struct hdfs_defaults){ .block_size = d->blocksize, .replication = d->replication };
    return 0;
}

/* ---- Namespace ---- */

int hdfs_mkdir(struct hdfs_namenode *n, const char *path, uint32_t mode, struct sv_error *err)
{
    Hadoop__Hdfs__MkdirsRequestProto q = HADOOP__HDFS__MKDIRS_REQUEST_PROTO__INIT;
    Hadoop__Hdfs__FsPermissionProto perm = HADOOP__HDFS__FS_PERMISSION_PROTO__INIT;

    perm.perm = mode;
    q.src = TEXT(path);
    q.masked = &perm;
    return simple(n, "mkdirs", &q.base, &hadoop__hdfs__mkdirs_response_proto__descriptor, err);
}

int hdfs_set_permission(struct hdfs_namenode *n, const char *path, uint32_t mode,
                        struct sv_error *err)
{
    Hadoop__Hdfs__SetPermissionRequestProto q = HADOOP__HDFS__SET_PERMISSION_REQUEST_PROTO__INIT;
    Hadoop__Hdfs__FsPermissionProto perm = HADOOP__HDFS__FS_PERMISSION_PROTO__INIT;

    perm.perm = mode;
    q.src = TEXT(path);
    q.permission = &perm;
    return simple(n, "setPermission", &q.base,
                  &hadoop__hdfs__set_permission_response_proto__descriptor, err);
}

int hdfs_set_group(struct hdfs_namenode *n, const char *path, const char *group,
                   struct sv_error *err)
{
    Hadoop__Hdfs__SetOwnerRequestProto q = HADOOP__HDFS__SET_OWNER_REQUEST_PROTO__INIT;

    q.src = TEXT(path);
    q.groupname = TEXT(group);
    return simple(n, "setOwner", &q.base, &hadoop__hdfs__set_owner_response_proto__descriptor, err);
}

int hdfs_rename(struct hdfs_namenode *n, const char *from, const char *to, struct sv_error *err)
{
    Hadoop__Hdfs__Rename2RequestProto q = HADOOP__HDFS__RENAME2_REQUEST_PROTO__INIT;

    q.src = TEXT(from);
    q.dst = TEXT(to);
    q.overwritedest = true;
    return simple(n, "rename2", &q.base, &hadoop__hdfs__rename2_response_proto__descriptor, err);
}

int hdfs_delete(struct hdfs_namenode *n, const char *path, bool tree, struct sv_error *err)
{
    Hadoop__Hdfs__DeleteRequestProto q = HADOOP__HDFS__DELETE_REQUEST_PROTO__INIT;

    q.src = TEXT(path);
    q.recursive = tree;
    return simple(n, "delete", &q.base, &hadoop__hdfs__delete_response_proto__descriptor, err);
}

/* ---- A file ---- */

int hdfs_create(struct hdfs_namenode *n, struct hdfs_lease *l, uint32_t mode,
                const struct hdfs_defaults *d, struct hdfs_edek *ret_edek, struct sv_error *err)
{
    Hadoop__Hdfs__CryptoProtocolVersionProto crypto =
        HADOOP__HDFS__CRYPTO_PROTOCOL_VERSION_PROTO__ENCRYPTION_ZONES;
    Hadoop__Hdfs__CreateRequestProto q = HADOOP__HDFS__CREATE_REQUEST_PROTO__INIT;
    Hadoop__Hdfs__FsPermissionProto perm = HADOOP__HDFS__FS_PERMISSION_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Hdfs__HdfsFileStatusProto *fs;
    ProtobufCMessage *m = NULL;
    int r;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "NameNode");
    perm.perm = mode;
    q.src = TEXT(l->path);
    q.masked = &perm;
    q.clientname = TEXT(l->client);
    q.createflag = CREATE | OVERWRITE;
    q.replication = d->replication;
    q.blocksize = d->block_size;
    q.n_cryptoprotocolversion = 1;
    q.cryptoprotocolversion = &crypto;
    r = hdfs_namenode_call(n, "create", &q.base, &hadoop__hdfs__create_response_proto__descriptor,
                           a, &m, err);
    if (r < 0)
        return r;
    fs = ((const Hadoop__Hdfs__CreateResponseProto *)m)->fs;
    if (fs && fs->ecpolicy)
        return sv_error_set(err, -EOPNOTSUPP, "%s is erasure-coded, which is not supported",
                            l->path);
    l->id = fs && fs->has_fileid ? fs->fileid : 0;
    return hdfs_answer_edek(fs ? fs->fileencryptioninfo : NULL, ret_edek, err);
}

static const char *malformed(const Hadoop__Hdfs__LocatedBlockProto *b)
{
    if (b->n_locs == 0 || b->n_locs > HDFS_REPLICAS_MAX)
        return "no DataNode, or too many";
    if (b->n_storagetypes > b->n_locs || b->n_storageids > b->n_locs)
        return "more disks than DataNodes";
    return hdfs_answer_bad_block(b);
}

int hdfs_add_block(struct hdfs_namenode *n, const struct hdfs_lease *l,
                   const Hadoop__Hdfs__ExtendedBlockProto *previous,
                   Hadoop__Hdfs__DatanodeInfoProto *const *excluded, size_t n_excluded,
                   struct sv_arena *a, const Hadoop__Hdfs__LocatedBlockProto **ret,
                   struct sv_error *err)
{
    Hadoop__Hdfs__AddBlockRequestProto q = HADOOP__HDFS__ADD_BLOCK_REQUEST_PROTO__INIT;
    const Hadoop__Hdfs__LocatedBlockProto *b;
    ProtobufCMessage *m = NULL;
    const char *why;
    int r;

    q.src = TEXT(l->path);
    q.clientname = TEXT(l->client);
    q.previous = (Hadoop__Hdfs__ExtendedBlockProto *)(uintptr_t)previous;
    q.excludenodes = (Hadoop__Hdfs__DatanodeInfoProto **)(uintptr_t)excluded;
    q.n_excludenodes = n_excluded;
    q.has_fileid = l->id != 0;
    q.fileid = l->id;
    r = hdfs_namenode_call(n, "addBlock", &q.base,
                           &hadoop__hdfs__add_block_response_proto__descriptor, a, &m, err);
    if (r < 0)
        return r;
    b = ((const Hadoop__Hdfs__AddBlockResponseProto *)m)->block;
    why = malformed(b);
    if (why)
        return sv_error_set(err, -EBADMSG, "the NameNode's answer has a block with %s", why);
    *ret = b;
    return 0;
}

int hdfs_abandon_block(struct hdfs_namenode *n, const struct hdfs_lease *l,
                       const Hadoop__Hdfs__ExtendedBlockProto *b, struct sv_error *err)
{
    Hadoop__Hdfs__AbandonBlockRequestProto q = HADOOP__HDFS__ABANDON_BLOCK_REQUEST_PROTO__INIT;

    q.b = (Hadoop__Hdfs__ExtendedBlockProto *)(uintptr_t)b;
    q.src = TEXT(l->path);
    q.holder = TEXT(l->client);
    q.has_fileid = l->id != 0;
    q.fileid = l->id;
    return simple(n, "abandonBlock", &q.base,
                  &hadoop__hdfs__abandon_block_response_proto__descriptor, err);
}

int hdfs_complete(struct hdfs_namenode *n, const struct hdfs_lease *l,
                  const Hadoop__Hdfs__ExtendedBlockProto *last, struct sv_error *err)
{
    Hadoop__Hdfs__CompleteRequestProto q = HADOOP__HDFS__COMPLETE_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    ProtobufCMessage *m = NULL;
    int r;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "NameNode");
    q.src = TEXT(l->path);
    q.clientname = TEXT(l->client);
    q.last = (Hadoop__Hdfs__ExtendedBlockProto *)(uintptr_t)last;
    q.has_fileid = l->id != 0;
    q.fileid = l->id;
    r = hdfs_namenode_call(n, "complete", &q.base,
                           &hadoop__hdfs__complete_response_proto__descriptor, a, &m, err);
    if (r == 0 && !((const Hadoop__Hdfs__CompleteResponseProto *)m)->result)
        return sv_error_set(err, -EAGAIN, "the last block of %s has too few replicas", l->path);
    return r;
}

int hdfs_renew_lease(struct hdfs_namenode *n, const char *client, struct sv_error *err)
{
    Hadoop__Hdfs__RenewLeaseRequestProto q = HADOOP__HDFS__RENEW_LEASE_REQUEST_PROTO__INIT;

    q.clientname = TEXT(client);
    return simple(n, "renewLease", &q.base, &hadoop__hdfs__renew_lease_response_proto__descriptor,
                  err);
}
