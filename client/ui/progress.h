/* The progress line: one line on the terminal that is redrawn in place, with a bar where there is
 * room. It is there on a terminal alone, not with --quiet, JSON or TERM=dumb, is never wider than
 * the terminal, and makes way for all other output. A process has one. */
#ifndef SELVEDGE_CLIENT_UI_PROGRESS_H
#define SELVEDGE_CLIENT_UI_PROGRESS_H

#include <stdio.h>

#include "client/ui/output.h"

/* False: there is no such line, and the calls below do nothing. `out`: stderr. */
bool cli_progress_begin(const struct cli_output *o, FILE *out);
bool cli_progress_on(void);
/* Removes the line. */
void cli_progress_end(void);

/* `share`: 0 to 1, negative = not known. `text` has no control characters. */
void cli_progress_show(double share, const char *text);
/* Before text goes to `out`: removes the line if that is a terminal. It comes back with the next
 * cli_progress_show(), once the text on the terminal has ended with a line end. */
void cli_progress_yield(FILE *out, bool ends_line);

#define CLI_PROGRESS_MAX 512
/* The line for a terminal of so many columns, one of which stays free. */
const char *cli_progress_line(double share, const char *text, unsigned columns,
                              char buf[CLI_PROGRESS_MAX]);

#endif
