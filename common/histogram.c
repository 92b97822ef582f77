/* See histogram.h. */
#include "common/histogram.h"

#include <inttypes.h>

static const int64_t bounds_ms[SV_HISTOGRAM_BOUNDS] = {
    5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 20000, 30000, 60000
};

void sv_histogram_add(struct sv_histogram *h, int64_t ms)
{
    size_t i = 0;

    ms = SV_MAX(ms, (int64_t)0);
    while (i < SV_HISTOGRAM_BOUNDS && ms > bounds_ms[i])
        i++;
    h->n[i]++;
    h->sum_ms += (uint64_t)ms;
}

int sv_histogram_put(const struct sv_histogram *h, const char *name, struct sv_buf *out)
{
    uint64_t n = 0;
    int r = sv_buf_printf(out, "# TYPE %s histogram\n", name);

    for (size_t i = 0; i < SV_HISTOGRAM_BOUNDS && r >= 0; i++) {
        n += h->n[i];
        r = sv_buf_printf(out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name,
                          (double)bounds_ms[i] / 1000, n);
    }
    n += h->n[SV_HISTOGRAM_BOUNDS];
    if (r >= 0)
        r = sv_buf_printf(out,
                          "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %" PRIu64 ".%03" PRIu64
                          "\n%s_count %" PRIu64 "\n",
                          name, n, name, h->sum_ms / 1000, h->sum_ms % 1000, name, n);
    return r;
}
