/* See table.h. Cells come from applications and peers: control characters are escaped before they
 * reach a terminal. */
#include "client/ui/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
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

static void print_cell(const char *text, size_t width, bool right, bool last, bool red, FILE *out)
{
    int fill = last && !right ? 0 : (int)(width - strlen(text));

    fprintf(out, "%*s%s%s%s%*s%s", right ? fill : 0, "", red ? "\033[31m" : "", text,
            red ? "\033[0m" : "", right ? 0 : fill, "", last ? "\n" : "  ");
}

void cli_table_print(const struct cli_table *t, bool with_heads, FILE *out)
{
    size_t width[32] = { 0 };
    bool coloured = is_coloured(out);

    for (size_t c = 0; c < t->columns && c < SV_ARRAY_LEN(width); c++) {
        width[c] = with_heads ? strlen(t->heads[c] + (t->heads[c][0] == '>')) : 0;
        for (size_t i = c; i < t->cells; i += t->columns)
            width[c] = SV_MAX(width[c], strlen(cell(t, i)));
    }
    for (size_t row = with_heads ? 0 : 1; row <= t->cells / t->columns; row++)
        for (size_t c = 0; c < t->columns; c++) {
            bool right = t->heads[c][0] == '>';
            const char *text = row ? cell(t, (row - 1) * t->columns + c) : t->heads[c] + right;

            print_cell(text, width[c], right, c + 1 == t->columns, row && coloured && is_bad(text),
                       out);
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
    if (ms < 0)
        return "-";
    if (ms < 1000)
        snprintf(buf, 32, "%lld ms", (long long)ms);
    else
        snprintf(buf, 32, "%.2f s", (double)ms / 1000);
    return buf;
}
