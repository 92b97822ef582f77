/* See run-interrupt.h. */
#include "client/run/run-interrupt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"

#define LEAVE_MS 2000 /* timeout for the answer to the kill, after a second signal */

struct run_interrupt {
    struct cli_ctx *ctx;
    run_say_fn say;
    void *userdata;
    struct yarn_app_id app;
    char app_text[YARN_ID_TEXT_MAX];
    int number; /* the signal; SIGPIPE: the output's reader is gone; 0: not interrupted */
    bool submitting, submitted;
    bool kill_open, kill_answered;
    int64_t leaving_at; /* deadline after a second signal; 0: none */
};

int cli_run_interrupt_code(const struct run_interrupt *i)
{
    struct pollfd out[] = { { .fd = STDOUT_FILENO }, { .fd = STDERR_FILENO } };

    if (i->number != SIGPIPE)
        return i->number ? 128 + i->number : 0;
    /* any other output error is reported as an error */
    return poll(out, 2, 0) > 0 && (out[0].revents | out[1].revents) & (POLLERR | POLLHUP)
               ? 128 + SIGPIPE
               : 1;
}

/* ---- Kill ---- */

static void on_killed(int status, bool killed, const struct sv_error *err, void *userdata)
{
    struct run_interrupt *i = userdata;

    (void)killed; /* the application's report shows its end */
    (void)err;
    i->kill_open = false;
    i->kill_answered = i->kill_answered || status == 0;
}

static void request_kill(struct run_interrupt *i)
{
    if (!i->kill_open)
        i->kill_open =
            cli_rm_kill(i->ctx->rm, i->app, "interrupted by the user", on_killed, i) >= 0;
}

static void interrupt(struct run_interrupt *i, int number)
{
    char line[200];

    i->number = number;
    (void)snprintf(line, sizeof(line), "%skilling %s (once more: leave it)",
                   number == SIGPIPE ? "the output cannot be written: " : "", i->app_text);
    i->say(line, i->userdata);
    if (i->submitted) /* else sent after the submission */
        request_kill(i);
}

/* After a second signal: exits once the ResourceManager has accepted the kill, or does not. */
static void leave_if_due(struct run_interrupt *i)
{
    if (!i->leaving_at || (!i->kill_answered && sv_now_ms() - i->leaving_at < LEAVE_MS))
        return;
    if (!i->kill_answered)
        (void)cli_fail(
            "the ResourceManager has not answered: %s may keep running; selvedge kill ends it",
            i->app_text);
    cli_stop(i->ctx, cli_run_interrupt_code(i));
}

void cli_run_interrupt_poll(struct run_interrupt *i)
{
    if (!i->number && (ferror(stdout) || ferror(stderr)))
        interrupt(i, SIGPIPE);
    if (i->number)
        request_kill(i);
    leave_if_due(i);
}

/* ---- Signals ---- */

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
    struct run_interrupt *i = userdata;

    (void)s;
    if (!i->submitting) { /* nothing to kill yet */
        cli_stop(i->ctx, 128 + (int)si->ssi_signo);
        return 0;
    }
    if (!i->number) {
        interrupt(i, (int)si->ssi_signo);
        return 0;
    }
    if (!i->submitted) {
        (void)cli_fail("the ResourceManager has not answered: %s may start; selvedge kill ends it",
                       i->app_text);
        cli_stop(i->ctx, cli_run_interrupt_code(i));
        return 0;
    }
    if (i->leaving_at)
        i->kill_answered = true; /* third signal: exit at once */
    else
        i->leaving_at = sv_now_ms();
    leave_if_due(i);
    return 0;
}

static int catch_signals(struct run_interrupt *i)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction hangup;
    sigset_t set;
    int r = 0;

    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || sigaction(SIGHUP, NULL, &hangup) < 0)
        return -errno;
    sigemptyset(&set);
    for (size_t k = 0; k < SV_ARRAY_LEN(numbers); k++)
        if (numbers[k] != SIGHUP || hangup.sa_handler != SIG_IGN) /* keep nohup's SIG_IGN */
            sigaddset(&set, numbers[k]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        return -errno;
    for (size_t k = 0; r >= 0 && k < SV_ARRAY_LEN(numbers); k++)
        if (sigismember(&set, numbers[k]))
            r = sd_event_add_signal(i->ctx->event, NULL, numbers[k], on_signal, i);
    return r;
}

int cli_run_interrupt_new(struct cli_ctx *ctx, run_say_fn say, void *userdata,
                          struct run_interrupt **ret)
{
    struct run_interrupt *i = calloc(1, sizeof(*i));
    int r = i ? 0 : -ENOMEM;

    if (r == 0) {
        *i = (struct run_interrupt){ .ctx = ctx, .say = say, .userdata = userdata };
        r = catch_signals(i);
    }
    if (r < 0) {
        free(i);
        return r;
    }
    *ret = i;
    return 0;
}

void cli_run_interrupt_free(struct run_interrupt *i)
{
    free(i);
}

void cli_run_interrupt_submitting(struct run_interrupt *i, struct yarn_app_id app)
{
    i->app = app;
    yarn_app_id_text(app, i->app_text);
    i->submitting = true;
}

void cli_run_interrupt_submitted(struct run_interrupt *i)
{
    i->submitted = true;
    if (i->number)
        request_kill(i);
}
