/* The frame in which Apache's NodeManager sends the text of a log: "Container: … on …", then
 * "LogLength:N", "LogContents:" and N bytes. Hostile: all of it. */
#ifndef SELVEDGE_CLIENT_LOGS_LOG_UNFRAME_H
#define SELVEDGE_CLIENT_LOGS_LOG_UNFRAME_H

#include "common/base.h"

struct cli_log_frame {
    const char *text; /* within the body */
    size_t len;       /* bytes of it that are there, `announced` at most */
    uint64_t announced;
};

/* `body`: `len` bytes with a NUL behind them. False for plain text. */
bool cli_log_unframe(const char *body, size_t len, struct cli_log_frame *ret) _must_use_;

#endif
