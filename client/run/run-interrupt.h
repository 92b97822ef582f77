/* How `selvedge run` ends before its job: SIGINT, SIGTERM and SIGHUP, and output that cannot be
 * written. The first one kills the application and waits for its end; a second one leaves as soon
 * as the ResourceManager has the kill; a third one at once. */
#ifndef SELVEDGE_CLIENT_RUN_RUN_INTERRUPT_H
#define SELVEDGE_CLIENT_RUN_RUN_INTERRUPT_H

#include "client/core/session.h"

struct run_interrupt;

typedef void (*run_say_fn)(const char *line, void *userdata);

/* Catches the signals; `say` prints a line of progress. SIGHUP stays ignored for nohup. */
int run_interrupt_new(struct cli_ctx *ctx, run_say_fn say, void *userdata,
                      struct run_interrupt **ret) _must_use_;
void run_interrupt_free(struct run_interrupt *i); /* accepts NULL */

/* The submission is on its way: until now a signal ends the command at once. */
void run_interrupt_submitting(struct run_interrupt *i, struct yarn_app_id app);
/* The ResourceManager has it. */
void run_interrupt_submitted(struct run_interrupt *i);
/* Called often: looks at the output, repeats the kill, leaves when that is due. */
void run_interrupt_poll(struct run_interrupt *i);

/* Exit code as a shell tells it, 0 = not interrupted. */
int run_interrupt_code(const struct run_interrupt *i);

#endif
