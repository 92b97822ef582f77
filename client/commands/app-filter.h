/* Options of `ps` that select applications: --user, --queue, --state, --type, --tag, each a list of
 * names with commas. */
#ifndef SELVEDGE_CLIENT_COMMANDS_APP_FILTER_H
#define SELVEDGE_CLIENT_COMMANDS_APP_FILTER_H

#include "client/core/session.h"

enum { APP_FILTER_TAG = 300 /* CLI_OPT_OWN */ };

/* Takes the option `letter` with its value, which is cut up in place and must outlive the filter.
 * 0; 2 after an error message; -1: not an option of a filter. */
_must_use_ int cli_app_filter_option(struct cli_app_filter *f, int letter, char *value);

#endif
