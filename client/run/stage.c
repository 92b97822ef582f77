/* See stage.h. Runs as the user. Hostile: other local users, who may have created a directory of
 * this name first. */
#include "client/run/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "fs/configured.h"
#include "fs/resolve.h"

struct stage_text { /* strings that the resources point to */
    struct stage_text *next;
    char s[];
};

struct cli_stage {
    struct fs_url place; /* the staging directory */
    struct fs *fs;       /* its root is the user's directory */
    char *path;          /* of the job's directory: of this machine, or a url */
    char app[YARN_ID_TEXT_MAX];
    unsigned n_files;
    bool made, keep; /* the job's directory */
    struct stage_text *texts;
};

static const struct sv_conf_key key_dir = {
    .name = "selvedge.client.staging-dir",
    .type = SV_CONF_STRING,
    .help = "directory or URL below which each user's jobs keep their files while they run",
};

const struct sv_conf_key *cli_stage_key(void)
{
    return &key_dir;
}

/* ---- Directories ---- */

/* The file system of the key: a path of this machine, or a url. */
static int find_place(struct cli_stage *s, struct sv_conf *conf, const char *dir,
                      struct sv_error *err)
{
    if (*dir != '/')
        return fs_resolve_url(conf, dir, &s->place, err);
    s->place.scheme = FS_SCHEME_FILE;
    return snprintf(s->place.path, sizeof(s->place.path), "%s", dir) < (int)sizeof(s->place.path)
               ? 0
               : sv_error_errno(err, -ENAMETOOLONG, "%s", dir);
}

/* The parent of the users' directories must be root's or this user's, on a server whoever's, and
 * sticky if others may write. */
static int check_base(struct cli_stage *s, struct sv_error *err)
{
    struct fs_status st;
    struct fs_owner owner;
    int r = fs_status(s->fs, "", &st, &owner, err);

    if (r < 0)
        return r;
    if ((s->place.scheme == FS_SCHEME_FILE && !owner.root && !owner.own) ||
        ((st.mode & 022) && !(st.mode & S_ISVTX)))
        return sv_error_set(err, -EPERM, "must be root's, and sticky when others may write");
    return 0;
}

static int check_own(const struct fs_status *st, const struct fs_owner *owner, struct sv_error *err)
{
    return st->kind == FS_DIRECTORY && owner->own && !(st->mode & 022)
               ? 0
               : sv_error_set(err, -EPERM,
                              "not this user's alone: set selvedge.client.staging-dir");
}

/* Makes the user's directory the root, and the job's below it: both this user's alone. */
static int enter(struct cli_stage *s, const char *user_dir, struct sv_error *err)
{
    struct fs_status st;
    struct fs_owner owner;
    int r = fs_mkdir(s->fs, user_dir, 0700, err);

    if (r == 0)
        r = fs_enter(s->fs, user_dir, &st, &owner, err);
    if (r == 0)
        r = check_own(&st, &owner, err);
    if (r == 0)
        r = fs_mkdir(s->fs, s->app, 0700, err);
    if (r == 0)
        r = fs_status(s->fs, s->app, &st, &owner, err);
    if (r == 0)
        r = check_own(&st, &owner, err);
    s->made = r == 0;
    return r;
}

int cli_stage_place(struct sv_conf *conf, const char **ret, struct sv_error *err)
{
    const char *dir = NULL;
    int r = sv_conf_string(conf, &key_dir, &dir, err);

    if (r >= 0)
        *ret = dir ? dir : "/var/tmp";
    return r;
}

static int open_place(struct cli_stage *s, struct sv_conf *conf, const struct fs_identity *who,
                      struct sv_error *err)
{
    const char *dir = NULL;
    char user_dir[FS_NAME_MAX + 1];
    const struct fs_options o = {
        .url = &s->place, .root = -1, .program = "selvedge-run", .identity = *who, .no_sync = true
    };
    int r = sv_conf_string(conf, &key_dir, &dir, err);

    if (r < 0)
        return r;
    (void)snprintf(user_dir, sizeof(user_dir), "%s%s", dir ? "" : "selvedge-", who->user);
    dir = dir ? dir : "/var/tmp";
    if (sv_asprintf(&s->path, "%s/%s/%s", dir, user_dir, s->app) < 0)
        return sv_error_errno(err, -ENOMEM, "staging");
    r = find_place(s, conf, dir, err);
    if (r == 0)
        r = fs_open_configured(conf, &o, &s->fs, err);
    if (r == 0)
        r = check_base(s, err);
    if (r < 0)
        return sv_error_wrap(err, "staging directory %s", dir);
    r = enter(s, user_dir, err);
    return r < 0 ? sv_error_wrap(err, "staging directory %s", s->path) : 0;
}

int cli_stage_new(struct sv_conf *conf, const struct fs_identity *who, struct yarn_app_id app,
                  struct cli_stage **ret, struct sv_error *err)
{
    _cleanup_(cli_stage_freep) struct cli_stage *s = calloc(1, sizeof(*s));
    int r = s ? 0 : sv_error_errno(err, -ENOMEM, "staging");

    if (r == 0) {
        yarn_app_id_text(app, s->app);
        r = open_place(s, conf, who, err);
    }
    if (r == 0)
        *ret = SV_TAKE(s);
    return r;
}

void cli_stage_keep(struct cli_stage *s)
{
    s->keep = true;
}

struct syncing {
    struct cli_stage *s;
    struct sv_error *err;
};

static int sync_child(void *userdata, const struct fs_child *c)
{
    const struct syncing *y = userdata;
    char path[YARN_ID_TEXT_MAX + FS_NAME_MAX + 2];

    (void)snprintf(path, sizeof(path), "%s/%.255s", y->s->app, c->name);
    return fs_sync(y->s->fs, path, y->err);
}

int cli_stage_sync(struct cli_stage *s, struct sv_error *err)
{
    struct syncing y = { s, err };
    int r = fs_list(s->fs, s->app, sync_child, &y, err);

    if (r == 0)
        r = fs_sync(s->fs, s->app, err);
    if (r == 0)
        r = fs_sync(s->fs, "", err);
    return r < 0 ? sv_error_wrap(err, "staging directory %s: cannot sync", s->path) : 0;
}

static void remove_job(struct cli_stage *s, const char *app)
{
    struct sv_error err = { 0 };

    (void)!fs_remove_tree(s->fs, app, &err); /* the next run retries, ignoring */
}

struct cli_stage *cli_stage_free(struct cli_stage *s)
{
    struct stage_text *t, *next;

    if (!s)
        return NULL;
    if (s->made && !s->keep)
        remove_job(s, s->app);
    s->fs = fs_close(s->fs);
    LL_FOREACH_SAFE (s->texts, t, next)
        free(t);
    free(s->path);
    free(s);
    return NULL;
}

struct others {
    const char *own;
    struct yarn_app_id *v;
    size_t n, max;
};

static int other_child(void *userdata, const struct fs_child *c)
{
    struct others *o = userdata;

    if (o->n < o->max && strcmp(c->name, o->own) != 0 &&
        yarn_app_id_parse(c->name, &o->v[o->n]) == 0)
        o->n++;
    return 0;
}

size_t cli_stage_others(struct cli_stage *s, struct yarn_app_id *ret, size_t max)
{
    struct others o = { s->app, ret, 0, max };
    struct sv_error err = { 0 };

    (void)!fs_list(s->fs, "", other_child, &o, &err); /* the next run finds the rest, ignoring */
    return o.n;
}

void cli_stage_remove_other(struct cli_stage *s, struct yarn_app_id app)
{
    char name[YARN_ID_TEXT_MAX];

    remove_job(s, yarn_app_id_text(app, name));
}

/* ---- Files ---- */

static const char *store_text(struct cli_stage *s, const char *text)
{
    size_t n = strlen(text) + 1;
    struct stage_text *t = malloc(sizeof(*t) + n);

    if (!t)
        return NULL;
    memcpy(t->s, text, n);
    LL_PREPEND(s->texts, t);
    return t->s;
}

/* Completes the file; on this machine its time becomes one of whole seconds (a fetcher may not see
 * finer ones). */
static int finish(struct cli_stage *s, struct fs_file *f, const char *path, struct fs_status *ret,
                  struct sv_error *err)
{
    int r = fs_finish(f, err);

    if (r >= 0 && s->place.scheme == FS_SCHEME_FILE)
        r = fs_set_time(s->fs, path, sv_wall_ms() / 1000 * 1000, err);
    return r < 0 ? r : fs_status(s->fs, path, ret, NULL, err);
}

static int describe_file(struct cli_stage *s, const struct fs_status *st, const char *name,
                         const char *link, enum cli_resource_type type, struct cli_resource *ret)
{
    _cleanup_free_ char *url = NULL;

    if (sv_asprintf(&url, "%s%s/%s", *s->path == '/' ? "file://" : "", s->path, name) < 0)
        return -ENOMEM;
    *ret = (struct cli_resource){
        .name = store_text(s, link),
        .url = store_text(s, url),
        .size = (int64_t)st->length,
        .timestamp = st->mtime_ms,
        .type = type,
        .visibility = CLI_APPLICATION,
    };
    return ret->name && ret->url ? 0 : -ENOMEM;
}

/* The bytes of a file: a descriptor's up to its end, or `n` bytes. */
struct content {
    int fd;
    const void *p;
    size_t n;
};

/* Creates "N-name": two files may have the same base name, and the suffix determines how it is
 * unpacked. */
static int put(struct cli_stage *s, const char *path, const char *link, enum cli_resource_type type,
               const struct content *content, struct cli_resource *ret, struct sv_error *err)
{
    _cleanup_(fs_file_freep) struct fs_file *f = NULL;
    char below[YARN_ID_TEXT_MAX + 300];
    const char *slash = strrchr(path, '/'), *name;
    struct fs_status st;
    int r;

    (void)snprintf(below, sizeof(below), "%s/%u-%.240s", s->app, s->n_files++,
                   slash ? slash + 1 : path);
    name = strchr(below, '/') + 1;
    r = fs_create(s->fs, below, 0700, &f, err);
    if (r == 0)
        r = content->p ? fs_write(f, content->p, content->n, err)
                       : fs_write_from(f, content->fd, err);
    if (r == 0)
        r = finish(s, f, below, &st, err);
    if (r == 0 && (r = describe_file(s, &st, name, link, type, ret)) < 0)
        (void)sv_error_errno(err, r, "%s", name);
    return r;
}

int cli_stage_copy(struct cli_stage *s, const char *path, const char *link,
                   enum cli_resource_type type, struct cli_resource *ret, struct sv_error *err)
{
    _cleanup_close_ int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const struct content content = { .fd = from };
    struct stat st;

    if (from < 0 || fstat(from, &st) < 0)
        return sv_error_errno(err, -errno, "%s", path);
    if (!S_ISREG(st.st_mode))
        return sv_error_set(err, -EINVAL, "%s: not a regular file", path);
    return put(s, path, link, type, &content, ret, err) < 0
               ? sv_error_wrap(err, "copying %s to %s", path, s->path)
               : 0;
}

/* Starts the system's tar; the localizer checks the archive's content. */
static int start_tar(const char *path, int *ret_fd)
{
    char *argv[] = { (char *)"tar",           (char *)"-cf", (char *)"-", (char *)"-C",
                     (char *)(uintptr_t)path, (char *)"--",  (char *)".", NULL };
    int fds[2];
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return -errno;
    pid = fork();
    if (pid == 0) {
        if (dup2(fds[1], STDOUT_FILENO) >= 0)
            (void)execvp(argv[0], argv);
        _exit(127);
    }
    if (pid < 0)
        pid = -errno;
    (void)sv_close(fds[1]);
    *ret_fd = fds[0];
    return pid;
}

int cli_stage_pack(struct cli_stage *s, const char *path, const char *link,
                   enum cli_resource_type type, struct cli_resource *ret, struct sv_error *err)
{
    _cleanup_free_ char *file = NULL;
    struct content content = { .fd = -1 };
    int r = sv_asprintf(&file, "%s.tar", link), status = 0, pid;

    pid = r < 0 ? r : start_tar(path, &content.fd);
    r = pid < 0 ? sv_error_errno(err, pid, "tar") : put(s, file, link, type, &content, ret, err);
    (void)sv_close(content.fd); /* ends a tar that is still writing */
    if (pid > 0 && waitpid(pid, &status, 0) >= 0 && r == 0 && status != 0)
        r = sv_error_errno(err, -EIO, "tar"); /* it printed the reason */
    return r < 0 ? sv_error_wrap(err, "packing %s into %s", path, s->path) : 0;
}

int cli_stage_write(struct cli_stage *s, const char *link, const void *p, size_t n,
                    struct cli_resource *ret, struct sv_error *err)
{
    const struct content content = { .p = p, .n = n };

    return put(s, link, link, CLI_FILE, &content, ret, err) < 0
               ? sv_error_wrap(err, "writing to %s", s->path)
               : 0;
}
