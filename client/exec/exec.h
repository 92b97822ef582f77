/* The command line of `selvedge exec`. */
#ifndef SELVEDGE_CLIENT_EXEC_EXEC_H
#define SELVEDGE_CLIENT_EXEC_EXEC_H

#include "client/core/session.h"
#include "client/exec/exec-relay.h"

/* 0, or 2 after an error message. */
int cli_exec_parse(struct cli_ctx *ctx, int argc, char **argv, const char **ret_container,
                   struct cli_exec_session *ret);

#endif
