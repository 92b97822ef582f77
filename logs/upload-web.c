/* See upload-store.h: WebHDFS back end, with simple authentication as the submitter. Hostile:
 * answers of NameNodes and DataNodes; web-client.c bounds them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "logs/upload-store.h"
#include "logs/web-client.h"

#define PATH_LEN 4096

struct web_state {
    struct logs_web *web;
    char dir[PATH_LEN], tmp[PATH_LEN], file[PATH_LEN];
};

static int check_root(struct logs_store *s, char *note, struct sv_error *err)
{
    const char *root = s->u->text[LOGS_REMOTE];
    struct webhdfs_status st;
    int r = logs_web_status(s->web->web, root, &st, err);

    if (r == -ENOENT)
        return sv_error_set(err, r,
                            "remote log directory %s does not exist: make it with mode 1777 "
                            "(yarn.nodemanager.remote-app-log-dir)",
                            root);
    if (r < 0)
        return r;
    if (!st.directory)
        return sv_error_set(err, -ENOTDIR, "remote log directory %s is no directory", root);
    if (st.mode != LOGS_ROOT_MODE)
        (void)snprintf(note, LOGS_UPLOAD_TEXT_MAX,
                       "remote log directory %s has mode %04o, not 1777", root, st.mode);
    return 0;
}

static int make_dir(struct logs_store *s, const char *path, struct sv_error *err)
{
    struct logs_web *w = s->web->web;
    const char *group = s->u->text[LOGS_GROUP];
    struct webhdfs_status st;
    int r = logs_web_status(w, path, &st, err);

    if (r != -ENOENT)
        return r;
    r = logs_web_mkdir(w, path, LOGS_DIR_MODE, err);
    if (r == 0)
        r = logs_web_set_permission(w, path, LOGS_DIR_MODE, err); /* override the server's umask */
    if (r == 0 && *group)
        r = logs_web_set_group(w, path, group, err);
    return r;
}

static int prepare(struct logs_store *s, char *note, struct sv_error *err)
{
    static const enum logs_field path[] = { LOGS_USER, LOGS_SUFFIX, LOGS_BUCKET, LOGS_APP };
    struct web_state *h = s->web = calloc(1, sizeof *h);
    size_t n;
    int r = h ? logs_web_new(&sv_curl_linked, s->u->text[LOGS_WEB], s->u->text[LOGS_USER],
                             s->u->io_timeout_ms ? s->u->io_timeout_ms : 60000, &h->web, err)
              : sv_error_errno(err, -ENOMEM, "WebHDFS");

    if (r == 0)
        r = check_root(s, note, err);
    if (r < 0)
        return r;
    n = (size_t)snprintf(h->dir, sizeof h->dir, "%s", s->u->text[LOGS_REMOTE]);
    for (size_t i = 0; r == 0 && i < SV_ARRAY_LEN(path); i++) {
        if (!*s->u->text[path[i]])
            continue;
        n += (size_t)snprintf(h->dir + n, sizeof h->dir - n, "/%s", s->u->text[path[i]]);
        if (n + 330 > sizeof h->dir)
            return sv_error_set(err, -ENAMETOOLONG, "remote log directory: too long a path");
        r = make_dir(s, h->dir, err);
        if (r < 0)
            return sv_error_wrap(err, "directory %s", h->dir);
    }
    (void)snprintf(h->file, sizeof h->file, "%.3770s/%s", h->dir, s->name);
    (void)snprintf(h->tmp, sizeof h->tmp, "%.3770s/%.290s.tmp", h->dir, s->u->text[LOGS_FILE]);
    return r;
}

static int begin(struct logs_store *s, struct sv_error *err)
{
    return logs_web_create(s->web->web, s->web->tmp, LOGS_FILE_MODE, err);
}

static int write_some(void *userdata, const void *p, size_t n)
{
    struct logs_store *s = userdata;

    return logs_web_write(s->web->web, p, n, s->err);
}

static int publish(struct logs_store *s, struct sv_error *err)
{
    int r = logs_web_finish(s->web->web, err);

    return r < 0 ? r : logs_web_rename(s->web->web, s->web->tmp, s->web->file, err);
}

static void discard(struct logs_store *s)
{
    struct sv_error err = { 0 };

    logs_web_abandon(s->web->web);
    if (logs_web_delete(s->web->web, s->web->tmp, &err) < 0)
        sv_log_info("%s: cannot delete: %s; the next upload retries, ignoring", s->web->tmp,
                    err.text);
}

static void path_of(const struct logs_store *s, const char *name, char ret[PATH_LEN])
{
    (void)snprintf(ret, PATH_LEN, "%.3770s/%.320s", s->web->dir, name);
}

static int exists(struct logs_store *s, const char *name, struct sv_error *err)
{
    struct webhdfs_status st;
    char path[PATH_LEN];
    int r;

    path_of(s, name, path);
    r = logs_web_status(s->web->web, path, &st, err);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static int add_name(void *userdata, const struct webhdfs_child *c)
{
    return c->st.file ? logs_names_add(userdata, c->name) : 0;
}

static int list(struct logs_store *s, struct logs_names *names, struct sv_error *err)
{
    return logs_web_list(s->web->web, s->web->dir, add_name, names, err);
}

static int remove_file(struct logs_store *s, const char *name, struct sv_error *err)
{
    char path[PATH_LEN];

    path_of(s, name, path);
    return logs_web_delete(s->web->web, path, err);
}

static void close_all(struct logs_store *s)
{
    if (s->web)
        s->web->web = logs_web_free(s->web->web);
    free(s->web);
    s->web = NULL;
}

static bool retry(int error)
{
    return error != -EACCES && error != -EDQUOT && error != -ENOENT && error != -ENOTDIR;
}

const struct logs_store_ops logs_store_web = {
    .prepare = prepare,
    .begin = begin,
    .write = write_some,
    .publish = publish,
    .discard = discard,
    .exists = exists,
    .list = list,
    .remove = remove_file,
    .close = close_all,
    .retry = retry,
};
