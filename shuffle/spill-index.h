/* A map output's index (file.out.index, Hadoop's SpillRecord): per reducer 24 bytes, which are
 * start, length unpacked and length in the file as big-endian longs; then the CRC32 of all records
 * as a long. Hostile: written by the job; fuzzed by fuzz-spill-index. */
#ifndef SELVEDGE_SHUFFLE_SPILL_INDEX_H
#define SELVEDGE_SHUFFLE_SPILL_INDEX_H

#include "common/base.h"
#include "common/error.h"

#define SHF_INDEX_RECORD 24u
#define SHF_INDEX_CHECKSUM 8u

struct shf_segment { /* one reducer's part of a map output */
    uint64_t start;
    uint64_t raw;  /* unpacked size, sent to the reducer */
    uint64_t part; /* bytes in the file */
};

/* Checks a whole index: length, checksum, and that the parts are consecutive without overlap. Empty
 * parts may lie anywhere. 0 or -EBADMSG. */
int shf_spill_index_check(const uint8_t *index, size_t len, struct sv_error *err) _must_use_;
/* Reads an entry of a checked index. -ERANGE: no such reducer. */
int shf_spill_index_get(const uint8_t *index, size_t len, uint32_t reduce, struct shf_segment *ret)
    _must_use_;

#endif
