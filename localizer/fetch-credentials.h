/* Tokens of the job's credentials, for fetchers whose servers take them. In a worker process.
 * Hostile: the credentials, which the job has made. */
#ifndef SELVEDGE_LOCALIZER_FETCH_CREDENTIALS_H
#define SELVEDGE_LOCALIZER_FETCH_CREDENTIALS_H

#include "common/arena.h"
#include "common/base.h"
#include "common/error.h"

struct yarn_token;

/* A server by the names that a token may give it: "host:port" or "address:port". With port 0 `host`
 * is the service itself, such as "ha-hdfs:NAME". */
struct loc_service {
    const char *host;
    int port;
};

/* The token of this kind for one of the services, in the arena; NULL: the credentials, of
 * loc_msg_recv_with or -1, have none. */
int loc_credentials_find(int credentials, const char *kind, const struct loc_service *services,
                         size_t n, struct sv_arena *a, const struct yarn_token **ret,
                         struct sv_error *err) _must_use_;
/* As text (Token.encodeToUrlString), for one server. */
int loc_credentials_token(int credentials, const char *kind, const char *host, int port,
                          struct sv_arena *a, const char **ret, struct sv_error *err) _must_use_;

#endif
