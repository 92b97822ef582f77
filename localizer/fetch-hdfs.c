/* hdfs: URLs, over the client of hdfs/. NameNodes and DataNodes are hostile, as is everything that
 * they send; the client bounds it. The request selects the NameNodes and the user. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/credentials.h"
#include "hdfs/file.h"
#include "hdfs/public.h"
#include "localizer/fetch-tree.h"

_Static_assert(LOC_SERVERS_MAX == HDFS_SERVERS_TEXT_MAX, "one text");
_Static_assert(LOC_LOGIN_MAX <= HDFS_USER_MAX, "one name");

struct state {
    struct hdfs_site site;
    struct hdfs_namenode *namenode;
    struct hdfs_status st; /* of the source */
};

/* Finds the job's delegation token for the file system: for the nameservice that the url names, or
 * for any of its NameNodes, which share their tokens. Without one: simple authentication. */
static int find_token(const struct loc_source *s, const struct hdfs_site *site, struct sv_arena *a,
                      const struct yarn_token **ret, struct sv_error *err)
{
    struct fs_service services[1 + HDFS_NAMENODES_MAX];
    char nameservice[sizeof("ha-hdfs:") + sizeof(s->url.host)];
    size_t n = 0;
    int r;

    if (s->url.port == 0 && s->url.host[0]) {
        (void)snprintf(nameservice, sizeof(nameservice), "ha-hdfs:%s", s->url.host);
        services[n++] = (struct fs_service){ nameservice, 0 };
    }
    for (unsigned i = 0; i < site->n_servers; i++)
        services[n++] = (struct fs_service){ site->servers[i].host, site->servers[i].port };
    r = fs_credentials_find(s->credentials, "HDFS_DELEGATION_TOKEN", services, n, a, ret, err);
    return r < 0 ? sv_error_wrap(err, "Resource %s", s->request->url) : 0;
}

static int connect_to(const struct loc_source *s, struct hdfs_site *site,
                      struct hdfs_namenode **ret, struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    const struct loc_fetch *q = s->request;
    const struct yarn_token *token = NULL;
    int r;

    if (!a)
        return sv_error_errno(err, -ENOMEM, "Resource %s", q->url);
    *site =
        (struct hdfs_site){ .failover = { q->failovers, q->failover_base_ms, q->failover_max_ms },
                            .io_timeout_ms = q->io_timeout_ms,
                            .use_hostname = q->options & LOC_OPTION_HOSTNAMES };
    if (hdfs_servers_parse(q->servers, site->servers, &site->n_servers) < 0 ||
        site->io_timeout_ms == 0)
        return sv_error_set(err, -EINVAL, "Resource %s: the request names no NameNode", q->url);
    r = find_token(s, site, a, &token, err);
    return r < 0 ? r : hdfs_namenode_new_as(site, q->login[0] ? q->login : NULL, token, ret, err);
}

static int fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct state *k = s->state;
    bool sink_failed = false;
    int r;

    *ret_reason = LOC_FAIL_DISK;
    s->fd = loc_make_copy(s, err);
    if (s->fd < 0)
        return s->fd;
    r = hdfs_file_read(k->namenode, &k->site, s->url.path, &k->st, loc_copy_append, s, &sink_failed,
                       err);
    if (r < 0) {
        *ret_reason = sink_failed    ? LOC_FAIL_DISK
                      : r == -ESTALE ? LOC_FAIL_CHANGED
                                     : LOC_FAIL_SOURCE;
        return sv_error_wrap(err, "Resource %s", s->request->url);
    }
    return loc_copy_finish(s, ret_reason, err);
}

/* ---- a directory ---- */

/* Returns "/source/dir" in the arena. */
static char *join(const struct loc_source *s, const char *path, struct sv_arena *a)
{
    const char *top = s->url.path;

    return path[0] ? sv_arena_printf(a, "%s%s%s", top, top[1] ? "/" : "", path)
                   : sv_arena_strdup(a, top);
}

static mode_t mode_of(const struct hdfs_status *st)
{
    return st->mode | (st->kind == HDFS_DIRECTORY ? S_IFDIR : st->kind == HDFS_FILE ? S_IFREG : 0);
}

static int add_part(struct loc_source *s, struct loc_tree *t, const struct hdfs_listing *l,
                    enum loc_fail *ret_reason, struct sv_error *err)
{
    int r = 0;

    for (size_t i = 0; i < l->n && r == 0; i++) {
        const struct hdfs_child *h = &l->children[i];
        const struct loc_tree_child c = { .name = h->name,
                                          .mode = mode_of(&h->st),
                                          .size = h->st.kind == HDFS_FILE ? h->st.length : 0,
                                          .closed = h->st.encrypted,
                                          .more = &h->st };

        *ret_reason = LOC_FAIL_SOURCE;
        if (h->st.kind == HDFS_SYMLINK)
            return sv_error_set(err, -ELOOP,
                                "Resource %s: symbolic links of HDFS are not supported",
                                s->request->url);
        r = loc_tree_add(t, &c, ret_reason, err);
    }
    return r;
}

static int list(struct loc_source *s, struct loc_tree *t, const char *dir,
                enum loc_fail *ret_reason, struct sv_error *err)
{
    struct state *k = s->state;
    char after[HDFS_NAME_MAX + 1] = "";

    for (;;) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        const char *path = a ? join(s, dir, a) : NULL, *last;
        struct hdfs_listing l;
        int r;

        *ret_reason = LOC_FAIL_SOURCE;
        if (!path)
            return sv_error_errno(err, -ENOMEM, "listing");
        r = hdfs_get_listing(k->namenode, path, after, a, &l, err);
        if (r < 0)
            return sv_error_wrap(err, "Resource %s", s->request->url);
        r = add_part(s, t, &l, ret_reason, err);
        if (r < 0 || !l.more)
            return r;
        last = l.children[l.n - 1].name;
        memcpy(after, last, strlen(last) + 1);
    }
}

static int read_file(struct loc_source *s, struct loc_tree *t, const char *path,
                     const struct loc_tree_child *c, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct state *k = s->state;
    const char *full = a ? join(s, path, a) : NULL;
    bool sink_failed = false;
    int r;

    *ret_reason = LOC_FAIL_INTERNAL;
    if (!full)
        return sv_error_errno(err, -ENOMEM, "path");
    r = hdfs_file_read(k->namenode, &k->site, full, c->more, loc_tree_write, t, &sink_failed, err);
    if (r == 0)
        return 0;
    *ret_reason = sink_failed ? LOC_FAIL_DISK : r == -ESTALE ? LOC_FAIL_CHANGED : LOC_FAIL_SOURCE;
    return sv_error_wrap(err, "Resource %s", s->request->url);
}

static int unchanged(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct state *k = s->state;
    struct hdfs_status now;
    int r = hdfs_get_file_info(k->namenode, s->url.path, &now, err);

    *ret_reason = LOC_FAIL_SOURCE;
    if (r < 0)
        return sv_error_wrap(err, "Resource %s", s->request->url);
    *ret_reason = LOC_FAIL_CHANGED;
    if (now.id != k->st.id || now.mtime_ms != k->st.mtime_ms || now.kind != HDFS_DIRECTORY)
        return sv_error_set(err, -ESTALE, "Resource %s: it changed while it was read",
                            s->request->url);
    return 0;
}

static const struct loc_tree_backend tree = {
    .list = list,
    .read = read_file,
    .unchanged = unchanged,
};

/* ---- the source ---- */

/* Uses Hadoop's texts where they exist. */
static int stat_failed(const struct loc_source *s, int r, struct sv_error *err)
{
    if (r == -ENOENT)
        return sv_error_set(err, r, "File does not exist: %s", s->request->url);
    if (r == -ELOOP)
        return sv_error_set(err, r, "Resource %s: symbolic links of HDFS are not supported",
                            s->request->url);
    return sv_error_wrap(err, "Resource %s", s->request->url);
}

static int open_source(struct loc_source *s, struct loc_found *ret, enum loc_fail *ret_reason,
                       struct sv_error *err)
{
    struct state *k = s->state = calloc(1, sizeof(*k));
    int r;

    *ret_reason = LOC_FAIL_INTERNAL;
    if (!k)
        return sv_error_errno(err, -ENOMEM, "Resource %s", s->request->url);
    *ret_reason = LOC_FAIL_URL;
    r = connect_to(s, &k->site, &k->namenode, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_SOURCE;
    r = hdfs_get_file_info(k->namenode, s->url.path, &k->st, err);
    if (r == 0 && k->st.kind == HDFS_SYMLINK)
        r = -ELOOP;
    if (r < 0)
        return stat_failed(s, r, err);
    *ret = (struct loc_found){
        .directory = k->st.kind != HDFS_FILE,
        .size = k->st.length,
        .mode = mode_of(&k->st),
        .mtime_ms = k->st.mtime_ms,
    };
    return 0;
}

static void close_source(struct loc_source *s)
{
    struct state *k = s->state;

    s->state = NULL;
    if (k)
        hdfs_namenode_free(k->namenode);
    free(k);
}

static int is_public(struct loc_source *s, bool *ret, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    struct state *k = s->state;
    int r = hdfs_is_public(k->namenode, s->url.path, &k->st, ret, err);

    (void)ret_reason;
    return r < 0 ? sv_error_wrap(err, "Resource %s", s->request->url) : 0;
}

const struct loc_fetcher loc_fetcher_hdfs = {
    .open = open_source,
    .close = close_source,
    .is_public = is_public,
    .fetch = fetch,
    .tree = &tree,
};
