/* Every key of Hadoop's CapacitySchedulerConfiguration, and what this scheduler does with it: so
 * that nothing in capacity-scheduler.xml passes in silence. Pure. */
#ifndef SELVEDGE_RM_LITE_QUEUE_KEYS_H
#define SELVEDGE_RM_LITE_QUEUE_KEYS_H

#include "common/conf.h"
#include "common/error.h"

struct rm_queue;
struct rm_sched;

enum rm_queue_key_use {
    RM_KEY_HONOURED,
    RM_KEY_NO_MEANING, /* nothing here depends on it: a note */
    RM_KEY_IGNORED,    /* jobs run, but not as the key says: a note */
    RM_KEY_REFUSED,    /* the scheduler does not start: jobs would run where or as nobody wants */
};

struct rm_queue_key {
    const char *name;    /* behind "yarn.scheduler.capacity." or a queue's path; "x." = all below */
    bool of_queue;       /* else of the whole scheduler */
    const char *nothing; /* values that change nothing, "|" between them; NULL = none */
    enum rm_queue_key_use use;
    const char *why; /* not for RM_KEY_HONOURED: what it would do, or what to use */
};
const struct rm_queue_key *rm_queue_keys(size_t *ret_n);

/* Refuses what RM_KEY_REFUSED says, and keys that are a known one misspelt, with its name. */
int rm_queue_keys_check(struct sv_conf *conf, struct rm_queue *root, struct sv_error *err)
    _must_use_;
/* Calls `note` with a sentence for each key that is set and not honoured. */
void rm_queue_keys_notes(struct sv_conf *conf, const struct rm_sched *s,
                         void (*note)(const char *text, void *userdata), void *userdata);

#endif
