/* Options of the command line: the subcommand's own and the global ones, which may stand before or
 * after the subcommand. Errors begin with "selvedge:" and name the nearest option. */
#ifndef SELVEDGE_CLIENT_OPTIONS_H
#define SELVEDGE_CLIENT_OPTIONS_H

#include <getopt.h>

#include "client/session.h"

/* getopt_long() for a subcommand; set optind = 0 first. Stores global options in `ctx`. Returns the
 * subcommand's next option, -1 after the last one, '?' after an error message: then exit with 2.
 * `longs`: at most 24 options, then zeros. `shorts`: may begin with '+'. */
int cli_option(struct cli_ctx *ctx, int argc, char **argv, const char *shorts,
               const struct option *longs);
/* For subcommands with the single option -a, --all: leaves optind at the first argument; 0 or 2. */
int cli_option_all(struct cli_ctx *ctx, int argc, char **argv, bool *ret_all);
/* For subcommands without options: leaves optind at the first argument; 0 or 2. */
int cli_option_none(struct cli_ctx *ctx, int argc, char **argv);
/* The word of a list that `word` is probably meant to be, or NULL. next() gives the i-th word, NULL
 * after the last. */
const char *cli_nearest(const char *word, const char *(*next)(size_t i, const void *list),
                        const void *list);

#endif
