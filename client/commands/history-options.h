/* Options of `selvedge history` without a short form. */
#ifndef SELVEDGE_CLIENT_COMMANDS_HISTORY_OPTIONS_H
#define SELVEDGE_CLIENT_COMMANDS_HISTORY_OPTIONS_H

#include "client/core/commands.h"

enum { HISTORY_OPT_SINCE = CLI_OPT_OWN, HISTORY_OPT_UNTIL, HISTORY_OPT_BY };

#endif
