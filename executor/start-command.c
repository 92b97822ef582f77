/* See start.h: one command of words that bash would take as they are. */
#include <string.h>

#include "executor/start.h"

static char room[START_TEXT_MAX];

/* Builtins, and words that begin a form of bash's own. A name with a slash is none of them. */
static const char *const bashs[] = {
    "!",       ".",        ":",        "[",         "[[",       "]]",      "{",       "}",
    "alias",   "bg",       "bind",     "break",     "builtin",  "caller",  "case",    "cd",
    "command", "compgen",  "complete", "compopt",   "continue", "coproc",  "declare", "dirs",
    "disown",  "do",       "done",     "echo",      "elif",     "else",    "enable",  "esac",
    "eval",    "exec",     "exit",     "export",    "false",    "fc",      "fg",      "fi",
    "for",     "function", "getopts",  "hash",      "help",     "history", "if",      "in",
    "jobs",    "kill",     "let",      "local",     "logout",   "mapfile", "popd",    "printf",
    "pushd",   "pwd",      "read",     "readarray", "readonly", "return",  "select",  "set",
    "shift",   "shopt",    "source",   "suspend",   "test",     "then",    "time",    "times",
    "trap",    "true",     "type",     "typeset",   "ulimit",   "umask",   "unalias", "unset",
    "until",   "wait",     "while"
};

/* A byte that is itself outside of quotes. */
static bool plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_@%+=:,./-", c));
}

struct words {
    const char *p;
    char *to;
    bool quoted; /* some of the last word was */
};

static bool quoted(struct words *w)
{
    const char quote = *w->p++;
    w->quoted = true;
    for (; *w->p && *w->p != quote; w->p++) {
        if (quote == '"' && strchr("$`\\", *w->p))
            return false;
        *w->to++ = *w->p;
    }
    return *w->p++ == quote;
}

/* The word at `w->p`, or NULL; it ends before a blank, ">" or the end of the text. */
static char *next_word(struct words *w)
{
    char *begin = w->to;
    w->quoted = false;
    while (*w->p && !strchr(" \t\n>", *w->p)) {
        if (*w->p == '\'' || *w->p == '"') {
            if (!quoted(w))
                return NULL;
        } else if (plain(*w->p)) {
            *w->to++ = *w->p++;
        } else {
            return NULL;
        }
    }
    if (w->to == begin && !w->quoted)
        return NULL;
    *w->to++ = '\0';
    return begin;
}

static void blanks(struct words *w)
{
    while (*w->p == ' ' || *w->p == '\t')
        w->p++;
}

/* At ">", which is of descriptor `fd`. bash gives meanings of its own to names below /dev. */
static bool redirection(struct words *w, int fd, struct start_command *c)
{
    struct start_redirection *r = &c->redirections[c->n_redirections];
    if (c->n_redirections++ == START_REDIRECTIONS_MAX)
        return false;
    *r = (struct start_redirection){ .fd = fd, .from = -1 };
    w->p++;
    if (*w->p == '&') {
        r->from = w->p[1] - '0';
        w->p += 2;
        return (r->from == 1 || r->from == 2) && strchr(" \t\n", *w->p);
    }
    r->append = *w->p == '>';
    w->p += r->append;
    blanks(w);
    r->file = next_word(w);
    return r->file && *r->file && *w->p != '>' &&
           (strncmp(r->file, "/dev/", 5) != 0 || strcmp(r->file, "/dev/null") == 0);
}

static bool name_ok(const struct start_command *c)
{
    const char *name = c->argv[0];
    if (c->n == 0 || *name == '\0' || strchr(name, '='))
        return false;
    if (c->replaces)
        return *name != '-';
    if (*name == '%') /* bash's fg, of a job of that name */
        return false;
    for (size_t i = 0; i < sizeof(bashs) / sizeof(bashs[0]); i++)
        if (strcmp(name, bashs[i]) == 0)
            return false;
    return true;
}

bool start_read_command(const char *text, struct start_command *ret)
{
    struct words w = { text, room, false };
    if (strlen(text) >= sizeof(room) / 2) /* a word is not longer than its text and a NUL */
        return false;
    for (;;) {
        blanks(&w);
        if (*w.p == '\0' || (*w.p == '\n' && w.p[1] == '\0'))
            break;
        if (*w.p == '>') {
            if (!redirection(&w, 1, ret))
                return false;
            continue;
        }
        char *word = next_word(&w);
        if (!word || ret->n == START_WORDS_MAX)
            return false;
        if (*w.p == '>' && !w.quoted && strspn(word, "0123456789") == strlen(word)) {
            if ((strcmp(word, "1") != 0 && strcmp(word, "2") != 0) ||
                !redirection(&w, word[0] - '0', ret))
                return false;
            continue;
        }
        /* Only the first word, and as it stands, is bash's exec. */
        if (ret->n == 0 && !ret->replaces && !w.quoted && strcmp(word, "exec") == 0) {
            ret->replaces = true;
            blanks(&w);
            if (strncmp(w.p, "-- ", 3) == 0)
                w.p += 3;
            continue;
        }
        ret->argv[ret->n++] = word;
    }
    ret->argv[ret->n] = NULL;
    return name_ok(ret);
}
