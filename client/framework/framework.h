/* Options of the framework commands, for the table of commands. */
#ifndef SELVEDGE_CLIENT_FRAMEWORK_FRAMEWORK_H
#define SELVEDGE_CLIENT_FRAMEWORK_FRAMEWORK_H

#include "client/core/commands.h"

enum {
    FRAMEWORK_OPT_EXPLAIN = CLI_OPT_OWN,
    FRAMEWORK_OPT_STATES,
    FRAMEWORK_OPT_ROLE,
};

#endif
