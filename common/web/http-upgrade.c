/* See http-upgrade.h. */
#include "common/web/http-upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <strings.h>

#include "common/str.h"
#include "common/web/http-answer.h"

struct sv_http_upgraded {
    struct sv_http_websocket w;
    char accept[SV_WS_ACCEPT_MAX];
    bool begun;
    struct MHD_UpgradeResponseHandle *handle; /* NULL: not begun, or closed */
    void (*kick)(void *server);
    void *server;
};

/* True if the list of names, separated by commas, has this one; ASCII, of any case. */
static bool has_word(const char *list, const char *word)
{
    const size_t n = strlen(word);

    while (list && *list) {
        size_t len;

        list += strspn(list, " \t,");
        len = strcspn(list, ",");
        while (len > 0 && (list[len - 1] == ' ' || list[len - 1] == '\t'))
            len--;
        if (len == n && strncasecmp(list, word, n) == 0)
            return true;
        list += strcspn(list, ",");
    }
    return false;
}

bool sv_http_wants_websocket(const struct sv_http_request *req)
{
    return has_word(sv_http_header(req, "Upgrade"), "websocket");
}

bool sv_http_offers(const struct sv_http_request *req, const char *subprotocol)
{
    return has_word(sv_http_header(req, "Sec-WebSocket-Protocol"), subprotocol);
}

int sv_http_websocket(const struct sv_http_request *req, const struct sv_http_websocket *w,
                      struct sv_http_response *ret)
{
    const char *version = sv_http_header(req, "Sec-WebSocket-Version");
    const char *key = sv_http_header(req, "Sec-WebSocket-Key");
    struct sv_http_upgraded *u = calloc(1, sizeof(*u));
    int r;

    if (!u)
        return -ENOMEM;
    u->w = *w;
    r = version && sv_streq(version, "13") && key && sv_streq(req->method, "GET")
            ? sv_ws_accept(key, u->accept)
            : -EINVAL;
    if (r < 0) {
        free(u);
        ret->status = 400;
        ret->body = strdup("a WebSocket's request is GET, with Sec-WebSocket-Version: 13 and a key "
                           "of 16 bytes\n");
        ret->body_len = ret->body ? strlen(ret->body) : 0;
        return r;
    }
    ret->status = 101;
    ret->upgrade = u;
    return 0;
}

void http_upgraded_of(struct sv_http_upgraded *u, void (*kick)(void *), void *server)
{
    u->kick = kick;
    u->server = server;
}

struct sv_http_upgraded *http_upgraded_free(struct sv_http_upgraded *u)
{
    if (u && !u->begun)
        u->w.left(u->w.userdata);
    free(u);
    return NULL;
}

static void on_upgrade(void *cls, struct MHD_Connection *conn, void *exchange, const char *early,
                       size_t n, MHD_socket fd, struct MHD_UpgradeResponseHandle *handle)
{
    struct sv_http_upgraded *u = cls;
    const int flags = fcntl(fd, F_GETFL), yes = 1;

    (void)conn;
    (void)exchange;
    u->begun = true;
    u->handle = handle;
    (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK); /* a socket of ours, ignoring */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)); /* or a pair's, ignoring */
    u->w.begin(u, fd, early, n, u->w.userdata);
}

int http_upgrade_send(const struct http_setting *s, struct MHD_Connection *conn,
                      struct sv_http_upgraded *u, struct sv_http_response *a)
{
    struct http_header headers[HTTP_HEADERS_MAX];
    size_t n = http_answer_headers(s, conn, false, headers);
    struct MHD_Response *response = MHD_create_response_for_upgrade(on_upgrade, u);
    enum MHD_Result ok;

    if (!response)
        return MHD_NO;
    ok = MHD_add_response_header(response, "Upgrade", "websocket") &&
         MHD_add_response_header(response, "Sec-WebSocket-Accept", u->accept) &&
         (!u->w.subprotocol ||
          MHD_add_response_header(response, "Sec-WebSocket-Protocol", u->w.subprotocol));
    for (size_t i = 0; ok && i < n; i++)
        ok = MHD_add_response_header(response, headers[i].name, headers[i].value);
    if (ok)
        ok = MHD_queue_response(conn, a->status, response);
    MHD_destroy_response(response);
    return ok;
}

void sv_http_upgraded_close(struct sv_http_upgraded *u)
{
    void (*kick)(void *) = u->kick;
    void *server = u->server;

    if (!u->handle)
        return;
    (void)MHD_upgrade_action(SV_TAKE(u->handle), MHD_UPGRADE_ACTION_CLOSE); /* u goes with it */
    kick(server);
}
