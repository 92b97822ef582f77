/* hdfs:, over the client of hdfs/, with a delegation token of the job, tickets of this process, or
 * simple authentication.
 * Hostile: answers of NameNodes and DataNodes; hdfs/ bounds them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/str.h"
#include "fs/credentials.h"
#include "fs/hdfs-calls.h"

_Static_assert(HDFS_OWNER_MAX == FS_OWNER_MAX, "names of owners");

/* Finds the job's delegation token for the file system: for its nameservice, or for any of its
 * NameNodes, which share their tokens. */
static int find_token(const struct fs_options *o, const struct hdfs_site *site, struct sv_arena *a,
                      const struct yarn_token **ret, struct sv_error *err)
{
    struct fs_service services[1 + HDFS_NAMENODES_MAX];
    char nameservice[sizeof("ha-hdfs:") + sizeof(site->nameservice)];
    size_t n = 0;

    if (site->nameservice[0]) {
        (void)snprintf(nameservice, sizeof(nameservice), "ha-hdfs:%s", site->nameservice);
        services[n++] = (struct fs_service){ nameservice, 0 };
    }
    for (unsigned i = 0; i < site->n_servers; i++)
        services[n++] = (struct fs_service){ site->servers[i].host, site->servers[i].port };
    return fs_credentials_find(o->identity.credentials, "HDFS_DELEGATION_TOKEN", services, n, a,
                               ret, err);
}

static int open_fs(struct fs *fs, struct sv_error *err)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    const struct fs_options *o = &fs->options;
    struct fs_hdfs_state *s = fs->data = calloc(1, sizeof(*s));
    const struct yarn_token *token = NULL;
    const char *user = o->identity.user;
    int r;

    if (!s || !a)
        return sv_error_errno(err, -ENOMEM, "HDFS");
    if (!o->site || o->site->n_servers == 0 || o->site->io_timeout_ms == 0)
        return sv_error_set(err, -EINVAL, "the request names no NameNode");
    s->site = *o->site;
    s->kms = (struct fs_kms){ .options = &fs->options };
    s->keys = (struct hdfs_keys){ .decrypt = fs_kms_decrypt, .userdata = &s->kms };
    s->site.keys = &s->keys;
    fs->options.site = &s->site;
    r = find_token(o, &s->site, a, &token, err);
    return r < 0 ? r
                 : hdfs_namenode_new_as(&s->site, user && *user ? user : NULL, token,
                                        o->identity.tickets, &s->namenode, err);
}

static void close_fs(struct fs *fs)
{
    struct fs_hdfs_state *s = fs->data;

    if (!s)
        return;
    s->namenode = hdfs_namenode_free(s->namenode);
    hdfs_keys_forget(&s->keys);
    fs_kms_close(&s->kms);
    sv_arena_free(s->avoided.a); /* all that it has */
    free(s);
    fs->data = NULL;
}

static int status(struct fs *fs, const char *path, struct fs_status *ret,
                  struct fs_owner *ret_owner, struct sv_error *err)
{
    char full[FS_PATH_MAX];
    struct hdfs_owner owner;
    struct hdfs_status st;
    int r = fs_path(fs, path, full, err);

    if (r == 0)
        r = hdfs_get_owned_info(fs_hdfs_namenode(fs), full, &st, ret_owner ? &owner : NULL, err);
    if (r < 0)
        return r;
    *ret = fs_hdfs_status(&st);
    if (!ret_owner)
        return 0;
    *ret_owner = (struct fs_owner){ .acl = owner.acl,
                                    .own = sv_streq(owner.user, fs->options.identity.user) };
    memcpy(ret_owner->user, owner.user, sizeof(ret_owner->user));
    memcpy(ret_owner->group, owner.group, sizeof(ret_owner->group));
    return 0;
}

/* Returns 1 if further parts follow; `after` is the last name of the previous part. */
static int list_part(struct fs *fs, const char *path, char after[HDFS_NAME_MAX + 1],
                     int (*child)(void *userdata, const struct fs_child *c), void *userdata,
                     struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct hdfs_listing part = { 0 };
    int r = a ? hdfs_get_listing(fs_hdfs_namenode(fs), path, after, a, &part, err)
              : sv_error_errno(err, -ENOMEM, "%s", path);

    for (size_t i = 0; r == 0 && i < part.n; i++) {
        const struct fs_child c = { part.children[i].name, fs_hdfs_status(&part.children[i].st) };

        r = child(userdata, &c);
    }
    if (r < 0 || !part.more)
        return r;
    (void)snprintf(after, HDFS_NAME_MAX + 1, "%s", part.children[part.n - 1].name);
    return 1;
}

static int list(struct fs *fs, const char *path,
                int (*child)(void *userdata, const struct fs_child *c), void *userdata,
                struct sv_error *err)
{
    char full[FS_PATH_MAX], after[HDFS_NAME_MAX + 1] = "";
    int r = fs_path(fs, path, full, err);

    if (r == 0)
        do
            r = list_part(fs, full, after, child, userdata, err);
        while (r > 0);
    return r;
}

const struct fs_ops fs_hdfs = {
    .name = "HDFS",
    .open = open_fs,
    .close = close_fs,
    .status = status,
    .list = list,
};
