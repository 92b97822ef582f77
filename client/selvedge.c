/* selvedge: the command line. Finds the subcommand, reads Hadoop's configuration, connects. Each
 * subcommand is one file; all run as the calling user. */
#include <string.h>

#include "client/core/options.h"
#include "common/log.h"
#include "common/version.h"

static void help(FILE *out)
{
    fprintf(out, "selvedge: runs jobs on a YARN cluster and looks after them.\n\n"
                 "  selvedge COMMAND [OPTIONS] ...\n\n");
    for (const struct cli_command *c = cli_commands; c->name; c++)
        if (!c->hidden)
            fprintf(out, "  %-22s %s\n", c->name, c->summary);
    fprintf(out, "\nselvedge COMMAND --help shows details. Each command also takes\n\n");
    cli_options_help(cli_globals, out);
    fprintf(out, "\nselvedge --version prints the version. Exit codes: 0, 1 (failed), 2 (wrong "
                 "usage, nothing\nwas done); run, wait and attach: the job's own.\n");
}

static void command_help(const struct cli_command *c, FILE *out)
{
    fprintf(out, "selvedge %s\n%s.\n", c->synopsis, c->summary);
    if (c->options)
        fputc('\n', out);
    if (c->options)
        cli_options_help(c->options, out);
    if (*c->help)
        fprintf(out, "\n%s", c->help);
    if (c->exits)
        fprintf(out, "\nExit code: %s", c->exits);
    if (c->example)
        fprintf(out, "\nExample:\n  %s\n", c->example);
}

static bool has_word(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], word) == 0)
            return true;
    return false;
}

/* Handles options before the subcommand. -1: continue, else the exit code. */
static int before_command(struct cli_ctx *ctx, int argc, char **argv)
{
    int c = cli_option(ctx, argc, argv);

    if (c == 'h')
        help(stdout);
    else if (c == 'V')
        printf("selvedge %s\n", SV_VERSION);
    return c == -1 ? -1 : c == '?' ? 2 : 0;
}

static int run(struct cli_ctx *ctx, int argc, char **argv)
{
    int code = before_command(ctx, argc, argv), words, group;
    bool asked;

    if (code >= 0)
        return code;
    if (optind == argc) {
        help(stderr);
        return 2;
    }
    argc -= optind;
    argv += optind;
    asked = strcmp(argv[0], "help") == 0; /* "help WORDS" is "WORDS --help" */
    if (asked && argc == 1) {
        help(stdout);
        return 0;
    }
    group = asked ? 1 : 2; /* words of "node --help" */
    argc -= asked;
    argv += asked;
    asked = asked || has_word(argc, argv, "--help") || has_word(argc, argv, "-h");
    if (asked && argc == group && cli_group_print(ctx, argv[0], "selvedge ", stdout))
        return 0;
    ctx->command = cli_command_find(ctx, argc, argv, &words);
    if (!ctx->command)
        return 2;
    argc -= words - 1;
    argv += words - 1;
    if (asked) {
        command_help(ctx->command, stdout);
        return 0;
    }
    if (ctx->command->local && has_word(argc, argv, "--local"))
        return ctx->command->local(ctx, argc, argv);
    return ctx->command->run ? ctx->command->run(ctx, argc, argv) : cli_usage(ctx);
}

int main(int argc, char **argv)
{
    struct cli_ctx ctx = { .commands = cli_commands, .wait_ms = CLI_WAIT_MS };
    int code;

    sv_log_init("selvedge");
    sv_log_set_level(SV_LOG_ERR);
    ctx.conf = sv_conf_new();
    code = ctx.conf ? run(&ctx, argc, argv) : cli_fail("out of memory");
    cli_disconnect(&ctx);
    sv_conf_free(ctx.conf);
    if (fflush(stdout) == EOF && code == 0)
        code = 1;
    return code;
}
