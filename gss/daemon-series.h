/* A daemon's Kerberos login as series of /metrics. */
#ifndef SELVEDGE_GSS_DAEMON_SERIES_H
#define SELVEDGE_GSS_DAEMON_SERIES_H

#include "gss/daemon.h"

struct sv_series;

/* `now_s`: of the wall clock. */
void sgss_daemon_series(struct sv_series *s, const struct sgss_daemon_state *state, int64_t now_s);

#endif
