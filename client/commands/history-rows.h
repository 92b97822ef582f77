/* Rows of `selvedge history` from the ResourceManager's answer. Texts in it are users'. */
#ifndef SELVEDGE_CLIENT_COMMANDS_HISTORY_ROWS_H
#define SELVEDGE_CLIENT_COMMANDS_HISTORY_ROWS_H

#include <jansson.h>

/* New references; NULL: no memory. */
json_t *cli_history_row(const json_t *app); /* what the caller may not see is null */
json_t *cli_history_sum(const json_t *sum, const char *by);
/* Sums, those of the most core-hours first. */
json_t *cli_history_sums(const json_t *sums, const char *by);

#endif
