/* `selvedge ps --local` and `selvedge inspect --local CONTAINER`. */
#include <string.h>

#include "client/core/options.h"
#include "client/local/local-bus.h"
#include "client/local/local-json.h"
#include "client/local/local-rows.h"
#include "client/local/local.h"
#include "common/clock.h"
#include "common/exit-meaning.h"
#include "common/str.h"
#include "wire/ids.h"

/* ---- ps ---- */

static const struct cli_column columns[] = {
    { "CONTAINER", "Id", CLI_TEXT, CLI_ALWAYS },
    { "?USER", "User", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "State", CLI_TEXT, CLI_ALWAYS },
    { ">MEMORY", "Memory", CLI_BYTES, CLI_ALWAYS },
    { ">USED", "MemoryCurrent", CLI_BYTES, CLI_ALWAYS },
    { "?>VCORES", "VirtualCores", CLI_NUMBER, CLI_ALWAYS },
    { "?>CPU", "CPUMs", CLI_MILLIS, CLI_ALWAYS },
    { "?>TIME", "ElapsedMs", CLI_MILLIS, CLI_ALWAYS },
    { ">PIDS", "PidsCurrent", CLI_NUMBER, CLI_IF_WIDE },
    { ">PEAK", "MemoryPeak", CLI_BYTES, CLI_IF_WIDE },
    { ">EXIT", "ExitCode", CLI_NUMBER, CLI_IF_WIDE },
    { "STARTED", "StartTime", CLI_TIME, CLI_IF_WIDE },
    { "~COMMAND", "Command", CLI_TEXT, CLI_ALWAYS },
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
    if (strcmp(cli_json_text(p, "State"), "DONE") == 0) /* nothing is measured any more */
        (void)json_object_set_new(row, "MemoryCurrent", json_null());
    cli_local_uncounted(row);
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
        if (c != 'a' && c != CLI_OPT_LOCAL) {
            (void)cli_fail("ps: --local lists the containers of this node, all at once: selvedge "
                           "top --local draws them anew, and filters are for the cluster's list");
            return 2;
        }
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

static const struct cli_column lines[] = {
    { "Container", "Id", CLI_TEXT, CLI_ALWAYS },
    { "Application", "Application", CLI_TEXT, CLI_ALWAYS },
    { "User", "User", CLI_TEXT, CLI_ALWAYS },
    { "State", "State", CLI_TEXT, CLI_ALWAYS },
    { "Exit code", "Exit", CLI_TEXT, CLI_ALWAYS },
    { "Diagnostics", "Diagnostics", CLI_TEXT, CLI_ALWAYS },
    { "Command", "Command", CLI_TEXT, CLI_ALWAYS },
    { "Kind", "ExecutionType", CLI_TEXT, CLI_ALWAYS },
    { "Started", "StartTime", CLI_TIME, CLI_ALWAYS },
    { "Launched", "LaunchTime", CLI_TIME, CLI_ALWAYS },
    { "Ended", "FinishTime", CLI_TIME, CLI_ALWAYS },
    { "Time", "ElapsedMs", CLI_MILLIS, CLI_ALWAYS },
    { "Memory asked", "Memory", CLI_BYTES, CLI_ALWAYS },
    { "Memory limit", "MemoryMax", CLI_BYTES, CLI_ALWAYS },
    { "Memory used", "MemoryCurrent", CLI_BYTES, CLI_ALWAYS },
    { "Memory peak", "MemoryPeak", CLI_BYTES, CLI_ALWAYS },
    { "Out of memory", "OOMKills", CLI_NUMBER, CLI_ALWAYS },
    { "Vcores", "VirtualCores", CLI_NUMBER, CLI_ALWAYS },
    { "CPU time", "CPUMs", CLI_MILLIS, CLI_ALWAYS },
    { "CPU throttled", "ThrottledMs", CLI_MILLIS, CLI_ALWAYS },
    { "Processes", "PidsCurrent", CLI_NUMBER, CLI_ALWAYS },
    { "Process limit", "PidsMax", CLI_NUMBER, CLI_ALWAYS },
    { "Read", "IOReadBytes", CLI_BYTES, CLI_ALWAYS },
    { "Written", "IOWriteBytes", CLI_BYTES, CLI_ALWAYS },
    { "Waits for CPU", "CPUPressure", CLI_TEXT, CLI_ALWAYS },
    { "Waits for memory", "MemoryPressure", CLI_TEXT, CLI_ALWAYS },
    { "Waits for disks", "IOPressure", CLI_TEXT, CLI_ALWAYS },
    { "Pid of init", "Pid", CLI_NUMBER, CLI_ALWAYS },
    { "Cgroup", "ControlGroup", CLI_TEXT, CLI_ALWAYS },
    { "Devices", "DeviceList", CLI_TEXT, CLI_ALWAYS },
};
static const struct cli_list object = CLI_LIST(lines, "Id");

/* On failure a member keeps its raw value, ignoring: for people alone. */
static void set_text(json_t *o, const char *name, const char *text)
{
    (void)json_object_set_new(o, name, cli_json_string(text));
}

static void set_pressure(json_t *o, const char *name)
{
    char text[100];

    (void)snprintf(text, sizeof(text), "%.1f %% of the last 10 s, all of it %.1f %%",
                   cli_json_item(o, name, 0), cli_json_item(o, name, 1));
    set_text(o, name, text);
}

static void set_end(json_t *o)
{
    int code = (int)cli_json_number(o, "ExitCode");
    const char *meaning = sv_exit_meaning(code, cli_json_text(o, "Diagnostics"));
    char text[200];

    if (strcmp(cli_json_text(o, "State"), "DONE") == 0) {
        (void)snprintf(text, sizeof(text), "%d%s%s", code, meaning ? ": " : "",
                       meaning ? meaning : "");
        set_text(o, "Exit", text);
    } else { /* -1000 and 0 would look like figures */
        (void)json_object_del(o, "FinishTime");
    }
    if (!*cli_json_text(o, "Diagnostics"))
        (void)json_object_del(o, "Diagnostics");
}

static void set_devices(json_t *o)
{
    json_t *devices = json_object_get(o, "Devices"), *item;
    char text[1024] = "";
    size_t i, n = 0;

    json_array_foreach(devices, i, item)
    {
        if (json_is_string(item) && n < sizeof(text))
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "",
                                  json_string_value(item));
    }
    if (n > 0)
        set_text(o, "DeviceList", text);
}

/* The daemon's properties for a person: JSON and YAML have them unchanged. */
static void print_object(const struct cli_ctx *ctx, json_t *properties)
{
    static const char *const limits[] = { "MemoryMax", "PidsMax", "Pid" };
    static const char *const pressures[] = { "CPUPressure", "MemoryPressure", "IOPressure" };
    json_t *o = row_of(properties);
    struct yarn_container_id id;
    char app[YARN_ID_TEXT_MAX];

    for (size_t i = 0; i < SV_ARRAY_LEN(limits); i++)
        if (cli_json_number(o, limits[i]) == 0) /* none */
            (void)json_object_set_new(o, limits[i], json_null());
    for (size_t i = 0; i < SV_ARRAY_LEN(pressures); i++)
        set_pressure(o, pressures[i]);
    (void)json_object_set_new(o, "ThrottledMs",
                              json_integer(cli_json_number(o, "CPUThrottled") / 1000));
    if (yarn_container_id_parse(cli_json_text(o, "Id"), &id) == 0) /* else its object's path */
        set_text(o, "Application", yarn_app_id_text(id.attempt.app, app));
    set_end(o);
    set_devices(o);
    cli_output_object(&ctx->output, &object, o, stdout);
    json_decref(o);
}

int cli_local_inspect(struct cli_ctx *ctx, int argc, char **argv)
{
    _cleanup_bus_ struct cli_bus *b = NULL;
    json_t *container = NULL;
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
    print_object(ctx, container);
    json_decref(container);
    return 0;
}
