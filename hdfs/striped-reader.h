/* Reads a block group of a striped file, a band of stripes at a time: the units' bytes, and those
 * of a unit that no DataNode delivers from the others. Hostile: DataNodes, whose bytes are checked
 * against their checksums before they are used. */
#ifndef SELVEDGE_HDFS_STRIPED_READER_H
#define SELVEDGE_HDFS_STRIPED_READER_H

#include "hdfs/node-set.h"
#include "hdfs/striped-layout.h"

struct hdfs_striped_read {
    struct hdfs_stripes stripes;                  /* checked by hdfs_answer_stripes() */
    const Hadoop__Hdfs__LocatedBlockProto *group; /* checked by hdfs_answer_blocks() */
    const struct hdfs_access *access;
    hdfs_sink sink;
    void *userdata;
    struct hdfs_node_set *dead; /* not asked; those that fail are added */
    bool renewed;               /* a refused block token is its DataNode's failure */
    uint64_t corrupt;           /* of the group's locations, by their numbers: corrupt */
    uint64_t done;              /* bytes of the group passed to the sink; a read continues there */
    uint64_t end;               /* > done */
    int sink_error;             /* error returned by the sink, or 0 */
};

/* Reads from `done` to `end`. -ESTALE: a block token has expired; -EIO: too few units; -ENOMEM; or
 * the sink's error. */
int hdfs_striped_read(struct hdfs_striped_read *r, struct sv_error *err) _must_use_;
/* The unit of a location as a block of its own, for READ_BLOCK and reports; the three point into
 * each other and into the group. */
struct hdfs_unit_block {
    Hadoop__Hdfs__ExtendedBlockProto block;
    Hadoop__Hdfs__LocatedBlockProto located;
};
void hdfs_striped_unit(const struct hdfs_stripes *s, const Hadoop__Hdfs__LocatedBlockProto *group,
                       size_t location, struct hdfs_unit_block *ret);

#endif
