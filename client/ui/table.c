/* See table.h. Cells come from applications and peers: control characters are escaped before they
 * reach a terminal. */
#include "client/ui/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/str.h"

struct cli_table {
    const char *const *heads;
    size_t columns, cells, capacity;
    char **cell;
};

struct cli_table *cli_table_new(const char *const *heads, size_t n)
{
    struct cli_table *t = calloc(1, sizeof(*t));

    if (t) {
        t->heads = heads;
        t->columns = n;
    }
    return t;
}

struct cli_table *cli_table_free(struct cli_table *t)
{
    if (t) {
        for (size_t i = 0; i < t->cells; i++)
            free(t->cell[i]);
        free(t->cell);
        free(t);
    }
    return NULL;
}

void cli_table_add(struct cli_table *t, const char *fmt, ...)
{
    char text[2200], shown[8800];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sv_escape(shown, sizeof(shown), text);
    if (t->cells == t->capacity) {
        size_t capacity = t->capacity ? t->capacity * 2 : 64;
        char **bigger = reallocarray(t->cell, capacity, sizeof(*bigger));

        if (!bigger)
            return;
        t->cell = bigger;
        t->capacity = capacity;
    }
    t->cell[t->cells++] = strdup(shown);
}

static const char *cell(const struct cli_table *t, size_t i)
{
    return t->cell[i] ? t->cell[i] : "";
}

static bool is_coloured(FILE *out)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");

    return (!no || !*no) && terminal && strcmp(terminal, "dumb") != 0 && isatty(fileno(out));
}

static bool is_bad(const char *text)
{
    static const char *const bad[] = { "FAILED",  "KILLED", "LOST",   "UNHEALTHY",
                                       "STOPPED", "BAD",    "unknown" };

    for (size_t i = 0; i < SV_ARRAY_LEN(bad); i++)
        if (strcmp(text, bad[i]) == 0)
            return true;
    return false;
}

#define COLUMNS_MAX 32
#define SHORTENED_MIN 12 /* columns of a shortened text that stay */

struct column { /* as it is printed */
    const char *title;
    bool right, shortened, spare; /* marks of its head, see table.h */
    size_t at;                    /* in the rows */
    size_t width;
};

static struct column column_of(const char *head)
{
    struct column c = { 0 };

    for (; *head && strchr("?>~", *head); head++) {
        c.spare |= *head == '?';
        c.right |= *head == '>';
        c.shortened |= *head == '~';
    }
    c.title = head;
    return c;
}

static void print_cell(const char *text, size_t width, bool right, bool last, bool red, FILE *out)
{
    bool cut = !right && strlen(text) > width;
    int n = cut ? (int)width - 2 : (int)strlen(text);
    int fill = last && !right ? 0 : (int)SV_MAX(width, strlen(text)) - (int)strlen(text);

    while (cut && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--; /* not within a character */

    fprintf(out, "%*s%s%.*s%s%s%*s%s", right ? fill : 0, "", red ? "\033[31m" : "", n, text,
            cut ? ".." : "", red ? "\033[0m" : "", right ? 0 : fill, "", last ? "\n" : "  ");
}

/* Columns of the terminal, 0: none, or unknown. */
static size_t terminal_width(FILE *out)
{
    struct winsize w;

    return isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

static size_t least_width(const struct column *c)
{
    return c->shortened ? SV_MIN(c->width, (size_t)SHORTENED_MIN) : c->width;
}

/* Leaves out the last spare columns until the others fit with shortened texts. Returns how many
 * are left. */
static size_t leave_out(struct column *c, size_t n, size_t available)
{
    size_t least = n > 0 ? 2 * (n - 1) : 0;

    for (size_t i = 0; i < n; i++)
        least += least_width(&c[i]);
    for (size_t i = n; i-- > 0 && least > available;)
        if (c[i].spare) {
            least -= least_width(&c[i]) + 2;
            memmove(&c[i], &c[i + 1], (--n - i) * sizeof(*c));
        }
    return n;
}

/* Takes what the table is too wide from the columns that may be shortened, the widest first. */
static void shorten(struct column *c, size_t n, size_t available)
{
    size_t total = n > 0 ? 2 * (n - 1) : 0;

    for (size_t i = 0; i < n; i++)
        total += c[i].width;
    for (; total > available; total--) {
        struct column *widest = NULL;

        for (size_t i = 0; i < n; i++)
            if (c[i].shortened && c[i].width > SHORTENED_MIN &&
                (!widest || c[i].width > widest->width))
                widest = &c[i];
        if (!widest)
            return;
        widest->width--;
    }
}

void cli_table_print(const struct cli_table *t, bool with_heads, size_t columns, FILE *out)
{
    struct column shown[COLUMNS_MAX];
    size_t n = SV_MIN(t->columns, (size_t)COLUMNS_MAX);
    bool coloured = is_coloured(out);

    for (size_t c = 0; c < n; c++) {
        shown[c] = column_of(t->heads[c]);
        shown[c].at = c;
        shown[c].width = with_heads ? strlen(shown[c].title) : 0;
        for (size_t i = c; i < t->cells; i += t->columns)
            shown[c].width = SV_MAX(shown[c].width, strlen(cell(t, i)));
    }
    columns = columns ? columns : terminal_width(out);
    if (columns > 0) {
        n = leave_out(shown, n, columns);
        shorten(shown, n, columns);
    }
    for (size_t row = with_heads ? 0 : 1; row <= t->cells / t->columns; row++)
        for (size_t c = 0; c < n; c++) {
            const char *text = row ? cell(t, (row - 1) * t->columns + shown[c].at) : shown[c].title;

            print_cell(text, shown[c].width, shown[c].right, c + 1 == n,
                       row && coloured && is_bad(text), out);
        }
}

const char *cli_text_bytes(int64_t bytes, char buf[32])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    double value = (double)bytes;
    size_t u = 0;

    if (bytes < 0)
        return "-";
    while (value >= 1024 && u + 1 < SV_ARRAY_LEN(units)) {
        value /= 1024;
        u++;
    }
    snprintf(buf, 32, u && value < 100 ? "%.1f %s" : "%.0f %s", value, units[u]);
    return buf;
}

const char *cli_text_millis(int64_t ms, char buf[32])
{
    const int64_t s = ms / 1000;

    if (ms < 0)
        return "-";
    if (ms < 1000)
        snprintf(buf, 32, "%lld ms", (long long)ms);
    else if (s < 60)
        snprintf(buf, 32, "%.2f s", (double)ms / 1000);
    else if (s < 3600)
        snprintf(buf, 32, "%lldm %02llds", (long long)s / 60, (long long)s % 60);
    else if (s < 24 * 3600)
        snprintf(buf, 32, "%lldh %02lldm", (long long)s / 3600, (long long)s / 60 % 60);
    else
        snprintf(buf, 32, "%lldd %02lldh", (long long)s / 86400, (long long)s / 3600 % 24);
    return buf;
}
