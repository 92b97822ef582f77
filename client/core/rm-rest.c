/* See rm-rest.h. Responses are bounded by fetch.c. */
#include "client/core/rm-rest.h"

#include <errno.h>
#include <string.h>

#include "client/http/node-url.h"
#include "common/str.h"
#include "wire/ipc/proxy.h"

struct rest_get {
    struct cli_ctx *ctx;
    struct ipc_proxy_config rm;
    size_t next;         /* next ResourceManager to try */
    const char *method;  /* a literal */
    char *address;       /* instead of a ResourceManager's, or NULL */
    char *target, *json; /* path and query; the body, or NULL */
    size_t max;          /* bytes of an answer */
    cli_fetch_fn fn;
    void *userdata;
};

static void rest_get_free(struct rest_get *g)
{
    free(g->address);
    free(g->target);
    free(g->json);
    free(g);
}

/* Returns "host:port" of the web port: from its key, suffixed with the id if there are several
 * ResourceManagers, else the host of the client port and 8088, or 8090 with HTTPS. */
static void web_address(struct sv_conf *conf, const struct ipc_proxy_server *server, char *ret,
                        size_t size)
{
    char name[160];
    bool tls = sv_streq(cli_scheme(), "https");
    const struct sv_conf_key key = { .name = name, .type = SV_CONF_STRING };
    const char *value = NULL, *port = tls ? ":8090" : ":8088";

    snprintf(name, sizeof(name), "yarn.resourcemanager.webapp.%saddress%s%s", tls ? "https." : "",
             *server->id ? "." : "", server->id);
    if (sv_conf_string(conf, &key, &value, NULL) >= 0 && value)
        snprintf(ret, size, "%s%s", value, strchr(value, ':') ? "" : port);
    else
        snprintf(ret, size, "%s%s", server->host, port);
}

static int try_next(struct rest_get *g);

static bool is_elsewhere(const struct rest_get *g, int status)
{
    bool reads = strcmp(g->method, "GET") == 0;

    if (status >= 300 && status < 400) /* a standby's */
        return true;
    return reads ? status == 503 || (status < 0 && status != -ECANCELED) : status == -ECONNREFUSED;
}

static void on_answer(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct rest_get *g = userdata;

    if (is_elsewhere(g, status) && g->next < g->rm.n_servers && try_next(g) >= 0)
        return;
    g->fn(status, body, len, why, g->userdata);
    rest_get_free(g);
}

static int try_next(struct rest_get *g)
{
    _cleanup_free_ char *url = NULL;
    char address[300];
    int r;

    if (!g->address)
        web_address(g->ctx->conf, &g->rm.servers[g->next++], address, sizeof(address));
    r = sv_asprintf(&url, "%s://%s%s", cli_scheme(), g->address ? g->address : address, g->target);
    if (r < 0)
        return r;
    return strcmp(g->method, "GET") == 0
               ? cli_fetch_get(g->ctx->fetch, url, g->max, on_answer, g)
               : cli_fetch_send(g->ctx->fetch, g->method, url, g->json, g->max, on_answer, g);
}

/* Takes `target`. */
static int begin(struct cli_ctx *ctx, const struct cli_rest *q, char *target, cli_fetch_fn fn,
                 void *userdata)
{
    struct rest_get *g = calloc(1, sizeof(*g));
    int r;

    if (!g) {
        free(target);
        return -ENOMEM;
    }
    g->ctx = ctx;
    g->fn = fn;
    g->userdata = userdata;
    g->method = q->method;
    g->target = target;
    g->max = q->max ? q->max : CLI_BODY_MAX;
    g->address = q->address ? strdup(q->address) : NULL;
    g->json = q->json ? strdup(q->json) : NULL;
    if ((q->address && !g->address) || (q->json && !g->json))
        r = -ENOMEM;
    else if (!q->address && (yarn_rm_proxy_config(ctx->conf, YARN_RM_CLIENTS, &g->rm, NULL) < 0 ||
                             g->rm.n_servers == 0))
        r = -ENOENT;
    else
        r = try_next(g);
    if (r < 0)
        rest_get_free(g);
    return r;
}

int cli_rm_rest(struct cli_ctx *ctx, const struct cli_rest *q, cli_fetch_fn fn, void *userdata)
{
    _cleanup_free_ char *user = NULL;
    char *target = NULL;
    int r = cli_query_user(ctx->user, &user);

    if (r >= 0)
        r = sv_asprintf(&target, "%s%s%s", q->path, user, q->query ? q->query : "");
    return r < 0 ? r : begin(ctx, q, target, fn, userdata);
}

int cli_rm_rest_get(struct cli_ctx *ctx, const char *path, cli_fetch_fn fn, void *userdata)
{
    const struct cli_rest q = { .method = "GET" };
    _cleanup_free_ char *user = NULL;
    char *target = NULL;
    bool rest = *path != '/';
    int r = rest ? cli_query_user(ctx->user, &user) : 0;

    if (r >= 0)
        r = sv_asprintf(&target, "%s%s%s", rest ? "/ws/v1/cluster/" : "", path, user ? user : "");
    return r < 0 ? r : begin(ctx, &q, target, fn, userdata);
}
