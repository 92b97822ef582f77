/* URLs of a NodeManager's web server. */
#ifndef SELVEDGE_CLIENT_HTTP_NODE_URL_H
#define SELVEDGE_CLIENT_HTTP_NODE_URL_H

#include "common/base.h"

struct sv_conf;

/* "https" where the cluster's daemons serve that alone (yarn.http.policy), else "http"; set once,
 * by the session, for all URLs of daemons. */
void cli_scheme_set(struct sv_conf *conf);
const char *cli_scheme(void);
/* Skips the scheme of an address of a daemon: Apache's ResourceManager sends URLs. */
const char *cli_without_scheme(const char *http);
/* Percent-encodes everything but letters, digits and "-_."; malloc'd, NULL when out of memory. */
char *cli_percent_encode(const char *s) _must_use_;
/* Returns the malloc'd URL of the container `id` on the node `http` ("host:port"), followed by
 * `rest` ("/logs/stdout" or ""), with the user's name in the query, which a NodeManager with
 * yarn.acl.enable requires. */
/* "?user.name=…", percent-encoded; malloc'd. */
int cli_query_user(const char *user, char **ret) _must_use_;
int cli_node_url(const char *http, const char *id, const char *rest, const char *user, char **ret)
    _must_use_;

#endif
