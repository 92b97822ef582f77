/* `selvedge logs` from the remote log directory, for containers that their nodes no longer have.
 * See logs.h. Hostile: the files, which belong to the job's account. */
#include <errno.h>
#include <string.h>

#include "client/job/job.h"
#include "client/logs/log-tail.h"
#include "client/logs/log-walk.h"
#include "client/logs/logs.h"
#include "common/str.h"

struct aggregated {
    struct cli_logs *l;
    struct cli_tail tail;
    size_t printed; /* number of files */
    bool of_run;    /* the table is from selvedge run: its instances, not the ApplicationMaster */
    struct sv_buf *table; /* destination of the table while searching for it; else NULL */
};

static struct cli_row *find(const struct cli_logs *l, const char *container)
{
    for (size_t i = 0; i < l->status.n; i++)
        if (strcmp(l->status.rows[i].container, container) == 0)
            return &l->status.rows[i];
    return NULL;
}

static struct cli_log_row *state_of(const struct cli_logs *l, const struct cli_row *row)
{
    return row && l->rows ? &l->rows[row - l->status.rows] : NULL;
}

static void problem(void *userdata, const char *text)
{
    struct aggregated *a = userdata;

    if (!a->table) {
        (void)cli_fail("aggregated logs: %s", text);
        a->l->failed = true;
    }
}

/* ---- Printing ---- */

static bool wants_container(void *userdata, const char *id)
{
    const struct aggregated *a = userdata;
    const struct cli_row *row = find(a->l, id);
    struct cli_log_row *state = state_of(a->l, row);

    if (!row && a->of_run && !a->l->only)
        return false; /* the ApplicationMaster, as while reading from the nodes */
    if (!cli_logs_selected(a->l, id, row) || (state && state->state == CLI_LOG_PRINTED))
        return false;
    if (state) /* found, even if no file has a wanted name */
        state->state = CLI_LOG_AGGREGATED;
    return true;
}

static bool wants_file(void *userdata, const char *node, const char *id, const char *name,
                       uint64_t length, uint64_t *ret_from)
{
    struct aggregated *a = userdata;
    const struct cli_row *row = find(a->l, id);
    char header[900];

    if (!cli_logs_wanted(a->l, name))
        return false;
    cli_logs_header(a->l, row, id, node, name, header);
    if (*header)
        printf("%s\n", header);
    a->printed++;
    if (a->l->tail >= 0 && length > CLI_TAIL_BYTES) /* more would not be shown */
        *ret_from = length - CLI_TAIL_BYTES;
    return true;
}

static void print(void *userdata, const void *p, size_t n)
{
    struct aggregated *a = userdata;

    if (a->l->tail >= 0)
        cli_tail_put(&a->tail, p, n);
    else
        (void)fwrite(p, 1, n, stdout); /* main() checks the stream, ignoring */
}

static void end_file(void *userdata)
{
    struct aggregated *a = userdata;

    if (a->l->tail < 0)
        return;
    cli_tail_trim(&a->tail);
    (void)fwrite(a->tail.b.data, 1, a->tail.b.len, stdout); /* as above, ignoring */
    cli_tail_clear(&a->tail);
}

/* ---- The table of a job of `selvedge run`, from its ApplicationMaster's logs ---- */

static bool is_master(void *userdata, const char *id)
{
    (void)userdata;
    return sv_has_suffix(id, "_000001");
}

static bool is_table(void *userdata, const char *node, const char *id, const char *name,
                     uint64_t length, uint64_t *ret_from)
{
    (void)ret_from;
    (void)userdata;
    (void)node;
    (void)id;
    return strcmp(name, CLI_TABLE_FILE) == 0 && length <= CLI_BODY_MAX;
}

static void keep(void *userdata, const void *p, size_t n)
{
    struct aggregated *a = userdata;

    if (sv_buf_put(a->table, p, n) < 0)
        a->table->len = 0;
}

static bool has_table(const void *userdata)
{
    const struct aggregated *a = userdata;

    return a->table->len > 0;
}

static void keep_end(void *userdata)
{
    (void)userdata;
}

static void read_table(struct aggregated *a, const struct cli_places *places)
{
    struct cli_logs *l = a->l;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(CLI_BODY_MAX);
    const struct cli_log_visitor v = { .container = is_master,
                                       .file = is_table,
                                       .bytes = keep,
                                       .end = keep_end,
                                       .enough = has_table,
                                       .problem = problem,
                                       .userdata = a };
    struct sv_error err = { 0 };

    a->table = &b;
    if (cli_log_walk(l->ctx->conf, &l->ctx->files, places, &v, &err) > 0 && b.len > 0 &&
        cli_status_parse((char *)b.data, b.len, &l->status, &err) == 0) {
        l->rows = calloc(l->status.n + 1, sizeof(*l->rows));
        a->of_run = true;
    }
    a->table = NULL;
}

/* ---- Missing logs ---- */

static size_t count_missing(const struct cli_logs *l)
{
    size_t n = 0;

    for (size_t i = 0; l->rows && i < l->status.n; i++)
        n += l->rows[i].state == CLI_LOG_MISSING;
    return n;
}

static void say_missing(struct cli_logs *l, const char *remote)
{
    for (size_t i = 0; l->rows && i < l->status.n; i++) {
        const struct cli_row *row = &l->status.rows[i];

        if (l->rows[i].state != CLI_LOG_MISSING)
            continue;
        (void)cli_fail("%s: its logs cannot be read: %s, which ran it, %s, and %s", row->container,
                       *row->node ? row->node : "the node", l->rows[i].why, remote);
        l->failed = true;
    }
}

static void say_unknown(struct cli_logs *l, const char *remote)
{
    l->failed = true;
    if (l->only && l->status.n > 0)
        (void)cli_fail("%s: no container or instance %s is known, and %s", l->ctx->subject, l->only,
                       remote);
    else
        (void)cli_fail("%s: no container%s%s is known, and %s", l->ctx->subject,
                       l->only ? " or instance " : "", l->only ? l->only : "", remote);
}

static bool found_any(const struct cli_logs *l)
{
    for (size_t i = 0; l->rows && i < l->status.n; i++)
        if (l->rows[i].state != CLI_LOG_UNTRIED)
            return true;
    return false;
}

static void walk(struct aggregated *a, const struct cli_places *places, char *remote, size_t size)
{
    struct cli_logs *l = a->l;
    const struct cli_log_visitor v = { .container = wants_container,
                                       .file = wants_file,
                                       .bytes = print,
                                       .end = end_file,
                                       .problem = problem,
                                       .userdata = a,
                                       .since_ms = l->since_ms };
    struct sv_error err = { 0 };
    int n;

    if (l->status.n == 0)
        read_table(a, places);
    n = cli_log_walk(l->ctx->conf, &l->ctx->files, places, &v, &err);
    if (n < 0)
        (void)snprintf(remote, size, "the remote log directory cannot be read: %.300s", err.text);
    else
        (void)snprintf(remote, size, "%.200s has %s", places->v[0].root.path,
                       n == 0 ? "no aggregated ones of this application" : "none of it either");
}

bool cli_logs_aggregated(struct cli_logs *l)
{
    struct aggregated a = { .l = l };
    struct cli_places places = { 0 };
    struct sv_error err = { 0 };
    char remote[600] = "logs are not aggregated (yarn.log-aggregation-enable)";
    bool enabled = false;

    if (l->rows_known && count_missing(l) == 0 && found_any(l))
        return true;
    cli_tail_init(&a.tail, (uint64_t)SV_MAX(l->tail, 0));
    if (cli_aggregation_enabled(l->ctx->conf, &enabled, &err) < 0 ||
        (enabled &&
         cli_places(l->ctx->conf, *l->owner ? l->owner : l->ctx->user, l->app, &places, &err) < 0))
        (void)snprintf(remote, sizeof(remote), "%.500s", err.text);
    else if (enabled)
        walk(&a, &places, remote, sizeof(remote));
    say_missing(l, remote);
    if (a.printed == 0 && !found_any(l))
        say_unknown(l, remote);
    cli_tail_free(&a.tail);
    cli_places_free(&places);
    return a.printed > 0;
}
