/* Numbers of a component's instances. The lowest free one is used next, so that names are those
 * that users of YARN's services know (0 to n-1), and stay within a bound whichever instance a
 * shrink removes. A retired (decommissioned) number is never used again. Pure. */
#ifndef SELVEDGE_SERVICE_ENGINE_NUMBERS_H
#define SELVEDGE_SERVICE_ENGINE_NUMBERS_H

#include "common/base.h"

#define SVC_NUMBERS_MAX 200000 /* SVC_INSTANCES_MAX in use and as many retired */

struct svc_numbers {
    uint32_t *free; /* [1..n_free], a heap, lowest first; may hold retired ones */
    size_t n_free, size;
    uint32_t end;       /* numbers from here on were never used */
    uint64_t *retired;  /* bits */
    uint32_t n_retired; /* for which bits there is room: words * 64 */
};

/* Takes the lowest; -ENOSPC: all SVC_NUMBERS_MAX are used up. */
int svc_number_take(struct svc_numbers *ns, uint32_t *ret) _must_use_;
/* Takes this one, which is at or behind `end`; those between become free. */
void svc_number_take_at(struct svc_numbers *ns, uint32_t number);
void svc_number_give(struct svc_numbers *ns, uint32_t number); /* unless it is retired */
void svc_number_retire(struct svc_numbers *ns, uint32_t number);
bool svc_number_is_retired(const struct svc_numbers *ns, uint32_t number);
void svc_numbers_free(struct svc_numbers *ns);

#endif
