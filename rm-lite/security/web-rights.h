/* The rights that requests of the web server show (common/web/web-rights.h): delegation tokens of
 * this ResourceManager, and proxy users by hadoop.proxyuser.*, as on 8032. Hostile: both. */
#ifndef SELVEDGE_RM_LITE_SECURITY_WEB_RIGHTS_H
#define SELVEDGE_RM_LITE_SECURITY_WEB_RIGHTS_H

#include "common/web/web-rights.h"
#include "rm-lite/core/context.h"

/* The ResourceManager must outlive them. */
void rm_web_rights_init(struct rm *rm, struct sv_web_rights *ret);

#endif
