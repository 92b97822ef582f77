/* What `selvedge run` says while the job goes on: how many containers have ended and run, and how
 * far the files are that some wait for. On a terminal in a line that is redrawn (progress.h), else
 * a line a second of what has changed. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_PROGRESS_H
#define SELVEDGE_CLIENT_RUN_RUN_PROGRESS_H

#include "client/core/session.h"
#include "client/views/status.h"

struct run_progress;

typedef void (*run_say_fn)(const char *line, void *userdata);

/* `say` prints a line. NULL: no memory. */
struct run_progress *run_progress_new(struct cli_ctx *ctx, int32_t instances, run_say_fn say,
                                      void *userdata);
/* After the end of ctx->fetch. Accepts NULL. */
void run_progress_free(struct run_progress *p);
/* A new table. */
void run_progress_table(struct run_progress *p, const struct cli_status *s);
/* Called often. */
void run_progress_poll(struct run_progress *p, const struct cli_status *s);

#endif
