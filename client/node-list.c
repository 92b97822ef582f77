/* `selvedge node list`; the other subcommands of `selvedge node` are in local-node.c. */
#include <jansson.h>
#include <string.h>

#include "client/commands.h"
#include "client/local.h"
#include "client/options.h"
#include "client/table.h"

static void print_json(const struct cli_node_report *nodes, size_t n)
{
    json_t *list = json_array();
    char id[264];

    for (size_t i = 0; i < n; i++) {
        const struct cli_node_report *r = &nodes[i];

        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:I, s:i, s:i}", "id",
                            yarn_node_id_text(&r->id, id), "http", r->http_address, "rack", r->rack,
                            "state", r->state, "healthReport", r->health_report, "containers",
                            (int)r->containers, "usedMemoryMb", (json_int_t)r->used.memory_mb,
                            "memoryMb", (json_int_t)r->capability.memory_mb, "usedVcores",
                            (int)r->used.vcores, "vcores", (int)r->capability.vcores));
    }
    json_dumpf(list, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(list);
}

static void on_nodes(int status, const struct cli_node_report *nodes, size_t n,
                     const struct sv_error *err, void *userdata)
{
    static const char *const heads[] = { "NODE",        "STATE",        "HTTP",    "RACK",
                                         ">CONTAINERS", ">MEMORY USED", ">MEMORY", ">VCORES USED",
                                         ">VCORES",     "HEALTH" };
    struct cli_ctx *ctx = userdata;
    struct cli_table *t;
    char id[264], buf[32];

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    if (ctx->json) {
        print_json(nodes, n);
        cli_stop(ctx, 0);
        return;
    }
    t = cli_table_new(heads, SV_ARRAY_LEN(heads));
    for (size_t i = 0; t && i < n; i++) {
        const struct cli_node_report *r = &nodes[i];

        cli_table_add(t, "%s", yarn_node_id_text(&r->id, id));
        cli_table_add(t, "%s", r->state);
        cli_table_add(t, "%s", r->http_address);
        cli_table_add(t, "%s", r->rack);
        cli_table_add(t, "%d", r->containers);
        cli_table_add(t, "%s", cli_text_bytes(r->used.memory_mb << 20, buf));
        cli_table_add(t, "%s", cli_text_bytes(r->capability.memory_mb << 20, buf));
        cli_table_add(t, "%d", r->used.vcores);
        cli_table_add(t, "%d", r->capability.vcores);
        cli_table_add(t, "%s", *r->health_report ? r->health_report : "-");
    }
    if (t)
        cli_table_print(t, stdout);
    cli_table_free(t);
    cli_stop(ctx, 0);
}

int cli_cmd_node(struct cli_ctx *ctx, int argc, char **argv)
{
    bool all = false;
    int code, r;

    if (cli_local_is_node(argc, argv))
        return cli_local_node(ctx, argc, argv);
    code = cli_option_all(ctx, argc, argv, &all);
    if (code != 0)
        return code;
    if (argc - optind != 1 || strcmp(argv[optind], "list") != 0)
        return cli_usage(ctx);
    code = cli_connect(ctx);
    if (code != 0)
        return code;
    r = cli_rm_nodes(ctx->rm, all, on_nodes, ctx);
    return r < 0 ? cli_fail("node list: %s", strerror(-r)) : cli_loop(ctx);
}
