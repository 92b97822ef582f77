/* See ended.h. Hostile: both answers; they are bounded, and the node's is the job's own text. */
#include "client/views/ended.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "client/core/rm-rest.h"
#include "client/http/node-url.h"
#include "client/job/job.h"

struct ended {
    struct cli_ctx *ctx;
    cli_ended_fn fn;
    void *userdata;
};

static void done(struct ended *e, int status, struct cli_status *table)
{
    e->fn(status, table, e->userdata);
    free(e);
}

/* Apache's NodeManager frames the text with lines of its own. */
static void on_table(int http, const char *body, size_t len, const char *why, void *userdata)
{
    struct ended *e = userdata;
    const char *first = body ? memchr(body, '{', len) : NULL;
    const char *last = body ? memrchr(body, '}', len) : NULL;
    struct cli_status table;

    (void)why;
    if (http == -ECANCELED)
        done(e, -ECANCELED, NULL);
    else if (http == 200 && first && last > first &&
             cli_status_parse(first, (size_t)(last - first) + 1, &table, NULL) == 0)
        done(e, 0, &table);
    else
        done(e, -ENOENT, NULL);
}

/* Parses the last attempt's container and the web address of its node from .../appattempts. */
static int parse_attempt(const char *body, size_t len, char container[YARN_ID_TEXT_MAX],
                         char http[300])
{
    json_t *root = json_loadb(body, len, 0, NULL);
    json_t *list = json_object_get(json_object_get(root, "appAttempts"), "appAttempt");
    json_t *last = json_array_get(list, json_array_size(list) - 1);
    const char *id = json_string_value(json_object_get(last, "containerId"));
    const char *address = json_string_value(json_object_get(last, "nodeHttpAddress"));
    struct yarn_container_id parsed;
    int r = -ENOENT;

    if (id && address && yarn_container_id_parse(id, &parsed) == 0 && *address &&
        strcspn(address, "/?#@ ") == strlen(address)) {
        yarn_container_id_text(parsed, container);
        snprintf(http, 300, "%s", address);
        r = 0;
    }
    json_decref(root);
    return r;
}

static void on_attempts(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct ended *e = userdata;
    char container[YARN_ID_TEXT_MAX], http[300];
    _cleanup_free_ char *url = NULL;

    (void)why;
    if (status != 200 || parse_attempt(body, len, container, http) < 0)
        done(e, status == -ECANCELED ? -ECANCELED : -ENOENT, NULL);
    else if (cli_node_url(http, container, "/logs/" CLI_TABLE_FILE, e->ctx->user, &url) < 0 ||
             cli_fetch_get(e->ctx->fetch, url, CLI_BODY_MAX, on_table, e) < 0)
        done(e, -ENOMEM, NULL);
}

int cli_ended_get(struct cli_ctx *ctx, const char *app, cli_ended_fn fn, void *userdata)
{
    struct ended *e = malloc(sizeof(*e));
    char path[YARN_ID_TEXT_MAX + 32];
    int r;

    if (!e)
        return -ENOMEM;
    *e = (struct ended){ ctx, fn, userdata };
    snprintf(path, sizeof(path), "apps/%s/appattempts", app);
    r = cli_rm_rest_get(ctx, path, on_attempts, e);
    if (r < 0)
        free(e);
    return r;
}
