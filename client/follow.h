/* Follows one log of one container through its node's web port and prints its lines with a
 * prefix. */
#ifndef SELVEDGE_CLIENT_FOLLOW_H
#define SELVEDGE_CLIENT_FOLLOW_H

#include <stdio.h>

#include "client/fetch.h"

struct cli_follow;

/* `user`: who asks. `http`: "host:port" of the node. `prefix` is copied; "" prints the bytes as
 * they are. */
struct cli_follow *cli_follow_new(struct cli_fetch *fetch, const char *user, const char *http,
                                  const char *container, const char *log, const char *prefix,
                                  FILE *out);
struct cli_follow *cli_follow_free(struct cli_follow *f);
/* Reads further, unless a request is open. `last`: the container has ended, so the log is
 * complete. */
void cli_follow_poll(struct cli_follow *f, bool last);
/* After a poll with `last`: everything was printed, or the node did not provide it. */
bool cli_follow_complete(const struct cli_follow *f);
const char *cli_follow_problem(const struct cli_follow *f); /* the reason, or NULL */

#endif
