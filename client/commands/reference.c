/* `selvedge reference`: prints docs/commands.md from the table of commands. `make commands-page`
 * writes it, and the source check check-cli compares it. */
#include <ctype.h>
#include <string.h>

#include "client/core/options.h"

/* Escapes text for Markdown, except code between backquotes. */
static void print(const char *text)
{
    bool code = false;

    for (const char *p = text; *p; p++) {
        if (*p == '`')
            code = !code;
        else if (!code && strchr("\\*_[]<>|#", *p))
            putchar('\\');
        putchar(*p);
    }
}

/* Prints GitHub's anchor of a heading: "node list" is #node-list. */
static void print_anchor(const char *name)
{
    for (const char *p = name; *p; p++)
        putchar(*p == ' ' ? '-' : *p);
}

static void print_options(const struct cli_opt *options)
{
    for (const struct cli_opt *o = options; o && o->letter; o++) {
        bool short_form = o->letter < CLI_OPT_CONF;

        fputs("- `", stdout);
        if (short_form)
            printf("-%c%s", o->letter, o->name ? "`, `" : "");
        if (o->name)
            printf("--%s", o->name);
        if (o->value)
            printf("%s%s", *o->value == '[' ? "" : " ", o->value);
        fputs("`: ", stdout);
        print(o->help);
        putchar('\n');
    }
}

static void print_command(const struct cli_command *c)
{
    printf("\n## %s\n\n%c", c->name, toupper((unsigned char)*c->summary));
    print(c->summary + 1);
    printf(".\n\n```text\nselvedge %s\n```\n\n", c->synopsis);
    if (c->options) {
        print_options(c->options);
        putchar('\n');
    }
    if (*c->help) {
        print(c->help);
        putchar('\n');
    }
    fputs("Exit code: ", stdout);
    if (c->exits)
        print(c->exits);
    else
        fputs("[0, 1 or 2](#exit-codes).\n", stdout);
    if (c->example)
        printf("\n    %s\n", c->example);
}

int cli_cmd_reference(struct cli_ctx *ctx, int argc, char **argv)
{
    int code = cli_option_none(ctx, argc, argv);

    if (code != 0)
        return code;
    puts("# Commands\n\nEvery command of `selvedge`. This page, `man selvedge`, `--help` and the "
         "shells' completion come from one table,\n`client/command-table.c`; `make commands-page` "
         "writes this page.\n\n| command | |\n|---|---|");
    for (const struct cli_command *c = ctx->commands; c->name; c++) {
        if (c->hidden)
            continue;
        printf("| [`%s`](#", c->name);
        print_anchor(c->name);
        fputs(") | ", stdout);
        print(c->summary);
        puts(" |");
    }
    puts("\n## Options of each command\n\nBefore the command or behind it:\n");
    print_options(cli_globals);
    puts("\n## Exit codes\n\n0: done. 1: failed. 2: wrong usage, nothing was done. A command that "
         "has others says so.\n\n## Environment\n\n- `HADOOP_CONF_DIR`: the directory of "
         "yarn-site.xml\n- `NO_COLOR`: no colours on a terminal");
    for (const struct cli_command *c = ctx->commands; c->name; c++)
        if (!c->hidden)
            print_command(c);
    return 0;
}
