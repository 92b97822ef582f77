/* See moment.h. */
#include "client/core/moment.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/str.h"

static const char *const forms[] = { "%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M",
                                     "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S" };

/* strptime(3) takes the 31st of February. */
static bool is_date(const struct tm *given, const struct tm *made)
{
    return given->tm_mday == made->tm_mday && given->tm_mon == made->tm_mon &&
           given->tm_year == made->tm_year;
}

static int parse_date(const char *text, bool utc, int64_t *ret_ms)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(forms); i++) {
        struct tm tm = { .tm_isdst = -1 }, made;
        const char *end = strptime(text, forms[i], &tm);
        bool zulu = end && sv_streq(end, "Z");
        time_t s;

        if (!end || (*end && !zulu))
            continue;
        made = tm;
        made.tm_isdst = -1;
        s = utc || zulu ? timegm(&made) : mktime(&made);
        if (s < 0 || !is_date(&tm, &made))
            return -EINVAL;
        *ret_ms = (int64_t)s * 1000;
        return 0;
    }
    return -EINVAL;
}

int cli_moment_parse(const char *text, int64_t now_ms, bool utc, int64_t *ret_ms)
{
    int64_t ago;
    size_t n = strlen(text);

    /* a plain number would be a unit that nobody can guess */
    if (n > 0 && strchr("smhd", text[n - 1]) && sv_parse_duration_ms(text, 1, &ago) >= 0) {
        if (ago < 0 || ago > now_ms)
            return -EINVAL;
        *ret_ms = now_ms - ago;
        return 0;
    }
    return parse_date(text, utc, ret_ms);
}
