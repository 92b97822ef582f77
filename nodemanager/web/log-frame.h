/* The lines that Hadoop's NodeManager puts around the text of a log file, and that `yarn logs`
 * prints. The name of the file is the job's. */
#ifndef SELVEDGE_NODEMANAGER_WEB_LOG_FRAME_H
#define SELVEDGE_NODEMANAGER_WEB_LOG_FRAME_H

#include "common/base.h"

struct nm_log_frame {
    const char *container, *node, *file; /* ids and name */
    uint64_t length;                     /* of the whole file */
    int64_t modified_s;
    bool running; /* the container still runs */
};

/* Both malloc'd; -ENOMEM. */
int nm_log_frame(const struct nm_log_frame *f, char **ret_before, char **ret_after) _must_use_;
/* In the form of Java's formatter: "Sun Nov 22 18:40:24 +0000 2026". */
void nm_log_time(int64_t seconds, char ret[static 64]);

#endif
