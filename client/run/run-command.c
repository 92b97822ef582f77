/* See run-command.h. A NodeManager writes a command between double quotes as it stands, and
 * replaces <LOG_DIR>, {{ and the like in it, so few bytes are safe in all of them. */
#include "client/run/run-command.h"

#include <string.h>

#include "common/buf.h"

/* Quotes for the shell: 'text' with every ' as '\''. */
static int put_quoted(struct sv_buf *b, const char *text)
{
    int r = sv_buf_put_str(b, "'");

    for (const char *p = text; r == 0 && *p; p++)
        r = *p == '\'' ? sv_buf_put_str(b, "'\\''") : sv_buf_put(b, p, 1);
    return r < 0 ? r : sv_buf_put_str(b, "'");
}

static int put_words(struct sv_buf *b, const char *const *words)
{
    int r = sv_buf_put_str(b, "exec --");

    for (; r == 0 && *words; words++) {
        r = sv_buf_put_str(b, " ");
        if (r == 0)
            r = put_quoted(b, *words);
    }
    return r;
}

/* Within '…' within "…", with the NodeManager's marks in mind. */
static bool safe(const char *word)
{
    for (const char *p = word; *p; p++)
        if (*p < ' ' || *p > '~' || strchr("'\"$`\\<", *p))
            return false;
    return !strstr(word, "{{") && !strstr(word, "}}");
}

char *cli_run_words(const struct run_options *o, const struct run_group *g)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(CLI_COMMAND_MAX);

    if (g->is_line || o->n_env || g->n_env)
        return NULL;
    for (const char *const *word = g->command; *word; word++)
        if (!safe(*word))
            return NULL;
    if (put_words(&b, g->command) < 0 || sv_buf_put(&b, "", 1) < 0)
        return NULL;
    return (char *)SV_TAKE(b.data);
}

static int put_environment(struct sv_buf *b, const char *const *env, size_t n)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++) {
        const char *value = strchr(env[i], '=') + 1;

        r = sv_buf_printf(b, "export %.*s", (int)(value - env[i]), env[i]);
        if (r == 0)
            r = put_quoted(b, value);
        if (r == 0)
            r = sv_buf_put_str(b, "\n");
    }
    return r;
}

int cli_run_script(const struct run_options *o, const struct run_group *g, char **ret)
{
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(1 << 20);
    int r = sv_buf_put_str(&b, "#!/bin/bash\n");

    if (r == 0)
        r = put_environment(&b, o->env, o->n_env);
    if (r == 0)
        r = put_environment(&b, g->env, g->n_env);
    if (r == 0)
        r = g->is_line ? sv_buf_put_str(&b, g->command[0]) : put_words(&b, g->command);
    if (r == 0)
        r = sv_buf_put(&b, "\n", 2); /* includes the NUL */
    if (r < 0)
        return r;
    *ret = (char *)SV_TAKE(b.data);
    return 0;
}
