/* See container-use.h. */
#include "wire/container-use.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"

#define MOST ((uint64_t)1 << 53)

const char *yarn_use_text(const struct yarn_use *use, char ret[static YARN_USE_TEXT_MAX])
{
    (void)snprintf(ret, YARN_USE_TEXT_MAX, "%" PRId64 " %" PRId64 " %" PRId64, use->bytes,
                   use->peak_bytes, use->millicores);
    return ret;
}

int yarn_use_parse(const char *text, struct yarn_use *ret)
{
    struct yarn_use found;
    int64_t *const into[] = { &found.bytes, &found.peak_bytes, &found.millicores };

    for (size_t i = 0; i < SV_ARRAY_LEN(into); i++) {
        size_t n = strcspn(text, " ");
        char number[24];
        uint64_t v;

        if (n == 0 || n >= sizeof(number))
            return -EBADMSG;
        (void)snprintf(number, sizeof(number), "%.*s", (int)n, text);
        if (sv_parse_u64(number, 0, MOST, &v) < 0)
            return -EBADMSG;
        *into[i] = (int64_t)v;
        text += n + (text[n] == ' ');
    }
    if (*text)
        return -EBADMSG;
    *ret = found;
    return 0;
}
