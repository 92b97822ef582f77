/* Checksums of HDFS's data: four bytes (big-endian) per chunk. Pure. Hostile: the bytes; the caller
 * checks the lengths. */
#ifndef SELVEDGE_HDFS_CHECKSUM_H
#define SELVEDGE_HDFS_CHECKSUM_H

#include "common/base.h"

/* Values of Hadoop's ChecksumTypeProto. */
enum hdfs_checksum { HDFS_CHECKSUM_NULL = 0, HDFS_CHECKSUM_CRC32 = 1, HDFS_CHECKSUM_CRC32C = 2 };
#define HDFS_CHECKSUM_BYTES 4

/* CRC-32C (Castagnoli), using SSE 4.2 if available; the portable version never does. */
uint32_t hdfs_crc32c(const void *p, size_t n);
uint32_t hdfs_crc32c_portable(const void *p, size_t n);
/* CRC-32 as in zlib. */
uint32_t hdfs_crc32(const void *p, size_t n);

/* Verifies n bytes in chunks of `chunk` bytes, the last one possibly shorter, against their
 * checksums. 0, or -EILSEQ and the offset of the first bad chunk. */
int hdfs_checksum_verify(enum hdfs_checksum type, size_t chunk, const uint8_t *sums,
                         const uint8_t *data, size_t n, size_t *ret_bad) _must_use_;

#endif
