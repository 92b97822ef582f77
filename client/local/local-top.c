/* `selvedge top --local`: the containers of this node, sorted by processor or memory use; on a
 * terminal refreshed every two seconds, else printed once. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/core/options.h"
#include "client/local/local-bus.h"
#include "client/local/local-json.h"
#include "client/local/local-rows.h"
#include "client/local/local.h"
#include "client/ui/screen.h"

#define LIVE_MAX 256 /* containers read individually; beyond that, the daemon's last figures */
#define FIRST_MS 1000
#define DELAY_MS 2000

static volatile sig_atomic_t ended; /* set by a signal */

static void on_signal(int number)
{
    ended = number;
}

/* ---- figures ---- */

static int refresh(struct cli_bus *b, json_t *containers)
{
    const char *id;
    json_t *old;
    void *next;

    if (json_object_size(containers) > LIVE_MAX)
        return 0;
    json_object_foreach_safe(containers, next, id, old)
    {
        json_t *now = NULL;
        int code = 0;

        if (cli_json_number(old, "Pid") == 0)
            continue;
        code = cli_bus_container(b, id, true, &now);
        if (code != 0)
            return code;
        if (now) /* else it has ended meanwhile: keep its last figures */
            (void)json_object_set_new(containers, id, now); /* else the old ones, ignoring */
    }
    return 0;
}

static int read_rows(struct cli_bus *b, struct cli_local_rows *ret)
{
    json_t *containers = NULL;
    int code = cli_bus_containers(b, &containers);

    if (code == 0)
        code = refresh(b, containers);
    if (code == 0 && cli_local_rows_of(containers, ret) < 0)
        code = cli_fail("out of memory");
    json_decref(containers);
    return code;
}

/* Reads again and replaces `l`; computes rates since the previous reading. */
static int next_rows(struct cli_bus *b, struct cli_local_rows *l, enum cli_local_order order)
{
    struct cli_local_rows now = { 0 };
    int code = read_rows(b, &now);

    if (code != 0)
        return code;
    cli_local_rows_rate(&now, l);
    cli_local_rows_sort(&now, order);
    cli_local_rows_free(l);
    *l = now;
    return 0;
}

/* ---- output ---- */

static const struct cli_column columns[] = {
    { "CONTAINER", "Id", CLI_TEXT, CLI_ALWAYS },
    { "?USER", "User", CLI_TEXT, CLI_ALWAYS },
    { ">CPU", "CPUCores", CLI_SHARE, CLI_ALWAYS },
    { ">MEMORY", "MemoryCurrent", CLI_BYTES, CLI_ALWAYS },
    { "?>PEAK", "MemoryPeak", CLI_BYTES, CLI_ALWAYS },
    { "?>LIMIT", "Limit", CLI_BYTES, CLI_ALWAYS },
    { "?>PIDS", "PidsCurrent", CLI_NUMBER, CLI_ALWAYS },
    { "?>CPU WAIT", "CPUWait", CLI_SHARE, CLI_ALWAYS },
    { "?>MEM WAIT", "MemoryWait", CLI_SHARE, CLI_ALWAYS },
    { "?>I/O WAIT", "IOWait", CLI_SHARE, CLI_ALWAYS },
    { "STATE", "State", CLI_TEXT, CLI_IF_WIDE },
    { "~COMMAND", "Command", CLI_TEXT, CLI_ALWAYS },
};
static const struct cli_list list = CLI_LIST(columns, "Id");

static bool runs(const struct cli_local_row *row)
{
    return cli_json_number(row->properties, "Pid") != 0;
}

/* Adds the table's derived values. */
static json_t *row_of(const struct cli_local_row *row)
{
    static const char *const waits[][2] = { { "CPUWait", "CPUPressure" },
                                            { "MemoryWait", "MemoryPressure" },
                                            { "IOWait", "IOPressure" } };
    int64_t max = cli_json_number(row->properties, "MemoryMax");
    json_t *p = json_copy(row->properties);

    if (!p)
        return NULL;
    cli_local_uncounted(p);
    (void)json_object_set_new(p, "Limit", cli_json_known(max ? max : -1)); /* ignoring, as below */
    for (size_t i = 0; i < SV_ARRAY_LEN(waits); i++)
        (void)json_object_set_new(p, waits[i][0],
                                  json_real(cli_json_item(row->properties, waits[i][1], 0) / 100));
    return p;
}

/* JSON and YAML print the daemon's properties unchanged, and the processors in use. */
static void print_rows(const struct cli_ctx *ctx, const struct cli_local_rows *l, FILE *out)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < l->n; i++) {
        json_t *p = l->rows[i].properties;

        if (!runs(&l->rows[i]))
            continue;
        if (l->rows[i].cores >= 0)
            (void)json_object_set_new(p, "CPUCores", json_real(l->rows[i].cores)); /* ignoring */
        (void)json_array_append_new(rows, ctx->json ? json_incref(p)
                                                    : row_of(&l->rows[i])); /* as above, ignoring */
    }
    if (rows)
        cli_output_list(&ctx->output, &list, rows, out);
    json_decref(rows);
}

static void draw(const struct cli_ctx *ctx, const struct cli_local_rows *l,
                 enum cli_local_order order)
{
    _cleanup_free_ char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return;
    print_rows(ctx, l, out);
    fclose(out);
    cli_screen_draw(order == CLI_LOCAL_BY_CPU ? "by processor; m: by memory, q: end"
                                              : "by memory; c: by processor, q: end",
                    text);
}

/* ---- terminal ---- */

/* Returns a key, or 0 on timeout. */
static char read_key(int ms)
{
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
    char key = 0;

    if (poll(&p, 1, ms) > 0 && read(STDIN_FILENO, &key, 1) <= 0)
        key = 'q';
    return key;
}

static int watch(const struct cli_ctx *ctx, struct cli_bus *b, struct cli_local_rows *l,
                 enum cli_local_order order)
{
    int code = 0, wait_ms = FIRST_MS;

    draw(ctx, l, order);
    while (!ended && code == 0) {
        char key = read_key(wait_ms);

        if (key == 'q')
            break;
        if (key == 'm' || key == 'c') {
            order = key == 'm' ? CLI_LOCAL_BY_MEMORY : CLI_LOCAL_BY_CPU;
            cli_local_rows_sort(l, order);
        } else if (key == 0 && !ended) {
            code = next_rows(b, l, order);
        }
        if (code == 0)
            draw(ctx, l, order);
        wait_ms = DELAY_MS;
    }
    return code;
}

/* Restores the terminal on exit, including by any signal that can be caught. */
static int on_terminal(const struct cli_ctx *ctx, struct cli_bus *b, struct cli_local_rows *l,
                       enum cli_local_order order)
{
    const struct sigaction action = { .sa_handler = on_signal };
    struct cli_screen screen;
    int code, r = cli_screen_begin(&screen);

    if (r < 0)
        return cli_fail("terminal: %s", strerror(-r));
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    code = watch(ctx, b, l, order);
    cli_screen_end(&screen);
    return code;
}

/* ---- command ---- */

static int parse(struct cli_ctx *ctx, int argc, char **argv, enum cli_local_order *ret,
                 bool *ret_once)
{
    int c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        if (c == 'c') {
            (void)cli_fail("top: --containers is for the cluster: --local lists containers anyway");
            return 2;
        }
        *ret_once = *ret_once || c == CLI_OPT_ONCE;
        if (c != 's')
            continue;
        if (strcmp(optarg, "cpu") != 0 && strcmp(optarg, "memory") != 0) {
            (void)cli_fail("top: --sort %s: expected cpu or memory", optarg);
            return 2;
        }
        *ret = *optarg == 'c' ? CLI_LOCAL_BY_CPU : CLI_LOCAL_BY_MEMORY;
    }
    return optind == argc ? 0 : cli_usage(ctx);
}

int cli_local_top(struct cli_ctx *ctx, int argc, char **argv)
{
    _cleanup_bus_ struct cli_bus *b = NULL;
    enum cli_local_order order = CLI_LOCAL_BY_CPU;
    struct cli_local_rows l = { 0 };
    bool once = false;
    int code = parse(ctx, argc, argv, &order, &once);

    if (code == 0)
        code = cli_option_list(ctx, &list);
    if (code == 0)
        code = cli_bus_open(ctx, &b);
    if (code == 0)
        code = read_rows(b, &l);
    if (code == 0 && ctx->output.format <= CLI_WIDE && !ctx->output.quiet && !once &&
        cli_screen_is_there()) {
        code = on_terminal(ctx, b, &l, order);
    } else if (code == 0) {
        (void)poll(NULL, 0, FIRST_MS); /* the rate uses the time elapsed, ignoring */
        code = next_rows(b, &l, order);
        if (code == 0)
            print_rows(ctx, &l, stdout);
    }
    cli_local_rows_free(&l);
    return code;
}
