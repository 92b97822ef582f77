/* See call.h. */
#include "client/framework/call.h"

#include <errno.h>
#include <string.h>

#include "client/core/options.h"
#include "client/http/node-url.h"
#include "common/str.h"
#include "service/framework/descriptor.h"
#include "wire/ipc/proxy.h"

#define PREFIX "/v1/Frameworks"
#define URL_KEY "selvedge.framework.web-server-address"
#define ADDRESS_KEY "yarn.service.api-server.address"
#define PORT "9191"
#define ANSWER_MAX ((size_t)256 << 20) /* all tasks of a framework */
#define PATIENCE_MS 60000

int cli_framework_name(const struct cli_ctx *ctx, const char *name)
{
    if (svc_fw_name_valid(name))
        return 0;
    (void)cli_fail("%s: %s: a framework's or task role's name has letters, digits and - . _ ~, "
                   "at most %d of them",
                   ctx->command->name, name, SVC_FW_NAME_MAX);
    return 2;
}

int cli_framework_begin(struct cli_ctx *ctx, int argc, char **argv, const struct cli_list *list,
                        int min, int max)
{
    _cleanup_free_ char *user = NULL;
    int code, r;

    ctx->web_only = true;
    code = cli_option_begin(ctx, argc, argv, list, min, max ? max : argc, NULL);
    if (code == 0 && ctx->subject)
        code = cli_framework_name(ctx, ctx->subject);
    if (code != 0)
        return code;
    ctx->patience = sd_event_source_disable_unref(ctx->patience); /* that of the RPC */
    cli_fetch_patience(ctx->fetch, PATIENCE_MS);
    r = sv_asprintf(&user, "UserName: %s", ctx->user);
    if (r >= 0)
        r = cli_fetch_header(ctx->fetch, user);
    if (r >= 0)
        r = cli_fetch_header(ctx->fetch, "LaunchClientType: CLI");
    return r < 0 ? cli_fail("%s", strerror(-r)) : 0;
}

/* ---- Failures ---- */

/* Violations are lines; the message of another launcher may begin with a Java class. */
static void one_line(const char *said, char *ret, size_t size)
{
    size_t n = 0;

    for (; *said && n + 3 < size; said++) {
        if (*said != '\n')
            ret[n++] = *said;
        else if (said[1])
            n += (size_t)snprintf(ret + n, size - n, "; ");
    }
    ret[n] = '\0';
}

static const char *remedy_of(int status)
{
    switch (status) {
    case 400:
        return "docs/frameworks.md has the rules";
    case 403:
        return "its namespace, before the ~, decides who may: GET "
               "/v1/LauncherRequest/AclConfiguration";
    case 404:
        return "selvedge framework list shows those there are";
    case 410:
        return "give it another version";
    case 415:
        return "another program serves this address; " URL_KEY " names the launcher";
    case 429:
        return "fewer tasks, or selvedge framework delete of one that has ended";
    default:
        return "selvedge-services says more in its log";
    }
}

int cli_framework_refused(const struct cli_ctx *ctx, int status, const json_t *answer,
                          const char *why)
{
    const char *name = ctx->subject ? ctx->subject : "frameworks";
    const char *said = cli_member_text(answer, "message");
    char text[2048];

    if (status < 0)
        return cli_fail("%s: selvedge-services does not answer: %s; it is at " URL_KEY
                        ", else at " ADDRESS_KEY,
                        name, why ? why : strerror(-status));
    if (status == 401)
        return cli_fail("%s: selvedge-services wants to know who calls: kinit gets a Kerberos "
                        "ticket, klist shows it",
                        name);
    if (!*said && status == 404)
        return cli_fail("%s: there is no such framework, or no such task role; selvedge framework "
                        "list and status show those there are",
                        name);
    if (!*said)
        return cli_fail("%s: HTTP status %d without a reason; selvedge.framework.enabled makes "
                        "selvedge-services serve frameworks",
                        name, status);
    one_line(said, text, sizeof(text));
    return cli_fail("%s: %s; %s", name, text, remedy_of(status));
}

/* ---- Requests ---- */

struct call {
    struct cli_ctx *ctx;
    cli_framework_fn fn;
    void *userdata;
};

static void on_answer(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct call *k = userdata;
    json_t *answer = status > 0 ? json_loadb(body, len, 0, NULL) : NULL;

    if (status == -ECANCELED) /* the program ends */
        ;
    else if (status >= 200 && status < 300 && (answer || len == 0))
        k->fn(answer, k->userdata);
    else
        cli_stop(k->ctx, cli_framework_refused(k->ctx, status, answer, why));
    json_decref(answer);
    free(k);
}

/* The launcher's URL: of several servers, the one that answered last. */
static int url_of_list(const struct cli_ctx *ctx, const char *list, char **ret)
{
    const char *comma;
    size_t n;

    for (size_t i = 0; i < ctx->launcher && (comma = strchr(list, ',')); i++)
        list = comma + 1;
    n = strcspn(list, ",");
    return sv_asprintf(ret, "%.*s", (int)n - (n > 0 && list[n - 1] == '/'), list);
}

static size_t count_servers(const struct cli_ctx *ctx)
{
    const char *list = sv_conf_raw(ctx->conf, URL_KEY);
    size_t n = 1;

    for (; list && (list = strchr(list, ',')); list++)
        n++;
    return n;
}

/* An address of all interfaces is one to listen at, and names no host: then the launcher is looked
 * for beside the first ResourceManager. */
static int base_of(struct cli_ctx *ctx, char **ret)
{
    const char *url = sv_conf_raw(ctx->conf, URL_KEY);
    const char *address = sv_conf_raw(ctx->conf, ADDRESS_KEY), *colon;
    struct ipc_proxy_config rm;
    int r;

    if (url && *url)
        return url_of_list(ctx, url, ret);
    colon = address ? strrchr(address, ':') : NULL;
    if (address && *address && address != colon && !sv_has_prefix(address, "0.0.0.0") &&
        !sv_has_prefix(address, "[::]"))
        return sv_asprintf(ret, "%s://%s%s", cli_scheme(), address, colon ? "" : ":" PORT);
    r = yarn_rm_proxy_config(ctx->conf, YARN_RM_CLIENTS, &rm, NULL);
    if (r < 0)
        return r;
    return sv_asprintf(ret, "%s://%s:%s", cli_scheme(),
                       rm.n_servers > 0 ? rm.servers[0].host : "localhost",
                       colon ? colon + 1 : PORT);
}

/* A request, which is tried at each server: one of them is active. */
struct attempt {
    struct cli_ctx *ctx;
    char *method, *rest, *json; /* the second: of the URL */
    size_t left;                /* servers */
    cli_fetch_fn fn;
    void *userdata;
};

static void attempt_free(struct attempt *a)
{
    free(a->method);
    free(a->rest);
    free(a->json);
    free(a);
}

static void on_attempt(int status, const char *body, size_t len, const char *why, void *userdata);

static int try(struct attempt *a)
{
    _cleanup_free_ char *base = NULL, *url = NULL;
    int r = base_of(a->ctx, &base);

    if (r >= 0)
        r = sv_asprintf(&url, "%s%s", base, a->rest);
    return r < 0
               ? r
               : cli_fetch_send(a->ctx->fetch, a->method, url, a->json, ANSWER_MAX, on_attempt, a);
}

/* Each request has the same effect twice as once. */
static void on_attempt(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct attempt *a = userdata;
    bool elsewhere = status == 307 || status == 503 || (status < 0 && status != -ECANCELED);

    if (elsewhere && --a->left > 0) {
        a->ctx->launcher = (a->ctx->launcher + 1) % count_servers(a->ctx);
        if (try(a) >= 0)
            return;
    }
    a->fn(status, body, len, why, a->userdata);
    attempt_free(a);
}

static int send(struct cli_ctx *ctx, const char *method, const char *path, const char *query,
                const char *json, cli_fetch_fn fn, void *userdata)
{
    _cleanup_free_ char *user = NULL;
    struct attempt *a = calloc(1, sizeof(*a));
    int r = a ? cli_query_user(ctx->user, &user) : -ENOMEM;

    if (r >= 0) {
        *a = (struct attempt){ .ctx = ctx,
                               .method = strdup(method),
                               .json = json ? strdup(json) : NULL,
                               .left = count_servers(ctx),
                               .fn = fn,
                               .userdata = userdata };
        r = sv_asprintf(&a->rest, PREFIX "%s%s%s", path, user, query ? query : "");
        if (!a->method || (json && !a->json))
            r = -ENOMEM;
    }
    if (r >= 0)
        r = try(a);
    if (r < 0 && a)
        attempt_free(a);
    return r;
}

void cli_framework_call(struct cli_ctx *ctx, const struct cli_framework_request *q,
                        cli_framework_fn fn, void *userdata)
{
    _cleanup_free_ char *json = q->body ? json_dumps(q->body, JSON_COMPACT) : NULL;
    struct call *k = calloc(1, sizeof(*k));
    int r = k && (json || !q->body) ? 0 : -ENOMEM;

    json_decref(q->body);
    if (r == 0) {
        *k = (struct call){ ctx, fn, userdata };
        r = send(ctx, q->method, q->path, q->query, json, on_answer, k);
    }
    if (r >= 0)
        return;
    free(k);
    cli_stop(ctx, cli_fail("%s: %s", ctx->subject ? ctx->subject : "frameworks", strerror(-r)));
}

void cli_framework_info(struct cli_ctx *ctx, cli_framework_fn fn, void *userdata)
{
    _cleanup_free_ char *path = NULL;

    if (sv_asprintf(&path, "/%s", ctx->subject) < 0)
        cli_stop(ctx, cli_fail("out of memory"));
    else
        cli_framework_call(ctx, &(struct cli_framework_request){ .method = "GET", .path = path },
                           fn, userdata);
}

int cli_framework_poll(struct cli_ctx *ctx, cli_fetch_fn fn, void *userdata)
{
    _cleanup_free_ char *path = NULL;
    int r = sv_asprintf(&path, "/%s", ctx->subject);

    return r < 0 ? r : send(ctx, "GET", path, NULL, NULL, fn, userdata);
}

/* ---- Answers ---- */

const json_t *cli_member(const json_t *object, const char *path)
{
    char key[64];

    while (object && *path) {
        size_t n = strcspn(path, ".");

        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        object = json_object_get(object, key);
        path += n + (path[n] == '.');
    }
    return json_is_null(object) ? NULL : object;
}

const char *cli_member_text(const json_t *object, const char *path)
{
    const char *text = json_string_value(cli_member(object, path));

    return text ? text : "";
}

json_t *cli_member_json(const json_t *object, const char *path)
{
    const json_t *v = cli_member(object, path);

    if (json_is_string(v))
        return *json_string_value(v) ? cli_json_string(json_string_value(v)) : json_null();
    return json_is_number(v) || json_is_boolean(v) ? json_incref((json_t *)(uintptr_t)v)
                                                   : json_null();
}
