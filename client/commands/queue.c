/* `selvedge queue list|status`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/core/options.h"
#include "client/views/objects.h"
#include "client/views/waiting.h"

static const struct cli_column columns[] = {
    { "QUEUE", "path", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { ">CAPACITY", "capacity", CLI_SHARE, CLI_ALWAYS },
    { "?>MAXIMUM", "maximumCapacity", CLI_SHARE, CLI_ALWAYS },
    { ">USED", "usedOfCapacity", CLI_SHARE, CLI_ALWAYS },
    { ">RUNNING", "running", CLI_NUMBER, CLI_ALWAYS },
    { ">PENDING", "pending", CLI_NUMBER, CLI_ALWAYS },
    { "LEAF", "leaf", CLI_TEXT, CLI_IF_WIDE },
    { "~WAITING", "waiting", CLI_TEXT, CLI_ALWAYS },
    { "WAITING APPLICATION", "waitingApplication", CLI_TEXT, CLI_AS_FIELD },
};
static const struct cli_list list = CLI_LIST(columns, "path");

struct listing {
    struct cli_ctx *ctx;
    json_t *rows;
};

/* Hadoop 2 reports the last name of a queue, later ones its path. */
static bool is_of_queue(const char *path, const char *queue)
{
    const char *name = strrchr(path, '.');

    return strcmp(path, queue) == 0 || (name && strcmp(name + 1, queue) == 0);
}

/* The application that waits longest in the queue, and why. */
static void add_waiting(json_t *row, const struct cli_report *reports, size_t n)
{
    const char *path = json_string_value(json_object_get(row, "path"));
    const struct cli_report *first = NULL;
    char text[CLI_WAITING_MAX] = "", id[YARN_ID_TEXT_MAX];

    for (size_t i = 0; path && i < n; i++)
        if (is_of_queue(path, reports[i].queue) &&
            (!first || yarn_app_id_cmp(reports[i].id, first->id) < 0) &&
            *cli_waiting_text(reports[i].state, reports[i].diagnostics, text))
            first = &reports[i];
    if (first)
        (void)cli_waiting_text(first->state, first->diagnostics, text);
    /* No memory: the member is missing, ignoring. */
    (void)json_object_set_new(row, "waiting", first ? cli_json_string(text) : json_null());
    (void)json_object_set_new(row, "waitingApplication",
                              first ? json_string(yarn_app_id_text(first->id, id)) : json_null());
}

/* Without the applications the queues are listed all the same. */
static void on_applications(int status, const struct cli_report *reports, size_t n,
                            const struct sv_error *err, void *userdata)
{
    struct listing *l = userdata;
    struct cli_ctx *ctx = l->ctx;
    json_t *rows = l->rows, *row;
    size_t i;

    (void)err;
    free(l);
    if (status == -ECANCELED) {
        json_decref(rows);
        return;
    }
    json_array_foreach(rows, i, row) add_waiting(row, reports, status < 0 ? 0 : n);
    cli_stop_list(ctx, &list, rows);
}

static void request_applications(struct cli_ctx *ctx, json_t *rows)
{
    struct listing *l = malloc(sizeof(*l));
    int r = -ENOMEM;

    if (l) {
        *l = (struct listing){ ctx, rows };
        r = cli_rm_applications(ctx->rm, NULL, true, on_applications, l);
    }
    if (r >= 0)
        return;
    free(l);
    cli_stop_list(ctx, &list, rows);
}

static void on_queues(int status, const struct cli_queue_report *queues, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    json_t *rows;

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    if (n == 0) {
        cli_stop(ctx, cli_fail("%s: no such queue", ctx->subject ? ctx->subject : "root"));
        return;
    }
    rows = json_array();
    for (size_t i = 0; i < n; i++)
        (void)json_array_append_new(rows, cli_queue_object(&queues[i]));
    request_applications(ctx, rows);
}

static int queues(struct cli_ctx *ctx, int argc, char **argv, bool all)
{
    int code = cli_option_none(ctx, argc, argv), r;

    if (code == 0)
        code = cli_option_begin(ctx, argc, argv, &list, all ? 0 : 1, all ? 0 : 1, NULL);
    if (code != 0)
        return code;
    r = cli_rm_queues(ctx->rm, all ? "root" : ctx->subject, all, on_queues, ctx);
    return r < 0 ? cli_fail("%s: %s", ctx->command->name, strerror(-r)) : cli_loop(ctx);
}

int cli_cmd_queue_list(struct cli_ctx *ctx, int argc, char **argv)
{
    return queues(ctx, argc, argv, true);
}

int cli_cmd_queue_status(struct cli_ctx *ctx, int argc, char **argv)
{
    return queues(ctx, argc, argv, false);
}
