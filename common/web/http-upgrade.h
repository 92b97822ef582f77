/* Connections that leave HTTP: a handler answers a WebSocket's request with 101, and has the socket
 * from then on. The connection stays counted for its client's address until it is closed. Extra
 * checks are the handler's: who the caller is, and Origin, which only browsers send, for pages of
 * whatever site. */
#ifndef SELVEDGE_COMMON_WEB_HTTP_UPGRADE_H
#define SELVEDGE_COMMON_WEB_HTTP_UPGRADE_H

#include "common/web/http.h"
#include "common/web/websocket.h"

struct sv_http_upgraded;

struct sv_http_websocket {
    /* From within the server's run. The socket is not blocking, and closed by
     * sv_http_upgraded_close() alone; `early`: bytes that came behind the request. */
    void (*begin)(struct sv_http_upgraded *u, int fd, const void *early, size_t n, void *userdata);
    /* Instead: the client left before its answer. */
    void (*left)(void *userdata);
    void *userdata;
    const char *subprotocol; /* static, of those that the client offers; NULL: none */
};

/* True if the request is one for a WebSocket, well-formed or not. */
bool sv_http_wants_websocket(const struct sv_http_request *req);
/* True if the client's header Sec-WebSocket-Protocol has this name. */
bool sv_http_offers(const struct sv_http_request *req, const char *subprotocol);
/* Makes *ret the answer, which takes `w` over. -EINVAL: the request's version or key is not one of
 * RFC 6455; *ret is then a 400 that says so. */
int sv_http_websocket(const struct sv_http_request *req, const struct sv_http_websocket *w,
                      struct sv_http_response *ret) _must_use_;
/* Closes the socket; not from within `begin`. */
void sv_http_upgraded_close(struct sv_http_upgraded *u);

/* For http-exchange.c and http-answer.c. */
struct MHD_Connection;
struct http_setting;
int http_upgrade_send(const struct http_setting *s, struct MHD_Connection *conn,
                      struct sv_http_upgraded *u, struct sv_http_response *a);
/* The connection has ended. */
struct sv_http_upgraded *http_upgraded_free(struct sv_http_upgraded *u);
/* Binds it to the server that will run it: `kick` as in struct http_stream_place. */
void http_upgraded_of(struct sv_http_upgraded *u, void (*kick)(void *), void *server);

#endif
