/* Free resources, nodes and load: each member's last words on itself, and their sums. Pure.
 * Hostile: the amounts. */
#ifndef SELVEDGE_FEDERATION_AMRM_FIGURES_H
#define SELVEDGE_FEDERATION_AMRM_FIGURES_H

#include "common/arena.h"
#include "proto/yarn_service.pb-c.h"
#include "wire/ids.h"

struct fed_figure { /* of one member */
    bool known;     /* it has answered */
    bool has_limit; /* and has said: */
    struct yarn_resource limit;
    bool has_load; /* and has said: */
    int32_t pending, active_cores;
    int32_t nodes;
};

struct fed_figures {
    struct fed_figure *v; /* by member */
    size_t n;
};

void fed_figures_clear(struct fed_figures *f);
/* Replaces the member's figures. -ENOMEM. */
int fed_figures_take(struct fed_figures *f, size_t member,
                     const Hadoop__Yarn__AllocateResponseProto *m) _must_use_;
/* Forgets the member's. */
void fed_figures_drop(struct fed_figures *f, size_t member);
/* NULL: it has not answered. */
const struct fed_figure *fed_figures_of(const struct fed_figures *f, size_t member);
/* Puts the sums of all but the silent members (by index, n_silent of them) into the answer; sums
 * end at the largest number. -ENOMEM. */
int fed_figures_put(const struct fed_figures *f, const bool *silent, size_t n_silent,
                    struct sv_arena *a, Hadoop__Yarn__AllocateResponseProto *m) _must_use_;

#endif
