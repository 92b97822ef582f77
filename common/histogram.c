/* See histogram.h. */
#include "common/histogram.h"

#include <inttypes.h>

static const int64_t bounds_us[SV_HISTOGRAM_BOUNDS] = { 500,       1000,      5000,      10000,
                                                        25000,     50000,     100000,    250000,
                                                        500000,    1000000,   2500000,   5000000,
                                                        10000000,  20000000,  30000000,  60000000,
                                                        300000000, 900000000, 3600000000 };

void sv_histogram_add_us(struct sv_histogram *h, int64_t us)
{
    size_t i = 0;

    us = SV_MAX(us, (int64_t)0);
    while (i < SV_HISTOGRAM_BOUNDS && us > bounds_us[i])
        i++;
    h->n[i]++;
    h->sum_us += (uint64_t)us;
}

void sv_histogram_add(struct sv_histogram *h, int64_t ms)
{
    sv_histogram_add_us(h, SV_MIN(ms, INT64_MAX / 1000) * 1000);
}

uint64_t sv_histogram_count(const struct sv_histogram *h)
{
    uint64_t n = 0;

    for (size_t i = 0; i <= SV_HISTOGRAM_BOUNDS; i++)
        n += h->n[i];
    return n;
}

/* NAME_WHAT{LABELS}, or without braces. */
static int put_total(const char *name, const char *what, const char *labels, struct sv_buf *out)
{
    return *labels ? sv_buf_printf(out, "%s_%s{%s} ", name, what, labels)
                   : sv_buf_printf(out, "%s_%s ", name, what);
}

int sv_histogram_put(const struct sv_histogram *h, const char *name, const char *labels,
                     struct sv_buf *out)
{
    const char *comma = *labels ? "," : "";
    uint64_t n = 0;
    int r = 0;

    for (size_t i = 0; i < SV_HISTOGRAM_BOUNDS && r >= 0; i++) {
        n += h->n[i];
        r = sv_buf_printf(out, "%s_bucket{%s%sle=\"%g\"} %" PRIu64 "\n", name, labels, comma,
                          (double)bounds_us[i] / 1e6, n);
    }
    n += h->n[SV_HISTOGRAM_BOUNDS];
    if (r >= 0)
        r = sv_buf_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %" PRIu64 "\n", name, labels, comma, n);
    if (r >= 0)
        r = put_total(name, "sum", labels, out);
    if (r >= 0)
        r = sv_buf_printf(out, "%" PRIu64 ".%06" PRIu64 "\n", h->sum_us / 1000000,
                          h->sum_us % 1000000);
    if (r >= 0)
        r = put_total(name, "count", labels, out);
    return r < 0 ? r : sv_buf_printf(out, "%" PRIu64 "\n", n);
}
