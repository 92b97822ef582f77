/* Hadoop configuration: the store, ${…} expansion and typed reads. Files and the environment are
 * the operator's; a job's own files arrive by sv_conf_load_string. */
#include "common/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uthash.h>

#include "common/arena.h"
#include "common/conf-xml.h"
#include "common/fd.h"
#include "common/own-user.h"
#include "common/str.h"

#define SUBST_MAX 20u                      /* org.apache.hadoop.conf.Configuration MAX_SUBST */
#define EXPANDED_MAX ((size_t)1 << 20)     /* bytes of one expanded value */
#define CONF_MAX_BYTES ((size_t)256 << 20) /* all names, values and expansions */
#define DEFAULT_DIR "/etc/hadoop/conf"

struct conf_entry {
    const char *name, *value; /* value as written */
    const char *source;       /* file name; NULL: set by sv_conf_set */
    int line;
    bool final, override; /* later files do not change the value */
    UT_hash_handle hh;
};

struct conf_text { /* returned texts: stored once, for the lifetime of the configuration */
    UT_hash_handle hh;
    char s[];
};

struct sv_conf {
    struct sv_arena *arena;
    struct conf_entry *entries;
    struct conf_text *texts;
    const char *dir;
    const char *user; /* ${user.name} */
};

/* Variables that defaults of Hadoop's keys use without any file setting them: Java's system
 * properties, variables of Hadoop's start scripts, and a few keys used by other keys' defaults. */
static const struct {
    const char *name, *env, *value;
} builtin[] = {
    { "java.io.tmpdir", NULL, "/tmp" },
    { "user.home", "HOME", "/" },
    { "hadoop.home.dir", "HADOOP_HOME", "/usr/lib/hadoop" },
    { "hadoop.log.dir", "HADOOP_LOG_DIR", "/var/log/hadoop" },
    { "yarn.log.dir", "HADOOP_LOG_DIR", "/var/log/hadoop-yarn" },
    { "hadoop.tmp.dir", NULL, "/tmp/hadoop-${user.name}" },
    { "yarn.resourcemanager.hostname", NULL, "0.0.0.0" },
    { "yarn.nodemanager.hostname", NULL, "0.0.0.0" },
    { "yarn.timeline-service.hostname", NULL, "0.0.0.0" },
};

struct sv_conf *sv_conf_new(void)
{
    struct sv_conf *c = calloc(1, sizeof(*c));
    const char *user = sv_own_user();

    if (!c)
        return NULL;
    c->arena = sv_arena_new(CONF_MAX_BYTES);
    if (!c->arena)
        return sv_conf_free(c);
    c->user = user ? sv_arena_strdup(c->arena, user) : sv_arena_printf(c->arena, "%u", geteuid());
    return c->user ? c : sv_conf_free(c);
}

struct sv_conf *sv_conf_free(struct sv_conf *c)
{
    if (!c)
        return NULL;
    HASH_CLEAR(hh, c->entries);
    HASH_CLEAR(hh, c->texts);
    (void)sv_arena_free(c->arena);
    free(c);
    return NULL;
}

static struct conf_entry *find(const struct sv_conf *c, const char *name)
{
    struct conf_entry *e;

    HASH_FIND_STR(c->entries, name, e);
    return e;
}

static int put(struct sv_conf *c, const char *name, const char *value, const char *source, int line,
               bool final)
{
    struct conf_entry *e = find(c, name);
    const char *copy = sv_arena_strdup(c->arena, value);

    if (!copy)
        return -ENOMEM;
    if (!e) {
        e = sv_new(c->arena, struct conf_entry);
        if (!e)
            return -ENOMEM;
        e->name = sv_arena_strdup(c->arena, name);
        if (!e->name)
            return -ENOMEM;
        HASH_ADD_KEYPTR(hh, c->entries, e->name, strlen(e->name), e);
    }
    e->value = copy;
    e->source = source;
    e->line = line;
    e->final = e->final || final;
    return 0;
}

int sv_conf_set(struct sv_conf *c, const char *name, const char *value)
{
    if (!*name)
        return -EINVAL;
    return put(c, name, value, NULL, 0, false);
}

int sv_conf_override(struct sv_conf *c, const char *name, const char *value)
{
    int r = sv_conf_set(c, name, value);

    if (r >= 0)
        find(c, name)->override = true;
    return r;
}

int sv_conf_copy_overrides(struct sv_conf *c, const struct sv_conf *from)
{
    int r = 0;

    for (const struct conf_entry *e = from->entries; e && r >= 0; e = e->hh.next)
        if (e->override)
            r = sv_conf_override(c, e->name, e->value);
    return r;
}

struct conf_load {
    struct sv_conf *c;
    const char *source;
};

static int on_property(const char *name, const char *value, bool final, int line, void *userdata)
{
    struct conf_load *load = userdata;
    struct conf_entry *e = find(load->c, name);

    if (!value || (e && (e->final || e->override))) /* Hadoop ignores a property without value */
        return 0;
    return put(load->c, name, value, load->source, line, final);
}

int sv_conf_load_string(struct sv_conf *c, const char *xml, size_t len, const char *name,
                        struct sv_error *err)
{
    struct conf_load load = { c, sv_arena_strdup(c->arena, name) };

    if (!load.source)
        return sv_error_set(err, -ENOMEM, "%s: out of memory", name);
    return sv_conf_xml_parse(xml, len, load.source, on_property, &load, err);
}

int sv_conf_load_file(struct sv_conf *c, const char *path, struct sv_error *err)
{
    _cleanup_free_ char *xml = NULL;
    size_t len;
    int r = sv_read_file_at(AT_FDCWD, path, SV_CONF_XML_MAX_BYTES, &xml, &len);

    if (r < 0)
        return sv_error_errno(err, r, "%s: cannot be read", path);
    return sv_conf_load_string(c, xml, len, path, err);
}

int sv_conf_load_hadoop(struct sv_conf *c, const char *dir, struct sv_error *err)
{
    static const char *const files[] = { "core-site.xml", "yarn-site.xml" };
    const char *env = getenv("HADOOP_CONF_DIR");
    bool named = dir || (env && *env);
    struct stat st;

    dir = dir ? dir : named ? env : DEFAULT_DIR;
    c->dir = sv_arena_strdup(c->arena, dir);
    if (!c->dir)
        return sv_error_set(err, -ENOMEM, "%s: out of memory", dir);
    if (named && stat(dir, &st) < 0)
        return sv_error_errno(err, -errno, "%s: configuration directory", dir);
    for (size_t i = 0; i < SV_ARRAY_LEN(files); i++) {
        _cleanup_free_ char *path = NULL;
        int r = sv_asprintf(&path, "%s/%s", dir, files[i]);

        if (r == 0) {
            r = sv_conf_load_file(c, path, err);
            if (r == -ENOENT)
                r = 0;
        } else
            (void)sv_error_set(err, r, "%s: out of memory", dir);
        if (r < 0)
            return r;
    }
    if (err)
        *err = (struct sv_error){ 0 }; /* a missing file is not an error */
    return 0;
}

const char *sv_conf_dir(const struct sv_conf *c)
{
    return c->dir;
}

/* ---- ${…} ---- */

static const char *builtin_value(const struct sv_conf *c, const char *name)
{
    if (strcmp(name, "user.name") == 0)
        return c->user;
    for (size_t i = 0; i < SV_ARRAY_LEN(builtin); i++) {
        const char *env = NULL;

        if (strcmp(name, builtin[i].name) != 0)
            continue;
        if (builtin[i].env)
            env = getenv(builtin[i].env);
        return env && *env ? env : builtin[i].value;
    }
    return NULL;
}

/* Returns the value of "${var}", or NULL. Modifies `var` ("env.X:-d" is cut at its mark). */
static const char *variable(const struct sv_conf *c, char *var)
{
    const struct conf_entry *e;

    if (sv_has_prefix(var, "env.") && var[4]) {
        char *name = var + 4;

        for (char *p = name; *p; p++) {
            const char *set;
            bool colon = p[0] == ':' && p[1] == '-';

            if (!colon && *p != '-')
                continue;
            *p = '\0';
            set = getenv(name);
            return set && (*set || !colon) ? set : p + (colon ? 2 : 1);
        }
        if (getenv(name))
            return getenv(name);
    }
    e = find(c, var);
    return e ? e->value : builtin_value(c, var);
}

/* Finds the first innermost "${name}" at or after `at`: no blank, '$' or '}' in the name. */
static bool find_variable(const char *s, size_t at, size_t *ret_start, size_t *ret_end)
{
    for (const char *p = s + at; (p = strstr(p, "${"));) {
        size_t n = strcspn(p + 2, "}$ ");

        if (n && p[2 + n] == '}') {
            *ret_start = (size_t)(p - s);
            *ret_end = *ret_start + n + 3;
            return true;
        }
        p += 2;
    }
    return false;
}

/* Replaces variables from left to right, innermost first, SUBST_MAX times at most. An undefined
 * variable ends the replacement and stays as written, as in Hadoop. */
static int expand(const struct sv_conf *c, const char *value, char **ret)
{
    _cleanup_free_ char *s = strdup(value);
    size_t start, end;

    if (!s)
        return -ENOMEM;
    for (unsigned i = 0; find_variable(s, 0, &start, &end); i++) {
        _cleanup_free_ char *var = strndup(s + start + 2, end - start - 3), *next = NULL;
        const char *with;
        int r;

        if (!var)
            return -ENOMEM;
        if (i == SUBST_MAX)
            return -ELOOP;
        with = variable(c, var);
        if (!with)
            break;
        if (strlen(s) + strlen(with) > EXPANDED_MAX)
            return -EMSGSIZE;
        r = sv_asprintf(&next, "%.*s%s%s", (int)start, s, with, s + end);
        if (r < 0)
            return r;
        free(s);
        s = SV_TAKE(next);
    }
    *ret = SV_TAKE(s);
    return 0;
}

/* Interns a text: one copy, owned by the configuration. */
static const char *intern_text(struct sv_conf *c, const char *s)
{
    size_t n = strlen(s);
    struct conf_text *t;

    HASH_FIND(hh, c->texts, s, n, t);
    if (t)
        return t->s;
    t = sv_arena_alloc(c->arena, sizeof(*t) + n + 1);
    if (!t)
        return NULL;
    memcpy(t->s, s, n + 1);
    HASH_ADD_KEYPTR(hh, c->texts, t->s, n, t);
    return t->s;
}

static int expand_interned(struct sv_conf *c, const char *value, const char **ret)
{
    _cleanup_free_ char *s = NULL;
    int r;

    if (!strstr(value, "${")) {
        *ret = value;
        return 0;
    }
    r = expand(c, value, &s);
    if (r < 0)
        return r;
    *ret = intern_text(c, s);
    return *ret ? 0 : -ENOMEM;
}

const char *sv_conf_raw(struct sv_conf *c, const char *name)
{
    const struct conf_entry *e = find(c, name);
    const char *value = e ? e->value : NULL;

    return value && expand_interned(c, value, &value) == 0 ? value : NULL;
}

/* ---- typed reads ---- */

void sv_conf_origin(const struct sv_conf *c, const struct sv_conf_key *k, char *dst, size_t size)
{
    const struct conf_entry *e = find(c, k->name);

    if (e && e->source)
        (void)snprintf(dst, size, "%s:%d: %s", e->source, e->line, k->name);
    else
        (void)snprintf(dst, size, "%s: %s", e ? "command line" : "built-in default", k->name);
}

static int bad(const struct sv_conf *c, const struct sv_conf_key *k, const char *value, int code,
               const char *expected, struct sv_error *err)
{
    char at[512];

    sv_conf_origin(c, k, at, sizeof(at));
    if (!value)
        return sv_error_set(err, code, "%s is not set: expected %s", k->name, expected);
    if (k->min || k->max)
        return sv_error_set(err, code, "%s is \"%.128s\": expected %s from %lld to %lld", at, value,
                            expected, (long long)k->min, (long long)k->max);
    return sv_error_set(err, code, "%s is \"%.128s\": expected %s", at, value, expected);
}

/* Expands the file's value or the default; NULL when there is neither. */
static int text_of(struct sv_conf *c, const struct sv_conf_key *k, const char **ret,
                   struct sv_error *err)
{
    const struct conf_entry *e = find(c, k->name);
    const char *value = e ? e->value : k->def;
    int r = value ? expand_interned(c, value, &value) : 0;

    if (r == -ELOOP)
        return bad(c, k, value, -EINVAL, "variables that end after 20 substitutions", err);
    if (r < 0)
        return bad(c, k, value, r, "less than 1 MiB once variables are replaced", err);
    *ret = value;
    return 0;
}

/* As text_of, without surrounding blanks; unset is -ENODATA. */
static int trimmed(struct sv_conf *c, const struct sv_conf_key *k, const char *expected,
                   const char **ret, struct sv_error *err)
{
    _cleanup_free_ char *copy = NULL;
    const char *s = NULL;
    size_t n;
    int r = text_of(c, k, &s, err);

    if (r < 0)
        return r;
    if (!s)
        return bad(c, k, NULL, -ENODATA, expected, err);
    s += strspn(s, " \t\r\n\f\v");
    n = strlen(s);
    if (n && strchr(" \t\r\n\f\v", s[n - 1])) {
        while (n && strchr(" \t\r\n\f\v", s[n - 1]))
            n--;
        copy = strndup(s, n);
        s = copy ? intern_text(c, copy) : NULL;
        if (!s)
            return sv_error_set(err, -ENOMEM, "%s: out of memory", k->name);
    }
    *ret = s;
    return 0;
}

static bool in_range(const struct sv_conf_key *k, int64_t v)
{
    return (!k->min && !k->max) || (v >= k->min && v <= k->max);
}

int sv_conf_string(struct sv_conf *c, const struct sv_conf_key *k, const char **ret,
                   struct sv_error *err)
{
    const char *s = NULL;
    int r = text_of(c, k, &s, err);

    if (r == 0 && s)
        r = trimmed(c, k, "text", &s, err);
    if (r == 0)
        *ret = s;
    return r;
}

int sv_conf_text(struct sv_conf *c, const struct sv_conf_key *k, const char **ret,
                 struct sv_error *err)
{
    return text_of(c, k, ret, err);
}

int sv_conf_choice(struct sv_conf *c, const struct sv_conf_key *k, const char *const *names,
                   size_t n, size_t *ret, struct sv_error *err)
{
    char origin[512], known[256];
    size_t len = 0;
    const char *s;
    int r = sv_conf_string(c, k, &s, err);

    if (r < 0)
        return r;
    for (*ret = 0; *ret < n; ++*ret)
        if (names[*ret] && sv_streq(s, names[*ret]))
            return 0;
    for (size_t i = 0; i < n && len < sizeof(known); i++)
        if (names[i])
            len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "",
                                    names[i]);
    sv_conf_origin(c, k, origin, sizeof(origin));
    return sv_error_set(err, -EINVAL, "%s: \"%s\" is not one of %s", origin, s ? s : "", known);
}

/* An empty text selects the default, as in Hadoop's getBoolean(): mapred-default.xml has one. */
int sv_conf_bool(struct sv_conf *c, const struct sv_conf_key *k, bool *ret, struct sv_error *err)
{
    static const char expected[] = "true or false";
    const char *s;
    int r = trimmed(c, k, expected, &s, err);

    if (r < 0)
        return r;
    if (!*s && k->def)
        s = k->def;
    return sv_parse_bool(s, ret) < 0 ? bad(c, k, s, -EINVAL, expected, err) : 0;
}

int sv_conf_int(struct sv_conf *c, const struct sv_conf_key *k, int64_t *ret, struct sv_error *err)
{
    static const char expected[] = "a whole number";
    const char *s;
    int64_t v;
    int r = trimmed(c, k, expected, &s, err);

    if (r < 0)
        return r;
    if (sv_parse_i64(s, INT64_MIN, INT64_MAX, &v) < 0 || !in_range(k, v))
        return bad(c, k, s, -EINVAL, expected, err);
    *ret = v;
    return 0;
}

int sv_conf_float(struct sv_conf *c, const struct sv_conf_key *k, double *ret, struct sv_error *err)
{
    static const char expected[] = "a decimal number such as 0.5";
    const char *s;
    char *end;
    double v;
    int r = trimmed(c, k, expected, &s, err);

    if (r < 0)
        return r;
    v = strtod(s, &end);
    /* strtod() alone accepts "nan", "inf" and hexadecimal as well */
    if (!*s || *end || s[strspn(s, "0123456789.eE+-")] || !isfinite(v) ||
        ((k->min || k->max) && (v < (double)k->min || v > (double)k->max)))
        return bad(c, k, s, -EINVAL, expected, err);
    *ret = v;
    return 0;
}

int sv_conf_duration_ms(struct sv_conf *c, const struct sv_conf_key *k, int64_t *ret,
                        struct sv_error *err)
{
    static const char expected[] = "a duration such as 500ms, 30s, 5m, 1h, 7d (milliseconds)";
    const char *s;
    int64_t v;
    int r = trimmed(c, k, expected, &s, err);

    if (r < 0)
        return r;
    if (sv_parse_duration_ms(s, k->plain_unit_ms, &v) < 0 || !in_range(k, v))
        return bad(c, k, s, -EINVAL, expected, err);
    *ret = v;
    return 0;
}

int sv_conf_size(struct sv_conf *c, const struct sv_conf_key *k, uint64_t *ret,
                 struct sv_error *err)
{
    static const char expected[] = "a size such as 4096, 128k, 64m, 2g (bytes)";
    const char *s;
    uint64_t v;
    int r = trimmed(c, k, expected, &s, err);

    if (r < 0)
        return r;
    if (sv_parse_size(s, &v) < 0 || v > INT64_MAX || !in_range(k, (int64_t)v))
        return bad(c, k, s, -EINVAL, expected, err);
    *ret = v;
    return 0;
}

int sv_conf_list(struct sv_conf *c, const struct sv_conf_key *k, char ***ret, struct sv_error *err)
{
    const char *s = NULL;
    int r = text_of(c, k, &s, err);

    if (r < 0)
        return r;
    r = sv_strv_split(s ? s : "", ',', ret);
    return r < 0 ? sv_error_set(err, r, "%s: out of memory", k->name) : 0;
}

/* Splits "host", "host:port" or "[v6]:port"; without a port, *ret_port is unchanged. */
static int split_address(const char *s, char **ret_host, uint16_t *ret_port)
{
    static const char name_chars[] = "0123456789abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";
    const char *rest;
    size_t n, skip = 0;

    if (*s == '[') {
        skip = 1;
        n = strspn(s + 1, "0123456789abcdefABCDEF:.");
        if (s[1 + n] != ']')
            return -EINVAL;
    } else
        n = strspn(s, name_chars);
    rest = s + n + 2 * skip;
    if (!n || n > 255 || (*rest && *rest != ':'))
        return -EINVAL;
    if (*rest) {
        uint64_t port;

        if (sv_parse_u64(rest + 1, 0, UINT16_MAX, &port) < 0)
            return -EINVAL;
        *ret_port = (uint16_t)port;
    }
    *ret_host = strndup(s + skip, n);
    return *ret_host ? 0 : -ENOMEM;
}

int sv_conf_address(struct sv_conf *c, const struct sv_conf_key *k, const char **ret_host,
                    uint16_t *ret_port, struct sv_error *err)
{
    static const char expected[] = "host:port";
    _cleanup_free_ char *host = NULL, *default_host = NULL;
    const char *s, *kept;
    uint16_t port = 0;
    int r = trimmed(c, k, expected, &s, err);

    if (r < 0)
        return r;
    if (k->def) {
        const char *def = k->def;

        r = expand_interned(c, def, &def);
        if (r == 0)
            (void)split_address(def, &default_host, &port); /* only its port is used, ignoring */
    }
    r = split_address(s, &host, &port);
    if (r < 0)
        return bad(c, k, s, r, expected, err);
    kept = intern_text(c, host);
    if (!kept)
        return sv_error_set(err, -ENOMEM, "%s: out of memory", k->name);
    *ret_host = kept;
    *ret_port = port;
    return 0;
}

static int by_name(const struct conf_entry *a, const struct conf_entry *b)
{
    return strcmp(a->name, b->name);
}

int sv_conf_each(struct sv_conf *c, int (*fn)(const char *name, const char *value, void *userdata),
                 void *userdata)
{
    HASH_SORT(c->entries, by_name);
    for (struct conf_entry *e = c->entries; e; e = e->hh.next) {
        const char *value = sv_conf_raw(c, e->name);
        int r = fn(e->name, value ? value : e->value, userdata);

        if (r != 0)
            return r;
    }
    return 0;
}
