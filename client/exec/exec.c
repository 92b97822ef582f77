/* `selvedge exec CONTAINER -- COMMAND`: runs a program in a running container, with the container's
 * confinement, and ends with its exit code. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/core/app-argument.h"
#include "client/core/options.h"
#include "client/exec/exec.h"
#include "client/http/node-url.h"
#include "common/str.h"

enum { OPT_INPUT = 'i', OPT_TERMINAL = 't' };

struct exec {
    struct cli_ctx *ctx;
    struct yarn_app_id app;
    bool named;                      /* `id` is the user's, else the application's only one */
    struct yarn_container_id id;     /* whole; attempt.attempt == 0: not known yet */
    struct yarn_container_id master; /* of the application, which is not meant unless named */
    char http[300];                  /* its node */
};

/* ---- Where the container runs ---- */

static void list_candidates(const struct cli_container_report *list, size_t n)
{
    char text[YARN_ID_TEXT_MAX];

    for (size_t i = 0; i < n; i++)
        if (!sv_streq(list[i].state, "COMPLETE"))
            fprintf(stderr, "  %s on %s\n", yarn_container_id_text(list[i].id, text),
                    list[i].node.host);
}

static void on_containers(int status, const struct cli_container_report *list, size_t n,
                          const struct sv_error *err, void *userdata)
{
    struct exec *x = userdata;
    const struct cli_container_report *found = NULL;
    size_t running = 0;

    if (status < 0) {
        cli_stop_error(x->ctx, status, err);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        /* the node knows first whether it runs: its next heartbeat tells */
        if (sv_streq(list[i].state, "COMPLETE") || (x->named && list[i].id.id != x->id.id))
            continue;
        if (!x->named && list[i].id.id == x->master.id) {
            found = found ? found : &list[i]; /* one that runs alone */
            continue;
        }
        running++;
        found = &list[i];
    }
    running = running || !found ? running : 1;
    if (running == 0) {
        cli_stop(x->ctx, cli_fail(x->named ? "%s does not run" : "%s has no running container",
                                  x->ctx->subject));
        return;
    }
    if (running > 1) {
        (void)cli_fail("%s has several running containers: name one of", x->ctx->subject);
        list_candidates(list, n);
        cli_stop(x->ctx, 2);
        return;
    }
    x->id = found->id;
    (void)snprintf(x->http, sizeof(x->http), "%s", cli_without_scheme(found->http_address));
    cli_stop(x->ctx, 0);
}

static void ask_containers(struct exec *x, struct yarn_attempt_id attempt)
{
    int r = cli_rm_containers(x->ctx->rm, attempt, on_containers, x);

    if (r < 0)
        cli_stop_error(x->ctx, r, NULL);
}

static void on_attempts(int status, const struct cli_attempt_report *list, size_t n,
                        const struct sv_error *err, void *userdata)
{
    struct exec *x = userdata;

    if (status < 0) {
        cli_stop_error(x->ctx, status, err);
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].id.attempt == x->id.attempt.attempt && list[i].has_master)
            x->master = list[i].master;
    ask_containers(x, x->id.attempt);
}

static void on_report(int status, const struct cli_report *report, size_t n,
                      const struct sv_error *err, void *userdata)
{
    struct exec *x = userdata;

    if (status < 0 || n == 0)
        cli_stop_error(x->ctx, status, err);
    else if (report->attempt.attempt == 0 || cli_app_ended(report->state))
        cli_stop(x->ctx, cli_fail("%s does not run", x->ctx->subject));
    else {
        x->id.attempt = report->attempt;
        int r = cli_rm_attempts(x->ctx->rm, x->app, on_attempts, x);

        if (r < 0)
            cli_stop_error(x->ctx, r, NULL);
    }
}

/* Asks the ResourceManager; 0 or the exit code. */
static int find(struct exec *x, const char *text)
{
    int code, r;

    x->named = yarn_container_id_parse(text, &x->id) >= 0;
    code = cli_connect_app(x->ctx, text, &x->app);
    if (code != 0)
        return code;
    if (x->named)
        x->ctx->subject = text;
    if (x->named)
        ask_containers(x, x->id.attempt);
    else if ((r = cli_rm_report(x->ctx->rm, x->app, on_report, x)) < 0)
        cli_stop_error(x->ctx, r, NULL);
    return cli_loop(x->ctx);
}

/* ---- The command ---- */

static int open_and_run(const struct exec *x, const struct cli_exec_session *s)
{
    struct cli_exec_link *link = NULL;
    char id[YARN_ID_TEXT_MAX];
    const struct cli_exec_where w = { .http = x->http,
                                      .container = yarn_container_id_text(x->id, id),
                                      .user = x->ctx->user,
                                      .negotiate = x->ctx->kerberos };
    struct sv_error err = { 0 };
    int code;

    if (cli_exec_connect(&w, &link, &err) < 0) {
        (void)cli_fail("%s", err.text);
        return CLI_EXEC_FAILED;
    }
    code = cli_exec_relay(link, s);
    (void)cli_exec_link_free(link);
    return code;
}

int cli_exec_parse(struct cli_ctx *ctx, int argc, char **argv, const char **ret_container,
                   struct cli_exec_session *ret)
{
    struct cli_exec_session s = { .input = false };
    int letter;

    optind = 0;
    while ((letter = cli_option(ctx, argc, argv)) != -1) {
        s.input = s.input || letter == OPT_INPUT;
        s.terminal = s.terminal || letter == OPT_TERMINAL;
        s.local = s.local || letter == CLI_OPT_LOCAL;
        if (letter != OPT_INPUT && letter != OPT_TERMINAL && letter != CLI_OPT_LOCAL)
            return 2;
    }
    if (optind >= argc)
        return cli_usage(ctx);
    *ret_container = argv[optind++];
    if (optind < argc && sv_streq(argv[optind], "--"))
        optind++;
    s.arguments = argv + optind;
    if (!s.arguments[0] || !*s.arguments[0])
        return cli_usage(ctx);
    if (s.terminal && !isatty(STDIN_FILENO)) {
        (void)cli_fail("-t needs a terminal as stdin; leave it out to pass bytes with -i");
        return 2;
    }
    *ret = s;
    return 0;
}

int cli_cmd_exec(struct cli_ctx *ctx, int argc, char **argv)
{
    struct exec x = { .ctx = ctx };
    struct cli_exec_session s;
    const char *container;
    int code = cli_exec_parse(ctx, argc, argv, &container, &s);

    if (code == 0)
        code = find(&x, container);
    return code != 0 ? code : open_and_run(&x, &s);
}
