/* `selvedge ps`: lists applications, or the containers of one: from its ApplicationMaster if
 * `selvedge run` submitted it, else from the ResourceManager. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "client/commands/app-filter.h"
#include "client/core/options.h"
#include "client/views/objects.h"
#include "client/views/rows.h"
#include "common/str.h"

static const struct cli_column columns[] = {
    { "APPLICATION", "id", CLI_TEXT, CLI_ALWAYS },
    { "USER", "user", CLI_TEXT, CLI_ALWAYS },
    { "QUEUE", "queue", CLI_TEXT, CLI_ALWAYS },
    { "~NAME", "name", CLI_TEXT, CLI_ALWAYS },
    { "TYPE", "type", CLI_TEXT, CLI_IF_WIDE },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { "FINAL", "finalStatus", CLI_TEXT, CLI_ALWAYS },
    { ">CONTAINERS", "containers", CLI_NUMBER, CLI_ALWAYS },
    { ">MEMORY", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { ">VCORES", "vcores", CLI_NUMBER, CLI_IF_WIDE },
    { ">PROGRESS", "progress", CLI_SHARE, CLI_ALWAYS },
    { ">TIME", "elapsedMs", CLI_MILLIS, CLI_ALWAYS },
    { "STARTED", "startedTime", CLI_TIME, CLI_IF_WIDE },
    { "FINISHED", "finishedTime", CLI_TIME, CLI_IF_WIDE },
    { "TRACKING URL", "trackingUrl", CLI_TEXT, CLI_IF_WIDE },
    { ">ATTEMPT", "attempt", CLI_NUMBER, CLI_AS_FIELD },
    { "DIAGNOSTICS", "diagnostics", CLI_TEXT, CLI_AS_FIELD },
};
static const struct cli_list applications = CLI_LIST(columns, "id");

/* The newest first: Apache's ResourceManager answers in no particular order. */
static int by_id(const void *a, const void *b)
{
    const struct cli_report *const *x = b, *const *y = a;
    const struct yarn_app_id *p = &(*x)->id, *q = &(*y)->id;

    return p->cluster_ts != q->cluster_ts
               ? (p->cluster_ts > q->cluster_ts) - (p->cluster_ts < q->cluster_ts)
               : (p->id > q->id) - (p->id < q->id);
}

static json_t *sorted_rows(const struct cli_report *reports, size_t n)
{
    const struct cli_report **order = calloc(n + 1, sizeof(const struct cli_report *));
    json_t *rows = order ? json_array() : NULL;

    for (size_t i = 0; order && i < n; i++)
        order[i] = &reports[i];
    if (order)
        qsort(order, n, sizeof(const struct cli_report *), by_id);
    for (size_t i = 0; rows && i < n; i++)
        (void)json_array_append_new(rows, cli_app_object(order[i])); /* NULL is omitted, ignoring */
    free(order);
    return rows;
}

static void on_applications(int status, const struct cli_report *reports, size_t n,
                            const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;

    if (status < 0)
        cli_stop_error(ctx, status, err);
    else
        cli_stop_list(ctx, &applications, sorted_rows(reports, n));
}

/* ---- One application ---- */

/* Texts come from the job. */
static void print_heading(const struct cli_rows *rows)
{
    char line[4096], shown[4 * sizeof(line)];
    bool ended = cli_app_ended(rows->state);

    snprintf(line, sizeof(line), "%s  %s  user %s, queue %s, %s%s%s%s%s", rows->app_text,
             rows->name, rows->user, rows->queue, cli_app_state_name(rows->state), ended ? " " : "",
             ended ? cli_final_name(rows->final) : "", ended ? ": " : "",
             ended ? rows->diagnostics : "");
    sv_escape(shown, sizeof(shown), line);
    puts(shown);
}

static void on_rows(int status, struct cli_rows *rows, const struct sv_error *err, void *userdata)
{
    struct cli_ctx *ctx = userdata;

    if (status < 0) {
        cli_stop_error(ctx, status, err);
        return;
    }
    if (ctx->output.format == CLI_TABLE && !ctx->output.quiet && !ctx->output.no_headers)
        print_heading(rows);
    cli_status_print(&rows->status, rows->app_text, &ctx->output,
                     ctx->verbose ? INT_MAX : CLI_TAIL_LINES, stdout);
    cli_stop(ctx, 0);
}

/* Only unfinished applications are listed without --all and --state. 0 or the exit code. */
static int read_options(struct cli_ctx *ctx, int argc, char **argv, struct cli_app_filter *f)
{
    bool all = false;
    int c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?' || (c != 'a' && cli_app_filter_option(f, c, optarg) != 0))
            return 2;
        all = all || c == 'a';
    }
    if (!all && f->n_states == 0)
        cli_app_filter_live(f);
    return 0;
}

int cli_cmd_ps(struct cli_ctx *ctx, int argc, char **argv)
{
    struct cli_app_filter filter = { 0 };
    struct yarn_app_id app;
    int code = read_options(ctx, argc, argv, &filter), r;

    if (code == 0)
        code = cli_option_begin(ctx, argc, argv, optind < argc ? &cli_containers : &applications, 0,
                                1, &app);
    if (code != 0)
        return code;
    if (ctx->subject) {
        r = cli_rows_get(ctx, app, true, on_rows, ctx);
    } else {
        r = cli_rm_applications_where(ctx->rm, &filter, on_applications, ctx);
    }
    return r < 0 ? cli_fail("ps: %s", strerror(-r)) : cli_loop(ctx);
}
