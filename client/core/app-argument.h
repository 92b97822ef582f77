/* An application as people name it on the command line, besides its whole id:
 *
 *   12                   the number at the end of an id
 *   application_17000_00  the beginning of an id
 *   NAME                 the application's name
 *   @last                the caller's latest application
 *   container_…, appattempt_…  a part of an application: the application
 *
 * Where several fit, the caller's own go before others', and unfinished ones before ended ones. The
 * command does nothing if more than one is left. */
#ifndef SELVEDGE_CLIENT_CORE_APP_ARGUMENT_H
#define SELVEDGE_CLIENT_CORE_APP_ARGUMENT_H

#include "client/core/session.h"

struct cli_app_argument {
    struct yarn_app_id id;
    char text[YARN_ID_TEXT_MAX]; /* the whole id */
};

/* Reads a whole id, or the id of an application's part: 0; -EAGAIN: the ResourceManager has to be
 * asked for the list (cli_app_resolve()); 2 after an error message: it cannot name one. */
_must_use_ int cli_app_parse(const char *text, struct cli_app_argument *ret);

/* After cli_connect(): finds the application that `text` names, if need be in the ResourceManager's
 * list, while it runs the loop. 0 or the exit code, after an error message. */
_must_use_ int cli_app_resolve(struct cli_ctx *ctx, const char *text, struct cli_app_argument *ret);

/* cli_connect() and cli_app_resolve(), after the text was parsed: for a command with one
 * application, whose whole id becomes the subject of errors. 0 or the exit code, after an error
 * message. */
_must_use_ int cli_connect_app(struct cli_ctx *ctx, const char *text, struct yarn_app_id *ret);

/* Selects among `reports` those that `text` names, by the rules above; `user` is the caller. Their
 * indexes are put into `hits`, at most `max`. Returns how many there are. */
size_t cli_app_select(const char *text, const char *user, const struct cli_report *reports,
                      size_t n, size_t *hits, size_t max);

#define CLI_APPS_NAMED 5 /* of `hits` that an error message lists */
/* Prints the error message of the `n` > 1 that cli_app_select() has found; at least the first
 * CLI_APPS_NAMED of them are in `hits`. */
void cli_app_ambiguous(const char *text, const struct cli_report *reports, const size_t *hits,
                       size_t n);

#endif
