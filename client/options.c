/* See options.h. */
#include "client/options.h"

#include <string.h>

#include "client/commands.h"
#include "common/edit-distance.h"
#include "common/str.h"

#define OWN_MAX 24 /* options of a subcommand */

enum { OPT_CONF = 1000, OPT_JSON, OPT_VERBOSE, OPT_WAIT };

static const struct option globals[] = {
    { "conf", required_argument, NULL, OPT_CONF },
    { "json", no_argument, NULL, OPT_JSON },
    { "verbose", no_argument, NULL, OPT_VERBOSE },
    { "wait", required_argument, NULL, OPT_WAIT },
};

const char *cli_nearest(const char *word, const char *(*next)(size_t i, const void *list),
                        const void *list)
{
    size_t best = SV_MAX(strlen(word) / 3, (size_t)1) + 1; /* one letter of three may be wrong */
    const char *hit = NULL, *candidate;

    for (size_t i = 0; (candidate = next(i, list)); i++) {
        size_t d = sv_edit_distance(word, candidate);

        if (d < best && d < strlen(candidate)) {
            best = d;
            hit = candidate;
        }
    }
    return hit;
}

static const char *next_option(size_t i, const void *list)
{
    return ((const struct option *)list)[i].name;
}

/* "ps: " or, before the subcommand, "". */
static const char *where(const struct cli_ctx *ctx, char buf[64])
{
    snprintf(buf, 64, "%s%s", ctx->command ? ctx->command->name : "", ctx->command ? ": " : "");
    return buf;
}

static int unknown(const struct cli_ctx *ctx, const char *given, const struct option *all)
{
    char name[64], at[64];
    const char *near = NULL;

    snprintf(name, sizeof(name), "%s", sv_has_prefix(given, "--") ? given + 2 : "");
    name[strcspn(name, "=")] = '\0';
    if (strlen(name) > 1)
        near = cli_nearest(name, next_option, all);
    if (near)
        (void)cli_fail("%s%s: no such option; is --%s meant?", where(ctx, at), given, near);
    else
        (void)cli_fail("%s%s: no such option; selvedge %s%s--help lists them", where(ctx, at),
                       given, ctx->command ? ctx->command->name : "", ctx->command ? " " : "");
    return '?';
}

/* What getopt_long() has rejected: a long option (optopt is its value or 0) or a letter. */
static int rejected(const struct cli_ctx *ctx, int c, char **argv, const struct option *all)
{
    const char *given = argv[optind - 1];
    char letter[3] = { '-', (char)optopt, '\0' }, at[64];
    const struct option *known = NULL;

    for (const struct option *o = all; optopt && o->name; o++)
        if (o->val == optopt)
            known = o;
    if (c == ':') /* the value is missing */
        (void)cli_fail("%s%s: a value is missing", where(ctx, at), given);
    else if (known && known->has_arg == no_argument)
        (void)cli_fail("%s--%s: takes no value", where(ctx, at), known->name);
    else
        return unknown(ctx, optopt ? letter : given, all);
    return '?';
}

static int take_wait(struct cli_ctx *ctx, const char *text)
{
    char at[64];

    if (sv_parse_duration_ms(text, 1000, &ctx->wait_ms) == 0 && ctx->wait_ms >= 0)
        return 0;
    (void)cli_fail("%s--wait %s: expected a time, such as 30 (seconds) or 5m", where(ctx, at),
                   text);
    return '?';
}

static int take_override(struct cli_ctx *ctx, char *text)
{
    char at[64];

    if (strchr(text, '=') && *text != '=' && ctx->n_overrides < CLI_OVERRIDES_MAX) {
        ctx->overrides[ctx->n_overrides++] = text;
        return 0;
    }
    (void)cli_fail("%s-D %s: expected KEY=VALUE", where(ctx, at), text);
    return '?';
}

/* 0: taken. '?': an error. Else the option is the subcommand's. */
static int take_global(struct cli_ctx *ctx, int c)
{
    switch (c) {
    case OPT_CONF:
        ctx->conf_dir = optarg;
        return 0;
    case 'D':
        return take_override(ctx, optarg);
    case OPT_JSON:
        ctx->json = true;
        return 0;
    case OPT_VERBOSE:
        ctx->verbose = true;
        return 0;
    case OPT_WAIT:
        return take_wait(ctx, optarg);
    default:
        return c;
    }
}

int cli_option(struct cli_ctx *ctx, int argc, char **argv, const char *shorts,
               const struct option *longs)
{
    struct option all[OWN_MAX + SV_ARRAY_LEN(globals) + 1] = { 0 };
    char letters[96];
    size_t n = 0;
    int c;

    while (n < OWN_MAX && longs[n].name) {
        all[n] = longs[n];
        n++;
    }
    memcpy(all + n, globals, sizeof(globals));
    snprintf(letters, sizeof(letters), "%s:D:%s", *shorts == '+' ? "+" : "",
             *shorts == '+' ? shorts + 1 : shorts);
    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, all, NULL)) != -1) {
        c = c == '?' || c == ':' ? rejected(ctx, c, argv, all) : take_global(ctx, c);
        if (c != 0)
            return c;
    }
    return -1;
}

int cli_option_all(struct cli_ctx *ctx, int argc, char **argv, bool *ret_all)
{
    static const struct option options[] = { { "all", no_argument, NULL, 'a' }, { 0 } };
    int c;

    optind = 0; /* begin with a new argv */
    *ret_all = false;
    while ((c = cli_option(ctx, argc, argv, "a", options)) == 'a')
        *ret_all = true;
    return c == -1 ? 0 : 2;
}

int cli_option_none(struct cli_ctx *ctx, int argc, char **argv)
{
    static const struct option options[] = { { 0 } };

    optind = 0; /* begin with a new argv */
    return cli_option(ctx, argc, argv, "", options) == -1 ? 0 : 2;
}
