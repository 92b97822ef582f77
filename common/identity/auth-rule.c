/* See auth-rule.h. The grammar is that of KerberosName's expression for a rule, with what it would
 * fail on later, when a principal comes, refused now: a $ without a number, groups that are not
 * there, a line's end inside a part, which hides a forgotten slash. */
#include "common/identity/auth-rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RULE "RULE:["
#define DEFAULT "DEFAULT"

void auth_rule_clear(struct auth_rule *r)
{
    free(r->text);
    free(r->format);
    free(r->to);
    sv_java_regex_free(r->match);
    sv_java_regex_free(r->from);
    *r = (struct auth_rule){ .text = NULL };
}

/* ---- Bounded texts ---- */

static int append(struct auth_text *t, const char *s, size_t n)
{
    if (n > AUTH_TEXT_MAX - t->n)
        return -ENAMETOOLONG;
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = 0;
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- Formats: $0 is the realm, $1 and $2 are the components ---- */

static const char *const no_number = "a $ without a number";

/* NULL: the format is good. */
static const char *check_format(const char *format, int64_t components)
{
    for (const char *c = format; (c = strchr(c, '$'));) {
        int64_t n = 0;

        if (!is_digit(*++c))
            return no_number;
        for (; is_digit(*c); c++)
            n = n > components ? n : n * 10 + (*c - '0');
        if (n > components)
            return "a $ with a number that is higher than the number of components";
    }
    return NULL;
}

static int put_format(const char *format, const struct sv_principal *p, struct auth_text *ret)
{
    const char *const values[] = { p->realm, p->name, p->host };
    int r = 0;

    while (*format && r >= 0) {
        size_t plain = strcspn(format, "$"), n = 0;

        r = append(ret, format, plain);
        format += plain;
        if (r < 0 || !*format)
            continue;
        for (format++; is_digit(*format); format++)
            n = n * 10 + (size_t)(*format - '0'); /* at most 2: check_format */
        /* Java would write "null". */
        r = n == 0 && !*p->realm ? -EINVAL : append(ret, values[n], strlen(values[n]));
    }
    return r;
}

/* ---- Replacements: $n is a group, a backslash takes the next character as it is ---- */

/* Reads Java's number of a group: as many digits as make the number of a group. */
static bool group_number(const char **to, unsigned groups, unsigned *ret)
{
    unsigned n;

    if (!is_digit(**to))
        return false;
    n = (unsigned)(*(*to)++ - '0');
    while (is_digit(**to) && n * 10 + (unsigned)(**to - '0') <= groups)
        n = n * 10 + (unsigned)(*(*to)++ - '0');
    *ret = n;
    return n <= groups;
}

/* NULL: the replacement is good. */
static const char *check_replacement(const char *to, unsigned groups)
{
    unsigned n;

    while (*to) {
        if (*to == '\\' && !to[1])
            return "a replacement that ends in a backslash";
        if (*to == '\\') {
            to += 2;
        } else if (*to != '$') {
            to++;
        } else {
            to++;
            if (!group_number(&to, groups, &n))
                return "a $ in a replacement that names no group: write \\$ for the character";
        }
    }
    return NULL;
}

static int put_replacement(const char *to, unsigned groups, const char *base,
                           const struct sv_java_match *m, struct auth_text *ret)
{
    unsigned n = 0;
    int r = 0;

    while (*to && r >= 0) {
        if (*to == '$') {
            to++;
            if (!group_number(&to, groups, &n))
                return -EINVAL; /* check_replacement() has refused it */
            if (m->start[n] != SIZE_MAX)
                r = append(ret, base + m->start[n], m->end[n] - m->start[n]);
            continue;
        }
        to += *to == '\\';
        r = append(ret, to++, 1);
    }
    return r;
}

static size_t character(const char *s, size_t n)
{
    size_t len = 1;

    while (len < n && ((unsigned char)s[len] & 0xc0) == 0x80)
        len++;
    return len;
}

/* Matcher.replaceFirst() and replaceAll(): behind an empty match the next one begins a character
 * later, behind another where it ended. */
static int replace(const struct auth_rule *rule, const struct auth_text *base,
                   struct sv_java_work *work, struct auth_text *ret)
{
    const unsigned groups = sv_java_regex_groups(rule->from);
    size_t at = 0, copied = 0;
    struct sv_java_match m;
    int r = 1;

    while (at <= base->n) {
        r = sv_java_regex_find(rule->from, base->s, base->n, at, work, &m);
        if (r <= 0)
            break;
        r = append(ret, base->s + copied, m.start[0] - copied);
        if (r >= 0)
            r = put_replacement(rule->to, groups, base->s, &m, ret);
        if (r < 0)
            break;
        copied = at = m.end[0];
        if (m.start[0] == m.end[0])
            at += at < base->n ? character(base->s + at, base->n - at) : 1;
        if (!rule->all)
            break;
    }
    return r < 0 ? r : append(ret, base->s + copied, base->n - copied);
}

int auth_rule_apply(const struct auth_rule *rule, const struct sv_principal *p,
                    const char *default_realm, struct sv_java_work *work, struct auth_text *ret)
{
    struct auth_text base = { .n = 0 };
    int r;

    ret->n = 0;
    ret->s[0] = 0;
    if (rule->is_default) {
        if (!default_realm || !*p->realm || strcmp(default_realm, p->realm) != 0)
            return 0;
        r = append(ret, p->name, strlen(p->name));
        return r < 0 ? r : 1;
    }
    if (rule->components != (*p->host ? 2 : 1))
        return 0;
    r = put_format(rule->format, p, &base);
    if (r >= 0 && rule->match) {
        r = sv_java_regex_find(rule->match, base.s, base.n, 0, work, NULL);
        if (r == 0)
            return 0;
    }
    if (r < 0)
        return r;
    r = rule->from ? replace(rule, &base, work, ret) : append(ret, base.s, base.n);
    return r < 0 ? r : 1;
}

/* ---- Grammar ---- */

struct parse {
    const char *text, *p;
    struct auth_rule *rule;
    struct sv_error *err;
};

static int refuse_at(struct parse *s, const char *at, const char *why)
{
    s->p = at;
    return sv_error_set(s->err, -EINVAL, "%s", why);
}

/* Takes a part until `end`, which is skipped; the part has no line's end. */
static int part(struct parse *s, char end, const char *missing, const char **ret, size_t *ret_len)
{
    const char stops[] = { end, '\n', '\r', 0 };
    const char *start = s->p;
    size_t n = strcspn(start, stops);

    if (start[n] != end)
        return refuse_at(s, start + n, missing);
    *ret = start;
    *ret_len = n;
    s->p = start + n + 1;
    return 0;
}

static int regex(struct parse *s, const char *text, size_t len, bool whole,
                 struct sv_java_regex **ret)
{
    int r = sv_java_regex_new(text, len, whole, ret, s->err);

    if (r >= 0)
        return r;
    s->p = text;
    return sv_error_wrap(s->err, "expression \"%.*s\"", (int)SV_MIN(len, (size_t)200), text);
}

static int header(struct parse *s)
{
    const char *digits = s->p, *format, *why;
    size_t n = strspn(digits, "0123456789"), len;
    int r;

    if (n == 0 || n > 9)
        return refuse_at(s, digits, "expected the number of components");
    for (size_t i = 0; i < n; i++)
        s->rule->components = s->rule->components * 10 + (digits[i] - '0');
    if (digits[n] != ':')
        return refuse_at(s, digits + n, "expected : behind the number of components");
    s->p = digits + n + 1;
    r = part(s, ']', "expected the ] of RULE:[n:format]", &format, &len);
    if (r < 0)
        return r;
    s->rule->format = strndup(format, len);
    if (!s->rule->format)
        return -ENOMEM;
    why = check_format(s->rule->format, s->rule->components);
    return why ? refuse_at(s, format, why) : 0;
}

static int substitution(struct parse *s)
{
    const char *from, *to, *why;
    size_t from_len, to_len;
    int r;

    s->p += 2; /* s/ */
    r = part(s, '/', "expected the second / of s/from/to/", &from, &from_len);
    if (r >= 0)
        r = part(s, '/', "expected the third / of s/from/to/", &to, &to_len);
    if (r >= 0)
        r = regex(s, from, from_len, false, &s->rule->from);
    if (r < 0)
        return r;
    s->rule->to = strndup(to, to_len);
    if (!s->rule->to)
        return -ENOMEM;
    why = check_replacement(s->rule->to, sv_java_regex_groups(s->rule->from));
    if (why)
        return refuse_at(s, to, why);
    if (*s->p == 'g') {
        s->rule->all = true;
        s->p++;
    }
    return 0;
}

static int rule(struct parse *s)
{
    const char *text;
    size_t len;
    int r;

    s->p += strlen(RULE);
    r = header(s);
    if (r >= 0 && *s->p == '(') {
        s->p++;
        r = part(s, ')', "expected the ) of RULE:[n:format](match)", &text, &len);
        if (r >= 0)
            r = regex(s, text, len, true, &s->rule->match);
    }
    if (r >= 0 && s->p[0] == 's' && s->p[1] == '/')
        r = substitution(s);
    return r;
}

static int one(struct parse *s)
{
    bool lower;
    int r = 0;

    if (strncmp(s->p, DEFAULT, strlen(DEFAULT)) == 0) {
        s->rule->is_default = true;
        s->p += strlen(DEFAULT);
    } else if (strncmp(s->p, RULE, strlen(RULE)) == 0) {
        r = rule(s);
    } else {
        r = refuse_at(s, s->p, "expected DEFAULT or RULE:[n:format](match)s/from/to/");
    }
    if (r < 0)
        return r;
    s->p += *s->p == '/';
    lower = *s->p == 'L';
    s->p += lower;
    s->rule->lower = lower && !s->rule->is_default; /* as Hadoop */
    s->rule->text = strndup(s->text, (size_t)(s->p - s->text));
    return s->rule->text ? 0 : -ENOMEM;
}

int auth_rule_parse(const char *text, struct auth_rule *ret, size_t *ret_len, size_t *ret_at,
                    struct sv_error *err)
{
    struct auth_rule new = { .text = NULL };
    struct sv_error own;
    struct parse s = { .text = text, .p = text, .rule = &new, .err = err ? err : &own };
    int r = one(&s);

    if (r < 0) {
        auth_rule_clear(&new);
        *ret_at = (size_t)(s.p - text);
        return r == -ENOMEM ? sv_error_set(err, r, "out of memory") : r;
    }
    *ret = new;
    *ret_len = (size_t)(s.p - text);
    return 0;
}
