/* See nm-web-logs.h. */
#include "nodemanager/web/nm-web-logs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/str.h"
#include "common/user-groups.h"
#include "common/web/json-text.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/web/log-frame.h"
#include "nodemanager/web/log-request.h"
#include "nodemanager/web/log-send.h"
#include "nodemanager/web/web-reply.h"

static void add_name(const struct nm_log_entry *e, void *userdata)
{
    (void)json_array_append_new(userdata, sv_json_text(e->name)); /* a NULL is refused, ignoring */
}

int nm_web_log_names(const struct nm_web *w, const struct sv_http_request *req,
                     struct yarn_container_id id, json_t **ret)
{
    struct nm_log_search *s = NULL;
    json_t *list;
    int r = !w->ctx->conf->web.logs_enabled ? 0 : nm_log_request_search(w, req, id, NULL, &s);

    if (r < 0)
        return r;
    list = json_array();
    if (list && s)
        (void)nm_log_search_each(s, add_name, list); /* none without a directory, ignoring */
    *ret = list;
    return list ? 0 : -ENOMEM;
}

static void add_info(const struct nm_log_entry *e, void *userdata)
{
    char time_text[64], size[32];

    nm_log_time(e->modified_s, time_text);
    snprintf(size, sizeof(size), "%lld", (long long)e->size);
    (void)json_array_append_new(userdata, json_pack("{s:o,s:s,s:s}", "fileName",
                                                    sv_json_text(e->name), "fileSize", size,
                                                    "lastModifiedTime", time_text)); /* ignoring */
}

static int unread(const char *why, struct sv_http_response *ret)
{
    return nm_web_exception(ret, 503, "ServiceUnavailableException", "java.lang.Exception: %s",
                            why);
}

static int logs_off(struct sv_http_response *ret)
{
    return nm_web_exception(ret, 403, "ForbiddenException",
                            "container logs are not served over HTTP on this node: "
                            "selvedge.nodemanager.webapp.logs.enabled is false");
}

int nm_web_log_list(const struct nm_web *w, const struct sv_http_request *req,
                    struct yarn_container_id id, struct sv_http_response *ret)
{
    const struct nm_context *ctx = w->ctx;
    struct nm_log_search *s;
    char text[YARN_ID_TEXT_MAX];
    const char *why;
    json_t *list, *own, *info;
    int entries, r;
    bool cut;

    if (!ctx->conf->web.logs_enabled)
        return logs_off(ret);
    r = nm_log_request_search(w, req, id, NULL, &s);
    if (r < 0)
        return r;
    why = nm_log_search_unread(s);
    yarn_container_id_text(id, text);
    if (!nm_log_search_each(s, NULL, NULL))
        return why ? unread(why, ret)
                   : nm_web_exception(ret, 404, "NotFoundException",
                                      "java.lang.Exception: no logs of container %s on this node",
                                      text);
    list = json_array();
    if (!list)
        return -ENOMEM;
    (void)nm_log_search_each(s, add_info, list); /* found, ignoring */
    entries = nm_log_search_entries(s, &cut);
    own = json_pack("{s:i,s:b}", "entriesRead", entries, "cut", cut);
    if (why)
        (void)json_object_set_new(own, "unread",
                                  sv_json_text(why)); /* a NULL is refused, ignoring */
    info = json_pack("{s:{s:o,s:s,s:s,s:s,s:o}}", "containerLogsInfo", "containerLogInfo", list,
                     "logAggregationType", "LOCAL", "containerId", text, "nodeId",
                     ctx->node_id_text, "selvedge", own);
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
                 const struct stat *st, struct nm_log_range *ret)
{
    const struct nm_container *c = nm_container_find(ctx, container);
    const struct nm_log_frame f = { .container = container,
                                    .node = ctx->node_id_text,
                                    .file = file,
                                    .length = (uint64_t)st->st_size,
                                    .modified_s = st->st_mtim.tv_sec,
                                    .running = c && nm_container_is_live(c) };

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

static int send_file(const struct nm_web *w, const struct sv_http_request *req,
                     struct nm_log_search *from, struct nm_log_range *range,
                     struct sv_http_response *ret)
{
    int r;

    if (sv_groups_missed(w->groups)) /* before there is an answer: nm_web_handle() */
        return -EAGAIN;
    r = nm_log_send(w, req, from, range);
    if (r == -EBUSY)
        return nm_web_exception(ret, 503, "ServiceUnavailableException",
                                "java.lang.Exception: %u logs are being sent: try again later",
                                NM_LOG_SENDS_MAX);
    return r;
}

int nm_web_log_file(const struct nm_web *w, struct yarn_container_id id, const char *file,
                    bool framed, const struct sv_http_request *req, struct sv_http_response *ret)
{
    struct nm_log_range at = { 0 };
    const struct nm_log_file *found;
    struct nm_log_search *s;
    char text[YARN_ID_TEXT_MAX];
    bool bare;
    int r;

    at.type = content_type(req, &bare);
    yarn_container_id_text(id, text);
    if (!w->ctx->conf->web.logs_enabled)
        return logs_off(ret);
    if (!at.type)
        return nm_web_exception(ret, 400, "BadRequestException",
                                "The valid values for the parameter : format are [text, "
                                "octet-stream]");
    r = nm_log_request_search(w, req, id, file, &s);
    if (r == -EINVAL)
        return nm_web_exception(ret, 400, "BadRequestException", "Invalid log file name");
    if (r < 0)
        return r;
    found = nm_log_search_file(s);
    if (!found && nm_log_search_unread(s))
        return unread(nm_log_search_unread(s), ret);
    if (!found)
        return nm_web_exception(
            ret, 404, "NotFoundException",
            "java.lang.Exception: container %s has no such log file on this node", text);
    if (range(req, (uint64_t)found->st.st_size, &at.offset, &at.size) < 0)
        return nm_web_exception(ret, 400, "BadRequestException",
                                "start, end and size must be numbers");
    r = framed && !bare ? frame(w->ctx, text, file, &found->st, &at) : 0;
    if (r >= 0)
        r = send_file(w, req, s, &at, ret);
    free(at.before);
    free(at.after);
    return r;
}
