/* See proxy.h. Headers are those of Hadoop's WebAppProxyServlet. */
#include "rm-lite/web/proxy/proxy.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <utlist.h>

#include "common/str.h"
#include "common/web/auth-cookie.h"
#include "rm-lite/core/rm-app-attempt.h"
#include "rm-lite/core/rm-app.h"
#include "rm-lite/security/proxy-target.h"
#include "rm-lite/web/proxy/pipe.h"

#define AT_ONCE 64
#define AT_ONCE_OF_APP 16
#define TOTAL_MS 600000L              /* limit of one answer */
#define BYTES_MAX ((uint64_t)1 << 30) /* limit of one answer */
#define HEADER_BYTES_MAX ((size_t)32 << 10)
#define VIA "selvedge-rm"

struct fetch {
    struct rm_pipe pipe; /* the first member: one is the other */
    char *tracking_url, *set_cookie;
    char app[YARN_ID_TEXT_MAX];
    long timeout_s;
    bool is_here, head, ours; /* ours: the answer is a refusal by the proxy itself */
    int64_t length;
    size_t header_bytes;
};

struct rm_proxy {
    struct rm_pipes pipes;
    long timeout_s;
};

static void kind_freed(struct rm_pipe *p)
{
    struct fetch *f = (struct fetch *)p;

    free(f->tracking_url);
    free(f->set_cookie);
    free(f);
}

/* ------------------------------------------------- headers from master to browser */

/* Headers of the connection; headers with effect on the whole host, which is the ResourceManager's;
 * and headers that the server generates. */
static bool dropped(const char *name)
{
    static const char *const names[] = { "Connection",
                                         "Keep-Alive",
                                         "Proxy-Authenticate",
                                         "Proxy-Authorization",
                                         "Proxy-Connection",
                                         "TE",
                                         "Trailer",
                                         "Transfer-Encoding",
                                         "Upgrade",
                                         "Content-Length",
                                         "Date",
                                         "Set-Cookie",
                                         "Set-Cookie2",
                                         "Strict-Transport-Security",
                                         "Public-Key-Pins",
                                         "Clear-Site-Data",
                                         "Alt-Svc",
                                         "Service-Worker-Allowed",
                                         "WWW-Authenticate" };

    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

static int take_header(struct fetch *f, char *line)
{
    char *value = strchr(line, ':');
    _cleanup_free_ char *location = NULL;

    if (!value)
        return 0;
    *value++ = 0;
    value += strspn(value, " \t");
    if (strcasecmp(line, "Content-Length") == 0 &&
        sv_parse_i64(value, 0, INT64_MAX, &f->length) < 0)
        return -EBADMSG;
    if (dropped(line))
        return 0;
    if (strcasecmp(line, "Location") != 0)
        return sv_http_stream_header(f->pipe.stream, line, value);
    location = rm_proxy_location(f->tracking_url, f->app, value);
    return location ? sv_http_stream_header(f->pipe.stream, line, location) : -ENOMEM;
}

static int begin(struct fetch *f)
{
    long status = 0;
    int r = f->set_cookie ? sv_http_stream_header(f->pipe.stream, "Set-Cookie", f->set_cookie) : 0;

    (void)curl_easy_getinfo(f->pipe.easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200 || status > 599) /* 1xx: the answer follows */
        return status >= 100 && status < 200 ? r : -EBADMSG;
    if (r >= 0)
        sv_http_stream_begin(f->pipe.stream, (unsigned)status, f->length);
    return r;
}

static size_t on_header(char *data, size_t size, size_t n, void *userdata)
{
    struct fetch *f = userdata;
    size_t len = size * n;
    char line[8192];
    int r;

    if (!f->pipe.stream || sv_http_stream_begun(f->pipe.stream)) /* trailers */
        return f->pipe.stream ? len : 0;
    f->header_bytes += len;
    if (len >= sizeof(line) || f->header_bytes > HEADER_BYTES_MAX)
        return 0;
    memcpy(line, data, len);
    line[len] = 0;
    line[strcspn(line, "\r\n")] = 0;
    r = *line ? take_header(f, line) : begin(f);
    return r < 0 ? 0 : len;
}

static size_t on_data(char *data, size_t size, size_t n, void *userdata)
{
    struct fetch *f = userdata;

    if (!f->pipe.stream || !sv_http_stream_begun(f->pipe.stream))
        return 0;
    return rm_pipe_data(&f->pipe, data, size * n);
}

static void kind_done(struct rm_pipe *p, CURLcode result)
{
    struct fetch *f = (struct fetch *)p;
    char text[512];

    if (sv_http_stream_begun(f->pipe.stream)) {
        sv_http_stream_end(f->pipe.stream, result == CURLE_OK);
    } else {
        (void)snprintf(
            text, sizeof(text), "%s: its ApplicationMaster's page cannot be fetched: %s\n", f->app,
            f->ours ? "its address is none of a cluster's hosts" : curl_easy_strerror(result));
        sv_log_debug("proxy: %s", text);
        sv_http_stream_text(f->pipe.stream, result == CURLE_OPERATION_TIMEDOUT ? 504 : 502,
                            "text/plain; charset=utf-8", text);
    }
}

static const struct rm_pipe_kind kind = { .bytes_max = BYTES_MAX,
                                          .done = kind_done,
                                          .freed = kind_freed };

/* --------------------------------------------------------- the request to the master */

/* libcurl is about to connect, after name resolution: the check is of the address, not of the
 * name. */
static curl_socket_t open_socket(void *userdata, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct fetch *f = userdata;

    if (purpose != CURLSOCKTYPE_IPCXN || !rm_proxy_may_connect(&a->addr, f->is_here)) {
        f->ours = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* A value that cannot be sent on is left out. */
static int add_header(struct fetch *f, const char *name, const char *value)
{
    int r = rm_pipe_header(&f->pipe, name, value);

    return r == -EINVAL ? 0 : r;
}

/* The viewer's name, written as Java's URLEncoder writes it. */
static int add_user(struct fetch *f, const char *user)
{
    char text[16 + 3 * SV_AUTH_USER_MAX] = "proxy-user=";
    size_t n = strlen(text);

    for (; *user && n + 4 < sizeof(text); user++)
        if (isalnum((unsigned char)*user) || strchr(".-_*", *user))
            text[n++] = *user;
        else
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%%%02X", (unsigned char)*user);
    text[n] = 0;
    return add_header(f, "Cookie", text);
}

static int request_headers(struct fetch *f, const struct rm_proxy_request *q)
{
    static const char *const passed[] = { "User-Agent",
                                          "Accept",
                                          "Accept-Encoding",
                                          "Accept-Language",
                                          "Accept-Charset",
                                          "Content-Type",
                                          "Origin",
                                          "Access-Control-Request-Method",
                                          "Access-Control-Request-Headers" };
    int r = 0;

    for (size_t i = 0; i < SV_ARRAY_LEN(passed) && r >= 0; i++) {
        const char *value = sv_http_header(q->http, passed[i]);

        if (value || strcmp(passed[i], "Accept") == 0 || strcmp(passed[i], "Content-Type") == 0)
            r = add_header(f, passed[i], value ? value : "");
    }
    if (r >= 0)
        r = add_header(f, "Expect", "");
    if (r >= 0)
        r = add_header(f, "Via", "1.1 " VIA);
    return r >= 0 && *q->user ? add_user(f, q->user) : r;
}

static int set_options(struct fetch *f, const struct rm_proxy_request *q, const char *url)
{
    const struct sv_http_request *http = q->http;
    CURL *e = f->pipe.easy;
    CURLcode c = CURLE_OK;

#define SET(option, value) (c = c == CURLE_OK ? curl_easy_setopt(e, option, value) : c)
    SET(CURLOPT_URL, url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_PROXY, ""); /* not the environment's */
    SET(CURLOPT_NOSIGNAL, 1L);
    /* no connection of another request: its address was checked for another application */
    SET(CURLOPT_FRESH_CONNECT, 1L);
    SET(CURLOPT_FORBID_REUSE, 1L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_TIMEOUT_MS, TOTAL_MS);
    SET(CURLOPT_CONNECTTIMEOUT, f->timeout_s);
    SET(CURLOPT_LOW_SPEED_LIMIT, 1L);
    SET(CURLOPT_LOW_SPEED_TIME, f->timeout_s);
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(CURLOPT_OPENSOCKETDATA, f);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, f);
    SET(CURLOPT_WRITEFUNCTION, on_data);
    SET(CURLOPT_WRITEDATA, f);
    SET(CURLOPT_HTTPHEADER, f->pipe.headers);
    if (f->head)
        SET(CURLOPT_NOBODY, 1L);
    if (strcmp(http->method, "PUT") == 0) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)http->body_len);
        SET(CURLOPT_COPYPOSTFIELDS, http->body ? http->body : "");
        SET(CURLOPT_CUSTOMREQUEST, "PUT");
    }
#undef SET
    return c == CURLE_OK ? 0 : -ENOMEM;
}

static struct fetch *fetch_new(struct rm_proxy *p, const struct rm_proxy_request *q,
                               const char *url)
{
    struct fetch *f = calloc(1, sizeof(*f));

    if (!f)
        return NULL;
    f->timeout_s = p->timeout_s;
    f->length = -1;
    f->is_here = q->app->current->is_here;
    f->head = strcmp(q->http->method, "HEAD") == 0;
    (void)snprintf(f->app, sizeof(f->app), "%s", q->app->id_str);
    f->tracking_url = strdup(q->app->current->tracking_url);
    f->set_cookie = q->set_cookie ? strdup(q->set_cookie) : NULL;
    if (rm_pipe_init(&f->pipe, &p->pipes) >= 0 && f->tracking_url &&
        (!q->set_cookie || f->set_cookie) && request_headers(f, q) >= 0 &&
        set_options(f, q, url) >= 0)
        return f;
    rm_pipe_free(&f->pipe);
    return NULL;
}

static int refuse(struct sv_http_response *ret, unsigned status, const char *text)
{
    ret->status = status;
    ret->body = strdup(text);
    if (!ret->body)
        return -ENOMEM;
    ret->body_len = strlen(text);
    return 0;
}

int rm_proxy_fetch(struct rm_proxy *p, const struct rm_proxy_request *q,
                   struct sv_http_response *ret)
{
    _cleanup_free_ char *url = NULL;
    struct sv_error err = { 0 };
    int all = 0, of_app = 0;
    struct rm_pipe *pipe;
    struct fetch *f;

    DL_FOREACH (p->pipes.list, pipe) {
        all++;
        of_app += sv_streq(((const struct fetch *)pipe)->app, q->app->id_str);
    }
    if (all >= AT_ONCE || of_app >= AT_ONCE_OF_APP)
        return refuse(ret, 503, "too many requests to ApplicationMasters' pages at once\n");
    if (rm_proxy_url(q->app->current->tracking_url, q->rest, &url, &err) < 0)
        return refuse(ret, 400, err.text);
    f = fetch_new(p, q, url);
    return f ? rm_pipe_start(&f->pipe, q->http) : -ENOMEM;
}

bool rm_proxy_is_loop(const struct sv_http_request *http)
{
    const char *via = sv_http_header(http, "Via");

    return via && strstr(via, VIA);
}

int rm_proxy_new(struct sd_event *event, int64_t timeout_ms, struct rm_proxy **ret)
{
    struct rm_proxy *p = calloc(1, sizeof(*p));
    int r;

    if (!p)
        return -ENOMEM;
    p->timeout_s =
        timeout_ms > 0 ? (long)SV_MIN((timeout_ms + 999) / 1000, (int64_t)86400) : TOTAL_MS / 1000;
    r = rm_pipes_init(&p->pipes, event, &kind);
    if (r < 0) {
        free(p);
        return r;
    }
    *ret = p;
    return 0;
}

struct rm_proxy *rm_proxy_free(struct rm_proxy *p)
{
    if (p)
        rm_pipes_free(&p->pipes);
    free(p);
    return NULL;
}
