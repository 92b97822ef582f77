/* A container's diagnostics: a sentence by the node, followed by the ends of its error files, each
 * after a line "Last 4096 bytes of NAME :". Hostile: written by jobs. */
#ifndef SELVEDGE_CLIENT_JOB_DIAGNOSTICS_H
#define SELVEDGE_CLIENT_JOB_DIAGNOSTICS_H

#include <stdio.h>

#include "common/base.h"

/* Copies `text` into dst. If it is too long, cuts its middle: keeps the first line and the end of
 * the last error file. */
void cli_diagnostics_copy(char *dst, size_t size, const char *text);
/* Prints the last `lines` lines of the last error file, each prefixed by `prefix`, from diagnostics
 * in which sv_escape() has escaped the newlines. Returns their number. */
int cli_diagnostics_tail(const char *escaped, int lines, const char *prefix, FILE *out);
/* Condenses an application's diagnostics to one line: their first line and, if its last attempt
 * failed, the first line of the reason. */
void cli_diagnostics_summary(const char *text, char *dst, size_t size);

#endif
