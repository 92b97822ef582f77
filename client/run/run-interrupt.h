/* Interruption of `selvedge run`: by SIGINT, SIGTERM and SIGHUP, and by output that cannot be
 * written. The first signal kills the application and waits for its end; a second one exits as soon
 * as the ResourceManager has accepted the kill; a third one exits at once. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_INTERRUPT_H
#define SELVEDGE_CLIENT_RUN_RUN_INTERRUPT_H

#include "client/core/session.h"

struct run_interrupt;

typedef void (*run_say_fn)(const char *line, void *userdata);

/* Installs the handlers; `say` prints a line of progress. SIGHUP remains ignored under nohup. */
int cli_run_interrupt_new(struct cli_ctx *ctx, run_say_fn say, void *userdata,
                          struct run_interrupt **ret) _must_use_;
void cli_run_interrupt_free(struct run_interrupt *i); /* accepts NULL */

/* The submission is being sent: until now a signal ends the command at once. */
void cli_run_interrupt_submitting(struct run_interrupt *i, struct yarn_app_id app);
/* The ResourceManager has accepted the submission. */
void cli_run_interrupt_submitted(struct run_interrupt *i);
/* Call frequently: checks the output, repeats the kill, exits when due. */
void cli_run_interrupt_poll(struct run_interrupt *i);

/* Exit code as reported by a shell, 0 = not interrupted. */
int cli_run_interrupt_code(const struct run_interrupt *i);

#endif
