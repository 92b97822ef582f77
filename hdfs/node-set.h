/* A set of DataNodes by their addresses: those that failed, which a read does not use again. */
#ifndef SELVEDGE_HDFS_NODE_SET_H
#define SELVEDGE_HDFS_NODE_SET_H

#include "hdfs/datanode.h"

#define HDFS_NODE_SET_MAX 64 /* further ones are not kept */

struct hdfs_node_set { /* zeroed: empty */
    char text[HDFS_NODE_SET_MAX][HDFS_NODE_TEXT_MAX];
    size_t n;
};

bool hdfs_node_set_has(const struct hdfs_node_set *s, const Hadoop__Hdfs__DatanodeInfoProto *d);
void hdfs_node_set_add(struct hdfs_node_set *s, const Hadoop__Hdfs__DatanodeInfoProto *d);

#endif
