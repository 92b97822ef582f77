/* See http-stream.h. A stream lives until libmicrohttpd has completed its request. */
#include "common/web/http-stream.h"

#include <errno.h>
#include <microhttpd.h>
#include <string.h>
#include <utlist.h>

#include "common/buf.h"
#include "common/web/http-answer.h"

#define BLOCK 32768
#define SLICE 65536
#define HEADERS_MAX 100

struct header {
    char *name, *value;
};

struct sv_http_stream {
    struct MHD_Connection *conn;
    const struct sv_http_stream_events *events;
    void *userdata;
    struct http_stream_place *place;
    struct header headers[HEADERS_MAX];
    size_t n_headers;
    unsigned status;
    int64_t length;
    struct sv_buf buf;
    bool suspended, begun, refused, ended, complete;
    struct sv_http_stream *prev, *next;
};

struct sv_http_stream *sv_http_stream_new(const struct sv_http_request *req,
                                          const struct sv_http_stream_events *events,
                                          void *userdata)
{
    struct sv_http_stream *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->conn = req->conn;
    s->events = events;
    s->userdata = userdata;
    s->place = req->place;
    s->buf = SV_BUF_INIT(HTTP_STREAM_MAX);
    s->place->stream = s;
    DL_APPEND(*s->place->all, s);
    return s; /* http.c suspends when the handler has returned: it may answer at once */
}

static void resume(struct sv_http_stream *s)
{
    if (!s->suspended)
        return;
    s->suspended = false;
    MHD_resume_connection(s->conn);
    s->place->kick(s->place->server);
}

static bool printable(const char *s)
{
    for (; *s; s++)
        if (((unsigned char)*s < 0x20 && *s != '\t') || *s == 0x7f)
            return false;
    return true;
}

int sv_http_stream_header(struct sv_http_stream *s, const char *name, const char *value)
{
    struct header *h = &s->headers[s->n_headers];

    if (!*name || !printable(name) || !printable(value))
        return 0;
    if (s->n_headers == HEADERS_MAX)
        return -E2BIG;
    h->name = strdup(name);
    h->value = strdup(value);
    s->n_headers++;
    return h->name && h->value ? 0 : -ENOMEM;
}

int sv_http_stream_own(struct sv_http_stream *s, const char *type)
{
    struct http_header headers[HTTP_HEADERS_MAX];
    size_t n = http_answer_headers(s->place->setting, s->conn, false, headers);
    int r = sv_http_stream_header(s, "Content-Type", type);

    for (size_t i = 0; r >= 0 && i < n; i++)
        r = sv_http_stream_header(s, headers[i].name, headers[i].value);
    return r;
}

void sv_http_stream_begin(struct sv_http_stream *s, unsigned status, int64_t length)
{
    s->status = status;
    s->length = length;
    s->begun = true;
    resume(s);
}

bool sv_http_stream_begun(const struct sv_http_stream *s)
{
    return s->begun;
}

int sv_http_stream_put(struct sv_http_stream *s, const void *data, size_t n)
{
    int r;

    sv_buf_compact(&s->buf);
    r = sv_buf_put(&s->buf, data, n);
    if (r == -EMSGSIZE) {
        s->refused = true;
        return -EAGAIN;
    }
    if (r >= 0 && s->begun)
        resume(s);
    return r;
}

int sv_http_stream_flush(struct sv_http_stream *s, struct sv_buf *text)
{
    while (sv_buf_left(text) > 0) {
        size_t n = SV_MIN(sv_buf_left(text), (size_t)SLICE);
        int r = sv_http_stream_put(s, text->data + text->pos, n);

        if (r < 0)
            return r;
        text->pos += n;
    }
    text->len = text->pos = 0;
    return 0;
}

size_t sv_http_stream_waiting(const struct sv_http_stream *s)
{
    return sv_buf_left(&s->buf);
}

void sv_http_stream_end(struct sv_http_stream *s, bool complete)
{
    s->ended = true;
    s->complete = complete;
    resume(s);
}

void sv_http_stream_text(struct sv_http_stream *s, unsigned status, const char *type,
                         const char *text)
{
    size_t n = strlen(text);
    bool good = sv_http_stream_own(s, type) >= 0 && sv_http_stream_put(s, text, n) >= 0;

    sv_http_stream_begin(s, status, (int64_t)n);
    sv_http_stream_end(s, good);
}

/* ---- libmicrohttpd's side ---- */

static ssize_t read_stream(void *data, uint64_t pos, char *to, size_t max)
{
    struct sv_http_stream *s = data;
    size_t n = SV_MIN(sv_buf_left(&s->buf), max);

    (void)pos;
    if (n == 0 && s->ended)
        return s->complete ? MHD_CONTENT_READER_END_OF_STREAM : MHD_CONTENT_READER_END_WITH_ERROR;
    if (n == 0) {
        s->suspended = true;
        MHD_suspend_connection(s->conn);
        return 0;
    }
    memcpy(to, s->buf.data + s->buf.pos, n);
    s->buf.pos += n;
    if (s->refused && !s->ended && sv_buf_left(&s->buf) < HTTP_STREAM_MAX / 2) {
        s->refused = false;
        s->events->drained(s->userdata);
    }
    return (ssize_t)n;
}

int sv_http_stream_answer(struct sv_http_stream *s)
{
    bool empty = s->status == 204 || s->status == 304;
    uint64_t size = s->length >= 0 ? (uint64_t)s->length : MHD_SIZE_UNKNOWN;
    struct MHD_Response *response;
    enum MHD_Result ok;

    if (!s->begun && !s->ended) { /* nothing to send yet */
        s->suspended = true;
        MHD_suspend_connection(s->conn);
        return MHD_YES;
    }
    if (!s->begun)
        return MHD_NO;
    response = empty ? MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT)
                     : MHD_create_response_from_callback(size, BLOCK, read_stream, s, NULL);
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < s->n_headers; i++) /* invalid header names are rejected, ignoring */
        (void)MHD_add_response_header(response, s->headers[i].name, s->headers[i].value);
    ok = MHD_queue_response(s->conn, s->status, response);
    MHD_destroy_response(response);
    return ok;
}

void sv_http_stream_gone(struct sv_http_stream *s)
{
    if (!s->ended)
        s->events->gone(s->userdata);
    DL_DELETE(*s->place->all, s);
    for (size_t i = 0; i < s->n_headers; i++) {
        free(s->headers[i].name);
        free(s->headers[i].value);
    }
    sv_buf_free(&s->buf);
    free(s);
}

void sv_http_streams_abort(struct sv_http_stream *all)
{
    struct sv_http_stream *s, *tmp;

    DL_FOREACH_SAFE (all, s, tmp) {
        if (!s->ended)
            s->events->gone(s->userdata);
        sv_http_stream_end(s, false);
    }
}
