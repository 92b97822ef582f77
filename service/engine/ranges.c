/* See ranges.h. */
#include "service/engine/ranges.h"

#include <stdlib.h>

static int by_first(const void *a, const void *b)
{
    const struct svc_range *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

/* Appends, to the last range where they meet. */
static size_t append(struct svc_range *list, size_t n, int32_t first, int32_t last)
{
    if (last < first)
        return n;
    if (n && (int64_t)first <= (int64_t)list[n - 1].last + 1) {
        list[n - 1].last = SV_MAX(list[n - 1].last, last);
        return n;
    }
    list[n] = (struct svc_range){ first, last };
    return n + 1;
}

size_t svc_ranges_coalesce(struct svc_range *list, size_t n)
{
    size_t kept = 0;

    if (n)
        qsort(list, n, sizeof(*list), by_first);
    for (size_t i = 0; i < n; i++)
        kept = append(list, kept, list[i].first, list[i].last);
    return kept;
}

size_t svc_ranges_intersect(const struct svc_range *a, size_t n_a, const struct svc_range *b,
                            size_t n_b, struct svc_range *ret)
{
    size_t n = 0;

    for (size_t i = 0, k = 0; i < n_a && k < n_b;) {
        n = append(ret, n, SV_MAX(a[i].first, b[k].first), SV_MIN(a[i].last, b[k].last));
        if (a[i].last < b[k].last)
            i++;
        else
            k++;
    }
    return n;
}

size_t svc_ranges_subtract(const struct svc_range *a, size_t n_a, const struct svc_range *b,
                           size_t n_b, struct svc_range *ret)
{
    size_t n = 0, k = 0;

    for (size_t i = 0; i < n_a; i++) {
        int64_t from = a[i].first;

        while (k < n_b && b[k].last < a[i].first)
            k++;
        for (size_t j = k; j < n_b && b[j].first <= a[i].last; j++) {
            if (b[j].first > from)
                n = append(ret, n, (int32_t)from, b[j].first - 1);
            from = SV_MAX(from, (int64_t)b[j].last + 1);
        }
        if (from <= a[i].last)
            n = append(ret, n, (int32_t)from, a[i].last);
    }
    return n;
}

size_t svc_ranges_add(const struct svc_range *a, size_t n_a, const struct svc_range *b, size_t n_b,
                      struct svc_range *ret)
{
    size_t n = 0;

    for (size_t i = 0, k = 0; i < n_a || k < n_b;) {
        const struct svc_range *next =
            k == n_b || (i < n_a && a[i].first <= b[k].first) ? &a[i++] : &b[k++];

        n = append(ret, n, next->first, next->last);
    }
    return n;
}

bool svc_ranges_fit(const struct svc_range *a, size_t n_a, const struct svc_range *b, size_t n_b)
{
    for (size_t i = 0, k = 0; i < n_a; i++) {
        while (k < n_b && b[k].last < a[i].first)
            k++;
        if (k == n_b || b[k].first > a[i].first || b[k].last < a[i].last)
            return false;
    }
    return true;
}

int64_t svc_ranges_count(const struct svc_range *a, size_t n_a)
{
    int64_t n = 0;

    for (size_t i = 0; i < n_a; i++)
        n += (int64_t)a[i].last - a[i].first + 1;
    return n;
}

int64_t svc_ranges_count_from(const struct svc_range *a, size_t n_a, int32_t from)
{
    int64_t n = 0;

    for (size_t i = 0; i < n_a; i++)
        if (a[i].last >= from)
            n += (int64_t)a[i].last - SV_MAX(a[i].first, from) + 1;
    return n;
}

size_t svc_ranges_pick(const struct svc_range *a, size_t n_a, int64_t count, int32_t min,
                       uint64_t random, struct svc_range *ret)
{
    int64_t top = n_a ? a[n_a - 1].last : 0, base;
    size_t n = 0;

    if (count <= 0 || svc_ranges_count_from(a, n_a, min) < count)
        return 0;
    base = min + (int64_t)(random % (uint64_t)(SV_MAX(top - min, 0) + 1));
    while (svc_ranges_count_from(a, n_a, (int32_t)base) < count)
        base = min + (base - min) / 2;
    for (size_t i = 0; i < n_a && count; i++) {
        int64_t first = SV_MAX((int64_t)a[i].first, base);
        int64_t last = SV_MIN((int64_t)a[i].last, first + count - 1);

        if (last < first)
            continue;
        n = append(ret, n, (int32_t)first, (int32_t)last);
        count -= last - first + 1;
    }
    return n;
}

/* ---- GPUs ------------------------------------------------------------------------------------*/

int32_t svc_gpus_count(uint64_t mask)
{
    return __builtin_popcountll(mask);
}

uint64_t svc_gpus_lowest(uint64_t mask, int32_t n)
{
    uint64_t lowest = 0;

    if (n < 0 || n > svc_gpus_count(mask))
        return 0;
    for (; n > 0; n--) {
        uint64_t bit = mask & -mask;

        lowest |= bit;
        mask ^= bit;
    }
    return lowest;
}

struct svc_gpus svc_gpus_add(struct svc_gpus a, struct svc_gpus b)
{
    struct svc_gpus sum = { .mask = a.mask | b.mask };

    sum.n = a.mask && b.mask ? svc_gpus_count(sum.mask)
                             : (int32_t)SV_MIN((int64_t)a.n + b.n, (int64_t)INT32_MAX);
    return sum;
}

struct svc_gpus svc_gpus_subtract(struct svc_gpus a, struct svc_gpus b)
{
    struct svc_gpus rest = { .mask = a.mask & ~b.mask };

    rest.n = a.mask && b.mask ? svc_gpus_count(rest.mask) : SV_MAX(a.n - b.n, 0);
    return rest;
}
