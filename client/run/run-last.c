/* See run-last.h. Hostile: the nodes' answers. */
#include "client/run/run-last.h"

#include <string.h>

#include "client/http/node-url.h"
#include "common/clock.h"

#define WAIT_MS 5000

enum progress { TO_ASK, ASKED, OVER };

struct run_last {
    struct cli_ctx *ctx;
    struct cli_status *status;
    int64_t began;
    size_t n;
    enum progress *rows;
};

struct last_call {
    struct run_last *last;
    size_t row;
    char container[YARN_ID_TEXT_MAX];
};

static void mark_unknown(struct cli_status *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->rows[i].done)
            snprintf(s->rows[i].state, sizeof(s->rows[i].state), "unknown");
}

struct run_last *cli_run_last_new(struct cli_ctx *ctx, struct cli_status *s)
{
    struct run_last *l = calloc(1, sizeof(*l));

    if (!l) {
        mark_unknown(s);
        return NULL;
    }
    *l = (struct run_last){ .ctx = ctx, .status = s, .began = sv_now_ms(), .n = s->n };
    l->rows = calloc(s->n + 1, sizeof(*l->rows));
    if (!l->rows) {
        mark_unknown(s);
        free(l);
        return NULL;
    }
    return l;
}

void cli_run_last_free(struct run_last *l)
{
    if (l)
        free(l->rows);
    free(l);
}

/* Returns the row of a call; NULL if another container is in its place meanwhile. */
static struct cli_row *row_of(const struct last_call *call)
{
    const struct cli_status *s = call->last->status;

    return call->row < s->n && strcmp(s->rows[call->row].container, call->container) == 0
               ? &s->rows[call->row]
               : NULL;
}

/* A node that is unreachable, or no longer knows the container, is not queried again. */
static void on_answer(int http, const char *body, size_t len, const char *why, void *userdata)
{
    struct last_call *call = userdata;
    struct cli_row *row = row_of(call);
    bool again = false;

    (void)why;
    if (http == 200 && row && !row->done) {
        if (cli_row_ended(row, body, len))
            call->last->status->done++;
        else
            again = true; /* it is being killed */
    }
    call->last->rows[call->row] = again ? TO_ASK : OVER;
    free(call);
}

static void ask(struct run_last *l, size_t i)
{
    const struct cli_row *row = &l->status->rows[i];
    struct last_call *call = malloc(sizeof(*call));
    _cleanup_free_ char *url = NULL;

    l->rows[i] = ASKED;
    if (call) {
        *call = (struct last_call){ .last = l, .row = i };
        memcpy(call->container, row->container, sizeof(call->container));
    }
    if (!call || cli_node_url(row->http, row->container, "", l->ctx->user, &url) < 0 ||
        cli_fetch_get(l->ctx->fetch, url, CLI_BODY_MAX, on_answer, call) < 0) {
        free(call);
        l->rows[i] = OVER;
    }
}

bool cli_run_last_poll(struct run_last *l)
{
    bool open = false;

    for (size_t i = 0; i < l->n && i < l->status->n; i++) {
        const struct cli_row *row = &l->status->rows[i];

        if (row->done || !*row->container || !*row->http)
            continue;
        if (l->rows[i] == TO_ASK)
            ask(l, i);
        open = open || l->rows[i] != OVER;
    }
    if (open && sv_now_ms() - l->began < WAIT_MS)
        return false;
    mark_unknown(l->status);
    return true;
}
