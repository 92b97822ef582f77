/* `selvedge logs --follow`: the logs of a running application as they grow, of all its containers
 * at once, also of those that start later, until it ends. See logs.h. Hostile: the nodes' answers.
 */
#include <errno.h>
#include <string.h>
#include <uthash.h>

#include "client/follow.h"
#include "client/logs.h"
#include "client/rows.h"
#include "common/str.h"

#define POLL_USEC (500 * 1000)
#define TABLE_POLLS 4 /* of the logs, between two reads of the table */

struct stream { /* a container */
    char container[YARN_ID_TEXT_MAX];
    struct cli_follow *logs[2]; /* stdout and stderr, or the one that was asked for */
    bool done;
    UT_hash_handle hh;
};

struct cli_following {
    struct cli_logs *l;
    struct stream *streams;
    sd_event_source *timer;
    unsigned polls;
    bool asking, ended;
    bool of_run; /* the table is of selvedge run */
};

static struct cli_follow *open_log(struct cli_following *v, const struct cli_row *row,
                                   const char *name)
{
    char prefix[24] = "";
    struct cli_follow *f;

    if (!v->l->only)
        (void)snprintf(prefix, sizeof prefix, "[%d] ", row->instance);
    f = cli_follow_new(v->l->ctx->fetch, v->l->ctx->user, row->http, row->container, name, prefix,
                       stdout);
    if (f && v->l->tail >= 0 && cli_follow_tail(f, (uint64_t)v->l->tail) < 0)
        return cli_follow_free(f);
    return f;
}

static void add(struct cli_following *v, const struct cli_row *row)
{
    struct stream *s = calloc(1, sizeof *s);

    if (!s)
        return; /* the next table has it again */
    (void)snprintf(s->container, sizeof s->container, "%s", row->container);
    s->logs[0] = open_log(v, row, v->l->name ? v->l->name : "stdout");
    s->logs[1] = v->l->name ? NULL : open_log(v, row, "stderr");
    HASH_ADD_STR(v->streams, container, s);
}

static struct stream *find(struct cli_following *v, const char *container)
{
    struct stream *s;

    HASH_FIND_STR(v->streams, container, s);
    return s;
}

/* The ApplicationMaster of `selvedge run` lists its instances alone; the ResourceManager, which is
 * asked where that one does not answer, lists it as well, and with other numbers. */
static bool has_master(const struct cli_status *table)
{
    for (size_t i = 0; i < table->n; i++)
        if (sv_has_suffix(table->rows[i].container, "_000001"))
            return true;
    return false;
}

static void take_row(struct cli_following *v, const struct cli_row *row, bool may_add)
{
    struct stream *s;

    if (!*row->container || !*row->http || !cli_logs_selected(v->l, row->container, row))
        return;
    if (may_add && !find(v, row->container))
        add(v, row);
    s = find(v, row->container);
    if (s && row->done)
        s->done = true;
}

static void take_table(struct cli_following *v, struct cli_status *table, bool ended)
{
    struct cli_logs *l = v->l;
    bool other = v->of_run && has_master(table);
    struct stream *s, *tmp;

    v->ended = ended;
    for (size_t i = 0; i < table->n; i++)
        take_row(v, &table->rows[i], !other);
    HASH_ITER (hh, v->streams, s, tmp)
        s->done |= ended;
    if (other || table->n == 0)
        return;
    v->of_run = !has_master(table);
    cli_status_free(&l->status);
    l->status = *table;
    *table = (struct cli_status){ 0 };
}

static void on_table(int status, struct cli_rows *rows, const struct sv_error *err, void *userdata)
{
    struct cli_following *v = userdata;

    if (status == -ECANCELED)
        return;
    v->asking = false;
    if (status < 0) {
        cli_stop_error(v->l->ctx, status, err);
        return;
    }
    take_table(v, &rows->status, cli_app_ended(rows->state));
}

/* Polls the stream's logs: true once both are complete. */
static bool poll_stream(struct stream *s)
{
    bool complete = true;

    for (size_t i = 0; i < SV_ARRAY_LEN(s->logs); i++) {
        if (!s->logs[i])
            continue;
        cli_follow_poll(s->logs[i], s->done);
        complete &= cli_follow_complete(s->logs[i]);
    }
    return complete;
}

/* What was printed, for the part that reads aggregated logs. */
static void settle(struct cli_following *v)
{
    struct cli_logs *l = v->l;

    l->rows = calloc(l->status.n + 1, sizeof *l->rows);
    for (size_t i = 0; l->rows && i < l->status.n; i++) {
        struct stream *s = find(v, l->status.rows[i].container);
        const struct cli_follow *f = s ? s->logs[0] : NULL;

        if (!f)
            continue;
        l->rows[i].state = cli_follow_missing(f) ? CLI_LOG_MISSING : CLI_LOG_PRINTED;
        if (cli_follow_missing(f) == -ENOENT)
            (void)snprintf(l->rows[i].why, sizeof l->rows[i].why, "has none of them");
        else if (cli_follow_missing(f))
            (void)snprintf(l->rows[i].why, sizeof l->rows[i].why, "cannot be reached");
    }
    cli_stop(l->ctx, 0);
}

static int on_timer(sd_event_source *t, uint64_t usec, void *userdata)
{
    struct cli_following *v = userdata;
    struct stream *s, *tmp;
    bool complete = true;

    HASH_ITER (hh, v->streams, s, tmp)
        complete &= poll_stream(s);
    if (v->ended && complete) {
        settle(v);
        return 0;
    }
    if (!v->ended && !v->asking && ++v->polls % TABLE_POLLS == 0)
        v->asking = cli_rows_get(v->l->ctx, v->l->app, false, on_table, v) >= 0;
    (void)sd_event_source_set_time(t, usec + POLL_USEC);
    (void)sd_event_source_set_enabled(t, SD_EVENT_ONESHOT);
    return 0;
}

int cli_logs_follow(struct cli_logs *l)
{
    struct cli_following *v = l->following = calloc(1, sizeof *v);

    if (!v)
        return -ENOMEM;
    v->l = l;
    v->polls = TABLE_POLLS - 1; /* at once */
    return sd_event_add_time_relative(l->ctx->event, &v->timer, CLOCK_MONOTONIC, 0, 0, on_timer, v);
}

void cli_logs_follow_end(struct cli_logs *l)
{
    struct cli_following *v = l->following;
    struct stream *s, *tmp;

    if (!v)
        return;
    sd_event_source_disable_unref(v->timer);
    HASH_ITER (hh, v->streams, s, tmp) {
        HASH_DEL(v->streams, s);
        for (size_t i = 0; i < SV_ARRAY_LEN(s->logs); i++)
            cli_follow_free(s->logs[i]);
        free(s);
    }
    free(v);
    l->following = NULL;
}
