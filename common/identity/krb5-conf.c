/* See krb5-conf.h. */
#include "common/identity/krb5-conf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fd.h"
#include "common/str.h"

#define BLANKS " \t\r\f\v"

/* ---- One text ---- */

struct parse {
    const char *name;
    unsigned line;
    bool in_section, in_libdefaults;
    unsigned depth;   /* of braces */
    bool wants_brace; /* the last line was "tag =" */
    sv_krb5_include include;
    void *userdata;
    char *realm;
};

static int bad(const struct parse *p, struct sv_error *err, const char *what)
{
    return sv_error_set(err, -EINVAL, "%s:%u: %s", p->name, p->line, what);
}

static char *skip_blanks(char *s)
{
    return s + strspn(s, BLANKS);
}

static void cut_blanks(char *s)
{
    size_t n = strlen(s);

    while (n > 0 && strchr(BLANKS, s[n - 1]))
        s[--n] = 0;
}

/* True for "WORD" with a blank behind it at the start of the line; *ret: its argument. */
static bool is_directive(char *line, const char *word, char **ret)
{
    const size_t n = strlen(word);

    if (strncmp(line, word, n) != 0 || !line[n] || !strchr(BLANKS, line[n]))
        return false;
    *ret = skip_blanks(line + n);
    cut_blanks(*ret);
    return true;
}

static int on_include(const struct parse *p, const char *path, bool directory, struct sv_error *err)
{
    int r;

    if (*path != '/')
        return bad(p, err, "include and includedir take an absolute path");
    r = p->include(path, directory, p->userdata, err);
    return r < 0 ? sv_error_wrap(err, "%s:%u", p->name, p->line) : 0;
}

static int on_section(struct parse *p, char *s, struct sv_error *err)
{
    char *end = strchr(s, ']');

    if (p->depth > 0)
        return bad(p, err, "a section begins inside braces");
    if (!end)
        return bad(p, err, "a section without ]");
    *end = 0;
    p->in_section = true;
    p->in_libdefaults = sv_streq(s + 1, "libdefaults");
    return 0;
}

/* A text in quotes, up to the next one; a backslash takes the next byte as it is. */
static void unquote(char *s)
{
    char *to = s;

    for (s++; *s && *s != '"'; s++) {
        if (*s == '\\' && s[1])
            s++;
        *to++ = *s;
    }
    *to = 0;
}

static int take_realm(const struct parse *p, const char *value, struct sv_error *err)
{
    const size_t n = strlen(value);

    if (*p->realm)
        return 0;
    if (n == 0 || n > SV_REALM_MAX)
        return bad(p, err, "default_realm is empty, or longer than 255 bytes");
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)value[i] <= ' ' || strchr("/@\\\177", value[i]))
            return bad(p, err, "default_realm has a character that no realm has");
    memcpy(p->realm, value, n + 1);
    return 0;
}
_Static_assert(SV_REALM_MAX == 255, "the refusal above says so");

static int on_relation(struct parse *p, char *s, struct sv_error *err)
{
    char *equals = strchr(s, '='), *value;
    size_t n;

    if (!p->in_section)
        return bad(p, err, "a relation before the first section");
    if (!equals || equals == s)
        return bad(p, err, "neither a section nor \"tag = value\"");
    value = skip_blanks(equals + 1);
    *equals = 0;
    cut_blanks(s);
    if (s[strcspn(s, BLANKS)])
        return bad(p, err, "a tag with a blank in it");
    n = strlen(s);
    if (n > 1 && s[n - 1] == '*') /* a final one */
        s[n - 1] = 0;
    if (!*value) {
        p->wants_brace = true;
        return 0;
    }
    if (*value == '{' && !*skip_blanks(value + 1)) {
        p->depth++;
        return 0;
    }
    if (*value == '"')
        unquote(value);
    else
        cut_blanks(value);
    if (p->in_libdefaults && p->depth == 0 && sv_streq(s, "default_realm"))
        return take_realm(p, value, err);
    return 0;
}

static int on_line(struct parse *p, char *line, struct sv_error *err)
{
    char *s = skip_blanks(line), *path;

    if (p->wants_brace) {
        if (*s != '{' || *skip_blanks(s + 1))
            return bad(p, err, "a tag without a value and without an opening brace");
        p->wants_brace = false;
        p->depth++;
        return 0;
    }
    if (!*s || *s == ';' || *s == '#')
        return 0;
    if (is_directive(line, "include", &path) || is_directive(line, "includedir", &path))
        return on_include(p, path, sv_has_prefix(line, "includedir"), err);
    if (is_directive(line, "module", &path))
        return bad(p, err, "a module of libkrb5 that reads another configuration is not supported");
    if (*s == '[')
        return on_section(p, s, err);
    if (*s == '}') {
        if (p->depth == 0)
            return bad(p, err, "a closing brace without an opening one");
        p->depth--;
        return 0;
    }
    return on_relation(p, s, err);
}

int sv_krb5_parse(const char *name, const char *text, size_t len, sv_krb5_include include,
                  void *userdata, char realm[SV_REALM_MAX + 1], struct sv_error *err)
{
    struct parse p = { .name = name, .include = include, .userdata = userdata, .realm = realm };
    const char *end = text + len;
    char line[SV_KRB5_LINE_MAX + 1];

    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        const size_t n = (size_t)((newline ? newline : end) - text);
        int r;

        p.line++;
        if (n > SV_KRB5_LINE_MAX)
            return sv_error_set(err, -E2BIG, "%s:%u: a line longer than %d bytes", name, p.line,
                                SV_KRB5_LINE_MAX);
        if (memchr(text, 0, n))
            return bad(&p, err, "a NUL");
        memcpy(line, text, n);
        line[n] = 0;
        r = on_line(&p, line, err);
        if (r < 0)
            return r;
        text = newline ? newline + 1 : end;
    }
    return p.depth > 0 || p.wants_brace ? bad(&p, err, "a brace is not closed") : 0;
}

/* ---- Files ---- */

struct files {
    unsigned n, nested;
    char *realm;
};

static int on_file(const char *path, bool directory, void *userdata, struct sv_error *err);

static int read_file(struct files *f, const char *path, struct sv_error *err)
{
    _cleanup_free_ char *text = NULL;
    size_t len;
    int r;

    if (f->n++ >= SV_KRB5_FILES_MAX)
        return sv_error_set(err, -E2BIG, "%s: more than %d files of krb5.conf", path,
                            SV_KRB5_FILES_MAX);
    r = sv_read_file_at(AT_FDCWD, path, SV_KRB5_FILE_MAX, &text, &len);
    if (r < 0)
        return sv_error_errno(err, r, "%s", path);
    return sv_krb5_parse(path, text, len, on_file, f, f->realm, err);
}

/* Names that libkrb5 reads of a directory. */
static int is_read(const struct dirent *e)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    const size_t n = strlen(e->d_name);

    if (*e->d_name == '.')
        return 0;
    return (n > 5 && sv_streq(e->d_name + n - 5, ".conf")) ||
           !e->d_name[strspn(e->d_name, letters)];
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_directory(struct files *f, const char *path, struct sv_error *err)
{
    struct dirent **list = NULL;
    int n = scandir(path, &list, is_read, by_name), r = 0;

    if (n < 0)
        return sv_error_errno(err, -errno, "%s", path);
    for (int i = 0; i < n; i++) {
        _cleanup_free_ char *file = NULL;

        if (r >= 0 && sv_asprintf(&file, "%s/%s", path, list[i]->d_name) < 0)
            r = sv_error_set(err, -ENOMEM, "out of memory");
        if (r >= 0)
            r = read_file(f, file, err);
        free(list[i]);
    }
    free(list);
    return r;
}

static int on_file(const char *path, bool directory, void *userdata, struct sv_error *err)
{
    struct files *f = userdata;
    int r;

    if (f->nested == SV_KRB5_NESTED_MAX)
        return sv_error_set(err, -E2BIG, "%s: files that include one another, %d levels deep", path,
                            SV_KRB5_NESTED_MAX);
    f->nested++;
    r = directory ? read_directory(f, path, err) : read_file(f, path, err);
    f->nested--;
    return r;
}

int sv_krb5_default_realm(const char *path, char ret[SV_REALM_MAX + 1], struct sv_error *err)
{
    char realm[SV_REALM_MAX + 1] = "";
    struct files f = { .realm = realm };
    int r = read_file(&f, path, err);

    if (r < 0)
        return r;
    if (!*realm)
        return sv_error_set(err, -ENODATA, "%s: [libdefaults] has no default_realm", path);
    memcpy(ret, realm, strlen(realm) + 1);
    return 0;
}
