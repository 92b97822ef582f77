/* See diagnostics.h. */
#include "client/job/diagnostics.h"

#include <string.h>

#define LINES_MAX 64
#define LINE_END "\\x0a" /* a newline escaped by sv_escape() */

/* Finds the last "Last N bytes of NAME :" followed by `end`; NULL if there is none. */
static const char *last_heading(const char *text, const char *end)
{
    const char *found = NULL;

    for (const char *p = text; (p = strstr(p, "Last ")); p++) {
        const char *colon = strstr(p, " :"), *of = strstr(p, " bytes of ");
        size_t line = strcspn(p, "\n");

        if (colon && of && of < colon && (size_t)(colon - p) < line &&
            strncmp(colon + 2, end, strlen(end)) == 0)
            found = p;
    }
    return found;
}

void cli_diagnostics_copy(char *dst, size_t size, const char *text)
{
    const size_t len = strlen(text), first = strcspn(text, "\n");
    const char *heading = last_heading(text, "\n");
    size_t head, kept;

    if (len < size || !heading || first + 128 > size) {
        snprintf(dst, size, "%s", text);
        return;
    }
    head = strcspn(heading, "\n");
    if (first + head + 64 > size) {
        snprintf(dst, size, "%s", text);
        return;
    }
    kept = size - first - head - 3; /* two newlines and the NUL */
    kept = SV_MIN(kept, strlen(heading + head + 1));
    snprintf(dst, size, "%.*s\n%.*s\n%s", (int)first, text, (int)head, heading, text + len - kept);
}

int cli_diagnostics_tail(const char *escaped, int lines, const char *prefix, FILE *out)
{
    const char *p = last_heading(escaped, LINE_END), *line[LINES_MAX];
    int n = 0, length[LINES_MAX], first;

    p = p ? strstr(p, " :" LINE_END) + strlen(" :" LINE_END) : "";
    while (*p) {
        const char *end = strstr(p, LINE_END);
        size_t len = end ? (size_t)(end - p) : strlen(p);

        if (len > 0) {
            line[n % LINES_MAX] = p;
            length[n++ % LINES_MAX] = (int)len;
        }
        p += len + (end ? strlen(LINE_END) : 0);
    }
    lines = SV_MIN(SV_MIN(lines, n), LINES_MAX);
    first = n - lines;
    for (int i = first; i < n; i++)
        fprintf(out, "%s%.*s\n", prefix, length[i % LINES_MAX], line[i % LINES_MAX]);
    return lines;
}

void cli_diagnostics_summary(const char *text, char *dst, size_t size)
{
    static const char heading[] = "\nFailing this attempt.Diagnostics: ",
                      more[] = "For more detailed";
    const char *why = strstr(text, heading), *end;
    size_t first = strcspn(text, "\n"), len;

    why = why ? why + strlen(heading) : "";
    if (*why == '[' && (end = strchr(why, ']'))) /* a timestamp */
        why = end + 1;
    len = strcspn(why, "\n");
    end = strstr(why, more);
    if (end && (size_t)(end - why) < len)
        len = (size_t)(end - why);
    snprintf(dst, size, "%.*s%s%.*s", (int)SV_MIN(first, size), text, len ? ": " : "",
             (int)SV_MIN(len, size), why);
}
