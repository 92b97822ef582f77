/* A list that is drawn anew on a terminal until q: the loop, keys and signals of it. */
#ifndef SELVEDGE_CLIENT_CORE_WATCH_H
#define SELVEDGE_CLIENT_CORE_WATCH_H

#include "client/core/session.h"

#define CLI_WATCH_US (2 * 1000 * 1000)

/* Called for each key but q, which ends the command. NULL: other keys are ignored. */
typedef void (*cli_key_fn)(char key, void *userdata);

/* cli_loop() on the alternate screen; the terminal is restored, also after any signal that can be
 * caught. Returns the exit code. */
int cli_watch_loop(struct cli_ctx *ctx, cli_key_fn fn, void *userdata);
/* Draws `rows` as this command's list prints them, below the title. Takes the reference. */
void cli_watch_draw(struct cli_ctx *ctx, const char *title, const struct cli_list *list,
                    json_t *rows);

#endif
