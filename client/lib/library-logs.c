/* See library.h: the containers of an application, and their logs from the nodes. Hostile: what a
 * node sends, which are texts of jobs; bounded. */
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/http/fetch.h"
#include "client/http/log-unframe.h"
#include "client/http/node-url.h"
#include "client/lib/library-internal.h"
#include "common/str.h"
#include "common/web/curl.h"

#define LOG_MAX ((size_t)16 << 20)

/* ---- Containers ---- */

struct told { /* memory for the texts of a container */
    char id[YARN_ID_TEXT_MAX], node[264];
};

static void tell_containers(struct lib_request *q, int status,
                            const struct cli_container_report *list, size_t n,
                            const struct sv_error *err)
{
    _cleanup_free_ struct selvedge_container_report *copy = calloc(n + 1, sizeof(*copy));
    _cleanup_free_ struct told *texts = calloc(n + 1, sizeof(*texts));

    if (!copy || !texts)
        status = -ENOMEM;
    for (size_t i = 0; status >= 0 && i < n; i++)
        copy[i] = (struct selvedge_container_report){
            .id = yarn_container_id_text(list[i].id, texts[i].id),
            .node = yarn_node_id_text(&list[i].node, texts[i].node),
            .http_address = cli_without_scheme(list[i].http_address),
            .state = list[i].state,
            .diagnostics = list[i].diagnostics,
            .log_url = list[i].log_url,
            .start_ms = list[i].start_ms,
            .finish_ms = list[i].finish_ms,
            .exit_status = list[i].exit_status,
        };
    q->rm->o.depth++;
    q->containers(status, cli_lib_reason(status, err), copy, status < 0 ? 0 : n, q->userdata);
    q->rm->o.depth--;
    cli_lib_request_free(q);
}

static void on_containers(int status, const struct cli_container_report *list, size_t n,
                          const struct sv_error *err, void *userdata)
{
    tell_containers(userdata, status, list, n, err);
}

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct lib_request *q = userdata;
    bool asks = status >= 0 && n == 1 && report->attempt.attempt > 0;

    if (asks)
        status = cli_rm_containers(q->rm->client, report->attempt, on_containers, q);
    if (!asks || status < 0) /* without an attempt there are none */
        tell_containers(q, status, NULL, 0, asks ? NULL : err);
}

int selvedge_rm_containers(selvedge_rm handle, const char *app, selvedge_containers_fn fn,
                           void *userdata)
{
    struct lib_rm *rm = cli_lib_rm(handle);
    struct yarn_app_id id;
    struct lib_request *q;

    if (!rm)
        return -EBADF;
    if (!app || !fn || yarn_app_id_parse(app, &id) < 0)
        return -EINVAL;
    q = cli_lib_request_new(rm, userdata);
    if (!q)
        return -ENOMEM;
    q->containers = fn;
    return cli_lib_begun(cli_rm_report(rm->client, id, on_report, q), q);
}

/* ---- Logs ---- */

static void tell_log(struct lib_request *q, int status, const char *why, const char *text,
                     size_t len)
{
    q->rm->o.depth++;
    q->logs(status, why, text, len, q->userdata);
    q->rm->o.depth--;
    cli_lib_request_free(q);
}

static void on_body(int http, const char *body, size_t len, const char *why, void *userdata)
{
    struct lib_request *q = userdata;
    struct cli_log_frame frame;
    char text[100];

    if (http == 200 && cli_log_unframe(body, len, &frame)) {
        tell_log(q, 0, "", frame.text, frame.len);
    } else if (http == 200) {
        tell_log(q, 0, "", body, len);
    } else if (http < 0) {
        tell_log(q, http, why ? why : strerrordesc_np(-http), "", 0);
    } else {
        (void)snprintf(text, sizeof(text), "the node answers with the HTTP status %d", http);
        tell_log(q,
                 http == 404                  ? -ENOENT
                 : http == 401 || http == 403 ? -EACCES
                                              : -EIO,
                 text, "", 0);
    }
}

static int fetch_log(struct lib_request *q, const char *http)
{
    const struct passwd *own = q->rm->user ? NULL : getpwuid(geteuid());
    const char *user = q->rm->user ? q->rm->user : own ? own->pw_name : "";
    _cleanup_free_ char *path = NULL, *url = NULL, *whole = NULL;
    int r = sv_asprintf(&path, "/logs/%s", q->log);

    if (r >= 0)
        r = cli_node_url(http, q->container_text, path, user, &url);
    if (r >= 0)
        r = sv_asprintf(&whole, "%s&format=octet-stream", url);
    return r < 0 ? r : cli_fetch_get(q->rm->fetch, whole, LOG_MAX, on_body, q);
}

static bool is_address(const char *http)
{
    return *http && strlen(http) < 300 && strcspn(http, "/?#@ ") == strlen(http);
}

static void on_listed(int status, const struct cli_container_report *list, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct lib_request *q = userdata;
    const char *http = NULL;

    for (size_t i = 0; status >= 0 && i < n; i++)
        if (yarn_container_id_cmp(list[i].id, q->container) == 0)
            http = cli_without_scheme(list[i].http_address);
    if (status >= 0 && (!http || !is_address(http)))
        tell_log(q, -ENOENT, "the ResourceManager lists no such container", "", 0);
    else if (status < 0 || (status = fetch_log(q, http)) < 0)
        tell_log(q, status, cli_lib_reason(status, err), "", 0);
}

/* libcurl comes with the first log. */
static int need_fetch(struct lib_rm *rm)
{
    const struct sv_curl *curl;
    struct sv_error err = { 0 };
    int r = rm->fetch ? 0 : sv_curl_load(&curl, &err);

    return r < 0 || rm->fetch ? r : cli_fetch_new(cli_lib_event(rm->o.loop), &rm->fetch);
}

static bool is_file_name(const char *name)
{
    return name && *name && strlen(name) <= 255 && !strchr(name, '/') && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0;
}

int selvedge_rm_log(selvedge_rm handle, const char *container, const char *http_address,
                    const char *name, selvedge_log_fn fn, void *userdata)
{
    struct lib_rm *rm = cli_lib_rm(handle);
    _cleanup_free_ char *encoded = NULL;
    struct yarn_container_id id;
    struct lib_request *q;
    int r;

    if (!rm)
        return -EBADF;
    if (!container || !fn || !is_file_name(name) || yarn_container_id_parse(container, &id) < 0 ||
        (http_address && !is_address(cli_without_scheme(http_address))))
        return -EINVAL;
    r = need_fetch(rm);
    q = r < 0 ? NULL : cli_lib_request_new(rm, userdata);
    if (!q)
        return r < 0 ? r : -ENOMEM;
    encoded = cli_percent_encode(name);
    q->arena = encoded ? sv_arena_new(0) : NULL;
    q->container = id;
    q->log = q->arena ? sv_arena_strdup(q->arena, encoded) : NULL;
    q->container_text = q->log ? sv_arena_strdup(q->arena, container) : NULL;
    q->logs = fn;
    r = !q->container_text ? -ENOMEM
        : http_address     ? fetch_log(q, cli_without_scheme(http_address))
                           : cli_rm_containers(rm->client, id.attempt, on_listed, q);
    return cli_lib_begun(r, q);
}
