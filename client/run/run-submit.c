/* See run-submit.h. */
#include "client/run/run-submit.h"

#include <errno.h>

#include "client/lib/tokens.h"
#include "client/run/preflight.h"
#include "wire/token/token.h"

static void on_submitted(int status, const struct sv_error *err, void *userdata)
{
    struct run_submission *s = userdata;

    if (status < 0)
        cli_stop_error(s->ctx, status, err);
    else
        s->done(s->userdata);
}

/* Stages the files and sends the submission. */
static int submit(struct run_submission *s, struct sv_error *err)
{
    const struct run_options *o = s->options;
    struct cli_resource files[2];
    struct cli_submission submission = {
        .app = s->app,
        .name = o->name,
        .queue = o->queue,
        .type = "SELVEDGE",
        .lifetime_s = o->lifetime_s,
        .rolled_logs = o->rolled_logs,
        .resource = o->am_resource,
        .launch = { .resources = files,
                    .n_resources = SV_ARRAY_LEN(files),
                    .view_acl = o->view_acl,
                    .modify_acl = o->modify_acl,
                    .tokens = s->tokens.data,
                    .tokens_len = s->tokens.len,
                    .command =
                        "exec ./" CLI_AM_FILE " <LOG_DIR> 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr" },
    };
    int r = cli_stage_new(s->ctx->conf, &s->ctx->files, s->app, &s->stage, err);

    if (r == 0)
        r = cli_run_stage(o, s->ctx->conf, s->stage, s->arena, &s->job, files, err);
    if (r == 0 && o->detach)
        r = cli_stage_sync(s->stage, err);
    return r == 0 ? cli_rm_submit(s->ctx->rm, &submission, on_submitted, s) : r;
}

static void on_new_app(int status, struct yarn_app_id app, struct yarn_resource maximum,
                       const struct sv_error *err, void *userdata)
{
    struct run_submission *s = userdata;
    struct sv_error own = { 0 };

    if (status < 0) {
        cli_stop_error(s->ctx, status, err);
        return;
    }
    if (!cli_preflight_fits(s->options, maximum)) { /* the web port did not report it */
        cli_stop(s->ctx, 2);
        return;
    }
    s->app = app;
    yarn_app_id_text(app, s->app_text);
    status = submit(s, &own);
    if (status < 0)
        cli_stop_error(s->ctx, status, own.code ? &own : NULL);
    else
        cli_run_interrupt_submitting(s->interrupt, app);
}

static void on_tokens(int status, const uint8_t *p, size_t n, const struct sv_error *err,
                      void *userdata)
{
    struct run_submission *s = userdata;

    if (status == 0 && n > 0)
        status = sv_buf_put(&s->tokens, p, n);
    if (status == 0)
        status = cli_rm_new_application(s->ctx->rm, on_new_app, s);
    if (status < 0)
        cli_stop_error(s->ctx, status, err);
}

/* Where the job's nodes read its files and write its logs, and what it most likely reads. */
static int fetch_tokens(struct run_submission *s, struct sv_error *err)
{
    static const struct sv_conf_key logs = { "yarn.nodemanager.remote-app-log-dir", SV_CONF_STRING,
                                             "/tmp/logs" };
    const char *urls[3] = { "/" };
    int r = cli_stage_place(s->ctx->conf, &urls[1], err);

    if (r >= 0)
        r = sv_conf_string(s->ctx->conf, &logs, &urls[2], err);
    if (r < 0)
        return r;
    if (*urls[1] == '/') /* of this machine */
        urls[1] = urls[0];
    return cli_tokens_fetch(s->ctx->event, s->ctx->conf, s->ctx->login, urls, SV_ARRAY_LEN(urls),
                            on_tokens, s, &s->fetch, err);
}

static void on_preflight(void *userdata)
{
    struct run_submission *s = userdata;
    struct sv_error err = { 0 };
    int r =
        s->ctx->login ? fetch_tokens(s, &err) : cli_rm_new_application(s->ctx->rm, on_new_app, s);

    if (r < 0)
        cli_stop_error(s->ctx, r, err.code ? &err : NULL);
}

int cli_run_submit(struct run_submission *s)
{
    s->arena = sv_arena_new(0);
    s->tokens = SV_BUF_INIT(YARN_CREDENTIALS_MAX);
    if (!s->arena)
        return -ENOMEM;
    return cli_preflight_cluster(s->ctx, s->options, on_preflight, s);
}

void cli_run_submission_free(struct run_submission *s)
{
    s->fetch = cli_tokens_free(s->fetch);
    sv_buf_wipe(&s->tokens);
    cli_stage_free(s->stage);
    sv_arena_free(s->arena);
}
