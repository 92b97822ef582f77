/* See json-write.h. */
#include "service/am/view/json-write.h"

#include <inttypes.h>
#include <string.h>

#include "common/utf8.h"

static int put_escape(struct sv_buf *b, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    char text[] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };

    if (c == '"' || c == '\\')
        return sv_buf_put(b, (char[]){ '\\', (char)c }, 2);
    if (c == '\n')
        return sv_buf_put(b, "\\n", 2);
    return sv_buf_put(b, text, sizeof(text));
}

static bool plain(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

int svc_json_text(struct sv_buf *b, const char *text)
{
    const char *s = text ? text : "", *end = s + strlen(s);
    int r = sv_buf_put_u8(b, '"');
    uint32_t character;
    size_t n;

    while (r == 0 && s < end) {
        for (n = 0; plain((unsigned char)s[n]);)
            n++;
        if (n > 0) {
            r = sv_buf_put(b, s, n);
        } else if ((unsigned char)*s < 0x80) {
            n = 1;
            r = put_escape(b, (unsigned char)*s);
        } else {
            n = sv_utf8_at(s, (size_t)(end - s), &character);
            r = n > 0 ? sv_buf_put(b, s, n) : sv_buf_put_str(b, SV_UTF8_REPLACEMENT);
            n = n > 0 ? n : 1;
        }
        s += n;
    }
    return r < 0 ? r : sv_buf_put_u8(b, '"');
}

static int put_name(struct sv_buf *b, const char *name)
{
    int r = sv_buf_put(b, ",\"", 2);

    if (r == 0)
        r = sv_buf_put_str(b, name);
    return r < 0 ? r : sv_buf_put(b, "\":", 2);
}

int svc_json_member(struct sv_buf *b, const char *name, const char *text)
{
    int r = text && *text ? put_name(b, name) : 0;

    return r < 0 || !text || !*text ? r : svc_json_text(b, text);
}

int svc_json_number(struct sv_buf *b, const char *name, int64_t value)
{
    int r = put_name(b, name);

    return r < 0 ? r : sv_buf_printf(b, "%" PRId64, value);
}
