/* Validates answers of a NameNode before use. Pure. Hostile: every field; messages were unpacked
 * within the limits of wire/frame.h. */
#ifndef SELVEDGE_HDFS_ANSWERS_H
#define SELVEDGE_HDFS_ANSWERS_H

#include "common/arena.h"
#include "common/base.h"
#include "common/error.h"
#include "hdfs/limits.h"
#include "hdfs/striped-layout.h"
#include "proto/hdfs.pb-c.h"

enum hdfs_kind { HDFS_DIRECTORY = 1, HDFS_FILE, HDFS_SYMLINK };

struct hdfs_status {
    enum hdfs_kind kind;
    uint64_t length;
    int64_t mtime_ms;
    uint64_t id;    /* of the inode; 0: not sent */
    uint32_t mode;  /* 01777 */
    bool encrypted; /* in an encryption zone, or the zone's root */
    bool striped;   /* erasure-coded */
    uint64_t block_size;
};

/* Owner of a file. */
struct hdfs_owner {
    char user[HDFS_OWNER_MAX + 1], group[HDFS_OWNER_MAX + 1];
    bool acl; /* it has access or default entries beside its mode */
};

int hdfs_answer_status(const Hadoop__Hdfs__HdfsFileStatusProto *m, struct hdfs_status *ret,
                       struct sv_error *err) _must_use_;
/* -EBADMSG: a name is empty or longer than HDFS_OWNER_MAX. */
int hdfs_answer_owner(const Hadoop__Hdfs__HdfsFileStatusProto *m, struct hdfs_owner *ret,
                      struct sv_error *err) _must_use_;
struct hdfs_child {
    const char *name; /* one component, not "." or ".."; any bytes except NUL and '/' */
    struct hdfs_status st;
};
struct hdfs_listing {
    struct hdfs_child *children;
    size_t n;
    bool more; /* further children follow the last one, of which there is one */
};
/* Converts a part of a directory's children, in the arena. -ENOTDIR: the path is a file, which
 * NameNodes list as its own nameless child. -EBADMSG, -ENOMEM. */
int hdfs_answer_listing(const Hadoop__Hdfs__DirectoryListingProto *m, struct sv_arena *a,
                        struct hdfs_listing *ret, struct sv_error *err) _must_use_;
/* Key of encrypted data transfer, as the SASL handshake with a DataNode takes it. Secret. */
#define HDFS_DATA_KEY_USER_MAX 384 /* a number, a pool, a nonce in base64 */
struct hdfs_data_key {
    char user[HDFS_DATA_KEY_USER_MAX]; /* "KEY POOL NONCE" */
    char password[HDFS_DATA_KEY_MAX / 3 * 4 + 8];
    int64_t until_ms; /* wall time */
};
/* -EBADMSG: a part is missing, too long, or would not be one word of the user. */
int hdfs_answer_data_key(const Hadoop__Hdfs__DataEncryptionKeyProto *m, struct hdfs_data_key *ret,
                         struct sv_error *err) _must_use_;
/* The -errno of an exception, by the name of its class, with its package or without; -EREMOTEIO if
 * the class is not known, or NULL. For both protocols. */
int hdfs_answer_exception(const char *java_class);
/* Describes what is wrong with the pool, the token or the DataNodes of a block; NULL: valid. For
 * reading and writing. */
const char *hdfs_answer_bad_block(const Hadoop__Hdfs__LocatedBlockProto *b);
/* Takes an erasure coding policy, of a file's status or of its blocks; NULL: replicated. Servers
 * name their built-in policies by number alone. -EOPNOTSUPP: a codec that this client has not.
 * -EBADMSG. */
int hdfs_answer_stripes(const Hadoop__Hdfs__ErasureCodingPolicyProto *m, struct hdfs_stripes *ret,
                        struct sv_error *err) _must_use_;
/* The key of a file in an encryption zone, as the NameNode has it. */
struct hdfs_edek {
    size_t n;                  /* bytes of the key: 16, 24 or 32; 0: the file is not encrypted */
    uint8_t key[HDFS_KEY_MAX]; /* encrypted by the zone's key */
    uint8_t iv[HDFS_IV];
    char name[HDFS_KEY_NAME_MAX + 1];    /* of the zone's key: UTF-8, one component of a path */
    char version[HDFS_KEY_NAME_MAX + 1]; /* of that key, as above */
};
/* Takes the encryption of a file; NULL: it has none. -EOPNOTSUPP: a cipher that this client has
 * not. -EBADMSG. */
int hdfs_answer_edek(const Hadoop__Hdfs__FileEncryptionInfoProto *m, struct hdfs_edek *ret,
                     struct sv_error *err) _must_use_;
/* Checks the blocks from offset `from` of a file of `length` bytes: the first contains `from`, and
 * they are contiguous; those of a striped file have a unit for each location. -EOPNOTSUPP: this
 * client cannot read the file. -ESTALE: another length. -EBADMSG. */
int hdfs_answer_blocks(const Hadoop__Hdfs__LocatedBlocksProto *m, uint64_t from, uint64_t length,
                       struct sv_error *err) _must_use_;

#endif
