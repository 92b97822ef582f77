/* See upload-holes.h. */
#include "logs/upload-holes.h"

#include <stdio.h>
#include <unistd.h>

/* The next hole at or after `from`: its end, 0 if there is none. */
static uint64_t next_hole(int fd, uint64_t from, uint64_t length, uint64_t *ret_at)
{
    off_t at = lseek(fd, (off_t)from, SEEK_HOLE), end;

    if (at < 0 || (uint64_t)at >= length) /* the end of a file counts as a hole */
        return 0;
    end = lseek(fd, at, SEEK_DATA); /* ENXIO: no data after it */
    *ret_at = (uint64_t)at;
    return end < 0 ? length : SV_MIN((uint64_t)end, length);
}

void logs_holes_find(int fd, uint64_t length, uint64_t *zeros, struct logs_holes *ret)
{
    uint64_t all = 0, kept = 0, at = 0, end;

    ret->n = 0;
    for (uint64_t from = 0; (end = next_hole(fd, from, length, &at)) > from; from = end) {
        uint64_t n = end - at;

        all += n;
        if (n >= LOGS_HOLE_MIN && ret->n < LOGS_HOLES_MAX)
            ret->v[ret->n++] = (struct logs_hole){ at, n, false };
        else if (kept + n <= *zeros)
            kept += n;
        else {
            ret->v[ret->n++] = (struct logs_hole){ at, length - at, true };
            break;
        }
    }
    if (all <= *zeros) {
        ret->n = 0;
        kept = all;
    }
    *zeros -= kept;
}

size_t logs_hole_line(const struct logs_hole *h, char ret[LOGS_HOLE_LINE_MAX])
{
    return (size_t)snprintf(ret, LOGS_HOLE_LINE_MAX,
                            h->rest ? "\n[the last %llu bytes of this log are not uploaded: it has "
                                      "too many holes]\n"
                                    : "\n[%llu bytes of this log are not uploaded: a hole of the "
                                      "file]\n",
                            (unsigned long long)h->n);
}

uint64_t logs_holes_length(const struct logs_holes *h, uint64_t length)
{
    char line[LOGS_HOLE_LINE_MAX];

    for (size_t i = 0; i < h->n; i++)
        length = length - h->v[i].n + logs_hole_line(&h->v[i], line);
    return length;
}
