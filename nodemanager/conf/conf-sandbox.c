/* See conf-sandbox.h. Variables have the values that the NodeManager exports to containers: those
 * of yarn.nodemanager.env-whitelist in its own environment. */
#include "nodemanager/conf/conf-sandbox.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/str.h"
#include "executor/exe.h"
#include "nodemanager/conf/cdi-spec.h"
#include "nodemanager/conf/conf-shown.h"
#include "nodemanager/conf/conf-unit.h"

#define MAPRED_HOME "HADOOP_MAPRED_HOME"
#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"
#define LISTED_MAX 12 /* items of a message, and messages about single paths */

/* Hadoop's defaults, which clients without the key have. */
#define YARN_CLASS_PATH                                                                            \
    "$HADOOP_CONF_DIR,$HADOOP_COMMON_HOME/share/hadoop/common/*,"                                  \
    "$HADOOP_COMMON_HOME/share/hadoop/common/lib/*,$HADOOP_HDFS_HOME/share/hadoop/hdfs/*,"         \
    "$HADOOP_HDFS_HOME/share/hadoop/hdfs/lib/*,$HADOOP_YARN_HOME/share/hadoop/yarn/*,"             \
    "$HADOOP_YARN_HOME/share/hadoop/yarn/lib/*"
#define MAPREDUCE_CLASS_PATH                                                                       \
    "$HADOOP_MAPRED_HOME/share/hadoop/mapreduce/*,$HADOOP_MAPRED_HOME/share/hadoop/mapreduce/lib/" \
    "*"

struct listing { /* "a, b and 3 more" */
    char *text;
    size_t size;
    FILE *out;
    unsigned n;
};

struct finder {
    struct nm_conf *c;
    struct sv_conf *mapred; /* mapred-site.xml, or empty */
    const char *unit;
    struct nm_shown *shown;
    nm_unseen_fn fn;
    void *userdata;
    struct listing unseen; /* paths that the line shows */
    unsigned apart;        /* paths that have messages of their own */
    char named[LISTED_MAX][64];
    unsigned n_named; /* variables of the present key without a value */
    bool more_named;
};

_printf_(2, 3) static void list(struct listing *l, const char *fmt, ...)
{
    va_list ap;

    if (l->n++ >= LISTED_MAX)
        return;
    fputs(l->n > 1 ? ", " : "", l->out);
    va_start(ap, fmt);
    (void)vfprintf(l->out, fmt, ap);
    va_end(ap);
}

/* Ends it; false: no memory. */
static bool end_list(struct listing *l)
{
    if (l->n > LISTED_MAX)
        fprintf(l->out, " and %u more", l->n - LISTED_MAX);
    const bool good = fclose(l->out) == 0;
    l->out = NULL;
    return good;
}

static void tell(struct finder *f, const char *line, const char *fmt, ...) _printf_(3, 4);
static void tell(struct finder *f, const char *line, const char *fmt, ...)
{
    char text[PATH_MAX + 1024];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    f->fn(text, line, f->userdata);
}

/* A path that jobs expect; `from` says where it is named. */
static int expect(struct finder *f, const char *path, const char *from, bool must_exist)
{
    char at[PATH_MAX];
    const char *why;
    int r = nm_shown_add(f->shown, path, at, &why);

    if (r == NM_SHOWN_ADDED)
        list(&f->unseen, "%s (%s)", path, from);
    else if (r == NM_SHOWN_REFUSED && f->apart++ < LISTED_MAX)
        tell(f, NULL, "%s (%s) cannot be shown to containers of profile %s: %s: %s", path, from,
             exe_profile_name(f->c->profile), at, why);
    else if (r == NM_SHOWN_ABSENT && must_exist)
        tell(f, NULL, "%s (%s) is not on this node", path, from);
    return r < 0 ? r : 0;
}

static bool is_exported(const struct finder *f, const char *name)
{
    for (char **w = f->c->env_whitelist; w && *w; w++)
        if (sv_streq(*w, name))
            return true;
    return false;
}

/* The value that containers get, malloc'd; NULL: none, or no memory. */
static char *value_of(const struct finder *f, const char *name)
{
    const char *env = getenv(name);
    char *value = is_exported(f, name) ? nm_conf_unit_value(f->unit, name) : NULL;

    if (!value && env && is_exported(f, name))
        value = strdup(env);
    if (value && *value)
        return value;
    free(value);
    return NULL;
}

/* The value that MapReduce's ApplicationMasters get from their client: "A=x,NAME=value". */
static char *value_of_master(const struct finder *f, const char *name)
{
    const char *text = sv_conf_raw(f->mapred, "yarn.app.mapreduce.am.env");
    const size_t n = strlen(name);

    for (; text && *text; text += strcspn(text, ","), text += *text == ',') {
        text += strspn(text, " \t\n");
        if (strncmp(text, name, n) == 0 && text[n] == '=')
            return strndup(text + n + 1, strcspn(text + n + 1, ","));
    }
    return NULL;
}

static void name_it(struct finder *f, const char *name)
{
    for (unsigned i = 0; i < f->n_named; i++)
        if (sv_streq(f->named[i], name))
            return;
    f->more_named = f->more_named || f->n_named == LISTED_MAX;
    if (!f->more_named)
        (void)snprintf(f->named[f->n_named++], sizeof(f->named[0]), "%s", name);
}

/* The name in $NAME, ${NAME} and {{NAME}} at the start of `s`: its length with the marks; 0. */
static size_t variable(const char *s, const char **ret_name, size_t *ret_n)
{
    const bool mark = s[0] == '{' && s[1] == '{', braces = s[0] == '$' && s[1] == '{';
    const char *name = s + (mark || braces ? 2 : 1), *end = mark ? "}}" : braces ? "}" : "";

    if (!mark && s[0] != '$')
        return 0;
    *ret_name = name;
    *ret_n = mark || braces ? strcspn(name, "}") : strspn(name, NAME_CHARS);
    if (*ret_n == 0 || !sv_has_prefix(name + *ret_n, end))
        return 0;
    return (size_t)(name - s) + *ret_n + strlen(end);
}

/* Expands variables; false: one has no value, or is the container's own. */
static bool expand(struct finder *f, const char *s, char *buf, size_t size, unsigned depth)
{
    static const char *const own[] = { "PWD", "HOME", "CLASSPATH", "HADOOP_CLASSPATH",
                                       "CLASSPATH_PREPEND_DISTCACHE" };
    char name[64];
    const char *at;
    size_t used = 0, n, len;

    for (; *s; s += len) {
        len = variable(s, &at, &n);
        if (len == 0) {
            len = 1;
            if (used + 2 > size)
                return false;
            buf[used++] = *s;
            continue;
        }
        (void)snprintf(name, sizeof(name), "%.*s", (int)SV_MIN(n, sizeof(name) - 1), at);
        for (size_t i = 0; i < SV_ARRAY_LEN(own); i++)
            if (sv_streq(own[i], name))
                return false;
        _cleanup_free_ char *value = value_of(f, name);
        if (!value && sv_streq(name, MAPRED_HOME))
            value = value_of_master(f, name);
        if (!value)
            name_it(f, name);
        if (!value || depth == 4 || !expand(f, value, buf + used, size - used, depth + 1))
            return false;
        used += strlen(buf + used);
    }
    buf[used] = '\0';
    return true;
}

/* Says which variables of a key have no value. */
static void tell_named(struct finder *f, const char *key)
{
    struct listing l = { 0 };

    if (f->n_named == 0 || !(l.out = open_memstream(&l.text, &l.size)))
        return; /* without memory one finding less, ignoring */
    for (unsigned i = 0; i < f->n_named; i++)
        list(&l, "%s", f->named[i]);
    if (end_list(&l))
        tell(f, NULL,
             "%s: the NodeManager gives containers no %s%s: set this in %s and name it in "
             "yarn.nodemanager.env-whitelist, or have jobs set it",
             key, l.text, f->more_named ? " and others" : "", f->unit ? f->unit : UNIT_ENVIRONMENT);
    free(l.text);
    f->n_named = 0;
    f->more_named = false;
}

/* A class path: paths, some with a wildcard in the last name. Relative ones are the job's own. */
static int class_path(struct finder *f, const char *key, const char *value)
{
    _cleanup_strv_ char **entries = NULL;
    char path[PATH_MAX];
    int r = sv_strv_split(value, ',', &entries);

    for (char **e = entries; r >= 0 && *e; e++) {
        if (!expand(f, *e, path, sizeof(path), 0) || *path != '/')
            continue;
        char *wildcard = strpbrk(path, "*?[{");
        if (wildcard) {
            *wildcard = '\0';
            *strrchr(path, '/') = '\0';
        }
        if (*path)
            r = expect(f, path, key, false);
    }
    tell_named(f, key);
    return r;
}

/* Directories in exported variables; PATH is searched, not expected. */
static int exported_directories(struct finder *f)
{
    int r = 0;

    for (char **w = f->c->env_whitelist; r >= 0 && w && *w; w++) {
        _cleanup_free_ char *value = sv_streq(*w, "PATH") ? NULL : value_of(f, *w);
        _cleanup_strv_ char **paths = NULL;

        if (!value || *value != '/')
            continue;
        r = sv_strv_split(value, ':', &paths);
        for (char **p = paths; r >= 0 && *p; p++)
            if (**p == '/')
                r = expect(f, *p, *w, sv_streq(*w, "JAVA_HOME"));
    }
    return r;
}

/* The directory of the DataNode's socket, which a restarted DataNode makes anew. */
static int socket_directory(struct finder *f)
{
    static const char key[] = "dfs.domain.socket.path";
    const char *value = sv_conf_raw(f->c->conf, key);
    _cleanup_free_ char *path = value ? strdup(value) : NULL;
    char *slash = path ? strrchr(path, '/') : NULL;

    if (!slash || slash == path || *path != '/')
        return 0;
    *slash = '\0';
    return expect(f, path, key, true);
}

static void on_cdi(const char *text, void *userdata)
{
    tell(userdata, NULL, "%s", text);
}

static int cdi_mounts(struct finder *f, const struct nm_cdi_spec *s, const struct nm_cdi_edits *e)
{
    int r = 0;

    for (size_t i = 0; r >= 0 && i < e->n_mounts; i++)
        r = expect(f, e->mounts[i].host, s->file, false);
    return r;
}

/* Mounts of CDI specifications: the helper shows them, or they are not there. */
static int cdi_specs(struct finder *f)
{
    struct nm_cdi *cdi = NULL;
    int r = f->c->gpus && f->c->gpu_cdi && *f->c->gpu_cdi
                ? nm_cdi_load("", f->c->gpu_cdi, 0, on_cdi, f, &cdi)
                : 0;

    for (size_t i = 0; cdi && r >= 0 && i < cdi->n; i++) {
        const struct nm_cdi_spec *s = cdi->specs[i];

        r = cdi_mounts(f, s, &s->all);
        for (size_t k = 0; r >= 0 && k < s->n; k++)
            r = cdi_mounts(f, s, &s->devices[k].edits);
    }
    (void)nm_cdi_free(cdi);
    return r;
}

/* A file beside the others; missing: empty. */
static int load_mapred(struct finder *f)
{
    _cleanup_free_ char *path = NULL;
    struct sv_error err = { 0 };

    f->mapred = sv_conf_new();
    if (!f->mapred || sv_asprintf(&path, "%s/mapred-site.xml", sv_conf_dir(f->c->conf)) < 0)
        return -ENOMEM;
    int r = sv_conf_load_file(f->mapred, path, &err);
    if (r < 0 && r != -ENOENT && r != -ENOMEM)
        tell(f, NULL, "%s", err.text);
    return r == -ENOMEM ? r : 0;
}

static int class_paths(struct finder *f)
{
    static const char yarn[] = "yarn.application.classpath";
    static const char mapreduce[] = "mapreduce.application.classpath";
    const char *value = sv_conf_raw(f->c->conf, yarn);
    int r = value ? class_path(f, yarn, value)
                  : class_path(f, "default of yarn.application.classpath", YARN_CLASS_PATH);

    value = sv_conf_raw(f->mapred, mapreduce) ?: sv_conf_raw(f->c->conf, mapreduce);
    if (r >= 0 && value)
        r = class_path(f, mapreduce, value);
    else if (r >= 0 && sv_conf_raw(f->mapred, "mapreduce.framework.name"))
        r = class_path(f, "default of mapreduce.application.classpath", MAPREDUCE_CLASS_PATH);
    return r;
}

int nm_conf_each_unseen(struct nm_conf *c, const char *unit, const char *cfg, nm_unseen_fn fn,
                        void *userdata)
{
    struct finder f = { .c = c, .unit = unit, .fn = fn, .userdata = userdata };
    int r = -ENOMEM;

    f.shown = nm_shown_new(c, cfg);
    f.unseen.out = open_memstream(&f.unseen.text, &f.unseen.size);
    if (f.shown && f.unseen.out)
        r = load_mapred(&f);
    if (r >= 0)
        r = class_paths(&f);
    if (r >= 0)
        r = exported_directories(&f);
    if (r >= 0)
        r = socket_directory(&f);
    if (r >= 0)
        r = cdi_specs(&f);
    if (f.unseen.out && !end_list(&f.unseen))
        r = -ENOMEM;
    if (r >= 0 && f.apart > LISTED_MAX)
        tell(&f, NULL, "%u more paths cannot be shown to containers", f.apart - LISTED_MAX);
    if (r >= 0 && f.unseen.n > 0) {
        _cleanup_free_ char *line = nm_shown_line(f.shown);

        tell(&f, line, "containers of profile %s do not see %s", exe_profile_name(c->profile),
             f.unseen.text);
    }
    free(f.unseen.text);
    nm_shown_free(f.shown);
    sv_conf_free(f.mapred);
    return r;
}
