/* `selvedge ps`: lists applications, or the containers of one: from its ApplicationMaster if
 * `selvedge run` submitted it, else from the ResourceManager. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "client/commands.h"
#include "client/options.h"
#include "client/rows.h"
#include "client/table.h"
#include "common/clock.h"

static void print_json(const struct cli_report *reports, size_t n)
{
    json_t *list = json_array();
    char id[YARN_ID_TEXT_MAX];

    for (size_t i = 0; i < n; i++) {
        const struct cli_report *r = &reports[i];

        (void)json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:i, s:I, s:I, s:I}", "id",
                            yarn_app_id_text(r->id, id), "user", r->user, "queue", r->queue, "name",
                            r->name, "type", r->type, "state", cli_app_state_name(r->state),
                            "finalStatus", cli_final_name(r->final), "progress",
                            (double)r->progress, "containers", (int)r->used_containers, "memoryMb",
                            (json_int_t)r->used_memory_mb, "startedTime", (json_int_t)r->start_ms,
                            "finishedTime", (json_int_t)r->finish_ms));
    }
    json_dumpf(list, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(list);
}

static void on_applications(int status, const struct cli_report *reports, size_t n,
                            const struct sv_error *err, void *userdata)
{
    static const char *const heads[] = { "APPLICATION", "USER",  "QUEUE",       "NAME",
                                         "STATE",       "FINAL", ">CONTAINERS", ">MEMORY",
                                         ">PROGRESS",   ">TIME" };
    struct cli_ctx *ctx = userdata;
    struct cli_table *t;
    char id[YARN_ID_TEXT_MAX], buf[32];

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    if (ctx->json) {
        print_json(reports, n);
        cli_stop(ctx, 0);
        return;
    }
    t = cli_table_new(heads, SV_ARRAY_LEN(heads));
    for (size_t i = 0; t && i < n; i++) {
        const struct cli_report *r = &reports[i];
        bool ended = cli_app_ended(r->state);
        int64_t end = ended && r->finish_ms > 0 ? r->finish_ms : sv_wall_ms();

        cli_table_add(t, "%s", yarn_app_id_text(r->id, id));
        cli_table_add(t, "%s", r->user);
        cli_table_add(t, "%s", r->queue);
        cli_table_add(t, "%s", r->name);
        cli_table_add(t, "%s", cli_app_state_name(r->state));
        cli_table_add(t, "%s", ended ? cli_final_name(r->final) : "-");
        cli_table_add(t, "%d", SV_MAX(r->used_containers, 0));
        cli_table_add(t, "%s", cli_text_bytes(SV_MAX(r->used_memory_mb, (int64_t)0) << 20, buf));
        cli_table_add(t, "%.0f%%", 100.0 * (double)r->progress);
        cli_table_add(t, "%s", cli_text_millis(r->start_ms > 0 ? end - r->start_ms : -1, buf));
    }
    if (t)
        cli_table_print(t, stdout);
    cli_table_free(t);
    cli_stop(ctx, 0);
}

/* ---- One application ---- */

static void on_rows(int status, struct cli_rows *rows, const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    if (ctx->json) {
        cli_status_print_json(&rows->status, rows->app_text, stdout);
    } else {
        printf("%s  %s  user %s, queue %s, %s", rows->app_text, rows->name, rows->user, rows->queue,
               cli_app_state_name(rows->state));
        if (cli_app_ended(rows->state))
            printf(" %s: %s", cli_final_name(rows->final), rows->diagnostics);
        putchar('\n');
        if (rows->status.n)
            cli_status_print(&rows->status, stdout);
    }
    cli_stop(ctx, 0);
}

int cli_cmd_ps(struct cli_ctx *ctx, int argc, char **argv)
{
    struct yarn_app_id app;
    bool all = false;
    int code = cli_option_all(ctx, argc, argv, &all), r;

    if (code != 0)
        return code;
    if (argc - optind > 1)
        return cli_usage(ctx);
    ctx->subject = argv[optind]; /* NULL: none */
    if (ctx->subject)
        code = cli_parse_app(ctx->subject, &app);
    if (code == 0)
        code = cli_connect(ctx);
    if (code != 0)
        return code;
    if (ctx->subject) {
        r = cli_rows_get(ctx, app, true, on_rows, ctx);
    } else {
        r = cli_rm_applications(ctx->rm, NULL, !all, on_applications, ctx);
    }
    return r < 0 ? cli_fail("ps: %s", strerror(-r)) : cli_loop(ctx);
}
