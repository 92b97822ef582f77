/* See upload-store.h: HDFS back end, with simple authentication as the submitter. Hostile: answers
 * of NameNodes and DataNodes; hdfs/ bounds them. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "common/log.h"
#include "hdfs/file-writer.h"
#include "logs/upload-remote-dirs.h"
#include "logs/upload-store.h"

#define PATH_LEN 4096
#define NAME_LEN 80

struct hdfs_state {
    struct hdfs_site site;
    struct hdfs_namenode *namenode;
    struct hdfs_writer *writer;
    struct hdfs_avoided avoided;
    unsigned attempts;
    char dir[PATH_LEN], tmp[PATH_LEN], file[PATH_LEN];
    char client[NAME_LEN];
};

static int connect_to(struct logs_store *s, struct sv_error *err)
{
    struct hdfs_state *h = s->hdfs = calloc(1, sizeof(*h));

    if (!h)
        return sv_error_errno(err, -ENOMEM, "HDFS");
    h->site = (struct hdfs_site){ .failover = HDFS_FAILOVER_DEFAULT,
                                  .io_timeout_ms = s->u->io_timeout_ms,
                                  .use_hostname = s->u->use_hostname };
    if (hdfs_servers_parse(s->u->text[LOGS_SERVERS], h->site.servers, &h->site.n_servers) < 0 ||
        h->site.io_timeout_ms == 0)
        return sv_error_set(err, -EINVAL, "the request names no NameNode");
    return hdfs_namenode_new(&h->site, s->u->text[LOGS_USER], &h->namenode, err);
}

static int dir_status(void *fs, const char *path, struct logs_dir *ret, struct sv_error *err)
{
    struct hdfs_owner owner;
    struct hdfs_status st;
    int r = hdfs_get_owned_info(fs, path, &st, &owner, err);

    if (r < 0)
        return r;
    *ret = (struct logs_dir){ .directory = st.kind == HDFS_DIRECTORY,
                              .acl = owner.acl,
                              .mode = st.mode };
    memcpy(ret->owner, owner.user, sizeof(ret->owner));
    memcpy(ret->group, owner.group, sizeof(ret->group));
    return 0;
}

static int dir_make(void *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    return hdfs_mkdir(fs, path, mode, err);
}

static int dir_set_mode(void *fs, const char *path, uint32_t mode, struct sv_error *err)
{
    return hdfs_set_permission(fs, path, mode, err);
}

static int dir_set_group(void *fs, const char *path, const char *group, struct sv_error *err)
{
    return hdfs_set_group(fs, path, group, err);
}

static const struct logs_dir_ops dirs = { dir_status, dir_make, dir_set_mode, dir_set_group };

_Static_assert(HDFS_OWNER_MAX == LOGS_OWNER_MAX, "names of owners");

static int prepare(struct logs_store *s, char *note, struct sv_error *err)
{
    struct hdfs_state *h;
    int r = connect_to(s, err);

    if (r < 0)
        return r;
    h = s->hdfs;
    r = logs_remote_dirs(&dirs, h->namenode, s->u, h->dir, sizeof(h->dir), note, err);
    (void)snprintf(h->file, sizeof(h->file), "%.3770s/%s", h->dir, s->name);
    (void)snprintf(h->tmp, sizeof(h->tmp), "%.3770s/%.290s.tmp", h->dir, s->u->text[LOGS_FILE]);
    return r;
}

static int begin(struct logs_store *s, struct sv_error *err)
{
    struct hdfs_state *h = s->hdfs;
    uint64_t random;

    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        return sv_error_errno(err, -EIO, "getrandom");
    if (h->attempts++ > 1) /* all DataNodes may be on the list by now */
        hdfs_avoided_clear(&h->avoided);
    h->writer = hdfs_writer_free(h->writer);
    (void)snprintf(h->client, sizeof(h->client), "DFSClient_selvedge-log-uploader_%016llx",
                   (unsigned long long)random);
    return hdfs_writer_new(h->namenode, &h->site, h->tmp, h->client, LOGS_FILE_MODE, &h->avoided,
                           &h->writer, err);
}

static int write_some(void *userdata, const void *p, size_t n)
{
    struct logs_store *s = userdata;

    return hdfs_writer_put(s->hdfs->writer, p, n, s->err);
}

static int publish(struct logs_store *s, struct sv_error *err)
{
    struct hdfs_state *h = s->hdfs;
    int r = hdfs_writer_finish(h->writer, err);

    return r < 0 ? r : hdfs_rename(h->namenode, h->tmp, h->file, err);
}

static void discard(struct logs_store *s)
{
    struct sv_error err = { 0 };

    s->hdfs->writer = hdfs_writer_free(s->hdfs->writer);
    if (hdfs_delete(s->hdfs->namenode, s->hdfs->tmp, &err) < 0)
        sv_log_info("%s: cannot delete: %s; the next upload retries, ignoring", s->hdfs->tmp,
                    err.text);
}

static void path_of(const struct logs_store *s, const char *name, char ret[PATH_LEN])
{
    (void)snprintf(ret, PATH_LEN, "%.3770s/%.320s", s->hdfs->dir, name);
}

static int exists(struct logs_store *s, const char *name, struct sv_error *err)
{
    struct hdfs_status st;
    char path[PATH_LEN];
    int r;

    path_of(s, name, path);
    r = hdfs_get_file_info(s->hdfs->namenode, path, &st, err);
    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static int list(struct logs_store *s, struct logs_names *names, struct sv_error *err)
{
    char after[HDFS_NAME_MAX + 1] = "";
    bool more = true;
    int r = 0;

    while (r == 0 && more) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        struct hdfs_listing part = { 0 };

        r = a ? hdfs_get_listing(s->hdfs->namenode, s->hdfs->dir, after, a, &part, err) : -ENOMEM;
        for (size_t i = 0; r == 0 && i < part.n; i++)
            r = logs_names_add(names, part.children[i].name);
        more = r == 0 && part.more;
        if (more)
            (void)snprintf(after, sizeof(after), "%s", part.children[part.n - 1].name);
    }
    return r < 0 && !err->code ? sv_error_errno(err, r, "%s", s->hdfs->dir) : r;
}

static int remove_file(struct logs_store *s, const char *name, struct sv_error *err)
{
    char path[PATH_LEN];

    path_of(s, name, path);
    return hdfs_delete(s->hdfs->namenode, path, err);
}

static void close_all(struct logs_store *s)
{
    struct hdfs_state *h = s->hdfs;

    if (!h)
        return;
    h->writer = hdfs_writer_free(h->writer);
    h->namenode = hdfs_namenode_free(h->namenode);
    hdfs_avoided_clear(&h->avoided);
    free(h);
    s->hdfs = NULL;
}

static bool retry(int error)
{
    return error != -EACCES && error != -EPERM && error != -EDQUOT && error != -EOPNOTSUPP &&
           error != -ENOENT && error != -ENOTDIR;
}

const struct logs_store_ops logs_store_hdfs = {
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
