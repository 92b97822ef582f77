/* `selvedge ps --local` and `selvedge inspect --local CONTAINER`. */
#include <string.h>

#include "client/core/options.h"
#include "client/local/local-bus.h"
#include "client/local/local-json.h"
#include "client/local/local-rows.h"
#include "client/local/local.h"
#include "common/clock.h"
#include "common/str.h"

/* ---- ps ---- */

static const struct cli_column columns[] = {
    { "CONTAINER", "Id", CLI_TEXT, CLI_ALWAYS },
    { "USER", "User", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "State", CLI_TEXT, CLI_ALWAYS },
    { ">MEMORY", "Memory", CLI_BYTES, CLI_ALWAYS },
    { ">USED", "MemoryCurrent", CLI_BYTES, CLI_ALWAYS },
    { ">VCORES", "VirtualCores", CLI_NUMBER, CLI_ALWAYS },
    { ">CPU", "CPUMs", CLI_MILLIS, CLI_ALWAYS },
    { ">TIME", "ElapsedMs", CLI_MILLIS, CLI_ALWAYS },
    { ">PIDS", "PidsCurrent", CLI_NUMBER, CLI_IF_WIDE },
    { ">PEAK", "MemoryPeak", CLI_BYTES, CLI_IF_WIDE },
    { ">EXIT", "ExitCode", CLI_NUMBER, CLI_IF_WIDE },
    { "STARTED", "StartTime", CLI_TIME, CLI_IF_WIDE },
    { "COMMAND", "Command", CLI_TEXT, CLI_ALWAYS },
};
static const struct cli_list list = CLI_LIST(columns, "Id");

/* Builds the table's row from the properties. */
static json_t *row_of(json_t *p)
{
    int64_t start = cli_json_number(p, "StartTime"), end = cli_json_number(p, "FinishTime");
    json_t *row = json_copy(p);

    if (!row)
        return NULL;
    if (cli_json_bool(p, "Frozen"))
        (void)json_object_set_new(row, "State", json_string("PAUSED")); /* ignoring, as below */
    (void)json_object_set_new(row, "CPUMs", json_integer(cli_json_number(p, "CPUUsage") / 1000));
    (void)json_object_set_new(row, "ElapsedMs",
                              cli_json_known(start ? (end ? end : sv_wall_ms()) - start : -1));
    return row;
}

/* JSON and YAML print the daemon's properties unchanged. */
static void print_rows(const struct cli_ctx *ctx, const struct cli_local_rows *l, bool all)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < l->n; i++) {
        json_t *p = l->rows[i].properties;

        if (all || strcmp(cli_json_text(p, "State"), "DONE") != 0)
            (void)json_array_append_new(
                rows, ctx->json ? json_incref(p) : row_of(p)); /* NULL is omitted, ignoring */
    }
    if (rows)
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

    optind = 0; /* restart getopt for a new argv */
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

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1)
        if (c == '?')
            return 2;
    if (argc - optind != 1)
        return cli_usage(ctx);
    code = cli_check_format(ctx);
    if (code == 0)
        code = cli_bus_open(ctx, &b);
    if (code == 0)
        code = cli_bus_container(b, argv[optind], false, &container);
    if (code != 0)
        return code;
    if (ctx->json) {
        cli_output_json(&ctx->output, container, stdout);
        return 0;
    }
    json_object_foreach(container, name, value) print_value(name, value);
    json_decref(container);
    return 0;
}
