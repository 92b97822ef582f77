/* See exec-connect.h. */
#include "client/exec/exec-connect.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "client/http/node-url.h"
#include "common/fd.h"
#include "common/str.h"
#include "common/web/curl.h"
#include "common/web/exec-words.h"
#include "common/web/websocket.h"

#define CONNECT_MS 5000L
#define TOTAL_MS 20000L
#define ANSWER_MAX ((size_t)64 << 10)
#define COOKIE "\thadoop.auth\t" /* in a line of Netscape's format, before its value */

struct cli_exec_link {
    const struct sv_curl *curl;
    CURL *easy; /* NULL: a socket of our own */
    curl_socket_t fd;
    struct sv_buf early; /* frames that came with the answer */
    char error[CURL_ERROR_SIZE];
};

struct cli_exec_link *cli_exec_link_free(struct cli_exec_link *l)
{
    if (!l)
        return NULL;
    if (l->easy)
        l->curl->easy_cleanup(l->easy);
    else
        (void)sv_close(l->fd);
    sv_buf_free(&l->early);
    free(l);
    return NULL;
}

int cli_exec_link_fd(const struct cli_exec_link *l)
{
    return l->fd;
}

ssize_t cli_exec_receive(struct cli_exec_link *l, void *to, size_t max)
{
    size_t n = SV_MIN(sv_buf_left(&l->early), max);
    CURLcode r;

    if (n > 0) {
        memcpy(to, l->early.data + l->early.pos, n);
        l->early.pos += n;
        return (ssize_t)n;
    }
    if (!l->easy) {
        ssize_t k = recv(l->fd, to, max, MSG_DONTWAIT);

        return k < 0 ? -errno : k;
    }
    r = l->curl->easy_recv(l->easy, to, max, &n);
    return r == CURLE_AGAIN ? -EAGAIN : r == CURLE_OK ? (ssize_t)n : -ECONNRESET;
}

ssize_t cli_exec_send(struct cli_exec_link *l, const void *data, size_t n)
{
    size_t sent = 0;
    CURLcode r;

    if (!l->easy) {
        ssize_t k = send(l->fd, data, n, MSG_DONTWAIT | MSG_NOSIGNAL);

        return k < 0 ? -errno : k;
    }
    r = l->curl->easy_send(l->easy, data, n, &sent);

    return r == CURLE_AGAIN ? -EAGAIN : r == CURLE_OK ? (ssize_t)sent : -ECONNRESET;
}

/* ---- Connection ---- */

static size_t ignore(char *data, size_t size, size_t n, void *userdata)
{
    (void)data;
    (void)userdata;
    return size * n;
}

static void set_options(struct cli_exec_link *l, const char *url)
{
#define SET(option, value) (void)l->curl->easy_setopt(l->easy, option, value)
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_PROXY, ""); /* cluster addresses need no proxy */
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TIMEOUT_MS, TOTAL_MS);
    SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    SET(CURLOPT_WRITEFUNCTION, ignore);
    SET(CURLOPT_ERRORBUFFER, l->error);
#undef SET
}

static int failed(const struct cli_exec_link *l, const char *http, CURLcode r, struct sv_error *err)
{
    return sv_error_set(err, r == CURLE_COULDNT_CONNECT ? -ECONNREFUSED : -EIO, "%s: %s", http,
                        *l->error ? l->error : l->curl->easy_strerror(r));
}

/* Shows the ticket with a request for a page, and keeps the cookie that it gives. */
static int fetch_cookie(struct cli_exec_link *l, const char *base, const char *http, char **ret,
                        struct sv_error *err)
{
    _cleanup_free_ char *url = NULL;
    struct curl_slist *all = NULL;
    long status = 0;
    int r = sv_asprintf(&url, "%s/ws/v1/node/info", base);

    if (r < 0)
        return sv_error_errno(err, r, "%s", http);
    set_options(l, url);
    (void)l->curl->easy_setopt(l->easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_NEGOTIATE);
    (void)l->curl->easy_setopt(l->easy, CURLOPT_USERPWD, ":");
    (void)l->curl->easy_setopt(l->easy, CURLOPT_COOKIEFILE, "");
    CURLcode code = l->curl->easy_perform(l->easy);
    if (code != CURLE_OK)
        return failed(l, http, code, err);
    (void)l->curl->easy_getinfo(l->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)l->curl->easy_getinfo(l->easy, CURLINFO_COOKIELIST, &all);
    for (const struct curl_slist *c = all; c && !*ret; c = c->next) {
        const char *value = strstr(c->data, COOKIE);

        if (value && sv_asprintf(ret, "Cookie: hadoop.auth=%s\r\n", value + strlen(COOKIE)) < 0)
            r = -ENOMEM;
    }
    l->curl->slist_free_all(all);
    l->curl->easy_reset(l->easy);
    if (status == 401)
        return sv_error_set(err, -EACCES, "%s: it takes no ticket of yours: see klist, kinit",
                            http);
    return r < 0 ? sv_error_errno(err, r, "%s", http) : 0;
}

static int dial(struct cli_exec_link *l, const char *base, const char *http, struct sv_error *err)
{
    set_options(l, base);
    (void)l->curl->easy_setopt(l->easy, CURLOPT_CONNECT_ONLY, 1L);
    (void)l->curl->easy_setopt(l->easy, CURLOPT_FRESH_CONNECT, 1L);
    CURLcode code = l->curl->easy_perform(l->easy);
    if (code != CURLE_OK)
        return failed(l, http, code, err);
    if (l->curl->easy_getinfo(l->easy, CURLINFO_ACTIVESOCKET, &l->fd) != CURLE_OK || l->fd < 0)
        return sv_error_set(err, -EIO, "%s: no connection", http);
    return 0;
}

/* ---- Handshake ---- */

static int wait_for(const struct cli_exec_link *l, short events)
{
    struct pollfd p = { .fd = l->fd, .events = events };
    int r = poll(&p, 1, (int)TOTAL_MS);

    return r > 0 ? 0 : r == 0 ? -ETIMEDOUT : -errno;
}

static int send_all(struct cli_exec_link *l, const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        ssize_t n = cli_exec_send(l, text, left);
        int r = n == -EAGAIN ? wait_for(l, POLLOUT) : n < 0 ? (int)n : 0;

        if (r < 0)
            return r;
        text += n > 0 ? n : 0;
        left -= n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Bytes of an answer: its head and, of one with a body, as many as it says; 0: not yet known. */
static size_t length_of(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\nContent-Length:");
    uint64_t n = 0;

    if (!end)
        return 0;
    if (length && length < end) {
        length += strlen("\r\nContent-Length:");
        length += strspn(length, " ");
        for (; *length >= '0' && *length <= '9' && n < ANSWER_MAX; length++)
            n = n * 10 + (uint64_t)(*length - '0');
    }
    return (size_t)(end + 4 - text) + n;
}

/* Receives an answer; NUL-terminated. */
static int receive_answer(struct cli_exec_link *l, struct sv_buf *b)
{
    size_t want = 0;

    while (want == 0 || b->len < want) {
        char data[4096];
        ssize_t n = cli_exec_receive(l, data, sizeof(data));
        int r = n == -EAGAIN ? wait_for(l, POLLIN) : n < 0 ? (int)n : n == 0 ? -ECONNRESET : 0;

        if (r >= 0 && n > 0) {
            r = sv_buf_put(b, data, (size_t)n);
            if (r >= 0)
                r = sv_buf_reserve(b, 1);
            if (r >= 0) {
                b->data[b->len] = 0;
                want = length_of((const char *)b->data);
            }
        }
        if (r < 0)
            return r;
    }
    return 0;
}

/* The words of a refusal, which the node sends as JSON. */
static int refused(const struct sv_buf *b, const char *http, struct sv_error *err)
{
    const char *head = (const char *)b->data, *body = strstr(head, "\r\n\r\n");
    char text[512];
    json_t *root, *words;
    unsigned status = 0;

    (void)sscanf(head, "HTTP/1.%*u %u", &status); /* 0 else */
    root = body ? json_loads(body + 4, JSON_DISABLE_EOF_CHECK, NULL) : NULL;
    words = json_object_get(json_object_get(root, "RemoteException"), "message");
    sv_escape(text, sizeof(text), json_is_string(words) ? json_string_value(words) : "");
    json_decref(root);
    if (*text)
        return sv_error_set(err, -EACCES, "%s: %s", http, text);
    return sv_error_set(err, -EPROTO,
                        "%s answers %u: it has no sessions for selvedge exec (Apache's NodeManager "
                        "has yarn container -shell)",
                        http, status);
}

static int shake_hands(struct cli_exec_link *l, const struct cli_exec_where *w, const char *cookie,
                       struct sv_error *err)
{
    _cleanup_free_ char *request = NULL, *query = NULL, *key = NULL;
    _cleanup_buf_ struct sv_buf b = SV_BUF_INIT(ANSWER_MAX);
    char proof[SV_WS_ACCEPT_MAX], wanted[SV_WS_ACCEPT_MAX + 64];
    uint8_t random[16];
    int r = getrandom(random, sizeof(random), 0) == sizeof(random) ? 0 : -EIO;

    if (r >= 0)
        r = sv_base64_encode(random, sizeof(random), &key);
    if (r >= 0)
        r = sv_ws_accept(key, proof);
    if (r >= 0)
        r = cli_query_user(w->user, &query);
    if (r >= 0)
        r = sv_asprintf(&request,
                        "GET /container/%s%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: selvedge\r\n"
                        "Accept: application/json\r\nConnection: Upgrade\r\n"
                        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Protocol: " SV_EXEC_PROTOCOL
                        "\r\n%s\r\n",
                        w->container, cookie ? "" : query, w->http, key, cookie ? cookie : "");
    if (r >= 0)
        r = send_all(l, request);
    if (r >= 0)
        r = receive_answer(l, &b);
    if (r < 0)
        return sv_error_errno(err, r, "%s", w->http);
    const char *end = strstr((const char *)b.data, "\r\n\r\n");
    if (!end || !sv_has_prefix((const char *)b.data, "HTTP/1.1 101"))
        return refused(&b, w->http, err);
    (void)snprintf(wanted, sizeof(wanted), "\r\nSec-WebSocket-Accept: %s\r\n", proof);
    if (!strcasestr((const char *)b.data, wanted) ||
        !strcasestr((const char *)b.data, "\r\nSec-WebSocket-Protocol: " SV_EXEC_PROTOCOL "\r\n"))
        return sv_error_set(err, -EPROTO, "%s does not speak " SV_EXEC_PROTOCOL, w->http);
    r = sv_buf_put(&l->early, end + 4, b.len - (size_t)(end + 4 - (const char *)b.data));
    return r < 0 ? sv_error_errno(err, r, "%s", w->http) : 0;
}

int cli_exec_connect(const struct cli_exec_where *w, struct cli_exec_link **ret,
                     struct sv_error *err)
{
    struct cli_exec_link *l = calloc(1, sizeof(*l));
    _cleanup_free_ char *base = NULL, *cookie = NULL;
    int r = l ? 0 : -ENOMEM;

    if (r < 0)
        return sv_error_errno(err, r, "%s", w->http);
    l->early = SV_BUF_INIT(ANSWER_MAX);
    l->fd = -1;
    r = sv_curl_load(&l->curl, err);
    if (r >= 0) {
        l->easy = l->curl->easy_init();
        r = l->easy ? sv_asprintf(&base, "%s://%s", cli_scheme(), w->http) : -ENOMEM;
        if (r < 0)
            (void)sv_error_errno(err, r, "%s", w->http);
    }
    if (r >= 0 && w->negotiate)
        r = fetch_cookie(l, base, w->http, &cookie, err);
    if (r >= 0)
        r = dial(l, base, w->http, err);
    if (r >= 0)
        r = shake_hands(l, w, cookie, err);
    if (r < 0) {
        (void)cli_exec_link_free(l);
        return r;
    }
    *ret = l;
    return 0;
}

int cli_exec_link_of(int fd, struct cli_exec_link **ret)
{
    struct cli_exec_link *l = calloc(1, sizeof(*l));

    if (!l) {
        (void)sv_close(fd);
        return -ENOMEM;
    }
    l->fd = fd;
    *ret = l;
    return 0;
}
