/* `selvedge federation schema`: tables and procedures of a MariaDB or MySQL database. */
#include <errno.h>
#include <string.h>

#include "client/core/options.h"
#include "client/federation/federation.h"
#include "federation/store/mysql-apply.h"
#include "federation/store/store-conf.h"

#define DATABASE "FederationStateStore"

static int apply(struct cli_ctx *ctx, const struct fed_mysql_options *o)
{
    struct sv_error err = { 0 };
    int r = sd_event_new(&ctx->event);

    if (r < 0)
        return cli_fail("event loop: %s", strerror(-r));
    if (fed_schema_apply(ctx->event, o, &err) < 0)
        return cli_fail("%s", err.text);
    if (!ctx->output.quiet)
        printf("%s: tables and procedures are there\n", o->url->text);
    return 0;
}

int cli_cmd_federation_schema(struct cli_ctx *ctx, int argc, char **argv)
{
    struct fed_mysql_url url = { .database = DATABASE };
    struct fed_mysql_options o;
    struct sv_error err = { 0 };
    bool now = false;
    int c, code, r;

    optind = 0; /* restart getopt for a new argv */
    while ((c = cli_option(ctx, argc, argv)) != -1) {
        if (c == '?')
            return 2;
        now = now || c == FEDERATION_OPT_APPLY;
    }
    if (optind < argc)
        return cli_usage(ctx);
    code = cli_check_format(ctx);
    if (code == 0)
        code = cli_load_conf(ctx);
    if (code != 0)
        return code;
    r = fed_store_mysql_options(ctx->conf, &url, &o, &err);
    if (now)
        code = r < 0 ? cli_fail("%s", err.text) : apply(ctx, &o);
    else
        code = fed_schema_print(r < 0 ? DATABASE : url.database, stdout) < 0
                   ? cli_fail("the script: %s", strerror(EIO))
                   : 0;
    explicit_bzero(&url, sizeof(url));
    return code;
}
