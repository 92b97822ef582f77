/* See web-tokens.h. A call is a handshake's first token, for which a KDC may be asked, and then one
 * request. The server's last token, which would prove who it is, is not read: it answers with a
 * time alone. */
#include "rm-lite/security/web-tokens.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <utlist.h>

#include "common/buf.h"
#include "common/str.h"
#include "common/web/curl-loop.h"
#include "common/web/spnego.h"
#include "fs/webhdfs-json.h"
#include "wire/ipc/ipc-client.h"
#include "wire/sasl/gssapi.h"

#define CONNECT_MS 10000L
#define WHY_MAX 400

struct call {
    struct call *prev, *next;
    struct rm_web_tokens *w;
    struct rm_web_issuer to;
    unsigned at; /* the server that is asked */
    bool cancel;
    char *text; /* the token's */
    rm_web_done done;
    void *userdata;
    struct gssapi_handshake *handshake;
    CURL *easy;
    struct curl_slist *headers;
    struct sv_buf answer;
};

struct rm_web_tokens {
    const struct ipc_kerberos *login;
    struct sv_curl_loop *curl;
    struct call *calls;
};

static void drop_request(struct call *c)
{
    if (c->easy) {
        sv_curl_loop_remove(c->w->curl, c->easy);
        curl_easy_cleanup(c->easy);
    }
    c->easy = NULL;
    curl_slist_free_all(c->headers);
    c->headers = NULL;
    c->handshake = ipc_gssapi_handshake_free(c->handshake);
    sv_buf_free(&c->answer);
}

static void call_free(struct call *c)
{
    DL_DELETE(c->w->calls, c);
    drop_request(c);
    explicit_bzero(c->text, strlen(c->text));
    free(c->text);
    free(c);
}

static void end(struct call *c, int status, int64_t expires_ms, const char *why)
{
    const struct rm_web_result r = { status, expires_ms, why };

    c->done(&r, c->userdata);
    call_free(c);
}

static int ask(struct call *c, struct sv_error *err);

/* The next server, or the end. */
static void absent(struct call *c, const char *why)
{
    const struct hdfs_server *s = &c->to.servers[c->at];
    struct sv_error err = { 0 };
    char text[WHY_MAX];

    (void)snprintf(text, sizeof(text), "%s:%u: %s", s->host, s->port, why);
    for (drop_request(c); ++c->at < c->to.n; drop_request(c))
        if (ask(c, &err) >= 0)
            return;
    end(c, -EAGAIN, 0, text);
}

/* ---- The answer ---- */

int rm_web_tokens_parse(const char *text, size_t n, int64_t *ret_expires_ms)
{
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    const json_t *time = json_object_get(root, "long");
    int r = json_is_integer(time) && json_integer_value(time) > 0 ? 0 : -EBADMSG;

    if (r == 0)
        *ret_expires_ms = json_integer_value(time);
    json_decref(root);
    return r;
}

static void refused(struct call *c, long status)
{
    const struct hdfs_server *s = &c->to.servers[c->at];
    char reason[WHY_MAX / 2], text[WHY_MAX];
    const char *answer = (const char *)c->answer.data;

    if (fs_webhdfs_parse_exception(answer, c->answer.len, reason, sizeof(reason)) == -EBADMSG)
        (void)snprintf(reason, sizeof(reason), "it answers with status %ld", status);
    (void)snprintf(text, sizeof(text), "%s:%u: %s", s->host, s->port, reason);
    end(c, -EACCES, 0, text);
}

static void answered(struct call *c, long status)
{
    const char *text = (const char *)c->answer.data;
    int64_t expires = 0;

    if (status >= 500 || (c->answer.len && memmem(text, c->answer.len, "StandbyException", 16)))
        absent(c, "it does not serve such requests now");
    else if (status < 200 || status > 299)
        refused(c, status);
    else if (!c->cancel && rm_web_tokens_parse(text, c->answer.len, &expires) < 0)
        end(c, -EACCES, 0, "the answer to a renewal has no time");
    else
        end(c, 0, expires, NULL);
}

static void on_done(CURL *easy, CURLcode result, void *userdata)
{
    struct call *c = userdata;
    long status = 0;

    (void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    c->easy = NULL;
    curl_easy_cleanup(easy);
    if (result == CURLE_OK)
        answered(c, status);
    else
        absent(c, curl_easy_strerror(result));
}

static size_t on_data(char *data, size_t size, size_t n, void *userdata)
{
    struct call *c = userdata;

    return sv_buf_put(&c->answer, data, size * n) < 0 ? 0 : size * n;
}

/* ---- The request ---- */

static int add_header(struct call *c, const char *line)
{
    struct curl_slist *more = curl_slist_append(c->headers, line);

    if (!more)
        return -ENOMEM;
    c->headers = more;
    return 0;
}

static int set_options(struct call *c, const char *url)
{
    CURL *e = c->easy;
    bool ok =
        curl_easy_setopt(e, CURLOPT_URL, url) == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_PRIVATE, c) == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, "PUT") == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_POSTFIELDS, "") == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_HTTPHEADER, c->headers) == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, c->to.secure ? "https" : "http") == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_PROXY, "") == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS) == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, RM_WEB_CALL_MS) == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, on_data) == CURLE_OK &&
        curl_easy_setopt(e, CURLOPT_WRITEDATA, c) == CURLE_OK;

    return ok ? 0 : -ENOMEM;
}

/* A service takes the token's text for its proof beside the caller's ticket. */
static int send_request(struct call *c)
{
    const struct hdfs_server *s = &c->to.servers[c->at];
    bool v6 = strchr(s->host, ':') != NULL;
    _cleanup_free_ char *url = NULL;
    int r = sv_asprintf(&url, "http%s://%s%s%s:%u%s?op=%sDELEGATIONTOKEN&token=%s",
                        c->to.secure ? "s" : "", v6 ? "[" : "", s->host, v6 ? "]" : "", s->port,
                        c->to.path, c->cancel ? "CANCEL" : "RENEW", c->text);

    if (r >= 0)
        r = add_header(c, "Content-Type:"); /* libcurl's is a form's */
    if (r >= 0 && !(c->easy = curl_easy_init()))
        r = -ENOMEM;
    if (r >= 0)
        r = set_options(c, url);
    if (r >= 0)
        r = sv_curl_loop_add(c->w->curl, c->easy);
    if (r < 0 && c->easy) {
        curl_easy_cleanup(c->easy);
        c->easy = NULL;
    }
    if (url)
        explicit_bzero(url, strlen(url));
    return r;
}

static int add_ticket(struct call *c, const uint8_t *token, size_t n)
{
    _cleanup_free_ char *value = NULL, *line = NULL;
    int r = sv_spnego_challenge(token, n, &value);

    if (r >= 0)
        r = sv_asprintf(&line, "Authorization: %s", value);
    return r < 0 ? r : add_header(c, line);
}

static void on_ticket(const struct gssapi_outcome *o, void *userdata)
{
    struct call *c = userdata;
    int r = o->status;

    if (r < 0) {
        absent(c, o->text);
        return;
    }
    r = o->token_len > 0 ? add_ticket(c, o->token, o->token_len) : -EBADMSG;
    if (r >= 0)
        r = send_request(c);
    if (r < 0)
        absent(c, strerror(-r));
}

/* Begins at the server c->at. */
static int ask(struct call *c, struct sv_error *err)
{
    const struct ipc_kerberos *k = c->w->login;
    const char *host = c->to.servers[c->at].host;
    char server[IPC_PRINCIPAL_MAX];
    int r;

    c->answer = (struct sv_buf)SV_BUF_INIT(RM_WEB_ANSWER_MAX);
    if (!k) {
        r = send_request(c);
        return r < 0 ? sv_error_errno(err, r, "the request to %s", host) : 0;
    }
    r = k->handshake(k, host, server, &c->handshake);
    if (r < 0)
        return sv_error_errno(err, r, "handshake with HTTP on %s", host);
    return c->handshake->f->step(c->handshake, NULL, 0, on_ticket, c, err);
}

int rm_web_tokens_call(struct rm_web_tokens *w, const struct rm_web_issuer *to,
                       const struct yarn_token *token, bool cancel, rm_web_done done,
                       void *userdata, struct sv_error *err)
{
    _cleanup_arena_wipe_ struct sv_arena *a = sv_arena_new(0);
    const char *text = NULL;
    struct call *c;
    int r;

    if (token->id_len > RM_WEB_TOKEN_ID_MAX || token->password_len > RM_WEB_TOKEN_ID_MAX)
        return sv_error_set(err, -E2BIG, "the token has more than %u bytes", RM_WEB_TOKEN_ID_MAX);
    c = a && yarn_token_text(a, token, &text) >= 0 ? calloc(1, sizeof(*c)) : NULL;
    if (!c || !(c->text = strdup(text))) {
        free(c);
        return sv_error_errno(err, -ENOMEM, "the request");
    }
    c->w = w;
    c->to = *to;
    c->cancel = cancel;
    c->done = done;
    c->userdata = userdata;
    DL_APPEND(w->calls, c);
    r = ask(c, err);
    if (r < 0)
        call_free(c);
    return r;
}

int rm_web_tokens_new(sd_event *event, const struct ipc_kerberos *login, struct rm_web_tokens **ret)
{
    struct rm_web_tokens *w = calloc(1, sizeof(*w));
    int r = w ? sv_curl_loop_new(&sv_curl_linked, event, on_done, &w->curl) : -ENOMEM;

    if (r < 0) {
        free(w);
        return r;
    }
    w->login = login;
    *ret = w;
    return 0;
}

struct rm_web_tokens *rm_web_tokens_free(struct rm_web_tokens *w)
{
    if (!w)
        return NULL;
    while (w->calls)
        end(w->calls, -ECANCELED, 0, "the ResourceManager ends");
    sv_curl_loop_free(w->curl);
    free(w);
    return NULL;
}
