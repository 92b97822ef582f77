/* See nm-web-logs.h. */
#include "nodemanager/web/nm-web-logs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/fd.h"
#include "common/str.h"
#include "common/web/json-text.h"
#include "localizer/channel.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/local-dirs.h"
#include "nodemanager/web/log-frame.h"
#include "nodemanager/web/web-reply.h"

/* Per container. Jobs control the content of these directories, and reading them occupies the
 * daemon's only thread: every entry counts, shown or not. */
#define ENTRIES_MAX 1000

/* The container's directory below log dir `index`, and its owner. */
static int open_dir(const struct nm_context *ctx, struct yarn_container_id id, int index,
                    uid_t *ret_owner)
{
    char path[2 * YARN_ID_TEXT_MAX], app[YARN_ID_TEXT_MAX], container[YARN_ID_TEXT_MAX];
    _cleanup_close_ int top = -1, dir = -1;
    struct stat st;

    top = open(nm_dirs_log(ctx->dirs, index), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (top < 0)
        return -errno;
    snprintf(path, sizeof(path), "%s/%s", yarn_app_id_text(id.attempt.app, app),
             yarn_container_id_text(id, container));
    dir = sv_open_beneath(top, path, O_RDONLY | O_DIRECTORY, 0);
    if (dir < 0)
        return dir;
    if (fstat(dir, &st) < 0)
        return -errno;
    *ret_owner = st.st_uid;
    return sv_take_fd(&dir);
}

/* Copies for debugging (yarn.nodemanager.log-container-debug-info.enabled): the script exports the
 * job's environment, where jobs keep passwords. Only their owner can read them, on disk. */
static bool is_debug_info(const char *name)
{
    return sv_streq(name, "launch_container.sh") || sv_streq(name, "directory.info");
}

/* True for a file that may be shown and sent: a regular file of the directory's owner with one
 * link; another could be a link to any file of the account. */
static bool served(const char *name, const struct stat *st, uid_t owner)
{
    return S_ISREG(st->st_mode) && st->st_uid == owner && st->st_nlink == 1 && !is_debug_info(name);
}

int nm_web_each_log(const struct nm_context *ctx, struct yarn_container_id id, nm_web_log_fn fn,
                    void *userdata)
{
    bool found = false;
    int entries = 0;

    for (int i = 0; i < nm_dirs_n_log(ctx->dirs); i++) {
        uid_t owner;
        int fd = open_dir(ctx, id, i, &owner);
        DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        struct dirent *e;

        if (!d) {
            sv_close(fd);
            continue;
        }
        found = true;
        while (entries < ENTRIES_MAX && (e = readdir(d))) {
            struct stat st;

            entries++;
            if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                served(e->d_name, &st, owner))
                fn(e->d_name, &st, userdata);
        }
        closedir(d);
    }
    return found ? entries : -ENOENT;
}

bool nm_web_has_logs(const struct nm_context *ctx, struct yarn_container_id id)
{
    for (int i = 0; i < nm_dirs_n_log(ctx->dirs); i++) {
        _cleanup_close_ int dir = -1;
        uid_t owner;

        dir = open_dir(ctx, id, i, &owner);
        if (dir >= 0)
            return true;
    }
    return false;
}

static void add_name(const char *name, const struct stat *st, void *userdata)
{
    (void)st;
    (void)json_array_append_new(userdata, sv_json_text(name)); /* a NULL is refused, ignoring */
}

json_t *nm_web_log_names(const struct nm_context *ctx, struct yarn_container_id id)
{
    json_t *list = json_array();

    if (list && ctx->conf->web.logs_enabled)
        (void)nm_web_each_log(ctx, id, add_name, list); /* none without a directory, ignoring */
    return list;
}

static void add_info(const char *name, const struct stat *st, void *userdata)
{
    char time_text[64], size[32];

    nm_log_time(st->st_mtim.tv_sec, time_text);
    snprintf(size, sizeof(size), "%lld", (long long)st->st_size);
    (void)json_array_append_new(userdata, json_pack("{s:o,s:s,s:s}", "fileName", sv_json_text(name),
                                                    "fileSize", size, "lastModifiedTime",
                                                    time_text)); /* ignoring */
}

static int logs_off(struct sv_http_response *ret)
{
    return nm_web_exception(ret, 403, "ForbiddenException",
                            "container logs are not served over HTTP on this node: "
                            "selvedge.nodemanager.webapp.logs.enabled is false");
}

int nm_web_log_list(const struct nm_context *ctx, struct yarn_container_id id,
                    struct sv_http_response *ret)
{
    char text[YARN_ID_TEXT_MAX];
    json_t *list, *info;
    int entries;

    if (!ctx->conf->web.logs_enabled)
        return logs_off(ret);
    list = json_array();
    yarn_container_id_text(id, text);
    if (!list)
        return -ENOMEM;
    entries = nm_web_each_log(ctx, id, add_info, list);
    if (entries < 0) {
        json_decref(list);
        return nm_web_exception(ret, 404, "NotFoundException",
                                "java.lang.Exception: no logs of container %s on this node", text);
    }
    info = json_pack("{s:{s:o,s:s,s:s,s:s,s:{s:i,s:b}}}", "containerLogsInfo", "containerLogInfo",
                     list, "logAggregationType", "LOCAL", "containerId", text, "nodeId",
                     ctx->node_id_text, "selvedge", "entriesRead", entries, "cut",
                     entries == ENTRIES_MAX);
    /* In Hadoop a list, whose XML has an element around it. */
    return nm_web_json(ret, 200, ret->xml ? json_pack("{s:o}", "containerLogsInfoes", info) : info);
}

/* start, end, size of a query: negative counts from the end of the file. */
static int range(const struct sv_http_request *req, uint64_t length, uint64_t *ret_offset,
                 uint64_t *ret_size)
{
    const char *start = sv_http_query(req, "start"), *end = sv_http_query(req, "end");
    const char *size = sv_http_query(req, "size");
    int64_t a = 0, b = (int64_t)length, n = 0, len = (int64_t)length;

    if (start && sv_parse_i64(start, INT64_MIN + 1, INT64_MAX, &a) < 0)
        return -EINVAL;
    if (end && sv_parse_i64(end, INT64_MIN + 1, INT64_MAX, &b) < 0)
        return -EINVAL;
    if (size && sv_parse_i64(size, INT64_MIN + 1, INT64_MAX, &n) < 0)
        return -EINVAL;
    a = a < 0 ? SV_MAX(len + a, 0) : SV_MIN(a, len);
    b = b < 0 ? SV_MAX(len + b, 0) : SV_MIN(b, len);
    if (size && n >= 0)
        b = SV_MIN(b, n);
    else if (size)
        a = SV_MAX(a, SV_MAX(len + n, 0));
    *ret_offset = (uint64_t)a;
    *ret_size = b > a ? (uint64_t)(b - a) : 0;
    return 0;
}

/* The lines around the text, as `yarn logs` prints them. */
static int frame(const struct nm_context *ctx, const char *container, const char *file,
                 const struct stat *st, struct sv_http_response *ret)
{
    const struct nm_container *c = nm_container_find(ctx, container);
    const struct nm_log_frame f = { .container = container,
                                    .node = ctx->node_id_text,
                                    .file = file,
                                    .length = (uint64_t)st->st_size,
                                    .modified_s = st->st_mtim.tv_sec,
                                    .running = c && c->state == NM_CONTAINER_RUNNING };

    return nm_log_frame(&f, &ret->before, &ret->after);
}

/* The request's "format", which is a content type with Hadoop; plain text without. */
static const char *content_type(const struct sv_http_request *req, bool *ret_bare)
{
    const char *format = sv_http_query(req, "format");

    *ret_bare = format && sv_streq(format, "octet-stream");
    if (!format || !*format || sv_streq(format, "text"))
        return "text/plain; charset=utf-8";
    return *ret_bare ? "application/octet-stream; charset=utf-8" : NULL;
}

int nm_web_log_open(const struct nm_context *ctx, struct yarn_container_id id, const char *file,
                    struct stat *ret_stat)
{
    if (!fs_name_valid(file))
        return -EINVAL;
    for (int i = 0; i < nm_dirs_n_log(ctx->dirs); i++) {
        _cleanup_close_ int dir = -1, fd = -1;
        struct stat st;
        uid_t owner;

        dir = open_dir(ctx, id, i, &owner);
        if (dir < 0)
            continue;
        fd = sv_open_beneath(dir, file, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
        if (fd < 0 || fstat(fd, &st) < 0 || !served(file, &st, owner))
            continue;
        *ret_stat = st;
        return sv_take_fd(&fd);
    }
    return -ENOENT;
}

int nm_web_log_file(const struct nm_context *ctx, struct yarn_container_id id, const char *file,
                    bool framed, const struct sv_http_request *req, struct sv_http_response *ret)
{
    _cleanup_close_ int fd = -1;
    char text[YARN_ID_TEXT_MAX];
    struct stat st;
    bool bare;
    const char *type = content_type(req, &bare);

    yarn_container_id_text(id, text);
    if (!ctx->conf->web.logs_enabled)
        return logs_off(ret);
    if (!type)
        return nm_web_exception(ret, 400, "BadRequestException",
                                "The valid values for the parameter : format are [text, "
                                "octet-stream]");
    fd = nm_web_log_open(ctx, id, file, &st);
    if (fd == -EINVAL)
        return nm_web_exception(ret, 400, "BadRequestException", "Invalid log file name");
    if (fd >= 0) {
        if (range(req, (uint64_t)st.st_size, &ret->offset, &ret->size) < 0)
            return nm_web_exception(ret, 400, "BadRequestException",
                                    "start, end and size must be numbers");
        ret->status = 200;
        ret->content_type = type;
        if (framed && !bare && frame(ctx, text, file, &st, ret) < 0)
            return -ENOMEM;
        ret->fd = sv_take_fd(&fd);
        return 0;
    }
    return nm_web_exception(ret, 404, "NotFoundException",
                            "java.lang.Exception: container %s has no such log file on this node",
                            text);
}
