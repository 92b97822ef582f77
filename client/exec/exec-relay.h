/* A session from this terminal or these pipes, until its program has ended. Hostile: the program's
 * output, which reaches the terminal as it is only where the user asked for one of the program's
 * own; messages of the node. */
#ifndef SELVEDGE_CLIENT_EXEC_EXEC_RELAY_H
#define SELVEDGE_CLIENT_EXEC_EXEC_RELAY_H

#include "client/exec/exec-connect.h"

#define CLI_EXEC_FAILED 255 /* exit code of a session that has not run */

struct cli_exec_session {
    char *const *arguments; /* NULL-terminated */
    bool input, terminal;
    bool local; /* asked of the NodeManager of this machine */
};

/* Returns the program's exit code, or CLI_EXEC_FAILED after an error message; 128 + signal when
 * this process was asked to end. */
int cli_exec_relay(struct cli_exec_link *link, const struct cli_exec_session *s);

#endif
