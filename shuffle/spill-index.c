/* See spill-index.h. */
#include "shuffle/spill-index.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "shuffle/limits.h"

static uint64_t get(const uint8_t *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return be64toh(v);
}

static struct shf_segment record(const uint8_t *index, size_t i)
{
    const uint8_t *p = index + i * SHF_INDEX_RECORD;

    return (struct shf_segment){ get(p), get(p + 8), get(p + 16) };
}

int shf_spill_index_check(const uint8_t *index, size_t len, struct sv_error *err)
{
    size_t records = len >= SHF_INDEX_CHECKSUM ? len - SHF_INDEX_CHECKSUM : 0;
    uint64_t end = 0;

    if (records == 0 || records % SHF_INDEX_RECORD != 0 || len > SHF_INDEX_MAX)
        return sv_error_set(err, -EBADMSG, "an index of %zu bytes", len);
    if (get(index + records) != crc32(0, index, (unsigned)records))
        return sv_error_set(err, -EBADMSG, "the index has a wrong checksum");
    for (size_t i = 0; i < records / SHF_INDEX_RECORD; i++) {
        struct shf_segment s = record(index, i);
        uint64_t next;

        if (s.start > INT64_MAX || s.raw > INT64_MAX || s.part > INT64_MAX ||
            __builtin_add_overflow(s.start, s.part, &next) || next > INT64_MAX)
            return sv_error_set(err, -EBADMSG, "part %zu of the index is negative or too long", i);
        if (s.part > 0 && s.start < end)
            return sv_error_set(err, -EBADMSG, "part %zu of the index overlaps another", i);
        end = s.part > 0 ? next : end;
    }
    return 0;
}

int shf_spill_index_get(const uint8_t *index, size_t len, uint32_t reduce, struct shf_segment *ret)
{
    if (reduce >= (len - SHF_INDEX_CHECKSUM) / SHF_INDEX_RECORD)
        return -ERANGE;
    *ret = record(index, reduce);
    return 0;
}
