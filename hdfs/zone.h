/* Files in encryption zones: their keys, and their bytes in the clear. A key comes encrypted with
 * the file, and is decrypted by a service that the caller brings, since it is spoken to by HTTP
 * (fs/kms.h). Hostile: what the NameNode and that service answer. */
#ifndef SELVEDGE_HDFS_ZONE_H
#define SELVEDGE_HDFS_ZONE_H

#include "hdfs/crypto.h"
#include "hdfs/datanode.h"
#include "hdfs/namenode.h"

#define HDFS_KEYS_KNOWN 8

/* The keys that a client of one file system may use. */
struct hdfs_keys {
    /* Decrypts the key of a file, e->n bytes. `provider`: uri of the key provider that the NameNode
     * names, "" if it names none. Blocks. */
    int (*decrypt)(void *userdata, const char *provider, const struct hdfs_edek *e,
                   uint8_t ret[HDFS_KEY_MAX], struct sv_error *err);
    void *userdata;
    /* Private: the last ones, for files that are read in ranges. */
    struct {
        struct hdfs_edek edek;
        uint8_t key[HDFS_KEY_MAX];
    } known[HDFS_KEYS_KNOWN];
    size_t next; /* replaced with the next new one */
};
/* Overwrites the keys that it knows. */
void hdfs_keys_forget(struct hdfs_keys *k);

/* The key stream of a file from `offset` on. -EOPNOTSUPP: `k` is NULL; errors of k->decrypt. */
int hdfs_zone_open(struct hdfs_namenode *n, struct hdfs_keys *k, const struct hdfs_edek *e,
                   uint64_t offset, struct hdfs_crypto **ret, struct sv_error *err) _must_use_;

/* A read: a sink in front of the caller's, which gets the file's bytes in order and decrypts those
 * of a file that is encrypted. */
struct hdfs_zone_read {
    hdfs_sink sink;
    void *userdata;
    /* Private. */
    bool begun;
    struct hdfs_edek edek;
    struct hdfs_crypto *crypto; /* NULL: the file is not encrypted */
    uint8_t *piece;
};
/* Call it with each answer about the file before its bytes are read. `m`: its encryption, NULL if
 * it has none. `offset`: the read begins there. -ESTALE: another key than before. */
int hdfs_zone_read_begin(struct hdfs_zone_read *z, struct hdfs_namenode *n, struct hdfs_keys *k,
                         const Hadoop__Hdfs__FileEncryptionInfoProto *m, uint64_t offset,
                         struct sv_error *err) _must_use_;
/* The hdfs_sink; `userdata`: the struct hdfs_zone_read. */
int hdfs_zone_read_sink(void *userdata, const void *p, size_t n);
void hdfs_zone_read_end(struct hdfs_zone_read *z);

#endif
