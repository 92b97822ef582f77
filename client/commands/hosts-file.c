/* See hosts-file.h. The file is the operator's. */
#include "client/commands/hosts-file.h"

#include <errno.h>
#include <string.h>

#include "common/buf.h"

#define TEXT_MAX ((size_t)16 << 20)
#define BETWEEN " \t\r\n,"

/* Finds the next word outside of comments at or after p, its length in *ret; NULL if there is
 * none. */
static const char *next_word(const char *p, size_t *ret)
{
    for (;;) {
        p += strspn(p, BETWEEN);
        if (*p != '#')
            break;
        p += strcspn(p, "\n");
    }
    *ret = strcspn(p, "#" BETWEEN);
    return *ret ? p : NULL;
}

bool cli_hosts_have(const char *text, const char *host)
{
    size_t n;

    for (const char *p = text; (p = next_word(p, &n)); p += n)
        if (n == strlen(host) && strncmp(p, host, n) == 0)
            return true;
    return false;
}

/* Copies the text without the host; deletes a line that contains nothing else. */
static int without(struct sv_buf *b, const char *text, const char *host)
{
    const char *kept = text, *p = text;
    size_t n;
    int r = 0;

    for (; r == 0 && (p = next_word(p, &n)); p += n) {
        const char *from = p, *to = p + n;

        if (n != strlen(host) || strncmp(p, host, n) != 0)
            continue;
        while (from > kept && (from[-1] == ' ' || from[-1] == '\t' || from[-1] == ','))
            from--;
        if ((from == text || from[-1] == '\n') && to[strspn(to, " \t\r,")] == '\n')
            to += strspn(to, " \t\r,") + 1;
        r = sv_buf_put(b, kept, (size_t)(from - kept));
        kept = to;
        p = to;
        n = 0;
    }
    return r < 0 ? r : sv_buf_put_str(b, kept);
}

int cli_hosts_edit(const char *text, const char *host, bool add, char **ret)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(TEXT_MAX);
    size_t n = strlen(text);
    int r;

    if (add)
        r = sv_buf_printf(&b, "%s%s%s\n", text, n && text[n - 1] != '\n' ? "\n" : "", host);
    else
        r = without(&b, text, host);
    if (r == 0)
        r = sv_buf_put_u8(&b, 0);
    if (r < 0)
        return r;
    *ret = (char *)SV_TAKE(b.data);
    return 0;
}
