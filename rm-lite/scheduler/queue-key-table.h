/* Every key of Hadoop's CapacitySchedulerConfiguration, and what this scheduler does with it. Pure:
 * for queue-keys.c and `selvedge config`. */
#ifndef SELVEDGE_RM_LITE_SCHEDULER_QUEUE_KEY_TABLE_H
#define SELVEDGE_RM_LITE_SCHEDULER_QUEUE_KEY_TABLE_H

#include "common/conf.h"

enum rm_queue_key_use {
    RM_QUEUE_KEY_HONOURED,
    RM_QUEUE_KEY_NO_MEANING, /* nothing here depends on it: a note */
    RM_QUEUE_KEY_IGNORED,    /* jobs run, but not as the key says: a note */
    RM_QUEUE_KEY_REFUSED, /* the scheduler does not start: jobs would run where or as nobody wants
                           */
};

struct rm_queue_key {
    const char *name;    /* behind "yarn.scheduler.capacity." or a queue's path; "x." = all below */
    bool of_queue;       /* else of the whole scheduler */
    const char *nothing; /* values that change nothing, "|" between them; NULL = none */
    enum rm_queue_key_use use;
    const char *why; /* not for RM_QUEUE_KEY_HONOURED: what it would do, or what to use */
    /* For RM_QUEUE_KEY_HONOURED; without a help the row is in scheduler-keys.h. No default: NULL.
     */
    enum sv_conf_type type;
    const char *def, *help;
};
const struct rm_queue_key *rm_queue_keys(size_t *ret_n);

/* Of what is behind "yarn.scheduler.capacity.", or behind a queue's path and its dot; or NULL. */
const struct rm_queue_key *rm_queue_key_find(const char *name, bool of_queue);
/* The known name that is most likely meant, or NULL. */
const char *rm_queue_key_nearest(const char *name, bool of_queue);
/* The length of the path in "root.some.queue.capacity", whether there is such a queue or not; 0:
 * not a queue's key. */
size_t rm_queue_key_path(const char *name);
/* "honoured", "ignored" … */
const char *rm_queue_key_word(enum rm_queue_key_use use);

#endif
