/* See rest.h. */
#include "service/launcher/rest.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/own-user.h"
#include "common/str.h"
#include "service/api/uri.h"
#include "service/framework/bodies.h"
#include "service/framework/reader.h"
#include "service/launcher/acl.h"
#include "service/launcher/changes.h"
#include "service/launcher/print.h"
#include "service/launcher/user-exits.h"

struct run { /* one call */
    struct svc_lr *l;
    const struct svc_lr_call *c;
    struct svc_lr_answer *ret;
    struct sv_arena *a;
    struct svc_uri uri;
    const char *framework, *role, *container; /* of the path; "": none */
};

/* ---- Answers ---- */

#define WEB "WebApplicationException", "javax.ws.rs.WebApplicationException"
#define ORIGINAL "com.microsoft.frameworklauncher.common.exceptions."
static const struct {
    unsigned status;
    const char *name, *java;
} exceptions[] = {
    { 400, "BadRequestException", ORIGINAL "BadRequestException" },
    { 401, "SecurityException", "java.lang.SecurityException" },
    { 403, "AuthorizationException", ORIGINAL "AuthorizationException" },
    { 404, "NotFoundException", ORIGINAL "NotFoundException" },
    { 429, "ThrottledRequestException", ORIGINAL "ThrottledRequestException" },
    { 0, WEB },
};

/* `text` is taken; NULL: no memory. */
static void give_text(struct run *k, unsigned status, char *text)
{
    k->ret->status = text ? status : 503;
    k->ret->body = text;
    k->ret->len = text ? strlen(text) : 0;
}

static void give(struct run *k, unsigned status, json_t *o)
{
    give_text(k, status, o ? json_dumps(o, JSON_INDENT(2)) : NULL);
    json_decref(o);
}

/* A message begins with the exception's class, as Java's do. */
static void refuse_as(struct run *k, unsigned status, const char *name, const char *java,
                      const char *why)
{
    _cleanup_free_ char *text = NULL;

    if (sv_asprintf(&text, "%s: %s", java, why) < 0)
        text = NULL;
    give(k, status,
         text ? json_pack("{s:s, s:s, s:s}", "exception", name, "message", text, "javaClassName",
                          java)
              : NULL);
}

static void refuse(struct run *k, unsigned status, const char *why)
{
    size_t i = 0;

    while (exceptions[i].status && exceptions[i].status != status)
        i++;
    refuse_as(k, status, exceptions[i].name, exceptions[i].java, why);
}

/* Jackson's refusals before the rules are looked at: values of other types, and no JSON. */
static const char *misformed(const char *bad)
{
    static const struct {
        const char *words, *java;
    } rows[] = {
        { "line ", "com.fasterxml.jackson.core.JsonParseException" },
        { ": must be an object", "com.fasterxml.jackson.databind.JsonMappingException" },
        { ": must be a list", "com.fasterxml.jackson.databind.JsonMappingException" },
        { ": must be a text", "com.fasterxml.jackson.databind.JsonMappingException" },
        { ": must be one of ", "com.fasterxml.jackson.databind.exc.InvalidFormatException" },
        { ": must be a number", "com.fasterxml.jackson.databind.exc.InvalidFormatException" },
        { ": must be an integer", "com.fasterxml.jackson.databind.exc.InvalidFormatException" },
        { ": must be true or false", "com.fasterxml.jackson.databind.exc.InvalidFormatException" },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(rows); i++)
        if (*rows[i].words == ':' ? strstr(bad, rows[i].words) != NULL
                                  : sv_has_prefix(bad, rows[i].words))
            return rows[i].java;
    return NULL;
}

/* One line: the violations, parted by commas. */
static void refuse_violations(struct run *k, const char *bad)
{
    struct sv_buf b = SV_BUF_INIT(4 * SVC_FW_VIOLATIONS_MAX);
    int r = sv_buf_put_str(&b, "javax.validation.ConstraintViolationException: ");

    for (const char *at = bad; r == 0 && *at; at += strcspn(at, "\n") + 1)
        r = sv_buf_printf(&b, "%s%.*s", at == bad ? "" : ", ", (int)strcspn(at, "\n"), at);
    if (r == 0)
        r = sv_buf_put(&b, "", 1);
    if (r == 0)
        refuse(k, 400, (const char *)b.data);
    else
        refuse(k, 503, "out of memory");
    sv_buf_free(&b);
}

/* The result of reading a body; true: it is well. */
static bool is_well(struct run *k, int r, const char *bad)
{
    const char *java = r == -EINVAL ? misformed(bad) : NULL;

    if (java)
        refuse_as(k, 400, strrchr(java, '.') + 1, java, bad);
    else if (r == -EINVAL)
        refuse_violations(k, bad);
    else if (r == -EFBIG)
        refuse(k, 400, "the body is too large");
    else if (r < 0)
        refuse(k, 503, "out of memory");
    return r == 0;
}

/* `bad` is taken. */
static bool read_well(struct run *k, int r, char *bad)
{
    bool well = is_well(k, r, bad);

    free(bad);
    return well;
}

/* The body of a call that may be long: as it was read before, or in `own`, to be freed. */
static struct svc_lr_body *body_of(struct run *k, enum svc_lr_body_kind kind,
                                   struct svc_lr_body *own)
{
    if (k->c->read && k->c->read->kind == kind)
        return k->c->read;
    svc_lr_body_read(kind, k->c->body, k->c->body_len, k->l->settings->gpus, own);
    return own;
}

static void put_location(struct run *k)
{
    const char *host = k->c->host, *p = host ? host : "";

    while (*p && (isalnum((unsigned char)*p) || strchr(".-:[]", *p)))
        p++;
    if (!host || !*host || *p)
        host = "localhost";
    if (sv_asprintf(&k->ret->location, "http://%s%s", host, k->c->uri) < 0)
        k->ret->location = NULL;
}

/* The end of a change: the status, and where it has said why. */
static void answer_change(struct run *k, unsigned status, const char *const *why)
{
    if (status >= 300) {
        refuse(k, status, *why);
        return;
    }
    k->ret->status = status;
    if (strcmp(k->c->method, "PUT") == 0)
        put_location(k);
}

static bool name_well(struct run *k)
{
    char text[512];

    if (svc_fw_name_valid(k->framework))
        return true;
    (void)snprintf(text, sizeof(text), "Name [%.300s] " SVC_FW_NO_NAME, k->framework);
    refuse(k, 400, text);
    return false;
}

static bool allowed(struct run *k, const char *asked)
{
    const struct svc_framework *f = svc_lr_find(&k->l->all, k->framework);
    const char *why;
    unsigned status =
        svc_lr_may_change(k->l, k->c, k->framework, asked, f ? f->d->user : NULL, &why);

    if (status)
        refuse(k, status, why);
    return status == 0;
}

static bool may_administer(struct run *k)
{
    const char *why;
    unsigned status = svc_lr_may_administer(k->l, k->c, &why);

    if (status)
        refuse(k, status, why);
    return status == 0;
}

static bool client_well(struct run *k, const char *text, enum svc_lr_client *ret)
{
    if (!text || svc_lr_client_named(text, ret) == 0)
        return true;
    refuse(k, 400,
           "LaunchClientType must be one of UNKNOWN, LIB, DATA_DEPLOYMENT, "
           "APPLICATION_MASTER, CLI, WEB_UI");
    return false;
}

/* ---- Changes of frameworks ---- */

/* A proven caller who names no user means itself. */
static bool set_user(struct run *k, struct svc_lr_body *b)
{
    if (k->c->caller && b->text && strcmp(b->d->user, "default") == 0 &&
        svc_fw_name_valid(k->c->caller) && svc_lr_body_set_user(b, k->c->caller) < 0) {
        refuse(k, 503, "out of memory");
        return false;
    }
    if (!b->text)
        refuse(k, 503, "out of memory");
    return b->text != NULL;
}

static void put_read(struct run *k, struct svc_lr_body *b)
{
    struct svc_lr_put p = { .name = k->framework,
                            .host = k->c->peer,
                            .user = k->c->caller          ? k->c->caller
                                    : k->l->settings->acl ? svc_lr_caller(k->c)
                                                          : NULL };
    const char *why = "";
    unsigned status;

    if (!set_user(k, b) || !allowed(k, b->d->user) || !client_well(k, k->c->client_type, &p.client))
        return;
    p.arena = b->arena;
    p.d = b->d;
    p.text = b->text;
    status = svc_lr_put(k->l, &p, &why);
    b->arena = p.arena; /* NULL where they were taken */
    b->text = p.text;
    answer_change(k, status, &why);
}

static void put_framework(struct run *k)
{
    struct svc_lr_body own = { 0 }, *b;

    if (!name_well(k))
        return;
    b = body_of(k, SVC_LR_BODY_FRAMEWORK, &own);
    if (is_well(k, b->status, b->bad))
        put_read(k, b);
    svc_lr_body_free(&own);
}

static void delete_framework(struct run *k)
{
    const char *why = "";

    if (name_well(k) && allowed(k, NULL))
        answer_change(k, svc_lr_delete(k->l, k->framework, &why), &why);
}

static void put_number(struct run *k)
{
    char *bad = NULL;
    const char *why = "";
    int32_t n = 0;
    int r;

    if (!name_well(k))
        return;
    r = svc_fw_read_task_number(k->c->body, k->c->body_len, &n, &bad);
    if (read_well(k, r, bad) && allowed(k, NULL))
        answer_change(k, svc_lr_set_number(k->l, k->framework, k->role, n, &why), &why);
}

static void put_execution(struct run *k)
{
    char *bad = NULL;
    const char *why = "";
    bool stop = false;
    int r;

    if (!name_well(k))
        return;
    r = svc_fw_read_execution(k->c->body, k->c->body_len, &stop, &bad);
    if (read_well(k, r, bad) && allowed(k, NULL))
        answer_change(k, svc_lr_set_execution(k->l, k->framework, stop, &why), &why);
}

static void put_progress(struct run *k)
{
    char *bad = NULL;
    const char *why = "";
    double n = 0;
    int r;

    if (!name_well(k))
        return;
    r = svc_fw_read_progress(k->c->body, k->c->body_len, &n, &bad);
    if (read_well(k, r, bad) && allowed(k, NULL))
        answer_change(k, svc_lr_set_progress(k->l, k->framework, n, &why), &why);
}

static void put_migrate(struct run *k)
{
    char *bad = NULL;
    const char *why = "";
    int r;

    if (!name_well(k))
        return;
    r = svc_fw_read_migrate(k->c->body, k->c->body_len, &bad);
    if (!read_well(k, r, bad) || !allowed(k, NULL))
        return;
    if (!svc_fw_name_valid(k->container))
        refuse(k, 400, "the container's id is malformed");
    else
        answer_change(k, svc_lr_migrate(k->l, k->framework, k->container, &why), &why);
}

static void delete_migrate(struct run *k)
{
    const char *why = "";

    if (name_well(k) && allowed(k, NULL))
        answer_change(k, svc_lr_unmigrate(k->l, k->framework, k->container, &why), &why);
}

/* ---- Views of frameworks ---- */

static const struct svc_framework *found(struct run *k)
{
    const struct svc_framework *f = svc_lr_find(&k->l->all, k->framework);

    if (!f)
        refuse(k, 404, "there is no such framework");
    return f;
}

static void give_pieces(struct run *k, struct svc_lr_pieces *p)
{
    k->ret->status = 200;
    k->ret->pieces = p;
    if (!p)
        refuse(k, 503, "out of memory");
}

static void get_frameworks(struct run *k)
{
    const char *user = svc_uri_value(&k->uri, "UserName");
    const char *type = svc_uri_value(&k->uri, "LaunchClientType");
    enum svc_lr_client client = SVC_LR_UNKNOWN;

    if (user && *user && !svc_fw_name_valid(user))
        refuse(k, 400, "UserName " SVC_FW_NO_NAME);
    else if (client_well(k, type && *type ? type : NULL, &client))
        give_pieces(k, svc_lr_pieces_list(k->l, user && *user ? user : NULL,
                                          type && *type ? &client : NULL));
}

static void get_framework(struct run *k)
{
    const struct svc_framework *f = found(k);

    if (f)
        give_pieces(k, svc_lr_pieces_of(k->l, f, SVC_LR_INFO, NULL));
}

static void get_aggregated_status(struct run *k)
{
    const struct svc_framework *f = found(k);

    if (f)
        give_pieces(k, svc_lr_pieces_of(k->l, f, SVC_LR_AGGREGATED, NULL));
}

static void get_status(struct run *k)
{
    const struct svc_framework *f = found(k);

    if (f)
        give(k, 200, svc_lr_framework_status(f));
}

static void get_request(struct run *k)
{
    const struct svc_framework *f = found(k);

    if (f)
        give_text(k, 200, svc_lr_framework_request(f));
}

static void get_aggregated_request(struct run *k)
{
    const struct svc_framework *f = found(k);

    if (f)
        give_text(k, 200, svc_lr_aggregated_request(f));
}

/* ---- The launcher ---- */

static void get_launcher_request(struct run *k)
{
    give(k, 200,
         json_pack("{s:O, s:O, s:O, s:O}", "launchingDataDeploymentVersion", k->l->launching,
                   "launchedDataDeploymentVersion", k->l->launched, "clusterConfiguration",
                   k->l->cluster, "aclConfiguration", k->l->acl));
}

static void get_launcher_status(struct run *k)
{
    const char *user = sv_own_user();

    give(k, 200,
         json_pack("{s:o, s:{s:o}, s:{s:s}, s:b, s:b, s:s?, s:s?}", "launcherConfiguration",
                   svc_lr_settings_json(k->l->settings), "userContainerExitSpec", "spec",
                   svc_lr_user_exits(k->l->settings->exits), "loggedInUser", "name",
                   user ? user : "UNKNOWN", "hadoopLibrarySupportsGpu", k->l->settings->gpus,
                   "hadoopLibrarySupportsPort", false, "serviceHost", k->l->host, "serviceIp",
                   k->l->ip));
}

static unsigned set_meta(struct run *k, enum svc_lr_body_kind kind, const char *key,
                         const char **ret_why)
{
    struct svc_lr_body own = { 0 }, *b = body_of(k, kind, &own);
    unsigned status = 0;

    if (is_well(k, b->status, b->bad) && may_administer(k)) {
        status = svc_lr_set_meta(k->l, key, b->value, ret_why);
        b->value = NULL;
    }
    svc_lr_body_free(&own);
    return status;
}

static void put_cluster(struct run *k)
{
    const char *why = "";
    unsigned status = set_meta(k, SVC_LR_BODY_CLUSTER, "cluster", &why);

    if (status)
        answer_change(k, status, &why);
}

static void get_cluster(struct run *k)
{
    give(k, 200, json_incref(k->l->cluster));
}

static void put_acl(struct run *k)
{
    const char *why = "";
    unsigned status = set_meta(k, SVC_LR_BODY_ACL, "acl", &why);

    if (status)
        answer_change(k, status == 202 ? 200 : status, &why); /* as the launcher */
}

static void get_acl(struct run *k)
{
    give(k, 200, json_incref(k->l->acl));
}

static void put_data_version(struct run *k)
{
    char *bad = NULL, *version = NULL;
    const char *why = "";
    bool launched = false;
    int r = svc_fw_read_data_version(k->c->body, k->c->body_len, &launched, &version, &bad);

    if (read_well(k, r, bad) && may_administer(k)) {
        json_t *v = json_string(version);
        unsigned status =
            v ? svc_lr_set_meta(k->l, launched ? "launched" : "launching", v, &why) : 503;

        answer_change(k, status == 202 ? 200 : status, &why); /* as the launcher */
    }
    free(version);
}

static void get_root(struct run *k)
{
    char *text = NULL;

    if (sv_asprintf(&text, "Active at %s: %s", k->l->host, k->l->ip) < 0) {
        refuse(k, 503, "out of memory");
        return;
    }
    k->ret->status = 200;
    k->ret->plain = true;
    k->ret->body = text;
    k->ret->len = strlen(text);
}

/* Its log is the system's: there are no files. */
static void get_logs(struct run *k)
{
    give(k, 200, json_array());
}

static void get_log(struct run *k)
{
    refuse(k, 404, "there is no such log: this server logs to the system's journal");
}

/* ---- Routes ---- */

#define F "\1" /* any framework, role, container, name */
#define R "\2"
#define C "\3"
#define ANY "\4"

static const struct route {
    const char *method;
    const char *parts[6]; /* behind v1 */
    void (*run)(struct run *k);
} routes[] = {
    { "GET", { 0 }, get_root },
    { "GET", { "Frameworks" }, get_frameworks },
    { "PUT", { "Frameworks", F }, put_framework },
    { "DELETE", { "Frameworks", F }, delete_framework },
    { "GET", { "Frameworks", F }, get_framework },
    { "GET", { "Frameworks", F, "FrameworkStatus" }, get_status },
    { "GET", { "Frameworks", F, "AggregatedFrameworkStatus" }, get_aggregated_status },
    { "GET", { "Frameworks", F, "FrameworkRequest" }, get_request },
    { "GET", { "Frameworks", F, "AggregatedFrameworkRequest" }, get_aggregated_request },
    { "PUT", { "Frameworks", F, "TaskRoles", R, "TaskNumber" }, put_number },
    { "PUT", { "Frameworks", F, "ExecutionType" }, put_execution },
    { "PUT", { "Frameworks", F, "MigrateTasks", C }, put_migrate },
    { "DELETE", { "Frameworks", F, "MigrateTasks", C }, delete_migrate },
    { "PUT", { "Frameworks", F, "ApplicationProgress" }, put_progress },
    { "GET", { "LauncherRequest" }, get_launcher_request },
    { "GET", { "LauncherStatus" }, get_launcher_status },
    { "PUT", { "LauncherRequest", "DataDeploymentVersion" }, put_data_version },
    { "PUT", { "LauncherRequest", "ClusterConfiguration" }, put_cluster },
    { "GET", { "LauncherRequest", "ClusterConfiguration" }, get_cluster },
    { "PUT", { "LauncherRequest", "AclConfiguration" }, put_acl },
    { "GET", { "LauncherRequest", "AclConfiguration" }, get_acl },
    { "GET", { "Logs" }, get_logs },
    { "GET", { "Logs", ANY }, get_log },
};

static bool matches(const struct route *r, struct run *k)
{
    size_t n = 0;

    while (n < SV_ARRAY_LEN(r->parts) && r->parts[n])
        n++;
    if (k->uri.n_parts != n + 1)
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *want = r->parts[i], *part = k->uri.parts[i + 1];

        if (*want == *F)
            k->framework = part;
        else if (*want == *R)
            k->role = part;
        else if (*want == *C)
            k->container = part;
        else if (*want != *ANY && strcmp(want, part) != 0)
            return false;
    }
    return true;
}

static void answer(struct run *k)
{
    const char *method = strcmp(k->c->method, "HEAD") == 0 ? "GET" : k->c->method;
    bool known = false;

    for (size_t i = 0; i < SV_ARRAY_LEN(routes); i++) {
        if (!matches(&routes[i], k))
            continue;
        known = true;
        if (strcmp(routes[i].method, method) != 0)
            continue;
        if (strcmp(method, "PUT") == 0 && !k->c->is_json)
            refuse_as(k, 400, WEB, "Content-Type must be application/json");
        else if (strcmp(method, "PUT") == 0 && k->c->body_len == 0)
            refuse(k, 400, "Object is null");
        else if (strcmp(method, "PUT") == 0 && !k->c->read && k->c->read_max &&
                 k->c->body_len > k->c->read_max)
            refuse(k, 400, "the body is too large");
        else if (k->l->broken)
            refuse(k, 503, "the store of frameworks is down: try again later");
        else
            routes[i].run(k);
        return;
    }
    if (known) /* as the original: it has no 405 */
        refuse_as(k, 400, WEB, "the path has no such method");
    else
        refuse(k, 404, "there is no such path");
}

bool svc_lr_takes(const char *uri)
{
    return strcmp(uri, "/") == 0 || (sv_has_prefix(uri, "/v1") && strchr("/?", uri[3]));
}

void svc_lr_rest(struct svc_lr *l, const struct svc_lr_call *c, struct svc_lr_answer *ret)
{
    _cleanup_arena_ struct sv_arena *a = sv_arena_new(0);
    struct run k = {
        .l = l, .c = c, .ret = ret, .a = a, .framework = "", .role = "", .container = ""
    };
    const char *uri = strcmp(c->uri, "/") == 0 ? "/v1" : c->uri;

    *ret = (struct svc_lr_answer){ .status = 503 };
    if (!a)
        return;
    if (svc_uri_parse(a, uri, &k.uri) < 0)
        refuse(&k, 400, "the path is malformed");
    else
        answer(&k);
}
