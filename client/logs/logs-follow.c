/* `selvedge logs --follow`: follows the logs of all containers of a running application, including
 * later ones, until it ends. See logs.h. Hostile: the nodes' answers. */
#include <errno.h>

#include "client/logs/follow-app.h"
#include "client/logs/logs.h"

struct cli_following {
    struct cli_logs *l;
    struct cli_follow_app follow;
};

static void on_row(const struct cli_row *row, size_t rows, bool first, void *userdata)
{
    struct cli_following *v = userdata;

    (void)rows;
    (void)first;
    if (cli_logs_selected(v->l, row->container, row))
        cli_streams_add(v->follow.streams, row, !v->l->only, v->l->tail);
}

static void on_table(struct cli_status *table, void *userdata)
{
    struct cli_following *v = userdata;

    cli_status_free(&v->l->status);
    v->l->status = *table;
    *table = (struct cli_status){ 0 };
}

/* Marks printed containers, for the part that reads aggregated logs. */
static void on_ended(void *userdata)
{
    struct cli_following *v = userdata;
    struct cli_logs *l = v->l;

    l->rows = calloc(l->status.n + 1, sizeof(*l->rows));
    for (size_t i = 0; l->rows && i < l->status.n; i++) {
        const struct cli_follow *f =
            cli_streams_log(v->follow.streams, l->status.rows[i].container, 0);

        if (!f)
            continue;
        l->rows[i].state = cli_follow_missing(f) ? CLI_LOG_MISSING : CLI_LOG_PRINTED;
        if (cli_follow_missing(f))
            (void)snprintf(l->rows[i].why, sizeof(l->rows[i].why), "%s",
                           cli_logs_missing_text(cli_follow_missing(f)));
    }
    cli_stop(l->ctx, 0);
}

int cli_logs_follow(struct cli_logs *l)
{
    static const struct cli_follow_app_ops ops = { on_row, on_table, on_ended };
    struct cli_following *v = l->following = calloc(1, sizeof(*v));

    if (!v)
        return -ENOMEM;
    v->l = l;
    v->follow = (struct cli_follow_app){
        .ctx = l->ctx,
        .app = l->app,
        .streams = cli_streams_new(l->ctx, l->name, l->service ? ".txt" : "", stdout, stdout),
        .ops = &ops,
        .userdata = v,
    };
    return v->follow.streams ? cli_follow_app_start(&v->follow) : -ENOMEM;
}

void cli_logs_follow_end(struct cli_logs *l)
{
    struct cli_following *v = l->following;

    if (!v)
        return;
    cli_follow_app_stop(&v->follow);
    cli_streams_free(v->follow.streams);
    free(v);
    l->following = NULL;
}
