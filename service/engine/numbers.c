/* See numbers.h. */
#include "service/engine/numbers.h"

#include <errno.h>
#include <string.h>

#include "common/oom.h"

bool svc_number_is_retired(const struct svc_numbers *ns, uint32_t number)
{
    return number < ns->n_retired && ns->retired[number / 64] >> number % 64 & 1;
}

void svc_number_retire(struct svc_numbers *ns, uint32_t number)
{
    if (number >= ns->n_retired) {
        uint32_t words = number / 64 + 1, had = ns->n_retired / 64;

        ns->retired = realloc(ns->retired, words * sizeof(*ns->retired));
        if (!ns->retired)
            sv_out_of_memory();
        memset(ns->retired + had, 0, (words - had) * sizeof(*ns->retired));
        ns->n_retired = words * 64;
    }
    ns->retired[number / 64] |= UINT64_C(1) << number % 64;
}

void svc_number_give(struct svc_numbers *ns, uint32_t number)
{
    size_t at;

    if (svc_number_is_retired(ns, number))
        return;
    if (ns->n_free + 1 >= ns->size) {
        ns->size = ns->size ? ns->size * 2 : 16;
        ns->free = realloc(ns->free, ns->size * sizeof(*ns->free));
        if (!ns->free)
            sv_out_of_memory();
    }
    for (at = ++ns->n_free; at > 1 && number < ns->free[at / 2]; at /= 2)
        ns->free[at] = ns->free[at / 2];
    ns->free[at] = number;
}

static uint32_t take_lowest(struct svc_numbers *ns)
{
    uint32_t lowest = ns->free[1], last = ns->free[ns->n_free--];
    size_t at = 1;

    for (size_t child; (child = at * 2) <= ns->n_free; at = child) {
        if (child < ns->n_free && ns->free[child + 1] < ns->free[child])
            child++;
        if (ns->free[child] >= last)
            break;
        ns->free[at] = ns->free[child];
    }
    ns->free[at] = last;
    return lowest;
}

int svc_number_take(struct svc_numbers *ns, uint32_t *ret)
{
    while (ns->n_free) {
        uint32_t number = take_lowest(ns);

        if (!svc_number_is_retired(ns, number)) {
            *ret = number;
            return 0;
        }
    }
    while (svc_number_is_retired(ns, ns->end))
        ns->end++;
    if (ns->end >= SVC_NUMBERS_MAX)
        return -ENOSPC;
    *ret = ns->end++;
    return 0;
}

void svc_number_take_at(struct svc_numbers *ns, uint32_t number)
{
    for (; ns->end < number; ns->end++)
        svc_number_give(ns, ns->end);
    if (ns->end == number)
        ns->end++;
}

void svc_numbers_free(struct svc_numbers *ns)
{
    free(ns->free);
    free(ns->retired);
    *ns = (struct svc_numbers){ 0 };
}
