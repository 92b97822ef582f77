/* See node-set.h. */
#include "hdfs/node-set.h"

#include <string.h>

bool hdfs_node_set_has(const struct hdfs_node_set *s, const Hadoop__Hdfs__DatanodeInfoProto *d)
{
    char text[HDFS_NODE_TEXT_MAX];

    hdfs_datanode_text(d, text);
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->text[i], text) == 0)
            return true;
    return false;
}

void hdfs_node_set_add(struct hdfs_node_set *s, const Hadoop__Hdfs__DatanodeInfoProto *d)
{
    if (s->n < HDFS_NODE_SET_MAX && !hdfs_node_set_has(s, d))
        hdfs_datanode_text(d, s->text[s->n++]);
}
