/* `selvedge service instances NAME`: those that have a container. */
#include <stdlib.h>
#include <string.h>

#include "client/core/options.h"
#include "client/http/node-url.h"
#include "client/service/call.h"
#include "client/service/service.h"
#include "common/str.h"

#define QUERY_MAX 8192

static const struct cli_column columns[] = {
    { "INSTANCE", "instance", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { "~HOST", "host", CLI_TEXT, CLI_ALWAYS },
    { "CONTAINER", "container", CLI_TEXT, CLI_ALWAYS },
    { "?STARTED", "started", CLI_TIME, CLI_ALWAYS },
    { "ADDRESS", "address", CLI_TEXT, CLI_IF_WIDE },
    { "COMPONENT", "component", CLI_TEXT, CLI_IF_WIDE },
};
static const struct cli_list list = CLI_LIST(columns, "instance");

struct instances {
    struct cli_ctx *ctx;
    char query[QUERY_MAX];
};

/* Appends "&key=VALUE" for each of "a,b". 0, or 2 after an error message. */
static int add(struct instances *s, const char *key, const char *option, const char *values)
{
    _cleanup_strv_ char **each = NULL;
    int r = sv_strv_split(values, ',', &each);

    for (size_t i = 0; r >= 0 && i < sv_strv_len(each); i++) {
        _cleanup_free_ char *value = cli_percent_encode(each[i]);
        size_t used = strlen(s->query);

        if (!value)
            r = -1;
        else if ((size_t)snprintf(s->query + used, sizeof(s->query) - used, "&%s=%s", key, value) >=
                 sizeof(s->query) - used)
            r = -1;
    }
    if (r >= 0 && *values)
        return 0;
    (void)cli_fail("%s: %s: expected one or more names, as in a,b", s->ctx->command->name, option);
    return 2;
}

static int options(struct instances *s, int argc, char **argv)
{
    int code = 0, c;

    optind = 0; /* restart getopt for a new argv */
    while (code == 0 && (c = cli_option(s->ctx, argc, argv)) != -1)
        code = c == SERVICE_OPT_VERSION     ? add(s, "version", "--version", optarg)
               : c == SERVICE_OPT_STATES    ? add(s, "containerState", "--states", optarg)
               : c == SERVICE_OPT_COMPONENT ? add(s, "componentName", "--component", optarg)
                                            : 2;
    return code;
}

static json_t *row(const json_t *one, const char *component)
{
    const json_t *started = json_object_get(one, "launch_time");

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "instance",
        cli_service_json(one, "component_instance_name"), "state", cli_service_json(one, "state"),
        "host", cli_service_json(one, "bare_host"), "container", cli_service_json(one, "id"),
        "started", cli_json_known(json_is_integer(started) ? json_integer_value(started) : -1),
        "address", cli_service_json(one, "ip"), "component", cli_json_string(component));
}

static void on_instances(const json_t *answer, void *userdata)
{
    struct instances *s = userdata;
    json_t *rows = json_array();
    const json_t *component, *one;
    size_t i, k;

    json_array_foreach(answer, i, component)
    {
        json_array_foreach(json_object_get(component, "containers"), k, one)(void)
            json_array_append_new(/* a row less, ignoring */
                                  rows, row(one, cli_service_text(component, "component_name")));
    }
    cli_stop_list(s->ctx, &list, rows);
}

int cli_cmd_service_instances(struct cli_ctx *ctx, int argc, char **argv)
{
    struct instances s = { .ctx = ctx };
    int code = options(&s, argc, argv);

    if (code == 0)
        code = cli_service_begin(ctx, argc, argv, &list, 1, 1);
    if (code == 0)
        code = cli_service_name(ctx, ctx->subject);
    if (code != 0)
        return code;
    cli_service_call(ctx,
                     &(struct cli_service_request){
                         .method = "GET", .path = "/component-instances", .query = s.query },
                     on_instances, &s);
    return cli_loop(ctx);
}
