/* See inspect.h. Collects the answers that make up the object of `selvedge inspect`. */
#include <errno.h>
#include <string.h>

#include "client/core/rm-rest.h"
#include "client/http/node-url.h"
#include "client/inspect/inspect.h"
#include "common/str.h"

/* ---- Answers ---- */

void cli_inspect_hold(struct cli_inspect *i)
{
    i->open++;
}

static void print(struct cli_inspect *i)
{
    struct cli_output *o = &i->ctx->output;

    if (o->format == CLI_TABLE || o->format == CLI_WIDE) { /* formats for people */
        json_dumpf(i->root, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
        putchar('\n');
    } else {
        cli_output_json(o, json_incref(i->root), stdout);
    }
    cli_stop(i->ctx, 0);
}

void cli_inspect_release(struct cli_inspect *i)
{
    if (--i->open > 0)
        return;
    if (!i->ended && i->root)
        print(i);
}

void cli_inspect_error(struct cli_inspect *i, int status, const struct sv_error *err)
{
    if (!i->ended)
        cli_stop_error(i->ctx, status, err);
    i->ended = true;
}

void cli_inspect_lacks(struct cli_inspect *i, const char *what, const char *why)
{
    json_t *list = json_object_get(i->root, "unavailable");

    if (!list) {
        list = json_array();
        (void)json_object_set_new(i->root, "unavailable", list); /* NULL is omitted, ignoring */
    }
    (void)json_array_append_new(
        list, json_pack("{s:s, s:o}", "what", what, "why",
                        cli_json_string(why))); /* out of memory: not listed, ignoring */
}

/* ---- REST ---- */

struct rest_call {
    struct cli_inspect *i;
    struct cli_inspect_part part;
};

static void lacks_http(struct cli_inspect *i, const char *what, int status, const char *why)
{
    char text[512];

    if (status == 401 || status == 403)
        snprintf(text, sizeof(text), "%s may not read it (HTTP %d)", i->ctx->user, status);
    else if (status == 404)
        snprintf(text, sizeof(text), "it is not there any more (HTTP 404)");
    else if (status == 200)
        snprintf(text, sizeof(text), "the answer is not as Hadoop's");
    else if (status > 0)
        snprintf(text, sizeof(text), "HTTP %d", status);
    else
        snprintf(text, sizeof(text), "%s", why ? why : strerror(-status));
    cli_inspect_lacks(i, what, text);
}

static void on_rest(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct rest_call *call = userdata;
    struct cli_inspect *i = call->i;
    json_t *found = status == 200 ? call->part.read(body, len) : NULL;

    i->ended = i->ended || status == -ECANCELED;
    if (!found)
        lacks_http(i, call->part.what, status, why);
    if (json_is_null(json_object_get(found, "limitsNotEnforced")))
        cli_inspect_lacks(i, "usage", "this NodeManager's REST does not tell it");
    (void)json_object_set_new(call->part.into, call->part.key,
                              found ? found : json_null()); /* else no such key, ignoring */
    free(call);
    cli_inspect_release(i);
}

/* Returns a call for a pending answer, or NULL. */
static struct rest_call *begin(struct cli_inspect *i, struct cli_inspect_part part)
{
    struct rest_call *call = malloc(sizeof(*call));

    if (call)
        *call = (struct rest_call){ i, part };
    cli_inspect_hold(i);
    return call;
}

static void failed(struct rest_call *call, struct cli_inspect *i, int r)
{
    free(call);
    cli_inspect_error(i, r, NULL);
    cli_inspect_release(i);
}

void cli_inspect_from_node(struct cli_inspect *i, const char *http, const char *path,
                           struct cli_inspect_part part)
{
    struct rest_call *call = begin(i, part);
    _cleanup_free_ char *query = NULL, *url = NULL;
    int r = call ? cli_query_user(i->ctx->user, &query) : -ENOMEM;

    if (r >= 0)
        r = sv_asprintf(&url, "%s://%s/ws/v1/node/%s%s", cli_scheme(), http, path, query);
    if (r >= 0)
        r = cli_fetch_get(i->ctx->fetch, url, CLI_BODY_MAX, on_rest, call);
    if (r < 0)
        failed(call, i, r);
}

void cli_inspect_from_rm(struct cli_inspect *i, const char *path, struct cli_inspect_part part)
{
    struct rest_call *call = begin(i, part);
    int r = call ? cli_rm_rest_get(i->ctx, path, on_rest, call) : -ENOMEM;

    if (r < 0)
        failed(call, i, r);
}
