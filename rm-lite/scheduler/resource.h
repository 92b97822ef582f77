/* Arithmetic on memory, virtual cores and the types of resource-types.xml, and Hadoop's two
 * resource calculators. Pure. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_RESOURCE_H
#define SELVEDGE_RM_LITE_SCHEDULER_RESOURCE_H

#include <math.h>

#include "common/base.h"
#include "wire/ids.h"

#define RM_RES_EXTRA                                                                               \
    2 /* types beside memory and vcores; every container and node has fields for them */

#define RM_RES_MB_MAX (INT64_C(1) << 40) /* of a node: sums over millions of them are exact */

struct rm_res {  /* sums of many resources, so all fields are 64 bits; may go below zero */
    int64_t mem; /* MB */
    int64_t vcores;
    int64_t extra[RM_RES_EXTRA]; /* by yarn.resource-types: resource-types.h */
};

/* yarn.scheduler.capacity.resource-calculator */
enum rm_calculator {
    RM_CALC_DOMINANT, /* DominantResourceCalculator: the largest share of all types */
    RM_CALC_MEMORY,   /* DefaultResourceCalculator: memory, and a node's other types */
};

/* Field by field; the loop over two is unrolled by hand, as these run for each ask at each node. */
#define RM_RES_EACH(f, a, b)                                                                       \
    (struct rm_res)                                                                                \
    {                                                                                              \
        f((a).mem, (b).mem), f((a).vcores, (b).vcores),                                            \
        {                                                                                          \
            f((a).extra[0], (b).extra[0]), f((a).extra[1], (b).extra[1])                           \
        }                                                                                          \
    }
_Static_assert(RM_RES_EXTRA == 2, "RM_RES_EACH");

static inline int64_t rm_plus(int64_t a, int64_t b)
{
    return a + b;
}
static inline int64_t rm_minus(int64_t a, int64_t b)
{
    return a - b;
}
static inline int64_t rm_less(int64_t a, int64_t b)
{
    return SV_MIN(a, b);
}
static inline int64_t rm_more(int64_t a, int64_t b)
{
    return SV_MAX(a, b);
}
static inline int64_t rm_round_up(int64_t v, int64_t step)
{
    return step <= 0 ? v : (v + step - 1) / step * step;
}
static inline int64_t rm_round_down(int64_t v, int64_t step)
{
    return step <= 0 ? v : v / step * step;
}
static inline int64_t rm_scaled(int64_t v, double f)
{
    return v == 0 ? 0 : (int64_t)floor((double)v * f + 1e-6);
}
static inline int64_t rm_scaled_up(int64_t v, double f)
{
    return v == 0 ? 0 : (int64_t)ceil((double)v * f - 1e-6);
}
static inline double rm_part(int64_t v, int64_t total)
{
    return total > 0 && v != 0 ? (double)v / (double)total : 0;
}

static inline struct rm_res rm_res_add(struct rm_res a, struct rm_res b)
{
    return RM_RES_EACH(rm_plus, a, b);
}
static inline struct rm_res rm_res_sub(struct rm_res a, struct rm_res b)
{
    return RM_RES_EACH(rm_minus, a, b);
}
static inline struct rm_res rm_res_min(struct rm_res a, struct rm_res b)
{
    return RM_RES_EACH(rm_less, a, b);
}
static inline struct rm_res rm_res_max(struct rm_res a, struct rm_res b)
{
    return RM_RES_EACH(rm_more, a, b);
}
static inline struct rm_res rm_res_round_up(struct rm_res a, struct rm_res step)
{
    return RM_RES_EACH(rm_round_up, a, step);
}
static inline struct rm_res rm_res_round_down(struct rm_res a, struct rm_res step)
{
    return RM_RES_EACH(rm_round_down, a, step);
}
static inline struct rm_res rm_res_times(struct rm_res a, int64_t n)
{
    return (struct rm_res){ a.mem * n, a.vcores * n, { a.extra[0] * n, a.extra[1] * n } };
}
static inline struct rm_res rm_res_scale(struct rm_res a, double f) /* rounded down */
{
    return (struct rm_res){ rm_scaled(a.mem, f),
                            rm_scaled(a.vcores, f),
                            { rm_scaled(a.extra[0], f), rm_scaled(a.extra[1], f) } };
}
static inline struct rm_res rm_res_scale_up(struct rm_res a, double f) /* rounded up */
{
    return (struct rm_res){ rm_scaled_up(a.mem, f),
                            rm_scaled_up(a.vcores, f),
                            { rm_scaled_up(a.extra[0], f), rm_scaled_up(a.extra[1], f) } };
}
static inline bool rm_res_equal(struct rm_res a, struct rm_res b)
{
    return a.mem == b.mem && a.vcores == b.vcores && a.extra[0] == b.extra[0] &&
           a.extra[1] == b.extra[1];
}
static inline bool rm_res_is_zero(struct rm_res a)
{
    return rm_res_equal(a, (struct rm_res){ 0 });
}
/* True if `need` fits into `space`. The memory calculator ignores vcores; both compare the other
 * types, whose devices cannot be shared. */
static inline bool rm_res_fits(enum rm_calculator c, struct rm_res need, struct rm_res space)
{
    return need.mem <= space.mem && (c == RM_CALC_MEMORY || need.vcores <= space.vcores) &&
           need.extra[0] <= space.extra[0] && need.extra[1] <= space.extra[1];
}
/* True if an amount that the calculator compares is above zero. */
static inline bool rm_res_some(enum rm_calculator c, struct rm_res a)
{
    return !rm_res_fits(c, a, (struct rm_res){ 0 });
}
/* The share of `total` that `a` is: the largest of all types with the dominant calculator. */
static inline double rm_res_share(enum rm_calculator c, struct rm_res a, struct rm_res total)
{
    double m = rm_part(a.mem, total.mem), e;

    if (c == RM_CALC_MEMORY)
        return m;
    e = SV_MAX(rm_part(a.extra[0], total.extra[0]), rm_part(a.extra[1], total.extra[1]));
    m = SV_MAX(m, rm_part(a.vcores, total.vcores));
    return SV_MAX(m, e);
}

#endif
