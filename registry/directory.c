/* See directory.h. One thread does the requests, in order. */
#include "registry/directory.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/fd.h"
#include "common/str.h"
#include "common/worker.h"
#include "fs/configured.h"
#include "registry/path.h"
#include "registry/record.h"

#define RECORD "_record"
#define TEMPORARY "_record.new"
#define DIRECTORY_MODE 0755
#define FILE_MODE 0644
#define IO_TIMEOUT_MS 60000
#define PLACE_MAX (FS_NAME_MAX + REG_PATH_MAX + 32)

struct shared { /* for as long as a job or the back end uses it */
    struct fs *fs;
    struct fs_url url;
    int credentials;
    char folder[FS_NAME_MAX + 1];
    unsigned users; /* atomic */
};
struct directory {
    struct reg_backend base;
    struct sv_worker *worker;
    struct shared *shared;
    char *where;
};
struct job {
    struct shared *shared;
    int (*run)(struct job *j);
    char path[PLACE_MAX]; /* below the root of the file system */
    void *bytes;          /* to put; that were got */
    size_t len;
    char **names;
    size_t n_names;
    int status;
    struct sv_error err;
    reg_done done;
    reg_listed listed;
    reg_got got;
    void *userdata;
};

/* ---- On the thread ---- */

static int file_of(const struct job *j, const char *name, char ret[PLACE_MAX])
{
    int n = snprintf(ret, PLACE_MAX, "%s/%s", j->path, name);

    return n < 0 || n >= PLACE_MAX ? -ENAMETOOLONG : 0;
}

/* The nearest folder that exists is looked for from below: usually it is the one above. */
static int make_folders(struct job *j)
{
    char path[PLACE_MAX];
    size_t n = strlen(j->path), whole = n;
    int r;

    (void)snprintf(path, sizeof(path), "%s", j->path);
    while ((r = fs_mkdir(j->shared->fs, path, DIRECTORY_MODE, &j->err)) == -ENOENT) {
        char *slash = strrchr(path, '/');

        if (!slash)
            return r;
        *slash = '\0';
        n = (size_t)(slash - path);
    }
    while (r == 0 && n < whole) {
        path[n] = '/';
        n += strlen(path + n);
        r = fs_mkdir(j->shared->fs, path, DIRECTORY_MODE, &j->err);
    }
    return r;
}

static int run_put(struct job *j)
{
    _cleanup_(fs_file_freep) struct fs_file *file = NULL;
    char temporary[PLACE_MAX], record[PLACE_MAX];
    int r = file_of(j, TEMPORARY, temporary);

    if (r == 0)
        r = file_of(j, RECORD, record);
    if (r < 0)
        return sv_error_errno(&j->err, r, "%s", j->path);
    r = make_folders(j);
    if (r == 0)
        r = fs_create(j->shared->fs, temporary, FILE_MODE, &file, &j->err);
    if (r == 0)
        r = fs_write(file, j->bytes, j->len, &j->err);
    if (r == 0)
        r = fs_finish(file, &j->err);
    return r < 0 ? r : fs_rename(j->shared->fs, temporary, record, &j->err);
}

/* A process that was killed may have left its temporary file. */
static int run_remove(struct job *j)
{
    char record[PLACE_MAX], temporary[PLACE_MAX];
    int r = file_of(j, RECORD, record);

    if (r == 0)
        r = file_of(j, TEMPORARY, temporary);
    if (r == 0)
        r = fs_remove(j->shared->fs, record, &j->err);
    if (r == 0)
        r = fs_remove(j->shared->fs, j->path, &j->err);
    if (r == -ENOTEMPTY && fs_remove(j->shared->fs, temporary, NULL) == 0)
        r = fs_remove(j->shared->fs, j->path, &j->err);
    return r;
}

static int run_remove_tree(struct job *j)
{
    return fs_remove_tree(j->shared->fs, j->path, &j->err);
}

static int add_name(void *userdata, const struct fs_child *c)
{
    struct job *j = userdata;
    char *name;

    if (c->st.kind != FS_DIRECTORY || !fs_name_valid(c->name) || strlen(c->name) > REG_NAME_MAX)
        return 0;
    if (j->n_names == REG_NAMES_MAX)
        return sv_error_set(&j->err, -E2BIG, "%s: more than %d records", j->path, REG_NAMES_MAX);
    if ((j->n_names & (j->n_names - 1)) == 0) { /* full: sizes are powers of two */
        char **more = realloc(j->names, SV_MAX(2 * j->n_names, 1u) * sizeof(*more));

        if (!more)
            return sv_error_errno(&j->err, -ENOMEM, "%s", j->path);
        j->names = more;
    }
    name = strdup(c->name);
    if (!name)
        return sv_error_errno(&j->err, -ENOMEM, "%s", j->path);
    j->names[j->n_names++] = name;
    return 0;
}

static int run_list(struct job *j)
{
    int r = fs_list(j->shared->fs, j->path, add_name, j, &j->err);

    return r == -ENOENT ? 0 : r;
}

static int run_get(struct job *j)
{
    _cleanup_(fs_file_freep) struct fs_file *file = NULL;
    char record[PLACE_MAX];
    struct fs_status st;
    int r = file_of(j, RECORD, record);

    if (r == 0)
        r = fs_open_file(j->shared->fs, record, &file, &st, &j->err);
    if (r < 0)
        return r;
    if (st.length > REG_RECORD_MAX)
        return sv_error_set(&j->err, -E2BIG, "%s: %llu bytes: at most %zu", record,
                            (unsigned long long)st.length, REG_RECORD_MAX);
    j->bytes = malloc(st.length + 1);
    j->len = st.length;
    if (!j->bytes)
        return sv_error_errno(&j->err, -ENOMEM, "%s", record);
    return st.length ? fs_read(file, 0, j->bytes, st.length, &j->err) : 0;
}

static void run(void *data)
{
    struct job *j = data;

    j->status = j->run(j);
    if (j->status < 0 && !j->err.code)
        (void)sv_error_errno(&j->err, j->status, "%s", j->path);
}

/* ---- On the loop ---- */

static void leave(struct shared *s)
{
    if (__atomic_sub_fetch(&s->users, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    fs_close(s->fs);
    (void)sv_close(s->credentials);
    free(s);
}

static void free_job(void *data)
{
    struct job *j = data;

    for (size_t i = 0; i < j->n_names; i++)
        free(j->names[i]);
    free(j->names);
    free(j->bytes);
    leave(j->shared);
    free(j);
}

static void on_ran(int status, void *data, void *userdata)
{
    struct job *j = data;
    int r = SV_MIN(j->status, 0); /* 1: as fs_finish() says */

    (void)status; /* no deadline: always 0, ignoring */
    (void)userdata;
    if (j->done)
        j->done(r, j->err.text, j->userdata);
    if (j->listed)
        j->listed(r, j->names, r < 0 ? 0 : j->n_names, j->err.text, j->userdata);
    if (j->got)
        j->got(r, j->bytes, r < 0 ? 0 : j->len, j->err.text, j->userdata);
}

static int new_job(struct reg_backend *b, const char *path, int (*fn)(struct job *j),
                   void *userdata, struct job **ret)
{
    struct directory *d = (struct directory *)b;
    struct job *j = calloc(1, sizeof(*j));
    int n;

    if (!j)
        return -ENOMEM;
    n = snprintf(j->path, sizeof(j->path), "%s%s", d->shared->folder, path);
    if (*path != '/' || n < 0 || (size_t)n >= sizeof(j->path)) {
        free(j);
        return -EINVAL;
    }
    j->run = fn;
    j->userdata = userdata;
    j->shared = d->shared;
    (void)__atomic_add_fetch(&d->shared->users, 1, __ATOMIC_ACQ_REL);
    *ret = j;
    return 0;
}

static int start(struct reg_backend *b, struct job *j)
{
    const struct sv_job job = { .data = j, .run = run, .done = on_ran, .free = free_job };
    int r = sv_worker_run(((struct directory *)b)->worker, &job);

    if (r < 0)
        free_job(j);
    return r;
}

static int put(struct reg_backend *b, const char *path, const void *text, size_t len, reg_done done,
               void *userdata)
{
    struct job *j = NULL;
    int r = new_job(b, path, run_put, userdata, &j);

    if (r < 0)
        return r;
    j->done = done;
    j->bytes = malloc(len + 1);
    if (!j->bytes) {
        free_job(j);
        return -ENOMEM;
    }
    memcpy(j->bytes, text, len);
    j->len = len;
    return start(b, j);
}

static int done_by(struct reg_backend *b, const char *path, int (*fn)(struct job *j), reg_done done,
                   void *userdata)
{
    struct job *j = NULL;
    int r = new_job(b, path, fn, userdata, &j);

    if (r < 0)
        return r;
    j->done = done;
    return start(b, j);
}

static int remove_one(struct reg_backend *b, const char *path, reg_done done, void *userdata)
{
    return done_by(b, path, run_remove, done, userdata);
}

static int remove_tree(struct reg_backend *b, const char *path, reg_done done, void *userdata)
{
    return done_by(b, path, run_remove_tree, done, userdata);
}

static int list(struct reg_backend *b, const char *path, reg_listed done, void *userdata)
{
    struct job *j = NULL;
    int r = new_job(b, path, run_list, userdata, &j);

    if (r < 0)
        return r;
    j->listed = done;
    return start(b, j);
}

static int get(struct reg_backend *b, const char *path, reg_got done, void *userdata)
{
    struct job *j = NULL;
    int r = new_job(b, path, run_get, userdata, &j);

    if (r < 0)
        return r;
    j->got = done;
    return start(b, j);
}

static void free_directory(struct reg_backend *b)
{
    struct directory *d = (struct directory *)b;

    sv_worker_free(d->worker);
    leave(d->shared);
    free(d->where);
    free(d);
}

static const struct reg_backend_ops ops = {
    .name = "directory",
    .put = put,
    .remove = remove_one,
    .remove_tree = remove_tree,
    .list = list,
    .get = get,
    .free = free_directory,
};

static int open_shared(struct shared *s, struct sv_conf *conf,
                       const struct reg_directory_config *cfg, struct sv_error *err)
{
    const struct fs_options o = {
        .url = &s->url,
        .root = -1,
        .program = cfg->program,
        .identity = { .user = cfg->user, .credentials = s->credentials },
        .limits = { .io_timeout_ms = IO_TIMEOUT_MS },
        .no_sync = true, /* what a crash loses is written anew */
    };
    int r = fs_url_parse(cfg->url, &s->url, err);

    if (r == 0 && !fs_name_valid(cfg->folder))
        r = sv_error_set(err, -EINVAL, "%s: not a name", cfg->folder);
    (void)snprintf(s->folder, sizeof(s->folder), "%s", cfg->folder);
    return r < 0 ? r : fs_open_configured(conf, &o, &s->fs, err);
}

int reg_directory_open(sd_event *event, struct sv_conf *conf,
                       const struct reg_directory_config *cfg, struct reg_backend **ret,
                       struct sv_error *err)
{
    struct directory *d = calloc(1, sizeof(*d));
    struct shared *s = calloc(1, sizeof(*s));
    int r;

    if (!d || !s) {
        free(d);
        free(s);
        (void)sv_close(cfg->credentials);
        return sv_error_errno(err, -ENOMEM, "registry");
    }
    *s = (struct shared){ .credentials = cfg->credentials, .users = 1 };
    d->base.ops = &ops;
    d->shared = s;
    r = open_shared(s, conf, cfg, err);
    if (r == 0 && (r = sv_asprintf(&d->where, "%s/%s", cfg->url, cfg->folder)) >= 0)
        r = sv_worker_new(event, "registry", &d->worker);
    if (r < 0) {
        free_directory(&d->base);
        return err && err->code ? r : sv_error_errno(err, r, "registry");
    }
    d->base.where = d->where;
    *ret = &d->base;
    return 0;
}
