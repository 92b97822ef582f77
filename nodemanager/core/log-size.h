/* Bytes of one container's files below one log directory, counted in turns: a job may make many.
 * Hostile: the container's directory. Links are not followed; lengths of files count, as in Hadoop.
 * For the directory's thread (health/log-disks.h): between two turns it holds directories open. */
#ifndef SELVEDGE_NODEMANAGER_CORE_LOG_SIZE_H
#define SELVEDGE_NODEMANAGER_CORE_LOG_SIZE_H

#include "common/base.h"
#include "wire/ids.h"

#define NM_LOG_SIZE_TURN_MS 20
#define NM_LOG_SIZE_ENTRIES 100000 /* of all directories; one with more is not counted further */
#define NM_LOG_SIZE_DEPTH 8        /* directories below each other, its own included; likewise */

struct nm_log_size;

struct nm_log_sum {
    uint64_t bytes;
    bool too_many; /* entries, or directories below each other */
    bool unread;   /* a directory that this daemon may not read: its files are missing in `bytes` */
};

struct nm_log_size *nm_log_size_new(const char *top, struct yarn_container_id id);
/* May block in close() if the last turn was not the last one. Accepts NULL, returns NULL. */
struct nm_log_size *nm_log_size_free(struct nm_log_size *s);
/* Counts for `ms`, and one entry at least. True: all is counted, and nothing open. */
bool nm_log_size_turn(struct nm_log_size *s, int64_t ms);
const struct nm_log_sum *nm_log_size_sum(const struct nm_log_size *s);

#endif
