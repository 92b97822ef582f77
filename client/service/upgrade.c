/* `selvedge service upgrade NAME`: begins an upgrade to the definition of a file, upgrades chosen
 * instances or components, ends or cancels it. */
#include <string.h>

#include "client/core/options.h"
#include "client/service/await.h"
#include "client/service/call.h"
#include "client/service/definition-file.h"
#include "client/service/service.h"
#include "common/str.h"

struct upgrade {
    struct cli_ctx *ctx;
    struct cli_await await;
    struct cli_definition_options definition;
    bool express, auto_finalize, finalize, cancel;
    const char *instances, *components; /* "a,b" */
    json_t *names;                      /* of these: an object, {name: true} */
};

/* ---- Options ---- */

static int option(struct upgrade *u, int c)
{
    switch (c) {
    case SERVICE_OPT_EXPRESS:
        u->express = true;
        return 0;
    case SERVICE_OPT_AUTO_FINALIZE:
        u->auto_finalize = true;
        return 0;
    case SERVICE_OPT_FINALIZE:
        u->finalize = true;
        return 0;
    case SERVICE_OPT_CANCEL:
        u->cancel = true;
        return 0;
    case SERVICE_OPT_INSTANCES:
        u->instances = optarg;
        return 0;
    case SERVICE_OPT_COMPONENTS:
        u->components = optarg;
        return 0;
    case SERVICE_OPT_HADOOP:
        u->definition.hadoop = true;
        return 0;
    default:
        return c == CLI_OPT_WAIT_EMPTY ? cli_await_option(u->ctx, &u->await, optarg) : 2;
    }
}

static int check_options(const struct upgrade *u, bool file)
{
    int actions = file + u->finalize + u->cancel + (u->instances != NULL) + (u->components != NULL);

    if (actions != 1)
        (void)cli_fail("%s: expected one of FILE, --instances, --components, --finalize and "
                       "--cancel",
                       u->ctx->command->name);
    else if (!file && (u->express || u->auto_finalize || u->definition.hadoop))
        (void)cli_fail("%s: --express, --auto-finalize and --hadoop go with FILE",
                       u->ctx->command->name);
    else if (u->express && u->auto_finalize)
        (void)cli_fail("%s: --express excludes --auto-finalize: it finalizes by itself",
                       u->ctx->command->name);
    else
        return 0;
    return 2;
}

static int options(struct upgrade *u, int argc, char **argv)
{
    int code = 0, c;

    optind = 0; /* restart getopt for a new argv */
    while (code == 0 && (c = cli_option(u->ctx, argc, argv)) != -1)
        code = option(u, c);
    return code;
}

/* "a,b" as the keys of u->names; 0, or 2 after an error message. */
static int read_names(struct upgrade *u, const char *text)
{
    _cleanup_strv_ char **each = NULL;
    int r = sv_strv_split(text, ',', &each);

    u->names = json_object();
    for (size_t i = 0; r >= 0 && i < sv_strv_len(each); i++)
        if (json_object_set_new(u->names, each[i], json_true()) < 0)
            r = -1;
    if (r >= 0 && json_object_size(u->names) > 0)
        return 0;
    (void)cli_fail("%s: %s: expected one or more names, as in a,b", u->ctx->command->name, text);
    return 2;
}

/* ---- Requests ---- */

static void on_accepted(const json_t *answer, void *userdata)
{
    struct upgrade *u = userdata;

    cli_service_said(u->ctx, answer);
    cli_await(u->ctx, &u->await);
}

static void put(struct upgrade *u, const char *path, json_t *body)
{
    cli_service_call(
        u->ctx,
        &(struct cli_service_request){ .method = "PUT",
                                       .path = path,
                                       .query = u->definition.hadoop ? "&unknown=ignored" : "",
                                       .body = body },
        on_accepted, u);
}

/* [{"name": "web", "state": "UPGRADING"}] */
static json_t *chosen(const struct upgrade *u, const char *key)
{
    json_t *list = json_array(), *v;
    const char *name;

    json_object_foreach(u->names, name, v)(void)
        json_array_append_new(list, json_pack("{s:s, s:s}", key, name, "state", "UPGRADING"));
    return list;
}

/* ---- The state that an upgrade needs ---- */

/* Takes the names of `status` out of `left`. */
static void strike(const json_t *status, json_t *left)
{
    const json_t *component, *one;
    size_t i, k;

    json_array_foreach(json_object_get(status, "components"), i, component)
    {
        (void)json_object_del(left, cli_service_text(component, "name")); /* not in it, ignoring */
        json_array_foreach(json_object_get(component, "containers"), k, one)(void)
            json_object_del(left, cli_service_text(one, "component_instance_name"));
    }
}

/* 0 or the exit code. A name that there is not would be passed over in silence. */
static int check_names(const struct upgrade *u, const json_t *status)
{
    json_t *left = json_copy(u->names), *v;
    const char *name;
    int code = 0;

    strike(status, left);
    json_object_foreach(left, name, v)
    {
        code = cli_fail("%s has no %s %s; selvedge service instances %s lists all", u->ctx->subject,
                        u->instances ? "instance" : "component", name, u->ctx->subject);
        break;
    }
    json_decref(left);
    return code;
}

static void on_status(const json_t *status, void *userdata)
{
    struct upgrade *u = userdata;
    const char *state = cli_service_text(status, "state");
    int code = 0;

    if (!sv_has_prefix(state, "UPGRADING"))
        code =
            cli_fail("%s is %s, and is not being upgraded; selvedge service upgrade %s FILE begins "
                     "an upgrade",
                     u->ctx->subject, state, u->ctx->subject);
    else if (u->names)
        code = check_names(u, status);
    if (code != 0)
        cli_stop(u->ctx, code);
    else if (u->finalize) /* as Hadoop's client ends one */
        put(u, "", json_pack("{s:s}", "state", "STARTED"));
    else if (u->instances)
        put(u, "/component-instances", chosen(u, "component_instance_name"));
    else
        put(u, "/components", chosen(u, "name"));
}

/* ---- The command ---- */

/* 0 or the exit code. */
static int begin_file(struct upgrade *u, const char *file)
{
    struct sv_error err = { 0 };
    json_t *body = NULL;
    int r;

    u->definition.name = u->ctx->subject;
    r = cli_definition_read(file, &u->definition, &body, &err);
    if (r < 0) {
        (void)cli_fail("%s", err.text);
        return 2;
    }
    if (json_object_set_new(body, "state",
                            json_string(u->express         ? "EXPRESS_UPGRADING"
                                        : u->auto_finalize ? "UPGRADING_AUTO_FINALIZE"
                                                           : "UPGRADING")) < 0) {
        json_decref(body);
        return cli_fail("out of memory");
    }
    put(u, "", body);
    return 0;
}

static int begin(struct upgrade *u, const char *file)
{
    const char *names = u->instances ? u->instances : u->components;
    int code = names ? read_names(u, names) : 0;

    u->await.only = u->names;
    u->await.goal = u->express || u->finalize || u->cancel ? CLI_GOAL_STABLE : CLI_GOAL_UPGRADED;
    if (code != 0)
        return code;
    if (file)
        return begin_file(u, file);
    if (u->cancel)
        put(u, "", json_pack("{s:s}", "state", "CANCEL_UPGRADING"));
    else
        cli_service_call(u->ctx, &(struct cli_service_request){ .method = "GET" }, on_status, u);
    return 0;
}

int cli_cmd_service_upgrade(struct cli_ctx *ctx, int argc, char **argv)
{
    struct upgrade u = { .ctx = ctx };
    const char *file;
    int code = options(&u, argc, argv);

    if (code == 0)
        code = cli_service_begin(ctx, argc, argv, NULL, 1, 2);
    if (code == 0)
        code = cli_service_name(ctx, ctx->subject);
    if (code != 0)
        return code;
    file = argv[optind + 1];
    code = check_options(&u, file != NULL);
    if (code == 0)
        code = begin(&u, file);
    if (code == 0)
        code = cli_loop(ctx);
    ctx->fetch = cli_fetch_free(ctx->fetch); /* an open request has its answer here */
    cli_await_end(&u.await);
    json_decref(u.names);
    return code;
}
