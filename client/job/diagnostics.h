/* A container's diagnostics: a sentence of the node's, then the ends of its error files, each
 * behind a line "Last 4096 bytes of NAME :". Written by jobs. */
#ifndef SELVEDGE_CLIENT_JOB_DIAGNOSTICS_H
#define SELVEDGE_CLIENT_JOB_DIAGNOSTICS_H

#include <stdio.h>

#include "common/base.h"

/* Copies `text` into dst. What is too long loses its middle: the first line and the end of the last
 * error file stay. */
void cli_diagnostics_copy(char *dst, size_t size, const char *text);
/* Prints the last `lines` lines of the last error file, each behind `prefix`, of diagnostics in
 * which sv_escape() has escaped the line ends. Returns how many there were. */
int cli_diagnostics_tail(const char *escaped, int lines, const char *prefix, FILE *out);
/* An application's diagnostics on one line: their first, and behind it, where its last attempt has
 * failed, the first line of why. */
void cli_diagnostics_summary(const char *text, char *dst, size_t size);

#endif
