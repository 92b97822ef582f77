/* selvedge: the command line. Finds the subcommand, reads Hadoop's configuration, connects. Each
 * subcommand is one file; all run as the calling user. */
#include <curl/curl.h>
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "client/commands.h"
#include "common/clock.h"
#include "common/log.h"

#define AWAY_TELL_MS 30000 /* between two messages that the ResourceManager is unreachable */

static const struct cli_command commands[] = {
    { "run", cli_cmd_run, "run [OPTIONS] -- COMMAND [ARGUMENT]...",
      "run a command in containers and wait for it",
      "  -n, --instances N      containers (1)\n"
      "  -m, --memory SIZE      of each, such as 256m or 2g (256m)\n"
      "  -c, --vcores N         of each (1)\n"
      "  -a, --archive PATH[#NAME]  unpacked into the work directory as NAME; repeat for more\n"
      "  -f, --file PATH[#NAME]     put into the work directory as NAME; repeat for more\n"
      "  -e, --env NAME=VALUE   in each container; repeat for more\n"
      "  -N, --name NAME        of the job (the command's)\n"
      "  -q, --queue QUEUE      (default)\n"
      "      --tries N          maximum starts of an instance whose node is lost (3)\n"
      "      --am-memory SIZE   of the ApplicationMaster's container (128m)\n"
      "      --am-program PATH  the ApplicationMaster\n"
      "      --no-output        do not show the containers' output\n"
      "\n"
      "One COMMAND without arguments is a line for bash; with arguments it is a program and\n"
      "exactly those arguments. Each container has SELVEDGE_INSTANCE (0...) and\n"
      "SELVEDGE_INSTANCES. Output lines begin with [instance] when there are several. The exit\n"
      "code is 0 when all containers ended with 0, else that of the first one in the table that\n"
      "did not (1 for codes below 0, which are YARN's own).\n" },
    { "ps", cli_cmd_ps, "ps [-a] [APPLICATION]", "list applications, or one's containers",
      "  -a, --all              ended ones too\n" },
    { "logs", cli_cmd_logs, "logs [--log NAME] APPLICATION [CONTAINER]",
      "show the output of containers",
      "  -l, --log NAME         this file instead of stdout and stderr\n"
      "\n"
      "CONTAINER is a container's id or an instance's number.\n" },
    { "kill", cli_cmd_kill, "kill APPLICATION...", "end applications", "" },
    { "node", cli_cmd_node, "node list [-a]", "list the nodes",
      "  -a, --all              also those that are not running\n" },
    { "doctor", cli_cmd_doctor, "doctor [--user NAME]",
      "check which limits and protections this node can enforce",
      "  -u, --user NAME        the NodeManager's account (yarn)\n"
      "\n"
      "Changes nothing; needs no ResourceManager. As root or as the NodeManager's account it\n"
      "also queries container-executor. The exit code is 0 when all is in order, 1 when\n"
      "containers run with less protection than possible, 2 when they do not run or a guarantee\n"
      "is broken.\n",
      .local = true },
};

static void help(FILE *out)
{
    fprintf(out, "selvedge: runs jobs on a YARN cluster and looks after them.\n\n"
                 "  selvedge [--conf DIR] [-D KEY=VALUE]... [--json] COMMAND ...\n\n");
    for (size_t i = 0; i < SV_ARRAY_LEN(commands); i++)
        fprintf(out, "  %-6s %s\n", commands[i].name, commands[i].summary);
    fprintf(out,
            "\nselvedge COMMAND --help shows details. The cluster is the one of yarn-site.xml in "
            "--conf,\n$HADOOP_CONF_DIR or /etc/hadoop/conf.\n");
}

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static void command_help(const struct cli_command *c, FILE *out)
{
    fprintf(out, "selvedge %s\n%s.\n%s%s", c->synopsis, c->summary, *c->help ? "\n" : "", c->help);
}

#define OVERRIDES_MAX 64

struct global_options { /* before the subcommand */
    const char *conf_dir;
    char *overrides[OVERRIDES_MAX + 1]; /* "KEY=VALUE" */
    size_t n_overrides;
};

/* Options before the subcommand. -1: continue, else the exit code. */
static int parse_global_options(struct cli_ctx *ctx, int argc, char **argv,
                                struct global_options *ret)
{
    static const struct option options[] = {
        { "conf", required_argument, NULL, 'C' },
        { "json", no_argument, NULL, 'j' },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    int c;

    while ((c = getopt_long(argc, argv, "+C:D:jh", options, NULL)) != -1) {
        switch (c) {
        case 'C':
            ret->conf_dir = optarg;
            break;
        case 'D':
            if (!strchr(optarg, '=') || *optarg == '=' || ret->n_overrides == OVERRIDES_MAX) {
                (void)cli_fail("-D %s: expected KEY=VALUE", optarg);
                return 2;
            }
            ret->overrides[ret->n_overrides++] = optarg;
            break;
        case 'j':
            ctx->json = true;
            break;
        case 'h':
            help(stdout);
            return 0;
        default:
            return 2;
        }
    }
    return -1;
}

/* The library retries for the configured time, by default 15 minutes. */
static void on_away(const struct sv_error *err, int64_t wait_ms, const char *next, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    int64_t now = sv_now_ms();

    (void)wait_ms;
    if (ctx->away_logged_ms && now - ctx->away_logged_ms < AWAY_TELL_MS)
        return;
    ctx->away_logged_ms = SV_MAX(now, 1);
    (void)cli_fail("%s; still trying, now at %s (Ctrl-C ends)", err->text, next);
}

static int start(struct cli_ctx *ctx, const struct global_options *o, struct sv_error *err)
{
    const struct passwd *pw = getpwuid(geteuid());
    int r;

    if (!pw)
        return sv_error_set(err, -ENOENT, "uid %u has no account", geteuid());
    ctx->user = strdup(pw->pw_name);
    if (!ctx->user)
        return sv_error_errno(err, -ENOMEM, "start");
    r = sv_conf_load_hadoop(ctx->conf, o->conf_dir, err);
    for (size_t i = 0; r >= 0 && i < o->n_overrides; i++) { /* these override the files */
        char *value = strchr(o->overrides[i], '=');

        *value++ = '\0';
        r = sv_conf_set(ctx->conf, o->overrides[i], value);
        if (r < 0)
            sv_error_errno(err, r, "-D %s", o->overrides[i]);
    }
    if (r < 0)
        return r;
    r = sd_event_new(&ctx->event);
    if (r >= 0)
        r = cli_fetch_new(ctx->event, &ctx->fetch);
    if (r < 0)
        return sv_error_errno(err, r, "event loop");
    r = cli_rm_new(ctx->event, ctx->conf, NULL, &ctx->rm, err);
    if (r >= 0)
        cli_rm_on_away(ctx->rm, on_away, ctx);
    return r;
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int run(struct cli_ctx *ctx, int argc, char **argv)
{
    struct sv_error err = { 0 };
    struct global_options o = { 0 };
    const struct cli_command *c;
    int code = parse_global_options(ctx, argc, argv, &o);

    if (code >= 0)
        return code;
    if (optind == argc) {
        help(stderr);
        return 2;
    }
    argc -= optind;
    argv += optind;
    c = find_command(argv[0]);
    if (!c) {
        (void)cli_fail("%s: no such command (selvedge --help lists them)", argv[0]);
        return 2;
    }
    if (wants_help(argc, argv)) {
        command_help(c, stdout);
        return 0;
    }
    ctx->command = c;
    ctx->conf_dir = o.conf_dir;
    ctx->overrides = o.overrides;
    if (c->local)
        return c->run(ctx, argc, argv);
    if (start(ctx, &o, &err) < 0)
        return cli_fail("%s", err.text);
    return c->run(ctx, argc, argv);
}

int main(int argc, char **argv)
{
    struct cli_ctx ctx = { 0 };
    int code;

    (void)setlocale(LC_ALL, ""); /* "C" when it is unknown */
    sv_log_init("selvedge");
    sv_log_set_level(SV_LOG_ERR);
    ctx.conf = sv_conf_new();
    code = ctx.conf && curl_global_init(CURL_GLOBAL_DEFAULT) == 0 ? run(&ctx, argc, argv)
                                                                  : cli_fail("out of memory");
    cli_fetch_free(ctx.fetch);
    cli_rm_free(ctx.rm);
    sd_event_unref(ctx.event);
    sv_conf_free(ctx.conf);
    free(ctx.user);
    curl_global_cleanup();
    if (fflush(stdout) == EOF && code == 0)
        code = 1;
    return code;
}
