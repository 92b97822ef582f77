/* The lines that each daemon logs of its login. */
#ifndef SELVEDGE_GSS_DAEMON_LOG_H
#define SELVEDGE_GSS_DAEMON_LOG_H

#include "gss/daemon.h"

/* For sgss_daemon_config.changed: why there is no ticket, or that there is one. *had_ticket is
 * false at first. */
void sgss_log_changed(const struct sgss_daemon *d, bool *had_ticket);
/* sgss_daemon_config.told. */
void sgss_log_told(const char *text, void *userdata);

#endif
