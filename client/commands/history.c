/* `selvedge history`: applications that have ended, from the ResourceManager's store, or their
 * usage summed by user or by queue. The answer comes in pages, over REST. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/commands/history-options.h"
#include "client/commands/history-rows.h"
#include "client/core/moment.h"
#include "client/core/options.h"
#include "client/core/rm-rest.h"
#include "client/http/node-url.h"
#include "common/clock.h"
#include "common/str.h"

#define PATH "/ws/v1/selvedge/history"
#define PAGE 1000         /* rows that the ResourceManager gives at once */
#define LIMIT 100         /* without --limit */
#define PATIENCE_MS 60000 /* of a page: as many rows as match nothing are read for it */

static const struct cli_column columns[] = {
    { "APPLICATION", "id", CLI_TEXT, CLI_ALWAYS },
    { "?USER", "user", CLI_TEXT, CLI_ALWAYS },
    { "?QUEUE", "queue", CLI_TEXT, CLI_ALWAYS },
    { "~NAME", "name", CLI_TEXT, CLI_ALWAYS },
    { "TYPE", "type", CLI_TEXT, CLI_IF_WIDE },
    { "STATE", "state", CLI_TEXT, CLI_ALWAYS },
    { "?FINAL", "finalStatus", CLI_TEXT, CLI_ALWAYS },
    { "?>TIME", "elapsedMs", CLI_MILLIS, CLI_ALWAYS },
    { ">CORE-HOURS", "coreHours", CLI_HOURS, CLI_ALWAYS },
    { "?>GIB-HOURS", "gibHours", CLI_HOURS, CLI_ALWAYS },
    { ">GPU-HOURS", "gpuHours", CLI_HOURS, CLI_IF_WIDE },
    { "STARTED", "startedTime", CLI_TIME, CLI_IF_WIDE },
    { "ENDED", "finishedTime", CLI_TIME, CLI_ALWAYS },
    { ">ATTEMPTS", "attempts", CLI_NUMBER, CLI_AS_FIELD },
    { ">VCORE-SECONDS", "vcoreSeconds", CLI_NUMBER, CLI_AS_FIELD },
    { ">MB-SECONDS", "memoryMbSeconds", CLI_NUMBER, CLI_AS_FIELD },
    { "DIAGNOSTICS", "diagnostics", CLI_TEXT, CLI_AS_FIELD },
};
static const struct cli_list applications = CLI_LIST(columns, "id");

#define SUM_COLUMNS                                                                                \
    { ">APPLICATIONS", "applications", CLI_NUMBER, CLI_ALWAYS },                                   \
        { "?>SUCCEEDED", "succeeded", CLI_NUMBER, CLI_ALWAYS },                                    \
        { "?>FAILED", "failed", CLI_NUMBER, CLI_ALWAYS },                                          \
        { "?>KILLED", "killed", CLI_NUMBER, CLI_ALWAYS },                                          \
        { ">CORE-HOURS", "coreHours", CLI_HOURS, CLI_ALWAYS },                                     \
        { ">GIB-HOURS", "gibHours", CLI_HOURS, CLI_ALWAYS },                                       \
        { ">GPU-HOURS", "gpuHours", CLI_HOURS, CLI_ALWAYS },                                       \
        { ">VCORE-SECONDS", "vcoreSeconds", CLI_NUMBER, CLI_AS_FIELD },                            \
        { ">MB-SECONDS", "memoryMbSeconds", CLI_NUMBER, CLI_AS_FIELD },                            \
    {                                                                                              \
        ">HIDDEN", "hidden", CLI_NUMBER, CLI_AS_FIELD                                              \
    }
static const struct cli_column user_columns[] = { { "USER", "user", CLI_TEXT, CLI_ALWAYS },
                                                  SUM_COLUMNS };
static const struct cli_column queue_columns[] = { { "QUEUE", "queue", CLI_TEXT, CLI_ALWAYS },
                                                   SUM_COLUMNS };
static const struct cli_list users = CLI_LIST(user_columns, "user");
static const struct cli_list queues = CLI_LIST(queue_columns, "queue");

struct history {
    struct cli_ctx *ctx;
    const char *since, *until;
    int64_t since_ms; /* 0: of any time */
    const char *by;   /* "user", "queue", or NULL */
    int64_t limit;    /* rows; 0: all */
    char *query;      /* the filters, percent-encoded */
    json_t *rows;
    bool told; /* that the history begins later */
};

static const struct cli_list *list_of(const struct history *h)
{
    return !h->by ? &applications : strcmp(h->by, "user") == 0 ? &users : &queues;
}

/* ---- Answers ---- */

static int ask(struct history *h, const char *after);

/* A sum over less than was asked for is a wrong sum. */
static void tell_start(struct history *h, const json_t *answer)
{
    int64_t oldest = (int64_t)json_integer_value(json_object_get(answer, "oldest"));
    const bool full = json_is_true(json_object_get(answer, "full"));
    time_t s = (time_t)(oldest / 1000);
    char when[32];
    struct tm tm;

    if (h->told || !full || h->ctx->output.quiet || !(h->since ? oldest > h->since_ms : !!h->by))
        return;
    h->told = true;
    if (gmtime_r(&s, &tm) && strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &tm) > 0)
        fprintf(stderr,
                "selvedge: the history is full and begins at %s: "
                "selvedge.rm.history.max-applications\n",
                when);
}

static void finish(struct history *h, bool more)
{
    if (more && !h->ctx->output.quiet)
        fprintf(stderr, "selvedge: the latest %zu; --limit 0 lists all\n",
                json_array_size(h->rows));
    cli_stop_list(h->ctx, list_of(h), SV_TAKE(h->rows));
}

static void on_page(struct history *h, const json_t *answer)
{
    const json_t *apps = json_object_get(answer, "apps"), *app;
    const char *next = json_string_value(json_object_get(answer, "next"));
    bool enough;
    size_t i;
    int r;

    json_array_foreach(apps, i, app)
    {
        if (h->limit == 0 || json_array_size(h->rows) < (size_t)h->limit)
            (void)json_array_append_new(h->rows, cli_history_row(app)); /* NULL: none, ignoring */
    }
    enough = h->limit > 0 && json_array_size(h->rows) >= (size_t)h->limit;
    if (!next || enough || json_array_size(apps) == 0) {
        finish(h, enough && next);
        return;
    }
    r = ask(h, next);
    if (r < 0)
        cli_stop(h->ctx, cli_fail("history: %s", strerror(-r)));
}

static void refused(const struct history *h, int status, const json_t *root, const char *why)
{
    const char *said =
        json_string_value(json_object_get(json_object_get(root, "RemoteException"), "message"));
    char shown[1024];

    sv_escape(shown, sizeof(shown), said ? said : "");
    cli_stop(h->ctx,
             status < 0 ? cli_fail("history: the ResourceManager's REST does not answer: %s; "
                                   "selvedge doctor checks this machine",
                                   why ? why : strerror(-status))
             : status == 404 && !*shown
                 ? cli_fail("history: this ResourceManager keeps none: Apache's and earlier "
                            "versions of selvedge-rm do not")
                 : cli_fail("history: %s (HTTP %d)", *shown ? shown : "no answer", status));
}

static void on_answer(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct history *h = userdata;
    json_t *root = status > 0 ? json_loadb(body, len, 0, NULL) : NULL;
    const json_t *answer = json_object_get(root, "history");

    if (status == -ECANCELED) /* the program ends */
        ;
    else if (status != 200 || !answer)
        refused(h, status, root, why);
    else {
        tell_start(h, answer);
        if (h->by)
            cli_stop_list(h->ctx, list_of(h),
                          cli_history_sums(json_object_get(answer, "sums"), h->by));
        else
            on_page(h, answer);
    }
    json_decref(root);
}

/* ---- Requests ---- */

static int ask(struct history *h, const char *after)
{
    const int64_t left = h->limit > 0 ? h->limit - (int64_t)json_array_size(h->rows) : PAGE;
    _cleanup_free_ char *query = NULL, *place = cli_percent_encode(after ? after : "");
    struct cli_rest q = { .method = "GET", .path = PATH };
    int r = place ? 0 : -ENOMEM;

    if (r == 0 && h->by)
        r = sv_asprintf(&query, "%s&by=%s", h->query, h->by);
    else if (r == 0)
        r = sv_asprintf(&query, "%s&limit=%lld%s%s", h->query,
                        (long long)SV_MIN(left, (int64_t)PAGE), after ? "&after=" : "", place);
    if (r < 0)
        return r;
    q.query = query;
    return cli_rm_rest(h->ctx, &q, on_answer, h);
}

/* ---- Options ---- */

static int add(struct history *h, const char *key, const char *value)
{
    _cleanup_free_ char *before = SV_TAKE(h->query), *encoded = cli_percent_encode(value);

    return encoded ? sv_asprintf(&h->query, "%s&%s=%s", before ? before : "", key, encoded)
                   : -ENOMEM;
}

static int wrong(const char *option, const char *value, const char *expected)
{
    (void)cli_fail("history: --%s %s: expected %s", option, value, expected);
    return 2;
}

/* Names of states that an ended application can have. */
static bool are_states(const char *list)
{
    char copy[256], *rest = copy, *name;

    if (strlen(list) >= sizeof(copy))
        return false;
    snprintf(copy, sizeof(copy), "%s", list);
    while ((name = strsep(&rest, ",")))
        if (!cli_app_ended(cli_app_state_named(name)))
            return false;
    return true;
}

/* 0, 2 after an error message, or -ENOMEM. */
static int take(struct history *h, int letter, const char *value)
{
    switch (letter) {
    case HISTORY_OPT_SINCE:
        h->since = value; /* read when --utc is known */
        return 0;
    case HISTORY_OPT_UNTIL:
        h->until = value;
        return 0;
    case HISTORY_OPT_BY:
        h->by = value;
        return strcmp(value, "user") == 0 || strcmp(value, "queue") == 0
                   ? 0
                   : wrong("by", value, "user or queue");
    case 'n':
        return sv_parse_i64(value, 0, INT32_MAX, &h->limit) < 0
                   ? wrong("limit", value, "a number of applications, 0 for all")
                   : 0;
    case 's':
        return are_states(value) ? add(h, "states", value)
                                 : wrong("state", value,
                                         "FINISHED, FAILED or KILLED, with commas "
                                         "between them");
    default:
        return add(h,
                   letter == 'u'   ? "user"
                   : letter == 'q' ? "queue"
                   : letter == 't' ? "applicationTypes"
                                   : "name",
                   value);
    }
}

static int add_moment(struct history *h, const char *option, const char *value, const char *key,
                      int64_t *ret_ms)
{
    char number[32];

    if (!value)
        return 0;
    if (cli_moment_parse(value, sv_wall_ms(), h->ctx->output.utc, ret_ms) < 0)
        return wrong(option, value,
                     "a time as in 7d, 2026-01-31 or 2026-01-31T12:00, with a Z for "
                     "UTC");
    snprintf(number, sizeof(number), "%lld", (long long)*ret_ms);
    return add(h, key, number);
}

static int read_options(struct history *h, int argc, char **argv)
{
    int64_t until_ms = INT64_MAX;
    int c, r = 0;

    optind = 0; /* restart getopt for a new argv */
    while (r == 0 && (c = cli_option(h->ctx, argc, argv)) != -1)
        r = c == '?' ? 2 : take(h, c, optarg);
    if (r == 0)
        r = add_moment(h, "since", h->since, "finishedTimeBegin", &h->since_ms);
    if (r == 0)
        r = add_moment(h, "until", h->until, "finishedTimeEnd", &until_ms);
    if (r == 0 && h->since_ms > until_ms)
        r = wrong("until", h->until, "a time after that of --since");
    return r < 0 ? cli_fail("history: %s", strerror(-r)) : r;
}

static int run(struct history *h, int argc, char **argv)
{
    int code = read_options(h, argc, argv), r;

    h->ctx->web_only = true;
    if (code == 0)
        code = cli_option_begin(h->ctx, argc, argv, list_of(h), 0, 0, NULL);
    if (code != 0)
        return code;
    h->ctx->patience = sd_event_source_disable_unref(h->ctx->patience); /* that of the RPC */
    cli_fetch_patience(h->ctx->fetch, PATIENCE_MS);
    r = h->query || (h->query = strdup("")) ? ask(h, NULL) : -ENOMEM;
    return r < 0 ? cli_fail("history: %s", strerror(-r)) : cli_loop(h->ctx);
}

int cli_cmd_history(struct cli_ctx *ctx, int argc, char **argv)
{
    struct history h = { .ctx = ctx, .limit = LIMIT, .rows = json_array() };
    int code = run(&h, argc, argv);

    ctx->fetch = cli_fetch_free(ctx->fetch); /* open calls use `h` */
    json_decref(h.rows);
    free(h.query);
    return code;
}
