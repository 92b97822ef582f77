/* `selvedge logs`: prints the logs of an application's containers, from their nodes or, if these no
 * longer have them, from the remote log directory. */
#include "client/logs/logs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/core/app-argument.h"
#include "client/core/commands.h"
#include "client/core/options.h"
#include "client/logs/log-places.h"
#include "client/views/rows.h"
#include "common/clock.h"
#include "common/str.h"

#define TAIL_MAX 10000000

struct run_logs {
    struct cli_logs l;
    int rm_status; /* result of the ResourceManager's answer */
    struct sv_error rm_error;
};

/* True if the job's own table is needed: only it records which container ran which instance. It is
 * among the job's aggregated logs if its node no longer has it. */
static bool in_aggregated_table(const struct cli_logs *l, const struct cli_rows *rows)
{
    struct sv_error err = { 0 };
    bool enabled = false;

    return l->ended && rows->no_instances &&
           cli_aggregation_enabled(l->ctx->conf, &enabled, &err) == 0 && enabled;
}

static void on_rows(int status, struct cli_rows *rows, const struct sv_error *err, void *userdata)
{
    struct run_logs *g = userdata;
    struct cli_logs *l = &g->l;
    int r;

    if (status == -ECANCELED)
        return;
    if (status < 0) { /* logs of a forgotten application may be in the remote log directory */
        g->rm_status = status;
        if (err)
            g->rm_error = *err;
        cli_stop(l->ctx, 1);
        return;
    }
    l->rows_known = true;
    l->ended = cli_app_ended(rows->state);
    (void)snprintf(l->owner, sizeof(l->owner), "%s", rows->user);
    if (l->follow && !l->ended) {
        r = cli_logs_follow(l);
        if (r < 0)
            cli_stop_error(l->ctx, r, NULL);
        return;
    }
    if (!in_aggregated_table(l, rows)) {
        l->status = rows->status;
        rows->status = (struct cli_status){ 0 };
    }
    l->rows = calloc(l->status.n + 1, sizeof(*l->rows));
    r = l->rows ? cli_logs_live(l) : -ENOMEM;
    if (r < 0)
        cli_stop_error(l->ctx, r, NULL);
}

/* Parses a duration before now. */
static int parse_since(struct cli_logs *l, const char *text)
{
    int64_t ms, now = sv_wall_ms();

    if (sv_parse_duration_ms(text, 1000, &ms) == 0 && ms > 0 && ms < now) {
        l->since_ms = now - ms;
        return 0;
    }
    (void)cli_fail("logs: --since %s: expected a time before now, such as 90s, 10m or 2h", text);
    return -EINVAL;
}

/* -1: continue, else the exit code. */
static int options(struct cli_logs *l, int argc, char **argv)
{
    uint64_t lines = 0;
    int c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(l->ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        if (c == 'l' && strchr(optarg, '/')) {
            (void)cli_fail("logs: --log %s: expected the name of a file, without a slash", optarg);
            return 2;
        }
        if (c == 's' && parse_since(l, optarg) < 0)
            return 2;
        if (c == 'n' && sv_parse_u64(optarg, 0, TAIL_MAX, &lines) < 0) {
            (void)cli_fail("logs: --tail %s: expected a number of lines", optarg);
            return 2;
        }
        if (c == 'l')
            l->name = optarg;
        else if (c == 'a')
            l->all = true;
        else if (c == 'f')
            l->follow = true;
        else if (c == 'n')
            l->tail = (int64_t)lines;
        else if (c == CLI_OPT_OWNER)
            (void)snprintf(l->owner, sizeof(l->owner), "%s", optarg);
    }
    if (l->all && (l->name || l->follow)) {
        (void)cli_fail("logs: --all excludes --log and --follow");
        return 2;
    }
    if (l->since_ms > 0 && l->follow) {
        (void)cli_fail("logs: --since excludes --follow; --tail 0 --follow shows what is new");
        return 2;
    }
    return argc - optind < 1 || argc - optind > 2 ? cli_usage(l->ctx) : -1;
}

static int read_logs(struct run_logs *g)
{
    struct cli_logs *l = &g->l;
    int r = cli_rows_get(l->ctx, l->app, false, on_rows, g), code;

    if (r < 0)
        return cli_fail("logs: %s", strerror(-r));
    code = cli_loop(l->ctx);
    if (l->rows_known && code != 0)
        return code;
    if (cli_refused(l->ctx, g->rm_status, &g->rm_error)) {
        cli_stop_error(l->ctx, g->rm_status, &g->rm_error);
        return 1;
    }
    if (cli_logs_aggregated(l))
        return l->failed ? 1 : 0;
    if (g->rm_status < 0)
        cli_stop_error(l->ctx, g->rm_status, &g->rm_error);
    return l->failed || g->rm_status < 0 ? 1 : 0;
}

int cli_logs_run(struct cli_ctx *ctx, int argc, char **argv, bool service)
{
    struct run_logs g = { .l = { .ctx = ctx, .tail = -1, .service = service } };
    struct yarn_container_id container;
    const char *text;
    int code = options(&g.l, argc, argv);

    if (code >= 0)
        return code;
    text = argv[optind];
    g.l.only = argv[optind + 1]; /* NULL if missing */
    if (!g.l.only && yarn_container_id_parse(text, &container) >= 0)
        g.l.only = text;
    code = cli_connect_app(ctx, text, &g.l.app);
    if (code != 0)
        return code;
    code = read_logs(&g);
    ctx->fetch = cli_fetch_free(ctx->fetch);
    cli_logs_live_end(&g.l);
    cli_logs_follow_end(&g.l);
    cli_status_free(&g.l.status);
    free(g.l.rows);
    return code;
}

static const struct cli_command *logs_row(const struct cli_ctx *ctx)
{
    for (const struct cli_command *c = ctx->commands; c->name; c++)
        if (strcmp(c->name, "logs") == 0)
            return c;
    return NULL;
}

int cli_logs_found(struct cli_ctx *ctx, char **argv, char *application, char *container,
                   bool service)
{
    int n = optind;
    _cleanup_free_ char **words = calloc((size_t)n + 3, sizeof(*words));
    char *const ids[] = { application, container };

    if (!words || cli_start_over(ctx, logs_row(ctx)) < 0)
        return cli_fail("out of memory");
    memcpy(words, argv, (size_t)n * sizeof(*words));
    for (size_t i = 0; i < SV_ARRAY_LEN(ids) && *ids[i]; i++)
        words[n++] = ids[i];
    return cli_logs_run(ctx, n, words, service);
}

int cli_cmd_logs(struct cli_ctx *ctx, int argc, char **argv)
{
    return cli_logs_run(ctx, argc, argv, false);
}
