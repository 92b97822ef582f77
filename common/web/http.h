/* A small HTTP server for REST, metrics and logs: libmicrohttpd driven by the daemon's sd-event
 * loop (no threads). Requests are GET/HEAD/PUT/POST/DELETE with a bounded body; handlers answer
 * with a complete response or a stream (http-stream.h). OPTIONS is answered with 200 here. A gate
 * may say who a caller is before the handler is called, and refuse. Every
 * response carries X-Content-Type-Options: nosniff, X-Frame-Options (DENY without filters), and a
 * Content-Security-Policy that allows a style sheet and forms of this server alone; `script`
 * additionally allows a script file and event streams of it. Pages (text/html) are not cached. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_H
#define SELVEDGE_COMMON_WEB_HTTP_H

#include <sys/socket.h>
#include <systemd/sd-event.h>

#include "common/base.h"
#include "common/error.h"

struct http_stream_place;
struct sv_http;
struct sv_http_filters;
struct sv_http_upgraded;

/* Data that a handler keeps for its next call, after -EAGAIN; freed after the last one. */
struct sv_http_kept {
    void *data; /* NULL: nothing */
    void (*free)(void *data);
};

enum sv_http_proof {
    SV_HTTP_CLAIM,  /* none: a name in the query, or a cookie that was given for one */
    SV_HTTP_TICKET, /* a ticket, or a cookie that was given for one */
    SV_HTTP_TOKEN   /* a delegation token */
};

/* The sender of a request, for a server with a gate. Texts are malloc'd by the gate, and freed with
 * the request. */
struct sv_http_caller {
    bool known;               /* the gate has let the request pass; set by the server */
    char *user;               /* the account; NULL: nobody */
    char *full;               /* its full name, such as a principal; NULL: nobody */
    char *real;               /* full name of who acts for `user`; NULL: nobody does */
    enum sv_http_proof proof; /* of who calls */
    char *cookie;             /* Set-Cookie of every answer to the request; NULL: none */
    char *challenge;          /* WWW-Authenticate of every answer to the request; NULL: none */
    int operation; /* enum sv_web_operation of web-rights.h, by the gate: for the handler alone that
                    * knows them, whatever the path; the caller may be nobody. 0: none */
    struct sv_http_kept kept; /* what the gate keeps for its next call */
};

struct sv_http_request {
    const char *method;
    const char *path; /* decoded once; starts with '/' */
    const char *uri;  /* as sent, with the query */
    const void *body;
    size_t body_len;                 /* at most 128 KiB or sv_http_set_body_max(), else 413 before
                                      * the handler */
    void *conn;                      /* for sv_http_query/header */
    struct http_stream_place *place; /* for http-stream.h */
    struct sv_http_kept *kept;
    struct sv_http_caller *caller;
};

struct sv_http_response {
    unsigned status;          /* 200… */
    const char *content_type; /* static string; NULL = "text/plain; charset=utf-8" */
    char *body;               /* malloc'd, taken by the server; or NULL */
    size_t body_len;
    char *location;            /* malloc'd, taken; for redirects */
    const char *cache_control; /* static string; NULL: a page's is "no-store", others have none */
    bool script;               /* a page that loads SV_HTML_SCRIPT */
    bool xml;                  /* for handlers: the client prefers XML to JSON */
    struct sv_http_upgraded *upgrade; /* taken; by sv_http_websocket() alone; or NULL */
};

/* Priority of the server's event sources: behind RPC (rm-lite/services.c: up to NORMAL + 20),
 * heartbeats and the scheduler. */
#define SV_HTTP_PRIORITY (SD_EVENT_PRIORITY_NORMAL + 30)

/* Handler result: the answer follows through a stream (http-stream.h). */
#define SV_HTTP_LATER 1
/* Fills *ret (initially 404). A negative result becomes 500 with an incident id in the log,
 * except -EAGAIN: the answer depends on a pending look-up, and the handler is called again after
 * sv_http_retry, with what it kept. */
typedef int (*sv_http_handler)(const struct sv_http_request *req, struct sv_http_response *ret,
                               void *userdata);

/* Decides who a request's caller is, and whether the handler may see the request. */
struct sv_http_gate {
    /* 0: the request passes; SV_HTTP_REFUSED: *ret (initially 404) is the answer; -EAGAIN: called
     * again after sv_http_wake(); another negative result is 500. */
    int (*check)(const struct sv_http_request *req, struct sv_http_response *ret, void *userdata);
    void *userdata;
    size_t head_max; /* bytes of a request's line and headers, about; 0: HTTP_HEAD_MAX */
};
#define SV_HTTP_REFUSED 1
#define HTTP_HEAD_MAX ((size_t)24 << 10)
#define HTTP_HEAD_TICKET_MAX ((size_t)72 << 10) /* with a ticket of SV_WEB_TOKEN_MAX in base64 */

/* Listens on host:port (port 0 = any free one). */
int sv_http_new(sd_event *event, const char *host, uint16_t port, sv_http_handler handler,
                void *userdata, struct sv_http **ret, struct sv_error *err) _must_use_;
/* Serves a listening socket and takes ownership of it in every case. `gate` NULL: everybody passes,
 * and nobody is known; it must outlive the server. */
int sv_http_new_on(sd_event *event, int fd, const struct sv_http_gate *gate,
                   sv_http_handler handler, void *userdata, struct sv_http **ret,
                   struct sv_error *err) _must_use_;
/* A server without a socket: connections come by sv_http_feed(), from https.h. `port`: for
 * sv_http_port() and messages. */
int sv_http_new_fed(sd_event *event, uint16_t port, const struct sv_http_gate *gate,
                    sv_http_handler handler, void *userdata, struct sv_http **ret,
                    struct sv_error *err) _must_use_;
/* Serves a connection of the client `from`; takes ownership of the socket in every case. */
void sv_http_feed(struct sv_http *h, int fd, const struct sockaddr *from, socklen_t len);
/* Before the first event of the loop; NULL: none, as after sv_http_new. Must outlive the server. */
void sv_http_set_filters(struct sv_http *h, const struct sv_http_filters *filters);
/* As above. Paths that begin with `prefix` (kept) take bodies of up to `max` bytes, of which a few
 * fit the share of an address (http-share.h). */
void sv_http_set_body_max(struct sv_http *h, const char *prefix, size_t max);
struct sv_http *sv_http_free(struct sv_http *h);
/* Retries every request that was answered -EAGAIN. Accepts NULL. */
void sv_http_retry(struct sv_http *h);
/* Retries the request of this caller, if it waits. */
void sv_http_wake(struct sv_http_caller *caller);
uint16_t sv_http_port(const struct sv_http *h);
const char *sv_http_query(const struct sv_http_request *req, const char *key);  /* or NULL */
const char *sv_http_header(const struct sv_http_request *req, const char *key); /* or NULL */
const struct sockaddr *sv_http_peer(const struct sv_http_request *req); /* of the client, or NULL */

#endif
