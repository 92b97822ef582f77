/* `selvedge attach APPLICATION`: the output of its containers from here on, until it ends. Of a job
 * of `selvedge run` stdout goes to stdout and stderr to stderr, as if it had not been left.
 * Hostile: the nodes' answers. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <uthash.h>

#include "client/follow.h"
#include "client/options.h"
#include "client/rows.h"
#include "common/str.h"

#define POLL_US (500 * 1000)
#define TABLE_POLLS 4 /* of the logs, between two reads of the table */
#define EXIT_LEFT 130 /* Ctrl-C */

struct stream { /* one container */
    char container[YARN_ID_TEXT_MAX];
    struct cli_follow *out, *err;
    bool done;
    UT_hash_handle hh;
};

struct attach {
    struct cli_ctx *ctx;
    struct yarn_app_id app;
    struct stream *streams;
    sd_event_source *timer, *on_int;
    unsigned polls;
    bool of_run; /* its ApplicationMaster has the table */
    bool seen;   /* a table was read: containers that come now are new */
    bool asking, ended;
};

/* ---- Streams ---- */

static struct cli_follow *open_log(const struct attach *a, const struct cli_row *row,
                                   const char *name, const char *prefix, FILE *out)
{
    struct cli_follow *f =
        cli_follow_new(a->ctx->fetch, a->ctx->user, row->http, row->container, name, prefix, out);

    if (f && !a->seen && cli_follow_tail(f, 0) < 0)
        return cli_follow_free(f);
    return f;
}

static void add(struct attach *a, const struct cli_row *row, bool several)
{
    struct stream *s = calloc(1, sizeof(*s));
    char prefix[24] = "";

    if (!s)
        return; /* the next table has it again */
    if (several)
        snprintf(prefix, sizeof(prefix), "[%d] ", row->instance);
    snprintf(s->container, sizeof(s->container), "%s", row->container);
    s->out = open_log(a, row, "stdout", prefix, stdout);
    s->err = open_log(a, row, "stderr", prefix, stderr);
    HASH_ADD_STR(a->streams, container, s);
}

/* True once all of it was printed. */
static bool poll_stream(struct stream *s)
{
    if (s->out)
        cli_follow_poll(s->out, s->done);
    if (s->err)
        cli_follow_poll(s->err, s->done);
    return (!s->out || cli_follow_complete(s->out)) && (!s->err || cli_follow_complete(s->err));
}

/* ---- The table ---- */

static void take_table(struct attach *a, const struct cli_status *table)
{
    for (size_t i = 0; i < table->n; i++) {
        const struct cli_row *row = &table->rows[i];
        struct stream *s;

        /* The ResourceManager's list, while the ApplicationMaster does not answer. */
        if (!*row->container || !*row->http ||
            (a->of_run && sv_has_suffix(row->container, "_000001")))
            continue;
        HASH_FIND_STR(a->streams, row->container, s);
        if (!s && (!row->done || a->seen))
            add(a, row, table->n > 1);
        else if (s)
            s->done = s->done || row->done;
    }
}

static void on_table(int status, struct cli_rows *rows, const struct sv_error *err, void *userdata)
{
    struct attach *a = userdata;
    struct stream *s, *tmp;
    bool whole = true;

    a->asking = false;
    if (status < 0) {
        cli_stop_error(a->ctx, status, err);
        return;
    }
    for (size_t i = 0; a->of_run && i < rows->status.n; i++)
        whole = whole && !sv_has_suffix(rows->status.rows[i].container, "_000001");
    if (whole) {
        take_table(a, &rows->status);
        a->seen = true;
    }
    a->ended = cli_app_ended(rows->state);
    HASH_ITER (hh, a->streams, s, tmp)
        s->done = s->done || a->ended;
}

/* ---- The end ---- */

static void on_last_report(int status, const struct cli_report *report, size_t n,
                           const struct sv_error *err, void *userdata)
{
    struct attach *a = userdata;

    if (status < 0 || n == 0) {
        cli_stop_error(a->ctx, status, err);
        return;
    }
    (void)fflush(stdout);
    if (!a->ctx->output.quiet)
        fprintf(stderr, "%s %s\n", a->ctx->subject, cli_final_name(report->final));
    cli_stop(a->ctx, cli_report_code(report));
}

static void problems(const struct attach *a)
{
    for (const struct stream *s = a->streams; s; s = s->hh.next) {
        const char *why = s->out ? cli_follow_problem(s->out) : NULL;

        if (why && cli_follow_missing(s->out) != -ENOENT)
            (void)cli_fail("output of %s is incomplete: %s", s->container, why);
    }
}

static int on_timer(sd_event_source *t, uint64_t usec, void *userdata)
{
    struct attach *a = userdata;
    struct stream *s, *tmp;
    bool complete = true;
    int r = 0;

    HASH_ITER (hh, a->streams, s, tmp)
        complete = poll_stream(s) && complete;
    if (a->ended && complete) {
        problems(a);
        r = cli_rm_report(a->ctx->rm, a->app, on_last_report, a);
    } else {
        if (!a->ended && !a->asking && ++a->polls % TABLE_POLLS == 0) {
            r = cli_rows_get(a->ctx, a->app, false, on_table, a);
            a->asking = r >= 0;
        }
        (void)sd_event_source_set_time(t, usec + POLL_US); /* cannot fail here, ignoring */
        (void)sd_event_source_set_enabled(t, SD_EVENT_ONESHOT);
    }
    if (r < 0)
        cli_stop_error(a->ctx, r, NULL);
    return 0;
}

static int on_interrupt(sd_event_source *s, const struct signalfd_siginfo *info, void *userdata)
{
    const struct attach *a = userdata;

    (void)s;
    (void)info;
    fprintf(stderr, "selvedge: left; %s goes on: selvedge attach %s, selvedge kill %s\n",
            a->ctx->subject, a->ctx->subject, a->ctx->subject);
    cli_stop(a->ctx, EXIT_LEFT);
    return 0;
}

/* ---- The start ---- */

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct attach *a = userdata;
    int r;

    if (status < 0 || n == 0) {
        cli_stop_error(a->ctx, status, err);
        return;
    }
    if (cli_app_ended(report->state)) {
        (void)cli_fail("%s has ended; selvedge logs shows its output", a->ctx->subject);
        cli_stop(a->ctx, cli_report_code(report));
        return;
    }
    a->of_run = strcmp(report->type, "SELVEDGE") == 0;
    a->polls = TABLE_POLLS - 1; /* at once */
    r = sd_event_add_time_relative(a->ctx->event, &a->timer, CLOCK_MONOTONIC, 0, 0, on_timer, a);
    if (r < 0)
        cli_stop_error(a->ctx, r, NULL);
}

static int catch_interrupt(struct attach *a)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -errno;
    return sd_event_add_signal(a->ctx->event, &a->on_int, SIGINT, on_interrupt, a);
}

int cli_cmd_attach(struct cli_ctx *ctx, int argc, char **argv)
{
    struct attach a = { .ctx = ctx };
    int code = cli_option_app(ctx, argc, argv, NULL, 0, &a.app), r;
    struct stream *s, *tmp;

    if (code != 0)
        return code;
    r = catch_interrupt(&a);
    if (r >= 0)
        r = cli_rm_report(ctx->rm, a.app, on_report, &a);
    code = r < 0 ? cli_fail("attach: %s", strerror(-r)) : cli_loop(ctx);
    sd_event_source_disable_unref(a.timer);
    sd_event_source_disable_unref(a.on_int);
    ctx->fetch = cli_fetch_free(ctx->fetch); /* its callbacks use the streams */
    ctx->rm = cli_rm_free(ctx->rm);
    HASH_ITER (hh, a.streams, s, tmp) {
        HASH_DEL(a.streams, s);
        cli_follow_free(s->out);
        cli_follow_free(s->err);
        free(s);
    }
    return code;
}
