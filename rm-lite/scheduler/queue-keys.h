/* Checks a configuration against the table of the scheduler's keys (queue-key-table.h), so that no
 * key of capacity-scheduler.xml is ignored silently. Pure. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_QUEUE_KEYS_H
#define SELVEDGE_RM_LITE_SCHEDULER_QUEUE_KEYS_H

#include "common/conf.h"
#include "common/error.h"

struct rm_queue;
struct rm_sched;

/* Refuses keys of RM_QUEUE_KEY_REFUSED, and misspelt keys, with the name that was probably
 * meant. */
int rm_queue_keys_check(struct sv_conf *conf, struct rm_queue *root, struct sv_error *err)
    _must_use_;
/* Calls `note` with a sentence for each key that is set and not honoured. */
void rm_queue_keys_notes(struct sv_conf *conf, const struct rm_sched *s,
                         void (*note)(const char *text, void *userdata), void *userdata);

#endif
