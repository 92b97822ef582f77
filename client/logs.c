/* `selvedge logs`: prints the logs of an application's containers, read from their nodes one after
 * the other, so that the output is in order. */
#include <errno.h>
#include <string.h>

#include "client/commands.h"
#include "client/follow.h"
#include "client/options.h"
#include "client/rows.h"
#include "common/str.h"

struct logs {
    struct cli_ctx *ctx;
    const char *only;     /* a container's id or an instance's number; NULL = all */
    const char *names[2]; /* of the files, "stdout" and "stderr" */
    size_t n_names;
    struct cli_status status; /* taken from the rows */
    size_t row, name;
    struct cli_follow *follow;
    sd_event_source *timer;
    bool found, failed;
};

static bool is_selected(const struct logs *l, const struct cli_row *row)
{
    uint64_t instance;

    if (!*row->container || !*row->http)
        return false;
    if (!l->only || strcmp(l->only, row->container) == 0)
        return true;
    return sv_parse_u64(l->only, 0, INT32_MAX, &instance) == 0 && (int)instance == row->instance;
}

/* Opens the next file; false if there is none. */
static bool open_next(struct logs *l)
{
    for (; l->row < l->status.n; l->row++, l->name = 0) {
        const struct cli_row *row = &l->status.rows[l->row];
        const char *name;

        if (l->name == l->n_names || !is_selected(l, row))
            continue;
        l->found = true;
        name = l->names[l->name++];
        if (!l->only || l->n_names > 1)
            printf("--- instance %d, %s on %s, %s\n", row->instance, row->container, row->node,
                   name);
        l->follow = cli_follow_new(l->ctx->fetch, l->ctx->user, row->http, row->container, name, "",
                                   stdout);
        return l->follow != NULL;
    }
    return false;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct logs *l = userdata;

    if (l->follow && cli_follow_complete(l->follow)) {
        const char *problem = cli_follow_problem(l->follow);

        if (problem) {
            (void)cli_fail("%s", problem);
            l->failed = true;
        }
        l->follow = cli_follow_free(l->follow);
    }
    if (!l->follow && !open_next(l)) {
        if (!l->found)
            (void)cli_fail(l->only ? "%s: no container or instance %s is known"
                                   : "%s: no container is known; its node may have removed the "
                                     "logs, else yarn logs reads aggregated ones",
                           l->ctx->subject, l->only);
        cli_stop(l->ctx, l->found && !l->failed ? 0 : 1);
        return 0;
    }
    cli_follow_poll(l->follow, true);
    (void)sd_event_source_set_time(s, usec + 10 * 1000);
    (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
    return 0;
}

static void on_rows(int status, struct cli_rows *rows, const struct sv_error *err, void *userdata)
{
    struct logs *l = userdata;
    int r;

    if (status < 0) {
        cli_stop_error(l->ctx, status, err);
        return;
    }
    l->status = rows->status;
    rows->status = (struct cli_status){ 0 };
    r = sd_event_add_time_relative(l->ctx->event, &l->timer, CLOCK_MONOTONIC, 0, 0, on_timer, l);
    if (r < 0)
        cli_stop_error(l->ctx, r, NULL);
}

int cli_cmd_logs(struct cli_ctx *ctx, int argc, char **argv)
{
    struct logs l = { .ctx = ctx, .names = { "stdout", "stderr" }, .n_names = 2 };
    struct yarn_app_id app;
    int c, code, r;

    optind = 0; /* begin with a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        if (strchr(optarg, '/')) {
            (void)cli_fail("logs: --log %s: expected the name of a file, without a slash", optarg);
            return 2;
        }
        l.names[0] = optarg;
        l.n_names = 1;
    }
    if (argc - optind < 1 || argc - optind > 2)
        return cli_usage(ctx);
    ctx->subject = argv[optind];
    code = cli_parse_app(ctx->subject, &app);
    if (code == 0)
        code = cli_connect(ctx);
    if (code != 0)
        return code;
    l.only = argv[optind + 1]; /* NULL if missing */
    r = cli_rows_get(ctx, app, false, on_rows, &l);
    code = r < 0 ? cli_fail("logs: %s", strerror(-r)) : cli_loop(ctx);
    ctx->fetch = cli_fetch_free(ctx->fetch);
    sd_event_source_disable_unref(l.timer);
    cli_follow_free(l.follow);
    cli_status_free(&l.status);
    return code;
}
