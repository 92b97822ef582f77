/* See files.h. What was stored is named by the hash of its bytes: containers share it, and another
 * version of a service never changes a file that a running one has localized. */
#include "service/am/launch/files.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "fs/configured.h"
#include "fs/resolve.h"

#define PLACES_MAX 64      /* open file systems, beside the service's */
#define STATUSES_MAX 20000 /* remembered statuses; with one more all are forgotten */
#define DIRECTORY_MODE 0700
#define FILE_MODE 0600
#define FILES "components"
#define IO_TIMEOUT_MS 60000

struct place { /* a directory's file system, for sources */
    char *key; /* its URL */
    struct fs *fs;
    UT_hash_handle hh;
};
struct known { /* a file whose status is known */
    char *url;
    int64_t size, mtime_ms;
    UT_hash_handle hh;
};

struct svc_files {
    struct sv_conf *conf;
    const char *user;
    int credentials;
    char *url;  /* of the directory */
    char *name; /* of the definition */
    struct fs_url parsed;
    struct fs *fs;
    struct place *places;
    struct known *known;
};

/* ---- File systems ---- */

/* Splits "scheme://host/a/b" into the directory and the name behind its last slash. */
static int split(const char *url, char **ret_directory, const char **ret_name, struct sv_error *err)
{
    const char *slash = strrchr(url, '/');

    if (!slash || !fs_name_valid(slash + 1))
        return sv_error_set(err, -EINVAL, "%s: not a URL of a file", url);
    if (sv_asprintf(ret_directory, "%.*s", (int)SV_MAX(slash - url, 1), url) < 0)
        return sv_error_errno(err, -ENOMEM, "%s", url);
    *ret_name = slash + 1;
    return 0;
}

/* "file:/a" and "file:///a" are the same: with the slashes, as the nodes read it. */
static int resolve(struct svc_files *f, const char *name, char ret[FS_URL_MAX + 1],
                   struct sv_error *err)
{
    char url[FS_URL_MAX + 1];
    int r = fs_resolve(f->conf, name, url, err);

    if (r < 0)
        return r;
    if (sv_has_prefix(url, "file:/") && !sv_has_prefix(url, "file://"))
        r = snprintf(ret, FS_URL_MAX + 1, "file://%s", url + 5);
    else
        r = snprintf(ret, FS_URL_MAX + 1, "%s", url);
    return r > FS_URL_MAX ? sv_error_errno(err, -ENAMETOOLONG, "%s", name) : 0;
}

static int open_directory(struct svc_files *f, const char *url, struct fs_url *parsed,
                          struct fs **ret, struct sv_error *err)
{
    const struct fs_options o = {
        .url = parsed,
        .root = -1,
        .program = "selvedge-service-am",
        .identity = { .user = f->user, .credentials = f->credentials },
        .limits = { .io_timeout_ms = IO_TIMEOUT_MS },
    };
    int r = fs_url_parse(url, parsed, err);

    return r < 0 ? r : fs_open_configured(f->conf, &o, ret, err);
}

static void forget_place(struct svc_files *f, struct place *p)
{
    HASH_DEL(f->places, p);
    fs_close(p->fs);
    free(p->key);
    free(p);
}

/* Takes the directory's URL. */
static int find_place(struct svc_files *f, char *directory, struct fs **ret, struct sv_error *err)
{
    struct fs_url parsed;
    struct place *p;
    int r;

    HASH_FIND_STR(f->places, directory, p);
    if (p) {
        free(directory);
        *ret = p->fs;
        return 0;
    }
    if (HASH_COUNT(f->places) >= PLACES_MAX)
        forget_place(f, f->places);
    p = calloc(1, sizeof(*p));
    r = p ? open_directory(f, directory, &parsed, &p->fs, err)
          : sv_error_errno(err, -ENOMEM, "%s", directory);
    if (r < 0) {
        free(p);
        free(directory);
        return r;
    }
    p->key = directory;
    HASH_ADD_KEYPTR(hh, f->places, p->key, strlen(p->key), p);
    *ret = p->fs;
    return 0;
}

/* ---- Whole files ---- */

static int read_whole(struct fs *fs, const char *path, size_t max, char **ret, size_t *ret_len,
                      struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *file = NULL;
    _cleanup_free_ char *bytes = NULL;
    struct fs_status st;
    int r = fs_open_file(fs, path, &file, &st, err);

    if (r < 0)
        return r;
    if (st.length > max)
        return sv_error_set(err, -EFBIG, "%s: %llu bytes: at most %zu", path,
                            (unsigned long long)st.length, max);
    bytes = malloc(st.length + 1);
    if (!bytes)
        return sv_error_errno(err, -ENOMEM, "%s", path);
    r = st.length ? fs_read(file, 0, bytes, st.length, err) : 0;
    if (r < 0)
        return r;
    bytes[st.length] = '\0';
    *ret_len = st.length;
    *ret = SV_TAKE(bytes);
    return 0;
}

static int write_whole(struct svc_files *f, const char *path, const void *p, size_t n,
                       struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *file = NULL;
    int r = fs_create(f->fs, path, FILE_MODE, &file, err);

    if (r == 0)
        r = fs_write(file, p, n, err);
    if (r == 0)
        r = fs_finish(file, err);
    return r < 0 ? r : 0;
}

int svc_files_read(struct svc_files *f, const char *path, size_t max, char **ret, size_t *ret_len,
                   struct sv_error *err)
{
    int r = read_whole(f->fs, path, max, ret, ret_len, err);

    return r < 0 ? sv_error_wrap(err, "%s", f->url) : 0;
}

int svc_files_replace(struct svc_files *f, const char *name, const void *p, size_t n,
                      struct sv_error *err)
{
    char temporary[FS_NAME_MAX + 8];
    int r;

    (void)snprintf(temporary, sizeof(temporary), ".%.240s.new", name);
    r = write_whole(f, temporary, p, n, err);
    if (r == 0)
        r = fs_rename(f->fs, temporary, name, err);
    if (r == 0)
        r = fs_sync(f->fs, "", err);
    return r < 0 ? sv_error_wrap(err, "%s/%s", f->url, name) : 0;
}

int svc_files_source(struct svc_files *f, const char *url, size_t max, char **ret, size_t *ret_len,
                     struct sv_error *err)
{
    char full[FS_URL_MAX + 1], *directory = NULL;
    const char *name;
    struct fs *fs;
    int r = resolve(f, url, full, err);

    if (r == 0)
        r = split(full, &directory, &name, err);
    if (r == 0)
        r = find_place(f, directory, &fs, err);
    if (r == 0)
        r = read_whole(fs, name, max, ret, ret_len, err);
    return r < 0 ? sv_error_wrap(err, "%s", url) : 0;
}

/* ---- Resources ---- */

static void forget_statuses(struct svc_files *f)
{
    struct known *k, *next;

    HASH_ITER (hh, f->known, k, next) {
        HASH_DEL(f->known, k);
        free(k->url);
        free(k);
    }
}

static struct known *remember(struct svc_files *f, const char *url, const struct fs_status *st)
{
    struct known *k = calloc(1, sizeof(*k));

    if (HASH_COUNT(f->known) >= STATUSES_MAX)
        forget_statuses(f);
    if (!k || !(k->url = strdup(url))) {
        free(k);
        return NULL;
    }
    k->size = (int64_t)st->length;
    k->mtime_ms = st->mtime_ms;
    HASH_ADD_KEYPTR(hh, f->known, k->url, strlen(k->url), k);
    return k;
}

static int describe(const struct known *k, struct sv_arena *a, struct cli_resource *ret,
                    struct sv_error *err)
{
    if (!k)
        return sv_error_errno(err, -ENOMEM, "resource");
    *ret = (struct cli_resource){
        .url = sv_arena_strdup(a, k->url),
        .size = k->size,
        .timestamp = k->mtime_ms,
        .type = CLI_FILE,
        .visibility = CLI_APPLICATION,
    };
    return ret->url ? 0 : sv_error_errno(err, -ENOMEM, "resource");
}

/* The status of a file that is read by its URL. `location`: a directory, too, or no status. */
static int look_up(struct svc_files *f, const char *full, bool location, struct known **ret,
                   struct sv_error *err)
{
    static const struct fs_status untold = { .kind = FS_FILE, .length = (uint64_t)-1 };
    char *directory = NULL;
    struct fs_status st;
    const char *name;
    struct fs *fs;
    int r = split(full, &directory, &name, err);

    if (r == 0)
        r = find_place(f, directory, &fs, err);
    if (r == 0 && !fs_has_status(fs) && !location)
        r = sv_error_set(err, -EOPNOTSUPP,
                         "the file system tells no status: copy the file to the cluster's");
    if (r == 0 && !fs_has_status(fs))
        st = untold;
    else if (r == 0)
        r = fs_status(fs, name, &st, NULL, err);
    if (r == 0 && st.kind != FS_FILE && !(location && st.kind == FS_DIRECTORY))
        r = sv_error_set(err, -EISDIR, "not a regular file");
    if (r == 0)
        *ret = remember(f, full, &st);
    return r;
}

static int resource(struct svc_files *f, const char *url, bool location, struct sv_arena *a,
                    struct cli_resource *ret, struct sv_error *err)
{
    char full[FS_URL_MAX + 1];
    struct known *k = NULL;
    int r = resolve(f, url, full, err);

    if (r == 0)
        HASH_FIND_STR(f->known, full, k);
    if (r == 0 && !k)
        r = look_up(f, full, location, &k, err);
    if (r == 0)
        r = describe(k, a, ret, err);
    return r < 0 ? sv_error_wrap(err, "%s", url) : 0;
}

int svc_files_resource(struct svc_files *f, const char *url, struct sv_arena *a,
                       struct cli_resource *ret, struct sv_error *err)
{
    return resource(f, url, false, a, ret, err);
}

int svc_files_location(struct svc_files *f, const char *url, struct sv_arena *a,
                       struct cli_resource *ret, struct sv_error *err)
{
    return resource(f, url, true, a, ret, err);
}

/* "components/COMPONENT/HASH-NAME". */
static int stored_path(const char *component, const char *name, const void *p, size_t n, char *path,
                       size_t size)
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    char hex[33];
    int len;

    if (!SHA256(p, n, hash))
        return -EIO;
    for (size_t i = 0; i < 16; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    len = snprintf(path, size, FILES "/%.63s/%s-%.200s", component, hex, name);
    return len < 0 || (size_t)len >= size ? -ENAMETOOLONG : 0;
}

/* The time of a file of this machine becomes one of whole seconds: a fetcher may not see finer
 * ones. */
static int put(struct svc_files *f, const char *component, const char *path, const void *p,
               size_t n, struct fs_status *ret, struct sv_error *err)
{
    char directory[FS_NAME_MAX + 1];
    int r = fs_mkdir(f->fs, FILES, DIRECTORY_MODE, err);

    (void)snprintf(directory, sizeof(directory), FILES "/%.63s", component);
    if (r == 0)
        r = fs_mkdir(f->fs, directory, DIRECTORY_MODE, err);
    if (r == 0)
        r = write_whole(f, path, p, n, err);
    if (r == 0 && f->parsed.scheme == FS_SCHEME_FILE)
        r = fs_set_time(f->fs, path, sv_wall_ms() / 1000 * 1000, err);
    return r < 0 ? r : fs_status(f->fs, path, ret, NULL, err);
}

int svc_files_store(struct svc_files *f, const char *component, const char *name, const void *p,
                    size_t n, struct sv_arena *a, struct cli_resource *ret, struct sv_error *err)
{
    _cleanup_free_ char *url = NULL;
    char path[FS_NAME_MAX + 128];
    struct known *k = NULL;
    struct fs_status st;
    int r = stored_path(component, name, p, n, path, sizeof(path));

    if (r == 0)
        r = sv_asprintf(&url, "%s/%s", f->url, path);
    if (r < 0)
        return sv_error_errno(err, r, "%s", name);
    HASH_FIND_STR(f->known, url, k);
    /* One that an earlier attempt of the master has stored is complete: it has its length. */
    if (!k && (fs_status(f->fs, path, &st, NULL, NULL) < 0 || st.length != n))
        r = put(f, component, path, p, n, &st, err);
    if (r == 0 && !k)
        k = remember(f, url, &st);
    if (r == 0)
        r = describe(k, a, ret, err);
    return r < 0 ? sv_error_wrap(err, "%s/%s", f->url, path) : 0;
}

/* ---- Life ---- */

const char *svc_files_url(const struct svc_files *f)
{
    return f->url;
}

int svc_files_version(const struct svc_files *f, const char *version, char ret[SVC_PATH_MAX])
{
    int n;

    if (!fs_name_valid(version) || version[0] == '.')
        return -EINVAL;
    n = snprintf(ret, SVC_PATH_MAX, "upgrade/%s/%s", version, svc_files_definition(f));
    return n < 0 || n >= SVC_PATH_MAX ? -ENAMETOOLONG : 0;
}

const char *svc_files_definition(const struct svc_files *f)
{
    return f->name;
}

static int open_own(struct svc_files *f, const char *url, struct sv_error *err)
{
    const char *tokens = getenv("HADOOP_TOKEN_FILE_LOCATION"), *name;
    char full[FS_URL_MAX + 1];
    int r = resolve(f, url, full, err);

    if (r == 0)
        r = split(full, &f->url, &name, err);
    if (r == 0 && !(f->name = strdup(name)))
        r = sv_error_errno(err, -ENOMEM, "%s", url);
    if (r == 0 && tokens)
        f->credentials = open(tokens, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return r < 0 ? r : open_directory(f, f->url, &f->parsed, &f->fs, err);
}

int svc_files_open(struct sv_conf *conf, const char *url, const char *user, struct svc_files **ret,
                   struct sv_error *err)
{
    struct svc_files *f = calloc(1, sizeof(*f));
    int r;

    if (!f)
        return sv_error_errno(err, -ENOMEM, "%s", url);
    *f = (struct svc_files){ .conf = conf, .user = user, .credentials = -1 };
    r = open_own(f, url, err);
    if (r < 0) {
        svc_files_close(f);
        return sv_error_wrap(err, "%s", url);
    }
    *ret = f;
    return 0;
}

struct svc_files *svc_files_close(struct svc_files *f)
{
    struct place *p, *next;

    if (!f)
        return NULL;
    HASH_ITER (hh, f->places, p, next)
        forget_place(f, p);
    forget_statuses(f);
    fs_close(f->fs);
    (void)sv_close(f->credentials);
    free(f->url);
    free(f->name);
    free(f);
    return NULL;
}
