/* `selvedge ps`: lists applications, or the containers of one: from its ApplicationMaster if
 * `selvedge run` submitted it, else from the ResourceManager. With --watch the list is drawn anew
 * on a terminal. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "client/commands/app-filter.h"
#include "client/core/options.h"
#include "client/core/watch.h"
#include "client/ui/screen.h"
#include "client/views/objects.h"
#include "client/views/rows.h"
#include "client/views/waiting.h"

static const struct cli_column columns[] = {
    { "APPLICATION", "id", CLI_TEXT, CLI_ALWAYS },
    { "?USER", "user", CLI_TEXT, CLI_ALWAYS },
    { "?QUEUE", "queue", CLI_TEXT, CLI_ALWAYS },
    { "~NAME", "name", CLI_TEXT, CLI_ALWAYS },
    { "TYPE", "type", CLI_TEXT, CLI_IF_WIDE },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { "FINAL", "finalStatus", CLI_TEXT, CLI_ALWAYS },
    { "?>CONTAINERS", "containers", CLI_NUMBER, CLI_ALWAYS },
    { "?>MEMORY", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { ">VCORES", "vcores", CLI_NUMBER, CLI_IF_WIDE },
    { "?>PROGRESS", "progress", CLI_SHARE, CLI_ALWAYS },
    { ">TIME", "elapsedMs", CLI_MILLIS, CLI_ALWAYS },
    { "STARTED", "startedTime", CLI_TIME, CLI_IF_WIDE },
    { "FINISHED", "finishedTime", CLI_TIME, CLI_IF_WIDE },
    { "TRACKING URL", "trackingUrl", CLI_TEXT, CLI_IF_WIDE },
    { ">ATTEMPT", "attempt", CLI_NUMBER, CLI_AS_FIELD },
    { "DIAGNOSTICS", "diagnostics", CLI_TEXT, CLI_AS_FIELD },
    { "WAITING", "waiting", CLI_TEXT, CLI_AS_FIELD },
};
static const struct cli_list applications = CLI_LIST(columns, "id");

struct ps {
    struct cli_ctx *ctx;
    struct cli_app_filter filter;
    struct yarn_app_id app; /* if ctx->subject is set: list its containers */
    bool watch;
    sd_event_source *timer;
};

/* ---- Drawn anew ---- */

static int read_again(struct ps *p);

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct ps *p = userdata;
    int r = read_again(p);

    (void)s;
    (void)usec;
    if (r < 0)
        cli_stop_error(p->ctx, r, NULL);
    return 0;
}

static void read_later(struct ps *p)
{
    int r;

    sd_event_source_disable_unref(p->timer);
    p->timer = NULL;
    r = sd_event_add_time_relative(p->ctx->event, &p->timer, CLOCK_MONOTONIC, CLI_WATCH_US, 0,
                                   on_timer, p);
    if (r < 0)
        cli_stop_error(p->ctx, r, NULL);
}

/* ---- Applications ---- */

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
    struct ps *p = userdata;
    char title[80];

    if (status < 0) {
        cli_stop_error(p->ctx, status, err);
    } else if (p->watch) {
        snprintf(title, sizeof(title), "%zu application%s, q: end", n, n == 1 ? "" : "s");
        cli_watch_draw(p->ctx, title, &applications, sorted_rows(reports, n));
        read_later(p);
    } else {
        cli_stop_list(p->ctx, &applications, sorted_rows(reports, n));
    }
}

/* ---- One application ---- */

/* Texts come from the job. A state FAILED or KILLED is its final status, too, and is told once. */
static void print_heading(const struct cli_rows *rows, FILE *out)
{
    const char *state = cli_app_state_name(rows->state), *final = cli_final_name(rows->final);
    const bool ended = cli_app_ended(rows->state), both = ended && strcmp(state, final) != 0;
    char line[4096];

    snprintf(line, sizeof(line), "%s  %s  user %s, queue %s, %s%s%s%s%s", rows->app_text,
             rows->name, rows->user, rows->queue, state, both ? " " : "", both ? final : "",
             ended && *rows->diagnostics ? ": " : "", ended ? rows->diagnostics : "");
    cli_output_lines(line, 4, out);
}

static void print_waiting(const struct cli_rows *rows, FILE *out)
{
    char line[CLI_WAITING_MAX + 16], text[CLI_WAITING_MAX];

    if (!*cli_waiting_text(rows->state, rows->diagnostics, text))
        return;
    snprintf(line, sizeof(line), "waits: %s", text);
    cli_output_lines(line, 4, out);
}

static void print_rows(const struct cli_ctx *ctx, const struct cli_rows *rows, FILE *out)
{
    if (ctx->output.format == CLI_TABLE && !ctx->output.quiet && !ctx->output.no_headers) {
        print_heading(rows, out);
        print_waiting(rows, out);
    }
    cli_status_print(&rows->status, rows->app_text, &ctx->output,
                     ctx->verbose ? INT_MAX : CLI_TAIL_LINES, out);
}

static void draw_rows(struct ps *p, const struct cli_rows *rows)
{
    _cleanup_free_ char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out) {
        p->ctx->output.columns = cli_screen_columns();
        print_rows(p->ctx, rows, out);
        (void)fclose(out);
        cli_screen_draw("q: end", text);
    }
    read_later(p);
}

static void on_rows(int status, struct cli_rows *rows, const struct sv_error *err, void *userdata)
{
    struct ps *p = userdata;

    if (status < 0) {
        cli_stop_error(p->ctx, status, err);
    } else if (p->watch) {
        draw_rows(p, rows);
    } else {
        print_rows(p->ctx, rows, stdout);
        cli_stop(p->ctx, 0);
    }
}

/* ---- Command ---- */

static int read_again(struct ps *p)
{
    return p->ctx->subject ? cli_rows_get(p->ctx, p->app, true, on_rows, p)
                           : cli_rm_applications_where(p->ctx->rm, &p->filter, on_applications, p);
}

/* Only unfinished applications are listed without --all and --state. 0 or the exit code. */
static int read_options(struct ps *p, int argc, char **argv)
{
    struct cli_app_filter *f = &p->filter;
    bool all = false;
    int c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(p->ctx, argc, argv)) != -1) {
        if (c == '?' || (c != 'a' && c != 'w' && cli_app_filter_option(f, c, optarg) != 0))
            return 2;
        all = all || c == 'a';
        p->watch = p->watch || c == 'w';
    }
    if (!all && f->n_states == 0)
        cli_app_filter_live(f);
    return 0;
}

int cli_cmd_ps(struct cli_ctx *ctx, int argc, char **argv)
{
    struct ps p = { .ctx = ctx };
    int code = read_options(&p, argc, argv), r;

    if (code == 0)
        code = cli_option_begin(ctx, argc, argv, optind < argc ? &cli_containers : &applications, 0,
                                1, &p.app);
    if (code != 0)
        return code;
    p.watch =
        p.watch && !ctx->output.quiet && ctx->output.format <= CLI_WIDE && cli_screen_is_there();
    r = read_again(&p);
    code = r < 0     ? cli_fail("ps: %s", strerror(-r))
           : p.watch ? cli_watch_loop(ctx, NULL, NULL)
                     : cli_loop(ctx);
    sd_event_source_disable_unref(p.timer);
    ctx->fetch = cli_fetch_free(ctx->fetch); /* open calls use `p` */
    ctx->rm = cli_rm_free(ctx->rm);
    return code;
}
