/* See options.h. */
#include "client/core/options.h"

#include <string.h>

#include "client/core/app-argument.h"
#include "common/edit-distance.h"
#include "common/str.h"

#define TEXT_MAX 4096  /* bytes of a value or an argument */
#define OPTIONS_MAX 40 /* per subcommand, with the global ones */

const struct cli_opt cli_globals[] = {
    { CLI_OPT_CONF, "conf", "DIR", "of yarn-site.xml ($HADOOP_CONF_DIR, else /etc/hadoop/conf)",
      CLI_NAMES_DIRECTORY },
    { 'D', NULL, "KEY=VALUE", "override the files; repeat for more", CLI_MANY | CLI_TEXT_ANY },
    { 'o', "output", "FORMAT", "table, wide, json, yaml, csv, name, or fields: id,state",
      CLI_NAMES_FORMAT },
    { CLI_OPT_JSON, "json", NULL, "the same as -o json", 0 },
    { CLI_OPT_NO_HEADERS, "no-headers", NULL, "lists without the line of titles", 0 },
    { CLI_OPT_QUIET, "quiet", NULL, "lists: names alone; other commands: results alone", 0 },
    { CLI_OPT_UTC, "utc", NULL, "times as 2026-01-31T12:00:00Z", 0 },
    { CLI_OPT_WAIT, "wait", "TIME",
      "for the first answer of the ResourceManager, and of nodes in inspect and top (5s)", 0 },
    { CLI_OPT_PRINCIPAL, "principal", "NAME", "with Kerberos: whose tickets are used (kinit's)",
      0 },
    { CLI_OPT_KEYTAB, "keytab", "FILE", "of that principal: tickets are taken and renewed with it",
      CLI_NAMES_FILE },
    { CLI_OPT_VERBOSE, "verbose", NULL, "also what the ResourceManager said", 0 },
    { 0 },
};

static const struct cli_opt no_options[] = { { 0 } };

static const struct cli_opt *own_options(const struct cli_ctx *ctx)
{
    static const struct cli_opt before[] = {
        { 'h', "help", NULL, "", 0 },
        { 'V', "version", NULL, "", 0 },
        { 0 },
    };

    if (!ctx->command)
        return before;
    return ctx->command->options ? ctx->command->options : no_options;
}

/* "ps: " or, before the subcommand, "". */
static const char *where(const struct cli_ctx *ctx, char buf[64])
{
    snprintf(buf, 64, "%s%s", ctx->command ? ctx->command->name : "", ctx->command ? ": " : "");
    return buf;
}

/* ---- Suggestions ---- */

struct nearest {
    const char *word, *hit;
    size_t best;
};

static struct nearest nearest_to(const char *word)
{
    return (struct nearest){ word, NULL, SV_MAX(strlen(word) / 3, (size_t)1) + 1 };
}

/* Allows an edit distance of a third of the letters. */
static void consider(struct nearest *n, const char *candidate)
{
    size_t d = sv_edit_distance(n->word, candidate);

    if (d < n->best && d < strlen(candidate)) {
        n->best = d;
        n->hit = candidate;
    }
}

/* ---- Options ---- */

static int unknown(const struct cli_ctx *ctx, const char *given, const struct option *all)
{
    char name[64], at[64];
    struct nearest near;

    snprintf(name, sizeof(name), "%s", sv_has_prefix(given, "--") ? given + 2 : "");
    name[strcspn(name, "=")] = '\0';
    near = nearest_to(name);
    for (const struct option *o = all; strlen(name) > 1 && o->name; o++)
        consider(&near, o->name);
    if (near.hit)
        (void)cli_fail("%s%s: no such option; is --%s meant?", where(ctx, at), given, near.hit);
    else
        (void)cli_fail("%s%s: no such option; selvedge %s%s--help lists them", where(ctx, at),
                       given, ctx->command ? ctx->command->name : "", ctx->command ? " " : "");
    return '?';
}

/* Reports an error of getopt_long(): a long option (optopt is its value or 0) or a letter. */
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

static int take_format(struct cli_ctx *ctx, const char *text)
{
    char at[64];

    if (cli_output_parse(text, &ctx->output) < 0) {
        (void)cli_fail("%s-o %s: expected table, wide, json, yaml, csv, name, or fields such as "
                       "id,state",
                       where(ctx, at), text);
        return '?';
    }
    ctx->json = ctx->output.format == CLI_JSON || ctx->output.format == CLI_YAML;
    return 0;
}

/* Returns 0: handled; '?': an error; else the option belongs to the subcommand. */
static int take_global(struct cli_ctx *ctx, int c)
{
    switch (c) {
    case CLI_OPT_CONF:
        ctx->conf_dir = optarg;
        return 0;
    case 'D':
        return take_override(ctx, optarg);
    case 'o':
        return take_format(ctx, optarg);
    case CLI_OPT_JSON:
        return take_format(ctx, "json");
    case CLI_OPT_NO_HEADERS:
        ctx->output.no_headers = true;
        return 0;
    case CLI_OPT_QUIET:
        ctx->output.quiet = true;
        return 0;
    case CLI_OPT_UTC:
        ctx->output.utc = true;
        return 0;
    case CLI_OPT_VERBOSE:
        ctx->verbose = true;
        return 0;
    case CLI_OPT_WAIT:
        return take_wait(ctx, optarg);
    case CLI_OPT_PRINCIPAL:
        ctx->principal = optarg;
        return 0;
    case CLI_OPT_KEYTAB:
        ctx->keytab = optarg;
        return 0;
    default:
        return c;
    }
}

/* ---- Values ---- */

static const struct cli_opt *find_letter(const struct cli_opt *options, int letter)
{
    for (const struct cli_opt *o = options; o->letter; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* Returns why the text is invalid for any option or argument; NULL: valid. */
static const char *wrong_text(const char *text)
{
    if (!*text)
        return "empty";
    if (strlen(text) > TEXT_MAX)
        return "longer than 4096 bytes";
    for (const unsigned char *p = (const unsigned char *)text; *p; p++)
        if (*p < ' ' || *p == 0x7f)
            return "with a control character";
    return NULL;
}

/* Checks that apply to every option's value: 0, or '?' after an error message. */
static int check_value(struct cli_ctx *ctx, int c)
{
    const struct cli_opt *o = find_letter(own_options(ctx), c);
    const char *dashes = "--", *why;
    char at[64], letter[2] = { (char)c, '\0' };
    uint64_t bit = UINT64_C(1) << (c % 64);

    o = o ? o : find_letter(cli_globals, c);
    if (!o || !o->value || !optarg)
        return 0;
    if (!o->name)
        dashes = "-";
    why = o->names & CLI_TEXT_ANY ? NULL : wrong_text(optarg);
    if (why) {
        (void)cli_fail("%s%s%s: its value is %s", where(ctx, at), dashes,
                       o->name ? o->name : letter, why);
        return '?';
    }
    if (!(o->names & CLI_MANY) && ctx->given[c / 64] & bit) {
        (void)cli_fail("%s%s%s: given twice", where(ctx, at), dashes, o->name ? o->name : letter);
        return '?';
    }
    ctx->given[c / 64] |= bit;
    return 0;
}

/* ---- getopt_long ---- */

static int takes_value(const struct cli_opt *o)
{
    return !o->value ? no_argument : *o->value == '[' ? optional_argument : required_argument;
}

/* Converts the rows for getopt_long(). */
static void add_options(const struct cli_opt *options, struct option *longs, size_t *n,
                        char *letters, size_t size)
{
    for (const struct cli_opt *o = options; o->letter; o++) {
        size_t used = strlen(letters);

        if (o->name && *n + 1 < OPTIONS_MAX)
            longs[(*n)++] = (struct option){ o->name, takes_value(o), NULL, o->letter };
        if (o->letter < CLI_OPT_CONF)
            snprintf(letters + used, size - used, "%c%s", o->letter, o->value ? ":" : "");
    }
}

int cli_option(struct cli_ctx *ctx, int argc, char **argv)
{
    struct option longs[OPTIONS_MAX] = { 0 };
    bool in_order = !ctx->command || ctx->command->strict_order;
    char letters[2 * OPTIONS_MAX + 3];
    size_t n = 0;
    int c;

    snprintf(letters, sizeof(letters), "%s:", in_order ? "+" : "");
    add_options(own_options(ctx), longs, &n, letters, sizeof(letters));
    add_options(cli_globals, longs, &n, letters, sizeof(letters));
    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
        if (c == '?' || c == ':')
            return rejected(ctx, c, argv, longs);
        if (check_value(ctx, c) != 0)
            return '?';
        c = take_global(ctx, c);
        if (c != 0)
            return c;
    }
    return -1;
}

int cli_option_all(struct cli_ctx *ctx, int argc, char **argv, bool *ret_all)
{
    int c;

    optind = 0; /* restart getopt for a new argv */
    *ret_all = false;
    while ((c = cli_option(ctx, argc, argv)) == 'a')
        *ret_all = true;
    return c == -1 ? 0 : 2;
}

int cli_option_none(struct cli_ctx *ctx, int argc, char **argv)
{
    optind = 0; /* restart getopt for a new argv */
    return cli_option(ctx, argc, argv) == -1 ? 0 : 2;
}

int cli_option_list(struct cli_ctx *ctx, const struct cli_list *list)
{
    char field[64], at[64];
    const char *wrong = cli_output_unknown(&ctx->output, list, field, sizeof(field));

    ctx->lists = true;
    if (!wrong)
        return 0;
    fprintf(stderr, "selvedge: %s-o %s: no such field; there are ", where(ctx, at), wrong);
    for (size_t i = 0; i < list->n; i++)
        fprintf(stderr, "%s%s", i ? "," : "", list->columns[i].key);
    fputc('\n', stderr);
    return 2;
}

int cli_option_begin(struct cli_ctx *ctx, int argc, char **argv, const struct cli_list *list,
                     int min, int max, struct yarn_app_id *ret_app)
{
    int code = list ? cli_option_list(ctx, list) : 0;
    const char *why;
    char at[64];

    if (code != 0)
        return code;
    if (argc - optind < min || argc - optind > max)
        return cli_usage(ctx);
    for (int i = optind; i < argc; i++)
        if ((why = wrong_text(argv[i]))) {
            (void)cli_fail("%s%.60s: an argument is %s", where(ctx, at), argv[i], why);
            return 2;
        }
    ctx->subject = optind < argc ? argv[optind] : NULL;
    return ret_app && ctx->subject ? cli_connect_app(ctx, ctx->subject, ret_app) : cli_connect(ctx);
}

int cli_option_app(struct cli_ctx *ctx, int argc, char **argv, const struct cli_list *list,
                   int more, struct yarn_app_id *ret)
{
    int code = cli_option_none(ctx, argc, argv);

    return code ? code : cli_option_begin(ctx, argc, argv, list, 1 + more, 1 + more, ret);
}

/* ---- Subcommands ---- */

/* Words that other tools have for these commands. */
static const struct {
    const char *word, *command;
} other_words[] = {
    { "apps", "ps" },           { "list", "ps" },           { "jobs", "ps" },
    { "status", "app status" }, { "describe", "inspect" },  { "show", "inspect" },
    { "nodes", "node list" },   { "queues", "queue list" }, { "cancel", "kill" },
    { "delete", "kill" },       { "tail", "logs" },         { "start", "run" },
    { "signal", "stop" },
};

static int unknown_command(const struct cli_ctx *ctx, const char *first, const char *second)
{
    char given[160];
    struct nearest near;

    snprintf(given, sizeof(given), "%s%s%s", first, *second ? " " : "", second);
    near = nearest_to(given);
    for (const struct cli_command *c = ctx->commands; c->name; c++)
        if (!c->hidden)
            consider(&near, c->name);
    consider(&near, "help");
    for (size_t i = 0; i < SV_ARRAY_LEN(other_words); i++)
        if (strcmp(first, other_words[i].word) == 0)
            near.hit = other_words[i].command;
    if (near.hit)
        (void)cli_fail("%s: no such command; is %s meant?", given, near.hit);
    else
        (void)cli_fail("%s: no such command; selvedge --help lists them", given);
    return 2;
}

static bool in_group(const struct cli_command *c, const char *group)
{
    size_t n = strlen(group);

    return strncmp(c->name, group, n) == 0 && c->name[n] == ' ';
}

bool cli_group_print(const struct cli_ctx *ctx, const char *group, const char *before, FILE *out)
{
    bool any = false;

    for (const struct cli_command *c = ctx->commands; c->name; c++)
        if (in_group(c, group)) {
            fprintf(out, "%s%s\n", before, c->synopsis);
            any = true;
        }
    return any;
}

const struct cli_command *cli_command_find(const struct cli_ctx *ctx, int argc, char **argv,
                                           int *ret_words)
{
    const char *first = argv[0], *second = argc > 1 ? argv[1] : "";
    bool group = false;

    for (const struct cli_command *c = ctx->commands; c->name; c++) {
        bool here = in_group(c, first);

        group = group || here;
        if (here ? strcmp(c->name + strlen(first) + 1, second) == 0 : strcmp(c->name, first) == 0) {
            *ret_words = here ? 2 : 1;
            return c;
        }
    }
    if (!group || (*second && *second != '-'))
        (void)unknown_command(ctx, first, group ? second : "");
    else
        (void)cli_group_print(ctx, first, "usage: selvedge ", stderr);
    return NULL;
}

/* ---- Help ---- */

void cli_options_help(const struct cli_opt *options, FILE *out)
{
    for (const struct cli_opt *o = options; o->letter; o++) {
        char left[64], letter[4] = "   ";

        if (o->letter < CLI_OPT_CONF)
            snprintf(letter, sizeof(letter), "-%c%s", o->letter, o->name ? "," : "");
        snprintf(left, sizeof(left), "%s %s%s%s%s", letter, o->name ? "--" : "",
                 o->name ? o->name : "", o->name && o->value && *o->value != '[' ? " " : "",
                 o->value ? o->value : "");
        fprintf(out, "  %-25s  %s\n", left, o->help);
    }
}
