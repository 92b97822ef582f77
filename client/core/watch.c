/* See watch.h. */
#include "client/core/watch.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "client/ui/screen.h"

struct keys {
    struct cli_ctx *ctx;
    cli_key_fn fn;
    void *userdata;
};

static int on_key(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    const struct keys *k = userdata;
    char key;

    (void)s;
    (void)revents;
    if (read(fd, &key, 1) <= 0 || key == 'q')
        cli_stop(k->ctx, 0);
    else if (k->fn)
        k->fn(key, k->userdata);
    return 0;
}

static int on_signal(sd_event_source *s, const struct signalfd_siginfo *info, void *userdata)
{
    (void)s;
    (void)info;
    cli_stop(userdata, 0);
    return 0;
}

int cli_watch_loop(struct cli_ctx *ctx, cli_key_fn fn, void *userdata)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct keys keys = { ctx, fn, userdata };
    sd_event_source *input = NULL;
    struct cli_screen screen;
    sigset_t set;
    int r = 0, code;

    sigemptyset(&set);
    for (size_t i = 0; i < SV_ARRAY_LEN(signals); i++)
        sigaddset(&set, signals[i]);
    if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
        r = -errno;
    for (size_t i = 0; r >= 0 && i < SV_ARRAY_LEN(signals); i++)
        r = sd_event_add_signal(ctx->event, NULL, signals[i], on_signal, ctx);
    if (r >= 0)
        r = sd_event_add_io(ctx->event, &input, STDIN_FILENO, EPOLLIN, on_key, &keys);
    if (r >= 0)
        r = cli_screen_begin(&screen);
    if (r >= 0) {
        code = cli_loop(ctx);
        cli_screen_end(&screen);
    } else {
        code = cli_fail("terminal: %s", strerror(-r));
    }
    sd_event_source_disable_unref(input);
    return code;
}

void cli_watch_draw(struct cli_ctx *ctx, const char *title, const struct cli_list *list,
                    json_t *rows)
{
    _cleanup_free_ char *text = NULL;
    size_t size;
    FILE *out = rows ? open_memstream(&text, &size) : NULL;

    if (out) {
        ctx->output.columns = cli_screen_columns();
        cli_output_list(&ctx->output, list, rows, out);
        (void)fclose(out);
        cli_screen_draw(title, text);
    }
    json_decref(rows);
}
