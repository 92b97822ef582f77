/* See striped-layout.h. */
#include "hdfs/striped-layout.h"

/* Bytes of a data unit before the group's byte at `offset`. */
static uint64_t before(const struct hdfs_stripes *s, unsigned unit, uint64_t offset)
{
    uint64_t stripe = (uint64_t)s->cell * s->data, first = (uint64_t)s->cell * unit,
             rest = offset % stripe;

    return offset / stripe * s->cell +
           (rest <= first ? 0 : SV_MIN(rest - first, (uint64_t)s->cell));
}

uint64_t hdfs_stripes_unit_length(const struct hdfs_stripes *s, uint64_t length, unsigned unit)
{
    return before(s, unit < s->data ? unit : 0, length);
}

struct hdfs_part hdfs_stripes_part(const struct hdfs_stripes *s, unsigned unit, uint64_t from,
                                   uint64_t until)
{
    return (struct hdfs_part){ before(s, unit, from), before(s, unit, until) };
}

unsigned hdfs_stripes_find(const struct hdfs_stripes *s, uint64_t offset, uint64_t *ret_at,
                           uint64_t *ret_left)
{
    uint64_t stripe = (uint64_t)s->cell * s->data, rest = offset % stripe, in_cell = rest % s->cell;

    *ret_at = offset / stripe * s->cell + in_cell;
    *ret_left = s->cell - in_cell;
    return (unsigned)(rest / s->cell);
}
