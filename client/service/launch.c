/* `selvedge service launch`, `save` and `start`. The definition is checked here first. */
#include <string.h>

#include "client/core/options.h"
#include "client/service/await.h"
#include "client/service/call.h"
#include "client/service/definition-file.h"
#include "client/service/service.h"
#include "wire/ids.h"

struct launch {
    struct cli_ctx *ctx;
    struct cli_definition_options definition;
    struct cli_await await;
    json_t *body;
};

/* 0, or 2 after an error message. */
static int options(struct launch *l, int argc, char **argv)
{
    int c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(l->ctx, argc, argv)) != -1) {
        if (c == 'N')
            l->definition.name = optarg;
        else if (c == SERVICE_OPT_HADOOP)
            l->definition.hadoop = true;
        else if (c != CLI_OPT_WAIT_EMPTY || cli_await_option(l->ctx, &l->await, optarg) != 0)
            return 2;
    }
    return 0;
}

/* Reads FILE and names the service. 0 or the exit code. */
static int read_file(struct launch *l, const char *file)
{
    struct sv_error err = { 0 };
    int r = cli_definition_read(file, &l->definition, &l->body, &err);

    if (r < 0) {
        (void)cli_fail("%s", err.text);
        return 2;
    }
    l->ctx->subject = cli_service_text(l->body, "name");
    return cli_service_name(l->ctx, l->ctx->subject);
}

static void post(struct launch *l, cli_service_fn fn)
{
    const struct cli_service_request q = {
        .method = "POST",
        .query = l->definition.hadoop ? "&unknown=ignored" : "",
        .body = json_incref(l->body),
    };

    cli_service_call(l->ctx, &q, fn, l);
}

/* "Application ID: application_…": the id, or "". */
static void find_id(const json_t *answer, char ret[YARN_ID_TEXT_MAX])
{
    const char *said = cli_service_text(answer, "diagnostics");
    const char *at = strstr(said, "application_");
    struct yarn_app_id id;

    snprintf(ret, YARN_ID_TEXT_MAX, "%.*s",
             at ? (int)strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789") : 0, at ? at : "");
    if (yarn_app_id_parse(ret, &id) < 0)
        *ret = '\0';
}

static void on_started(const json_t *answer, void *userdata)
{
    struct launch *l = userdata;
    char id[YARN_ID_TEXT_MAX];

    find_id(answer, id);
    if (l->ctx->json)
        cli_output_json(&l->ctx->output,
                        json_pack("{s:s, s:s, s:o}", "service", l->ctx->subject, "application", id,
                                  "state", cli_json_string(cli_service_text(answer, "state"))),
                        stdout);
    else
        printf("%s\n", id);
    cli_await(l->ctx, &l->await);
}

static void on_saved(const json_t *answer, void *userdata)
{
    struct launch *l = userdata;

    cli_service_said(l->ctx, answer);
    cli_stop(l->ctx, 0);
}

static int run(struct launch *l)
{
    int code = cli_loop(l->ctx);

    l->ctx->fetch = cli_fetch_free(l->ctx->fetch); /* an open request has its answer here */
    cli_await_end(&l->await);
    return code;
}

static int from_file(struct cli_ctx *ctx, int argc, char **argv, bool save)
{
    struct launch l = { .ctx = ctx };
    int code = options(&l, argc, argv);

    if (code == 0)
        code = cli_service_begin(ctx, argc, argv, NULL, 1, 1);
    if (code == 0)
        code = read_file(&l, argv[optind]);
    if (code == 0 && save && json_object_set_new(l.body, "state", json_string("STOPPED")) < 0)
        code = cli_fail("out of memory");
    if (code == 0) {
        post(&l, save ? on_saved : on_started);
        code = run(&l);
    }
    json_decref(l.body);
    return code;
}

int cli_cmd_service_launch(struct cli_ctx *ctx, int argc, char **argv)
{
    return from_file(ctx, argc, argv, false);
}

int cli_cmd_service_save(struct cli_ctx *ctx, int argc, char **argv)
{
    return from_file(ctx, argc, argv, true);
}

int cli_cmd_service_start(struct cli_ctx *ctx, int argc, char **argv)
{
    struct launch l = { .ctx = ctx };
    int code = options(&l, argc, argv);

    if (code == 0)
        code = cli_service_begin(ctx, argc, argv, NULL, 1, 1);
    if (code == 0)
        code = cli_service_name(ctx, ctx->subject);
    if (code != 0)
        return code;
    cli_service_call(ctx,
                     &(struct cli_service_request){
                         .method = "PUT", .body = json_pack("{s:s}", "state", "STARTED") },
                     on_started, &l);
    return run(&l);
}
