/* Why an application waits for the scheduler, from the diagnostics of its report: the words of
 * Hadoop's and of our ResourceManager, without the date, the state and the details around them. */
#ifndef SELVEDGE_CLIENT_VIEWS_WAITING_H
#define SELVEDGE_CLIENT_VIEWS_WAITING_H

#include "client/lib/client.h"

#define CLI_WAITING_MAX 1024

/* One line; "" if it does not wait, or nothing says why. Hostile: control characters stay. */
const char *cli_waiting_text(enum cli_app_state state, const char *diagnostics,
                             char dst[static CLI_WAITING_MAX]);

#endif
