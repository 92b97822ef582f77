/* See rows.h. */
#include "client/views/rows.h"

#include <errno.h>
#include <string.h>

#include "client/http/node-url.h"
#include "client/views/ended.h"
#include "common/str.h"

/* The ApplicationMaster is the first container of its attempt; above its number an id has the
 * ResourceManager's epoch (Hadoop's ContainerId.CONTAINER_ID_BITMASK). */
#define SEQUENCE INT64_C(0xffffffffff)
#define MASTER 1
#define DIAGNOSTICS_MAX 3100

struct rows_query {
    struct cli_ctx *ctx;
    struct cli_rows rows;
    struct yarn_attempt_id attempt;
    bool usage, of_run;
    int exit_code; /* exit code of an ended application */
    size_t open;   /* pending usage requests, plus one while they are being issued */
    bool canceled;
    cli_rows_fn fn;
    void *userdata;
};

struct row_usage_call {
    struct rows_query *query;
    struct cli_row *row;
};

static void done(struct rows_query *g, int status, const struct sv_error *err)
{
    if (!g->canceled)
        g->fn(status, &g->rows, err, g->userdata);
    cli_status_free(&g->rows.status);
    free(g);
}

static void usage_done(struct rows_query *g)
{
    if (--g->open == 0)
        done(g, 0, NULL);
}

static void on_usage(int http, const char *body, size_t len, const char *why, void *userdata)
{
    struct row_usage_call *call = userdata;
    struct rows_query *g = call->query;

    (void)why;
    if (http == 200 &&
        (call->row->done || !cli_app_ended(g->rows.state) || !cli_row_ended(call->row, body, len)))
        cli_row_usage(call->row, body, len);
    g->canceled = g->canceled || http == -ECANCELED;
    free(call);
    usage_done(g);
}

static void request_usage(struct rows_query *g)
{
    g->open = 1;
    for (size_t i = 0; g->usage && i < g->rows.status.n; i++) {
        struct cli_row *row = &g->rows.status.rows[i];
        _cleanup_free_ char *url = NULL;
        struct row_usage_call *call = *row->http ? malloc(sizeof(*call)) : NULL;

        if (!call)
            continue;
        *call = (struct row_usage_call){ g, row };
        if (cli_node_url(row->http, row->container, "", g->ctx->user, &url) < 0 ||
            cli_fetch_get(g->ctx->fetch, url, CLI_BODY_MAX, on_usage, call) < 0)
            free(call);
        else
            g->open++;
    }
    usage_done(g);
}

static void row_of_container(struct cli_row *row, const struct cli_container_report *c)
{
    const char *http = cli_without_scheme(c->http_address);
    char diagnostics[DIAGNOSTICS_MAX];

    row->tries = 1;
    row->peak_bytes = row->cpu_ms = row->localize_ms = row->launch_ms = -1;
    snprintf(row->state, sizeof(row->state), "%s", c->state);
    yarn_container_id_text(c->id, row->container);
    yarn_node_id_text(&c->node, row->node);
    snprintf(row->http, sizeof(row->http), "%s", http);
    row->done = strcmp(c->state, "COMPLETE") == 0;
    row->exit_status = c->exit_status;
    sv_escape(diagnostics, sizeof(diagnostics), c->diagnostics);
    if (*diagnostics)
        row->diagnostics = strdup(diagnostics); /* NULL when out of memory, ignoring */
}

static void on_containers(int status, const struct cli_container_report *list, size_t n,
                          const struct sv_error *err, void *userdata)
{
    struct rows_query *g = userdata;
    struct cli_status *s = &g->rows.status;

    g->canceled = status == -ECANCELED;
    if (status == 0 && !(s->rows = calloc(n + 1, sizeof(*s->rows))))
        status = -ENOMEM;
    if (status < 0) {
        done(g, status, err);
        return;
    }
    snprintf(s->name, sizeof(s->name), "%s", g->rows.name);
    s->finished = cli_app_ended(g->rows.state);
    s->exit_code = g->exit_code;
    g->rows.no_instances = g->of_run;
    for (size_t i = 0; i < n; i++) {
        struct cli_row *row = &s->rows[s->n];

        if (g->of_run && (list[i].id.id & SEQUENCE) == MASTER)
            continue;
        row_of_container(row, &list[i]);
        row->instance = row->number = g->of_run ? -1 : (int)i;
        s->done += row->done;
        s->n++;
    }
    request_usage(g);
}

static void request_containers(struct rows_query *g)
{
    int r = cli_rm_containers(g->ctx->rm, g->attempt, on_containers, g);

    if (r < 0)
        done(g, r, NULL);
}

static void on_status(int http, const char *body, size_t len, const char *why, void *userdata)
{
    struct rows_query *g = userdata;

    (void)why;
    g->canceled = http == -ECANCELED;
    if (g->canceled)
        done(g, -ECANCELED, NULL);
    else if (http == 200 && cli_status_parse(body, len, &g->rows.status, NULL) == 0)
        request_usage(g);
    else
        request_containers(g);
}

static void on_table(int status, struct cli_status *table, void *userdata)
{
    struct rows_query *g = userdata;

    g->canceled = status == -ECANCELED;
    if (g->canceled) {
        done(g, status, NULL);
    } else if (status == 0) {
        g->rows.status = *table;
        if (!table->finished) /* as `run` told it */
            g->rows.status.exit_code = g->exit_code;
        g->rows.status.finished = true;
        for (size_t i = 0; i < table->n; i++) /* killed with the job: its node knows how it ended */
            if (!table->rows[i].done)
                snprintf(table->rows[i].state, sizeof(table->rows[i].state), "unknown");
        request_usage(g);
    } else {
        request_containers(g);
    }
}

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct rows_query *g = userdata;
    struct cli_rows *rows = &g->rows;

    g->canceled = status == -ECANCELED;
    if (status < 0 || n == 0) {
        done(g, status < 0 ? status : -ENOENT, err);
        return;
    }
    rows->state = report->state;
    rows->final = report->final;
    snprintf(rows->name, sizeof(rows->name), "%s", report->name);
    snprintf(rows->user, sizeof(rows->user), "%s", report->user);
    snprintf(rows->queue, sizeof(rows->queue), "%s", report->queue);
    snprintf(rows->diagnostics, sizeof(rows->diagnostics), "%s", report->diagnostics);
    g->exit_code = cli_app_ended(report->state) ? cli_report_code(report) : 0;
    g->attempt = report->attempt;
    g->of_run = strcmp(report->type, "SELVEDGE") == 0;
    if (report->attempt.attempt == 0) { /* none yet; or of an ended one, none is known any more */
        rows->no_instances = g->of_run && cli_app_ended(report->state);
        done(g, 0, NULL);
    } else if (cli_app_ended(report->state) && g->of_run &&
               cli_ended_get(g->ctx, rows->app_text, on_table, g) >= 0) {
        return;
    } else if (report->state != CLI_APP_RUNNING || !g->of_run ||
               strncmp(report->tracking_url, "http", 4) != 0 ||
               cli_fetch_get_of_job(g->ctx->fetch, report->tracking_url, CLI_BODY_MAX, on_status,
                                    g) < 0) {
        request_containers(g);
    }
}

int cli_rows_get(struct cli_ctx *ctx, struct yarn_app_id app, bool usage, cli_rows_fn fn,
                 void *userdata)
{
    struct rows_query *g = calloc(1, sizeof(*g));
    int r;

    if (!g)
        return -ENOMEM;
    g->ctx = ctx;
    g->rows.app = app;
    yarn_app_id_text(app, g->rows.app_text);
    g->usage = usage;
    g->fn = fn;
    g->userdata = userdata;
    r = cli_rm_report(ctx->rm, app, on_report, g);
    if (r < 0)
        free(g);
    return r;
}
