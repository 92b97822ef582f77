/* See run-usage.h. Hostile: the nodes' answers. */
#include "client/run/run-usage.h"

#include <string.h>

#include "client/http/node-url.h"

struct figures { /* usage of one instance's last container */
    char container[YARN_ID_TEXT_MAX];
    bool known;
    int64_t peak_bytes, cpu_ms, localize_ms, launch_ms;
    char not_enforced[64];
};

struct run_usage {
    struct cli_ctx *ctx;
    struct figures *figures;
    size_t n;
};

struct usage_call {
    struct figures *figures;
    char container[YARN_ID_TEXT_MAX];
};

struct run_usage *cli_run_usage_new(struct cli_ctx *ctx, size_t instances)
{
    struct run_usage *u = calloc(1, sizeof(*u));

    if (!u)
        return NULL;
    u->ctx = ctx;
    u->n = instances;
    u->figures = calloc(instances, sizeof(*u->figures));
    if (!u->figures) {
        free(u);
        return NULL;
    }
    return u;
}

void cli_run_usage_free(struct run_usage *u)
{
    if (u)
        free(u->figures);
    free(u);
}

static void on_answer(int http, const char *body, size_t len, const char *why, void *userdata)
{
    struct usage_call *call = userdata;
    struct figures *f = call->figures;
    struct cli_row row = { .peak_bytes = -1, .cpu_ms = -1, .localize_ms = -1, .launch_ms = -1 };

    (void)why;
    if (http == 200)
        cli_row_usage(&row, body, len);
    free(row.localizing);                             /* it has ended */
    if (strcmp(f->container, call->container) == 0) { /* not restarted meanwhile */
        f->peak_bytes = row.peak_bytes;
        f->cpu_ms = row.cpu_ms;
        f->localize_ms = row.localize_ms;
        f->launch_ms = row.launch_ms;
        memcpy(f->not_enforced, row.not_enforced, sizeof(f->not_enforced));
        f->known = true;
    }
    free(call);
}

static void ask(struct run_usage *u, struct figures *f, const struct cli_row *row)
{
    struct usage_call *call = malloc(sizeof(*call));
    _cleanup_free_ char *url = NULL;

    *f = (struct figures){ .peak_bytes = -1, .cpu_ms = -1, .localize_ms = -1, .launch_ms = -1 };
    memcpy(f->container, row->container, sizeof(f->container));
    if (call) {
        call->figures = f;
        memcpy(call->container, row->container, sizeof(call->container));
    }
    if (!call || cli_node_url(row->http, row->container, "", u->ctx->user, &url) < 0 ||
        cli_fetch_get(u->ctx->fetch, url, CLI_BODY_MAX, on_answer, call) < 0) {
        free(call);
        f->known = true; /* no further query: shown as "-" */
    }
}

bool cli_run_usage_ask(struct run_usage *u, size_t i, const struct cli_row *row)
{
    struct figures *f = i < u->n ? &u->figures[i] : NULL;

    if (!f || !*row->container || !*row->http)
        return true;
    if (strcmp(f->container, row->container) != 0)
        ask(u, f, row);
    return f->known;
}

void cli_run_usage_copy(const struct run_usage *u, struct cli_status *s)
{
    for (size_t i = 0; i < s->n && i < u->n; i++) {
        const struct figures *f = &u->figures[i];
        struct cli_row *row = &s->rows[i];

        if (!f->known || strcmp(f->container, row->container) != 0)
            continue;
        row->peak_bytes = f->peak_bytes;
        row->cpu_ms = f->cpu_ms;
        row->localize_ms = f->localize_ms;
        row->launch_ms = f->launch_ms;
        memcpy(row->not_enforced, f->not_enforced, sizeof(row->not_enforced));
    }
}
