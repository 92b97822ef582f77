/* Progress of `selvedge run`: how many containers have ended and are running, and localization
 * progress of waiting ones. On a terminal in a line that is redrawn (progress.h), else at most one
 * line a second about changes. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_PROGRESS_H
#define SELVEDGE_CLIENT_RUN_RUN_PROGRESS_H

#include "client/core/session.h"
#include "client/views/status.h"

struct run_progress;

typedef void (*run_say_fn)(const char *line, void *userdata);

/* `say` prints a line. NULL: out of memory. */
struct run_progress *cli_run_progress_new(struct cli_ctx *ctx, int32_t instances, run_say_fn say,
                                          void *userdata);
/* Call after ctx->fetch has ended. Accepts NULL. */
void cli_run_progress_free(struct run_progress *p);
/* Updates the table. */
void cli_run_progress_table(struct run_progress *p, const struct cli_status *s);
/* Call frequently. */
void cli_run_progress_poll(struct run_progress *p, const struct cli_status *s);

#endif
