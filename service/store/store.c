/* See store.h. */
#include "service/store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/own-user.h"
#include "common/str.h"
#include "fs/configured.h"
#include "fs/resolve.h"
#include "service/definition/definition.h"

#define PROGRAM "selvedge-services"
#define IO_TIMEOUT_MS 20000
#define PATH_BYTES 1024 /* of a path below the root: names are bounded */
#define SERVICE_MODE 0750
#define FILE_MODE 0640

struct svc_store {
    struct fs_url place;       /* of the root: the base, or the caller's home directory */
    char top[16];              /* below it, of the services' directories: ".yarn/", or "" */
    char root[FS_URL_MAX + 1]; /* url of the root, as it was resolved */
    const char *user;
    struct fs *fs;
};

static const struct sv_conf_key key_base = {
    .name = "yarn.service.base.path",
    .type = SV_CONF_STRING,
    .help = "Directory of the definitions of all users' services; ~/.yarn where it is not set.",
};

/* ---- Where ---- */

/* The caller's home directory, as Hadoop's file systems name it. */
static int home_of(struct sv_conf *conf, const char *user, char ret[FS_URL_MAX + 1],
                   struct sv_error *err)
{
    const struct passwd *pw;
    char name[FS_URL_MAX + 1];
    int r;

    (void)snprintf(name, sizeof(name), "/user/%s", user);
    r = fs_resolve(conf, name, ret, err);
    if (r < 0 || !sv_has_prefix(ret, "file:"))
        return r;
    pw = getpwnam(user);
    if (!pw || *pw->pw_dir != '/')
        return sv_error_set(err, -EPERM,
                            "%s: no account of this machine, where the definitions of "
                            "services are kept (fs.defaultFS)",
                            user);
    return snprintf(ret, FS_URL_MAX + 1, "file://%s", pw->pw_dir) <= FS_URL_MAX
               ? 0
               : sv_error_errno(err, -ENAMETOOLONG, "home directory of %s", user);
}

static int find_place(struct svc_store *s, struct sv_conf *conf, struct sv_error *err)
{
    const char *base = NULL;
    int r = sv_conf_string(conf, &key_base, &base, err);

    if (r < 0)
        return r;
    if (base && *base) {
        r = fs_resolve(conf, base, s->root, err);
    } else {
        memcpy(s->top, ".yarn/", sizeof(".yarn/"));
        r = home_of(conf, s->user, s->root, err);
    }
    return r < 0 ? r : fs_url_parse(s->root, &s->place, err);
}

int svc_store_is_local(struct sv_conf *conf, bool *ret, struct sv_error *err)
{
    const char *base = NULL;
    char url[FS_URL_MAX + 1];
    int r = sv_conf_string(conf, &key_base, &base, err);

    if (r >= 0)
        r = fs_resolve(conf, base && *base ? base : "/user", url, err);
    if (r < 0)
        return r;
    *ret = sv_has_prefix(url, "file:");
    return 0;
}

int svc_store_place(struct sv_conf *conf, const char *user, struct fs_url *ret,
                    struct sv_error *err)
{
    struct svc_store s = { .user = user };
    int r = find_place(&s, conf, err);

    if (r >= 0)
        *ret = s.place;
    return r < 0 ? r : 0;
}

int svc_store_open(struct sv_conf *conf, const char *user, int credentials, struct svc_store **ret,
                   struct sv_error *err)
{
    _cleanup_(svc_store_closep) struct svc_store *s = calloc(1, sizeof(*s));
    struct fs_options o = { .root = -1,
                            .program = PROGRAM,
                            .identity = { .user = user, .credentials = credentials },
                            .limits = { .io_timeout_ms = IO_TIMEOUT_MS } };
    int r = s ? 0 : sv_error_errno(err, -ENOMEM, "definitions");

    if (r < 0)
        return r;
    s->user = user;
    r = find_place(s, conf, err);
    if (r < 0)
        return r;
    if (s->place.scheme == FS_SCHEME_FILE && !sv_streq(sv_own_user(), user))
        return sv_error_set(err, -EPERM,
                            "the definitions of services are files of this machine (%s), where "
                            "this server is the account %s and cannot be %s: set "
                            "yarn.service.base.path to a directory of HDFS",
                            s->root, sv_own_user() ?: "?", user);
    o.url = &s->place;
    r = fs_open_configured(conf, &o, &s->fs, err);
    if (r < 0)
        return sv_error_wrap(err, "definitions of services in %s", s->root);
    *ret = SV_TAKE(s);
    return 0;
}

struct svc_store *svc_store_close(struct svc_store *s)
{
    if (s) {
        s->fs = fs_close(s->fs);
        free(s);
    }
    return NULL;
}

/* ---- Paths ---- */

static int check(const char *service, const char *version, struct sv_error *err)
{
    if (!svc_name_valid(service))
        return sv_error_set(err, -EINVAL, "\"%.80s\" is no name of a service", service);
    if (version && !fs_name_valid(version))
        return sv_error_set(err, -EINVAL, "\"%.80s\": a version without '/' and control characters",
                            version);
    return 0;
}

/* Path of the directory that holds the definition; `service` NULL: of all services. */
static void dir_of(const struct svc_store *s, const char *service, const char *version,
                   char ret[PATH_BYTES])
{
    (void)snprintf(ret, PATH_BYTES, "%sservices%s%.63s%s%.255s", s->top, service ? "/" : "",
                   service ? service : "", version ? "/upgrade/" : "", version ? version : "");
}

static void file_in(const char *dir, const char *service, const char *suffix, char ret[PATH_BYTES])
{
    (void)snprintf(ret, PATH_BYTES, "%.900s/%.63s.json%s", dir, service, suffix);
}

/* Fails with -ENOENT unless the service's directory is there and is the caller's. `taken`: what is
 * another's is -EEXIST. */
static int check_owner(struct svc_store *s, const char *service, bool taken, struct sv_error *err)
{
    char dir[PATH_BYTES];
    struct fs_status st;
    struct fs_owner owner;
    int r;

    dir_of(s, service, NULL, dir);
    r = fs_status(s->fs, dir, &st, &owner, err);
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == -ENOENT || (!taken && (!owner.own || st.kind != FS_DIRECTORY)))
        return sv_error_set(err, -ENOENT, "File does not exist: %s/%s/%s.json", s->root, dir,
                            service);
    if (!owner.own || st.kind != FS_DIRECTORY)
        return sv_error_set(err, -EEXIST, "Service Instance dir already exists: %s/%s", s->root,
                            dir);
    return 0;
}

/* ---- Reading ---- */

static int read_file(struct svc_store *s, const char *path, char **ret, struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    _cleanup_free_ char *text = NULL;
    struct fs_status st;
    int r = fs_open_file(s->fs, path, &f, &st, err);

    if (r < 0)
        return r;
    if (st.length > SVC_JSON_MAX)
        return sv_error_set(err, -EFBIG, "%s/%s: larger than %zu MiB", s->root, path,
                            SVC_JSON_MAX >> 20);
    text = malloc(st.length + 1);
    if (!text)
        return sv_error_errno(err, -ENOMEM, "%s", path);
    r = st.length ? fs_read(f, 0, text, st.length, err) : 0;
    if (r < 0)
        return r;
    text[st.length] = '\0';
    if (strlen(text) != st.length)
        return sv_error_set(err, -EBADMSG, "%s/%s: no JSON: it has a NUL", s->root, path);
    *ret = SV_TAKE(text);
    return 0;
}

int svc_store_read(struct svc_store *s, const char *service, const char *version, char **ret,
                   struct sv_error *err)
{
    char dir[PATH_BYTES], path[PATH_BYTES];
    int r = check(service, version, err);

    if (r >= 0)
        r = check_owner(s, service, false, err);
    if (r < 0)
        return r;
    dir_of(s, service, version, dir);
    file_in(dir, service, "", path);
    r = read_file(s, path, ret, err);
    return r == -ENOENT ? sv_error_set(err, r, "File does not exist: %s/%s", s->root, path) : r;
}

/* ---- Writing ---- */

/* The directory of all users' services is the operator's: whoever made it could rename what is
 * below. */
static int check_all(struct svc_store *s, struct sv_error *err)
{
    char dir[PATH_BYTES];
    struct fs_status st;
    int r;

    dir_of(s, NULL, NULL, dir);
    r = *s->top ? 0 : fs_status(s->fs, dir, &st, NULL, err);
    return r == -ENOENT ? sv_error_set(err, -ENODEV,
                                       "%s/%s is missing: create it with mode 1777, as "
                                       "yarn.service.base.path is set",
                                       s->root, dir)
                        : r;
}

/* Makes the directories of a path, the service's own with its mode. */
static int make_dirs(struct svc_store *s, const char *path, struct sv_error *err)
{
    size_t all = strlen(s->top) + strlen("services"); /* bytes of their common directory */
    char part[PATH_BYTES];
    int r = check_all(s, err);

    for (const char *end = path; r == 0 && end && *end;) {
        end = strchr(end + 1, '/');
        (void)snprintf(part, sizeof(part), "%.*s", end ? (int)(end - path) : (int)strlen(path),
                       path);
        if (*s->top || strlen(part) > all)
            r = fs_mkdir(s->fs, part, strlen(part) > all ? SERVICE_MODE : 0755, err);
        if (r < 0)
            return sv_error_wrap(err, "directory %s/%s", s->root, part);
    }
    if (r < 0)
        return r;
    (void)snprintf(part, sizeof(part), "%.*s", (int)(all + 1 + strcspn(path + all + 1, "/")), path);
    return fs_set_mode(s->fs, part, SERVICE_MODE, err); /* whatever the umask took */
}

/* Writes NAME.tmp, and renames it. */
static int write_file(struct svc_store *s, const char *path, const char *text, int from,
                      uint32_t mode, struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    char other[PATH_BYTES + 8];
    int r;

    (void)snprintf(other, sizeof(other), "%.1000s.tmp", path);
    r = fs_create(s->fs, other, mode, &f, err);
    if (r >= 0)
        r = text ? fs_write(f, text, strlen(text), err) : fs_write_from(f, from, err);
    if (r >= 0)
        r = fs_finish(f, err);
    if (r >= 0)
        r = fs_rename(s->fs, other, path, err);
    return r < 0 ? sv_error_wrap(err, "writing %s/%s", s->root, path) : 0;
}

int svc_store_create(struct svc_store *s, const char *service, const char *version,
                     const char *text, struct sv_error *err)
{
    char dir[PATH_BYTES], path[PATH_BYTES];
    struct fs_status st;
    int r = check(service, version, err);

    if (r >= 0)
        r = check_owner(s, service, true, err);
    if (r < 0 && r != -ENOENT)
        return r;
    dir_of(s, service, version, dir);
    file_in(dir, service, "", path);
    r = fs_status(s->fs, path, &st, NULL, err);
    if (r < 0 && r != -ENOENT)
        return r;
    if (r == 0 && !version)
        return sv_error_set(err, -EEXIST, "Service Instance dir already exists: %s/%s", s->root,
                            path);
    r = make_dirs(s, dir, err);
    return r < 0 ? r : write_file(s, path, text, -1, FILE_MODE, err);
}

int svc_store_replace(struct svc_store *s, const char *service, const char *text,
                      struct sv_error *err)
{
    char dir[PATH_BYTES], path[PATH_BYTES];
    struct fs_status st;
    int r = check(service, NULL, err);

    if (r >= 0)
        r = check_owner(s, service, false, err);
    if (r < 0)
        return r;
    dir_of(s, service, NULL, dir);
    file_in(dir, service, "", path);
    r = fs_status(s->fs, path, &st, NULL, err);
    return r < 0 ? r : write_file(s, path, text, -1, FILE_MODE, err);
}

int svc_store_remove(struct svc_store *s, const char *service, struct sv_error *err)
{
    char dir[PATH_BYTES];
    int r = check(service, NULL, err);

    if (r >= 0)
        r = check_owner(s, service, false, err);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return r;
    dir_of(s, service, NULL, dir);
    r = fs_remove_tree(s->fs, dir, err);
    return r < 0 ? r : 1;
}

/* ---- Counting ---- */

struct counting {
    struct svc_store *s;
    struct sv_error *err;
    int n, most, seen;
    bool owners; /* another user's do not count: a question to the server for each */
};

static int count_child(void *userdata, const struct fs_child *c)
{
    struct counting *k = userdata;
    struct sv_error none = { 0 };

    if (++k->seen > SVC_STORE_ENTRIES_MAX)
        return sv_error_set(k->err, -E2BIG, "more than %d entries", SVC_STORE_ENTRIES_MAX);
    if (c->st.kind == FS_DIRECTORY && svc_name_valid(c->name) && k->n < k->most &&
        (!k->owners || check_owner(k->s, c->name, false, &none) == 0))
        k->n++;
    return 0;
}

static int count(struct svc_store *s, int most, bool owners, struct sv_error *err)
{
    struct counting k = { .s = s, .err = err, .most = most, .owners = owners };
    char dir[PATH_BYTES];
    int r;

    dir_of(s, NULL, NULL, dir);
    r = fs_list(s->fs, dir, count_child, &k, err);
    if (r == -ENOENT)
        return 0;
    return r < 0 ? sv_error_wrap(err, "%s/%s", s->root, dir) : k.n;
}

/* Owners are asked for only where all users' services together would be too many. */
int svc_store_count(struct svc_store *s, int most, struct sv_error *err)
{
    int n = count(s, most, false, err);

    return n < most || *s->top ? n : count(s, most, true, err);
}

/* ---- Files of the master ---- */

static int url_of(struct svc_store *s, const char *path, char ret[FS_URL_MAX + 1],
                  struct sv_error *err)
{
    size_t n = strlen(s->root);
    int k;

    while (n > 0 && s->root[n - 1] == '/')
        n--;
    k = snprintf(ret, FS_URL_MAX + 1, "%.*s/%s", (int)n, s->root, path);
    return k > FS_URL_MAX ? sv_error_errno(err, -ENAMETOOLONG, "%s", path) : 0;
}

int svc_store_url(struct svc_store *s, const char *service, char ret[FS_URL_MAX + 1],
                  struct sv_error *err)
{
    char dir[PATH_BYTES], path[PATH_BYTES];
    int r = check(service, NULL, err);

    if (r < 0)
        return r;
    dir_of(s, service, NULL, dir);
    file_in(dir, service, "", path);
    return url_of(s, path, ret, err);
}

/* 1: a copy is there: of this size, and not older. */
static int has_copy(struct svc_store *s, const char *path, const struct stat *from,
                    struct fs_status *ret, struct sv_error *err)
{
    int r = fs_status(s->fs, path, ret, NULL, err);

    if (r == -ENOENT)
        return 0;
    return r < 0 ? r
                 : ret->kind == FS_FILE && ret->length == (uint64_t)from->st_size &&
                       ret->mtime_ms / 1000 >= from->st_mtim.tv_sec;
}

static int copy_file(struct svc_store *s, const char *path, const char *from, struct fs_status *ret,
                     struct sv_error *err)
{
    _cleanup_close_ int fd = open(from, O_RDONLY | O_CLOEXEC);
    struct stat st;
    int r;

    if (fd < 0 || fstat(fd, &st) < 0)
        return sv_error_errno(err, -errno, "%s", from);
    r = has_copy(s, path, &st, ret, err);
    if (r == 0)
        r = write_file(s, path, NULL, fd, 0755, err);
    return r;
}

/* A node compares whole seconds of a file of its machine (client/run/stage.c). */
static int settle(struct svc_store *s, const char *path, struct fs_status *st, struct sv_error *err)
{
    int r = fs_status(s->fs, path, st, NULL, err);

    if (r < 0 || s->place.scheme != FS_SCHEME_FILE || st->mtime_ms % 1000 == 0)
        return r;
    r = fs_set_time(s->fs, path, st->mtime_ms / 1000 * 1000, err);
    return r < 0 ? r : fs_status(s->fs, path, st, NULL, err);
}

int svc_store_put(struct svc_store *s, const char *service, const char *name, const char *text,
                  const char *from, struct svc_store_file *ret, struct sv_error *err)
{
    char dir[PATH_BYTES], lib[PATH_BYTES + 8], path[PATH_BYTES + 264];
    struct fs_status st;
    int r = check(service, NULL, err);

    if (r >= 0)
        r = fs_name_valid(name) ? check_owner(s, service, false, err)
                                : sv_error_set(err, -EINVAL, "\"%.80s\": no name", name);
    if (r < 0)
        return r;
    dir_of(s, service, NULL, dir);
    (void)snprintf(lib, sizeof(lib), "%.1000s/lib", dir);
    (void)snprintf(path, sizeof(path), "%.1004s/%.255s", lib, name);
    r = fs_mkdir(s->fs, lib, SERVICE_MODE, err);
    if (r >= 0)
        r = text ? write_file(s, path, text, -1, FILE_MODE, err)
                 : copy_file(s, path, from, &st, err);
    if (r >= 0)
        r = settle(s, path, &st, err);
    if (r >= 0)
        r = url_of(s, path, ret->url, err);
    if (r < 0)
        return r;
    ret->size = (int64_t)st.length;
    ret->mtime_ms = st.mtime_ms;
    return 0;
}

int svc_store_stat(struct sv_conf *conf, const char *user, int credentials, const char *url,
                   struct svc_store_file *ret, struct sv_error *err)
{
    struct fs_url at;
    struct fs_options o = { .url = &at,
                            .path = "",
                            .root = -1,
                            .program = PROGRAM,
                            .identity = { .user = user, .credentials = credentials },
                            .limits = { .io_timeout_ms = IO_TIMEOUT_MS } };
    struct fs *fs = NULL;
    struct fs_status st;
    int r = fs_url_parse(url, &at, err);

    if (r >= 0)
        r = fs_open_configured(conf, &o, &fs, err);
    if (r >= 0)
        r = fs_status(fs, at.path + 1, &st, NULL, err);
    (void)fs_close(fs);
    if (r < 0)
        return r;
    (void)snprintf(ret->url, sizeof(ret->url), "%s", url);
    ret->size = (int64_t)st.length;
    ret->mtime_ms = st.mtime_ms;
    return 0;
}
