/* The progress line: one line on the terminal that is redrawn in place, with a bar if the width
 * allows. Only on a terminal, not with --quiet, JSON or TERM=dumb; never wider than the terminal;
 * removed before any other output. One per process. */
#ifndef SELVEDGE_CLIENT_UI_PROGRESS_H
#define SELVEDGE_CLIENT_UI_PROGRESS_H

#include <stdio.h>

#include "client/ui/output.h"

/* False: no progress line is shown, and the calls below do nothing. `out`: stderr. */
bool cli_progress_begin(const struct cli_output *o, FILE *out);
bool cli_progress_on(void);
/* Removes the line. */
void cli_progress_end(void);

/* `share`: 0 to 1, negative = unknown. `text` has no control characters. */
void cli_progress_show(double share, const char *text);
/* Call before writing text to `out`: removes the line if that is a terminal. The next
 * cli_progress_show() redraws it, once the text on the terminal has ended with a newline. */
void cli_progress_yield(FILE *out, bool ends_line);

#define CLI_PROGRESS_MAX 512
/* Formats the line for a terminal of so many columns; the last one remains free. */
const char *cli_progress_line(double share, const char *text, unsigned columns,
                              char buf[CLI_PROGRESS_MAX]);

#endif
