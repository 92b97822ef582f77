/* Private to the HTTP server, one object in two files: http.c (connections, the event loop) and
 * http-exchange.c (requests), which the first calls. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_INTERNAL_H
#define SELVEDGE_COMMON_WEB_HTTP_INTERNAL_H

#include <microhttpd.h>

#include "common/buf.h"
#include "common/web/http-answer.h"
#include "common/web/http-share.h"
#include "common/web/http-stream.h"
#include "common/web/http.h"

#define HTTP_TURN_MS 2        /* time slice of libmicrohttpd per run of the loop */
#define HTTP_TURN_REQUESTS 16 /* handlers called per run */

struct sv_http {
    struct MHD_Daemon *daemon;
    sd_event_source *io, *timer;
    struct sv_http_stream *streams;
    sv_http_handler handler;
    void *userdata;
    const struct sv_http_filters *filters; /* NULL: none */
    const struct sv_http_gate *gate;       /* NULL: none */
    const char *large_prefix;              /* paths with larger bodies; NULL: none */
    size_t large_max;
    struct http_exchange *suspended;
    struct http_shares shares;
    struct {
        int64_t begin_ms;
        unsigned requests;
    } turn;
    int64_t told_ms; /* last warning about a refused connection; 0: none */
    uint16_t port;
};

/* One request, from its first line to the end of its response. */
struct http_exchange {
    struct sv_http *server;
    struct http_share *share; /* of the connection's address */
    struct http_waiting turn;
    struct sv_buf body; /* counted in the share, as is the answer */
    size_t answer;
    char *uri;
    struct http_stream_place place;
    struct sv_http_kept kept;
    struct sv_http_caller caller;
    struct http_setting setting;
    struct sv_http_upgraded *upgrade; /* the answer is 101, or was; or NULL */
    uint64_t discarded;
    bool bad_uri, seen;
    unsigned refused;                 /* status because of the body; 0: none */
    struct MHD_Connection *suspended; /* in the server's list */
    struct http_exchange *prev, *next;
};

/* Callbacks of libmicrohttpd: of a request's first line, its end, and all between. */
void *http_exchange_new(void *server, const char *uri, struct MHD_Connection *conn);
void http_exchange_end(void *server, struct MHD_Connection *conn, void **exchange,
                       enum MHD_RequestTerminationCode why);
enum MHD_Result http_exchange_run(void *server, struct MHD_Connection *conn, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_size, void **exchange);

bool http_turn_is_over(const struct sv_http *h);
/* libmicrohttpd's next run calls http_exchange_run() again for these. */
void http_call_next(struct sv_http *h, unsigned n);
/* As above, for all that wait for sv_http_retry(). */
void http_resume(struct sv_http *h);
/* After resuming a connection: libmicrohttpd runs from the loop, never from within its
 * callbacks. */
void http_kick(void *server);

#endif
