/* See java-dialect.h. One pass over the text; PCRE2 itself checks what is left, such as parentheses
 * and the order of ranges. */
#include "common/identity/java-dialect.h"

#include <errno.h>
#include <string.h>

#define REPEAT_MAX_DIGITS 3

struct scan {
    const char *text;
    size_t len, at;
    bool atom; /* what stands before may be repeated */
    bool ascii_only;
    const char *why;
};

static int peek(const struct scan *s, size_t ahead)
{
    return s->at + ahead < s->len ? (unsigned char)s->text[s->at + ahead] : -1;
}

static bool refuse(struct scan *s, const char *why)
{
    s->why = why;
    return false;
}

static bool is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(int c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_class_escape(int c)
{
    return c > 0 && strchr("dDsSwW", c);
}

static bool escape(struct scan *s, bool in_class)
{
    int c = peek(s, 1);

    if (c < 0)
        return refuse(s, "ends in a backslash");
    if (c == 0 || c >= 0x80)
        return refuse(s, "a backslash before a character that is not ASCII");
    s->atom = true;
    if (is_digit(c))
        return refuse(s, "back references and octal numbers are not supported");
    if (c == 'x' && is_hex(peek(s, 2)) && is_hex(peek(s, 3))) {
        s->at += 4;
        return true;
    }
    if (!in_class && strchr("bBAzZ", c)) {
        s->atom = false;
        s->ascii_only = s->ascii_only || c == 'b' || c == 'B';
    } else if (is_letter(c) && !is_class_escape(c) && !strchr("tnrfea", c)) {
        return refuse(s, "this escape means something else in Java than here, or nothing");
    }
    s->at += 2;
    return true;
}

/* `a-\d` and `\d-z` are read as ranges by one and as single characters by the other. */
static bool range_is_clear(struct scan *s, bool behind_class)
{
    if (peek(s, 0) != '-')
        return true;
    if (behind_class && peek(s, 1) != ']')
        return refuse(s, "a range that begins with a class");
    if (peek(s, 1) == '\\' && is_class_escape(peek(s, 2)))
        return refuse(s, "a range that ends with a class");
    return true;
}

static bool class(struct scan *s)
{
    size_t first;

    s->at += peek(s, 1) == '^' ? 2 : 1;
    for (first = s->at; peek(s, 0) != ']' || s->at == first;) {
        bool behind_class = false;
        int c = peek(s, 0);

        if (c < 0)
            return refuse(s, "a [ without its ]");
        if (c == ']')
            return refuse(s, "a class that begins with ]: write \\]");
        if (c == '[')
            return refuse(s, "a [ inside a class, which is a union in Java: write \\[");
        if (c == '&' && peek(s, 1) == '&')
            return refuse(s, "&& inside a class, which is an intersection in Java");
        if (c == '\\') {
            behind_class = is_class_escape(peek(s, 1));
            if (!escape(s, true))
                return false;
        } else {
            s->at++;
        }
        if (!range_is_clear(s, behind_class))
            return false;
    }
    s->at++;
    s->atom = true;
    return true;
}

static bool open_group(struct scan *s)
{
    static const char *const kinds[] = { "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>" };

    s->atom = false;
    if (peek(s, 1) == '*')
        return refuse(s, "(* begins a verb of PCRE2");
    if (peek(s, 1) != '?') {
        s->at++;
        return true;
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(kinds); i++) {
        size_t n = strlen(kinds[i]);

        if (s->len - s->at >= n && memcmp(s->text + s->at, kinds[i], n) == 0) {
            s->at += n;
            return true;
        }
    }
    if (peek(s, 2) == 'i' && (peek(s, 3) == ')' || peek(s, 3) == ':')) {
        s->ascii_only = true;
        s->at += 4;
        return true;
    }
    return refuse(s, "of the groups that begin with (? there are (?: (?= (?! (?<= (?<! (?> (?i) "
                     "(?i:");
}

/* {n}, {n,}, {n,m} */
static bool braces(struct scan *s)
{
    size_t at = 1, digits = 0, commas = 0;

    for (; is_digit(peek(s, at)) || (peek(s, at) == ',' && digits && !commas); at++) {
        commas += peek(s, at) == ',';
        digits = peek(s, at) == ',' ? 0 : digits + 1;
        if (digits > REPEAT_MAX_DIGITS)
            return refuse(s, "a repetition of more than 999");
    }
    if (peek(s, at) != '}' || (!digits && !commas))
        return refuse(s, "a { that begins no {n}, {n,} or {n,m}: write \\{");
    s->at += at + 1;
    return true;
}

static bool quantifier(struct scan *s)
{
    if (!s->atom)
        return refuse(s, "nothing to repeat");
    if (peek(s, 0) != '{')
        s->at++;
    else if (!braces(s))
        return false;
    if (peek(s, 0) == '?' || peek(s, 0) == '+')
        s->at++;
    s->atom = false;
    return true;
}

static bool item(struct scan *s)
{
    int c = peek(s, 0);

    switch (c) {
    case '\\':
        return escape(s, false);
    case '[':
        return class(s);
    case '(':
        return open_group(s);
    case '*':
    case '+':
    case '?':
    case '{':
        return quantifier(s);
    default:
        s->atom = c != '|' && c != '^' && c != '$';
        s->at++;
        return true;
    }
}

int sv_java_dialect_check(const char *text, size_t len, struct sv_java_dialect *ret,
                          struct sv_error *err)
{
    struct scan s = { .text = text, .len = len };

    while (s.at < len)
        if (!item(&s))
            return sv_error_set(err, -EINVAL, "at byte %zu: %s", s.at + 1, s.why);
    *ret = (struct sv_java_dialect){ .ascii_only = s.ascii_only };
    return 0;
}
