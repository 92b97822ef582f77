/* Parses the command line: finds the subcommand and reads its options and the global ones, which
 * may precede or follow the subcommand. Errors begin with "selvedge:" and suggest the nearest
 * command or option. */
#ifndef SELVEDGE_CLIENT_CORE_OPTIONS_H
#define SELVEDGE_CLIENT_CORE_OPTIONS_H

#include <getopt.h>

#include "client/core/commands.h"

/* getopt_long() over the options of ctx->command; set optind = 0 first. Stores global options in
 * `ctx`. Returns the letter of the subcommand's next option, -1 after the last one, '?' after an
 * error message: then exit with 2. */
int cli_option(struct cli_ctx *ctx, int argc, char **argv);
/* For subcommands with the single option -a, --all: leaves optind at the first argument; 0 or 2. */
int cli_option_all(struct cli_ctx *ctx, int argc, char **argv, bool *ret_all);
/* For subcommands without options: leaves optind at the first argument; 0 or 2. */
int cli_option_none(struct cli_ctx *ctx, int argc, char **argv);
/* As cli_option_none(), then calls cli_option_begin(). */
int cli_option_app(struct cli_ctx *ctx, int argc, char **argv, const struct cli_list *list,
                   int more, struct yarn_app_id *ret);
/* Call after the options: checks the fields of -o against the subcommand's list (NULL: none) and
 * the number of arguments, and connects. ctx->subject becomes the first argument, or NULL;
 * `ret_app`, unless it is NULL, its id. 0 or the exit code. */
int cli_option_begin(struct cli_ctx *ctx, int argc, char **argv, const struct cli_list *list,
                     int min, int max, struct yarn_app_id *ret_app);
/* For list commands, after the options: checks the fields of -o against the list; 0 or 2. */
int cli_option_list(struct cli_ctx *ctx, const struct cli_list *list);

/* Finds the subcommand named by argv[0], or argv[0] and argv[1]; NULL after an error message.
 * ret_words: 1 or 2. */
const struct cli_command *cli_command_find(const struct cli_ctx *ctx, int argc, char **argv,
                                           int *ret_words);
/* Prints the synopses of "app …", each prefixed by `before`; false: no such group. */
bool cli_group_print(const struct cli_ctx *ctx, const char *group, const char *before, FILE *out);
/* Prints "  -n, --instances N      containers (1)
 * " for each. */
void cli_options_help(const struct cli_opt *options, FILE *out);

#endif
