/* See log-tail.h. The buffer is searched backwards for its last lines whenever it has doubled:
 * amortized O(n). */
#include "client/logs/log-tail.h"

#include <string.h>

#define TRIM_BYTES ((size_t)1 << 20)

void cli_tail_init(struct cli_tail *t, uint64_t lines)
{
    *t = (struct cli_tail){ .lines = lines, .b = SV_BUF_INIT(2 * CLI_TAIL_BYTES + TRIM_BYTES) };
}

/* Offset of the last lines. */
static size_t start(const struct cli_tail *t)
{
    const uint8_t *p = t->b.data;
    size_t at = t->b.len;
    uint64_t left = t->lines;

    if (left == 0 || at == 0)
        return at;
    at--; /* the newline of the last line */
    for (; at > 0; at--)
        if (p[at - 1] == '\n' && --left == 0)
            break;
    return SV_MAX(at, t->b.len > CLI_TAIL_BYTES ? t->b.len - CLI_TAIL_BYTES : 0);
}

void cli_tail_trim(struct cli_tail *t)
{
    size_t from = start(t);

    if (from > 0 && t->b.len > from)
        memmove(t->b.data, t->b.data + from, t->b.len - from);
    t->b.len -= from;
    t->trimmed = t->b.len;
}

void cli_tail_put(struct cli_tail *t, const void *p, size_t n)
{
    for (const uint8_t *from = p; n > 0;) {
        size_t some = SV_MIN(n, TRIM_BYTES);

        if (sv_buf_put(&t->b, from, some) < 0)
            return; /* out of memory: the previous lines are shown */
        if (t->b.len > 2 * t->trimmed + TRIM_BYTES || t->b.len > 2 * CLI_TAIL_BYTES)
            cli_tail_trim(t);
        from += some;
        n -= some;
    }
}

void cli_tail_clear(struct cli_tail *t)
{
    t->b.len = t->trimmed = 0;
}

void cli_tail_free(struct cli_tail *t)
{
    sv_buf_free(&t->b);
}
