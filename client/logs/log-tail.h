/* Keeps the last lines of a text that arrives in pieces. */
#ifndef SELVEDGE_CLIENT_LOGS_LOG_TAIL_H
#define SELVEDGE_CLIENT_LOGS_LOG_TAIL_H

#include "common/buf.h"

#define CLI_TAIL_BYTES ((size_t)32 << 20) /* maximum; longer lines lose their beginning */

struct cli_tail {
    uint64_t lines;
    struct sv_buf b;
    size_t trimmed; /* size after the last trim */
};

void cli_tail_init(struct cli_tail *t, uint64_t lines);
void cli_tail_put(struct cli_tail *t, const void *p, size_t n);
/* Drops all but the last lines; then t->b holds them, until cli_tail_clear(). */
void cli_tail_trim(struct cli_tail *t);
void cli_tail_clear(struct cli_tail *t); /* ready for the next text */
void cli_tail_free(struct cli_tail *t);

#endif
