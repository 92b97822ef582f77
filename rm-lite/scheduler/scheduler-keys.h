/* The scheduler-wide keys: one table row a key, for the files that read them (queue-conf.c,
 * preemption-conf.c) and for `selvedge config`. queue-key-table.h has those of a single queue. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_SCHEDULER_KEYS_H
#define SELVEDGE_RM_LITE_SCHEDULER_SCHEDULER_KEYS_H

#include "common/conf.h"

extern const struct sv_conf_key rm_key_calc, rm_key_max_apps, rm_key_queue_max_apps,
    rm_key_am_percent, rm_key_parallel, rm_key_user_parallel, rm_key_override, rm_key_offswitch,
    rm_key_multiple, rm_key_assignments, rm_key_node_delay, rm_key_rack_delay, rm_key_rack_reset,
    rm_key_look, rm_key_min_mb, rm_key_max_mb, rm_key_min_vc, rm_key_max_vc, rm_key_user_limit,
    rm_key_user_factor, rm_key_preempt_enable, rm_key_preempt_policies, rm_key_preempt_observe,
    rm_key_preempt_interval, rm_key_preempt_wait, rm_key_preempt_round, rm_key_preempt_over,
    rm_key_preempt_factor, rm_key_preempt_intra, rm_key_preempt_inside_from,
    rm_key_preempt_inside_most, rm_key_preempt_inside_order, rm_key_preempt_balance;

/* Iterates over the rows; NULL at the end. */
const struct sv_conf_key *rm_scheduler_key(size_t i);

#endif
