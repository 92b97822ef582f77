/* Series of a ResourceManager with Kerberos: its login, the tokens of jobs that it renews, and
 * those that it gets for users. */
#ifndef SELVEDGE_RM_LITE_WEB_KERBEROS_SERIES_H
#define SELVEDGE_RM_LITE_WEB_KERBEROS_SERIES_H

#include "rm-lite/core/context.h"

struct sv_series;

/* None without Kerberos. */
void rm_kerberos_series(struct sv_series *s, const struct rm *rm);

#endif
