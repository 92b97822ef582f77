/* See inspect.h. Determines the type of the argument. */
#include "client/inspect/inspect.h"

#include <errno.h>
#include <string.h>

#include "client/core/app-argument.h"
#include "client/core/options.h"
#include "common/str.h"

static bool is_meant(const struct cli_node_report *r, const char *text)
{
    char id[264];

    return strcmp(r->id.host, text) == 0 || strcmp(yarn_node_id_text(&r->id, id), text) == 0;
}

/* Neither a node nor a queue: the application of this name. */
static void on_names(int status, const struct cli_report *reports, size_t n,
                     const struct sv_error *err, void *userdata)
{
    struct cli_inspect *i = userdata;
    const char *subject = i->ctx->subject;
    size_t hits[CLI_APPS_NAMED], found;
    int r;

    if (status < 0) {
        cli_inspect_error(i, status, err);
        cli_inspect_release(i);
        return;
    }
    found = cli_app_select(subject, i->ctx->user, reports, n, hits, CLI_APPS_NAMED);
    if (found == 1) {
        cli_inspect_hold(i);
        r = cli_inspect_app(i, reports[hits[0]].id);
        if (r < 0) {
            cli_inspect_error(i, r, NULL);
            cli_inspect_release(i);
        }
    } else if (found > 1) {
        cli_app_ambiguous(subject, reports, hits, found);
        cli_stop(i->ctx, 1);
        i->ended = true;
    } else {
        cli_stop(i->ctx, cli_fail("%s: no application, container, node or queue has this name; "
                                  "see selvedge ps -a, node list -a and queue list",
                                  subject));
        i->ended = true;
    }
    cli_inspect_release(i);
}

static void request_names(struct cli_inspect *i)
{
    int r;

    cli_inspect_hold(i);
    r = cli_rm_applications(i->ctx->rm, NULL, false, on_names, i);
    if (r < 0) {
        cli_inspect_error(i, r, NULL);
        cli_inspect_release(i);
    }
}

static void on_queues(int status, const struct cli_queue_report *queues, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct cli_inspect *i = userdata;
    const char *subject = i->ctx->subject;

    if (status < 0 && status != -EREMOTEIO) {
        cli_inspect_error(i, status, err);
    } else if (status == -EREMOTEIO || n == 0) { /* Apache's answers with an exception */
        if (!i->root)
            request_names(i);
    } else if (i->root) {
        cli_stop(i->ctx, cli_fail("%s: both a node and a queue have this name: give the node's "
                                  "host:port, or root.%s",
                                  subject, subject));
        i->ended = true;
    } else {
        cli_inspect_queue(i, queues, n);
    }
    cli_inspect_release(i);
}

static void on_nodes(int status, const struct cli_node_report *nodes, size_t n,
                     const struct sv_error *err, void *userdata)
{
    struct cli_inspect *i = userdata;
    const char *subject = i->ctx->subject;
    size_t hits = 0, hit = 0;
    int r = 0;

    for (size_t k = 0; status >= 0 && k < n; k++)
        if (is_meant(&nodes[k], subject)) {
            hit = k;
            hits++;
        }
    if (status < 0) {
        cli_inspect_error(i, status, err);
    } else if (hits > 1) {
        cli_stop(i->ctx, cli_fail("%s: %zu nodes have this host: give host:port", subject, hits));
        i->ended = true;
    } else {
        if (hits == 1)
            cli_inspect_node(i, &nodes[hit]);
        cli_inspect_hold(i);
        r = cli_rm_queues(i->ctx->rm, subject, true, on_queues, i);
        if (r < 0) {
            cli_inspect_error(i, r, NULL);
            cli_inspect_release(i);
        }
    }
    cli_inspect_release(i);
}

enum kind { OTHER, APPLICATION, CONTAINER };

/* OTHER: a node or a queue, whose names come before those of applications. -EINVAL after an error
 * message. */
static int kind_of(const char *subject, struct yarn_container_id *ret_container)
{
    if (sv_has_prefix(subject, "application_") || strcmp(subject, "@last") == 0 ||
        subject[strspn(subject, "0123456789")] == '\0')
        return APPLICATION;
    if (!sv_has_prefix(subject, "container_"))
        return OTHER;
    if (yarn_container_id_parse(subject, ret_container) >= 0)
        return CONTAINER;
    (void)cli_fail(
        "%s: not a container: expected container_<time>_<application>_<attempt>_<number>", subject);
    return -EINVAL;
}

int cli_cmd_inspect(struct cli_ctx *ctx, int argc, char **argv)
{
    struct cli_inspect i = { .ctx = ctx };
    int code = cli_option_none(ctx, argc, argv), kind = OTHER, r;
    struct yarn_container_id container;
    struct yarn_app_id app = { 0 };

    if (code == 0 && argc - optind == 1)
        kind = kind_of(argv[optind], &container);
    if (kind < 0)
        return 2;
    if (code == 0)
        code = cli_option_begin(ctx, argc, argv, NULL, 1, 1, kind == APPLICATION ? &app : NULL);
    if (code != 0)
        return code;
    cli_fetch_patience(ctx->fetch, (long)SV_MIN(ctx->wait_ms, (int64_t)CLI_FETCH_VIEW_MS));
    cli_inspect_hold(&i);
    if (kind == APPLICATION)
        r = cli_inspect_app(&i, app);
    else if (kind == CONTAINER)
        r = cli_inspect_container(&i, container);
    else
        r = cli_rm_nodes(ctx->rm, true, on_nodes, &i);
    code = r < 0 ? cli_fail("inspect: %s", strerror(-r)) : cli_loop(ctx);
    i.ended = true;
    ctx->fetch = cli_fetch_free(ctx->fetch); /* frees pending calls with -ECANCELED */
    ctx->rm = cli_rm_free(ctx->rm);
    json_decref(i.root);
    return code;
}
