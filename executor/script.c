/* launch_container.sh; see script.h. Output is bash; names and values in it come from applications.
 * Quoting: our own words by exe_quote, the application's by exe_quote_expand, names only after
 * validation. */
#include "executor/script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "executor/marks.h"

#define NAME_MAX_BYTES 256 /* of a variable, with its NUL */
#define ENV_OWN_MAX 1024   /* the daemon's variables, beside the application's */

int exe_quote(struct sv_buf *out, const char *s)
{
    int r = sv_buf_put_u8(out, '\'');
    for (; r == 0 && *s; s++)
        r = *s == '\'' ? sv_buf_put_str(out, "'\\''") : sv_buf_put_u8(out, (uint8_t)*s);
    return r < 0 ? r : sv_buf_put_u8(out, '\'');
}

int exe_quote_expand(struct sv_buf *out, const char *s)
{
    bool escaped = false; /* the previous byte is a backslash that escapes this one */
    int r = sv_buf_put_u8(out, '"');
    for (; r == 0 && *s; s++) {
        if (*s == '"' && !escaped)
            r = sv_buf_put_u8(out, '\\');
        if (r == 0)
            r = sv_buf_put_u8(out, (uint8_t)*s);
        escaped = *s == '\\' && !escaped;
    }
    if (r == 0 && escaped)
        r = sv_buf_put_u8(out, '\\');
    return r < 0 ? r : sv_buf_put_u8(out, '"');
}

static bool name_start(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool name_byte(char c)
{
    return name_start(c) || (c >= '0' && c <= '9');
}

static bool name_ok(const char *s)
{
    size_t n = 1;
    if (!name_start(s[0]))
        return false;
    while (name_byte(s[n]))
        n++;
    return s[n] == '\0' && n < NAME_MAX_BYTES;
}

/* Link names: relative, without "..", without special components. */
static bool link_ok(const char *s)
{
    if (!*s || *s == '/' || strlen(s) > 1024)
        return false;
    for (const char *c = s; *c;) {
        size_t n = strcspn(c, "/");
        if (n == 0 || n > 255 || (n == 2 && c[0] == '.' && c[1] == '.'))
            return false;
        c += n;
        if (*c && !*++c)
            return false;
    }
    return true;
}

/* One variable during the sort. */
struct var {
    const struct exe_env *env;
    const char *value; /* marks replaced */
    size_t at;         /* index in exe_script's list */
    enum { NEW, OPEN, DONE } state;
};

/* The application chooses the names and could make them collide in a hash table: a sorted array has
 * no bad case. */
struct order {
    struct var *v;      /* in the order of the first entry of each name */
    struct var **names; /* sorted by name */
    size_t n;           /* of both */
    uint64_t comparisons;
    struct sv_buf *out;
};

static int emit(const struct var *v, struct sv_buf *out)
{
    int r;
    if ((r = sv_buf_put_str(out, "export ")) < 0 || (r = sv_buf_put_str(out, v->env->name)) < 0 ||
        (r = sv_buf_put_u8(out, '=')) < 0)
        return r;
    if (v->env->kind == EXE_ENV_LITERAL) {
        r = exe_quote(out, v->value);
    } else if (v->env->kind == EXE_ENV_WHITELIST) {
        if ((r = sv_buf_printf(out, "${%s:-", v->env->name)) < 0 ||
            (r = exe_quote_expand(out, v->value)) < 0)
            return r;
        r = sv_buf_put_u8(out, '}');
    } else {
        r = exe_quote_expand(out, v->value);
    }
    return r < 0 ? r : sv_buf_put_u8(out, '\n');
}

/* Compares the `n` bytes at `name` with the name of `v`. */
static int compare(struct order *o, const char *name, size_t n, const struct var *v)
{
    int r = strncmp(name, v->env->name, n);
    o->comparisons++;
    return r ? r : v->env->name[n] ? -1 : 0;
}

static struct var *find(struct order *o, const char *name, size_t n)
{
    for (size_t low = 0, high = o->n; low < high;) {
        size_t middle = low + (high - low) / 2;
        int r = compare(o, name, n, o->names[middle]);
        if (r == 0)
            return o->names[middle];
        low = r > 0 ? middle + 1 : low;
        high = r < 0 ? middle : high;
    }
    return NULL;
}

static int by_name(const void *a, const void *b, void *userdata)
{
    const struct var *x = *(struct var *const *)a, *y = *(struct var *const *)b;
    int r = strcmp(x->env->name, y->env->name);
    ((struct order *)userdata)->comparisons++;
    return r ? r : x->at < y->at ? -1 : x->at > y->at;
}

/* Sorts the names. Of entries with one name the first keeps its place and gets the value of the
 * last; the others are marked done. */
static void sort_names(struct order *o)
{
    size_t n = o->n, kept = 0;
    qsort_r(o->names, n, sizeof(struct var *), by_name, o);
    for (size_t i = 0; i < n; i++) {
        struct var *last = kept ? o->names[kept - 1] : NULL, *v = o->names[i];
        if (last && strcmp(last->env->name, v->env->name) == 0) {
            last->env = v->env;
            last->value = v->value;
            v->state = DONE;
        } else {
            o->names[kept++] = v;
        }
    }
    o->n = kept;
}

/* The next variable referred to by `*s` ($NAME, ${NAME…}); moves `*s` after it. */
static struct var *next_reference(struct order *o, const char **s)
{
    for (const char *p = *s; *p; p++) {
        if (*p == '\\' && p[1]) {
            p++;
            continue;
        }
        if (*p != '$')
            continue;
        const char *name = p[1] == '{' ? p + 2 : p + 1;
        size_t n = 0;
        while (name_byte(name[n]))
            n++;
        struct var *v = n && n < NAME_MAX_BYTES ? find(o, name, n) : NULL;
        if (v) {
            *s = name + n;
            return v;
        }
    }
    return NULL;
}

/* Writes the variables that `v` refers to, then `v`; a cycle is broken at its last edge. The depth
 * is limited explicitly: names are the application's. */
static int place(struct order *o, struct var *v)
{
    struct {
        struct var *v;
        const char *rest;
    } stack[64];
    size_t depth = 0;
    if (v->state != NEW)
        return 0;
    v->state = OPEN;
    stack[depth].v = v;
    stack[depth++].rest = v->env->kind == EXE_ENV_LITERAL ? "" : v->value;
    while (depth > 0) {
        struct var *next = next_reference(o, &stack[depth - 1].rest);
        if (next && next->state == NEW && depth < SV_ARRAY_LEN(stack)) {
            next->state = OPEN;
            stack[depth].v = next;
            stack[depth++].rest = next->env->kind == EXE_ENV_LITERAL ? "" : next->value;
        } else if (!next) {
            struct var *done = stack[--depth].v;
            done->state = DONE;
            int r = emit(done, o->out);
            if (r < 0)
                return r;
        }
    }
    return 0;
}

static int check_variable(const struct exe_env *e, struct sv_error *err)
{
    if (!name_ok(e->name))
        return sv_error_set(err, -EINVAL,
                            "launch context: a variable's name must be letters, "
                            "digits and underscores");
    if (strlen(e->name) + strlen(e->value) + 2 > EXE_ENV_VARIABLE_MAX)
        return sv_error_set(err, -EINVAL, "launch context: value of %s is too long", e->name);
    return 0;
}

/* Fills `o` with checked variables whose marks are replaced. An environment larger than the script
 * may hold is refused before the search for references. */
static int collect(const struct exe_script *s, const struct exe_marks *marks, struct sv_arena *a,
                   struct order *o, struct sv_error *err)
{
    size_t bytes = 0;
    if (s->n_env > EXE_ENV_MAX + ENV_OWN_MAX)
        return sv_error_set(err, -EINVAL, "launch context: %zu variables, at most %d are accepted",
                            s->n_env, EXE_ENV_MAX + ENV_OWN_MAX);
    o->v = sv_newn(a, struct var, s->n_env + 1);
    o->names = sv_newn(a, struct var *, s->n_env + 1);
    if (!o->v || !o->names)
        return sv_error_errno(err, -ENOMEM, "launch script");
    for (size_t i = 0; i < s->n_env; i++) {
        const struct exe_env *e = &s->env[i];
        struct var *v = &o->v[i];
        int r = check_variable(e, err);
        if (r < 0)
            return r;
        *v = (struct var){ .env = e, .at = i, .value = e->value };
        if (e->kind != EXE_ENV_LITERAL)
            v->value = exe_expand_marks(a, marks, e->value);
        if (!v->value)
            return sv_error_errno(err, -ENOMEM, "launch script");
        bytes += strlen(v->value);
        if (bytes > o->out->max)
            return sv_error_errno(err, -EMSGSIZE, "launch script");
        o->names[o->n++] = v;
    }
    sort_names(o);
    return 0;
}

static int environment(const struct exe_script *s, const struct exe_marks *marks,
                       struct sv_buf *out, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct order o = { .out = out };
    if (!a)
        return sv_error_errno(err, -ENOMEM, "launch script");
    int r = collect(s, marks, a, &o, err);
    r = r < 0 ? r : sv_buf_put_str(out, "echo \"Setting up env variables\"\n");
    for (size_t i = 0; r == 0 && i < s->n_env; i++)
        r = place(&o, &o.v[i]);
    if (s->comparisons)
        *s->comparisons += o.comparisons;
    return r;
}

static int links(const struct exe_script *s, struct sv_buf *out, struct sv_error *err)
{
    int r = sv_buf_put_str(out, "echo \"Setting up job resources\"\n");
    for (size_t i = 0; r == 0 && i < s->n_links; i++) {
        const char *name = s->links[i].name, *slash = strrchr(name, '/');
        if (!link_ok(name))
            return sv_error_set(err, -EINVAL,
                                "local resource %zu: its link must be a relative name "
                                "below the work directory",
                                i);
        if (slash) { /* mkdir -p -- './a/b' */
            char parent[1028];
            (void)memcpy(parent, name, (size_t)(slash - name));
            parent[slash - name] = '\0';
            if ((r = sv_buf_put_str(out, "mkdir -p -- ")) < 0 || (r = exe_quote(out, parent)) < 0 ||
                (r = sv_buf_put_u8(out, '\n')) < 0)
                return r;
        }
        if (s->again && /* as Hadoop; ln would follow a link to a directory */
            ((r = sv_buf_put_str(out, "rm -rf -- ")) < 0 || (r = exe_quote(out, name)) < 0 ||
             (r = sv_buf_put_u8(out, '\n')) < 0))
            return r;
        if ((r = sv_buf_put_str(out, "ln -sf -- ")) < 0 ||
            (r = exe_quote(out, s->links[i].target)) < 0 || (r = sv_buf_put_u8(out, ' ')) < 0 ||
            (r = exe_quote(out, name)) < 0)
            return r;
        r = sv_buf_put_u8(out, '\n');
    }
    return r;
}

static int redirect(struct sv_buf *out, const char *variable, const char *log_dir, const char *file,
                    const char *operator)
{
    struct sv_buf path = SV_BUF_INIT(8192);
    int r = sv_buf_printf(&path, "%s/%s", log_dir, file);
    r = r < 0 ? r : sv_buf_put_u8(&path, 0);
    r = r < 0 ? r : sv_buf_printf(out, "export %s=", variable);
    r = r < 0 ? r : exe_quote(out, (const char *)path.data);
    r = r < 0 ? r : sv_buf_printf(out, "\nexec %s\"${%s}\"\n", operator, variable);
    sv_buf_free(&path);
    return r;
}

/* A file of the log directory, as one word. */
static int put_log_file(const struct exe_script *s, const char *file, struct sv_buf *out)
{
    struct sv_buf path = SV_BUF_INIT(8192);
    int r = sv_buf_printf(&path, "%s%s%s", s->log_dir, *file ? "/" : "", file);
    r = r < 0 ? r : sv_buf_put_u8(&path, 0);
    r = r < 0 ? r : exe_quote(out, (const char *)path.data);
    sv_buf_free(&path);
    return r;
}

/* Debugging information of a launch, written into the log directory by commands of the host: five
 * processes. */
static int debug_commands(const struct exe_script *s, struct sv_buf *out)
{
    static const struct {
        const char *title, *command;
    } steps[] = {
        { "ls -l:", "ls -l" },
        { "find -L . -maxdepth 5 -ls:", "find -L . -maxdepth 5 -ls" },
        { "broken symlinks(find -L . -maxdepth 5 -type l -ls):",
          "find -L . -maxdepth 5 -type l -ls" },
    };
    int r = sv_buf_put_str(out, "cp \"launch_container.sh\" ");
    r = r < 0 ? r : put_log_file(s, "launch_container.sh", out);
    r = r < 0 ? r : sv_buf_put_str(out, "\nchmod 640 ");
    r = r < 0 ? r : put_log_file(s, "launch_container.sh", out);
    r = r < 0 ? r : sv_buf_put_u8(out, '\n');
    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(steps); i++) {
        r = sv_buf_printf(out, "echo '%s' 1>>", steps[i].title);
        r = r < 0 ? r : put_log_file(s, "directory.info", out);
        r = r < 0 ? r : sv_buf_printf(out, "\n%s 1>>", steps[i].command);
        r = r < 0 ? r : put_log_file(s, "directory.info", out);
        r = r < 0 ? r : sv_buf_put_str(out, " 2>&1 || true\n");
    }
    return r;
}

/* container-debug-info executes the command after it: in the last line, and without a process of
 * its own. */
#define DEBUG_WORDS "selvedge_debug_info"

static int debug_info(const struct exe_script *s, struct sv_buf *out)
{
    int r = sv_buf_put_str(out, "echo \"Copying debugging information\"\n" DEBUG_WORDS "=()\n");
    if (!s->debug_program)
        return r < 0 ? r : debug_commands(s, out);
    r = r < 0 ? r : sv_buf_put_str(out, "if [ -x ");
    r = r < 0 ? r : exe_quote(out, s->debug_program);
    r = r < 0 ? r : sv_buf_put_str(out, " ]; then\n" DEBUG_WORDS "=(");
    r = r < 0 ? r : exe_quote(out, s->debug_program);
    r = r < 0 ? r : sv_buf_put_u8(out, ' ');
    r = r < 0 ? r : put_log_file(s, "", out);
    r = r < 0 ? r : sv_buf_put_str(out, ")\nelse\n");
    r = r < 0 ? r : debug_commands(s, out);
    return r < 0 ? r : sv_buf_put_str(out, "fi\n");
}

static int command(const struct exe_script *s, const struct exe_marks *marks, struct sv_buf *out,
                   struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct sv_buf joined = SV_BUF_INIT(EXE_SCRIPT_COMMAND_MAX);
    int r = a ? 0 : -ENOMEM;
    for (size_t i = 0; r == 0 && i < s->n_commands; i++) {
        r = i ? sv_buf_put_u8(&joined, ' ') : 0;
        r = r < 0 ? r : sv_buf_put_str(&joined, s->commands[i]);
    }
    r = r < 0 ? r : sv_buf_put_u8(&joined, 0);
    const char *text = r == 0 ? exe_expand_marks(a, marks, (const char *)joined.data) : NULL;
    if (r == 0 && !text)
        r = -ENOMEM;
    r = r < 0 ? r : sv_buf_put_str(out, "echo \"Launching container\"\nexec ");
    if (r == 0 && s->debug_info)
        r = sv_buf_put_str(out, "\"${" DEBUG_WORDS "[@]}\" ");
    r = r < 0 ? r : sv_buf_put_str(out, "/bin/bash -c ");
    r = r < 0 ? r : exe_quote_expand(out, text);
    r = r < 0 ? r : sv_buf_put_u8(out, '\n');
    sv_buf_free(&joined);
    return r < 0 ? sv_error_errno(err, r, "launch command") : 0;
}

/* The first line, before all that is the application's: nothing of it can keep the script from its
 * niceness. It cannot be undone: RLIMIT_NICE of a container is 0. */
static int interpreter(const struct exe_script *s, struct sv_buf *out)
{
    if (s->niceness <= 0)
        return sv_buf_put_str(out, "#!/bin/bash\n");
    return sv_buf_printf(out, "#!/usr/bin/env -S /usr/bin/nice -n %d /bin/bash\n", s->niceness);
}

int exe_script_build(const struct exe_script *s, struct sv_buf *out, struct sv_error *err)
{
    const struct exe_marks marks = { .log_dir = s->log_dir, .add_opens = s->add_opens };
    int r = interpreter(s, out);
    if (err)
        err->code = 0;
    r = r < 0 ? r : sv_buf_put_str(out, "\nset -o pipefail -e\n");
    r = r < 0 ? r : redirect(out, "PRELAUNCH_OUT", s->log_dir, "prelaunch.out", ">");
    r = r < 0 ? r : redirect(out, "PRELAUNCH_ERR", s->log_dir, "prelaunch.err", "2>");
    r = r < 0 ? r : environment(s, &marks, out, err);
    r = r < 0 ? r : links(s, out, err);
    if (r == 0 && s->debug_info)
        r = debug_info(s, out);
    r = r < 0 ? r : command(s, &marks, out, err);
    if (r < 0 && err && err->code == 0)
        return sv_error_errno(err, r, "launch script");
    return r;
}
