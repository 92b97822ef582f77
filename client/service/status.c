/* `selvedge service status NAME`: a line about the service, and a table of its components. */
#include <string.h>

#include "client/core/options.h"
#include "client/service/await.h"
#include "client/service/call.h"
#include "common/str.h"

static const struct cli_column columns[] = {
    { "COMPONENT", "component", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { ">READY", "ready", CLI_NUMBER, CLI_ALWAYS },
    { ">WANTED", "wanted", CLI_NUMBER, CLI_ALWAYS },
    { ">MEMORY", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { ">VCORES", "vcores", CLI_NUMBER, CLI_ALWAYS },
    { "RESTART", "restart", CLI_TEXT, CLI_IF_WIDE },
    { "~COMMAND", "command", CLI_TEXT, CLI_IF_WIDE },
};
static const struct cli_list list = CLI_LIST(columns, "component");

/* A number, or its text as Apache has that of memory; null if it is none. */
static json_t *number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    int64_t n = -1;

    if (json_is_integer(v))
        n = json_integer_value(v);
    else if (json_is_string(v) && sv_parse_i64(json_string_value(v), 0, INT64_MAX, &n) < 0)
        n = -1;
    return cli_json_known(n);
}

static json_t *row(const json_t *component)
{
    const json_t *resource = json_object_get(component, "resource");
    struct cli_readiness r;
    json_t *one = json_pack("{s:[O]}", "components", component);

    cli_readiness(one, NULL, &r);
    json_decref(one);
    return json_pack("{s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o}", "component",
                     cli_service_json(component, "name"), "state",
                     cli_service_json(component, "state"), "ready", (json_int_t)r.ready, "wanted",
                     (json_int_t)r.wanted, "memoryMb", number(resource, "memory"), "vcores",
                     number(resource, "cpus"), "restart",
                     cli_service_json(component, "restart_policy"), "command",
                     cli_service_json(component, "launch_command"));
}

static json_t *rows_of(const json_t *status)
{
    json_t *rows = json_array();
    const json_t *component;
    size_t i;

    json_array_foreach(json_object_get(status, "components"), i, component)(void)
        json_array_append_new(rows, row(component)); /* a row less, ignoring */
    return rows;
}

static void print_title(const struct cli_ctx *ctx, const json_t *status)
{
    int64_t lifetime = json_integer_value(json_object_get(status, "lifetime"));
    const char *version = cli_service_text(status, "version"), *id = cli_service_text(status, "id");
    char text[600], shown[1200], left[32];

    snprintf(text, sizeof(text), "%s %s%s%.100s%s%.100s", ctx->subject,
             cli_service_text(status, "state"), *version ? ", version " : "", version,
             *id ? ", " : "", id);
    sv_escape(shown, sizeof(shown), text);
    printf("%s", shown);
    if (lifetime > 0) {
        snprintf(left, sizeof(left), "%lld", (long long)lifetime);
        printf(", ends in %s s", left);
    }
    printf("\n");
}

static void on_status(const json_t *status, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    bool table = ctx->output.format == CLI_TABLE || ctx->output.format == CLI_WIDE;
    json_t *rows = rows_of(status);

    if (ctx->json) {
        cli_output_json(&ctx->output,
                        json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "service", ctx->subject,
                                  "state", cli_service_json(status, "state"), "version",
                                  cli_service_json(status, "version"), "application",
                                  cli_service_json(status, "id"), "lifetimeSeconds",
                                  number(status, "lifetime"), "components", rows),
                        stdout);
        cli_stop(ctx, 0);
        return;
    }
    if (table && !ctx->output.quiet && !ctx->output.no_headers)
        print_title(ctx, status);
    if (table && json_array_size(rows) == 0) { /* titles of nothing say nothing */
        json_decref(rows);
        cli_stop(ctx, 0);
        return;
    }
    cli_stop_list(ctx, &list, rows);
}

int cli_cmd_service_status(struct cli_ctx *ctx, int argc, char **argv)
{
    int code = cli_option_none(ctx, argc, argv);

    if (code == 0)
        code = cli_service_begin(ctx, argc, argv, &list, 1, 1);
    if (code == 0)
        code = cli_service_name(ctx, ctx->subject);
    if (code != 0)
        return code;
    cli_service_call(ctx, &(struct cli_service_request){ .method = "GET" }, on_status, ctx);
    return cli_loop(ctx);
}
