/* One run of the `selvedge` command, see session.h. */
#include "client/session.h"

#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "client/commands.h"

int cli_usage(const struct cli_ctx *ctx)
{
    const struct cli_command *c = ctx->command;

    fprintf(stderr, "usage: selvedge %s   (selvedge %s --help shows details)\n", c->synopsis,
            c->name);
    return 2;
}

int cli_fail(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    fputs("selvedge: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    return 1;
}

int cli_parse_app(const char *text, struct yarn_app_id *ret)
{
    if (yarn_app_id_parse(text, ret) == 0)
        return 0;
    (void)cli_fail("%s: not an application: expected application_<time>_<number>", text);
    return 2;
}

int cli_parse_all(const struct cli_ctx *ctx, int argc, char **argv, bool *ret_all)
{
    static const struct option options[] = { { "all", no_argument, NULL, 'a' }, { 0 } };
    bool all = false;
    int c;

    optind = 1;
    while ((c = getopt_long(argc, argv, "a", options, NULL)) != -1) {
        if (c != 'a')
            return cli_usage(ctx);
        all = true;
    }
    *ret_all = all;
    return 0;
}

int cli_loop(struct cli_ctx *ctx)
{
    int r = sd_event_loop(ctx->event);

    return r < 0 ? cli_fail("%s", strerror(-r)) : ctx->code;
}

void cli_stop(struct cli_ctx *ctx, int code)
{
    ctx->code = code;
    sd_event_exit(ctx->event, 0);
}

void cli_stop_error(struct cli_ctx *ctx, int status, const struct sv_error *err)
{
    (void)cli_fail("%s", err && *err->text ? err->text : strerror(-status));
    cli_stop(ctx, 1);
}
