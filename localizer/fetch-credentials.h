/* Tokens of the job's credentials, for fetchers whose servers take them. In a worker process.
 * Hostile: the credentials, which the job has made. */
#ifndef SELVEDGE_LOCALIZER_FETCH_CREDENTIALS_H
#define SELVEDGE_LOCALIZER_FETCH_CREDENTIALS_H

#include "common/arena.h"
#include "common/base.h"
#include "common/error.h"

/* The token of this kind for the server, as text (Token.encodeToUrlString), in the arena; NULL: the
 * credentials, of loc_msg_recv_with or -1, have none. A token's service is "host:port" or
 * "address:port". */
int loc_credentials_token(int credentials, const char *kind, const char *host, int port,
                          struct sv_arena *a, const char **ret, struct sv_error *err) _must_use_;

#endif
