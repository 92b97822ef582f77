/* A connection's bytes in a SASL layer: int32 length, then a wrapped message, both ways; where a
 * message begins means nothing. Hostile: lengths and messages of the DataNode. */
#ifndef SELVEDGE_HDFS_WRAPPED_BYTES_H
#define SELVEDGE_HDFS_WRAPPED_BYTES_H

#include "hdfs/protected.h"

struct sasl_layer;

/* Takes the layer, also on failure. `timeout_ms`: for one receive(), over all its messages. */
int hdfs_wrapped_bytes_new(struct sasl_layer *layer, uint32_t timeout_ms,
                           struct hdfs_protected **ret) _must_use_;

#endif
