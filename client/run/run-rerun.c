/* See run.h. --rerun APPLICATION: the instances that did not end with 0 there, by the names of
 * their groups and their numbers in them. Hostile: the application's table, which its master or a
 * node sends. */
#include <errno.h>
#include <string.h>

#include "client/core/app-argument.h"
#include "client/run/run.h"
#include "client/views/rows.h"

struct rerun {
    struct cli_ctx *ctx;
    struct run_options *o;
    const char *app;
    int code; /* -1 until the answer */
};

static bool has_failed(const struct cli_row *row)
{
    return !row->done || row->exit_status != 0;
}

static int by_number(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* The group's failed instances: their number, or -ENOMEM. Those that the group has not are left
 * out. */
static int keep(struct sv_arena *a, struct run_group *g, const struct cli_status *table)
{
    size_t n = 0;

    g->only = sv_newn(a, int32_t, table->n + 1);
    if (!g->only)
        return -ENOMEM;
    for (size_t i = 0; i < table->n; i++) {
        const struct cli_row *row = &table->rows[i];

        if (has_failed(row) && strcmp(row->group, g->name) == 0 && row->number >= 0 &&
            row->number < g->instances)
            g->only[n++] = row->number;
    }
    qsort(g->only, n, sizeof(*g->only), by_number);
    for (size_t i = 0; i < n; i++) /* a table with an instance twice is not ours */
        if (g->n_only == 0 || g->only[g->n_only - 1] != g->only[i])
            g->only[g->n_only++] = g->only[i];
    return (int)g->n_only;
}

static int keep_failed(const struct rerun *q, const struct cli_status *table)
{
    struct run_options *o = q->o;
    size_t failed = 0, kept = 0;

    for (size_t i = 0; i < table->n; i++)
        failed += has_failed(&table->rows[i]);
    if (failed == 0) {
        (void)cli_fail("%s: --rerun %s: all of its %zu instances ended with 0", o->subcommand,
                       q->app, table->n);
        return 2;
    }
    for (size_t i = 0; i < o->n_groups; i++) {
        struct run_group g = o->groups[i];
        int n = keep(o->arena, &g, table);

        if (n < 0)
            return cli_fail("%s: out of memory", o->subcommand);
        if (n > 0)
            o->groups[kept++] = g;
    }
    o->n_groups = kept;
    cli_run_count(o);
    if ((size_t)o->runs == failed)
        return 0;
    (void)cli_fail("%s: --rerun %s: %zu of its instances failed, of which this job has %d: groups "
                   "and their numbers of instances must be the same",
                   o->subcommand, q->app, failed, o->runs);
    return 2;
}

static void on_rows(int status, struct cli_rows *rows, const struct sv_error *err, void *userdata)
{
    struct rerun *q = userdata;

    if (status < 0) {
        cli_stop_error(q->ctx, status, err);
        q->code = 1;
    } else if (!cli_app_ended(rows->state)) {
        (void)cli_fail("%s: --rerun %s: has not ended yet", q->o->subcommand, q->app);
        q->code = 2;
    } else if (rows->no_instances || rows->status.n == 0) {
        q->code = cli_fail("%s: --rerun %s: its table of instances is gone, or it was no job of "
                           "selvedge run or submit",
                           q->o->subcommand, q->app);
    } else {
        q->code = keep_failed(q, &rows->status);
    }
}

int cli_run_keep_failed(struct cli_ctx *ctx, struct run_options *o)
{
    struct cli_app_argument app = { 0 };
    struct rerun q = { .ctx = ctx, .o = o, .app = app.text, .code = -1 };
    int code = o->rerun ? cli_app_resolve(ctx, o->rerun, &app) : 0, r;

    if (code != 0 || !o->rerun)
        return code;
    r = cli_rows_get(ctx, app.id, false, on_rows, &q);
    while (r >= 0 && q.code < 0 && sd_event_get_state(ctx->event) != SD_EVENT_FINISHED)
        r = sd_event_run(ctx->event, UINT64_MAX);
    if (r >= 0 && q.code >= 0)
        return q.code;
    ctx->fetch = cli_fetch_free(ctx->fetch); /* open calls have their answers here */
    ctx->rm = cli_rm_free(ctx->rm);
    return r < 0 ? cli_fail("%s: %s", o->subcommand, strerror(-r)) : SV_MAX(ctx->code, 1);
}
