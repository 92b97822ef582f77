/* See call.h. */
#include "client/service/call.h"

#include <errno.h>
#include <string.h>

#include "client/core/options.h"
#include "client/core/rm-rest.h"
#include "common/str.h"
#include "service/definition/definition.h"

#define PREFIX "/app/v1/services"
#define ADDRESS_KEY "yarn.service.api-server.address"
#define ANSWER_MAX ((size_t)33 << 20) /* above the server's SVC_ANSWER_MAX */
#define PATIENCE_MS 120000            /* above selvedge.services.request-timeout, by default 60 s */

int cli_service_name(const struct cli_ctx *ctx, const char *name)
{
    if (svc_name_valid(name))
        return 0;
    (void)cli_fail("%s: %s: a service's name has lower-case letters, digits and -, a letter first, "
                   "at most %d bytes",
                   ctx->command->name, name, SVC_NAME_MAX);
    return 2;
}

int cli_service_begin(struct cli_ctx *ctx, int argc, char **argv, const struct cli_list *list,
                      int min, int max)
{
    int code;

    ctx->web_only = true;
    code = cli_option_begin(ctx, argc, argv, list, min, max ? max : argc, NULL);
    if (code != 0)
        return code;
    ctx->patience = sd_event_source_disable_unref(ctx->patience); /* that of the RPC */
    cli_fetch_patience(ctx->fetch, PATIENCE_MS);
    return 0;
}

/* ---- Failures ---- */

/* Parts of answers, and what to do about each; "%s": the service's name. */
static const struct {
    const char *said, *remedy;
} remedies[] = {
    { "already taken", "selvedge service status %s describes it if it is yours; else choose "
                       "another name" },
    { "is at ACCEPTED", "its master does not run yet: selvedge service status %s tells when" },
    { "can only be invoked when service is running", "selvedge service start %s starts it" },
    { "may be not submitted", "selvedge service start %s starts it" },
    { "is not known any more", "selvedge service start %s starts it" },
    { "is already stopped", "selvedge service start %s starts it again" },
    { "because it already exists", "it runs; selvedge service stop %s ends it" },
    { "is still running", "selvedge service stop --wait %s ends it first" },
    { "upgrade is disabled", "yarn.service.upgrade.enabled=true allows it, where the API runs" },
    { "when service is upgrading", "selvedge service upgrade --finalize %s or --cancel ends the "
                                   "upgrade" },
    { "when service is STABLE", "selvedge service status %s tells when it is" },
    { "nothing to upgrade", "give the new definition another version than %s has" },
    { "has not been initiated", "selvedge service upgrade %s FILE begins one" },
    { "not upgrading", "selvedge service upgrade %s FILE begins an upgrade" },
    { "does not need an upgrade",
      "selvedge service instances --states NEEDS_UPGRADE %s lists those "
      "that do" },
    { "max-per-user", "selvedge service destroy removes one" },
    { "put.enabled", "the cluster's administrator has switched changes over HTTP off" },
};

static const char *said_in(const json_t *answer)
{
    const json_t *remote = json_object_get(answer, "RemoteException");
    const char *text = cli_service_text(answer, "diagnostics");

    if (!*text)
        text = cli_service_text(answer, "message");
    return *text ? text : cli_service_text(remote, "message");
}

/* Without the full stop that many of Hadoop's texts end with. */
static int length_of(const char *said)
{
    size_t n = SV_MIN(strlen(said), (size_t)2000);

    while (n > 0 && strchr(". ", said[n - 1]))
        n--;
    return (int)n;
}

static void remedy_of(const char *said, const char *name, char *ret, size_t size)
{
    snprintf(ret, size, "selvedge service status %s shows its state", name);
    for (size_t i = 0; i < SV_ARRAY_LEN(remedies); i++) {
        const char *text = remedies[i].remedy, *at = strstr(text, "%s");

        if (!strstr(said, remedies[i].said))
            continue;
        snprintf(ret, size, "%.*s%s%s", (int)(at ? at - text : (ptrdiff_t)strlen(text)), text,
                 at ? name : "", at ? at + 2 : "");
        return;
    }
}

/* Not every route says 404. */
static bool is_absent(const char *said)
{
    return strstr(said, "File does not exist") || sv_has_suffix(said, " doesn't exist");
}

int cli_service_refused(const struct cli_ctx *ctx, int status, const json_t *answer,
                        const char *why)
{
    const char *name = ctx->subject ? ctx->subject : "", *said = said_in(answer);
    char remedy[300];

    if (status < 0)
        return cli_fail("%s: the services API does not answer: %s; it is at the ResourceManager's "
                        "web address with yarn.webapp.api-service.enable, else at " ADDRESS_KEY,
                        name, why ? why : strerror(-status));
    if (status == 401)
        return cli_fail("%s: the services API wants to know who calls: kinit gets a Kerberos "
                        "ticket, klist shows it",
                        name);
    if (!*said)
        return cli_fail("%s: HTTP status %d, and no answer of the services API; "
                        "yarn.webapp.api-service.enable makes the ResourceManager serve it, "
                        "else " ADDRESS_KEY " names its server",
                        name, status);
    if (status == 404 || is_absent(said))
        return cli_fail("%s: %s has no service of this name; selvedge ps --all --type yarn-service "
                        "lists services",
                        name, ctx->user);
    if (status == 503)
        return cli_fail("%s: %s", name, said); /* which is a remedy */
    remedy_of(said, name, remedy, sizeof(remedy));
    return cli_fail("%s: %.*s; %s", name, length_of(said), said, remedy);
}

/* ---- Requests ---- */

struct call {
    struct cli_ctx *ctx;
    cli_service_fn fn;
    void *userdata;
};

static void on_answer(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct call *k = userdata;
    json_t *answer = status > 0 ? json_loadb(body, len, 0, NULL) : NULL;

    if (status == -ECANCELED) /* the program ends */
        ;
    else if (status >= 200 && status < 300 && (answer || status == 204))
        k->fn(answer, k->userdata);
    else
        cli_stop(k->ctx, cli_service_refused(k->ctx, status, answer, why));
    json_decref(answer);
    free(k);
}

/* The server's address, in `buf`; NULL: it is to be found at the ResourceManager's. An address of
 * all interfaces is one to listen at, and names no host. */
static const char *server_of(struct sv_conf *conf, char *buf, size_t size)
{
    const char *relayed = sv_conf_raw(conf, "yarn.webapp.api-service.enable");
    const char *address = sv_conf_raw(conf, ADDRESS_KEY);
    bool b = false;

    if ((relayed && sv_parse_bool(relayed, &b) == 0 && b) || !address || !*address ||
        *address == ':' || sv_has_prefix(address, "0.0.0.0") || sv_has_prefix(address, "[::]"))
        return NULL;
    snprintf(buf, size, "%s%s", address, strchr(address, ':') ? "" : ":9191");
    return buf;
}

static int send(struct cli_ctx *ctx, const char *method, const char *path, const char *query,
                const char *json, cli_fetch_fn fn, void *userdata)
{
    char server[300];
    struct cli_rest q = { .address = server_of(ctx->conf, server, sizeof(server)),
                          .method = method,
                          .path = path,
                          .query = query,
                          .json = json,
                          .max = ANSWER_MAX };

    return cli_rm_rest(ctx, &q, fn, userdata);
}

void cli_service_call(struct cli_ctx *ctx, const struct cli_service_request *q, cli_service_fn fn,
                      void *userdata)
{
    _cleanup_free_ char *path = NULL, *json = q->body ? json_dumps(q->body, JSON_COMPACT) : NULL;
    bool all = strcmp(q->method, "POST") == 0;
    struct call *k = calloc(1, sizeof(*k));
    int r = k && (json || !q->body) ? 0 : -ENOMEM;

    json_decref(q->body);
    if (r == 0)
        r = sv_asprintf(&path, PREFIX "%s%s%s", all ? "" : "/", all ? "" : ctx->subject,
                        q->path ? q->path : "");
    if (r >= 0) {
        *k = (struct call){ ctx, fn, userdata };
        r = send(ctx, q->method, path, q->query, json, on_answer, k);
    }
    if (r >= 0)
        return;
    free(k);
    cli_stop(ctx, cli_fail("%s: %s", ctx->subject, strerror(-r)));
}

int cli_service_get(struct cli_ctx *ctx, cli_fetch_fn fn, void *userdata)
{
    _cleanup_free_ char *path = NULL;
    int r = sv_asprintf(&path, PREFIX "/%s", ctx->subject);

    return r < 0 ? r : send(ctx, "GET", path, "", NULL, fn, userdata);
}

/* ---- Answers ---- */

const char *cli_service_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

json_t *cli_service_json(const json_t *object, const char *key)
{
    const char *text = cli_service_text(object, key);

    return *text ? cli_json_string(text) : json_null();
}

void cli_service_said(const struct cli_ctx *ctx, const json_t *answer)
{
    const char *text = cli_service_text(answer, "diagnostics");
    char shown[2048];

    if (ctx->json) {
        cli_output_json(
            &ctx->output,
            json_pack("{s:s, s:o}", "service", ctx->subject, "diagnostics", cli_json_string(text)),
            stdout);
    } else if (!ctx->output.quiet && *text) {
        sv_escape(shown, sizeof(shown), text);
        printf("%s\n", shown);
    }
}
