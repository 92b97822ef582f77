/* See stage.h. Runs as the user. Hostile: other local users, who may have created a directory of
 * this name first. */
#include "client/run/stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utlist.h>

#include "common/fd.h"
#include "common/str.h"

struct stage_text { /* strings that the resources point to */
    struct stage_text *next;
    char s[];
};

struct cli_stage {
    int user_dir, dir;
    char *path; /* of the job's directory */
    char app[YARN_ID_TEXT_MAX];
    unsigned n_files;
    bool keep;
    struct stage_text *texts;
};

static const struct sv_conf_key key_dir = {
    .name = "selvedge.client.staging-dir",
    .type = SV_CONF_STRING,
    .help = "directory below which each user's jobs keep their files while they run",
};

const struct sv_conf_key *cli_stage_key(void)
{
    return &key_dir;
}

/* Opens a directory that this user alone owns and can write; creates it if missing. */
static int open_own_dir(int at, const char *name, const char *shown, struct sv_error *err)
{
    struct stat st;
    int fd;

    if (mkdirat(at, name, 0700) < 0 && errno != EEXIST)
        return sv_error_errno(err, -errno, "staging directory %s", shown);
    fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return sv_error_errno(err, -errno, "staging directory %s", shown);
    if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
        sv_close(fd);
        return sv_error_set(err, -EPERM,
                            "staging directory %s: not this user's alone: set "
                            "selvedge.client.staging-dir",
                            shown);
    }
    return fd;
}

/* Opens the parent of the users' directories, which must be root's (sticky if others may write) or
 * this user's. */
static int open_base(const char *path, struct sv_error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return sv_error_errno(err, -errno, "staging directory %s", path);
    if (fstat(fd, &st) < 0 || (st.st_uid != 0 && st.st_uid != geteuid()) ||
        ((st.st_mode & 022) && !(st.st_mode & S_ISVTX))) {
        sv_close(fd);
        return sv_error_set(err, -EPERM,
                            "staging directory %s: must be root's, and sticky when "
                            "others may write",
                            path);
    }
    return fd;
}

int cli_stage_new(struct sv_conf *conf, const char *user, struct yarn_app_id app,
                  struct cli_stage **ret, struct sv_error *err)
{
    struct cli_stage *s = calloc(1, sizeof(*s));
    _cleanup_free_ char *own = NULL, *name = NULL;
    _cleanup_close_ int base = -1;
    const char *dir = NULL;
    int r = s ? 0 : -ENOMEM;

    if (r < 0)
        return sv_error_errno(err, r, "staging");
    s->user_dir = s->dir = -1;
    yarn_app_id_text(app, s->app);
    r = sv_conf_string(conf, &key_dir, &dir, err);
    if (r < 0)
        goto fail;
    r = dir ? sv_asprintf(&name, "%s", user) : sv_asprintf(&name, "selvedge-%s", user);
    if (r >= 0)
        r = sv_asprintf(&own, "%s/%s", dir ? dir : "/var/tmp", name);
    if (r >= 0)
        r = sv_asprintf(&s->path, "%s/%s", own, s->app);
    if (r < 0) {
        sv_error_errno(err, r, "staging");
        goto fail;
    }
    r = base = open_base(dir ? dir : "/var/tmp", err);
    if (r >= 0)
        r = s->user_dir = open_own_dir(base, name, own, err);
    if (r >= 0)
        r = s->dir = open_own_dir(s->user_dir, s->app, s->path, err);
    if (r < 0)
        goto fail;
    *ret = s;
    return 0;
fail:
    cli_stage_free(s);
    return r;
}

void cli_stage_keep(struct cli_stage *s)
{
    s->keep = true;
}

static int sync_file(int dir, const char *name)
{
    _cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

    return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

int cli_stage_sync(struct cli_stage *s, struct sv_error *err)
{
    int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *e;

    if (!d) {
        r = -errno;
        sv_close(fd);
        return sv_error_errno(err, r, "staging directory %s", s->path);
    }
    while (r == 0 && (e = readdir(d)))
        if (e->d_name[0] != '.')
            r = sync_file(fd, e->d_name);
    if (r == 0 && (fsync(fd) < 0 || fsync(s->user_dir) < 0))
        r = -errno;
    closedir(d);
    return r < 0 ? sv_error_errno(err, r, "staging directory %s: cannot sync", s->path) : 0;
}

struct cli_stage *cli_stage_free(struct cli_stage *s)
{
    struct stage_text *t, *next;

    if (!s)
        return NULL;
    if (s->dir >= 0 && !s->keep)
        (void)!sv_remove_tree_at(s->user_dir, s->app); /* leftovers are the user's own, ignoring */
    sv_close(s->dir);
    sv_close(s->user_dir);
    LL_FOREACH_SAFE (s->texts, t, next)
        free(t);
    free(s->path);
    free(s);
    return NULL;
}

size_t cli_stage_others(struct cli_stage *s, struct yarn_app_id *ret, size_t max)
{
    int fd = openat(s->user_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *e;
    size_t n = 0;

    if (!d) {
        sv_close(fd);
        return 0;
    }
    while (n < max && (e = readdir(d)))
        if (strcmp(e->d_name, s->app) != 0 && yarn_app_id_parse(e->d_name, &ret[n]) == 0)
            n++;
    closedir(d);
    return n;
}

void cli_stage_remove_other(struct cli_stage *s, struct yarn_app_id app)
{
    char name[YARN_ID_TEXT_MAX];

    (void)!sv_remove_tree_at(s->user_dir,
                             yarn_app_id_text(app, name)); /* the next run retries, ignoring */
}

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

/* The staged file is complete: truncates its time to seconds (a fetcher may not see finer ones). */
static int describe_file(struct cli_stage *s, int fd, const char *name, const char *link,
                         enum cli_resource_type type, struct cli_resource *ret)
{
    struct timespec times[2];
    struct stat st;
    _cleanup_free_ char *url = NULL;
    int r;

    if (clock_gettime(CLOCK_REALTIME, &times[1]) < 0)
        return -errno;
    times[1].tv_nsec = 0;
    times[0] = times[1];
    if (futimens(fd, times) < 0 || fstat(fd, &st) < 0)
        return -errno;
    r = sv_asprintf(&url, "file://%s/%s", s->path, name);
    if (r < 0)
        return r;
    *ret = (struct cli_resource){
        .name = store_text(s, link),
        .url = store_text(s, url),
        .size = st.st_size,
        .timestamp = (int64_t)st.st_mtim.tv_sec * 1000,
        .type = type,
        .visibility = CLI_APPLICATION,
    };
    return ret->name && ret->url ? 0 : -ENOMEM;
}

/* Creates "N-name": two files may have the same base name, and the suffix determines how it is
 * unpacked. */
static int create(struct cli_stage *s, const char *path, char name[300])
{
    const char *slash = strrchr(path, '/');
    int fd;

    snprintf(name, 300, "%u-%.240s", s->n_files++, slash ? slash + 1 : path);
    fd = openat(s->dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
    return fd < 0 ? -errno : fd;
}

static int copy_bytes(int from, int to)
{
    char buf[65536];
    ssize_t n;
    int r;

    do
        n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0);
    while (n > 0);
    if (n == 0 && lseek(from, 0, SEEK_CUR) > 0)
        return 0;
    while ((n = read(from, buf, sizeof(buf))) > 0) {
        r = sv_write_all(to, buf, (size_t)n);
        if (r < 0)
            return r;
    }
    return n < 0 ? -errno : 0;
}

int cli_stage_copy(struct cli_stage *s, const char *path, const char *link,
                   enum cli_resource_type type, struct cli_resource *ret, struct sv_error *err)
{
    _cleanup_close_ int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), to = -1;
    char name[300];
    struct stat st;
    int r;

    if (from < 0 || fstat(from, &st) < 0)
        return sv_error_errno(err, -errno, "%s", path);
    if (!S_ISREG(st.st_mode))
        return sv_error_set(err, -EINVAL, "%s: not a regular file", path);
    r = to = create(s, path, name);
    if (r >= 0)
        r = copy_bytes(from, to);
    if (r >= 0)
        r = describe_file(s, to, name, link, type, ret);
    return r < 0 ? sv_error_errno(err, r, "copying %s to %s", path, s->path) : 0;
}

/* Runs the system's tar; the localizer checks the archive's content. */
static int pack(const char *path, int to)
{
    char *argv[] = { (char *)"tar",           (char *)"-cf", (char *)"-", (char *)"-C",
                     (char *)(uintptr_t)path, (char *)"--",  (char *)".", NULL };
    int status;
    pid_t pid = fork();

    if (pid < 0)
        return -errno;
    if (pid == 0) {
        if (dup2(to, STDOUT_FILENO) >= 0)
            (void)execvp(argv[0], argv);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) < 0)
        return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO; /* tar printed the reason */
}

int cli_stage_pack(struct cli_stage *s, const char *path, const char *link,
                   enum cli_resource_type type, struct cli_resource *ret, struct sv_error *err)
{
    _cleanup_free_ char *file = NULL;
    _cleanup_close_ int to = -1;
    char name[300];
    int r = sv_asprintf(&file, "%s.tar", link);

    if (r >= 0)
        r = to = create(s, file, name);
    if (r >= 0)
        r = pack(path, to);
    if (r >= 0)
        r = describe_file(s, to, name, link, type, ret);
    return r < 0 ? sv_error_errno(err, r, "packing %s into %s", path, s->path) : 0;
}

int cli_stage_write(struct cli_stage *s, const char *link, const void *p, size_t n,
                    struct cli_resource *ret, struct sv_error *err)
{
    _cleanup_close_ int fd = -1;
    char name[300];
    int r = fd = create(s, link, name);

    if (r >= 0)
        r = sv_write_all(fd, p, n);
    if (r >= 0)
        r = describe_file(s, fd, name, link, CLI_FILE, ret);
    return r < 0 ? sv_error_errno(err, r, "writing to %s", s->path) : 0;
}
