/* container-executor.cfg: Hadoop's key=value lines, read strictly. The file is root's (path.c has
 * proved it), so this guards against mistakes, not attacks: whatever is unclear is refused and
 * nothing ever falls back to a default. Also run by unit tests and by a fuzzer. */
#include <string.h>

#include "setuid-helper/helper.h"

enum kind { TEXT, PATH, PATHS, NAMES, UID, FLAG, OFF };

static const struct row {
    const char *key;
    enum kind kind;
    size_t offset;
} rows[] = {
    { "yarn.nodemanager.linux-container-executor.group", TEXT, offsetof(struct hlp_config, group) },
    { "yarn.nodemanager.local-dirs", PATHS, offsetof(struct hlp_config, local_dirs) },
    { "yarn.nodemanager.log-dirs", PATHS, offsetof(struct hlp_config, log_dirs) },
    { "banned.users", NAMES, offsetof(struct hlp_config, banned) },
    { "allowed.system.users", NAMES, offsetof(struct hlp_config, allowed_system) },
    { "min.user.id", UID, offsetof(struct hlp_config, min_uid) },
    { "selvedge.nodemanager.user", TEXT, offsetof(struct hlp_config, nm_user) },
    { "selvedge.monitor.user", TEXT, offsetof(struct hlp_config, monitor_user) },
    { "selvedge.public.user", TEXT, offsetof(struct hlp_config, public_user) },
    { "selvedge.cgroup.root", PATH, offsetof(struct hlp_config, cgroup_root) },
    { "selvedge.unenforced-limits.allowed", FLAG, offsetof(struct hlp_config, unenforced_allowed) },
    { "selvedge.sandbox.read-only-paths", PATHS, offsetof(struct hlp_config, read_only) },
    /* Features of Hadoop's helper that do not exist here: only "off" is the truth. */
    { "feature.docker.enabled", OFF, 0 },
    { "feature.tc.enabled", OFF, 0 },
    { "feature.mount-cgroup.enabled", OFF, 0 },
    { "feature.terminal.enabled", OFF, 0 },
    { "feature.yarn.sysfs.enabled", OFF, 0 },
    { "feature.runc.enabled", OFF, 0 },
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

/* "/a/b": absolute, normal, of harmless bytes. */
static bool path_ok(const char *s)
{
    size_t n = strlen(s);
    if (n < 2 || n >= 256 || s[0] != '/' || s[n - 1] == '/')
        return false;
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)s[i] <= ' ' || (unsigned char)s[i] >= 127 || strchr("\\\"'`$*?,:", s[i]))
            return false;
        if (s[i] == '/' && (s[i + 1] == '/' || s[i + 1] == '.'))
            return false; /* also hidden directories: nobody's data directory */
    }
    return true;
}

static bool name_ok(const char *s)
{
    size_t n = strlen(s);
    if (n == 0 || n > EXE_USER_MAX || s[0] == '-')
        return false;
    for (; *s; s++)
        if ((unsigned char)*s <= ' ' || (unsigned char)*s >= 127 || strchr("/:,\\", *s))
            return false;
    return true;
}

static const char *list(struct hlp_list *l, char *value, bool (*ok)(const char *), unsigned max)
{
    for (char *item = value; item;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma = '\0';
        if (!ok(item))
            return "an entry of the list is empty or has a form that is not accepted";
        if (l->n == max)
            return "too many entries";
        for (unsigned i = 0; i < l->n; i++)
            if (strcmp(l->v[i], item) == 0)
                return "an entry is there twice";
        l->v[l->n++] = item;
        item = comma ? comma + 1 : NULL;
    }
    return NULL;
}

static const char *uid_value(const char *s, uint32_t *ret)
{
    uint64_t v = 0;
    size_t n = strlen(s);
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9' || n > 10 || (s[0] == '0' && n > 1))
            return "not a plain decimal number";
        v = v * 10 + (uint64_t)(s[i] - '0');
    }
    if (v < 100 || v > HLP_ID_MAX)
        return "must be 100 or more and a valid user id";
    *ret = (uint32_t)v;
    return NULL;
}

static const char *set(struct hlp_config *cfg, const struct row *row, char *value)
{
    void *to = (char *)cfg + row->offset;
    switch (row->kind) {
    case TEXT:
        *(const char **)to = value;
        return name_ok(value) ? NULL : "not an account name";
    case PATH:
        *(const char **)to = value;
        return path_ok(value) ? NULL : "not an absolute path in normal form";
    case PATHS:
        return list(to, value, path_ok, EXE_DIRS_MAX);
    case NAMES:
        return list(to, value, name_ok, HLP_LIST_MAX);
    case UID:
        return uid_value(value, to);
    case FLAG:
        *(bool *)to = strcmp(value, "true") == 0;
        return *(bool *)to || strcmp(value, "false") == 0 ? NULL : "must be true or false";
    case OFF:
        return strcmp(value, "0") == 0 || strcmp(value, "false") == 0
                   ? NULL
                   : "this feature does not exist here; only 0 or false is accepted";
    }
    return "internal error";
}

static const char *line(struct hlp_config *cfg, char *s, bool seen[N_ROWS])
{
    if (*s == '\0' || *s == '#')
        return NULL;
    char *value = strchr(s, '=');
    if (!value)
        return "no '=' in the line";
    *value++ = '\0';
    for (unsigned i = 0; i < N_ROWS; i++) {
        if (strcmp(rows[i].key, s) != 0)
            continue;
        if (seen[i])
            return "key is there twice";
        seen[i] = true;
        /* The two lists that may be empty on purpose. */
        if (*value == '\0')
            return rows[i].kind == NAMES || rows[i].offset == offsetof(struct hlp_config, read_only)
                       ? NULL
                       : "value is empty";
        return set(cfg, &rows[i], value);
    }
    return "unknown key";
}

static bool below(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* A directory of ours must not be where the sandbox puts something else, nor inside another. */
static const char *places(const struct hlp_config *cfg, const struct hlp_list *l)
{
    static const char *const taken[] = { "/tmp", "/var/tmp", "/proc", "/sys", "/dev", "/usr", "/etc",
                                         "/opt", "/bin", "/sbin", "/lib", "/lib64", "/boot" };
    for (unsigned i = 0; i < l->n; i++) {
        for (size_t k = 0; k < sizeof(taken) / sizeof(taken[0]); k++)
            if (below(l->v[i], taken[k]))
                return "a local or log directory lies below /tmp, /proc, /sys, /dev or a system "
                       "directory that containers see";
        for (unsigned k = 0; k < cfg->read_only.n; k++)
            if (below(l->v[i], cfg->read_only.v[k]) || below(cfg->read_only.v[k], l->v[i]))
                return "a local or log directory and a read-only path overlap";
        for (unsigned k = 0; k < cfg->local_dirs.n; k++)
            if (l->v[i] != cfg->local_dirs.v[k] && (below(l->v[i], cfg->local_dirs.v[k]) ||
                                                    below(cfg->local_dirs.v[k], l->v[i])))
                return "local and log directories overlap";
        for (unsigned k = 0; k < cfg->log_dirs.n; k++)
            if (l->v[i] != cfg->log_dirs.v[k] &&
                (below(l->v[i], cfg->log_dirs.v[k]) || below(cfg->log_dirs.v[k], l->v[i])))
                return "local and log directories overlap";
    }
    return NULL;
}

static const char *whole(const struct hlp_config *cfg)
{
    if (!cfg->group)
        return "yarn.nodemanager.linux-container-executor.group is missing";
    if (cfg->local_dirs.n == 0)
        return "yarn.nodemanager.local-dirs is missing";
    if (cfg->log_dirs.n == 0)
        return "yarn.nodemanager.log-dirs is missing";
    if (!cfg->cgroup_root)
        return "selvedge.cgroup.root is missing";
    for (unsigned i = 0; i < cfg->read_only.n; i++) {
        static const char *const secret[] = { "/proc", "/sys", "/dev", "/run", "/root", "/boot",
                                              "/tmp", "/var/run" };
        for (size_t k = 0; k < sizeof(secret) / sizeof(secret[0]); k++)
            if (below(cfg->read_only.v[i], secret[k]))
                return "selvedge.sandbox.read-only-paths names a directory that no container may see";
    }
    const char *why = places(cfg, &cfg->local_dirs);
    return why ? why : places(cfg, &cfg->log_dirs);
}

int hlp_config_parse(struct hlp_config *cfg, size_t len, const char **ret_why)
{
    bool seen[N_ROWS] = { false };
    int number = 0;
    cfg->nm_user = "yarn";
    cfg->monitor_user = "selvedge-monitor";
    cfg->public_user = "selvedge-public";
    cfg->min_uid = 1000;
    if (len > HLP_CONFIG_MAX || (len && cfg->text[len - 1] != '\n')) {
        *ret_why = "the file is too long or its last line has no end";
        return 1;
    }
    for (char *s = cfg->text, *end = cfg->text + len; s < end;) {
        number++;
        char *newline = memchr(s, '\n', (size_t)(end - s));
        *newline = '\0';
        const char *why = NULL;
        for (char *p = s; p < newline; p++)
            if ((unsigned char)*p < ' ' || (unsigned char)*p >= 127)
                why = "a byte that is not printable ASCII (CR LF line end?)";
        if (!why)
            why = line(cfg, s, seen);
        if (why) {
            *ret_why = why;
            return number;
        }
        s = newline + 1;
    }
    *ret_why = whole(cfg);
    if (*ret_why)
        return number ? number : 1;
    if (!seen[3]) { /* Hadoop's default */
        static const char *const banned[] = { "yarn", "mapred", "hdfs", "bin" };
        for (unsigned i = 0; i < 4; i++)
            cfg->banned.v[cfg->banned.n++] = banned[i];
    }
    return 0;
}
