/* The page of the log server (yarn.log.server.url: Hadoop's JobHistoryServer) that shows a
 * container's aggregated logs; links to /node/containerlogs lead there once the node has the logs
 * no more. Called by page-route.c. Hostile: user, file, start and end, which are a request's. */
#ifndef SELVEDGE_NODEMANAGER_WEB_LOG_SERVER_H
#define SELVEDGE_NODEMANAGER_WEB_LOG_SERVER_H

#include "common/base.h"

struct nm_log_page {
    const char *server, *node, *container, *user;
    const char *file;        /* NULL: all files */
    const char *start, *end; /* of its bytes; NULL, or left out where they are no numbers */
};

/* malloc'd; every byte of user and file that could mean something in a URL is escaped. -EMSGSIZE:
 * longer than 8 KiB. */
int nm_log_server_url(const struct nm_log_page *page, char **ret) _must_use_;

#endif
