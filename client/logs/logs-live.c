/* `selvedge logs` from the nodes: one container after the other, so that the output is in order. An
 * unreachable node is not retried. See logs.h. Hostile: the nodes' answers. */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "client/http/node-url.h"
#include "client/logs/follow.h"
#include "client/logs/log-time.h"
#include "client/logs/logs.h"
#include "common/str.h"

#define FILES_MAX 1000 /* per container, with --all */
#define TRIES 2
#define STEP_MS 1u /* initial polling interval; doubled while nothing arrives */
#define STEP_MAX_MS 16u

struct cli_live {
    struct cli_logs *l;
    size_t row, name;
    char **names; /* names of the row's files, if `listed` */
    bool listed, listing;
    bool printed;        /* a file of the row was printed */
    bool passed_over;    /* a file of the row was skipped because of --since */
    char gone[300][264]; /* unreachable nodes, "host:port" */
    size_t n_gone;
    struct cli_follow *follow;
    sd_event_source *timer;
    unsigned step_ms;
};

static struct cli_row *row_of(struct cli_live *v)
{
    return &v->l->status.rows[v->row];
}

static bool is_gone(const struct cli_live *v, const char *http)
{
    for (size_t i = 0; i < v->n_gone; i++)
        if (strcmp(v->gone[i], http) == 0)
            return true;
    return false;
}

static void missing(struct cli_live *v, const char *why)
{
    struct cli_log_row *state = &v->l->rows[v->row];

    state->state = CLI_LOG_MISSING;
    (void)snprintf(state->why, sizeof(state->why), "%s", why);
}

/* ---- File names of a row ---- */

/* A file with an unreadable time is never skipped. */
static bool is_older(const struct cli_logs *l, json_t *item)
{
    const char *text = json_string_value(json_object_get(item, "lastModifiedTime"));
    int64_t seconds;

    return l->since_ms > 0 && text && cli_log_time_parse(text, &seconds) == 0 &&
           seconds < l->since_ms / 1000;
}

static int add_names(struct cli_live *v, json_t *info)
{
    json_t *list = json_object_get(info, "containerLogInfo"), *item;
    const char *kind = json_string_value(json_object_get(info, "logAggregationType"));
    size_t i, n = sv_strv_len(v->names);

    if (kind && strcmp(kind, "LOCAL") != 0)
        return 0;
    json_array_foreach(list, i, item)
    {
        const char *name = json_string_value(json_object_get(item, "fileName"));

        if (!name || strchr(name, '/') || n == FILES_MAX || !cli_logs_wanted(v->l, name))
            continue;
        if (is_older(v->l, item)) {
            v->passed_over = true;
            continue;
        }
        v->names[n] = strdup(name);
        if (!v->names[n++])
            return -ENOMEM;
    }
    return 0;
}

/* Selvedge's NodeManager answers with one object, Apache's with a list of them. */
static int parse_names(struct cli_live *v, const char *body, size_t len)
{
    json_t *root = json_loadb(body, len, 0, NULL);
    json_t *info = json_object_get(root, "containerLogsInfo"), *item;
    size_t i;
    int r = 0;

    v->names = calloc(FILES_MAX + 1, sizeof(*v->names));
    if (!v->names)
        r = -ENOMEM;
    else if (!json_is_array(info))
        r = add_names(v, info);
    else
        json_array_foreach(info, i, item) r = r < 0 ? r : add_names(v, item);
    json_decref(root);
    return r;
}

/* Orders as without a list: stdout first. */
static void order_names(struct cli_live *v)
{
    if (!v->l->all && v->names[0] && v->names[1] && sv_has_prefix(v->names[0], "stderr")) {
        char *first = v->names[1];

        v->names[1] = v->names[0];
        v->names[0] = first;
    }
}

static void on_names(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct cli_live *v = userdata;

    if (status == -ECANCELED)
        return;
    v->listing = false;
    v->listed = true;
    if (status == 200 && parse_names(v, body, len) == 0 && v->names[0]) {
        order_names(v);
        return;
    }
    if (v->passed_over)
        v->l->rows[v->row].state = CLI_LOG_PRINTED;
    else
        missing(v, status < 0 ? why
                              : cli_logs_missing_text(status == 403   ? -EACCES
                                                      : status == 503 ? -EIO
                                                                      : -ENOENT));
}

static void request_names(struct cli_live *v)
{
    static const char *const usual[] = { "stdout", "stderr" };
    const struct cli_row *row = row_of(v);
    _cleanup_free_ char *url = NULL;

    if (v->l->all || v->l->since_ms > 0 || (v->l->service && !v->l->name)) {
        v->listing = cli_node_url(row->http, row->container, "/logs", v->l->ctx->user, &url) >= 0 &&
                     cli_fetch_get(v->l->ctx->fetch, url, CLI_BODY_MAX, on_names, v) >= 0;
        v->listed = !v->listing;
        return;
    }
    v->names = calloc(3, sizeof(*v->names));
    for (size_t i = 0; v->names && i < (v->l->name ? 1u : SV_ARRAY_LEN(usual)); i++)
        v->names[i] = strdup(v->l->name ? v->l->name : usual[i]);
    v->listed = true;
}

/* ---- Files ---- */

static bool open_file(struct cli_live *v, const char *name)
{
    const struct cli_row *row = row_of(v);
    char header[900];
    struct cli_follow *f = cli_follow_new(v->l->ctx->fetch, v->l->ctx->user, row->http,
                                          row->container, name, "", stdout);

    cli_logs_header(v->l, row, row->container, row->node, name, header);
    if (!f || (*header && cli_follow_header(f, header) < 0) ||
        (v->l->tail >= 0 && cli_follow_tail(f, (uint64_t)v->l->tail) < 0)) {
        cli_follow_free(f);
        return false;
    }
    cli_follow_tries(f, TRIES);
    v->follow = f;
    return true;
}

static void next_row(struct cli_live *v)
{
    v->names = sv_strv_free(v->names);
    v->listed = v->printed = v->passed_over = false;
    v->name = 0;
    v->row++;
}

/* Opens the next file, or requests the next row's names; false at the end. */
static bool open_next(struct cli_live *v)
{
    for (; v->row < v->l->status.n; next_row(v)) {
        const struct cli_row *row = row_of(v);

        if (!*row->container || !cli_logs_selected(v->l, row->container, row))
            continue;
        if (!*row->http || is_gone(v, row->http)) {
            if (!*v->l->rows[v->row].why) /* else its first file has told more */
                missing(v, *row->http ? "cannot be reached" : "has no known address");
            continue;
        }
        if (!v->listed)
            request_names(v);
        if (v->listing)
            return true;
        if (v->names && v->names[v->name])
            return open_file(v, v->names[v->name++]);
    }
    return false;
}

/* With the reason, behind the URL in `problem`: a certificate, no ticket, nobody listens. */
static void unreachable(struct cli_live *v, const char *problem)
{
    const char *reason = strstr(problem, ": ");
    char text[sizeof(v->l->rows->why)];

    (void)snprintf(text, sizeof(text), "cannot be reached (%.150s)", reason ? reason + 2 : problem);
    missing(v, text);
}

static void file_done(struct cli_live *v)
{
    const char *problem = cli_follow_problem(v->follow);
    int why = cli_follow_missing(v->follow);
    bool last = !v->names[v->name];

    if (!problem) {
        v->printed = true;
        v->l->rows[v->row].state = CLI_LOG_PRINTED;
    } else if (why == 0 || v->printed) {
        (void)cli_fail("%s", problem);
        v->l->failed = true;
    } else if (why == -EHOSTUNREACH) {
        unreachable(v, problem);
    } else {
        missing(v, cli_logs_missing_text(why));
    }
    if (why == -EHOSTUNREACH && v->n_gone < SV_ARRAY_LEN(v->gone))
        (void)snprintf(v->gone[v->n_gone++], sizeof(v->gone[0]), "%s", row_of(v)->http);
    v->follow = cli_follow_free(v->follow);
    if (last)
        next_row(v);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct cli_live *v = userdata;

    v->step_ms = SV_MIN(2 * v->step_ms, STEP_MAX_MS);
    if (v->follow && cli_follow_complete(v->follow)) {
        file_done(v);
        v->step_ms = STEP_MS;
    }
    if (!v->follow && !v->listing && !open_next(v)) {
        cli_stop(v->l->ctx, 0);
        return 0;
    }
    if (v->follow)
        cli_follow_poll(v->follow, true);
    (void)sd_event_source_set_time(s, usec + v->step_ms * 1000);
    (void)sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
    return 0;
}

int cli_logs_live(struct cli_logs *l)
{
    struct cli_live *v = l->live = calloc(1, sizeof(*v));

    if (!v)
        return -ENOMEM;
    v->l = l;
    v->step_ms = STEP_MS;
    return sd_event_add_time_relative(l->ctx->event, &v->timer, CLOCK_MONOTONIC, 0, 100, on_timer,
                                      v);
}

void cli_logs_live_end(struct cli_logs *l)
{
    struct cli_live *v = l->live;

    if (!v)
        return;
    sd_event_source_disable_unref(v->timer);
    cli_follow_free(v->follow);
    sv_strv_free(v->names);
    free(v);
    l->live = NULL;
}
