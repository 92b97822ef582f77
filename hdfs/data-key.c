/* See data-key.h. Hostile: the NameNode's answers, which answers.c checks. */
#include "hdfs/data-key.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"
#include "hdfs/namenode-call.h"
#include "wire/ipc/methods-hdfs.h"

static int ask(struct hdfs_namenode *n, struct hdfs_data_key *ret, struct sv_error *err)
{
    Hadoop__Hdfs__GetDataEncryptionKeyRequestProto q =
        HADOOP__HDFS__GET_DATA_ENCRYPTION_KEY_REQUEST_PROTO__INIT;
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const Hadoop__Hdfs__DataEncryptionKeyProto *key;
    ProtobufCMessage *m = NULL;
    int r;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "NameNode");
    r = hdfs_namenode_call(n, "getDataEncryptionKey", &q.base,
                           &hadoop__hdfs__get_data_encryption_key_response_proto__descriptor, a, &m,
                           err);
    if (r < 0)
        return r;
    key = ((const Hadoop__Hdfs__GetDataEncryptionKeyResponseProto *)m)->dataencryptionkey;
    if (!key)
        return sv_error_set(err, -EBADMSG,
                            "the NameNode demands encrypted data transfer "
                            "(dfs.encrypt.data.transfer), and gives no key for it");
    return hdfs_answer_data_key(key, ret, err);
}

int hdfs_data_key(struct hdfs_namenode *n, const struct hdfs_data_key **ret, struct sv_error *err)
{
    struct hdfs_encryption *e = hdfs_namenode_encryption(n);
    bool on = false;
    int r = e->known ? 0 : hdfs_get_server_defaults(n, &on, err);

    if (r < 0)
        return r;
    if (!e->on) {
        *ret = NULL;
        return 0;
    }
    if (!e->key.user[0] || e->key.until_ms < sv_wall_ms())
        r = ask(n, &e->key, err);
    if (r < 0)
        return r;
    *ret = &e->key;
    return 0;
}

void hdfs_data_key_forget(struct hdfs_namenode *n)
{
    explicit_bzero(&hdfs_namenode_encryption(n)->key, sizeof(struct hdfs_data_key));
}
