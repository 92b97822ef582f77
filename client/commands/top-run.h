/* Another command of `selvedge` on behalf of `top`, for the row under its cursor. */
#ifndef SELVEDGE_CLIENT_COMMANDS_TOP_RUN_H
#define SELVEDGE_CLIENT_COMMANDS_TOP_RUN_H

#include "common/base.h"

#define CLI_TOP_WORDS 64

/* Runs `selvedge [OPTIONS] COMMAND ID` on the terminal and waits for its end; its options are those
 * of this process that say which cluster and as whom (-D, --conf). An interrupt ends it alone.
 * -errno, or its exit code. */
int cli_top_run(const char *command, const char *id) _must_use_;

/* For tests: the words of such a call from those of this process; ends with NULL. `ret` keeps
 * pointers into `own`. */
void cli_top_words(char *const *own, const char *command, const char *id,
                   const char *ret[static CLI_TOP_WORDS]);

#endif
