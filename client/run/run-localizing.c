/* See run-localizing.h. */
#include "client/run/run-localizing.h"

#include <errno.h>
#include <string.h>

#include "client/http/node-url.h"
#include "client/views/localizing.h"
#include "common/clock.h"

#define ASKED_MAX 8 /* containers per round */

struct run_localizing {
    struct cli_ctx *ctx;
    int64_t round_ms;
    run_localizing_fn tell;
    void *userdata;
    int64_t asked_at;
    unsigned open; /* pending requests */
    unsigned n;    /* of containers that wait for files */
    bool told;     /* some were reported as waiting */
    struct cli_localizing sum;
    struct row {
        char container[YARN_ID_TEXT_MAX]; /* the last one queried */
        bool past;                        /* it has its files, or its node reports nothing */
    } * rows;
    size_t n_rows;
};

struct call {
    struct run_localizing *of;
    struct row *row;
};

struct run_localizing *cli_run_localizing_new(struct cli_ctx *ctx, size_t instances,
                                              int64_t round_ms, run_localizing_fn tell,
                                              void *userdata)
{
    struct run_localizing *l = calloc(1, sizeof(*l));

    if (!l)
        return NULL;
    l->ctx = ctx;
    l->round_ms = round_ms;
    l->tell = tell;
    l->userdata = userdata;
    l->asked_at = sv_now_ms(); /* a job that starts at once causes no queries */
    l->rows = calloc(instances, sizeof(*l->rows));
    l->n_rows = l->rows ? instances : 0;
    return l;
}

void cli_run_localizing_free(struct run_localizing *l)
{
    if (l)
        free(l->rows);
    free(l);
}

static void tell(struct run_localizing *l)
{
    if (l->n > 0 || l->told)
        l->tell(l->n, &l->sum, l->userdata);
    l->told = l->n > 0;
}

static void on_container(int http, const char *body, size_t len, const char *why, void *userdata)
{
    struct call *call = userdata;
    struct run_localizing *l = call->of;
    json_t *root = http == 200 ? json_loadb(body, len, 0, NULL) : NULL;
    const json_t *c = json_object_get(root, "container"), *own = json_object_get(c, "selvedge");
    _cleanup_free_ struct cli_localizing *one = cli_localizing_read(c);

    (void)why;
    call->row->past =
        http == 200 && !one && (!own || json_is_integer(json_object_get(own, "launchMs")));
    if (one) {
        cli_localizing_add(&l->sum, one);
        l->n++;
    }
    json_decref(root);
    free(call);
    if (--l->open == 0 && http != -ECANCELED)
        tell(l);
}

static bool ask(struct run_localizing *l, const struct cli_row *row, struct row *mine)
{
    struct call *call = NULL;
    _cleanup_free_ char *url = NULL;

    if (strcmp(mine->container, row->container) != 0) {
        memcpy(mine->container, row->container, sizeof(mine->container));
        mine->past = false;
    }
    if (mine->past || row->done || !*row->http || !*row->container ||
        cli_node_url(row->http, row->container, "", l->ctx->user, &url) < 0)
        return false;
    call = malloc(sizeof(*call));
    if (call)
        *call = (struct call){ l, mine };
    if (!call || cli_fetch_get(l->ctx->fetch, url, CLI_BODY_MAX, on_container, call) < 0) {
        free(call);
        return false;
    }
    l->open++;
    return true;
}

void cli_run_localizing_poll(struct run_localizing *l, const struct cli_status *s)
{
    const int64_t now = sv_now_ms();
    unsigned asked = 0;

    if (!l || l->open || now - l->asked_at < l->round_ms)
        return;
    l->asked_at = now;
    l->n = 0;
    memset(&l->sum, 0, sizeof(l->sum));
    for (size_t i = 0; i < s->n && i < l->n_rows && asked < ASKED_MAX; i++)
        asked += ask(l, &s->rows[i], &l->rows[i]);
    if (l->open == 0)
        tell(l);
}
