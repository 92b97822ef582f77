/* selvedge: the command line. Finds the subcommand, reads Hadoop's configuration, connects. Each
 * subcommand is one file; all run as the calling user. */
#include <curl/curl.h>
#include <locale.h>
#include <string.h>

#include "client/commands.h"
#include "client/options.h"
#include "common/log.h"
#include "common/version.h"

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
      "  -d, --detach           print the application's id and leave the job to itself\n"
      "\n"
      "One COMMAND without arguments is a line for bash; with arguments it is a program and\n"
      "exactly those arguments. Each container has SELVEDGE_INSTANCE (0...) and\n"
      "SELVEDGE_INSTANCES. Output lines begin with [instance] when there are several. The exit\n"
      "code is 0 when all containers ended with 0, else that of the first one in the table that\n"
      "did not (1 for codes below 0, which are YARN's own).\n" },
    { "ps", cli_cmd_ps, "ps [-a] [APPLICATION]", "list applications, or one's containers",
      "  -a, --all              ended ones too\n" },
    { "logs", cli_cmd_logs, "logs [OPTIONS] APPLICATION [CONTAINER]",
      "show the output of containers",
      "  -l, --log NAME         this file instead of stdout and stderr\n"
      "  -a, --all              all files\n"
      "  -f, --follow           while the application runs, go on as its logs grow\n"
      "  -n, --tail LINES       the last lines of each file only\n"
      "      --owner USER       whose application it is, if the ResourceManager has forgotten it\n"
      "\n"
      "CONTAINER is a container's id or an instance's number. What the nodes have no more is read\n"
      "from the remote log directory (yarn.log-aggregation-enable).\n" },
    { "kill", cli_cmd_kill, "kill APPLICATION...", "end applications", "" },
    { "node", cli_cmd_node, "node list [-a]", "list the nodes",
      "  -a, --all              also those that are not running\n" },
    { "wait", cli_cmd_wait, "wait APPLICATION", "wait until an application has ended",
      "The exit code is the job's own for `selvedge run`, else 0 when it succeeded, or 1.\n" },
    { "app", cli_cmd_app, "app list [-a] | status APPLICATION | kill APPLICATION...",
      "list, describe or end applications", "" },
    { "queue", cli_cmd_queue, "queue list | status QUEUE", "list the queues or describe one",
      "USED is a share of the queue's own capacity: above 100% it borrows.\n" },
    { "doctor", cli_cmd_doctor, "doctor [--user NAME]",
      "check which limits and protections this node can enforce",
      "  -u, --user NAME        the NodeManager's account (yarn)\n"
      "\n"
      "Changes nothing; needs no ResourceManager. As root or as the NodeManager's account it\n"
      "also queries container-executor. The exit code is 0 when all is in order, 1 when\n"
      "containers run with less protection than possible, 2 when they do not run or a guarantee\n"
      "is broken.\n" },
};

static void help(FILE *out)
{
    fprintf(out, "selvedge: runs jobs on a YARN cluster and looks after them.\n\n"
                 "  selvedge COMMAND [OPTIONS] ...\n\n");
    for (size_t i = 0; i < SV_ARRAY_LEN(commands); i++)
        fprintf(out, "  %-6s %s\n", commands[i].name, commands[i].summary);
    fprintf(out,
            "\nselvedge COMMAND --help shows details. Each command also takes\n\n"
            "      --conf DIR     the cluster of this directory's yarn-site.xml ($HADOOP_CONF_DIR, "
            "else\n                     /etc/hadoop/conf)\n"
            "  -D  KEY=VALUE      overrides the files; repeat for more\n"
            "      --json         JSON instead of tables\n"
            "      --wait TIME    for the first answer of the ResourceManager (5s)\n"
            "      --verbose      the ResourceManager's own words too\n"
            "\nselvedge --version prints the version. Exit codes: 0, 1 (failed), 2 (wrong usage, "
            "nothing\nwas done); run, wait and attach: the job's own.\n");
}

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < SV_ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static const char *next_command(size_t i, const void *list)
{
    (void)list;
    return i < SV_ARRAY_LEN(commands) ? commands[i].name : NULL;
}

static void command_help(const struct cli_command *c, FILE *out)
{
    fprintf(out, "selvedge %s\n%s.\n%s%s", c->synopsis, c->summary, *c->help ? "\n" : "", c->help);
}

static bool wants_help(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int unknown_command(const char *name)
{
    const char *near = cli_nearest(name, next_command, commands);

    if (near)
        (void)cli_fail("%s: no such command; is %s meant?", name, near);
    else
        (void)cli_fail("%s: no such command; selvedge --help lists them", name);
    return 2;
}

/* Options before the subcommand. -1: continue, else the exit code. */
static int before_command(struct cli_ctx *ctx, int argc, char **argv)
{
    static const struct option options[] = {
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { 0 },
    };
    int c = cli_option(ctx, argc, argv, "+hV", options);

    if (c == 'h')
        help(stdout);
    else if (c == 'V')
        printf("selvedge %s\n", SV_VERSION);
    return c == -1 ? -1 : c == '?' ? 2 : 0;
}

static int run(struct cli_ctx *ctx, int argc, char **argv)
{
    int code = before_command(ctx, argc, argv);

    if (code >= 0)
        return code;
    if (optind == argc) {
        help(stderr);
        return 2;
    }
    argc -= optind;
    argv += optind;
    ctx->command = find_command(argv[0]);
    if (!ctx->command)
        return unknown_command(argv[0]);
    if (wants_help(argc, argv)) {
        command_help(ctx->command, stdout);
        return 0;
    }
    return ctx->command->run(ctx, argc, argv);
}

int main(int argc, char **argv)
{
    struct cli_ctx ctx = { .wait_ms = CLI_WAIT_MS };
    int code;

    (void)setlocale(LC_ALL, ""); /* "C" when it is unknown */
    sv_log_init("selvedge");
    sv_log_set_level(SV_LOG_ERR);
    ctx.conf = sv_conf_new();
    code = ctx.conf && curl_global_init(CURL_GLOBAL_DEFAULT) == 0 ? run(&ctx, argc, argv)
                                                                  : cli_fail("out of memory");
    cli_fetch_free(ctx.fetch);
    cli_rm_free(ctx.rm);
    sd_event_source_disable_unref(ctx.patience);
    sd_event_unref(ctx.event);
    sv_conf_free(ctx.conf);
    free(ctx.user);
    curl_global_cleanup();
    if (fflush(stdout) == EOF && code == 0)
        code = 1;
    return code;
}
