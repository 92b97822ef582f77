/* Fuzzes input of the ResourceManager's proxy from a job and a browser, and dates of lifetimes.
 * Input: a tracking URL, the rest of a request, a Location, each ended by a newline. The fetched
 * URL has the scheme and host of the tracking URL, and no character that could end a request
 * line. */
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "rm-lite/fsm/app-lifetime.h"
#include "rm-lite/security/proxy-target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static void check_date(const char *text)
{
    char again[RM_LIFETIME_DATE_MAX];
    int64_t ms, same;

    if (rm_lifetime_parse(text, &ms) < 0 || ms < 0)
        return;
    rm_lifetime_format(ms, again);
    if (strlen(again) == 28) /* another time zone can make it the year 10000 */
        MUST(rm_lifetime_parse(again, &same) == 0 && same == ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *rest = text, *tracking, *path, *location, *url = NULL, *seen;
    struct sv_error err = { 0 };

    MUST(text);
    memcpy(text, data, size);
    text[size] = 0;
    tracking = strsep(&rest, "\n");
    path = rest ? strsep(&rest, "\n") : tracking;
    location = rest ? strsep(&rest, "\n") : tracking;
    check_date(tracking);
    seen = rm_proxy_without_tokens(path);
    MUST(seen && strlen(seen) <= strlen(path) && !strstr(seen, "?delegation=") &&
         !strstr(seen, "&delegation="));
    free(seen);
    if (rm_proxy_url(tracking, path, &url, &err) == 0) {
        MUST(sv_has_prefix(url, "http://") || sv_has_prefix(url, "https://"));
        for (const char *p = url; *p; p++)
            MUST((unsigned char)*p > 0x20 && *p != 0x7f);
        MUST(!memchr(url + 8, '@', strcspn(url + 8, "/?#")));
    } else {
        MUST(err.code < 0 && err.text[0]);
    }
    seen = rm_proxy_location(tracking, "application_1_0001", location);
    MUST(seen);
    free(seen);
    free(url);
    free(text);
    return 0;
}
