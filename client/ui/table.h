/* Text tables: columns as wide as their content. */
#ifndef SELVEDGE_CLIENT_UI_TABLE_H
#define SELVEDGE_CLIENT_UI_TABLE_H

#include <stdio.h>

#include "common/base.h"

struct cli_table;

/* `heads`: column titles behind marks: '>' of a right-aligned column of numbers, '~' of one of
 * texts that are shortened where the table would not fit a terminal, '?' of one that is left out
 * where this is not enough, the last one first. */
struct cli_table *cli_table_new(const char *const *heads, size_t n);
struct cli_table *cli_table_free(struct cli_table *t);
/* Appends the next cell, row by row; control characters are escaped. */
void cli_table_add(struct cli_table *t, const char *fmt, ...) _printf_(2, 3);
/* Prints failures in red on a terminal, unless NO_COLOR is set. `columns`: to fit into; 0: those of
 * the terminal that `out` is, if it is one. */
void cli_table_print(const struct cli_table *t, bool with_heads, size_t columns, FILE *out);

/* Figures for people, in the caller's buffer; "-" for negative (unknown) values. */
const char *cli_text_bytes(int64_t bytes, char buf[32]); /* "12.3 MiB" */
const char *cli_text_millis(int64_t ms, char buf[32]);   /* "47 ms", "2.31 s", "5m 03s", "2h 07m" */

#endif
