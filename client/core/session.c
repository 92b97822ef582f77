/* One run of the `selvedge` command, see session.h. */
#include "client/core/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/core/commands.h"
#include "client/core/identity.h"
#include "client/http/node-url.h"
#include "client/ui/progress.h"
#include "common/clock.h"
#include "common/str.h"
#include "wire/ipc/proxy.h"

#define AWAY_TELL_MS 30000 /* least time between two messages of an unreachable server */

int cli_usage(const struct cli_ctx *ctx)
{
    const struct cli_command *c = ctx->command;

    fprintf(stderr, "usage: selvedge %s   (selvedge %s --help shows details)\n", c->synopsis,
            c->name);
    return 2;
}

int cli_fail(const char *fmt, ...)
{
    char text[4096], shown[4 * sizeof(text)];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    sv_escape(shown, sizeof(shown), text); /* texts of peers and of the command line */
    cli_progress_yield(stderr, true);
    fprintf(stderr, "selvedge: %s\n", shown);
    return 1;
}

/* selvedge-am's diagnostics begin with "exit code N: …". */
int cli_report_code(const struct cli_report *report)
{
    static const char mark[] = "exit code ";
    const char *p = strstr(report->diagnostics, mark);
    char *end = NULL;
    long code = p ? strtol(p + sizeof(mark) - 1, &end, 10) : 1;

    if (report->final == CLI_FINAL_SUCCEEDED)
        return 0;
    return p && *end == ':' && code > 0 && code <= 255 ? (int)code : 1;
}

/* ---- Connection ---- */

/* The library retries for the configured time, by default 15 minutes. */
static void on_away(const struct sv_error *err, int64_t wait_ms, const char *next, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    const bool ticket = ctx->login && strstr(err->text, "kinit");
    int64_t now = sv_now_ms();

    (void)wait_ms;
    snprintf(ctx->away, sizeof(ctx->away), "%s", err->text);
    if (!cli_rm_answered(ctx->rm) && ctx->wait_ms <= AWAY_TELL_MS)
        return; /* on_patience() reports it soon */
    if (ctx->away_logged_ms && ticket == ctx->away_ticket &&
        now - ctx->away_logged_ms < AWAY_TELL_MS)
        return;
    ctx->away_logged_ms = SV_MAX(now, 1);
    ctx->away_ticket = ticket;
    (void)cli_fail("%s; still trying, now at %s (Ctrl-C ends)", err->text, next);
}

static void addresses(const struct cli_ctx *ctx, char *ret, size_t size)
{
    struct ipc_proxy_config rm;
    char one[360];
    size_t used = 0;

    snprintf(ret, size, "?");
    if (yarn_rm_proxy_config(ctx->conf, ctx->admin ? YARN_RM_ADMIN : YARN_RM_CLIENTS, &rm, NULL) <
        0)
        return;
    for (size_t i = 0; i < rm.n_servers && used < size; i++)
        used += (size_t)snprintf(ret + used, size - used, "%s%s", i ? ", " : "",
                                 ipc_proxy_server_text(&rm.servers[i], one, sizeof(one)));
}

static int on_patience(sd_event_source *s, uint64_t usec, void *userdata)
{
    struct cli_ctx *ctx = userdata;
    char at[1024];

    (void)s;
    (void)usec;
    if (cli_rm_answered(ctx->rm))
        return 0;
    addresses(ctx, at, sizeof(at));
    (void)cli_fail("no ResourceManager answers at %s within %g s%s%s", at,
                   (double)ctx->wait_ms / 1000,
                   *ctx->away   ? ": "
                   : ctx->login ? ", or no KDC of krb5.conf does"
                                : "",
                   ctx->away);
    (void)cli_fail("--wait TIME waits longer, --conf DIR names another cluster, selvedge doctor "
                   "checks this machine");
    cli_stop(ctx, 1);
    return 0;
}

/* The options that are keys, too: 0 or -ENOMEM. */
static int set_principal(struct cli_ctx *ctx)
{
    int r = 0;

    if (ctx->principal)
        r = sv_conf_set(ctx->conf, "selvedge.client.kerberos.principal", ctx->principal);
    if (r >= 0 && ctx->keytab)
        r = sv_conf_set(ctx->conf, "selvedge.client.kerberos.keytab", ctx->keytab);
    return r;
}

int cli_load_conf(struct cli_ctx *ctx)
{
    struct sv_error err = { 0 };

    if (ctx->conf_dir && access(ctx->conf_dir, R_OK | X_OK) < 0) {
        (void)cli_fail("--conf %s: %s", ctx->conf_dir, strerror(errno));
        return 2;
    }
    if (sv_conf_load_hadoop(ctx->conf, ctx->conf_dir, &err) < 0) {
        (void)cli_fail("%s", err.text);
        return 2;
    }
    for (size_t i = 0; i < ctx->n_overrides; i++) { /* these override the files */
        char *value = strchr(ctx->overrides[i], '=');
        int r;

        *value = '\0';
        r = sv_conf_set(ctx->conf, ctx->overrides[i], value + 1);
        *value = '=';
        if (r < 0) {
            (void)cli_fail("-D %s: %s", ctx->overrides[i], strerror(-r));
            return 2;
        }
    }
    return set_principal(ctx) < 0 ? cli_fail("out of memory") : 0;
}

int cli_check_format(const struct cli_ctx *ctx)
{
    const enum cli_format f = ctx->output.format;

    if (ctx->lists || (f != CLI_CSV && f != CLI_NAME && f != CLI_FIELDS))
        return 0;
    (void)cli_fail("%s: prints no list: -o takes json or yaml here", ctx->command->name);
    return 2;
}

static int begin_loop(struct cli_ctx *ctx)
{
    int r = sd_event_new(&ctx->event);

    if (r >= 0)
        r = cli_fetch_new(ctx->event, &ctx->fetch);
    if (r >= 0)
        cli_fetch_plain_first(ctx->fetch);
    if (r >= 0)
        r = sd_event_add_time_relative(ctx->event, &ctx->patience, CLOCK_MONOTONIC,
                                       (uint64_t)ctx->wait_ms * 1000, 0, on_patience, ctx);
    return r < 0 ? cli_fail("event loop: %s", strerror(-r)) : 0;
}

/* Servers that may not want a ticket get it when they ask for one. */
static void negotiate(struct cli_ctx *ctx)
{
    const char *type = sv_conf_raw(ctx->conf, "hadoop.http.authentication.type");

    cli_fetch_negotiate(ctx->fetch, ctx->web_only || sv_streq(type, "kerberos"));
}

/* 0 or an exit code. */
static int find_identity(struct cli_ctx *ctx)
{
    struct sv_error err = { 0 };

    if (cli_identity_find(ctx, &err) < 0)
        return cli_fail("%s", err.text);
    if (!ctx->principal || ctx->kerberos)
        return 0;
    (void)cli_fail("--principal %s: hadoop.security.authentication of core-site.xml is not "
                   "kerberos",
                   ctx->principal);
    return 2;
}

int cli_connect(struct cli_ctx *ctx)
{
    struct sv_error err = { 0 };
    int code = cli_check_format(ctx), r;

    if (code == 0)
        code = cli_load_conf(ctx);
    if (code == 0)
        code = find_identity(ctx);
    if (code != 0)
        return code;
    cli_scheme_set(ctx->conf);
    code = begin_loop(ctx);
    if (code != 0)
        return code;
    if (ctx->kerberos)
        negotiate(ctx);
    if (ctx->kerberos && ctx->web_only)
        return 0;
    r = cli_rm_new_as(ctx->event, ctx->conf, ctx->login, NULL,
                      ctx->admin ? YARN_RM_ADMIN : YARN_RM_CLIENTS, &ctx->rm, &err);
    if (r < 0)
        return cli_fail("%s", err.text);
    cli_rm_on_away(ctx->rm, on_away, ctx);
    return 0;
}

int cli_connect_admin(struct cli_ctx *ctx)
{
    ctx->admin = true;
    return cli_connect(ctx);
}

void cli_disconnect(struct cli_ctx *ctx)
{
    ctx->fetch = cli_fetch_free(ctx->fetch);
    ctx->rm = cli_rm_free(ctx->rm);
    ctx->patience = sd_event_source_disable_unref(ctx->patience);
    ctx->event = sd_event_unref(ctx->event);
    cli_identity_forget(ctx);
}

int cli_start_over(struct cli_ctx *ctx, const struct cli_command *command)
{
    cli_disconnect(ctx);
    sv_conf_free(ctx->conf);
    *ctx = (struct cli_ctx){
        .commands = ctx->commands, .command = command, .conf = sv_conf_new(), .wait_ms = CLI_WAIT_MS
    };
    return ctx->conf ? 0 : -ENOMEM;
}

/* ---- The loop ---- */

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

void cli_stop_list(struct cli_ctx *ctx, const struct cli_list *list, json_t *rows)
{
    if (rows)
        cli_output_list(&ctx->output, list, rows, stdout);
    json_decref(rows);
    cli_stop(ctx, rows ? 0 : cli_fail("out of memory"));
}

/* Returns the answer's text without "host:port: method: ". */
static const char *answer_text(const struct sv_error *err)
{
    const char *p = err->text;

    for (int i = 0; i < 2; i++) {
        const char *colon = strstr(p, ": ");
        const char *blank = strchr(p, ' ');

        if (!colon || blank != colon + 1)
            break;
        p = colon + 2;
    }
    return p;
}

/* ClientRMService has no exception class for it. */
bool cli_refused(const struct cli_ctx *ctx, int status, const struct sv_error *err)
{
    return status == -EREMOTEIO && err && strcmp(cli_rm_exception(ctx->rm), "YarnException") == 0 &&
           strstr(err->text, "does not have privilege to see this");
}

static void explain(const struct cli_ctx *ctx, const struct sv_error *err)
{
    const char *class = cli_rm_exception(ctx->rm);

    if (ctx->subject && strcmp(class, "ApplicationNotFoundException") == 0)
        (void)cli_fail("%s: the ResourceManager does not know this application; selvedge ps -a "
                       "lists those that it knows",
                       ctx->subject);
    else if (ctx->subject && cli_refused(ctx, -EREMOTEIO, err))
        (void)cli_fail("%s: %s may not see this application: with yarn.acl.enable its owner, its "
                       "VIEW_APP list and administrators may",
                       ctx->subject, ctx->user);
    else if (ctx->subject && strcmp(class, "AccessControlException") == 0)
        (void)cli_fail("%s: the ResourceManager does not allow this to %s", ctx->subject,
                       ctx->user);
    else
        (void)cli_fail("%s%s%s", ctx->subject ? ctx->subject : "", ctx->subject ? ": " : "",
                       answer_text(err));
    if (ctx->verbose)
        (void)cli_fail("the ResourceManager's answer: %s: %s", class, err->text);
}

void cli_stop_error(struct cli_ctx *ctx, int status, const struct sv_error *err)
{
    if (status == -ECANCELED) /* this program is ending for a reason already printed */
        return;
    if (status == -EREMOTEIO && err && *err->text)
        explain(ctx, err);
    else
        (void)cli_fail("%s", err && *err->text ? err->text : strerror(-status));
    cli_stop(ctx, 1);
}
