/* See log-frame.h. The lines are those of LogToolUtils and NMWebServices.getLogs (3.4). */
#include "nodemanager/web/log-frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/str.h"

#define END "End of LogType:"
#define STARS_AFTER 50 /* more stars than the end line has characters */

void nm_log_time(int64_t seconds, char ret[static 64])
{
    time_t t = seconds;
    struct tm tm;

    gmtime_r(&t, &tm);
    strftime(ret, 64, "%a %b %d %H:%M:%S %z %Y", &tm);
}

/* malloc'd: `n` times the character. */
static char *line_of(char c, size_t n)
{
    char *s = malloc(n + 1);

    if (!s)
        return NULL;
    memset(s, c, n);
    s[n] = 0;
    return s;
}

static int text_before(const struct nm_log_frame *f, char **ret)
{
    _cleanup_free_ char *title = NULL, *rule = NULL;
    char modified[64];

    if (sv_asprintf(&title, "Container: %s on %s", f->container, f->node) < 0)
        return -ENOMEM;
    rule = line_of('=', strlen(title));
    nm_log_time(f->modified_s, modified);
    if (!rule)
        return -ENOMEM;
    return sv_asprintf(ret,
                       "%s\nLogAggregationType: LOCAL\n%s\nLogType:%s\nLogLastModifiedTime:%s\n"
                       "LogLength:%llu\nLogContents:\n",
                       title, rule, f->file, modified, (unsigned long long)f->length);
}

int nm_log_frame(const struct nm_log_frame *f, char **ret_before, char **ret_after)
{
    _cleanup_free_ char *before = NULL, *running = NULL;
    _cleanup_free_ char *stars = line_of('*', strlen(END) + strlen(f->file) + STARS_AFTER);
    int r = text_before(f, &before);

    if (r < 0 || !stars)
        return -ENOMEM;
    if (f->running &&
        sv_asprintf(&running,
                    "This log file belongs to a running container (%s) and so may not "
                    "be complete.",
                    f->container) < 0)
        return -ENOMEM;
    r = sv_asprintf(ret_after, END "%s.%s\n%s\n\n", f->file, running ? running : "", stars);
    if (r < 0)
        return r;
    *ret_before = SV_TAKE(before);
    return 0;
}
