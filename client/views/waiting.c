/* See waiting.h. Diagnostics of other forms, as of an attempt that failed before, are no reason to
 * wait. */
#include "client/views/waiting.h"

#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define DATE_MAX 64

/* "[Sat Jan 31 12:00:00 +0000 2026] " is left out. */
static const char *after_date(const char *text)
{
    const char *end = text[0] == '[' ? strstr(text, "] ") : NULL;

    return end && end - text < DATE_MAX ? end + 2 : text;
}

static size_t length_of_reason(const char *text)
{
    static const char *const details[] = { " Last Node which was processed", " Details : ", "\n" };
    size_t n = strlen(text);

    for (size_t i = 0; i < SV_ARRAY_LEN(details); i++) {
        const char *at = strstr(text, details[i]);

        if (at)
            n = SV_MIN(n, (size_t)(at - text));
    }
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return n;
}

const char *cli_waiting_text(enum cli_app_state state, const char *diagnostics,
                             char dst[static CLI_WAITING_MAX])
{
    static const char *const starts[] = {
        "Application is added to the scheduler and is not yet activated. ",
        "Application is Activated, waiting for resources to be assigned for AM. ",
        "Waiting for ",
    };
    const char *text = after_date(diagnostics ? diagnostics : "");
    size_t i = 0, skip;

    dst[0] = '\0';
    if (cli_app_ended(state))
        return dst;
    while (i < SV_ARRAY_LEN(starts) && !sv_has_prefix(text, starts[i]))
        i++;
    if (i == SV_ARRAY_LEN(starts))
        return dst;
    skip = starts[i][0] == 'A' ? strlen(starts[i]) : 0;
    if (length_of_reason(text) <= skip) /* nothing but the state */
        skip = 0;
    (void)snprintf(dst, CLI_WAITING_MAX, "%.*s", (int)(length_of_reason(text) - skip), text + skip);
    return dst;
}
