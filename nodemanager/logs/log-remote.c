/* See log-remote.h. */
#include "nodemanager/logs/log-remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fd.h"
#include "common/log.h"
#include "common/str.h"
#include "fs/resolve.h"
#include "hdfs/conf.h"
#include "logs/upload-request.h"

#define KEY "yarn.nodemanager.remote-app-log-dir"
#define ROOT_MODE 01777
#define WEB_TIMEOUT_MS 60000

static bool is_web(const struct fs_url *url)
{
    return url->scheme == FS_SCHEME_WEBHDFS || url->scheme == FS_SCHEME_SWEBHDFS;
}

static int parse(const struct nm_conf *conf, struct fs_url *ret, struct sv_error *err)
{
    const char *remote = conf->logs.remote;
    int r = fs_resolve_url(conf->conf, remote, ret, err);

    if (r < 0)
        return sv_error_wrap(err, "%s=%s", KEY, remote);
    if (ret->scheme != FS_SCHEME_FILE && ret->scheme != FS_SCHEME_HDFS && !is_web(ret))
        return sv_error_set(err, -EOPNOTSUPP,
                            "%s=%s: logs are uploaded to hdfs:, webhdfs: and file: alone; name one "
                            "of these, or set yarn.log-aggregation-enable to false",
                            KEY, remote);
    return 0;
}

static int open_directory(struct nm_log_remote *r, struct sv_error *err)
{
    struct stat st;

    if (mkdir(r->path, ROOT_MODE) == 0) {
        if (chmod(r->path, ROOT_MODE) < 0) /* independent of the umask */
            return sv_error_errno(err, -errno, "%s=%s: mode", KEY, r->path);
    } else if (errno != EEXIST) {
        return sv_error_errno(err, -errno, "%s=%s", KEY, r->path);
    }
    r->root = open(r->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (r->root < 0 || fstat(r->root, &st) < 0)
        return sv_error_errno(err, -errno, "%s=%s", KEY, r->path);
    if ((st.st_mode & 07777) != ROOT_MODE)
        sv_log_warning("%s=%s has mode %04o, not 1777: users cannot make their directories there, "
                       "or remove those of others",
                       KEY, r->path, (unsigned)st.st_mode & 07777);
    return 0;
}

int nm_log_remote_ready(struct nm_log_remote *r, struct sv_error *err)
{
    return *r->servers || *r->web || r->root >= 0 ? 0 : open_directory(r, err);
}

int nm_log_remote_open(const struct nm_conf *conf, struct nm_log_remote *ret, struct sv_error *err)
{
    struct sv_error why = { 0 };
    struct nm_log_remote m = { .root = -1 };
    struct hdfs_site site;
    struct fs_url url;
    int r = parse(conf, &url, err);

    if (r < 0)
        return r;
    if (url.scheme == FS_SCHEME_HDFS) {
        r = hdfs_conf_site(conf->conf, url.host, url.port, &site, err);
        if (r < 0)
            return sv_error_wrap(err, "%s=%s", KEY, conf->logs.remote);
        if (hdfs_servers_text(&site, m.servers) < 0)
            return sv_error_set(err, -E2BIG, "%s=%s: the addresses of its NameNodes are too long",
                                KEY, conf->logs.remote);
        m.io_timeout_ms = site.io_timeout_ms;
        m.use_hostname = site.use_hostname;
        m.protection = hdfs_site_protection(&site);
    }
    if (is_web(&url)) {
        r = fs_url_server(&url, m.web, err);
        if (r < 0)
            return sv_error_wrap(err, "%s=%s", KEY, conf->logs.remote);
        m.io_timeout_ms = WEB_TIMEOUT_MS;
    }
    m.path = strdup(url.path);
    if (!m.path)
        return sv_error_errno(err, -ENOMEM, KEY);
    if (nm_log_remote_ready(&m, &why) < 0)
        sv_log_err("%s: logs are not uploaded before it can be used", why.text);
    *ret = m;
    return 0;
}

void nm_log_remote_close(struct nm_log_remote *r)
{
    free(r->path);
    r->path = NULL;
    r->root = sv_close(r->root);
}

int nm_log_remote_put(const struct nm_log_remote *r, const struct nm_conf_logs *conf,
                      const char *node_id, struct sv_buf *b)
{
    _cleanup_free_ char *file = strdup(node_id);
    uint8_t codec = sv_streq(conf->compression, "gz") ? LOGS_GZ : LOGS_NONE;
    uint8_t hostnames = r->use_hostname, older = conf->older_layout;
    int k = file ? 0 : -ENOMEM;

    for (char *c = file; k == 0 && (c = strchr(c, ':'));)
        *c = '_'; /* as Hadoop */
    if (k == 0)
        k = logs_upload_put_text(b, LOGS_REMOTE, r->path);
    if (k == 0)
        k = logs_upload_put_text(b, LOGS_SERVERS, r->servers);
    if (k == 0)
        k = logs_upload_put_text(b, LOGS_WEB, r->web);
    if (k == 0)
        k = logs_upload_put_text(b, LOGS_SUFFIX, conf->suffix);
    if (k == 0)
        k = logs_upload_put_text(b, LOGS_GROUP, conf->group);
    if (k == 0)
        k = logs_upload_put_text(b, LOGS_FILE, file);
    if (k == 0)
        k = logs_upload_put(b, LOGS_TAG_CODEC, &codec, 1);
    if (k == 0)
        k = logs_upload_put(b, LOGS_TAG_HOSTNAMES, &hostnames, 1);
    if (k == 0)
        k = logs_upload_put(b, LOGS_TAG_OLDER_LAYOUT, &older, 1);
    if (k == 0)
        k = logs_upload_put_u32(b, LOGS_TAG_FILES_MAX, (uint32_t)conf->files_max);
    if (k == 0)
        k = logs_upload_put_u32(b, LOGS_TAG_PROTECTION, r->protection);
    return k < 0 ? k : logs_upload_put_u32(b, LOGS_TAG_TIMEOUT, r->io_timeout_ms);
}
