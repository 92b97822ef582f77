/* `selvedge manual`: prints the man page in roff, from the table of commands; run at build time. */
#include <string.h>

#include "client/core/options.h"
#include "common/version.h"

/* Escapes text for roff. */
static void print(const char *text)
{
    bool begin = true;

    for (const char *p = text; *p; p++) {
        if (begin && (*p == '.' || *p == '\''))
            fputs("\\&", stdout);
        if (*p == '\\')
            fputs("\\e", stdout);
        else if (*p == '-')
            fputs("\\-", stdout);
        else
            putchar(*p);
        begin = *p == '\n';
    }
}

static void print_options(const struct cli_opt *options)
{
    for (const struct cli_opt *o = options; o && o->letter; o++) {
        fputs(".TP\n", stdout);
        if (o->letter < CLI_OPT_CONF)
            printf("\\fB\\-%c\\fR%s", o->letter, o->name ? ", " : "");
        if (o->name)
            fputs("\\fB\\-\\-", stdout);
        if (o->name)
            print(o->name);
        fputs("\\fR", stdout);
        if (o->value && *o->value != '[')
            putchar(' ');
        if (o->value)
            print(o->value);
        putchar('\n');
        print(o->help);
        putchar('\n');
    }
}

static void print_command(const struct cli_command *c)
{
    fputs(".SS \"selvedge ", stdout);
    print(c->synopsis);
    fputs("\"\n", stdout);
    print(c->summary);
    fputs(".\n", stdout);
    print_options(c->options);
    if (*c->help) {
        fputs(".PP\n", stdout);
        print(c->help);
    }
    if (c->exits) {
        fputs(".PP\nExit code: ", stdout);
        print(c->exits);
    }
    if (c->example) {
        fputs(".PP\nExample:\n.PP\n.RS\n.nf\n", stdout);
        print(c->example);
        fputs("\n.fi\n.RE\n", stdout);
    }
}

int cli_cmd_manual(struct cli_ctx *ctx, int argc, char **argv)
{
    int code = cli_option_none(ctx, argc, argv);

    if (code != 0)
        return code;
    printf(".TH SELVEDGE 1 \"\" \"selvedge %s\" \"User Commands\"\n.SH NAME\n"
           "selvedge \\- run jobs on a YARN cluster and look after them\n.SH SYNOPSIS\n"
           "\\fBselvedge\\fR COMMAND [OPTIONS] ...\n.SH COMMANDS\n",
           SV_VERSION);
    for (const struct cli_command *c = ctx->commands; c->name; c++)
        if (!c->hidden)
            print_command(c);
    puts(".SH \"OPTIONS OF EACH COMMAND\"");
    print_options(cli_globals);
    puts(".SH \"EXIT STATUS\"\n0; 1: failed; 2: wrong usage, nothing was done. run and wait: the "
         "job's own.\n.SH ENVIRONMENT\n.TP\nHADOOP_CONF_DIR\nof yarn\\-site.xml\n.TP\nNO_COLOR\n"
         "no colours on a terminal");
    return 0;
}
