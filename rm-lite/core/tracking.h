/* Tracking URLs of applications in reports. */
#ifndef SELVEDGE_RM_LITE_CORE_TRACKING_H
#define SELVEDGE_RM_LITE_CORE_TRACKING_H

#include "rm-lite/core/context.h"

/* The URL for users: the proxied one if the ApplicationMaster registered one, else the
 * application's page. `att` may not be NULL. */
void rm_tracking_url(const struct rm_attempt *att, char *buf, size_t size);
/* "http", or "https" where the daemons of the cluster serve that alone (yarn.http.policy). */
const char *rm_web_scheme(const struct rm *rm);
void rm_app_page(const struct rm_app *app, char *buf, size_t size);

#endif
