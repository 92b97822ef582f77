/* Fuzzes the shuffle server's check of a map output's index: an accepted index has consecutive
 * parts. The checksum is corrected, so that the rest is reached. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "shuffle/limits.h"
#include "shuffle/spill-index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check(const uint8_t *index, size_t size)
{
    struct shf_segment s;
    uint64_t end = 0;
    uint32_t i;

    if (shf_spill_index_check(index, size, NULL) < 0)
        return;
    for (i = 0; shf_spill_index_get(index, size, i, &s) == 0; i++) {
        MUST(s.start <= INT64_MAX && s.raw <= INT64_MAX && s.part <= INT64_MAX - s.start);
        MUST(s.part == 0 || s.start >= end);
        end = s.part ? s.start + s.part : end;
    }
    MUST(i == (size - SHF_INDEX_CHECKSUM) / SHF_INDEX_RECORD && i <= SHF_PARTITIONS_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;
    uint64_t sum;

    check(data, size);
    if (size < SHF_INDEX_CHECKSUM || size > (1u << 20))
        return 0;
    copy = malloc(size);
    MUST(copy);
    memcpy(copy, data, size);
    sum = htobe64(crc32(0, copy, (unsigned)(size - SHF_INDEX_CHECKSUM)));
    memcpy(copy + size - SHF_INDEX_CHECKSUM, &sum, sizeof(sum));
    check(copy, size);
    free(copy);
    return 0;
}
