/* Finds tokens in a job's credentials, for the back ends whose servers accept them. Hostile: the
 * credentials, which the job created. */
#ifndef SELVEDGE_FS_CREDENTIALS_H
#define SELVEDGE_FS_CREDENTIALS_H

#include "common/arena.h"
#include "common/base.h"
#include "common/error.h"

#define FS_CREDENTIALS_MAX (1 << 20) /* bytes of a credentials file */

struct yarn_token;

/* Names of a server that a token may use: "host:port" or "address:port". With port 0, `host` is the
 * service itself, such as "ha-hdfs:NAME". */
struct fs_service {
    const char *host;
    int port;
};

/* Finds the token of this kind for one of the services, in the arena; NULL: none. `credentials`:
 * a descriptor of a credentials file ("HDTS…"), or -1. */
int fs_credentials_find(int credentials, const char *kind, const struct fs_service *services,
                        size_t n, struct sv_arena *a, const struct yarn_token **ret,
                        struct sv_error *err) _must_use_;
/* Returns the text of the job's secret of this name, in the arena; NULL: none. */
int fs_credentials_secret(int credentials, const char *name, struct sv_arena *a, const char **ret,
                          struct sv_error *err) _must_use_;
/* Returns a token for one server as text (Token.encodeToUrlString). */
int fs_credentials_token(int credentials, const char *kind, const char *host, int port,
                         struct sv_arena *a, const char **ret, struct sv_error *err) _must_use_;

#endif
