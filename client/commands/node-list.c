/* `selvedge node list`. */
#include <string.h>

#include "client/core/options.h"
#include "client/views/objects.h"

static const struct cli_column columns[] = {
    { "NODE", "id", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { "?HTTP", "http", CLI_TEXT, CLI_ALWAYS },
    { "?RACK", "rack", CLI_TEXT, CLI_ALWAYS },
    { ">CONTAINERS", "containers", CLI_NUMBER, CLI_ALWAYS },
    { ">MEMORY USED", "usedMemoryMb", CLI_MIB, CLI_ALWAYS },
    { ">MEMORY", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { "?>VCORES USED", "usedVcores", CLI_NUMBER, CLI_ALWAYS },
    { "?>VCORES", "vcores", CLI_NUMBER, CLI_ALWAYS },
    { "~HEALTH", "healthReport", CLI_TEXT, CLI_ALWAYS },
};
static const struct cli_list list = CLI_LIST(columns, "id");

static void on_nodes(int status, const struct cli_node_report *nodes, size_t n,
                     const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    json_t *rows;

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    rows = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(rows, cli_node_object(&nodes[i]));
    cli_stop_list(ctx, &list, rows);
}

int cli_cmd_node_list(struct cli_ctx *ctx, int argc, char **argv)
{
    bool all = false;
    int code = cli_option_all(ctx, argc, argv, &all), r;

    if (code == 0)
        code = cli_option_begin(ctx, argc, argv, &list, 0, 0, NULL);
    if (code != 0)
        return code;
    r = cli_rm_nodes(ctx->rm, all, on_nodes, ctx);
    return r < 0 ? cli_fail("node list: %s", strerror(-r)) : cli_loop(ctx);
}
