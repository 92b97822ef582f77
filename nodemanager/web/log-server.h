/* URLs of aggregated logs: of the log server's page (yarn.log.server.url: Hadoop's
 * JobHistoryServer), target of /node/containerlogs once the node no longer has the logs, and of its
 * REST (yarn.log.server.web-service.url). Hostile: user, file, start, end and queries, which come
 * from a request. */
#ifndef SELVEDGE_NODEMANAGER_WEB_LOG_SERVER_H
#define SELVEDGE_NODEMANAGER_WEB_LOG_SERVER_H

#include "common/base.h"

struct nm_log_page {
    const char *server, *node, *container, *user;
    const char *file;        /* NULL: all files */
    const char *start, *end; /* byte offsets; NULL, or dropped if they are not numbers */
};

/* malloc'd; every byte of user and file with a meaning in a URL is escaped. -EMSGSIZE: longer than
 * 8 KiB. */
int nm_log_server_url(const struct nm_log_page *page, char **ret) _must_use_;

struct nm_log_query {
    const char *name, *value; /* without a value it is left out */
};
/* As above: SERVICE/containers/CONTAINER/logs[/FILE]?QUERY. `query` ends without a name. */
int nm_log_service_url(const char *service, const char *container, const char *file,
                       const struct nm_log_query *query, char **ret) _must_use_;

#endif
