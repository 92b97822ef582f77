/* `selvedge ps --local` and `selvedge inspect --local CONTAINER`. */
#include <string.h>

#include "client/local-bus.h"
#include "client/local-json.h"
#include "client/local-rows.h"
#include "client/local.h"
#include "client/options.h"
#include "client/table.h"
#include "common/clock.h"
#include "common/str.h"

static void print_json(json_t *value)
{
    json_dumpf(value, stdout, JSON_COMPACT);
    putchar('\n');
}

/* ---- ps ---- */

static void add_row(struct cli_table *t, const json_t *p)
{
    int64_t start = cli_json_number(p, "StartTime"), end = cli_json_number(p, "FinishTime");
    char buf[32];

    cli_table_add(t, "%s", cli_json_text(p, "Id"));
    cli_table_add(t, "%s", cli_json_text(p, "User"));
    cli_table_add(t, "%s", cli_json_bool(p, "Frozen") ? "PAUSED" : cli_json_text(p, "State"));
    cli_table_add(t, "%s", cli_text_bytes(cli_json_number(p, "Memory"), buf));
    cli_table_add(t, "%s", cli_text_bytes(cli_json_number(p, "MemoryCurrent"), buf));
    cli_table_add(t, "%lld", (long long)cli_json_number(p, "VirtualCores"));
    cli_table_add(t, "%s", cli_text_millis(cli_json_number(p, "CPUUsage") / 1000, buf));
    cli_table_add(t, "%s", cli_text_millis(start ? (end ? end : sv_wall_ms()) - start : -1, buf));
    cli_table_add(t, "%s", cli_json_text(p, "Command"));
}

static void print_table(const struct cli_local_rows *l, bool all, bool heads_too)
{
    static const char *const heads[] = { "CONTAINER", "USER", "STATE", ">MEMORY", ">USED",
                                         ">VCORES",   ">CPU", ">TIME", "COMMAND" };
    struct cli_table *t = cli_table_new(heads, SV_ARRAY_LEN(heads));

    for (size_t i = 0; t && i < l->n; i++)
        if (all || strcmp(cli_json_text(l->rows[i].properties, "State"), "DONE") != 0)
            add_row(t, l->rows[i].properties);
    if (t)
        cli_table_print(t, heads_too, stdout);
    cli_table_free(t);
}

static void list_json(const struct cli_local_rows *l, bool all)
{
    json_t *list = json_array();

    for (size_t i = 0; i < l->n; i++)
        if (all || strcmp(cli_json_text(l->rows[i].properties, "State"), "DONE") != 0)
            (void)json_array_append(list, l->rows[i].properties); /* NULL prints nothing */
    print_json(list);
    json_decref(list);
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
    code = cli_bus_open(ctx, &b);
    if (code == 0)
        code = cli_bus_containers(b, &containers);
    if (code != 0)
        return code;
    if (cli_local_rows_of(containers, &l) < 0)
        code = cli_fail("out of memory");
    else if (ctx->json)
        list_json(&l, all);
    else
        print_table(&l, all, !ctx->output.no_headers);
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
        print_json(container);
    else
        json_object_foreach(container, name, value) print_value(name, value);
    json_decref(container);
    return 0;
}
