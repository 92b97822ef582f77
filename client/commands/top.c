/* `selvedge top`: resource usage of the cluster's applications, or of their containers; on a
 * terminal refreshed every two seconds, with a cursor for what another command says or does about a
 * row, else printed once. The list of applications and nodes comes
 * from the ResourceManager, usage from each node. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "client/commands/top-run.h"
#include "client/commands/usage.h"
#include "client/core/options.h"
#include "client/http/node-url.h"
#include "client/http/peer-answer.h"
#include "client/ui/screen.h"
#include "client/views/objects.h"
#include "common/str.h"

#define DELAY_US (2 * 1000 * 1000)

static const struct cli_column app_columns[] = {
    { "APPLICATION", "id", CLI_TEXT, CLI_ALWAYS },
    { "?USER", "user", CLI_TEXT, CLI_ALWAYS },
    { "QUEUE", "queue", CLI_TEXT, CLI_IF_WIDE },
    { "STATE", "state", CLI_TEXT, CLI_IF_WIDE },
    { ">CONTAINERS", "containers", CLI_NUMBER, CLI_ALWAYS },
    { ">CPU", "cpuCores", CLI_SHARE, CLI_ALWAYS },
    { ">MEMORY", "memoryBytes", CLI_BYTES, CLI_ALWAYS },
    { "?>ALLOCATED", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { "?>VCORES", "vcores", CLI_NUMBER, CLI_ALWAYS },
    { "?>CPU WAIT", "cpuPressure", CLI_SHARE, CLI_ALWAYS },
    { "?>MEM WAIT", "memoryPressure", CLI_SHARE, CLI_ALWAYS },
    { "?>I/O WAIT", "ioPressure", CLI_SHARE, CLI_ALWAYS },
    { ">PROGRESS", "progress", CLI_SHARE, CLI_IF_WIDE },
    { "~NAME", "name", CLI_TEXT, CLI_ALWAYS },
};
static const struct cli_list apps_list = CLI_LIST(app_columns, "id");
static const struct cli_column container_columns[] = {
    { "CONTAINER", "id", CLI_TEXT, CLI_ALWAYS },
    { "NODE", "node", CLI_TEXT, CLI_ALWAYS },
    { "?USER", "user", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_IF_WIDE },
    { ">CPU", "cpuCores", CLI_SHARE, CLI_ALWAYS },
    { ">MEMORY", "memoryBytes", CLI_BYTES, CLI_ALWAYS },
    { "?>PEAK", "peakMemoryBytes", CLI_BYTES, CLI_ALWAYS },
    { "?>LIMIT", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { ">VCORES", "vcores", CLI_NUMBER, CLI_IF_WIDE },
    { "?>PIDS", "pids", CLI_NUMBER, CLI_ALWAYS },
    { "?>CPU WAIT", "cpuPressure", CLI_SHARE, CLI_ALWAYS },
    { "?>MEM WAIT", "memoryPressure", CLI_SHARE, CLI_ALWAYS },
    { "?>I/O WAIT", "ioPressure", CLI_SHARE, CLI_ALWAYS },
    { "APPLICATION", "application", CLI_TEXT, CLI_AS_FIELD },
};
static const struct cli_list containers_list = CLI_LIST(container_columns, "id");

struct top {
    struct cli_ctx *ctx;
    enum cli_usage_order order;
    bool once, containers;      /* options */
    char app[YARN_ID_TEXT_MAX]; /* list this one's containers; "": all */
    struct cli_usage now, next; /* now: complete; next: being read */
    size_t open, nodes, silent; /* pending answers; nodes, and those that did not answer */
    sd_event_source *timer;
    bool on_screen;
    struct cli_screen screen;
    /* the cursor */
    char inside[YARN_ID_TEXT_MAX]; /* Enter: the containers of this one; "": the list of before */
    char chosen[YARN_ID_TEXT_MAX]; /* id of the row */
    size_t at;                     /* its number in the last drawing */
    bool asks;                     /* whether to kill it */
};

/* ---- Output ---- */

static bool shows_containers(const struct top *t)
{
    return t->containers || *t->inside;
}

static const char *id_of(const json_t *row)
{
    const char *id = json_string_value(json_object_get(row, "id"));

    return id ? id : "";
}

static json_t *sorted(const struct top *t)
{
    json_t *rows =
        cli_usage_sorted(shows_containers(t) ? t->now.containers : t->now.apps, t->order);

    for (size_t i = json_array_size(rows); *t->inside && i-- > 0;) {
        const json_t *app = json_object_get(json_array_get(rows, i), "application");

        if (!json_is_string(app) || strcmp(json_string_value(app), t->inside) != 0)
            (void)json_array_remove(rows, i); /* it is there, ignoring */
    }
    return rows;
}

/* The cursor stays on its row, wherever that is now; else at its place. */
static void find_chosen(struct top *t, const json_t *rows)
{
    size_t n = json_array_size(rows);

    for (size_t i = 0; i < n; i++)
        if (strcmp(id_of(json_array_get(rows, i)), t->chosen) == 0) {
            t->at = i;
            return;
        }
    t->at = n > 0 ? SV_MIN(t->at, n - 1) : 0;
    (void)snprintf(t->chosen, sizeof(t->chosen), "%s",
                   n > 0 ? id_of(json_array_get(rows, t->at)) : "");
}

static void title_of(const struct top *t, size_t n, char *ret, size_t size)
{
    if (t->asks)
        (void)snprintf(ret, size, "kill %s? y: yes, other keys: no", t->chosen);
    else
        (void)snprintf(
            ret, size,
            "%zu %s, %zu of %zu nodes tell; by %s; %sl: logs, i: inspect, k: kill, q: end", n,
            shows_containers(t) ? "containers" : "applications", t->nodes - t->silent, t->nodes,
            t->order == CLI_USAGE_BY_CPU ? "processor, m: by memory" : "memory, c: by processor",
            *t->inside      ? "Esc: back, "
            : t->containers ? ""
                            : "Enter: containers, ");
}

static void draw(struct top *t)
{
    const struct cli_list *list = shows_containers(t) ? &containers_list : &apps_list;
    _cleanup_free_ char *text = NULL;
    json_t *rows = sorted(t);
    char title[300];
    size_t size;
    FILE *out = rows ? open_memstream(&text, &size) : NULL;

    if (!out) {
        json_decref(rows);
        return;
    }
    find_chosen(t, rows);
    cli_output_list(&t->ctx->output, list, rows, out);
    fclose(out);
    title_of(t, json_array_size(rows), title, sizeof(title));
    cli_screen_draw_rows(title, text, *t->chosen ? (int)t->at : -1);
    json_decref(rows);
}

static int read_again(struct top *t);

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct top *t = userdata;
    int r = read_again(t);

    (void)s;
    (void)usec;
    if (r < 0)
        cli_stop_error(t->ctx, r, NULL);
    return 0;
}

static void finish_screen(struct top *t)
{
    int r;

    draw(t);
    sd_event_source_disable_unref(t->timer);
    t->timer = NULL;
    r = sd_event_add_time_relative(t->ctx->event, &t->timer, CLOCK_MONOTONIC, DELAY_US, 0, on_timer,
                                   t);
    if (r < 0)
        cli_stop_error(t->ctx, r, NULL);
}

/* Called when all answers have arrived. */
static void finish(struct top *t)
{
    cli_usage_free(&t->now);
    t->now = t->next;
    t->next = (struct cli_usage){ 0 };
    if (t->on_screen) {
        finish_screen(t);
        return;
    }
    if (t->silent > 0)
        (void)cli_fail("top: %zu of %zu nodes do not report usage", t->silent, t->nodes);
    cli_stop_list(t->ctx, t->containers ? &containers_list : &apps_list, sorted(t));
}

/* ---- Requests ---- */

static void release(struct top *t)
{
    if (--t->open == 0)
        finish(t);
}

static void on_node(int status, const char *body, size_t len, const char *why, void *userdata)
{
    struct top *t = userdata;
    json_t *containers = status == 200 ? cli_answer_containers(body, len) : NULL;

    (void)why;
    if (status == -ECANCELED)
        return;
    if (containers)
        cli_usage_add_node(&t->next, containers, *t->app ? t->app : NULL);
    else
        t->silent++;
    release(t);
}

static void ask_node(struct top *t, const char *http)
{
    _cleanup_free_ char *query = NULL, *url = NULL;
    bool good = *http && strcspn(http, "/?#@ ") == strlen(http);

    t->nodes++;
    if (good && cli_query_user(t->ctx->user, &query) >= 0 &&
        sv_asprintf(&url, "%s://%s/ws/v1/node/containers%s", cli_scheme(), http, query) >= 0 &&
        cli_fetch_get(t->ctx->fetch, url, CLI_BODY_MAX, on_node, t) >= 0)
        t->open++;
    else
        t->silent++;
}

static void on_nodes(int status, const struct cli_node_report *nodes, size_t n,
                     const struct sv_error *err, void *userdata)
{
    struct top *t = userdata;

    if (status < 0) {
        cli_stop_error(t->ctx, status, err);
        return;
    }
    for (size_t i = 0; i < n; i++)
        ask_node(t, nodes[i].http_address);
    release(t);
}

static void on_applications(int status, const struct cli_report *reports, size_t n,
                            const struct sv_error *err, void *userdata)
{
    struct top *t = userdata;
    bool there = !*t->app;
    char id[YARN_ID_TEXT_MAX];

    for (size_t i = 0; status >= 0 && i < n; i++) {
        yarn_app_id_text(reports[i].id, id);
        there = there || strcmp(id, t->app) == 0;
        cli_usage_add_app(&t->next, cli_app_object(&reports[i]));
    }
    if (status < 0)
        cli_stop_error(t->ctx, status, err);
    else if (!there)
        cli_stop(t->ctx, cli_fail("%s: no such running application", t->ctx->subject));
    else if ((status = cli_rm_nodes(t->ctx->rm, false, on_nodes, t)) < 0)
        cli_stop_error(t->ctx, status, NULL);
}

static int read_again(struct top *t)
{
    int r = cli_usage_init(&t->next);

    t->open = 1;
    t->nodes = t->silent = 0;
    return r < 0 ? r : cli_rm_applications(t->ctx->rm, NULL, true, on_applications, t);
}

/* ---- Terminal ---- */

/* Runs another command for the row on the terminal, and comes back. */
static void run_on_chosen(struct top *t, const char *command)
{
    int r;

    if (!*t->chosen)
        return;
    cli_screen_end(&t->screen);
    printf("\n$ selvedge %s %s\n", command, t->chosen);
    (void)fflush(stdout);
    r = cli_top_run(command, t->chosen);
    if (r < 0)
        (void)cli_fail("top: %s %s: %s", command, t->chosen, strerror(-r));
    cli_screen_pause("-- a key: back to top --");
    r = cli_screen_begin(&t->screen);
    if (r < 0)
        cli_stop(t->ctx, cli_fail("terminal: %s", strerror(-r)));
}

static void move(struct top *t, int by)
{
    json_t *rows = sorted(t);
    size_t n = json_array_size(rows);

    find_chosen(t, rows);
    if (n > 0) {
        t->at = by < 0 ? t->at - SV_MIN(t->at, (size_t)-by) : SV_MIN(t->at + (size_t)by, n - 1);
        (void)snprintf(t->chosen, sizeof(t->chosen), "%s", id_of(json_array_get(rows, t->at)));
    }
    json_decref(rows);
}

static void enter(struct top *t)
{
    if (shows_containers(t)) {
        run_on_chosen(t, "inspect");
        return;
    }
    memcpy(t->inside, t->chosen, sizeof(t->inside));
    t->chosen[0] = '\0';
    t->at = 0;
}

static void leave(struct top *t)
{
    if (!*t->inside)
        return;
    memcpy(t->chosen, t->inside, sizeof(t->chosen));
    t->inside[0] = '\0';
}

/* Answers the question, or does what the key says. */
static void take_key(struct top *t, char key)
{
    bool asked = t->asks;

    t->asks = false;
    if (asked) {
        if (key == 'y')
            run_on_chosen(t, "kill");
        return;
    }
    switch (key) {
    case 'c':
    case 'm':
        t->order = key == 'c' ? CLI_USAGE_BY_CPU : CLI_USAGE_BY_MEMORY;
        break;
    case '\n':
    case '\r':
        enter(t);
        break;
    case 'l':
        run_on_chosen(t, "logs");
        break;
    case 'i':
        run_on_chosen(t, "inspect");
        break;
    case 'k':
        t->asks = *t->chosen != '\0';
        break;
    case '\177':
    case '\b':
        leave(t);
        break;
    default:
        break;
    }
}

#define PAGE 15

/* Keys of more than one byte, as terminals send them; Escape alone goes back. */
static void take_sequence(struct top *t, const char *keys)
{
    static const struct {
        const char *keys;
        int by;
    } moves[] = { { "\033[A", -1 },       { "\033OA", -1 },     { "\033[B", 1 },
                  { "\033OB", 1 },        { "\033[5~", -PAGE }, { "\033[6~", PAGE },
                  { "\033[H", -1000000 }, { "\033[F", 1000000 } };

    if (t->asks || strcmp(keys, "\033") == 0 || strcmp(keys, "\033[D") == 0) {
        if (!t->asks)
            leave(t);
        t->asks = false;
        return;
    }
    for (size_t i = 0; i < SV_ARRAY_LEN(moves); i++)
        if (sv_has_prefix(keys, moves[i].keys))
            move(t, moves[i].by);
}

static int on_key(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct top *t = userdata;
    char keys[16];
    ssize_t n = read(fd, keys, sizeof(keys) - 1);

    (void)s;
    (void)revents;
    if (n <= 0 || (keys[0] == 'q' && !t->asks)) {
        cli_stop(t->ctx, 0);
        return 0;
    }
    keys[n] = '\0';
    if (!t->now.apps)
        return 0; /* nothing is shown yet */
    if (keys[0] == '\033')
        take_sequence(t, keys);
    else
        for (ssize_t i = 0; i < n && keys[i] != '\033'; i++)
            take_key(t, keys[i]);
    draw(t);
    return 0;
}

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *info, void *userdata)
{
    const struct top *t = userdata;

    (void)s;
    (void)info;
    cli_stop(t->ctx, 0);
    return 0;
}

/* Restores the terminal on exit, including by any signal that can be caught. */
static int on_terminal(struct top *t)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    sigset_t set;
    int r = 0, code;

    sigemptyset(&set);
    for (size_t i = 0; i < SV_ARRAY_LEN(signals); i++)
        sigaddset(&set, signals[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        r = -errno;
    for (size_t i = 0; r >= 0 && i < SV_ARRAY_LEN(signals); i++)
        r = sd_event_add_signal(t->ctx->event, NULL, signals[i], on_signal, t);
    if (r >= 0)
        r = sd_event_add_io(t->ctx->event, NULL, STDIN_FILENO, EPOLLIN, on_key, t);
    if (r >= 0)
        r = cli_screen_begin(&t->screen);
    if (r < 0)
        return cli_fail("terminal: %s", strerror(-r));
    code = cli_loop(t->ctx);
    cli_screen_end(&t->screen);
    return code;
}

/* ---- Command ---- */

static int parse(struct top *t, int argc, char **argv)
{
    int c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(t->ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        t->once = t->once || c == CLI_OPT_ONCE;
        t->containers = t->containers || c == 'c';
        if (c != 's')
            continue;
        if (strcmp(optarg, "cpu") != 0 && strcmp(optarg, "memory") != 0) {
            (void)cli_fail("top: --sort %s: expected cpu or memory", optarg);
            return 2;
        }
        t->order = *optarg == 'c' ? CLI_USAGE_BY_CPU : CLI_USAGE_BY_MEMORY;
    }
    t->containers = t->containers || optind < argc;
    return 0;
}

int cli_cmd_top(struct cli_ctx *ctx, int argc, char **argv)
{
    struct top t = { .ctx = ctx };
    struct yarn_app_id app;
    int code = parse(&t, argc, argv), r;

    if (code == 0)
        code = cli_option_begin(ctx, argc, argv, t.containers ? &containers_list : &apps_list, 0, 1,
                                &app);
    if (code != 0)
        return code;
    cli_fetch_patience(ctx->fetch, (long)SV_MIN(ctx->wait_ms, (int64_t)CLI_FETCH_VIEW_MS));
    if (ctx->subject)
        yarn_app_id_text(app, t.app);
    t.on_screen =
        !t.once && !ctx->output.quiet && ctx->output.format <= CLI_WIDE && cli_screen_is_there();
    r = read_again(&t);
    code = r < 0         ? cli_fail("top: %s", strerror(-r))
           : t.on_screen ? on_terminal(&t)
                         : cli_loop(ctx);
    sd_event_source_disable_unref(t.timer);
    ctx->fetch = cli_fetch_free(ctx->fetch); /* its callbacks use `t` */
    ctx->rm = cli_rm_free(ctx->rm);
    cli_usage_free(&t.now);
    cli_usage_free(&t.next);
    return code;
}
