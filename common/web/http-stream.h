/* Deferred, streamed answers of the HTTP server, for a handler that waits for another server. The
 * handler creates a stream and returns SV_HTTP_LATER; the connection is suspended meanwhile. At
 * most HTTP_STREAM_MAX bytes are buffered for the client: the source pauses when a write is
 * refused. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_STREAM_H
#define SELVEDGE_COMMON_WEB_HTTP_STREAM_H

#include "common/buf.h"
#include "common/web/http.h"

#define HTTP_STREAM_MAX ((size_t)256 << 10)

struct sv_http_stream;
struct sv_http_stream_events {
    void (*drained)(void *userdata); /* after a refused write: space is available again */
    void (*gone)(void *userdata);    /* the client or the server ended: the stream is freed */
};

/* Call from within the handler of `req`. NULL when out of memory. */
struct sv_http_stream *sv_http_stream_new(const struct sv_http_request *req,
                                          const struct sv_http_stream_events *events,
                                          void *userdata);
/* Call before sv_http_stream_begin. Hostile names and values are accepted: those with control
 * characters are dropped. */
int sv_http_stream_header(struct sv_http_stream *s, const char *name, const char *value) _must_use_;
/* The headers of an answer that is ours, not another server's: its type, and those that guard every
 * answer (http-answer.h). */
int sv_http_stream_own(struct sv_http_stream *s, const char *type) _must_use_;
/* `length` of the whole body, or -1 if unknown. */
void sv_http_stream_begin(struct sv_http_stream *s, unsigned status, int64_t length);
bool sv_http_stream_begun(const struct sv_http_stream *s);
/* Writes all bytes or, with -EAGAIN, none. */
int sv_http_stream_put(struct sv_http_stream *s, const void *data, size_t n) _must_use_;
/* Writes what the buffer has left, and empties it. -EAGAIN: the rest once the stream is drained. */
int sv_http_stream_flush(struct sv_http_stream *s, struct sv_buf *text) _must_use_;
size_t
sv_http_stream_waiting(const struct sv_http_stream *s); /* bytes that the client has not read */
/* Ends the stream, which must not be used afterwards; no event follows. `complete` false closes the
 * connection, so that the client detects the truncation. */
void sv_http_stream_end(struct sv_http_stream *s, bool complete);
/* Sends a complete text answer and ends the stream. */
void sv_http_stream_text(struct sv_http_stream *s, unsigned status, const char *type,
                         const char *text);

/* ---- for http.c ---- */

struct MHD_Connection;
struct http_setting;
struct http_stream_place { /* per request */
    struct sv_http_stream *stream;
    struct sv_http_stream **all; /* of the server */
    void (*kick)(void *server);  /* wakes libmicrohttpd */
    void *server;
    const struct http_setting *setting;
};
/* Call when the handler returned, or the connection was resumed. Returns an MHD_Result. */
int sv_http_stream_answer(struct sv_http_stream *s);
void sv_http_stream_gone(struct sv_http_stream *s);
/* Call before stopping libmicrohttpd, which must have no suspended connection. */
void sv_http_streams_abort(struct sv_http_stream *all);

#endif
