/* See resolve.h. The configuration is the operator's; names come from applications. */
#include "fs/resolve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"

#define VIEWFS "viewfs:"
#define MOUNTS "fs.viewfs.mounttable."

static bool is(const char *url, const char *scheme)
{
    return strncasecmp(url, scheme, strlen(scheme)) == 0;
}

static int join(const char *a, size_t n, const char *b, char ret[FS_URL_MAX + 1],
                struct sv_error *err)
{
    int k = snprintf(ret, FS_URL_MAX + 1, "%.*s%s", (int)n, a, b);

    return k < 0 || k > FS_URL_MAX ? sv_error_set(err, -ENAMETOOLONG, "%.200s: too long a path", b)
                                   : 0;
}

/* A path on fs.defaultFS; also in Hadoop's older forms: "/" and "local" are file:, "host:port"
 * HDFS. */
static int on_default(struct sv_conf *c, const char *path, char ret[FS_URL_MAX + 1],
                      struct sv_error *err)
{
    static const struct sv_conf_key key = { "fs.defaultFS", SV_CONF_STRING, "file:///" };
    char hdfs[FS_URL_MAX + 1];
    const char *fs = NULL, *authority;
    int r = sv_conf_string(c, &key, &fs, err);

    if (r < 0)
        return r;
    authority = strstr(fs, "://");
    if (authority)
        return join(fs, (size_t)(authority - fs) + 3 + strcspn(authority + 3, "/"), path, ret, err);
    if (*fs == '/' || sv_streq(fs, "local"))
        return join("file://", strlen("file://"), path, ret, err);
    r = join("hdfs://", strlen("hdfs://"), fs, hdfs, err);
    return r < 0 ? r : join(hdfs, strlen(hdfs), path, ret, err);
}

/* The target of a mount point: of the first n bytes of `path`, or of the whole table. */
static const char *target(struct sv_conf *c, const char *table, const char *link, const char *path,
                          size_t n)
{
    _cleanup_free_ char *key = NULL;

    if (sv_asprintf(&key, MOUNTS "%s.%s%.*s", table, link, (int)n, path) < 0)
        return NULL;
    return sv_conf_raw(c, key);
}

/* Finds the longest mount point of a path; *ret_n is its length. */
static const char *mount_of(struct sv_conf *c, const char *table, const char *path, size_t *ret_n)
{
    static const char *const whole[] = { "linkMergeSlash", "linkFallback" };
    const char *found = NULL;
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    for (; n > 0 && !found; n = found ? n : (size_t)((const char *)memrchr(path, '/', n) - path))
        found = target(c, table, "link.", path, n);
    *ret_n = n;
    for (size_t i = 0; !found && i < SV_ARRAY_LEN(whole); i++)
        found = target(c, table, whole[i], "", 0);
    return found;
}

static int refuse(int r, const char *url, const char *why, const char *more, struct sv_error *err)
{
    char shown[300];

    sv_escape(shown, sizeof(shown), url);
    return sv_error_set(err, r, "%s: %s%.200s", shown, why, more);
}

static int on_viewfs(struct sv_conf *c, const char *url, char ret[FS_URL_MAX + 1],
                     struct sv_error *err)
{
    const char *p = url + strlen(VIEWFS), *path, *mount, *name;
    _cleanup_free_ char *table = NULL;
    size_t n;

    p += sv_has_prefix(p, "//") ? 2 : 0;
    path = p + strcspn(p, "/");
    name = sv_conf_raw(c, MOUNTS "default.name.key");
    name = name && *name ? name : "default";
    if (sv_asprintf(&table, "%.*s", (int)(path == p ? strlen(name) : (size_t)(path - p)),
                    path == p ? name : p) < 0)
        return sv_error_errno(err, -ENOMEM, "%s", url);
    mount = mount_of(c, table, path, &n);
    if (!mount)
        return refuse(-ENOENT, url, "no mount point has it: " MOUNTS "NAME.link.PATH", "", err);
    if (is(mount, VIEWFS))
        return refuse(-EOPNOTSUPP, url, "its mount point is viewfs: again: ", mount, err);
    path += n;
    n = strlen(mount);
    while (n > 0 && mount[n - 1] == '/' && *path == '/')
        n--;
    return join(mount, n, path, ret, err);
}

int fs_resolve(struct sv_conf *c, const char *name, char ret[FS_URL_MAX + 1], struct sv_error *err)
{
    char url[FS_URL_MAX + 1];
    int r = *name == '/' ? on_default(c, name, url, err) : join("", 0, name, url, err);

    if (r < 0)
        return r;
    if (is(url, "har:"))
        return refuse(-EOPNOTSUPP, url,
                      "Hadoop archives (har:) are not read; name a copy of the file", "", err);
    if (is(url, VIEWFS))
        return on_viewfs(c, url, ret, err);
    memcpy(ret, url, strlen(url) + 1);
    return 0;
}

int fs_resolve_url(struct sv_conf *c, const char *name, struct fs_url *ret, struct sv_error *err)
{
    char url[FS_URL_MAX + 1];
    int r = fs_resolve(c, name, url, err);

    return r < 0 ? r : fs_url_parse(url, ret, err);
}
