/* See start.h. A recursive descent over the text: each function reads one form or refuses, and a
 * refusal is final. No effect but in memory of its own. */
#include <stdio.h>
#include <string.h>

#include "executor/start.h"

static char pool[START_TEXT_MAX]; /* pages that nothing is written to cost nothing */
static size_t used;

struct reader {
    const char *p;
    const struct start_shell *shell;
    struct start_plan *plan;
};

static bool put(char c)
{
    if (used == sizeof(pool))
        return false;
    pool[used++] = c;
    return true;
}

static bool put_text(const char *s)
{
    while (*s)
        if (!put(*s++))
            return false;
    return true;
}

static bool take(struct reader *r, const char *text)
{
    size_t n = strlen(text);
    if (strncmp(r->p, text, n) != 0)
        return false;
    r->p += n;
    return true;
}

/* ---- names ----------------------------------------------------------------------------------*/

static bool name_byte(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

static size_t name_length(const char *s)
{
    size_t n = 0;
    while (name_byte(s[n], n == 0))
        n++;
    return n;
}

/* Variables that mean something to bash, have values that it makes, or change how it reads. */
static bool is_bashs(const char *name, size_t n)
{
    static const char *const prefixes[] = { "BASH", "COMP_", "LC_" };
    static const char *const names[] = {
        "_",        "CHILD_MAX",     "COLUMNS",      "COPROC",        "DIRSTACK",
        "ENV",      "EPOCHREALTIME", "EPOCHSECONDS", "EUID",          "EXECIGNORE",
        "FUNCNAME", "FUNCNEST",      "GLOBIGNORE",   "GLOBSORT",      "GROUPS",
        "HISTCMD",  "HOSTTYPE",      "IFS",          "LANGUAGE",      "LINENO",
        "LINES",    "MACHTYPE",      "MAPFILE",      "OLDPWD",        "OPTARG",
        "OPTERR",   "OPTIND",        "OSTYPE",       "PIPESTATUS",    "POSIXLY_CORRECT",
        "PPID",     "PS4",           "RANDOM",       "READLINE_LINE", "REPLY",
        "SECONDS",  "SHELLOPTS",     "SHLVL",        "SRANDOM",       "TMOUT",
        "UID"
    };
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == n && memcmp(name, names[i], n) == 0)
            return true;
    return false;
}

/* LANG, which every script has by the default whitelist, decides what a character is: in these
 * encodings no part of one is a byte that means something to a shell. */
static bool is_plain_language(const char *value)
{
    const char *dot = strchr(value, '.');
    return *value == '\0' || strcmp(value, "C") == 0 || strcmp(value, "POSIX") == 0 ||
           (dot && (strcmp(dot, ".UTF-8") == 0 || strcmp(dot, ".utf8") == 0));
}

/* Those that bash gives a value to where they have none, and which may be set. */
static bool is_made_up(const char *name, size_t n)
{
    return (n == 8 && memcmp(name, "HOSTNAME", n) == 0) ||
           (n == 5 && memcmp(name, "SHELL", n) == 0) || (n == 4 && memcmp(name, "TERM", n) == 0) ||
           (n == 4 && memcmp(name, "HOME", n) == 0);
}

static struct start_variable *find(struct start_plan *plan, const char *name, size_t n)
{
    for (size_t i = 0; i < plan->n_variables; i++)
        if (strncmp(plan->variables[i].name, name, n) == 0 && !plan->variables[i].name[n])
            return &plan->variables[i];
    return NULL;
}

static bool set(struct start_plan *plan, const char *name, const char *value)
{
    struct start_variable *v = find(plan, name, strlen(name));
    if (!v && plan->n_variables == START_VARIABLES_MAX)
        return false;
    if (!v)
        v = &plan->variables[plan->n_variables++];
    *v = (struct start_variable){ name, value };
    return true;
}

/* Appends the value of the variable; one that is not set has none. */
static bool put_value(const struct reader *r, const char *name, size_t n)
{
    const struct start_variable *v = find(r->plan, name, n);
    return v ? put_text(v->value) : !is_bashs(name, n) && !is_made_up(name, n);
}

/* ---- words ----------------------------------------------------------------------------------*/

/* A word of exe_quote(): '…', where '\'' is a quote. NULL: another word. */
static const char *literal(struct reader *r)
{
    const char *begin = pool + used;
    do {
        if (!take(r, "'"))
            return NULL;
        for (; *r->p && *r->p != '\''; r->p++)
            if (!put(*r->p))
                return NULL;
        if (!take(r, "'"))
            return NULL;
    } while (take(r, "\\'") && put('\''));
    return put('\0') ? begin : NULL;
}

/* After a dollar sign within double quotes. */
static bool reference(struct reader *r)
{
    char pid[16];
    const bool braces = take(r, "{");
    const size_t n = name_length(r->p);
    const char *name = r->p;
    r->p += n;
    if (n > 0)
        return (!braces || take(r, "}")) && put_value(r, name, n);
    if (braces || (*r->p && strchr("([@*#?-!0123456789'", *r->p)))
        return false;
    if (!take(r, "$"))
        return put('$');
    (void)snprintf(pid, sizeof(pid), "%d", (int)r->shell->pid);
    return put_text(pid);
}

/* A word of exe_quote_expand(): "…" with references to variables and nothing else that is
 * evaluated. NULL: another word. */
static const char *expanded(struct reader *r)
{
    const char *begin = pool + used;
    if (!take(r, "\""))
        return NULL;
    while (*r->p && *r->p != '"') {
        const char c = *r->p++;
        bool good = true;
        if (c == '`')
            return NULL;
        if (c == '$')
            good = reference(r);
        else if (c == '\\' && *r->p == '\n')
            r->p++;
        else if (c == '\\' && *r->p && strchr("$`\"\\", *r->p))
            good = put(*r->p++);
        else
            good = put(c);
        if (!good)
            return NULL;
    }
    return take(r, "\"") && put('\0') ? begin : NULL;
}

/* ---- lines ----------------------------------------------------------------------------------*/

/* After "export ". */
static bool variable(struct reader *r)
{
    const size_t n = name_length(r->p);
    const char *name = pool + used, *text = r->p, *value;
    if (n == 0 || is_bashs(text, n))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!put(text[i]))
            return false;
    r->p += n;
    if (!put('\0') || !take(r, "="))
        return false;
    if (take(r, "${")) { /* NAME=${NAME:-"…"} */
        const struct start_variable *old = find(r->plan, name, n);
        if (!take(r, name) || !take(r, ":-") || !(value = expanded(r)) || !take(r, "}"))
            return false;
        if (!old && is_made_up(name, n))
            return false;
        if (old && *old->value)
            value = old->value;
    } else {
        value = *r->p == '\'' ? literal(r) : expanded(r);
    }
    if (value && strcmp(name, "LANG") == 0 && !is_plain_language(value))
        return false;
    return value && take(r, "\n") && set(r->plan, name, value);
}

/* export VARIABLE='…' and a redirection to it. */
static bool prelaunch_file(struct reader *r, const char *name, const char *redirection,
                           const char **ret)
{
    return take(r, "export ") && take(r, name) && take(r, "=") && (*ret = literal(r)) &&
           take(r, "\nexec ") && take(r, redirection) && take(r, "\"${") && take(r, name) &&
           take(r, "}\"\n") && set(r->plan, name, *ret);
}

static bool step(struct reader *r)
{
    static const char *const words[] = { "mkdir -p -- ", "rm -rf -- ", "ln -sf -- " };
    struct start_step *s = &r->plan->steps[r->plan->n_steps];
    for (int i = 0; i < 3; i++) {
        if (!take(r, words[i]))
            continue;
        if (r->plan->n_steps++ == START_STEPS_MAX)
            return false;
        s->what = i;
        s->target = i == START_LINK ? literal(r) : "";
        if (!s->target || (i == START_LINK && !take(r, " ")))
            return false;
        s->name = literal(r);
        return s->name && *s->name && take(r, "\n");
    }
    return false;
}

/* The lines about container-debug-info, whose work container-start does itself; those for a
 * container that does not see it are passed over. */
static bool debugging(struct reader *r)
{
    const char *end;
    if (!take(r, "selvedge_debug_info=()\nif [ -x ") || !literal(r) || !take(r, " ]; then\n") ||
        !take(r, "selvedge_debug_info=(") || !literal(r) || !take(r, " ") ||
        !(r->plan->debug_logs = literal(r)) || strchr(r->plan->debug_logs, '\n') ||
        !take(r, ")\nelse\n") || !(end = strstr(r->p, "\nfi\n")))
        return false;
    r->p = end + 4;
    return true;
}

bool start_read_script(const char *text, size_t len, const struct start_shell *shell,
                       struct start_plan *ret)
{
    struct reader r = { text, shell, ret };
    used = 0;
    if (memchr(text, '\0', len) || text[len] != '\0' || !set(ret, "PATH", shell->path) ||
        !set(ret, "PWD", shell->directory) || !take(&r, "#!/bin/bash\n\nset -o pipefail -e\n") ||
        !prelaunch_file(&r, "PRELAUNCH_OUT", ">", &ret->out) ||
        !prelaunch_file(&r, "PRELAUNCH_ERR", "2>", &ret->err) ||
        !take(&r, "echo \"Setting up env variables\"\n"))
        return false;
    while (take(&r, "export "))
        if (!variable(&r))
            return false;
    if (!take(&r, "echo \"Setting up job resources\"\n"))
        return false;
    while (!take(&r, "echo "))
        if (!step(&r))
            return false;
    if (take(&r, "\"Copying debugging information\"\n") && (!debugging(&r) || !take(&r, "echo ")))
        return false;
    if (!take(&r, "\"Launching container\"\nexec "))
        return false;
    if (ret->debug_logs && !take(&r, "\"${selvedge_debug_info[@]}\" "))
        return false;
    return take(&r, "/bin/bash -c ") && (ret->command = expanded(&r)) && take(&r, "\n") &&
           *r.p == '\0';
}
