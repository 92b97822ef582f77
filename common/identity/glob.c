/* See glob.h. A glob becomes a regular expression, as in Hadoop, so that both agree on the corners.
 * It is compiled for each comparison: one of a connection to a server. */
#include "common/identity/glob.h"

#include <errno.h>
#include <string.h>

#include "common/identity/java-regex.h"

struct translation {
    char text[3 * SV_GLOB_MAX + 1]; /* a brace becomes "(?:" */
    size_t n;
    unsigned open; /* braces */
    bool in_class;
};

static bool put(struct translation *t, const char *s)
{
    size_t n = strlen(s);

    if (t->n + n >= sizeof(t->text))
        return false;
    memcpy(t->text + t->n, s, n + 1);
    t->n += n;
    return true;
}

/* NULL: text that stands for itself. */
static const char *special(struct translation *t, const char *glob, size_t i)
{
    switch (glob[i]) {
    case '*':
        return ".*";
    case '?':
        return ".";
    case '{':
        t->open++;
        return "(?:";
    case ',':
        return t->open ? "|" : ",";
    case '}':
        if (!t->open)
            return "\\}";
        t->open--;
        return ")";
    case '[':
        t->in_class = true;
        return "[";
    case ']':
        t->in_class = false;
        return "]";
    case '^':
        return t->in_class ? "^" : "\\^";
    case '!':
        return t->in_class && i > 0 && glob[i - 1] == '[' ? "^" : "!";
    default:
        return NULL;
    }
}

/* NULL: good. */
static const char *translate(struct translation *t, const char *glob)
{
    for (size_t i = 0; glob[i]; i++) {
        char own[3] = { glob[i], 0, 0 };
        const char *s = own;

        if (t->in_class && glob[i] == '[')
            return "a [ without its ]";
        if (glob[i] == '\\') {
            own[1] = glob[++i];
            if (!own[1])
                return "ends in a backslash";
        } else if (strchr(".$()|+", glob[i])) {
            own[0] = '\\';
            own[1] = glob[i];
        } else {
            s = special(t, glob, i) ?: own;
        }
        if (!put(t, s))
            return "too long";
    }
    return t->in_class ? "a [ without its ]" : t->open ? "a { without its }" : NULL;
}

int sv_glob_match(const char *glob, const char *text, struct sv_error *err)
{
    _cleanup_(sv_java_regex_freep) struct sv_java_regex *x = NULL;
    struct translation t = { .n = 0 };
    struct sv_java_work work = { 0 };
    const char *why =
        strnlen(glob, SV_GLOB_MAX + 1) > SV_GLOB_MAX ? "too long" : translate(&t, glob);
    int r;

    if (why)
        return sv_error_set(err, -EINVAL, "\"%.200s\": %s", glob, why);
    r = sv_java_regex_new(t.text, t.n, true, &x, err);
    if (r < 0)
        return sv_error_wrap(err, "\"%.200s\"", glob);
    r = sv_java_regex_find(x, text, strlen(text), 0, &work, NULL);
    if (r < 0)
        return sv_error_set(err, r, "\"%.200s\": too much work to compare it", glob);
    return r;
}
