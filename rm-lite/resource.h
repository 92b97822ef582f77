/* Arithmetic on memory and virtual cores, and Hadoop's two resource calculators. Pure. */
#ifndef SELVEDGE_RM_LITE_RESOURCE_H
#define SELVEDGE_RM_LITE_RESOURCE_H

#include <math.h>

#include "common/base.h"
#include "wire/ids.h"

struct rm_res {  /* sums of many resources, so both fields are 64 bits; may go below zero */
    int64_t mem; /* MB */
    int64_t vcores;
};

/* yarn.scheduler.capacity.resource-calculator */
enum rm_calculator {
    RM_CALC_DOMINANT, /* DominantResourceCalculator: the larger share of memory and vcores */
    RM_CALC_MEMORY,   /* DefaultResourceCalculator: memory alone */
};

static inline struct rm_res rm_res_of(struct yarn_resource r)
{
    return (struct rm_res){ .mem = r.memory_mb, .vcores = r.vcores };
}
static inline struct yarn_resource rm_res_to_yarn(struct rm_res r)
{
    int64_t vc = SV_MAX(SV_MIN(r.vcores, (int64_t)INT32_MAX), (int64_t)INT32_MIN);
    return (struct yarn_resource){ .memory_mb = r.mem, .vcores = (int32_t)vc };
}
static inline struct rm_res rm_res_add(struct rm_res a, struct rm_res b)
{
    return (struct rm_res){ a.mem + b.mem, a.vcores + b.vcores };
}
static inline struct rm_res rm_res_sub(struct rm_res a, struct rm_res b)
{
    return (struct rm_res){ a.mem - b.mem, a.vcores - b.vcores };
}
static inline struct rm_res rm_res_min(struct rm_res a, struct rm_res b)
{
    return (struct rm_res){ SV_MIN(a.mem, b.mem), SV_MIN(a.vcores, b.vcores) };
}
static inline struct rm_res rm_res_max(struct rm_res a, struct rm_res b)
{
    return (struct rm_res){ SV_MAX(a.mem, b.mem), SV_MAX(a.vcores, b.vcores) };
}
static inline struct rm_res rm_res_times(struct rm_res a, int64_t n)
{
    return (struct rm_res){ a.mem * n, a.vcores * n };
}
static inline struct rm_res rm_res_scale(struct rm_res a, double f) /* rounded down */
{
    return (struct rm_res){ (int64_t)floor((double)a.mem * f + 1e-6),
                            (int64_t)floor((double)a.vcores * f + 1e-6) };
}
static inline struct rm_res rm_res_scale_up(struct rm_res a, double f) /* rounded up */
{
    return (struct rm_res){ (int64_t)ceil((double)a.mem * f - 1e-6),
                            (int64_t)ceil((double)a.vcores * f - 1e-6) };
}
static inline bool rm_res_is_zero(struct rm_res a)
{
    return a.mem == 0 && a.vcores == 0;
}
static inline bool rm_res_equal(struct rm_res a, struct rm_res b)
{
    return a.mem == b.mem && a.vcores == b.vcores;
}
/* Whether `need` fits into `space`. The memory calculator ignores vcores. */
static inline bool rm_res_fits(enum rm_calculator c, struct rm_res need, struct rm_res space)
{
    return need.mem <= space.mem && (c == RM_CALC_MEMORY || need.vcores <= space.vcores);
}
static inline int64_t rm_round_up(int64_t v, int64_t step)
{
    return step <= 0 ? v : (v + step - 1) / step * step;
}
static inline struct rm_res rm_res_round_up(struct rm_res a, struct rm_res step)
{
    return (struct rm_res){ rm_round_up(a.mem, step.mem), rm_round_up(a.vcores, step.vcores) };
}
static inline struct rm_res rm_res_round_down(struct rm_res a, struct rm_res step)
{
    return (struct rm_res){ step.mem > 0 ? a.mem / step.mem * step.mem : a.mem,
                            step.vcores > 0 ? a.vcores / step.vcores * step.vcores : a.vcores };
}
/* The share of `total` that `a` is: the larger of both with the dominant calculator. */
static inline double rm_res_share(enum rm_calculator c, struct rm_res a, struct rm_res total)
{
    double m = total.mem > 0 ? (double)a.mem / (double)total.mem : 0;
    double v = total.vcores > 0 ? (double)a.vcores / (double)total.vcores : 0;

    return c == RM_CALC_MEMORY ? m : SV_MAX(m, v);
}

#endif
