/* See upload-store.h: WebHDFS back end, with simple authentication as the submitter. Hostile:
 * answers of NameNodes and DataNodes; web-client.c bounds them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "logs/upload-remote-dirs.h"
#include "logs/upload-store.h"
#include "logs/web-client.h"

#define PATH_LEN 4096

struct web_state {
    struct logs_web *web;
    char dir[PATH_LEN], tmp[PATH_LEN], file[PATH_LEN];
};

static int dir_status(void *fs, const char *path, struct logs_dir *ret, struct sv_error *err)
{
    struct webhdfs_owner owner;
    struct webhdfs_status st;
    int r = logs_web_owned_status(fs, path, &st, &owner, err);

    if (r < 0)
        return r;
    *ret = (struct logs_dir){ .directory = st.directory, .acl = owner.acl, .mode = st.mode };
    memcpy(ret->owner, owner.user, sizeof(ret->owner));
    memcpy(ret->group, owner.group, sizeof(ret->group));
    return 0;
}

static int dir_make(void *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    return logs_web_mkdir(fs, path, mode, err);
}

static int dir_set_mode(void *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    return logs_web_set_permission(fs, path, mode, err);
}

static int dir_set_group(void *fs, const char *path, const char *group, struct sv_error *err)
{
    return logs_web_set_group(fs, path, group, err);
}

static const struct logs_dir_ops dirs = { dir_status, dir_make, dir_set_mode, dir_set_group };

_Static_assert(WEBHDFS_OWNER_MAX == LOGS_OWNER_MAX, "names of owners");

static int prepare(struct logs_store *s, char *note, struct sv_error *err)
{
    struct web_state *h = s->web = calloc(1, sizeof(*h));
    int r = h ? logs_web_new(&sv_curl_linked, s->u->text[LOGS_WEB], s->u->text[LOGS_USER],
                             s->u->io_timeout_ms ? s->u->io_timeout_ms : 60000, &h->web, err)
              : sv_error_errno(err, -ENOMEM, "WebHDFS");

    if (r < 0)
        return r;
    r = logs_remote_dirs(&dirs, h->web, s->u, h->dir, sizeof(h->dir), note, err);
    (void)snprintf(h->file, sizeof(h->file), "%.3770s/%s", h->dir, s->name);
    (void)snprintf(h->tmp, sizeof(h->tmp), "%.3770s/%.290s.tmp", h->dir, s->u->text[LOGS_FILE]);
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
    return error != -EACCES && error != -EPERM && error != -EDQUOT && error != -ENOENT &&
           error != -ENOTDIR;
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
