/* See run-progress.h. */
#include "client/run/run-progress.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/run/run-localizing.h"
#include "client/ui/progress.h"
#include "client/views/localizing.h"
#include "common/clock.h"

#define LINES_MS 1000       /* interval of progress lines */
#define FILES_MS 1000       /* interval of localization queries, for the bar */
#define FILES_LINES_MS 5000 /* and for lines */

struct run_progress {
    int32_t instances;
    run_say_fn say;
    void *userdata;
    struct run_localizing *localizing; /* NULL: stderr is not a terminal */
    struct cli_localizing files;       /* sum over waiting containers */
    unsigned waiting;                  /* number of waiting containers */
    int64_t said_at;
    int done, running, said_done, said_running;
    bool known; /* a table was received */
};

static void draw(const struct run_progress *p)
{
    char text[CLI_PROGRESS_MAX], files[CLI_LOCALIZING_TEXT_MAX];
    size_t n;

    if (!p->known || !cli_progress_on())
        return;
    n = (size_t)snprintf(text, sizeof(text), "%d of %d done, %d running", p->done, p->instances,
                         p->running);
    if (p->waiting > 0)
        (void)snprintf(text + n, sizeof(text) - n, ", %d of %d files, %s", p->files.ready,
                       p->files.resources, cli_localizing_text(&p->files.all, files));
    cli_progress_show((double)p->done / p->instances, text);
}

static void on_files(unsigned containers, const struct cli_localizing *sum, void *userdata)
{
    struct run_progress *p = userdata;
    char text[CLI_LOCALIZING_TEXT_MAX], line[CLI_LOCALIZING_TEXT_MAX + 100];

    p->waiting = containers;
    p->files = *sum;
    if (cli_progress_on() || containers == 0) {
        draw(p);
        return;
    }
    (void)snprintf(line, sizeof(line), "localizing for %u container%s: %d of %d files, %s",
                   containers, containers == 1 ? "" : "s", sum->ready, sum->resources,
                   cli_localizing_text(&sum->all, text));
    p->say(line, p->userdata);
}

struct run_progress *cli_run_progress_new(struct cli_ctx *ctx, int32_t instances, run_say_fn say,
                                          void *userdata)
{
    struct run_progress *p = calloc(1, sizeof(*p));
    bool bar;

    if (!p)
        return NULL;
    p->instances = instances;
    p->say = say;
    p->userdata = userdata;
    bar = cli_progress_begin(&ctx->output, stderr);
    if (isatty(STDERR_FILENO)) /* out of memory: no localization progress, ignoring */
        p->localizing = cli_run_localizing_new(ctx, (size_t)instances,
                                               bar ? FILES_MS : FILES_LINES_MS, on_files, p);
    return p;
}

void cli_run_progress_free(struct run_progress *p)
{
    cli_progress_end();
    if (p)
        cli_run_localizing_free(p->localizing);
    free(p);
}

void cli_run_progress_table(struct run_progress *p, const struct cli_status *s)
{
    char line[100];

    p->known = true;
    p->done = s->done;
    p->running = 0;
    for (size_t i = 0; i < s->n; i++)
        p->running += strcmp(s->rows[i].state, "RUNNING") == 0;
    if (cli_progress_on()) {
        draw(p);
        return;
    }
    if ((p->running == p->said_running && p->done == p->said_done) ||
        (sv_now_ms() - p->said_at < LINES_MS && !s->finished))
        return;
    p->said_running = p->running;
    p->said_done = p->done;
    p->said_at = sv_now_ms();
    (void)snprintf(line, sizeof(line), "%d of %d containers done, %d running", p->done,
                   p->instances, p->running);
    p->say(line, p->userdata);
}

void cli_run_progress_poll(struct run_progress *p, const struct cli_status *s)
{
    cli_run_localizing_poll(p->localizing, s);
    draw(p); /* redraws after other output */
}
