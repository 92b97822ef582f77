/* See progress.h. */
#include "client/ui/progress.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_MAX 20
#define BAR_MIN 5 /* shorter ones are not drawn */

static struct line {
    FILE *out;          /* NULL: no progress line */
    bool drawn, inside; /* inside: the text on the terminal does not end with a newline yet */
    unsigned columns;
    char text[CLI_PROGRESS_MAX];
} line;

static unsigned columns_of(FILE *out)
{
    struct winsize w;

    if (ioctl(fileno(out), TIOCGWINSZ, &w) < 0 || w.ws_col == 0)
        return 80; /* the terminal does not report its width */
    return w.ws_col;
}

const char *cli_progress_line(double share, const char *text, unsigned columns,
                              char buf[CLI_PROGRESS_MAX])
{
    const size_t room = SV_MIN((size_t)SV_MAX(columns, 2u) - 1, (size_t)CLI_PROGRESS_MAX - 1);
    const size_t n = SV_MIN(strlen(text), room);
    size_t bar = room > n + 3 ? SV_MIN(room - n - 3, (size_t)BAR_MAX) : 0, full;
    char *p = buf;

    if (share >= 0 && bar >= BAR_MIN) {
        full = (size_t)(SV_MIN(share, 1.0) * (double)bar);
        *p++ = '[';
        memset(p, '#', full);
        memset(p + full, '.', bar - full);
        p += bar;
        *p++ = ']';
        *p++ = ' ';
    }
    memcpy(p, text, n);
    p[n] = '\0';
    return buf;
}

bool cli_progress_begin(const struct cli_output *o, FILE *out)
{
    const char *term = getenv("TERM");

    line = (struct line){ 0 };
    if (!o->quiet && o->format != CLI_JSON && o->format != CLI_YAML && isatty(fileno(out)) &&
        term && *term && strcmp(term, "dumb") != 0)
        line.out = out;
    return cli_progress_on();
}

bool cli_progress_on(void)
{
    return line.out != NULL;
}

static void clear(void)
{
    if (line.drawn)
        fputs("\r\033[K", line.out);
    line.drawn = false;
}

void cli_progress_end(void)
{
    clear();
    line.out = NULL;
}

void cli_progress_show(double share, const char *text)
{
    char buf[CLI_PROGRESS_MAX];
    unsigned columns;

    if (!line.out || line.inside)
        return;
    columns = columns_of(line.out);
    cli_progress_line(share, text, columns, buf);
    if (line.drawn && columns == line.columns && strcmp(buf, line.text) == 0)
        return;
    (void)fflush(stdout); /* output of the caller; main() checks the stream, ignoring */
    fprintf(line.out, "\r%s\033[K", buf);
    (void)fflush(line.out); /* a terminal, ignoring errors */
    (void)snprintf(line.text, sizeof(line.text), "%s", buf);
    line.columns = columns;
    line.drawn = true;
}

void cli_progress_yield(FILE *out, bool ends_line)
{
    if (!line.out || !isatty(fileno(out)))
        return;
    clear();
    line.inside = !ends_line;
}
