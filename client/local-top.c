/* `selvedge top --local`: the containers of this node, sorted by processor or memory use; on a
 * terminal anew every two seconds, else one table. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/local-bus.h"
#include "client/local-json.h"
#include "client/local-rows.h"
#include "client/local.h"
#include "client/options.h"
#include "client/screen.h"
#include "client/table.h"

#define LIVE_MAX 256 /* containers whose figures are read one by one; of more the daemon's last */
#define FIRST_MS 1000
#define DELAY_MS 2000

static volatile sig_atomic_t ended; /* by a signal */

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
        if (now) /* else it has ended meanwhile: its last figures */
            (void)json_object_set_new(containers, id, now); /* short of memory: the old ones */
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

/* Reads again and replaces `l`; the rates are those since then. */
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

static void add_row(struct cli_table *t, const struct cli_local_row *row)
{
    const json_t *p = row->properties;
    int64_t max = cli_json_number(p, "MemoryMax");
    char buf[32];

    cli_table_add(t, "%s", row->id);
    cli_table_add(t, "%s", cli_json_text(p, "User"));
    if (row->cores < 0)
        cli_table_add(t, "-");
    else
        cli_table_add(t, "%.1f%%", 100 * row->cores);
    cli_table_add(t, "%s", cli_text_bytes(row->memory, buf));
    cli_table_add(t, "%s", cli_text_bytes(cli_json_number(p, "MemoryPeak"), buf));
    cli_table_add(t, "%s", cli_text_bytes(max ? max : -1, buf));
    cli_table_add(t, "%lld", (long long)cli_json_number(p, "PidsCurrent"));
    cli_table_add(t, "%.1f%%", cli_json_item(p, "CPUPressure", 0));
    cli_table_add(t, "%.1f%%", cli_json_item(p, "MemoryPressure", 0));
    cli_table_add(t, "%.1f%%", cli_json_item(p, "IOPressure", 0));
    cli_table_add(t, "%s", cli_json_text(p, "Command"));
}

static bool runs(const struct cli_local_row *row)
{
    return cli_json_number(row->properties, "Pid") != 0;
}

static void print_table(const struct cli_local_rows *l, FILE *out)
{
    static const char *const heads[] = { "CONTAINER", "USER",      ">CPU",   ">MEMORY",
                                         ">PEAK",     ">LIMIT",    ">PIDS",  ">CPU WAIT",
                                         ">MEM WAIT", ">I/O WAIT", "COMMAND" };
    struct cli_table *t = cli_table_new(heads, SV_ARRAY_LEN(heads));

    for (size_t i = 0; t && i < l->n; i++)
        if (runs(&l->rows[i]))
            add_row(t, &l->rows[i]);
    if (t)
        cli_table_print(t, true, out);
    cli_table_free(t);
}

static void print_json(const struct cli_local_rows *l)
{
    json_t *list = json_array();

    for (size_t i = 0; i < l->n; i++) {
        json_t *p = l->rows[i].properties;

        if (!runs(&l->rows[i]))
            continue;
        if (l->rows[i].cores >= 0)
            (void)json_object_set_new(p, "CPUCores", json_real(l->rows[i].cores)); /* ignoring */
        (void)json_array_append(list, p); /* NULL prints nothing */
    }
    json_dumpf(list, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(list);
}

static void draw(const struct cli_local_rows *l, enum cli_local_order order)
{
    _cleanup_free_ char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (!out)
        return;
    print_table(l, out);
    fclose(out);
    cli_screen_draw(order == CLI_LOCAL_BY_CPU ? "by processor; m: by memory, q: end"
                                              : "by memory; c: by processor, q: end",
                    text);
}

/* ---- terminal ---- */

/* A key, or 0 after the time. */
static char read_key(int ms)
{
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
    char key = 0;

    if (poll(&p, 1, ms) > 0 && read(STDIN_FILENO, &key, 1) <= 0)
        key = 'q';
    return key;
}

static int watch(struct cli_bus *b, struct cli_local_rows *l, enum cli_local_order order)
{
    int code = 0, wait_ms = FIRST_MS;

    draw(l, order);
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
            draw(l, order);
        wait_ms = DELAY_MS;
    }
    return code;
}

/* The terminal is as before afterwards, whatever ends the program by a signal that can be caught.
 */
static int on_terminal(struct cli_bus *b, struct cli_local_rows *l, enum cli_local_order order)
{
    const struct sigaction action = { .sa_handler = on_signal };
    struct cli_screen screen;
    int code, r = cli_screen_begin(&screen);

    if (r < 0)
        return cli_fail("terminal: %s", strerror(-r));
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    code = watch(b, l, order);
    cli_screen_end(&screen);
    return code;
}

/* ---- command ---- */

static int parse(struct cli_ctx *ctx, int argc, char **argv, enum cli_local_order *ret,
                 bool *ret_once)
{
    int c;

    optind = 0; /* begin with a new argv */
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
        code = cli_bus_open(ctx, &b);
    if (code == 0)
        code = read_rows(b, &l);
    if (code == 0 && !ctx->json && !once && cli_screen_is_there()) {
        code = on_terminal(b, &l, order);
    } else if (code == 0) {
        (void)poll(NULL, 0, FIRST_MS); /* the rate is of the time that passed, ignoring */
        code = next_rows(b, &l, order);
        if (code == 0 && ctx->json)
            print_json(&l);
        else if (code == 0)
            print_table(&l, stdout);
    }
    cli_local_rows_free(&l);
    return code;
}
