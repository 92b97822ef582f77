/* `selvedge queue list|status`. */
#include <jansson.h>
#include <string.h>

#include "client/commands.h"
#include "client/options.h"
#include "client/table.h"

static void print_json(const struct cli_queue_report *queues, size_t n)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct cli_queue_report *q = &queues[i];

        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:f, s:f, s:f, s:b, s:I, s:I}", "path", q->path, "state",
                            q->state, "capacity", (double)q->capacity, "maximumCapacity",
                            (double)q->maximum, "usedOfCapacity", (double)q->used, "leaf",
                            q->children == 0, "running", (json_int_t)q->running, "pending",
                            (json_int_t)q->pending));
    }
    json_dumpf(list, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(list);
}

static void on_queues(int status, const struct cli_queue_report *queues, size_t n,
                      const struct sv_error *err, void *userdata)
{
    static const char *const heads[] = { "QUEUE", "STATE",    ">CAPACITY", ">MAXIMUM",
                                         ">USED", ">RUNNING", ">PENDING" };
    struct cli_ctx *ctx = userdata;
    struct cli_table *t;

    if (status < 0 || n == 0) {
        if (status < 0)
            cli_stop_error(ctx, status, err);
        else
            cli_stop(ctx, cli_fail("%s: no such queue", ctx->subject ? ctx->subject : "root"));
        return;
    }
    if (ctx->json) {
        print_json(queues, n);
        cli_stop(ctx, 0);
        return;
    }
    t = cli_table_new(heads, SV_ARRAY_LEN(heads));
    for (size_t i = 0; t && i < n; i++) {
        const struct cli_queue_report *q = &queues[i];

        cli_table_add(t, "%s", q->path);
        cli_table_add(t, "%s", q->state);
        cli_table_add(t, "%.1f%%", 100 * (double)q->capacity);
        cli_table_add(t, "%.1f%%", 100 * (double)q->maximum);
        cli_table_add(t, "%.1f%%", 100 * (double)q->used);
        cli_table_add(t, "%lld", (long long)q->running);
        cli_table_add(t, "%lld", (long long)q->pending);
    }
    if (t)
        cli_table_print(t, stdout);
    cli_table_free(t);
    cli_stop(ctx, 0);
}

int cli_cmd_queue(struct cli_ctx *ctx, int argc, char **argv)
{
    int code = cli_option_none(ctx, argc, argv), r;
    bool list;

    if (code != 0)
        return code;
    list = argc - optind == 1 && strcmp(argv[optind], "list") == 0;
    if (!list && !(argc - optind == 2 && strcmp(argv[optind], "status") == 0))
        return cli_usage(ctx);
    ctx->subject = list ? NULL : argv[optind + 1];
    code = cli_connect(ctx);
    if (code != 0)
        return code;
    r = cli_rm_queues(ctx->rm, list ? "root" : ctx->subject, list, on_queues, ctx);
    return r < 0 ? cli_fail("queue: %s", strerror(-r)) : cli_loop(ctx);
}
