/* The containers of this node as rows of a table: for `ps --local` and `top --local`. */
#ifndef SELVEDGE_CLIENT_LOCAL_LOCAL_ROWS_H
#define SELVEDGE_CLIENT_LOCAL_LOCAL_ROWS_H

#include <jansson.h>

#include "common/base.h"

struct cli_local_row {
    const char *id;
    json_t *properties; /* owned */
    int64_t cpu_usec, memory;
    double cores; /* since the previous reading; negative: unknown */
};

struct cli_local_rows {
    struct cli_local_row *rows;
    size_t n;
    int64_t read_ms; /* monotonic */
};

enum cli_local_order { CLI_LOCAL_BY_ID, CLI_LOCAL_BY_CPU, CLI_LOCAL_BY_MEMORY };

/* Builds rows from {id: {property: value}}. -ENOMEM. */
int cli_local_rows_of(json_t *containers, struct cli_local_rows *ret) _must_use_;
void cli_local_rows_free(struct cli_local_rows *l);
/* Sets `cores` of the rows that are also in `before`, and sorts `before` by id. */
void cli_local_rows_rate(struct cli_local_rows *l, struct cli_local_rows *before);
/* Sorts, largest first; ties and CLI_LOCAL_BY_ID by id. */
void cli_local_rows_sort(struct cli_local_rows *l, enum cli_local_order order);

/* Drops the figures of a table's row that the node has no controller for: they are 0. */
void cli_local_uncounted(json_t *row);

#endif
