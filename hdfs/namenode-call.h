/* Calls of ClientProtocol, for namenode.c and namenode-write.c. */
#ifndef SELVEDGE_HDFS_NAMENODE_CALL_H
#define SELVEDGE_HDFS_NAMENODE_CALL_H

#include "hdfs/namenode.h"

/* A client's knowledge of the cluster's data transfer; for data-key.c. */
struct hdfs_encryption {
    bool known;               /* getServerDefaults was answered */
    bool on;                  /* DataNodes serve whoever has the NameNode's key */
    struct hdfs_data_key key; /* user "": none so far */
};
struct hdfs_encryption *hdfs_namenode_encryption(struct hdfs_namenode *n);

/* Calls a method and waits for the answer, which is allocated in `a`. */
int hdfs_namenode_call(struct hdfs_namenode *n, const char *method, const ProtobufCMessage *request,
                       const ProtobufCMessageDescriptor *response, struct sv_arena *a,
                       ProtobufCMessage **ret, struct sv_error *err) _must_use_;
/* getServerDefaults, in `a`, unchecked but for what struct hdfs_encryption takes of it. */
int hdfs_namenode_defaults(struct hdfs_namenode *n, struct sv_arena *a,
                           const Hadoop__Hdfs__FsServerDefaultsProto **ret, struct sv_error *err)
    _must_use_;

#endif
