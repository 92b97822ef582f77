/* /logLevel, the page that `hadoop daemonlog` reads: shows what the daemon logs and, for an
 * administrator, changes it until the next restart or reload. A name of a Java class is accepted
 * and repeated, and stands for the whole daemon, which has one level. Hostile: the query. */
#ifndef SELVEDGE_COMMON_WEB_LOG_LEVEL_H
#define SELVEDGE_COMMON_WEB_LOG_LEVEL_H

#include "common/log.h"
#include "common/web/html.h"
#include "common/web/web-auth.h"

/* `site`: of the daemon's pages. `instead`: how to change it otherwise ("set KEY, and …"). Who may
 * is decided as by sv_web_is_admin(): an answer made while groups are pending does not count, and
 * has changed nothing. */
int sv_log_level_answer(const struct sv_html_site *site, const struct sv_web_auth *auth,
                        struct sv_groups *groups, const char *instead,
                        const struct sv_http_request *req, struct sv_http_response *ret) _must_use_;

/* For tests: a level of log4j's (ERROR, WARN, …) or of ours, in any case. -EINVAL. */
int sv_log_level_parse(const char *text, enum sv_log_level *ret) _must_use_;

#endif
