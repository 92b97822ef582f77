/* See script-output.h. */
#include "nodemanager/health/script-output.h"

#include <string.h>

#include "common/utf8.h"

#define ERROR "ERROR"
#define ERROR_LEN (sizeof(ERROR) - 1)
#define NO_MATCH (ERROR_LEN + 1)
#define CUT "..."

void nm_script_output_begin(struct nm_script_output *o)
{
    o->n_head = o->n_errors = o->matched = 0;
    o->more = o->more_errors = o->failed = false;
}

static void keep(char *list, size_t *n, bool *more, const char *p, size_t len)
{
    size_t room = NM_SCRIPT_REPORT_MAX - *n;

    memcpy(list + *n, p, SV_MIN(len, room));
    *n += SV_MIN(len, room);
    *more = *more || len > room;
}

/* Compares bytes of a line with ERROR, as far as that is undecided. */
static size_t match(struct nm_script_output *o, const char *p, size_t n)
{
    size_t i = 0;

    while (i < n && o->matched < ERROR_LEN) {
        if (p[i] != ERROR[o->matched]) {
            o->matched = NO_MATCH;
            return i;
        }
        i++;
        o->matched++;
        if (o->matched == ERROR_LEN) {
            o->failed = true;
            keep(o->errors, &o->n_errors, &o->more_errors, ERROR, ERROR_LEN);
        }
    }
    return i;
}

void nm_script_output_add(struct nm_script_output *o, const char *p, size_t n)
{
    keep(o->head, &o->n_head, &o->more, p, n);
    while (n > 0) {
        const char *end = memchr(p, '\n', n);
        size_t line = end ? (size_t)(end - p) + 1 : n, done = match(o, p, line);

        if (o->matched == ERROR_LEN)
            keep(o->errors, &o->n_errors, &o->more_errors, p + done, line - done);
        if (end)
            o->matched = 0;
        p += line;
        n -= line;
    }
}

void nm_script_output_report(const struct nm_script_output *o, char ret[NM_SCRIPT_REPORT_MAX])
{
    const char *text = o->more ? o->errors : o->head;
    size_t n = o->more ? o->n_errors : o->n_head, taken;

    ret[0] = '\0';
    if (!o->failed)
        return;
    taken = sv_utf8_copy(ret, NM_SCRIPT_REPORT_MAX - strlen(CUT), text, n);
    if (o->more || taken < n)
        memcpy(ret + strlen(ret), CUT, sizeof(CUT));
}
