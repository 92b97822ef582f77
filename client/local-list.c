/* `selvedge ps --local` and `selvedge inspect --local CONTAINER`. */
#include <string.h>

#include "client/local-bus.h"
#include "client/local-json.h"
#include "client/local-rows.h"
#include "client/local.h"
#include "client/options.h"
#include "common/clock.h"
#include "common/str.h"

/* ---- ps ---- */

static const struct cli_column columns[] = {
    { "CONTAINER", "id", CLI_TEXT, CLI_ALWAYS },
    { "USER", "user", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { ">MEMORY", "memory", CLI_BYTES, CLI_ALWAYS },
    { ">USED", "memoryUsed", CLI_BYTES, CLI_ALWAYS },
    { ">VCORES", "vcores", CLI_NUMBER, CLI_ALWAYS },
    { ">CPU", "cpuMs", CLI_MILLIS, CLI_ALWAYS },
    { ">TIME", "elapsedMs", CLI_MILLIS, CLI_ALWAYS },
    { ">EXIT", "exitCode", CLI_NUMBER, CLI_IF_WIDE },
    { "COMMAND", "command", CLI_TEXT, CLI_ALWAYS },
};
static const struct cli_list list = CLI_LIST(columns, "id");

static json_t *row_of(const json_t *p)
{
    int64_t start = cli_local_number(p, "StartTime"), end = cli_local_number(p, "FinishTime");
    bool frozen = cli_local_bool(p, "Frozen");

    return json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:I, s:s}", "id", cli_local_text(p, "Id"), "user",
        cli_local_text(p, "User"), "state", frozen ? "PAUSED" : cli_local_text(p, "State"),
        "memory", (json_int_t)cli_local_number(p, "Memory"), "memoryUsed",
        (json_int_t)cli_local_number(p, "MemoryCurrent"), "vcores",
        (json_int_t)cli_local_number(p, "VirtualCores"), "cpuMs",
        (json_int_t)cli_local_number(p, "CPUUsage") / 1000, "elapsedMs",
        cli_json_known(start ? (end ? end : sv_wall_ms()) - start : -1), "exitCode",
        (json_int_t)cli_local_number(p, "ExitCode"), "command", cli_local_text(p, "Command"));
}

static void print_rows(const struct cli_ctx *ctx, const struct cli_local_rows *l, bool all)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < l->n; i++)
        if (all || strcmp(cli_local_text(l->rows[i].properties, "State"), "DONE") != 0)
            (void)json_array_append_new(rows, row_of(l->rows[i].properties)); /* NULL: left out */
    cli_output_list(&ctx->output, &list, rows, stdout);
    json_decref(rows);
}

int cli_local_ps(struct cli_ctx *ctx, int argc, char **argv)
{
    _cleanup_bus_ struct cli_bus *b = NULL;
    struct cli_local_rows l = { 0 };
    json_t *containers = NULL;
    bool all = false;
    int c, code;

    optind = 0; /* begin with a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        all = all || c == 'a';
    }
    if (optind != argc)
        return cli_usage(ctx);
    code = cli_option_list(ctx, &list);
    if (code == 0)
        code = cli_bus_open(ctx, &b);
    if (code == 0)
        code = cli_bus_containers(b, &containers);
    if (code != 0)
        return code;
    if (cli_local_rows_of(containers, &l) < 0)
        code = cli_fail("out of memory");
    else
        print_rows(ctx, &l, all);
    cli_local_rows_free(&l);
    json_decref(containers);
    return code;
}

bool cli_local_wanted(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--local") == 0)
            return true;
    return false;
}

/* ---- inspect ---- */

static void print_value(const char *name, const json_t *value)
{
    _cleanup_free_ char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    char shown[4096];

    sv_escape(shown, sizeof(shown), json_is_string(value) ? json_string_value(value) : text);
    printf("%-16s  %s\n", name, shown);
}

int cli_local_inspect(struct cli_ctx *ctx, int argc, char **argv)
{
    _cleanup_bus_ struct cli_bus *b = NULL;
    json_t *container = NULL, *value;
    const char *name;
    int c, code;

    optind = 0; /* begin with a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1)
        if (c == '?')
            return 2;
    if (argc - optind != 1)
        return cli_usage(ctx);
    code = cli_bus_open(ctx, &b);
    if (code == 0)
        code = cli_bus_container(b, argv[optind], false, &container);
    if (code != 0)
        return code;
    if (ctx->json)
        cli_output_json(&ctx->output, json_incref(container), stdout);
    else
        json_object_foreach(container, name, value) print_value(name, value);
    json_decref(container);
    return 0;
}

int cli_cmd_inspect(struct cli_ctx *ctx, int argc, char **argv)
{
    return cli_local_wanted(argc, argv) ? cli_local_inspect(ctx, argc, argv) : cli_usage(ctx);
}
