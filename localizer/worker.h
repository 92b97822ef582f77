/* One request of container-localizer in its own process: fetch, verify, unpack into <rel>_tmp. A
 * crash, a hang or a take-over ends with that process; the main process publishes or removes. */
#ifndef SELVEDGE_LOCALIZER_WORKER_H
#define SELVEDGE_LOCALIZER_WORKER_H

#include "common/base.h"
#include "localizer/channel.h"

/* What a worker tells the main process through its pipe, records of this size; hostile there. */
struct loc_report {
    uint8_t done;   /* 0 = progress, 1 = finished, 2 = failed */
    uint8_t reason; /* enum loc_fail of 2 */
    uint32_t entries;
    uint64_t bytes;
    char text[LOC_TEXT_MAX + 1];
};
_Static_assert(sizeof(struct loc_report) < 4096, "a report is one atomic write to a pipe");

struct loc_worker {
    pid_t pid;
    int pipe; /* reports; end of file = the process is ending */
};

/* `cache`: descriptor of the cache directory; <rel>_tmp is made beneath it, with the directories
 * above it. On failure *ret_report says why and nothing was made that must be removed. */
int loc_worker_start(const struct loc_fetch *q, int cache, struct loc_worker *ret,
                     struct loc_report *ret_report) _must_use_;
/* A process that removes <rel>_tmp; its exit status 0 = gone. */
int loc_worker_remove(const struct loc_fetch *q, int cache, struct loc_worker *ret) _must_use_;
/* <rel>_tmp becomes <rel>. */
int loc_worker_publish(const struct loc_fetch *q, int cache) _must_use_;

#endif
