/* `selvedge federation members|apps`. */
#include <string.h>

#include "client/core/options.h"
#include "client/federation/federation.h"
#include "common/str.h"

static const struct cli_column member_columns[] = {
    { "MEMBER", "id", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { "HEARTBEAT", "lastHeartbeat", CLI_TIME, CLI_ALWAYS },
    { ">NODES", "activeNodes", CLI_NUMBER, CLI_ALWAYS },
    { ">AVAILABLE", "availableMB", CLI_MIB, CLI_ALWAYS },
    { "CLIENTS", "clientAddress", CLI_TEXT, CLI_ALWAYS },
    { "MASTERS", "amAddress", CLI_TEXT, CLI_IF_WIDE },
    { "ADMINISTRATORS", "adminAddress", CLI_TEXT, CLI_IF_WIDE },
    { "WEB", "webAddress", CLI_TEXT, CLI_IF_WIDE },
    { "STARTED", "startedTime", CLI_TIME, CLI_IF_WIDE },
};
static const struct cli_list members_list = CLI_LIST(member_columns, "id");

/* A number of a member's clusterMetrics; null where there is none. */
static json_t *metric(const json_t *capability, const char *name)
{
    const json_t *n = json_object_get(json_object_get(capability, "clusterMetrics"), name);

    return json_is_integer(n) ? cli_json_known(json_integer_value(n)) : json_null();
}

static json_t *member_object(const struct fed_member *m)
{
    json_t *capability = json_loads(m->capability, 0, NULL); /* NULL: it is no JSON */
    json_t *row = json_pack(
        "{s:o, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "id", cli_json_string(m->id), "state",
        fed_state_name(m->state), "lastHeartbeat", (json_int_t)m->last_heartbeat_ms, "activeNodes",
        metric(capability, "activeNodes"), "availableMB", metric(capability, "availableMB"),
        "clientAddress", cli_json_string(m->client), "amAddress", cli_json_string(m->am),
        "adminAddress", cli_json_string(m->admin), "webAddress", cli_json_string(m->web),
        "startedTime", (json_int_t)m->last_start_ms);

    json_decref(capability);
    return row;
}

static void on_members(struct cli_ctx *ctx, const struct fed_answer *a)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < a->n; i++)
        (void)json_array_append_new(rows, member_object(&a->members[i]));
    cli_stop_list(ctx, &members_list, rows);
}

int cli_cmd_federation_members(struct cli_ctx *ctx, int argc, char **argv)
{
    const struct fed_request q = { .op = FED_MEMBER_LIST };
    int code = cli_option_none(ctx, argc, argv);

    if (code == 0 && optind < argc)
        code = cli_usage(ctx);
    if (code == 0)
        code = cli_option_list(ctx, &members_list);
    return code != 0 ? code : cli_federation_call(ctx, &q, on_members);
}

static const struct cli_column app_columns[] = {
    { "APPLICATION", "id", CLI_TEXT, CLI_ALWAYS },
    { "HOME", "home", CLI_TEXT, CLI_ALWAYS },
    { "CREATED", "createdTime", CLI_TIME, CLI_ALWAYS },
};
static const struct cli_list apps_list = CLI_LIST(app_columns, "id");

static void on_apps(struct cli_ctx *ctx, const struct fed_answer *a)
{
    json_t *rows = json_array();
    char id[YARN_ID_TEXT_MAX];

    for (size_t i = 0; i < a->n; i++)
        (void)json_array_append_new(
            rows, json_pack("{s:s, s:o, s:I}", "id", yarn_app_id_text(a->homes[i].app, id), "home",
                            cli_json_string(a->homes[i].home), "createdTime",
                            (json_int_t)a->homes[i].created_ms));
    cli_stop_list(ctx, &apps_list, rows);
}

int cli_cmd_federation_apps(struct cli_ctx *ctx, int argc, char **argv)
{
    struct fed_request q = { .op = FED_HOME_LIST, .limit = 1000 };
    uint64_t limit;
    int c, code;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        if (c == 'n' && sv_parse_u64(optarg, 1, FED_ROWS_MAX, &limit) < 0) {
            (void)cli_fail("--number %s: expected 1 to %d", optarg, FED_ROWS_MAX);
            return 2;
        }
        if (c == 'n')
            q.limit = (uint32_t)limit;
    }
    if (argc - optind > 1)
        return cli_usage(ctx);
    q.home.home = optind < argc ? argv[optind] : NULL;
    code = cli_option_list(ctx, &apps_list);
    return code != 0 ? code : cli_federation_call(ctx, &q, on_apps);
}
