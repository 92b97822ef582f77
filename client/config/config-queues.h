/* Keys of capacity-scheduler.xml for `selvedge config`. The file is the operator's. */
#ifndef SELVEDGE_CLIENT_CONFIG_CONFIG_QUEUES_H
#define SELVEDGE_CLIENT_CONFIG_CONFIG_QUEUES_H

#include "common/conf.h"
#include "rm-lite/scheduler/queue-key-table.h"

struct cli_queue_key {
    const struct rm_queue_key *row; /* NULL: not a key of the CapacityScheduler */
    char meaning[512];
    char nearest[512]; /* the full name most likely meant, or "" */
    bool no_queue;     /* the key's queue is in no "queues" list */
};

/* Returns false unless the name begins with "yarn.scheduler.capacity.". "QUEUE" stands for any
 * path. */
bool cli_config_queue_key(struct sv_conf *conf, const char *name, struct cli_queue_key *ret);

#endif
