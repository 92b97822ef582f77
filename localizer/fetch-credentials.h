/* Finds tokens in the job's credentials, for fetchers whose servers accept them. Runs in a worker
 * process. Hostile: the credentials, which the job created. */
#ifndef SELVEDGE_LOCALIZER_FETCH_CREDENTIALS_H
#define SELVEDGE_LOCALIZER_FETCH_CREDENTIALS_H

#include "common/arena.h"
#include "common/base.h"
#include "common/error.h"

struct yarn_token;

/* Names of a server that a token may use: "host:port" or "address:port". With port 0, `host` is the
 * service itself, such as "ha-hdfs:NAME". */
struct loc_service {
    const char *host;
    int port;
};

/* Finds the token of this kind for one of the services, in the arena; NULL: none. `credentials`:
 * from loc_msg_recv_with, or -1. */
int loc_credentials_find(int credentials, const char *kind, const struct loc_service *services,
                         size_t n, struct sv_arena *a, const struct yarn_token **ret,
                         struct sv_error *err) _must_use_;
/* Returns a token for one server as text (Token.encodeToUrlString). */
int loc_credentials_token(int credentials, const char *kind, const char *host, int port,
                          struct sv_arena *a, const char **ret, struct sv_error *err) _must_use_;

#endif
