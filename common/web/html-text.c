/* Text in pages: see html.h. Hostile: every byte: names of users, diagnostics and logs of jobs. */
#include <string.h>

#include "common/utf8.h"
#include "common/web/html.h"

#define ESCAPE 0x1b
#define SGR_MAX 16 /* numbers used per sequence */

/* ---- Characters ---- */

/* True for invisible characters and those that change the writing direction. */
static bool deceives(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0x061c || c == 0xfeff ||
           (c >= 0xfff0 && c <= 0xfffb) || (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe;
}

static void raw(struct sv_html *h, const void *s, size_t n)
{
    int r = h->error < 0 ? h->error : sv_buf_put(&h->b, s, n);

    if (r < 0)
        h->error = r;
}

static const char *entity(unsigned char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* Writes "\\", a letter and the lowest hexadecimal digits of `c`; by a table, because a log may
 * need this for each of its bytes. */
static void put_code(struct sv_html *h, char letter, uint32_t c, int digits)
{
    static const char hex[] = "0123456789abcdef";
    char text[12] = { '\\', letter };

    for (int i = 0; i < digits; i++)
        text[2 + i] = hex[c >> 4 * (digits - 1 - i) & 0xf];
    raw(h, text, (size_t)(2 + digits));
}

/* Writes one character; returns its bytes. */
static size_t put_character(struct sv_html *h, const unsigned char *p, size_t n)
{
    const char *name = entity(*p);
    uint32_t c = 0;
    size_t len;

    if (name) {
        raw(h, name, strlen(name));
        return 1;
    }
    len = sv_utf8_at(p, n, &c);
    if (len == 0 || (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0)) {
        put_code(h, 'x', len == 2 ? c : *p, 2);
        return len ? len : 1;
    }
    if (deceives(c)) {
        put_code(h, 'u', c, c > 0xfffff ? 6 : c > 0xffff ? 5 : 4);
        return len;
    }
    raw(h, p, len);
    return len;
}

/* Counts bytes that need no escape. */
static size_t plain_run(const unsigned char *p, size_t n)
{
    size_t i = 0;

    while (i < n && p[i] >= 0x20 && p[i] < 0x7f && !entity(p[i]))
        i++;
    return i;
}

void sv_html_text(struct sv_html *h, const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;

    while (n > 0 && h->error >= 0) {
        size_t len = plain_run(p, n);

        if (len > 0)
            raw(h, p, len);
        else
            len = put_character(h, p, n);
        p += len;
        n -= len;
    }
}

/* ---- Logs ---- */

struct look {
    int colour; /* -1: none */
    bool bold;
};

static void begin_look(struct sv_html *h, struct look l)
{
    static const char *const names[] = { "c0", "c1", "c2",  "c3",  "c4",  "c5",  "c6",  "c7",
                                         "c8", "c9", "c10", "c11", "c12", "c13", "c14", "c15" };

    if (l.colour < 0 && !l.bold)
        return;
    raw(h, "<span class=\"", strlen("<span class=\""));
    if (l.colour >= 0)
        raw(h, names[l.colour], strlen(names[l.colour]));
    if (l.colour >= 0 && l.bold)
        raw(h, " ", 1);
    if (l.bold)
        raw(h, "b", 1);
    raw(h, "\">", 2);
}

static void end_look(struct sv_html *h, struct look l)
{
    if (l.colour >= 0 || l.bold)
        raw(h, "</span>", strlen("</span>"));
}

/* Applies the numbers between the bracket and the letter of an SGR sequence. */
static struct look select_look(struct look l, const unsigned char *p, size_t n)
{
    for (size_t i = 0, count = 0; i <= n && count < SGR_MAX; i++, count++) {
        unsigned v = 0;

        for (; i < n && p[i] >= '0' && p[i] <= '9'; i++)
            v = v < 1000 ? v * 10 + (p[i] - '0') : v;
        if (v == 0)
            l = (struct look){ .colour = -1 };
        else if (v == 1 || v == 22)
            l.bold = v == 1;
        else if (v == 39)
            l.colour = -1;
        else if ((v >= 30 && v <= 37) || (v >= 90 && v <= 97))
            l.colour = (int)(v < 90 ? v - 30 : v - 82);
        else if (v == 38 || v == 48)
            break; /* 256 colours: the remaining numbers select one */
    }
    return l;
}

/* Parses the escape sequence at `p`; returns its bytes. ECMA-48: CSI ends with @…~, OSC with BEL or
 * ESC \. */
static size_t sequence(const unsigned char *p, size_t n, struct look *l)
{
    size_t i = 2;

    if (n < 2)
        return n;
    if (p[1] == '[') {
        while (i < n && p[i] >= 0x20 && p[i] < 0x40)
            i++;
        if (i < n && p[i] == 'm')
            *l = select_look(*l, p + 2, i - 2);
        return i < n && p[i] >= 0x40 && p[i] < 0x7f ? i + 1 : i;
    }
    if (p[1] == ']') {
        while (i < n && p[i] >= 0x20 && p[i] != 0x7f)
            i++;
        return i < n && p[i] == 0x07 ? i + 1 : i;
    }
    for (i = 1; i < n && p[i] >= 0x20 && p[i] < 0x30; i++) /* such as a character set selection */
        ;
    return i < n && p[i] >= 0x30 && p[i] < 0x7f ? i + 1 : i;
}

void sv_html_log(struct sv_html *h, const char *s, size_t n)
{
    const unsigned char *p = (const unsigned char *)s;
    struct look now = { .colour = -1 }, next;

    while (n > 0 && h->error >= 0) {
        size_t len = plain_run(p, n);

        if (len > 0)
            raw(h, p, len);
        else if (*p == ESCAPE) {
            next = now;
            len = sequence(p, n, &next);
            if (next.colour != now.colour || next.bold != now.bold) {
                end_look(h, now);
                begin_look(h, next);
                now = next;
            }
        } else if (*p == '\r') {
            len = 1;
            if (n < 2 || p[1] != '\n')
                raw(h, "\n", 1);
        } else
            len = put_character(h, p, n);
        p += len;
        n -= len;
    }
    end_look(h, now);
}
