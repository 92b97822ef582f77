/* See upload-store.h. */
#include "logs/upload-store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/str.h"
#include "common/web/curl.h"
#include "logs/upload-remote-dirs.h"

static int hdfs_options(struct logs_store *s, struct sv_error *err)
{
    const struct logs_upload *u = s->u;

    s->url.scheme = FS_SCHEME_HDFS;
    s->site = (struct hdfs_site){ .failover = HDFS_FAILOVER_DEFAULT,
                                  .io_timeout_ms = u->io_timeout_ms,
                                  .use_hostname = u->use_hostname };
    return hdfs_servers_parse(u->text[LOGS_SERVERS], &s->site) < 0 ||
                   hdfs_site_protect(&s->site, u->protection) < 0
               ? sv_error_set(err, -EINVAL, "the request names no NameNode")
               : 0;
}

/* The request has "http://host:port". */
static int web_options(struct logs_store *s, struct sv_error *err)
{
    const char *server = s->u->text[LOGS_WEB], *host = strstr(server, "://");
    char text[FS_URL_MAX + 1];
    int r = host ? fs_url_make(sv_has_prefix(server, "https:") ? "swebhdfs" : "webhdfs", host + 3,
                               0, s->u->text[LOGS_REMOTE], text)
                 : -EINVAL;

    return r < 0 ? sv_error_errno(err, r, "%s", server) : fs_url_parse(text, &s->url, err);
}

int logs_store_open(struct logs_store *s, const struct logs_upload *u,
                    const struct logs_given *given, char ret_note[LOGS_UPLOAD_TEXT_MAX],
                    struct sv_error *err)
{
    const struct fs_options o = { .url = &s->url,
                                  .path = u->text[LOGS_REMOTE],
                                  .root = given->root,
                                  .site = &s->site,
                                  .curl = &sv_curl_linked,
                                  .program = "selvedge-log-uploader",
                                  .identity = { .user = u->text[LOGS_USER],
                                                .credentials = given->credentials },
                                  .limits = { .io_timeout_ms = u->io_timeout_ms } };
    int r = 0;

    s->u = u;
    (void)snprintf(s->name, sizeof(s->name), "%.290s%s%.20s", u->text[LOGS_FILE],
                   *u->text[LOGS_TIME] ? "_" : "", u->text[LOGS_TIME]);
    (void)snprintf(s->tmp, sizeof(s->tmp), "%.290s.tmp", u->text[LOGS_FILE]);
    s->url.scheme = FS_SCHEME_FILE;
    if (*u->text[LOGS_SERVERS])
        r = hdfs_options(s, err);
    else if (*u->text[LOGS_WEB])
        r = web_options(s, err);
    else if (given->root < 0)
        r = sv_error_set(err, -EINVAL, "the request has no remote directory");
    if (r == 0)
        r = fs_open(&o, &s->fs, err);
    return r < 0 ? r : logs_remote_dirs(s->fs, u, ret_note, err);
}

void logs_store_close(struct logs_store *s)
{
    s->file = fs_file_free(s->file);
    s->fs = fs_close(s->fs);
}

int logs_store_begin(struct logs_store *s, struct sv_error *err)
{
    s->file = fs_file_free(s->file);
    return fs_create(s->fs, s->tmp, LOGS_FILE_MODE, &s->file, err);
}

int logs_store_write(void *store, const void *p, size_t n)
{
    struct logs_store *s = store;
    int r = fs_write(s->file, p, n, s->err);

    if (r == 0)
        logs_pace_wait(&s->pace, n);
    return r;
}

int logs_store_publish(struct logs_store *s, struct sv_error *err)
{
    int r = fs_finish(s->file, err);

    return r < 0 ? r : fs_rename(s->fs, s->tmp, s->name, err);
}

void logs_store_discard(struct logs_store *s)
{
    struct sv_error err = { 0 };

    s->file = fs_file_free(s->file);
    if (fs_remove(s->fs, s->tmp, &err) < 0)
        sv_log_info("%s: cannot delete: %s; the next upload retries, ignoring", s->tmp, err.text);
}

int logs_store_exists(struct logs_store *s, const char *name, struct sv_error *err)
{
    struct fs_status st;
    int r = fs_status(s->fs, name, &st, NULL, err);

    return r == -ENOENT ? 0 : r < 0 ? r : 1;
}
