/* Answers of the HTTP server that come later and in pieces: for a handler that waits for another
 * server. The handler makes a stream and returns SV_HTTP_LATER; meanwhile the connection is
 * suspended. At most HTTP_STREAM_MAX bytes wait for the client: the source pauses when a piece is
 * refused. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_STREAM_H
#define SELVEDGE_COMMON_WEB_HTTP_STREAM_H

#include "common/web/http.h"

#define HTTP_STREAM_MAX ((size_t)256 << 10)

struct sv_http_stream;
struct sv_http_stream_events {
    void (*drained)(void *userdata); /* after a refused piece: there is room again */
    void (*gone)(void *userdata);    /* the client left, or the server ends: the stream is gone */
};

/* From within the handler of `req`. NULL without memory. */
struct sv_http_stream *sv_http_stream_new(const struct sv_http_request *req,
                                          const struct sv_http_stream_events *events,
                                          void *userdata);
/* Before the begin. Names and values may be hostile: those with control characters are left out. */
int sv_http_stream_header(struct sv_http_stream *s, const char *name, const char *value) _must_use_;
/* `length` of the whole body, or -1 if it is not known. */
void sv_http_stream_begin(struct sv_http_stream *s, unsigned status, int64_t length);
bool sv_http_stream_begun(const struct sv_http_stream *s);
/* All bytes or, with -EAGAIN, none. */
int sv_http_stream_put(struct sv_http_stream *s, const void *data, size_t n) _must_use_;
size_t
sv_http_stream_waiting(const struct sv_http_stream *s); /* bytes that the client has not read */
/* `complete` false closes the connection, so that the client sees that something is missing. The
 * stream may not be used any more, and no event comes. */
void sv_http_stream_end(struct sv_http_stream *s, bool complete);
/* A whole answer of text, and the end. */
void sv_http_stream_text(struct sv_http_stream *s, unsigned status, const char *type,
                         const char *text);

/* ---- for http.c ---- */

struct MHD_Connection;
struct http_stream_place { /* of one request */
    struct sv_http_stream *stream;
    struct sv_http_stream **all; /* of the server */
    void (*kick)(void *server);  /* libmicrohttpd has work */
    void *server;
};
/* The handler returned, or the connection was resumed: an MHD_Result. */
int http_stream_answer(struct sv_http_stream *s);
void http_stream_gone(struct sv_http_stream *s);
/* Before libmicrohttpd is stopped, which must have no suspended connection. */
void http_streams_abort(struct sv_http_stream *all);

#endif
