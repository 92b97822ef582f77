/* Delegation tokens of a job: of the HDFS file systems that it and its nodes read and write, and of
 * the ResourceManager; taken with the user's ticket, renewed by the ResourceManager, who also
 * cancels them at the job's end. Hostile: what a NameNode answers. */
#ifndef SELVEDGE_CLIENT_LIB_TOKENS_H
#define SELVEDGE_CLIENT_LIB_TOKENS_H

#include <systemd/sd-event.h>

#include "common/conf.h"

#define CLI_TOKENS_URLS_MAX 64
#define CLI_TOKENS_OF_RM "yarn:" /* in place of a url: the ResourceManager's own */

struct cli_login;
struct cli_tokens;

/* Called once, from the loop: bytes of a credentials file, for a launch; n is 0 where nothing needs
 * a token. Valid during the call. */
typedef void (*cli_tokens_fn)(int status, const uint8_t *p, size_t n, const struct sv_error *err,
                              void *userdata);

/* A token for the file system of each url, fs.defaultFS for a path without one, once each; what is
 * not hdfs: needs none here. With a login by a token: the tokens of file systems that its file has.
 * `login` NULL: no Kerberos, no tokens. `conf` and `login` outlive it. -E2BIG: too many urls. */
int cli_tokens_fetch(sd_event *event, struct sv_conf *conf, const struct cli_login *login,
                     const char *const *urls, size_t n, cli_tokens_fn fn, void *userdata,
                     struct cli_tokens **ret, struct sv_error *err) _must_use_;
/* Ends it without a call; may be called from the callback. Accepts NULL. */
struct cli_tokens *cli_tokens_free(struct cli_tokens *t);

#endif
