/* See log-time.h. Month names are English in any locale. */
#include "client/logs/log-time.h"

#include <errno.h>
#include <locale.h>
#include <time.h>

int cli_log_time_parse(const char *text, int64_t *ret)
{
    locale_t english = newlocale(LC_TIME_MASK, "C", (locale_t)0);
    struct tm tm = { 0 };
    const char *end;

    if (!english)
        return -ENOMEM;
    end = strptime_l(text, "%a %b %d %H:%M:%S %z %Y", &tm, english);
    freelocale(english);
    if (!end || *end)
        return -EINVAL;
    *ret = (int64_t)timegm(&(struct tm){ .tm_year = tm.tm_year,
                                         .tm_mon = tm.tm_mon,
                                         .tm_mday = tm.tm_mday,
                                         .tm_hour = tm.tm_hour,
                                         .tm_min = tm.tm_min,
                                         .tm_sec = tm.tm_sec }) -
           tm.tm_gmtoff;
    return 0;
}
