/* See refuse.h. Hostile: values, and names in paths. */
#include "service/definition/refuse.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/str.h"

struct svc_path svc_path(const char *fmt, ...)
{
    struct svc_path p;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(p.text, sizeof p.text, fmt, ap); /* cut, ignoring */
    va_end(ap);
    return p;
}

int svc_refuse(struct sv_error *err, const char *path, const char *value, const char *fmt, ...)
{
    char rule[600], shown[96];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(rule, sizeof rule, fmt, ap); /* cut, ignoring */
    va_end(ap);
    if (!value)
        return sv_error_set(err, -EINVAL, "%s: %s", path, rule);
    sv_escape(shown, sizeof shown, value);
    return sv_error_set(err, -EINVAL, "%s: \"%s\": %s", path, shown, rule);
}
