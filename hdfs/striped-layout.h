/* Where the bytes of a striped (erasure-coded) file are. A block group has `data` blocks of data
 * and `parity` blocks, together its units; its bytes go round the data units, a cell to each, and a
 * row of cells is a stripe. The last stripe may be short; a parity unit is as long as unit 0. Pure
 * arithmetic: of a group of at most HDFS_BLOCK_MAX bytes nothing overflows. */
#ifndef SELVEDGE_HDFS_STRIPED_LAYOUT_H
#define SELVEDGE_HDFS_STRIPED_LAYOUT_H

#include "common/base.h"

enum hdfs_codec { HDFS_REPLICATED, HDFS_CODEC_XOR, HDFS_CODEC_RS };

struct hdfs_stripes {
    enum hdfs_codec codec; /* HDFS_REPLICATED: not striped, and the rest is 0 */
    unsigned data, parity;
    uint32_t cell; /* bytes */
};

struct hdfs_part { /* bytes [from, until) of a unit */
    uint64_t from, until;
};

/* Bytes of a unit of a group that has `length` bytes of data. */
uint64_t hdfs_stripes_unit_length(const struct hdfs_stripes *s, uint64_t length, unsigned unit);
/* The part that a data unit has of the group's bytes [from, until); empty: from == until. */
struct hdfs_part hdfs_stripes_part(const struct hdfs_stripes *s, unsigned unit, uint64_t from,
                                   uint64_t until);
/* The data unit of the group's byte at `offset`, the byte's offset in it, and the bytes that are
 * left in its cell. */
unsigned hdfs_stripes_find(const struct hdfs_stripes *s, uint64_t offset, uint64_t *ret_at,
                           uint64_t *ret_left);

#endif
