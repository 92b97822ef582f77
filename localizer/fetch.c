/* See fetch.h. One way for all schemes: status, checks against the request, then a stream or a walk
 * of the tree; where there is no status, the checks follow the stream. */
#include <errno.h>

#include "common/web/curl.h"
#include "fs/sigv4.h"
#include "hdfs/servers.h"
#include "localizer/fetch-tree.h"

_Static_assert(LOC_SERVERS_MAX == HDFS_SERVERS_TEXT_MAX, "one text");
_Static_assert(LOC_LOGIN_MAX <= HDFS_USER_MAX, "one name");
_Static_assert(LOC_REGION_MAX == FS_SIGV4_REGION_MAX && LOC_SECRET_KEY_MAX == FS_SIGV4_SECRET_MAX,
               "one key");

/* Parameters of the request, as fs/ takes them. */
struct site {
    struct hdfs_site hdfs;
    struct fs_sigv4_key key;
    struct fs_s3 s3;
    char path[PATH_MAX]; /* of file: without links */
};

static int open_fs(struct loc_source *s, struct site *site, struct sv_error *err)
{
    const struct loc_fetch *q = s->request;
    const struct fs_options o = {
        .url = &s->url,
        .path = "/",
        .root = -1,
        .text = q->url,
        .site = &site->hdfs,
        .s3 = &site->s3,
        .curl = &sv_curl_linked,
        .program = "selvedge-container-localizer",
        .identity = { .user = q->login, .credentials = s->credentials },
        .limits = { q->io_timeout_ms, q->deadline_ms, q->limits.slowest_rate },
    };

    site->hdfs =
        (struct hdfs_site){ .failover = { q->failovers, q->failover_base_ms, q->failover_max_ms },
                            .io_timeout_ms = q->io_timeout_ms,
                            .use_hostname = q->options & LOC_OPTION_HOSTNAMES };
    if (s->url.scheme == FS_SCHEME_HDFS && (hdfs_servers_parse(q->servers, &site->hdfs) < 0 ||
                                            hdfs_site_protect(&site->hdfs, q->protection) < 0))
        site->hdfs.n_servers = 0; /* refused */
    site->key = (struct fs_sigv4_key){ q->region, q->access_key, q->secret_key, q->session_token };
    site->s3 =
        (struct fs_s3){ .endpoint = q->servers,
                        .path_style = q->options & LOC_OPTION_PATH_STYLE,
                        .key = q->access_key[0] ? &site->key : NULL,
                        .whose = q->visibility == LOC_PUBLIC ? "the cluster's (fs.s3a.access.key)"
                                                             : "those of the job's credentials" };
    return fs_open(&o, &s->fs, err);
}

static int too_large(const struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    *ret_reason = LOC_FAIL_LIMIT;
    return sv_error_set(err, -EFBIG, "Resource %s is larger than the limit of %llu bytes",
                        s->request->url, (unsigned long long)s->request->limits.bytes);
}

/* ---- With a status ---- */

/* Takes the status; that of a regular file of file: when it is opened. */
static int find(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    int r = fs_status(s->fs, s->path, &s->seen, NULL, err);

    if (r == 0 && s->url.scheme == FS_SCHEME_FILE && s->seen.kind == FS_FILE)
        r = loc_file_open(s, err);
    if (r == 0 && s->url.scheme == FS_SCHEME_HDFS && s->seen.kind == FS_LINK)
        r = -ELOOP;
    if (r < 0)
        return loc_source_failed(s, r, ret_reason, err);
    *ret_reason = LOC_FAIL_SOURCE;
    return s->seen.kind == FS_FILE || s->seen.kind == FS_DIRECTORY
               ? 0
               : sv_error_set(err, -EINVAL, "Resource %s is not a regular file or a directory",
                              s->request->url);
}

static int check(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    bool directory = s->seen.kind == FS_DIRECTORY, is_public = true;
    int r;

    *ret_reason = LOC_FAIL_CHANGED;
    r = loc_check_time(s, s->seen.mtime_ms, err);
    if (r == 0 && !directory)
        r = loc_check_size(s, s->seen.length, err);
    if (r < 0)
        return r;
    if (!directory && s->seen.length > s->request->limits.bytes)
        return too_large(s, ret_reason, err);
    if (s->request->visibility == LOC_PUBLIC)
        r = fs_is_public(s->fs, s->path, &s->seen, &is_public, err);
    if (r < 0)
        return loc_source_failed(s, r, ret_reason, err);
    return is_public ? 0 : loc_not_public(s, ret_reason, err);
}

static int fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct fs_stream t;
    int r = find(s, ret_reason, err);

    if (r == 0)
        r = check(s, ret_reason, err);
    if (r < 0)
        return r;
    if (s->seen.kind == FS_DIRECTORY)
        return loc_tree_fetch(s, ret_reason, err);
    return s->in_place && !s->name ? 0 : loc_copy(s, &s->seen, &t, ret_reason, err);
}

/* ---- Without one ---- */

static int verify(const struct loc_source *s, int64_t mtime_ms, struct sv_error *err)
{
    int r = 0;

    /* Hadoop's http file system has no times and reports 0: nothing to compare. */
    if (s->request->timestamp != 0 && mtime_ms < 0)
        return sv_error_set(err, -ESTALE,
                            "Resource %s changed on src filesystem - the server "
                            "gave no Last-Modified",
                            s->request->url);
    if (s->request->timestamp != 0) /* the header has whole seconds */
        r = loc_check_time(s, mtime_ms + s->request->timestamp % 1000, err);
    return r < 0 ? r : loc_check_size(s, s->size, err);
}

static int fetch_unseen(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    const struct loc_fetch *q = s->request;
    const struct fs_status most = {
        .kind = FS_FILE,
        .length = q->size >= 0 ? SV_MIN((uint64_t)q->size, q->limits.bytes) : q->limits.bytes,
    };
    struct fs_stream t = { 0 };
    int r = loc_copy(s, &most, &t, ret_reason, err);

    if (r == -EFBIG && !t.sink_failed) {
        if (q->size < 0)
            return too_large(s, ret_reason, err);
        *ret_reason = LOC_FAIL_CHANGED;
        return sv_error_set(err, -ESTALE,
                            "Resource %s changed on src filesystem - expected: %lld "
                            "bytes, was: more",
                            q->url, (long long)q->size);
    }
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_CHANGED;
    return verify(s, t.mtime_ms, err);
}

int loc_source_fetch(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct site site;
    int r = fs_url_parse(s->request->url, &s->url, err);

    *ret_reason = LOC_FAIL_URL;
    if (r < 0)
        return r;
    s->path = s->url.path + 1;
    if (s->url.scheme == FS_SCHEME_FILE) {
        r = loc_file_path(s, site.path, ret_reason, err);
        s->path = site.path + 1;
    }
    if (r < 0)
        return r;
    r = open_fs(s, &site, err);
    if (r < 0) {
        *ret_reason = r == -ENOMEM         ? LOC_FAIL_INTERNAL
                      : r == -EKEYREJECTED ? LOC_FAIL_SOURCE
                                           : LOC_FAIL_URL;
        return sv_error_wrap(err, "Resource %s", s->request->url);
    }
    r = fs_has_status(s->fs) ? fetch(s, ret_reason, err) : fetch_unseen(s, ret_reason, err);
    s->fs = fs_close(s->fs);
    return r;
}
