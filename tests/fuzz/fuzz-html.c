/* Fuzzes text and logs in pages. The output has no markup except the spans of colours, each of them
 * closed, no control character except newline and tab, and no ampersand except in entities. */
#include <stdlib.h>
#include <string.h>

#include "common/str.h"
#include "common/web/html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

static bool begins(const char *p, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (sv_has_prefix(p, words[i]))
            return true;
    return false;
}

static void check(struct sv_html *h, bool log)
{
    static const char *const entities[] = { "&lt;", "&gt;", "&amp;", "&quot;", "&#39;" };
    static const char *const spans[] = { "<span class=\"c", "<span class=\"b\">" };
    const char *p;
    int open = 0;

    MUST(h->error >= 0 && sv_buf_put_u8(&h->b, 0) >= 0);
    p = (const char *)h->b.data;
    MUST(strlen(p) == h->b.len - 1);
    for (; *p; p++) {
        MUST((unsigned char)*p >= 0x20 || *p == '\n' || *p == '\t');
        MUST(*p != 0x7f);
        MUST(*p != '&' || begins(p, entities, SV_ARRAY_LEN(entities)));
        if (*p == '<' && sv_has_prefix(p, "</span>"))
            open--;
        else if (*p == '<') {
            MUST(log && begins(p, spans, SV_ARRAY_LEN(spans)));
            open++;
        }
        MUST(open == 0 || open == 1);
    }
    MUST(open == 0);
    sv_buf_free(&h->b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv_html h = { .b = SV_BUF_INIT(SV_HTML_MAX) };

    if (size > SV_HTML_MAX / 64)
        return 0;
    sv_html_text(&h, (const char *)data, size);
    check(&h, false);
    h = (struct sv_html){ .b = SV_BUF_INIT(SV_HTML_MAX) };
    sv_html_log(&h, (const char *)data, size);
    check(&h, true);
    return 0;
}
