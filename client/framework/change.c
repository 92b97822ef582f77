/* `selvedge framework scale`, `stop`, `delete` and `migrate`. */
#include <string.h>

#include "client/core/options.h"
#include "client/framework/call.h"
#include "client/framework/views.h"
#include "client/framework/watch.h"
#include "common/str.h"
#include "service/framework/descriptor.h"
#include "wire/ids.h"

struct change {
    struct cli_ctx *ctx;
    struct cli_watch watch;
    char **words; /* of scale: "W=3", of migrate: "W-3", or a container's id */
    size_t n, next;
};

static void put(struct change *c, const char *path, json_t *body, cli_framework_fn fn)
{
    cli_framework_call(
        c->ctx, &(struct cli_framework_request){ .method = "PUT", .path = path, .body = body }, fn,
        c);
}

static int run(struct change *c)
{
    int code = cli_loop(c->ctx);

    c->ctx->fetch = cli_fetch_free(c->ctx->fetch); /* an open request has its answer here */
    cli_watch_end(&c->watch);
    return code;
}

/* ---- scale ---- */

/* Splits "W=3". 0, or 2 after an error message. */
static int parse(const struct change *c, const char *word, char role[SVC_FW_NAME_MAX + 1],
                 int64_t *ret)
{
    const char *equal = strrchr(word, '=');

    if (equal && equal > word && equal - word <= SVC_FW_NAME_MAX &&
        sv_parse_i64(equal + 1, 0, SVC_FW_TASKS_MAX, ret) == 0) {
        snprintf(role, SVC_FW_NAME_MAX + 1, "%.*s", (int)(equal - word), word);
        return cli_framework_name(c->ctx, role);
    }
    (void)cli_fail("%s: %s: expected ROLE=COUNT, where COUNT is a number up to %d, as in worker=3",
                   c->ctx->command->name, word, SVC_FW_TASKS_MAX);
    return 2;
}

static void scale_next(const json_t *answer, void *userdata)
{
    struct change *c = userdata;
    _cleanup_free_ char *path = NULL;
    char role[SVC_FW_NAME_MAX + 1];
    int64_t n;

    (void)answer;
    if (c->next == c->n) {
        cli_stop(c->ctx, 0);
        return;
    }
    if (parse(c, c->words[c->next++], role, &n) != 0) /* it was checked */
        cli_stop(c->ctx, 2);
    else if (sv_asprintf(&path, "/%s/TaskRoles/%s/TaskNumber", c->ctx->subject, role) < 0)
        cli_stop(c->ctx, cli_fail("out of memory"));
    else
        put(c, path, json_pack("{s:I}", "taskNumber", (json_int_t)n), scale_next);
}

int cli_cmd_framework_scale(struct cli_ctx *ctx, int argc, char **argv)
{
    struct change c = { .ctx = ctx };
    char role[SVC_FW_NAME_MAX + 1];
    int code = cli_option_none(ctx, argc, argv);
    int64_t n;

    if (code == 0)
        code = cli_framework_begin(ctx, argc, argv, NULL, 2, 0);
    c.words = argv + optind + 1;
    c.n = (size_t)SV_MAX(argc - optind - 1, 0);
    for (size_t i = 0; code == 0 && i < c.n; i++)
        code = parse(&c, c.words[i], role, &n);
    if (code != 0)
        return code;
    scale_next(NULL, &c);
    return run(&c);
}

/* ---- stop and delete ---- */

static void on_stopped(const json_t *answer, void *userdata)
{
    struct change *c = userdata;

    (void)answer;
    cli_watch(c->ctx, &c->watch);
}

int cli_cmd_framework_stop(struct cli_ctx *ctx, int argc, char **argv)
{
    struct change c = { .ctx = ctx, .watch = { .any_end = true } };
    _cleanup_free_ char *path = NULL;
    int code = 0, o;

    optind = 0; /* restart getopt for a new argv */
    while (code == 0 && (o = cli_option(ctx, argc, argv)) != -1)
        code = o == CLI_OPT_WAIT_EMPTY ? cli_watch_option(ctx, &c.watch, optarg) : 2;
    if (code == 0)
        code = cli_framework_begin(ctx, argc, argv, NULL, 1, 1);
    if (code != 0)
        return code;
    if (sv_asprintf(&path, "/%s/ExecutionType", ctx->subject) < 0)
        return cli_fail("out of memory");
    put(&c, path, json_pack("{s:s}", "executionType", "STOP"), on_stopped);
    return run(&c);
}

int cli_cmd_framework_delete(struct cli_ctx *ctx, int argc, char **argv)
{
    struct change c = { .ctx = ctx };
    _cleanup_free_ char *path = NULL;
    int code = cli_option_none(ctx, argc, argv);

    if (code == 0)
        code = cli_framework_begin(ctx, argc, argv, NULL, 1, 1);
    if (code != 0)
        return code;
    if (sv_asprintf(&path, "/%s", ctx->subject) < 0)
        return cli_fail("out of memory");
    cli_framework_call(ctx, &(struct cli_framework_request){ .method = "DELETE", .path = path },
                       on_stopped, &c);
    return run(&c);
}

/* ---- migrate ---- */

static void on_migrating(const json_t *answer, void *userdata)
{
    struct change *c = userdata;

    (void)answer;
    cli_stop(c->ctx, 0);
}

static void migrate(struct change *c, const char *container)
{
    _cleanup_free_ char *path = NULL;

    if (sv_asprintf(&path, "/%s/MigrateTasks/%s", c->ctx->subject, container) < 0)
        cli_stop(c->ctx, cli_fail("out of memory"));
    else
        put(c, path, json_pack("{s:s}", "antiAffinityLevel", "ANY"), on_migrating);
}

/* The container that a task has now. */
static void on_info(const json_t *info, void *userdata)
{
    struct change *c = userdata;
    json_t *rows = cli_framework_tasks(info, NULL, NULL);
    const char *found = NULL, *word = c->words[0];
    struct yarn_container_id id;
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row) if (strcmp(cli_member_text(row, "task"), word) == 0) found =
        cli_member_text(row, "container");
    if (!found)
        cli_stop(c->ctx, cli_fail("%s has no task %s; selvedge framework tasks %s lists them",
                                  c->ctx->subject, word, c->ctx->subject));
    else if (yarn_container_id_parse(found, &id) < 0)
        cli_stop(c->ctx, cli_fail("%s: task %s has no container now", c->ctx->subject, word));
    else
        migrate(c, found);
    json_decref(rows);
}

int cli_cmd_framework_migrate(struct cli_ctx *ctx, int argc, char **argv)
{
    struct change c = { .ctx = ctx };
    struct yarn_container_id id;
    int code = cli_option_none(ctx, argc, argv);

    if (code == 0)
        code = cli_framework_begin(ctx, argc, argv, NULL, 2, 2);
    if (code != 0)
        return code;
    c.words = argv + optind + 1;
    if (yarn_container_id_parse(c.words[0], &id) == 0)
        migrate(&c, c.words[0]);
    else
        cli_framework_info(ctx, on_info, &c);
    return run(&c);
}
