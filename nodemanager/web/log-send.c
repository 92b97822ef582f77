/* See log-send.h. */
#include "nodemanager/web/log-send.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/web/http-stream.h"
#include "nodemanager/core/context.h"
#include "nodemanager/health/log-disks.h"
#include "nodemanager/services/log-read.h"

#define BLOCK ((size_t)64 << 10)

struct sending {
    const struct nm_web *w;
    struct sv_http_stream *stream; /* NULL: the client has gone */
    struct nm_log_file file;
    struct nm_log_range range; /* what is left */
    struct sv_buf text;        /* read, and not yet taken by the stream */
    bool reading;
};

static void sending_free(struct sending *s)
{
    (*s->w->sends)--;
    nm_log_disks_close(s->w->ctx->log_disks, s->file.disk, s->file.fd);
    free(s->range.before);
    free(s->range.after);
    sv_buf_free(&s->text);
    free(s);
}

static void end(struct sending *s, bool complete)
{
    sv_http_stream_end(s->stream, complete);
    sending_free(s);
}

static void on_read(int status, char *bytes, size_t n, void *userdata);

/* Puts the next text into the buffer, or begins to read it. 1: there is none. */
static int fetch(struct sending *s)
{
    size_t n = (size_t)SV_MIN(s->range.size, (uint64_t)BLOCK);
    char **text = s->range.before ? &s->range.before : &s->range.after;
    struct sv_error why = { 0 };
    int r;

    if (n && !s->range.before) {
        r = nm_log_read(s->w->ctx, &s->file, (int64_t)s->range.offset, n, on_read, s, &why);
        s->reading = r >= 0;
        return r;
    }
    if (!*text)
        return 1;
    r = sv_buf_put_str(&s->text, *text);
    free(SV_TAKE(*text));
    return r;
}

static void go_on(struct sending *s)
{
    int r = 0;

    while (r == 0 && !s->reading) {
        r = sv_http_stream_flush(s->stream, &s->text);
        if (r >= 0)
            r = fetch(s);
    }
    if (r == 1)
        end(s, true);
    else if (r < 0 && r != -EAGAIN)
        end(s, false);
}

static void on_read(int status, char *bytes, size_t n, void *userdata)
{
    struct sending *s = userdata;
    _cleanup_free_ char *taken = bytes;

    s->reading = false;
    if (!s->stream) {
        sending_free(s);
        return;
    }
    if (status < 0 || n == 0 || sv_buf_put(&s->text, taken, n) < 0) {
        end(s, false);
        return;
    }
    s->range.offset += n;
    s->range.size -= n;
    go_on(s);
}

static void on_drained(void *userdata)
{
    struct sending *s = userdata;

    if (!s->reading)
        go_on(s);
}

static void on_gone(void *userdata)
{
    struct sending *s = userdata;

    s->stream = NULL;
    if (!s->reading)
        sending_free(s);
}

static size_t length(const char *text)
{
    return text ? strlen(text) : 0;
}

int nm_log_send(const struct nm_web *w, const struct sv_http_request *req,
                struct nm_log_search *from, struct nm_log_range *range)
{
    static const struct sv_http_stream_events events = { .drained = on_drained, .gone = on_gone };
    int64_t all = (int64_t)(length(range->before) + range->size + length(range->after));
    struct sending *s;

    if (*w->sends >= NM_LOG_SENDS_MAX)
        return -EBUSY;
    s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->stream = sv_http_stream_new(req, &events, s);
    if (!s->stream || !nm_log_search_take(from, &s->file)) {
        free(s);
        return -ENOMEM;
    }
    s->w = w;
    s->text = SV_BUF_INIT(BLOCK);
    s->range = *range;
    range->before = range->after = NULL;
    (*w->sends)++;
    (void)!sv_http_stream_own(s->stream, range->type); /* without memory one is missing, ignoring */
    sv_http_stream_begin(s->stream, 200, all);
    if (strcmp(req->method, "HEAD") != 0) /* its end comes as on_gone() */
        go_on(s);
    return SV_HTTP_LATER;
}
