/* hdfs: urls with the client of hdfs/. NameNodes and DataNodes are hostile, as is everything that
 * they send; the client bounds it. Which NameNodes, and as which user, the request says. */
#include <errno.h>

#include "hdfs/file.h"
#include "hdfs/public.h"
#include "localizer/fetch-common.h"

_Static_assert(LOC_SERVERS_MAX == HDFS_SERVERS_TEXT_MAX, "one text");
_Static_assert(LOC_LOGIN_MAX <= HDFS_USER_MAX, "one name");

static int connect_to(const struct loc_fetch *q, struct hdfs_site *site, struct hdfs_namenode **ret,
                      struct sv_error *err)
{
    *site = (struct hdfs_site){ .io_timeout_ms = q->io_timeout_ms,
                                .use_hostname = q->options & LOC_OPTION_HOSTNAMES };
    if (hdfs_servers_parse(q->servers, site->servers, &site->n_servers) < 0 ||
        site->io_timeout_ms == 0)
        return sv_error_set(err, -EINVAL, "Resource %s: the request names no NameNode", q->url);
    return hdfs_namenode_new(site, q->login[0] ? q->login : NULL, ret, err);
}

/* The checks of any source, then that of PUBLIC. */
static int check(struct loc_source *s, struct hdfs_namenode *n, const struct hdfs_status *st,
                 enum loc_fail *ret_reason, struct sv_error *err)
{
    bool is_public = true;
    int r;

    *ret_reason = LOC_FAIL_SOURCE;
    if (st->kind != HDFS_FILE)
        return sv_error_set(err, -EINVAL, "Resource %s is not a regular file", s->request->url);
    *ret_reason = LOC_FAIL_CHANGED;
    r = loc_check_time(s, st->mtime_ms, err);
    if (r == 0)
        r = loc_check_size(s, st->length, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_LIMIT;
    if (st->length > s->request->max_bytes)
        return sv_error_set(err, -EFBIG, "Resource %s is larger than the limit of %llu bytes",
                            s->request->url, (unsigned long long)s->request->max_bytes);
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
    r = connect_to(s->request, &site, &n, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_SOURCE;
    r = hdfs_get_file_info(n, s->url.path, &st, err);
    if (r == 0 && st.kind == HDFS_SYMLINK)
        r = -ELOOP;
    if (r < 0)
        return stat_failed(s, r, err);
    r = check(s, n, &st, ret_reason, err);
    return r < 0 ? r : copy(s, n, &site, &st, ret_reason, err);
}
