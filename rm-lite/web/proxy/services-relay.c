/* See services-relay.h. */
#include "rm-lite/web/proxy/services-relay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "common/log.h"
#include "common/str.h"
#include "common/web/curl-loop.h"
#include "common/web/http-stream.h"

#define AT_ONCE 64
#define TOTAL_MS 660000L /* the longest selvedge.services.request-timeout, and its answer */
#define CONNECT_MS 5000L
#define BYTES_MAX ((uint64_t)64 << 20) /* of one answer; selvedge-services has half of it */
#define USER_HEADER "Selvedge-User: "
#define JSON "application/json;charset=utf-8"

struct relayed {
    struct rm_relay *all;
    struct sv_http_stream *stream;
    CURL *easy;
    struct curl_slist *headers;
    bool paused;
    uint64_t bytes;
    struct relayed *prev, *next;
};

struct rm_relay {
    struct sv_curl_loop *curl;
    const char *socket;
    struct relayed *list;
};

static void relayed_free(struct relayed *f)
{
    DL_DELETE(f->all->list, f);
    if (f->easy)
        curl_easy_cleanup(f->easy);
    curl_slist_free_all(f->headers);
    free(f);
}

/* ---- The answer ---- */

/* Its headers are ours: a status and a type are all that selvedge-services decides. */
static int begin(struct relayed *f)
{
    const char *type = NULL;
    long status = 0;
    curl_off_t length = -1;
    int r;

    (void)curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(f->easy, CURLINFO_CONTENT_TYPE, &type);
    (void)curl_easy_getinfo(f->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (status < 200 || status > 599)
        return -EBADMSG;
    r = sv_http_stream_own(f->stream, type && strncasecmp(type, "text/plain", 10) == 0
                                          ? "text/plain; charset=utf-8"
                                          : JSON);
    if (r >= 0)
        sv_http_stream_begin(f->stream, (unsigned)status, (int64_t)length);
    return r;
}

static size_t on_data(char *data, size_t size, size_t n, void *userdata)
{
    struct relayed *f = userdata;
    size_t len = size * n;
    int r = sv_http_stream_begun(f->stream) ? 0 : begin(f);

    if (r < 0 || f->bytes + len > BYTES_MAX)
        return 0;
    r = sv_http_stream_put(f->stream, data, len);
    if (r == -EAGAIN) {
        f->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    f->bytes += len;
    return r < 0 ? 0 : len;
}

static void on_drained(void *userdata)
{
    struct relayed *f = userdata;

    if (!f->paused)
        return;
    f->paused = false;
    (void)curl_easy_pause(f->easy, CURLPAUSE_CONT); /* times out, ignoring */
}

/* selvedge-services ends the request that it has begun. */
static void on_gone(void *userdata)
{
    struct relayed *f = userdata;

    f->stream = NULL;
    sv_curl_loop_remove(f->all->curl, f->easy);
    relayed_free(f);
}

static void refuse_stream(struct relayed *f, CURLcode result)
{
    bool late = result == CURLE_OPERATION_TIMEDOUT;

    sv_log_debug("services: %s: %s", f->all->socket, curl_easy_strerror(result));
    sv_http_stream_text(f->stream, late ? 504 : 503, JSON,
                        late ? "{\"diagnostics\":\"the services API does not answer\"}"
                             : "{\"diagnostics\":\"the services API cannot be reached: is "
                               "selvedge-services running on the ResourceManager's machine?\"}");
}

static void on_done(CURL *easy, CURLcode result, void *userdata)
{
    struct relayed *f = userdata;

    (void)easy;
    if (result == CURLE_OK && !sv_http_stream_begun(f->stream) && begin(f) < 0) /* no body */
        result = CURLE_RECV_ERROR;
    if (sv_http_stream_begun(f->stream))
        sv_http_stream_end(f->stream, result == CURLE_OK);
    else
        refuse_stream(f, result);
    relayed_free(f);
}

/* ---- The request ---- */

static int add_header(struct relayed *f, const char *name, const char *value)
{
    _cleanup_free_ char *line = NULL;
    struct curl_slist *more;

    if (strpbrk(value, "\r\n"))
        return -EINVAL;
    if (sv_asprintf(&line, "%s%s", name, value) < 0)
        return -ENOMEM;
    more = curl_slist_append(f->headers, line);
    if (!more)
        return -ENOMEM;
    f->headers = more;
    return 0;
}

static int request_headers(struct relayed *f, const char *user, const struct sv_http_request *http)
{
    const char *type = sv_http_header(http, "Content-Type");
    int r = add_header(f, USER_HEADER, user);

    if (r >= 0)
        r = add_header(f, "Expect:", "");
    /* libcurl's own syntax: none is sent where the client has sent none */
    return r < 0 ? r : add_header(f, type ? "Content-Type: " : "Content-Type:", type ? type : "");
}

static int set_options(struct relayed *f, const struct sv_http_request *http, const char *url)
{
    CURL *e = f->easy;
    CURLcode c = CURLE_OK;

#define SET(option, value) (c = c == CURLE_OK ? curl_easy_setopt(e, option, value) : c)
    SET(CURLOPT_URL, url);
    SET(CURLOPT_UNIX_SOCKET_PATH, f->all->socket);
    SET(CURLOPT_PRIVATE, f);
    SET(CURLOPT_PROTOCOLS_STR, "http");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_PATH_AS_IS, 1L);
    SET(CURLOPT_PROXY, ""); /* not the environment's */
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_FORBID_REUSE, 1L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_TIMEOUT_MS, TOTAL_MS);
    SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    SET(CURLOPT_WRITEFUNCTION, on_data);
    SET(CURLOPT_WRITEDATA, f);
    SET(CURLOPT_HTTPHEADER, f->headers);
    if (strcmp(http->method, "PUT") == 0 || strcmp(http->method, "POST") == 0) {
        SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)http->body_len);
        SET(CURLOPT_COPYPOSTFIELDS, http->body ? http->body : "");
    }
    if (strcmp(http->method, "HEAD") == 0)
        SET(CURLOPT_NOBODY, 1L);
    else
        SET(CURLOPT_CUSTOMREQUEST, http->method);
#undef SET
    return c == CURLE_OK ? 0 : -ENOMEM;
}

static int refuse(struct sv_http_response *ret, unsigned status, const char *why)
{
    ret->status = status;
    ret->content_type = JSON;
    if (sv_asprintf(&ret->body, "{\"diagnostics\":\"%s\"}", why) < 0)
        return -ENOMEM;
    ret->body_len = strlen(ret->body);
    return 0;
}

static struct relayed *relayed_new(struct rm_relay *s, const char *user,
                                   const struct sv_http_request *http)
{
    struct relayed *f = calloc(1, sizeof(*f));
    _cleanup_free_ char *url = NULL;

    if (!f)
        return NULL;
    f->all = s;
    DL_APPEND(s->list, f);
    f->easy = curl_easy_init();
    if (f->easy && sv_asprintf(&url, "http://localhost%s", http->uri) >= 0 &&
        request_headers(f, user, http) >= 0 && set_options(f, http, url) >= 0)
        return f;
    relayed_free(f);
    return NULL;
}

bool rm_relay_takes(const struct sv_http_request *http)
{
    size_t n = strlen(RM_RELAY_PREFIX);

    return sv_has_prefix(http->path, RM_RELAY_PREFIX) && strchr("/", http->path[n]);
}

int rm_relay_fetch(struct rm_relay *s, const char *user, const struct sv_http_request *http,
                   struct sv_http_response *ret)
{
    static const struct sv_http_stream_events events = { on_drained, on_gone };
    struct relayed *f;
    int all;

    if (!*user)
        return refuse(ret, 401, "who calls is not known: authentication is required");
    if (!sv_has_prefix(http->uri, RM_RELAY_PREFIX)) /* an escaped letter of the prefix */
        return refuse(ret, 400, "the path is malformed");
    DL_COUNT(s->list, f, all);
    if (all >= AT_ONCE)
        return refuse(ret, 503, "too many requests to the services API at once");
    f = relayed_new(s, user, http);
    if (!f)
        return -ENOMEM;
    f->stream = sv_http_stream_new(http, &events, f);
    if (!f->stream) {
        relayed_free(f);
        return -ENOMEM;
    }
    if (sv_curl_loop_add(s->curl, f->easy) < 0) {
        refuse_stream(f, CURLE_OUT_OF_MEMORY);
        relayed_free(f);
    }
    return SV_HTTP_LATER;
}

int rm_relay_new(struct sd_event *event, const char *socket, struct rm_relay **ret)
{
    struct rm_relay *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return -ENOMEM;
    s->socket = socket;
    r = sv_curl_loop_new(&sv_curl_linked, event, on_done, &s->curl);
    if (r < 0) {
        free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct rm_relay *rm_relay_free(struct rm_relay *s)
{
    struct relayed *f, *tmp;

    if (!s)
        return NULL;
    DL_FOREACH_SAFE (s->list, f, tmp) {
        sv_curl_loop_remove(s->curl, f->easy);
        relayed_free(f);
    }
    s->curl = sv_curl_loop_free(s->curl);
    free(s);
    return NULL;
}
