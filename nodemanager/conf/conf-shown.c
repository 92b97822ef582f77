/* See conf-shown.h. Links are followed as a container would: each directory that holds one, and the
 * last target, must be shown. */
#include "nodemanager/conf/conf-shown.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/str.h"
#include "executor/shown-paths.h"

#define READ_ONLY "selvedge.sandbox.read-only-paths="
#define WRITABLE "selvedge.sandbox.writable-paths="
#define CFG_MAX (1 << 20)
#define LINKS_MAX 40 /* the kernel's */

struct nm_shown {
    const struct nm_conf *conf;
    char **read_only, **writable; /* of the file */
    char *more[EXE_DIRS_MAX];
    unsigned n;
};

static bool below(const char *path, const char *dir)
{
    const size_t n = strlen(dir);

    return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool below_one(const char *path, const char *const *dirs)
{
    for (; dirs && *dirs; dirs++)
        if (below(path, *dirs))
            return true;
    return false;
}

static bool equals_one(const char *path, const char *const *dirs)
{
    for (; *dirs; dirs++)
        if (sv_streq(path, *dirs))
            return true;
    return false;
}

static bool is_seen(const struct nm_shown *s, const char *path)
{
    static const char *const strict[] = { EXE_SHOWN_DIRECTORIES, NULL };
    static const char *const hidden[] = { "/root", "/boot",    "/run", "/tmp",
                                          "/proc", "/var/tmp", "/dev", NULL };

    if (s->conf->profile == EXE_PROFILE_HOST ||
        below_one(path, (const char *const *)s->read_only) ||
        below_one(path, (const char *const *)s->writable))
        return true;
    for (unsigned i = 0; i < s->n; i++)
        if (below(path, s->more[i]))
            return true;
    return s->conf->profile == EXE_PROFILE_HADOOP ? !below_one(path, hidden)
                                                  : below_one(path, strict);
}

static bool overlaps(const char *path, char *const *dirs)
{
    for (; dirs && *dirs; dirs++)
        if (below(path, *dirs) || below(*dirs, path))
            return true;
    return false;
}

/* Root's alone, as container-executor demands of every directory above a path. */
static bool above_is_roots(const char *path)
{
    char dir[PATH_MAX];
    struct stat st;

    for (const char *slash = path; slash; slash = strchr(slash + 1, '/')) {
        (void)snprintf(dir, sizeof(dir), "%.*s", slash == path ? 1 : (int)(slash - path), path);
        if (stat(dir, &st) == 0 && (st.st_uid != 0 || (st.st_mode & 022)))
            return false;
    }
    return true;
}

/* Why container-executor.cfg cannot, or should not, name it; NULL. */
static const char *refusal(const struct nm_shown *s, const char *path)
{
    static const char *const never[] = { "/proc", "/sys",     "/dev",     "/root", "/boot",
                                         "/tmp",  "/var/tmp", "/var/run", NULL };
    static const char *const broad[] = { "/",    "/etc", "/var",   "/var/lib", "/var/log", "/home",
                                         "/srv", "/mnt", "/media", "/run",     NULL };
    struct stat st;

    if (strlen(path) > 255 || strpbrk(path, " \t\\\"'`$*?,:") || strstr(path, "/."))
        return "container-executor.cfg takes no such path";
    if (below_one(path, never))
        return "no container may see it";
    if (equals_one(path, broad))
        return "it holds much that is not for jobs; name what the link in it leads to";
    if (overlaps(path, s->conf->local_dirs) || overlaps(path, s->conf->log_dirs))
        return "it overlaps a local or log directory";
    if (!above_is_roots(path))
        return "a directory above it is not root's, or others may write it";
    if (below(path, "/run") && stat(path, &st) == 0 && st.st_uid == 0)
        return "of /run only what is not root's can be shown";
    if (sv_strv_len(s->read_only) + s->n >= EXE_DIRS_MAX)
        return "container-executor.cfg takes 32 paths";
    return NULL;
}

/* Adds one directory, in place of those below it. */
static int need(struct nm_shown *s, const char *path, const char **ret_why)
{
    unsigned kept = 0;

    if (is_seen(s, path))
        return NM_SHOWN_SEEN;
    *ret_why = refusal(s, path);
    if (*ret_why)
        return NM_SHOWN_REFUSED;
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    for (unsigned i = 0; i < s->n; i++) {
        if (below(s->more[i], path))
            free(s->more[i]);
        else
            s->more[kept++] = s->more[i];
    }
    s->more[kept++] = copy;
    s->n = kept;
    return NM_SHOWN_ADDED;
}

/* "/a//b/./c/" → "/a/b/c", in place; ".." takes a name away, which here is never a link's. */
static void normalize(char *path)
{
    char *to = path;

    for (char *name = path; *name;) {
        name += strspn(name, "/");
        const size_t n = strcspn(name, "/");
        if (n == 2 && name[0] == '.' && name[1] == '.') {
            while (to > path && *--to != '/')
                ;
        } else if (n > 0 && !(n == 1 && name[0] == '.')) {
            *to++ = '/';
            memmove(to, name, n);
            to += n;
        }
        name += n;
    }
    if (to == path)
        *to++ = '/';
    *to = '\0';
}

/* The first link among the names of `path`: the length up to it; 0: none, -errno. */
static int find_link(const char *path, struct stat *st)
{
    char prefix[PATH_MAX];

    for (const char *slash = path; slash;) {
        slash = strchr(slash + 1, '/');
        const int n = slash ? (int)(slash - path) : (int)strlen(path);
        (void)snprintf(prefix, sizeof(prefix), "%.*s", n, path);
        if (lstat(prefix, st) < 0)
            return -errno;
        if (S_ISLNK(st->st_mode))
            return n;
    }
    return 0;
}

/* Puts the target of the link, which ends at `n`, into its place; -errno. */
static int follow(char *path, int n)
{
    char link[PATH_MAX], target[PATH_MAX], whole[2 * PATH_MAX];
    int dir = n;

    (void)snprintf(link, sizeof(link), "%.*s", n, path);
    ssize_t got = readlink(link, target, sizeof(target) - 1);
    if (got < 0)
        return -errno;
    target[got] = '\0';
    while (path[dir] != '/' || dir == n)
        dir--;
    const int wrote =
        target[0] == '/' ? snprintf(whole, sizeof(whole), "%s%s", target, path + n)
                         : snprintf(whole, sizeof(whole), "%.*s/%s%s", dir, path, target, path + n);
    if (wrote < 0 || wrote >= PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(path, whole, (size_t)wrote + 1);
    normalize(path);
    return 0;
}

/* The directory of the link that ends at `n`; strict has the link /var/run itself. */
static int need_directory_of(struct nm_shown *s, const char *path, int n, char *ret_at,
                             const char **ret_why)
{
    (void)snprintf(ret_at, PATH_MAX, "%.*s", n, path);
    if (is_seen(s, ret_at) || sv_streq(ret_at, "/var/run"))
        return NM_SHOWN_SEEN;
    char *slash = strrchr(ret_at, '/');
    slash[slash == ret_at] = '\0';
    return need(s, ret_at, ret_why);
}

int nm_shown_add(struct nm_shown *s, const char *path, char *ret_at, const char **ret_why)
{
    char at[PATH_MAX];
    struct stat st;
    int result = NM_SHOWN_SEEN, n;

    *ret_why = NULL;
    if (snprintf(at, sizeof(at), "%s", path) >= (int)sizeof(at))
        return NM_SHOWN_ABSENT;
    normalize(at);
    for (int links = 0; (n = find_link(at, &st)) > 0; links++) {
        int r = need_directory_of(s, at, n, ret_at, ret_why);
        if (r < 0 || r == NM_SHOWN_REFUSED)
            return r;
        result = SV_MAX(result, r);
        if (links == LINKS_MAX || follow(at, n) < 0)
            return NM_SHOWN_ABSENT;
    }
    /* A service makes its directory in /run when it starts. */
    if (n < 0 && !below(at, "/run"))
        return NM_SHOWN_ABSENT;
    if (n == 0 && !S_ISDIR(st.st_mode) && strrchr(at, '/') != at)
        *strrchr(at, '/') = '\0';
    (void)snprintf(ret_at, PATH_MAX, "%s", at);
    n = need(s, at, ret_why);
    return n < 0 ? n : SV_MAX(result, n);
}

/* The last value of a key of container-executor.cfg, as a list; NULL where there is none. */
static char **listed(char *text, const char *key)
{
    char **list = NULL;
    const char *found = NULL;

    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (sv_has_prefix(line, key))
            found = line + strlen(key);
        if (next)
            next++;
    }
    char *value = found ? strndup(found, strcspn(found, "\n")) : NULL;
    if (value && sv_strv_split(value, ',', &list) < 0)
        list = NULL;
    free(value);
    return list;
}

struct nm_shown *nm_shown_new(const struct nm_conf *c, const char *cfg)
{
    _cleanup_free_ char *text = NULL;
    struct nm_shown *s = calloc(1, sizeof(*s));
    size_t len;

    if (!s)
        return NULL;
    s->conf = c;
    if (sv_read_file_at(AT_FDCWD, cfg ? cfg : EXECUTOR_CONF, CFG_MAX, &text, &len) >= 0) {
        s->read_only = listed(text, READ_ONLY);
        s->writable = listed(text, WRITABLE);
    }
    return s;
}

struct nm_shown *nm_shown_free(struct nm_shown *s)
{
    if (!s)
        return NULL;
    sv_strv_free(s->read_only);
    sv_strv_free(s->writable);
    for (unsigned i = 0; i < s->n; i++)
        free(s->more[i]);
    free(s);
    return NULL;
}

char *nm_shown_line(const struct nm_shown *s)
{
    char *line = NULL;
    size_t size = 0;
    const char *comma = "";

    if (s->n == 0)
        return NULL;
    FILE *out = open_memstream(&line, &size);
    if (!out)
        return NULL;
    fputs(READ_ONLY, out);
    for (char **p = s->read_only; p && *p; p++, comma = ",")
        fprintf(out, "%s%s", comma, *p);
    for (unsigned i = 0; i < s->n; i++, comma = ",")
        fprintf(out, "%s%s", comma, s->more[i]);
    if (fclose(out) != 0) {
        free(line);
        return NULL;
    }
    return line;
}
