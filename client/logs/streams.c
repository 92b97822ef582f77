/* See streams.h. Hostile: the nodes' answers. */
#include "client/logs/streams.h"

#include <errno.h>
#include <string.h>
#include <uthash.h>

#define LOGS 2           /* per container */
#define REPLACED_TRIES 2 /* attempts at a node whose container was replaced */

struct stream { /* one container */
    char container[YARN_ID_TEXT_MAX];
    int instance;
    struct cli_follow *logs[LOGS];
    bool ended;
    UT_hash_handle hh;
};

struct cli_streams {
    struct cli_ctx *ctx;
    const char *names[LOGS]; /* NULL: not followed */
    char usual[LOGS][16];
    FILE *files[LOGS];
    struct stream *streams; /* in the order of addition */
};

struct cli_streams *cli_streams_new(struct cli_ctx *ctx, const char *log, const char *suffix,
                                    FILE *out, FILE *err)
{
    struct cli_streams *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->ctx = ctx;
    snprintf(s->usual[0], sizeof(s->usual[0]), "stdout%s", suffix);
    snprintf(s->usual[1], sizeof(s->usual[1]), "stderr%s", suffix);
    s->names[0] = log ? log : s->usual[0];
    s->names[1] = log ? NULL : s->usual[1];
    s->files[0] = out;
    s->files[1] = err;
    return s;
}

static void stream_free(struct stream *one)
{
    for (size_t i = 0; i < LOGS; i++)
        cli_follow_free(one->logs[i]);
    free(one);
}

void cli_streams_free(struct cli_streams *s)
{
    struct stream *one, *tmp;

    if (!s)
        return;
    HASH_ITER (hh, s->streams, one, tmp) {
        HASH_DEL(s->streams, one);
        stream_free(one);
    }
    free(s);
}

static struct stream *find(const struct cli_streams *s, const char *container)
{
    struct stream *one;

    HASH_FIND_STR(s->streams, container, one);
    return one;
}

static int open_log(const struct cli_streams *s, const struct cli_row *row, size_t i,
                    const char *prefix, int64_t lines, struct cli_follow **ret)
{
    struct cli_follow *f = cli_follow_new(s->ctx->fetch, s->ctx->user, row->http, row->container,
                                          s->names[i], prefix, s->files[i]);

    if (!f || (lines >= 0 && cli_follow_tail(f, (uint64_t)lines) < 0)) {
        cli_follow_free(f);
        return -ENOMEM;
    }
    *ret = f;
    return 0;
}

void cli_streams_add(struct cli_streams *s, const struct cli_row *row, bool prefixed, int64_t lines)
{
    struct stream *one;
    char prefix[24] = "";

    if (!*row->container || !*row->http || find(s, row->container))
        return;
    one = calloc(1, sizeof(*one));
    if (!one)
        return;
    if (prefixed && row->instance >= 0)
        (void)snprintf(prefix, sizeof(prefix), "[%d] ", row->instance);
    (void)snprintf(one->container, sizeof(one->container), "%s", row->container);
    one->instance = row->instance;
    for (size_t i = 0; i < LOGS; i++)
        if (s->names[i] && open_log(s, row, i, prefix, lines, &one->logs[i]) < 0) {
            stream_free(one);
            return;
        }
    HASH_ADD_STR(s->streams, container, one);
}

void cli_streams_end(struct cli_streams *s, const char *container)
{
    struct stream *only = container ? find(s, container) : NULL;

    if (only)
        only->ended = true;
    for (struct stream *one = s->streams; !container && one; one = one->hh.next)
        one->ended = true;
}

static bool has_row(const struct cli_status *rows, const struct stream *one)
{
    return one->instance >= 0 && (size_t)one->instance < rows->n &&
           strcmp(rows->rows[one->instance].container, one->container) == 0;
}

void cli_streams_end_replaced(struct cli_streams *s, const struct cli_status *rows)
{
    for (struct stream *one = s->streams; one; one = one->hh.next) {
        if (one->ended || has_row(rows, one))
            continue;
        one->ended = true;
        for (size_t i = 0; i < LOGS; i++)
            if (one->logs[i])
                cli_follow_tries(one->logs[i], REPLACED_TRIES);
    }
}

static bool poll_stream(struct stream *one)
{
    bool complete = true;

    for (size_t i = 0; i < LOGS; i++)
        if (one->logs[i]) {
            cli_follow_poll(one->logs[i], one->ended);
            complete = cli_follow_complete(one->logs[i]) && complete;
        }
    return complete || !one->ended;
}

bool cli_streams_poll(struct cli_streams *s, bool all)
{
    bool complete = true;

    for (struct stream *one = s->streams; one; one = one->hh.next)
        if (one->ended || all)
            complete = poll_stream(one) && complete;
    return complete;
}

int64_t cli_streams_printed_ms(const struct cli_streams *s)
{
    int64_t last = 0;

    for (const struct stream *one = s->streams; one; one = one->hh.next)
        for (size_t i = 0; i < LOGS; i++)
            if (one->logs[i])
                last = SV_MAX(last, cli_follow_printed_ms(one->logs[i]));
    return last;
}

const struct cli_follow *cli_streams_log(const struct cli_streams *s, const char *container,
                                         size_t i)
{
    const struct stream *one = find(s, container);

    return one && i < LOGS ? one->logs[i] : NULL;
}

void cli_streams_each(const struct cli_streams *s, cli_stream_fn fn, void *userdata)
{
    for (const struct stream *one = s->streams; one; one = one->hh.next)
        for (size_t i = 0; i < LOGS; i++)
            if (one->logs[i])
                fn(one->instance, one->container, one->ended, one->logs[i], userdata);
}
