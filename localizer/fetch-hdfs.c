/* hdfs: urls with the client of hdfs/. NameNodes and DataNodes are hostile, as is everything that
 * they send; the client bounds it. Which NameNodes, and as which user, the request says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "hdfs/file.h"
#include "hdfs/public.h"
#include "localizer/fetch-credentials.h"
#include "localizer/fetch-tree.h"

_Static_assert(LOC_SERVERS_MAX == HDFS_SERVERS_TEXT_MAX, "one text");
_Static_assert(LOC_LOGIN_MAX <= HDFS_USER_MAX, "one name");

/* The job's delegation token for the file system: of the nameservice that the url names, or of any
 * of its NameNodes, which have their tokens in common. Without one: simple authentication. */
static int find_token(const struct loc_source *s, const struct hdfs_site *site, struct sv_arena *a,
                      const struct yarn_token **ret, struct sv_error *err)
{
    struct loc_service services[1 + HDFS_NAMENODES_MAX];
    char nameservice[sizeof "ha-hdfs:" + sizeof s->url.host];
    size_t n = 0;
    int r;

    if (s->url.port == 0 && s->url.host[0]) {
        (void)snprintf(nameservice, sizeof nameservice, "ha-hdfs:%s", s->url.host);
        services[n++] = (struct loc_service){ nameservice, 0 };
    }
    for (unsigned i = 0; i < site->n_servers; i++)
        services[n++] = (struct loc_service){ site->servers[i].host, site->servers[i].port };
    r = loc_credentials_find(s->credentials, "HDFS_DELEGATION_TOKEN", services, n, a, ret, err);
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
    *site = (struct hdfs_site){ .io_timeout_ms = q->io_timeout_ms,
                                .use_hostname = q->options & LOC_OPTION_HOSTNAMES };
    if (hdfs_servers_parse(q->servers, site->servers, &site->n_servers) < 0 ||
        site->io_timeout_ms == 0)
        return sv_error_set(err, -EINVAL, "Resource %s: the request names no NameNode", q->url);
    r = find_token(s, site, a, &token, err);
    return r < 0 ? r : hdfs_namenode_new_as(site, q->login[0] ? q->login : NULL, token, ret, err);
}

/* The checks of any source, then that of PUBLIC. */
static int check(struct loc_source *s, struct hdfs_namenode *n, const struct hdfs_status *st,
                 enum loc_fail *ret_reason, struct sv_error *err)
{
    bool is_public = true;
    int r;

    *ret_reason = LOC_FAIL_SOURCE;
    *ret_reason = LOC_FAIL_CHANGED;
    r = loc_check_time(s, st->mtime_ms, err);
    if (r == 0 && st->kind == HDFS_FILE)
        r = loc_check_size(s, st->length, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_LIMIT;
    if (st->length > s->request->limits.bytes)
        return sv_error_set(err, -EFBIG, "Resource %s is larger than the limit of %llu bytes",
                            s->request->url, (unsigned long long)s->request->limits.bytes);
    *ret_reason = LOC_FAIL_SOURCE;
    if (s->request->visibility == LOC_PUBLIC) {
        r = hdfs_is_public(n, s->url.path, st, &is_public, err);
        if (r < 0)
            return sv_error_wrap(err, "Resource %s", s->request->url);
    }
    return is_public ? 0 : loc_not_public(s, ret_reason, err);
}

static int copy(struct loc_source *s, struct hdfs_namenode *n, const struct hdfs_site *site,
                const struct hdfs_status *st, enum loc_fail *ret_reason, struct sv_error *err)
{
    bool sink_failed = false;
    int r;

    *ret_reason = LOC_FAIL_DISK;
    s->fd = loc_make_copy(s, err);
    if (s->fd < 0)
        return s->fd;
    r = hdfs_file_read(n, site, s->url.path, st, loc_copy_append, s, &sink_failed, err);
    if (r < 0) {
        *ret_reason = sink_failed    ? LOC_FAIL_DISK
                      : r == -ESTALE ? LOC_FAIL_CHANGED
                                     : LOC_FAIL_SOURCE;
        return sv_error_wrap(err, "Resource %s", s->request->url);
    }
    return loc_copy_finish(s, ret_reason, err);
}

/* ---- a directory ---- */

struct tree {
    struct loc_source *s;
    struct hdfs_namenode *namenode;
    const struct hdfs_site *site;
    const struct hdfs_status *st; /* of the directory itself */
};

/* "/source/dir" in the arena. */
static char *join(const struct tree *k, const char *path, struct sv_arena *a)
{
    const char *top = k->s->url.path;

    return path[0] ? sv_arena_printf(a, "%s%s%s", top, top[1] ? "/" : "", path)
                   : sv_arena_strdup(a, top);
}

static mode_t mode_of(const struct hdfs_status *st)
{
    return st->mode | (st->kind == HDFS_DIRECTORY ? S_IFDIR : st->kind == HDFS_FILE ? S_IFREG : 0);
}

static int add_part(struct tree *k, struct loc_tree *t, const struct hdfs_listing *l,
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
                                k->s->request->url);
        r = loc_tree_add(t, &c, ret_reason, err);
    }
    return r;
}

static int list(void *userdata, struct loc_tree *t, const char *dir, enum loc_fail *ret_reason,
                struct sv_error *err)
{
    struct tree *k = userdata;
    char after[HDFS_NAME_MAX + 1] = "";

    for (;;) {
        _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
        const char *path = a ? join(k, dir, a) : NULL, *last;
        struct hdfs_listing l;
        int r;

        *ret_reason = LOC_FAIL_SOURCE;
        if (!path)
            return sv_error_errno(err, -ENOMEM, "listing");
        r = hdfs_get_listing(k->namenode, path, after, a, &l, err);
        if (r < 0)
            return sv_error_wrap(err, "Resource %s", k->s->request->url);
        r = add_part(k, t, &l, ret_reason, err);
        if (r < 0 || !l.more)
            return r;
        last = l.children[l.n - 1].name;
        memcpy(after, last, strlen(last) + 1);
    }
}

static int read_file(void *userdata, struct loc_tree *t, const char *path,
                     const struct loc_tree_child *c, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct tree *k = userdata;
    const char *full = a ? join(k, path, a) : NULL;
    bool sink_failed = false;
    int r;

    *ret_reason = LOC_FAIL_INTERNAL;
    if (!full)
        return sv_error_errno(err, -ENOMEM, "path");
    r = hdfs_file_read(k->namenode, k->site, full, c->more, loc_tree_write, t, &sink_failed, err);
    if (r == 0)
        return 0;
    *ret_reason = sink_failed ? LOC_FAIL_DISK : r == -ESTALE ? LOC_FAIL_CHANGED : LOC_FAIL_SOURCE;
    return sv_error_wrap(err, "Resource %s", k->s->request->url);
}

static int unchanged(void *userdata, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct tree *k = userdata;
    struct hdfs_status now;
    int r = hdfs_get_file_info(k->namenode, k->s->url.path, &now, err);

    *ret_reason = LOC_FAIL_SOURCE;
    if (r < 0)
        return sv_error_wrap(err, "Resource %s", k->s->request->url);
    *ret_reason = LOC_FAIL_CHANGED;
    if (now.id != k->st->id || now.mtime_ms != k->st->mtime_ms || now.kind != HDFS_DIRECTORY)
        return sv_error_set(err, -ESTALE, "Resource %s: it changed while it was read",
                            k->s->request->url);
    return 0;
}

static int copy_tree(struct loc_source *s, struct hdfs_namenode *n, const struct hdfs_site *site,
                     const struct hdfs_status *st, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct tree k = { s, n, site, st };
    const struct loc_tree_backend b = {
        .list = list, .read = read_file, .unchanged = unchanged, .userdata = &k
    };

    return loc_tree_fetch(s, &b, mode_of(st), ret_reason, err);
}

/* In Hadoop's words where it has some. */
static int stat_failed(const struct loc_source *s, int r, struct sv_error *err)
{
    if (r == -ENOENT)
        return sv_error_set(err, r, "File does not exist: %s", s->request->url);
    if (r == -ELOOP)
        return sv_error_set(err, r, "Resource %s: symbolic links of HDFS are not supported",
                            s->request->url);
    return sv_error_wrap(err, "Resource %s", s->request->url);
}

int loc_fetch_hdfs(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    _cleanup_(hdfs_namenode_freep) struct hdfs_namenode *n = NULL;
    struct hdfs_status st = { 0 };
    struct hdfs_site site;
    int r;

    *ret_reason = LOC_FAIL_URL;
    r = connect_to(s, &site, &n, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_SOURCE;
    r = hdfs_get_file_info(n, s->url.path, &st, err);
    if (r == 0 && st.kind == HDFS_SYMLINK)
        r = -ELOOP;
    if (r < 0)
        return stat_failed(s, r, err);
    r = check(s, n, &st, ret_reason, err);
    if (r < 0)
        return r;
    return st.kind == HDFS_FILE ? copy(s, n, &site, &st, ret_reason, err)
                                : copy_tree(s, n, &site, &st, ret_reason, err);
}
