/* Every key of Hadoop's CapacitySchedulerConfiguration, and its use by this scheduler. Pure: for
 * queue-keys.c and `selvedge config`. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_QUEUE_KEY_TABLE_H
#define SELVEDGE_RM_LITE_SCHEDULER_QUEUE_KEY_TABLE_H

#include "common/conf.h"

enum rm_queue_key_use {
    RM_QUEUE_KEY_HONOURED,
    RM_QUEUE_KEY_NO_MEANING, /* nothing in this scheduler depends on it: a note */
    RM_QUEUE_KEY_IGNORED,    /* jobs run, but not as the key demands: a note */
    RM_QUEUE_KEY_REFUSED,    /* the scheduler does not start: wrong queue or user for jobs */
};

struct rm_queue_key {
    const char *name;    /* after "yarn.scheduler.capacity." or a queue's path; "x." = all below */
    bool of_queue;       /* false: scheduler-wide */
    const char *nothing; /* values without effect, "|" between them; NULL = none */
    enum rm_queue_key_use use;
    const char *why; /* not for RM_QUEUE_KEY_HONOURED: its effect in Hadoop, or its replacement */
    /* Only for RM_QUEUE_KEY_HONOURED; a row without help is in scheduler-keys.h. No default:
     * NULL. */
    enum sv_conf_type type;
    const char *def, *help;
};
const struct rm_queue_key *rm_queue_keys(size_t *ret_n);

/* `name`: suffix of "yarn.scheduler.capacity.", or of a queue's path and its dot. NULL: unknown. */
const struct rm_queue_key *rm_queue_key_find(const char *name, bool of_queue);
/* The known name with the smallest edit distance, or NULL. */
const char *rm_queue_key_nearest(const char *name, bool of_queue);
/* Length of the path in "root.some.queue.capacity", whether the queue exists or not; 0: not a
 * queue's key. */
size_t rm_queue_key_path(const char *name);
/* "honoured", "ignored" … */
const char *rm_queue_key_word(enum rm_queue_key_use use);

#endif
