/* `selvedge node drain|undrain` and `selvedge node status --local`. */
#include <poll.h>
#include <string.h>

#include "client/core/options.h"
#include "client/local/local-bus.h"
#include "client/local/local-json.h"
#include "client/local/local.h"
#include "client/ui/table.h"
#include "common/clock.h"
#include "common/str.h"

#define POLL_MS 500

struct options {
    const char *action, *reason;
    bool wait, local;
    int64_t wait_ms; /* negative: no limit */
};

static int take_wait(struct options *o)
{
    o->wait = true;
    o->wait_ms = -1;
    if (!optarg || (sv_parse_duration_ms(optarg, 1000, &o->wait_ms) == 0 && o->wait_ms >= 0))
        return 0;
    (void)cli_fail("node: --wait=%s: expected a time, such as 30 (seconds) or 5m", optarg);
    return 2;
}

static int parse(struct cli_ctx *ctx, int argc, char **argv, struct options *o)
{
    bool drain = strcmp(o->action, "drain") == 0, status = strcmp(o->action, "status") == 0;
    int c;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?' || (c == CLI_OPT_WAIT_EMPTY && take_wait(o) != 0))
            return 2;
        if (c == 'r')
            o->reason = optarg;
        o->local = o->local || c == CLI_OPT_LOCAL;
    }
    if (argc != optind || (status && !o->local) || (!drain && (o->reason || o->wait)))
        return cli_usage(ctx);
    return 0;
}

/* ---- status ---- */

static void print_status(const json_t *p)
{
    int64_t beat = cli_json_number(p, "LastHeartbeat"), used = cli_json_number(p, "MemoryCurrent");
    const char *missing = cli_json_text(p, "LimitsNotEnforced");
    char a[32], b[32], text[1024];

    printf("Node          %s\n", cli_json_text(p, "Id"));
    printf("Version       %s\n", cli_json_text(p, "Version"));
    printf("State         %s\n", cli_json_text(p, "State"));
    sv_escape(text, sizeof(text), cli_json_text(p, "ResourceManager"));
    printf("Manager       %s, last heartbeat %s ago\n", text,
           cli_text_millis(beat ? SV_MAX(sv_wall_ms() - beat, (int64_t)0) : -1, a));
    sv_escape(text, sizeof(text), cli_json_text(p, "HealthReport"));
    printf("Health        %s%s%s\n", cli_json_bool(p, "Healthy") ? "good" : "unhealthy",
           *text ? ": " : "", text);
    sv_escape(text, sizeof(text), cli_json_text(p, "DrainReason"));
    if (cli_json_bool(p, "Draining"))
        printf("Drained       %s\n", text);
    printf("Applications  %lld\n", (long long)cli_json_number(p, "Applications"));
    printf("Containers    %lld\n", (long long)cli_json_number(p, "Containers"));
    printf("Memory        %s used of %s\n", cli_text_bytes(used > 0 ? used : -1, a),
           cli_text_bytes(cli_json_number(p, "Memory"), b));
    printf("Vcores        %lld\n", (long long)cli_json_number(p, "VirtualCores"));
    printf("GPUs          %lld\n", (long long)cli_json_number(p, "GPUs"));
    sv_escape(text, sizeof(text), missing);
    if (*missing)
        printf("Not enforced  %s\n", text);
}

static int status(const struct cli_ctx *ctx, struct cli_bus *b)
{
    json_t *node = NULL;
    int code = cli_bus_node(b, &node);

    if (code != 0)
        return code;
    if (ctx->json) {
        json_dumpf(node, stdout, JSON_COMPACT);
        putchar('\n');
    } else {
        print_status(node);
    }
    json_decref(node);
    return 0;
}

/* ---- drain ---- */

/* Waits until the node has no container, including ended ones that are not yet acknowledged by the
 * ResourceManager. */
static int wait_until_empty(struct cli_bus *b, const struct options *o)
{
    int64_t until = sv_now_ms() + o->wait_ms, shown = -1;

    for (;;) {
        json_t *node = NULL;
        int code = cli_bus_node(b, &node);
        int64_t left = cli_json_number(node, "Containers");

        json_decref(node);
        if (code != 0 || left == 0)
            return code;
        if (o->wait_ms >= 0 && sv_now_ms() >= until)
            return cli_fail("the node is drained and still has %lld containers after %.0f s",
                            (long long)left, (double)o->wait_ms / 1000);
        if (left != shown)
            fprintf(stderr, "selvedge: waiting for %lld containers to end\n", (long long)left);
        shown = left;
        (void)poll(NULL, 0, POLL_MS); /* an interrupted poll only shortens the interval, ignoring */
    }
}

static int drain(const struct cli_ctx *ctx, struct cli_bus *b, const struct options *o)
{
    json_t *node = NULL;
    char reason[1024];
    int code = cli_bus_call_node(b, "Drain", o->reason ? o->reason : "");

    if (code == 0 && o->wait)
        code = wait_until_empty(b, o);
    if (code == 0)
        code = cli_bus_node(b, &node);
    if (code != 0)
        return code;
    sv_escape(reason, sizeof(reason), cli_json_text(node, "DrainReason"));
    if (!ctx->json)
        printf("%s is drained: %s; %lld containers\n", cli_json_text(node, "Id"), reason,
               (long long)cli_json_number(node, "Containers"));
    json_decref(node);
    return ctx->json ? status(ctx, b) : 0;
}

static int undrain(const struct cli_ctx *ctx, struct cli_bus *b)
{
    json_t *node = NULL;
    int code = cli_bus_call_node(b, "Undrain", NULL);

    if (code == 0)
        code = cli_bus_node(b, &node);
    if (code != 0)
        return code;
    if (!ctx->json)
        printf("%s is not drained any more and %s\n", cli_json_text(node, "Id"),
               cli_json_bool(node, "Healthy") ? "healthy" : "unhealthy for another reason");
    json_decref(node);
    return ctx->json ? status(ctx, b) : 0;
}

int cli_local_node(struct cli_ctx *ctx, int argc, char **argv)
{
    _cleanup_bus_ struct cli_bus *b = NULL;
    struct options o = { .action = ctx->command->name + strlen("node ") };
    int code = parse(ctx, argc, argv, &o);

    if (code == 0)
        code = cli_bus_open(ctx, &b);
    if (code != 0)
        return code;
    if (strcmp(o.action, "drain") == 0)
        return drain(ctx, b, &o);
    return strcmp(o.action, "undrain") == 0 ? undrain(ctx, b) : status(ctx, b);
}
