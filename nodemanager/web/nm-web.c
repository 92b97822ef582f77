/* See nm-web.h. */
#include "nodemanager/web/nm-web.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cgroups/cg.h"
#include "common/str.h"
#include "common/version.h"
#include "common/web/conf-dump.h"
#include "common/web/json-text.h"
#include "common/web/json-xml.h"
#include "common/web/log-level.h"
#include "nodemanager/aux-services/aux-services.h"
#include "nodemanager/core/application.h"
#include "nodemanager/core/container.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/node-health.h"
#include "nodemanager/labels/described.h"
#include "nodemanager/rm/node-status-updater.h"
#include "nodemanager/services/finished-containers.h"
#include "nodemanager/web/exec-page.h"
#include "nodemanager/web/gpu-json.h"
#include "nodemanager/web/localization-json.h"
#include "nodemanager/web/log-elsewhere.h"
#include "nodemanager/web/nm-metrics.h"
#include "nodemanager/web/nm-web-logs.h"
#include "nodemanager/web/node-facts.h"
#include "nodemanager/web/page-frame.h"
#include "nodemanager/web/page-route.h"
#include "nodemanager/web/rest-paths.h"
#include "nodemanager/web/uploads-json.h"
#include "nodemanager/web/web-access.h"
#include "nodemanager/web/web-list.h"
#include "nodemanager/web/web-reply.h"

#define ROOT "/ws/v1/node"
#define OLD_LOGS "/node/containerlogs/"

/* ---- node -----------------------------------------------------------------------------------*/

/* Those of "memory", "pids", "cpu" that the kernel does not limit on this node. */
static json_t *limits_not_enforced(const struct nm_context *ctx)
{
    static const struct {
        unsigned bit;
        const char *name;
    } controllers[] = { { CG_MEMORY, "memory" }, { CG_PIDS, "pids" }, { CG_CPU, "cpu" } };
    unsigned on = cg_root_controllers(ctx->cgroups);
    json_t *list = json_array();

    for (size_t i = 0; i < SV_ARRAY_LEN(controllers); i++)
        if (!(on & controllers[i].bit))
            (void)json_array_append_new(list, json_string(controllers[i].name)); /* ignoring */
    return list;
}

/* Percentage of the last 10 s in which some or all processes waited. */
static json_t *stall_json(const struct cg_stall *s)
{
    return json_pack("{s:f,s:f,s:I,s:I}", "some", s->some_avg10 / 100.0, "full",
                     s->full_avg10 / 100.0, "someUs", (json_int_t)s->some_usec, "fullUs",
                     (json_int_t)s->full_usec);
}

static json_t *usage_json(const struct cg_usage *u)
{
    return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:{s:o,s:o,s:o}}", "throttledUs",
                     (json_int_t)u->throttled_usec, "oomKills", (json_int_t)u->oom_kills,
                     "memoryMaxMet", (json_int_t)u->max, "pidsPeak", (json_int_t)u->pids_peak,
                     "pidsRefused", (json_int_t)u->pids_refused, "ioReadBytes",
                     (json_int_t)u->io_read_bytes, "ioWriteBytes", (json_int_t)u->io_write_bytes,
                     "ioReads", (json_int_t)u->io_reads, "ioWrites", (json_int_t)u->io_writes,
                     "pressure", "cpu", stall_json(&u->cpu_stall), "memory",
                     stall_json(&u->memory_stall), "io", stall_json(&u->io_stall));
}

/* JSON null where the node has no controller that counts it. */
static json_t *counted(const struct nm_context *ctx, unsigned controller, uint64_t value)
{
    return cg_root_controllers(ctx->cgroups) & controller ? json_integer((json_int_t)value)
                                                          : json_null();
}

/* All containers together, from the counters of their common cgroup. */
static json_t *containers_json(const struct nm_context *ctx)
{
    struct cg_usage u;
    json_t *j;

    if (cg_root_usage(ctx->cgroups, &u) < 0)
        return json_null();
    j = usage_json(&u);
    (void)json_object_set_new(j, "memoryBytes", counted(ctx, CG_MEMORY, u.memory_current));
    (void)json_object_set_new(j, "cpuTimeMs", json_integer((json_int_t)(u.cpu_usec / 1000)));
    (void)json_object_set_new(j, "pids", counted(ctx, CG_PIDS, u.pids_current)); /* ignoring */
    return j;
}

static json_t *node_info(const struct nm_web *w, const struct sv_http_request *req)
{
    const struct nm_context *ctx = w->ctx;
    const struct nm_conf *c = ctx->conf;
    const char *missing = cg_root_missing(ctx->cgroups);
    char report[NM_HEALTH_REPORT_MAX];
    bool healthy = nm_health_report(ctx->health, report);

    return json_pack(
        "{s:{s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:s,s:b,s:o,s:I,s:I,s:I,s:i,s:b,s:b,s:o,s:I,s:o}}",
        "nodeInfo", "id", ctx->node_id_text, "nodeHostName", ctx->node_id.host,
        "nodeManagerVersion", NM_HADOOP_VERSION, "nodeManagerBuildVersion",
        "selvedge-nodemanager " SV_VERSION, "nodeManagerVersionBuiltOn", "", "hadoopVersion",
        NM_HADOOP_VERSION, "hadoopBuildVersion", "selvedge-nodemanager " SV_VERSION,
        "hadoopVersionBuiltOn", "", "nodeHealthy", healthy, "healthReport", sv_json_text(report),
        "lastNodeUpdateTime", (json_int_t)nm_updater_last_heartbeat_ms(w->updater),
        "totalVmemAllocatedContainersMB",
        (json_int_t)((double)ctx->total.memory_mb * c->vmem_ratio),
        "totalPmemAllocatedContainersMB", (json_int_t)ctx->total.memory_mb,
        "totalVCoresAllocatedContainers", ctx->total.vcores, "vmemCheckEnabled", c->vmem_check,
        "pmemCheckEnabled", c->pmem_check, "resourceTypes", nm_web_type_names(), "nmStartupTime",
        (json_int_t)ctx->start_ms, "selvedge",
        json_pack("{s:s,s:o,s:o,s:o,s:i,s:o,s:o,s:o,s:o,s:o}", "version", SV_VERSION,
                  "limitsNotEnforced", limits_not_enforced(ctx), "limitsWhy",
                  missing ? sv_json_text(missing) : json_null(), "containers", containers_json(ctx),
                  "stuckDeletions", (int)ctx->stuck_deletions, "localization",
                  nm_web_localization(w->localization), "logUploads", nm_web_uploads(w, req),
                  "resourceTypes", nm_web_types(ctx), "nodeLabels",
                  nm_web_described(w->labels[NM_LABELS]), "nodeAttributes",
                  nm_web_described(w->labels[NM_ATTRIBUTES])));
}

/* The services that are ready, as Hadoop lists those that it has started. There, `version` is a
 * manifest's. */
static json_t *aux_services(const struct nm_aux *aux)
{
    json_t *list = json_array();

    for (size_t i = 0; i < nm_aux_count(aux); i++) {
        struct nm_aux_info info;
        struct tm tm;
        time_t since;
        char text[32];

        nm_aux_info(aux, i, &info);
        since = info.ready_since_ms / 1000;
        if (!since || !localtime_r(&since, &tm) ||
            !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
            continue;
        (void)json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:{s:i}}", "name", info.name,
                                                    "version", "", "startTime", text, "selvedge",
                                                    "restarts", (int)info.restarts)); /* ignoring */
    }
    if (json_array_size(list) > 0)
        return json_pack("{s:{s:o}}", "services", "service", list);
    json_decref(list);
    return json_pack("{s:{}}", "services");
}

/* ---- applications ---------------------------------------------------------------------------*/

static json_t *app_json(const struct nm_app *a)
{
    json_t *ids = json_array();

    for (const struct nm_app_member *m = a->members; m; m = m->hh.next)
        (void)json_array_append_new(ids, json_string(m->c->text)); /* short lists, ignoring */
    return json_pack("{s:s,s:s,s:o,s:o}", "id", a->text, "state", nm_app_state_name(a->state),
                     "user", sv_json_text(a->user), "containerids", ids);
}

static json_t *app_entry(const struct nm_context *ctx, const struct nm_web_caller *who,
                         const struct nm_web_filter *f, const char *id)
{
    const struct nm_app *a = nm_app_find(ctx, id);

    if (!a || (f->state && strcmp(f->state, nm_app_state_name(a->state)) != 0) ||
        (*f->user && strcmp(f->user, a->user) != 0) || !nm_web_may_view(who, a))
        return NULL;
    return app_json(a);
}

/* False: answered with the error. */
static bool read_filter(const struct sv_http_request *req, struct nm_web_filter *ret_filter,
                        struct sv_http_response *ret, int *ret_result)
{
    const char *state = sv_http_query(req, "state"), *user = sv_http_query(req, "user");

    *ret_filter = (struct nm_web_filter){ 0 };
    for (int i = 1; state && !ret_filter->state && i < NM_APP_N_STATES; i++)
        if (!strcmp(state, nm_app_state_name(i)))
            ret_filter->state = nm_app_state_name(i);
    if (state && !ret_filter->state) {
        *ret_result = nm_web_exception(ret, 400, "BadRequestException",
                                       "Error: application state is not known");
        return false;
    }
    if (user && !*user) {
        *ret_result = nm_web_exception(ret, 400, "BadRequestException",
                                       "Error: You must specify a non-empty string for the user");
        return false;
    }
    if (user && strlen(user) >= sizeof(ret_filter->user)) { /* the name of nobody */
        *ret_result = nm_web_json(ret, 200, json_pack("{s:{}}", "apps"));
        return false;
    }
    snprintf(ret_filter->user, sizeof(ret_filter->user), "%s", user ? user : "");
    return true;
}

static int apps(const struct nm_web *w, const struct nm_web_caller *who,
                const struct sv_http_request *req, struct sv_http_response *ret)
{
    static const struct nm_web_list_kind kind = { "apps", "app", app_entry };
    const struct nm_context *ctx = w->ctx;
    struct nm_web_filter filter;
    struct nm_web_objects all = { 0 };
    int r;

    if (!read_filter(req, &filter, ret, &r))
        return r;
    all.ids = calloc(HASH_COUNT(ctx->apps) + 1, sizeof(*all.ids));
    for (const struct nm_app *a = ctx->apps; all.ids && a; a = a->hh.next)
        memcpy(all.ids[all.n++], a->text, sizeof(*all.ids));
    return nm_web_list(w, who, &kind, &filter, all, req, ret);
}

static int forbidden(const struct nm_web_caller *who, const char *object,
                     struct sv_http_response *ret)
{
    return nm_web_exception(ret, 403, "ForbiddenException",
                            "User [%.64s] is not authorized to view %.64s: with yarn.acl.enable "
                            "its owner, its VIEW_APP list and administrators are",
                            who->user, object);
}

static int app(const struct nm_context *ctx, const struct nm_web_caller *who, const char *id,
               struct sv_http_response *ret)
{
    struct yarn_app_id parsed;
    struct nm_app *a;

    if (yarn_app_id_parse(id, &parsed) < 0)
        return nm_web_exception(ret, 400, "BadRequestException", "Invalid ApplicationId");
    a = nm_app_find(ctx, id);
    if (!a)
        return nm_web_exception(ret, 404, "NotFoundException",
                                "java.lang.Exception: app with id %s not found", id);
    if (!nm_web_may_view(who, a))
        return forbidden(who, id, ret);
    return nm_web_json(ret, 200, json_pack("{s:o}", "app", app_json(a)));
}

/* ---- containers -----------------------------------------------------------------------------*/

/* JSON null if `known` is 0. */
static json_t *figure(int64_t known, int64_t value)
{
    return known ? json_integer(SV_MAX(value, (int64_t)0)) : json_null();
}

/* Hadoop's fields, and an object of our own with resource usage and durations. */
static json_t *figures_json(const struct nm_context *ctx, const struct nm_figures *f,
                            const char *state, const char *diagnostics, json_t *log_files)
{
    char link[1024];
    json_t *own = json_pack(
        "{s:o,s:o,s:o,s:o,s:f,s:I,s:o,s:o,s:o,s:o,s:o,s:o}", "memoryBytes",
        counted(ctx, CG_MEMORY, f->memory_bytes), "peakMemoryBytes",
        figure(f->peak_bytes > 0, (int64_t)f->peak_bytes), "cpuTimeMs",
        figure(f->launch_ms, (int64_t)(f->cpu_usec / 1000)), "pids", counted(ctx, CG_PIDS, f->pids),
        "cpuCores", (double)f->cpu_cores, "startTime", (json_int_t)f->start_ms, "launchTime",
        figure(f->launch_ms, f->launch_ms), "finishTime", figure(f->finish_ms, f->finish_ms),
        "localizeMs", figure(f->launch_ms, f->localize_ms), "launchMs",
        figure(f->launch_ms, f->launch_ms - f->start_ms - f->localize_ms), "limitsNotEnforced",
        limits_not_enforced(ctx), "usage", usage_json(&f->usage));

    snprintf(link, sizeof(link), "%s://%s:%u/node/containerlogs/%s/%s",
             ctx->conf->web.https ? "https" : "http", ctx->node_id.host, ctx->http_port, f->text,
             f->user);
    return json_pack("{s:s,s:s,s:i,s:o,s:o,s:I,s:i,s:s,s:o,s:s,s:o,s:o}", "id", f->text, "state",
                     state, "exitCode", f->exit_code, "diagnostics", sv_json_text(diagnostics),
                     "user", sv_json_text(f->user), "totalMemoryNeededMB", (json_int_t)f->memory_mb,
                     "totalVCoresNeeded", f->vcores, "executionType",
                     f->execution_type == 2 ? "OPPORTUNISTIC" : "GUARANTEED", "containerLogsLink",
                     sv_json_text(link), "nodeId", ctx->node_id_text, "containerLogFiles",
                     log_files, "selvedge", own);
}

static json_t *container_json(const struct nm_context *ctx, const struct nm_container *c,
                              json_t *log_files)
{
    struct nm_figures f;

    nm_figures_of(c, &f);
    return figures_json(ctx, &f, nm_container_state_name(c->state), c->diagnostics, log_files);
}

/* The list of all omits names of log files: that would read every job's directories. */
static json_t *container_entry(const struct nm_context *ctx, const struct nm_web_caller *who,
                               const struct nm_web_filter *f, const char *id)
{
    const struct nm_container *c = nm_container_find(ctx, id);

    (void)f;
    return c && nm_web_may_view(who, c->app) ? container_json(ctx, c, json_array()) : NULL;
}

static int containers(const struct nm_web *w, const struct nm_web_caller *who,
                      const struct sv_http_request *req, struct sv_http_response *ret)
{
    static const struct nm_web_list_kind kind = { "containers", "container", container_entry };
    static const struct nm_web_filter none = { 0 };

    return nm_web_list(w, who, &kind, &none, nm_web_containers(w->ctx, NULL), req, ret);
}

/* The node may have forgotten the application while its logs still exist. */
static bool may_view_container(const struct nm_context *ctx, const struct nm_web_caller *who,
                               struct yarn_container_id id)
{
    char text[YARN_ID_TEXT_MAX];

    return nm_web_may_view(who, nm_app_find(ctx, yarn_app_id_text(id.attempt.app, text)));
}

/* The id at the start of `rest`, up to the next slash. */
static const char *container_of_path(const char *rest, char ret_id[YARN_ID_TEXT_MAX],
                                     struct yarn_container_id *ret)
{
    const char *slash = strchrnul(rest, '/');

    if (slash - rest >= YARN_ID_TEXT_MAX)
        return NULL;
    memcpy(ret_id, rest, (size_t)(slash - rest));
    ret_id[slash - rest] = 0;
    return yarn_container_id_parse(ret_id, ret) < 0 ? NULL : slash;
}

/* After an answer about logs that the node has, or has no more. */
static int or_elsewhere(const struct nm_context *ctx, const char *id, const char *file,
                        const struct sv_http_request *req, struct sv_http_response *ret, int r)
{
    if (r != 0 || ret->status != 404 || !nm_log_is_elsewhere(ctx))
        return r;
    r = nm_log_go_elsewhere(ctx, id, file, req, ret);
    return r == -EMSGSIZE ? 0 : r;
}

/* For a caller who may not see the container's logs here: the log service knows who may, if the
 * node has forgotten the application. */
static int unseen(const struct nm_context *ctx, const struct nm_web_caller *who,
                  struct yarn_container_id parsed, const char *id, const char *file,
                  const struct sv_http_request *req, struct sv_http_response *ret)
{
    char app_id[YARN_ID_TEXT_MAX];

    if (nm_log_is_elsewhere(ctx) && !nm_app_find(ctx, yarn_app_id_text(parsed.attempt.app, app_id)))
        return or_elsewhere(ctx, id, file, req, ret, 0);
    return forbidden(who, id, ret);
}

/* The file of "/logs/{file}", or NULL. */
static const char *file_of(const char *slash)
{
    return sv_has_prefix(slash, "/logs/") ? slash + strlen("/logs/") : NULL;
}

/* "{id}", "{id}/logs", "{id}/logs/{file}" */
static int container(const struct nm_web *w, const struct nm_web_caller *who, const char *rest,
                     const struct sv_http_request *req, struct sv_http_response *ret)
{
    char id[YARN_ID_TEXT_MAX];
    const struct nm_context *ctx = w->ctx;
    const struct nm_figures *ended;
    struct yarn_container_id parsed;
    const char *slash = container_of_path(rest, id, &parsed);
    struct nm_container *c;
    json_t *one, *names;
    int r;

    if (!slash)
        return nm_web_exception(ret, 400, "BadRequestException",
                                "java.lang.Exception: invalid container id, %.90s", rest);
    c = nm_container_find(ctx, id);
    ended = c ? NULL : nm_finished_find(w->finished, id);
    /* Owner of an ended one, whose application the node may have forgotten. */
    if (!may_view_container(ctx, who, parsed) &&
        !(ended && !*slash && sv_streq(who->user, ended->user)))
        return *slash ? unseen(ctx, who, parsed, id, file_of(slash), req, ret)
                      : forbidden(who, id, ret);
    if (!strcmp(slash, "/logs"))
        return or_elsewhere(ctx, id, NULL, req, ret, nm_web_log_list(w, req, parsed, ret));
    if (file_of(slash))
        return or_elsewhere(ctx, id, file_of(slash), req, ret,
                            nm_web_log_file(w, parsed, file_of(slash), true, req, ret));
    if (*slash)
        return 0; /* 404 */
    if (!ended && !c)
        return nm_web_exception(ret, 404, "NotFoundException",
                                "java.lang.Exception: container with id, %s, not found", id);
    r = nm_web_log_names(w, req, parsed, &names);
    if (r < 0)
        return r;
    one = c ? container_json(ctx, c, names) : figures_json(ctx, ended, "DONE", "", names);
    if (c && c->localizing && c->state == NM_CONTAINER_LOCALIZING)
        (void)json_object_set_new(
            json_object_get(one, "selvedge"), "localization",
            nm_web_progress(w->localization, c)); /* a NULL is refused, ignoring */
    return nm_web_json(ret, 200, json_pack("{s:o}", "container", one));
}

/* "{id}/{file}" of /ws/v1/node/containerlogs, "{id}/{user}[/{file}]" of /node/containerlogs. */
static int container_logs(const struct nm_web *w, const struct nm_web_caller *who, const char *rest,
                          bool with_user, const struct sv_http_request *req,
                          struct sv_http_response *ret)
{
    char id[YARN_ID_TEXT_MAX];
    struct yarn_container_id parsed;
    const char *slash = container_of_path(rest, id, &parsed), *file;

    if (!slash)
        return nm_web_exception(ret, 400, "BadRequestException", "Invalid container id");
    file = *slash ? slash + 1 : slash;
    if (!may_view_container(w->ctx, who, parsed))
        return with_user ? forbidden(who, id, ret)
                         : unseen(w->ctx, who, parsed, id, file, req, ret);
    if (with_user) {
        file = strchrnul(file, '/');
        file += *file ? 1 : 0;
    }
    if (!*file)
        return nm_web_log_list(w, req, parsed, ret);
    return with_user ? nm_web_log_file(w, parsed, file, false, req, ret)
                     : or_elsewhere(w->ctx, id, file, req, ret,
                                    nm_web_log_file(w, parsed, file, true, req, ret));
}

/* Pages about jobs: the path below /ws/v1/node, or, for bare files (?format=), below OLD_LOGS. */
static int of_jobs(const struct nm_web *w, const char *p, bool old,
                   const struct sv_http_request *req, struct sv_http_response *ret)
{
    const struct nm_context *ctx = w->ctx;
    struct nm_web_caller who;

    if (nm_web_identify(&ctx->conf->web, w->groups, req, &who) < 0)
        return nm_web_exception(ret, 403, "ForbiddenException",
                                "yarn.acl.enable is true and the request names no user: %s",
                                sv_streq(ctx->conf->web.auth.auth_type, "simple")
                                    ? "add user.name=NAME to the query"
                                    : "it needs a ticket or a valid cookie hadoop.auth");
    if (old)
        return container_logs(w, &who, p, true, req, ret);
    if (!strcmp(p, "/apps"))
        return apps(w, &who, req, ret);
    if (sv_has_prefix(p, "/apps/"))
        return app(ctx, &who, p + strlen("/apps/"), ret);
    if (!strcmp(p, "/containers"))
        return containers(w, &who, req, ret);
    if (sv_has_prefix(p, "/containers/"))
        return container(w, &who, p + strlen("/containers/"), req, ret);
    if (sv_has_prefix(p, "/containerlogs/"))
        return container_logs(w, &who, p + strlen("/containerlogs/"), false, req, ret);
    return 0; /* 404 */
}

/* malloc'd: the path without trailing slashes, which links of Hadoop's and Spark's pages have
 * before the query. */
static char *trimmed(const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return strndup(path, n);
}

static int answer(const struct nm_web *w, const struct sv_http_request *req,
                  struct sv_http_response *ret)
{
    _cleanup_free_ char *path = trimmed(req->path);
    const char *p = path;
    int r;

    if (!p)
        return -ENOMEM;
    r = sv_has_prefix(p, ROOT) ? nm_rest_check(req, p + strlen(ROOT), ret) : 1;
    if (r <= 0)
        return r;
    if (strcmp(req->method, "GET") != 0 && strcmp(req->method, "HEAD") != 0) {
        ret->status = 405;
        return 0;
    }
    if (!strcmp(p, "/")) {
        ret->location = strdup("/node");
        ret->status = 302;
        return ret->location ? 0 : -ENOMEM;
    }
    if (nm_web_metrics(w, req, ret, &r))
        return r;
    if (!strcmp(p, "/logLevel"))
        return sv_log_level_answer(
            &nm_page_site, &w->ctx->conf->web.auth, w->groups,
            "set selvedge.nodemanager.log.level, and reload the daemon's unit", req, ret);
    if (nm_page_takes(p, req))
        return nm_page(w, p, req, ret);
    if (!strcmp(p, "/conf"))
        return sv_conf_answer(w->ctx->conf->conf, req, ret);
    if (sv_has_prefix(p, NM_EXEC_PATH))
        return nm_web_exec(w, p + strlen(NM_EXEC_PATH), req, ret);
    if (sv_has_prefix(p, OLD_LOGS))
        return of_jobs(w, p + strlen(OLD_LOGS), true, req, ret);
    if (!sv_has_prefix(p, ROOT))
        return 0; /* 404 */
    p += strlen(ROOT);
    if (!*p || !strcmp(p, "/info"))
        return nm_web_json(ret, 200, node_info(w, req));
    if (!strcmp(p, "/auxiliaryservices"))
        return nm_web_json(ret, 200, aux_services(w->aux));
    if (sv_has_prefix(p, "/resources/"))
        return nm_web_resource(w, p + strlen("/resources/"), ret);
    return of_jobs(w, p, false, req, ret);
}

/* Discards an answer that was made without a caller's groups, which are being looked up. */
int nm_web_handle(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata)
{
    const struct nm_web *w = userdata;
    int r;

    ret->xml = sv_xml_accepted(sv_http_header(req, "Accept"));
    r = answer(w, req, ret);
    return sv_groups_missed(w->groups) ? -EAGAIN : r;
}
