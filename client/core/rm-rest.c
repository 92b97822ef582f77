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
    size_t next; /* next ResourceManager to try */
    char *path;
    cli_fetch_fn fn;
    void *userdata;
};

static void rest_get_free(struct rest_get *g)
{
    free(g->path);
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

static void on_answer(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct rest_get *g = userdata;
    bool elsewhere =
        (status < 0 && status != -ECANCELED) || (status >= 300 && status < 400) || status == 503;

    if (elsewhere && g->next < g->rm.n_servers && try_next(g) >= 0)
        return;
    g->fn(status, body, len, why, g->userdata);
    rest_get_free(g);
}

static int try_next(struct rest_get *g)
{
    _cleanup_free_ char *url = NULL, *query = NULL;
    char address[300];
    bool rest = *g->path != '/';
    int r = rest ? cli_query_user(g->ctx->user, &query) : 0;

    web_address(g->ctx->conf, &g->rm.servers[g->next++], address, sizeof(address));
    if (r >= 0)
        r = sv_asprintf(&url, "%s://%s%s%s%s", cli_scheme(), address, rest ? "/ws/v1/cluster/" : "",
                        g->path, query ? query : "");
    return r < 0 ? r : cli_fetch_get(g->ctx->fetch, url, CLI_BODY_MAX, on_answer, g);
}

int cli_rm_rest_get(struct cli_ctx *ctx, const char *path, cli_fetch_fn fn, void *userdata)
{
    struct rest_get *g = calloc(1, sizeof(*g));
    int r = g ? 0 : -ENOMEM;

    if (r < 0)
        return r;
    g->ctx = ctx;
    g->fn = fn;
    g->userdata = userdata;
    g->path = strdup(path);
    if (!g->path)
        r = -ENOMEM;
    else if (yarn_rm_proxy_config(ctx->conf, YARN_RM_CLIENTS, &g->rm, NULL) < 0 ||
             g->rm.n_servers == 0)
        r = -ENOENT;
    else
        r = try_next(g);
    if (r < 0)
        rest_get_free(g);
    return r;
}
