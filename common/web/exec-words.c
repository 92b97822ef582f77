/* See exec-words.h. */
#include "common/web/exec-words.h"

#include <errno.h>
#include <string.h>

#include "common/utf8.h"

#define TERM_MAX 64

static bool is_term(const char *s)
{
    static const char set[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";
    const size_t n = strlen(s);

    return n <= TERM_MAX && strspn(s, set) == n;
}

int sv_exec_read_start(const uint8_t *data, size_t n, struct sv_exec_start *ret)
{
    struct sv_buf b = SV_BUF_VIEW(data, n);
    struct sv_exec_start s = { .terminal = false };
    uint8_t terminal;
    size_t k = 0;

    if (sv_buf_get_u8(&b, &terminal) < 0 || sv_buf_get_u16(&b, &s.rows) < 0 ||
        sv_buf_get_u16(&b, &s.columns) < 0 || sv_buf_left(&b) == 0 || data[n - 1] != 0 ||
        terminal > 1)
        return -EBADMSG;
    s.terminal = terminal;
    s.term = (const char *)data + b.pos;
    if (!is_term(s.term))
        return -EBADMSG;
    for (const char *p = s.term + strlen(s.term) + 1; p < (const char *)data + n;
         p += strlen(p) + 1) {
        if (k == SV_EXEC_ARGUMENTS_MAX)
            return -EBADMSG;
        s.arguments[k++] = p;
    }
    if (k == 0 || !*s.arguments[0])
        return -EBADMSG;
    *ret = s;
    return 0;
}

static int put_head(struct sv_buf *out, const struct sv_exec_start *s)
{
    int r = sv_buf_put_u8(out, SV_EXEC_START);

    if (r >= 0)
        r = sv_buf_put_u8(out, s->terminal);
    if (r >= 0)
        r = sv_buf_put_u16(out, s->rows);
    return r < 0 ? r : sv_buf_put_u16(out, s->columns);
}

int sv_exec_put_start(struct sv_buf *out, const struct sv_exec_start *s)
{
    const size_t begin = out->len;
    const char *term = is_term(s->term) ? s->term : "";
    int r = put_head(out, s);

    if (r >= 0)
        r = sv_buf_put(out, term, strlen(term) + 1);
    for (const char *const *p = s->arguments; r >= 0 && *p; p++)
        r = sv_buf_put(out, *p, strlen(*p) + 1);
    return r == -EMSGSIZE || out->len - begin > SV_EXEC_START_MAX ? -E2BIG : r;
}

int sv_exec_read_size(const uint8_t *data, size_t n, uint16_t *ret_rows, uint16_t *ret_columns)
{
    struct sv_buf b = SV_BUF_VIEW(data, n);

    if (n != 4 || sv_buf_get_u16(&b, ret_rows) < 0 || sv_buf_get_u16(&b, ret_columns) < 0)
        return -EBADMSG;
    return 0;
}

int sv_exec_read_end(const uint8_t *data, size_t n, struct sv_exec_end *ret)
{
    if (n < 2 || data[0] > SV_EXEC_FAILED)
        return -EBADMSG;
    *ret = (struct sv_exec_end){ .reason = data[0], .code = data[1] };
    (void)sv_utf8_copy(ret->text, sizeof(ret->text), data + 2, n - 2); /* cut, ignoring */
    for (char *p = ret->text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = ' ';
    return 0;
}

int sv_exec_put_end(struct sv_buf *out, const struct sv_exec_end *e)
{
    const uint8_t head[] = { SV_EXEC_END, (uint8_t)e->reason, e->code };
    int r = sv_buf_put(out, head, sizeof(head));

    return r < 0 ? r : sv_buf_put_str(out, e->text);
}
