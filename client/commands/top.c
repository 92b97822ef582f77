/* `selvedge top`: resource usage of the cluster's applications, or of their containers; on a
 * terminal refreshed every two seconds, else printed once. The list of applications and nodes comes
 * from the ResourceManager, usage from each node. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

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
    { "USER", "user", CLI_TEXT, CLI_ALWAYS },
    { "QUEUE", "queue", CLI_TEXT, CLI_IF_WIDE },
    { "STATE", "state", CLI_TEXT, CLI_IF_WIDE },
    { ">CONTAINERS", "containers", CLI_NUMBER, CLI_ALWAYS },
    { ">CPU", "cpuCores", CLI_SHARE, CLI_ALWAYS },
    { ">MEMORY", "memoryBytes", CLI_BYTES, CLI_ALWAYS },
    { ">ALLOCATED", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { ">VCORES", "vcores", CLI_NUMBER, CLI_ALWAYS },
    { ">CPU WAIT", "cpuPressure", CLI_SHARE, CLI_ALWAYS },
    { ">MEM WAIT", "memoryPressure", CLI_SHARE, CLI_ALWAYS },
    { ">I/O WAIT", "ioPressure", CLI_SHARE, CLI_ALWAYS },
    { ">PROGRESS", "progress", CLI_SHARE, CLI_IF_WIDE },
    { "~NAME", "name", CLI_TEXT, CLI_ALWAYS },
};
static const struct cli_list apps_list = CLI_LIST(app_columns, "id");
static const struct cli_column container_columns[] = {
    { "CONTAINER", "id", CLI_TEXT, CLI_ALWAYS },
    { "NODE", "node", CLI_TEXT, CLI_ALWAYS },
    { "USER", "user", CLI_TEXT, CLI_ALWAYS },
    { "STATE", "state", CLI_TEXT, CLI_IF_WIDE },
    { ">CPU", "cpuCores", CLI_SHARE, CLI_ALWAYS },
    { ">MEMORY", "memoryBytes", CLI_BYTES, CLI_ALWAYS },
    { ">PEAK", "peakMemoryBytes", CLI_BYTES, CLI_ALWAYS },
    { ">LIMIT", "memoryMb", CLI_MIB, CLI_ALWAYS },
    { ">VCORES", "vcores", CLI_NUMBER, CLI_IF_WIDE },
    { ">PIDS", "pids", CLI_NUMBER, CLI_ALWAYS },
    { ">CPU WAIT", "cpuPressure", CLI_SHARE, CLI_ALWAYS },
    { ">MEM WAIT", "memoryPressure", CLI_SHARE, CLI_ALWAYS },
    { ">I/O WAIT", "ioPressure", CLI_SHARE, CLI_ALWAYS },
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
};

/* ---- Output ---- */

static json_t *sorted(const struct top *t)
{
    return cli_usage_sorted(t->containers ? t->now.containers : t->now.apps, t->order);
}

static void draw(const struct top *t)
{
    const struct cli_list *list = t->containers ? &containers_list : &apps_list;
    _cleanup_free_ char *text = NULL;
    json_t *rows = sorted(t);
    char title[200];
    size_t size;
    FILE *out = rows ? open_memstream(&text, &size) : NULL;

    if (!out) {
        json_decref(rows);
        return;
    }
    cli_output_list(&t->ctx->output, list, rows, out);
    fclose(out);
    snprintf(title, sizeof(title), "%zu %s, %zu of %zu nodes tell; by %s, q: end",
             json_array_size(rows), t->containers ? "containers" : "applications",
             t->nodes - t->silent, t->nodes,
             t->order == CLI_USAGE_BY_CPU ? "processor; m: by memory" : "memory; c: by processor");
    cli_screen_draw(title, text);
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

static int on_key(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    struct top *t = userdata;
    char key;

    (void)s;
    (void)revents;
    if (read(fd, &key, 1) <= 0 || key == 'q') {
        cli_stop(t->ctx, 0);
        return 0;
    }
    if (key == 'c' || key == 'm')
        t->order = key == 'c' ? CLI_USAGE_BY_CPU : CLI_USAGE_BY_MEMORY;
    if ((key == 'c' || key == 'm') && t->now.apps)
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
    struct cli_screen screen;
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
        r = cli_screen_begin(&screen);
    if (r < 0)
        return cli_fail("terminal: %s", strerror(-r));
    code = cli_loop(t->ctx);
    cli_screen_end(&screen);
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
