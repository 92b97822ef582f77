/* Parses the frame in which Apache's NodeManager sends the text of a log: "Container: … on …", then
 * "LogLength:N", "LogContents:" and N bytes. Hostile: all of it. */
#ifndef SELVEDGE_CLIENT_HTTP_LOG_UNFRAME_H
#define SELVEDGE_CLIENT_HTTP_LOG_UNFRAME_H

#include "common/base.h"

struct cli_log_frame {
    const char *text; /* points into the body */
    size_t len;       /* received bytes of it, at most `announced` */
    uint64_t announced;
};

/* `body`: `len` bytes followed by a NUL. False for plain text. */
bool cli_log_unframe(const char *body, size_t len, struct cli_log_frame *ret) _must_use_;

#endif
