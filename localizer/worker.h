/* One request of container-localizer in its own process: fetch, verify, unpack into <rel>_tmp. A
 * crash, a hang or a compromise is limited to that process; the main process publishes or removes
 * the entry. */
#ifndef SELVEDGE_LOCALIZER_WORKER_H
#define SELVEDGE_LOCALIZER_WORKER_H

#include "common/base.h"
#include "localizer/channel.h"

/* A worker's report to the main process through its pipe, in records of this size; hostile to the
 * reader. */
struct loc_report {
    uint8_t done;   /* 0 = progress, 1 = finished, 2 = failed */
    uint8_t reason; /* enum loc_fail if failed */
    uint8_t tree;   /* as in loc_done, if finished */
    uint32_t entries;
    uint64_t bytes;
    char text[LOC_TEXT_MAX + 1];
};
_Static_assert(sizeof(struct loc_report) < 4096, "a report is one atomic write to a pipe");

struct loc_worker {
    pid_t pid;
    int pipe; /* reports; end of file = the process is exiting */
};

/* `cache`: descriptor of the cache directory; <rel>_tmp is created beneath it, with its parents.
 * `credentials`: from loc_msg_recv_with, or -1; borrowed. On failure *ret_report holds the reason
 * and nothing needs to be removed. */
int loc_worker_start(const struct loc_fetch *q, int cache, int credentials, struct loc_worker *ret,
                     struct loc_report *ret_report) _must_use_;
/* Starts a process that removes <rel>_tmp; exit status 0 = removed. */
int loc_worker_remove(const struct loc_fetch *q, int cache, struct loc_worker *ret) _must_use_;
/* Renames <rel>_tmp to <rel>. */
int loc_worker_publish(const struct loc_fetch *q, int cache) _must_use_;

#endif
