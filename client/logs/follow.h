/* Follows one log of one container through its node's web port and prints its lines with a prefix.
 *
 * Hostile: the node. One answer is held at a time: 1 MiB of it, or 16 MiB when the node frames the
 * text (log-unframe.h), beyond which the log is not shown; 64 KiB of a line; with cli_follow_tail()
 * up to 65 MiB of last lines. A node that sends text endlessly is read until the caller stops. */
#ifndef SELVEDGE_CLIENT_LOGS_FOLLOW_H
#define SELVEDGE_CLIENT_LOGS_FOLLOW_H

#include <stdio.h>

#include "client/http/fetch.h"

struct cli_follow;

/* `user`: name of the requester. `http`: "host:port" of the node. `prefix` is copied; "" prints the
 * bytes unmodified. */
struct cli_follow *cli_follow_new(struct cli_fetch *fetch, const char *user, const char *http,
                                  const char *container, const char *log, const char *prefix,
                                  FILE *out);
struct cli_follow *cli_follow_free(struct cli_follow *f);
/* Before the first poll: sets a line to print above the log, once the node provides it. Copied. */
int cli_follow_header(struct cli_follow *f, const char *header) _must_use_;
/* Before the first poll: of the existing text, print only the last lines. */
int cli_follow_tail(struct cli_follow *f, uint64_t lines) _must_use_;
/* Before the first poll: sets the number of attempts for an unreachable node. */
void cli_follow_tries(struct cli_follow *f, int tries);
/* Requests more, unless a request is open. `last`: the container has ended, so the log is
 * complete. */
void cli_follow_poll(struct cli_follow *f, bool last);
/* After a poll with `last`: true once everything was printed, or the node did not provide it. */
bool cli_follow_complete(const struct cli_follow *f);
/* When text was last received and printed, CLOCK_MONOTONIC in ms; 0: never. */
int64_t cli_follow_printed_ms(const struct cli_follow *f);
const char *cli_follow_problem(const struct cli_follow *f); /* the reason, or NULL */
/* Class of the problem: -ENOENT: the node has no such log, -EACCES: it does not show it to this
 * user, -EHOSTUNREACH: it is unreachable; else 0. */
int cli_follow_missing(const struct cli_follow *f);

#endif
