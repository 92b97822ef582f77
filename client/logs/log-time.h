/* Parses a log's modification time in the format of NodeManagers: "Thu Nov 23 07:31:11 +0000 2026".
 * Pure. Hostile: the text. */
#ifndef SELVEDGE_CLIENT_LOGS_LOG_TIME_H
#define SELVEDGE_CLIENT_LOGS_LOG_TIME_H

#include "common/base.h"

/* Seconds since 1970. -EINVAL. */
int cli_log_time_parse(const char *text, int64_t *ret) _must_use_;

#endif
