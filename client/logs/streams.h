/* Follows the output of several containers at the same time: for `run`, `attach` and `logs
 * --follow`. */
#ifndef SELVEDGE_CLIENT_LOGS_STREAMS_H
#define SELVEDGE_CLIENT_LOGS_STREAMS_H

#include <stdio.h>

#include "client/core/session.h"
#include "client/logs/follow.h"
#include "client/views/status.h"

struct cli_streams;

/* `log`: prints this file of each container to `out`; NULL: stdout to `out` and stderr to `err`,
 * whose names end with `suffix`. NULL when out of memory. */
struct cli_streams *cli_streams_new(struct cli_ctx *ctx, const char *log, const char *suffix,
                                    FILE *out, FILE *err);
/* Call after ctx->fetch has ended. Accepts NULL. */
void cli_streams_free(struct cli_streams *s);

/* Opens the logs of the row's container, unless they are open. `prefixed`: each line begins with
 * "[instance] ". `lines`: limits the existing text; -1 = all. A row without a container or its
 * node's address is skipped; so is one for which memory is short: add it again. */
void cli_streams_add(struct cli_streams *s, const struct cli_row *row, bool prefixed,
                     int64_t lines);
/* Marks the container as ended: its logs are complete. NULL: all containers. */
void cli_streams_end(struct cli_streams *s, const char *container);
/* Ends streams whose instance now runs in another container: `rows` is the current table. A lost
 * node does not delay the others. */
void cli_streams_end_replaced(struct cli_streams *s, const struct cli_status *rows);
/* Polls for more output; unless `all`, only of ended containers. True once the logs of all ended
 * containers are complete. */
bool cli_streams_poll(struct cli_streams *s, bool all);

/* When text of any log was last received and printed, CLOCK_MONOTONIC in ms; 0: never. */
int64_t cli_streams_printed_ms(const struct cli_streams *s);

/* Returns the container's first log, or its second; NULL: none. */
const struct cli_follow *cli_streams_log(const struct cli_streams *s, const char *container,
                                         size_t i);
typedef void (*cli_stream_fn)(int instance, const char *container, bool ended,
                              const struct cli_follow *log, void *userdata);
void cli_streams_each(const struct cli_streams *s, cli_stream_fn fn, void *userdata);

#endif
