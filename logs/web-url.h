/* Server part of a webhdfs: or swebhdfs: URL. Pure. */
#ifndef SELVEDGE_LOGS_WEB_URL_H
#define SELVEDGE_LOGS_WEB_URL_H

#include "localizer/url.h"

#define LOGS_WEB_SERVER_MAX 300 /* "https://host:port" */

/* -EINVAL: no host. */
int logs_web_server(const struct loc_url *url, char ret[LOGS_WEB_SERVER_MAX + 1],
                    struct sv_error *err) _must_use_;

#endif
