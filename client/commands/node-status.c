/* `selvedge node status NODE`: prints one node's report. NODE is its id, or a host that has a
 * single node. */
#include <string.h>

#include "client/core/options.h"
#include "client/ui/table.h"
#include "client/views/objects.h"
#include "common/str.h"

static bool is_meant(const struct cli_node_report *r, const char *text)
{
    char id[264];

    return strcmp(r->id.host, text) == 0 || strcmp(yarn_node_id_text(&r->id, id), text) == 0;
}

static void print_row(const char *name, const char *value)
{
    char shown[4096];

    sv_escape(shown, sizeof(shown), value);
    printf("%-10s %s\n", name, *shown ? shown : "-");
}

static void print_text(const struct cli_node_report *r)
{
    char id[264], used[32], all[32], line[128];

    print_row("node", yarn_node_id_text(&r->id, id));
    print_row("state", r->state);
    print_row("web", r->http_address);
    print_row("rack", r->rack);
    snprintf(line, sizeof(line), "%d", r->containers);
    print_row("containers", line);
    snprintf(line, sizeof(line), "%s of %s", cli_text_bytes(r->used.memory_mb << 20, used),
             cli_text_bytes(r->capability.memory_mb << 20, all));
    print_row("memory", line);
    snprintf(line, sizeof(line), "%d of %d", r->used.vcores, r->capability.vcores);
    print_row("vcores", line);
    if (r->capability.gpus) {
        snprintf(line, sizeof(line), "%d of %d", r->used.gpus, r->capability.gpus);
        print_row("gpus", line);
    }
    print_row("health", r->health_report);
}

static void on_nodes(int status, const struct cli_node_report *nodes, size_t n,
                     const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    const struct cli_node_report *found = NULL;
    size_t hits = 0;

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (is_meant(&nodes[i], ctx->subject)) {
            found = &nodes[i];
            hits++;
        }
    if (hits != 1) {
        cli_stop(
            ctx,
            hits ? cli_fail("%s: %zu nodes have this host: give host:port", ctx->subject, hits)
                 : cli_fail("%s: no such node; selvedge node list -a shows them", ctx->subject));
        return;
    }
    if (ctx->json)
        cli_output_json(&ctx->output, cli_node_object(found), stdout);
    else
        print_text(found);
    cli_stop(ctx, 0);
}

int cli_cmd_node_status(struct cli_ctx *ctx, int argc, char **argv)
{
    int code = cli_option_none(ctx, argc, argv), r;

    if (code == 0)
        code = cli_option_begin(ctx, argc, argv, NULL, 1, 1, NULL);
    if (code != 0)
        return code;
    r = cli_rm_nodes(ctx->rm, true, on_nodes, ctx);
    return r < 0 ? cli_fail("node status: %s", strerror(-r)) : cli_loop(ctx);
}
