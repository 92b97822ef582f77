/* The key of encrypted data transfer: with dfs.encrypt.data.transfer on the NameNode's side,
 * DataNodes serve whoever has it. Kept with the client of the NameNode until it expires. */
#ifndef SELVEDGE_HDFS_DATA_KEY_H
#define SELVEDGE_HDFS_DATA_KEY_H

#include "hdfs/namenode.h"

/* *ret: NULL where the cluster encrypts no data transfer; else valid until the next call. The
 * NameNode is asked by the first call, and where the key has expired. */
int hdfs_data_key(struct hdfs_namenode *n, const struct hdfs_data_key **ret, struct sv_error *err)
    _must_use_;
/* A DataNode does not know the key: the next call asks for another one. */
void hdfs_data_key_forget(struct hdfs_namenode *n);

#endif
