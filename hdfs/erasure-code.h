/* The codes of HDFS' erasure coding, XOR and Reed-Solomon (`rs`): missing units from those that are
 * there. The field is GF(256) over x^8 + x^4 + x^3 + x^2 + 1; a parity unit r is the sum of the
 * data units j, each times the inverse of r xor j (a Cauchy matrix), as Hadoop's RSUtil and ISA-L
 * have it. Pure: bytes in, bytes out. */
#ifndef SELVEDGE_HDFS_ERASURE_CODE_H
#define SELVEDGE_HDFS_ERASURE_CODE_H

#include "hdfs/limits.h"
#include "hdfs/striped-layout.h"

/* The units that are there: s->data of them, by ascending number, each with `len` bytes. */
struct hdfs_units {
    unsigned number[HDFS_UNITS_MAX];
    const uint8_t *bytes[HDFS_UNITS_MAX];
};

/* Writes the `len` bytes of the data unit `wanted`, which is not among `have`. -EINVAL: this code
 * cannot. */
int hdfs_erasure_decode(const struct hdfs_stripes *s, const struct hdfs_units *have,
                        unsigned wanted, uint8_t *ret, size_t len) _must_use_;

#endif
