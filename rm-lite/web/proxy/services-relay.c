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
#include "rm-lite/web/proxy/pipe.h"

#define AT_ONCE 64
#define TOTAL_MS 660000L /* the longest selvedge.services.request-timeout, and its answer */
#define CONNECT_MS 5000L
#define BYTES_MAX ((uint64_t)64 << 20) /* of one answer; selvedge-services has half of it */
#define USER_HEADER "Selvedge-User"
#define JSON "application/json;charset=utf-8"

struct relayed {
    struct rm_pipe pipe; /* the first member: one is the other */
    const char *socket;
};

struct rm_relay {
    struct rm_pipes pipes;
    const char *socket;
};

static void kind_freed(struct rm_pipe *p)
{
    free(p);
}

/* ---- The answer ---- */

/* Its headers are ours: a status and a type are all that selvedge-services decides. */
static int begin(struct relayed *f)
{
    const char *type = NULL;
    long status = 0;
    curl_off_t length = -1;
    int r;

    (void)curl_easy_getinfo(f->pipe.easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(f->pipe.easy, CURLINFO_CONTENT_TYPE, &type);
    (void)curl_easy_getinfo(f->pipe.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (status < 200 || status > 599)
        return -EBADMSG;
    r = sv_http_stream_own(f->pipe.stream, type && strncasecmp(type, "text/plain", 10) == 0
                                               ? "text/plain; charset=utf-8"
                                               : JSON);
    if (r >= 0)
        sv_http_stream_begin(f->pipe.stream, (unsigned)status, (int64_t)length);
    return r;
}

static size_t on_data(char *data, size_t size, size_t n, void *userdata)
{
    struct relayed *f = userdata;

    if (!sv_http_stream_begun(f->pipe.stream) && begin(f) < 0)
        return 0;
    return rm_pipe_data(&f->pipe, data, size * n);
}

static void refuse_stream(struct relayed *f, CURLcode result)
{
    bool late = result == CURLE_OPERATION_TIMEDOUT;

    sv_log_debug("services: %s: %s", f->socket, curl_easy_strerror(result));
    sv_http_stream_text(f->pipe.stream, late ? 504 : 503, JSON,
                        late ? "{\"diagnostics\":\"the services API does not answer\"}"
                             : "{\"diagnostics\":\"the services API cannot be reached: is "
                               "selvedge-services running on the ResourceManager's machine?\"}");
}

static void kind_done(struct rm_pipe *p, CURLcode result)
{
    struct relayed *f = (struct relayed *)p;

    if (result == CURLE_OK && !sv_http_stream_begun(p->stream) && begin(f) < 0) /* no body */
        result = CURLE_RECV_ERROR;
    if (sv_http_stream_begun(p->stream))
        sv_http_stream_end(p->stream, result == CURLE_OK);
    else
        refuse_stream(f, result);
}

static const struct rm_pipe_kind kind = { .bytes_max = BYTES_MAX,
                                          .done = kind_done,
                                          .freed = kind_freed };

/* ---- The request ---- */

static int request_headers(struct relayed *f, const char *user, const struct sv_http_request *http)
{
    const char *type = sv_http_header(http, "Content-Type");
    int r = rm_pipe_header(&f->pipe, USER_HEADER, user);

    if (r >= 0)
        r = rm_pipe_header(&f->pipe, "Expect", "");
    /* none is sent where the client has sent none */
    return r < 0 ? r : rm_pipe_header(&f->pipe, "Content-Type", type ? type : "");
}

static int set_options(struct relayed *f, const struct sv_http_request *http, const char *url)
{
    CURL *e = f->pipe.easy;
    CURLcode c = CURLE_OK;

#define SET(option, value) (c = c == CURLE_OK ? curl_easy_setopt(e, option, value) : c)
    SET(CURLOPT_URL, url);
    SET(CURLOPT_UNIX_SOCKET_PATH, f->socket);
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
    SET(CURLOPT_HTTPHEADER, f->pipe.headers);
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
    f->socket = s->socket;
    if (rm_pipe_init(&f->pipe, &s->pipes) >= 0 &&
        sv_asprintf(&url, "http://localhost%s", http->uri) >= 0 &&
        request_headers(f, user, http) >= 0 && set_options(f, http, url) >= 0)
        return f;
    rm_pipe_free(&f->pipe);
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
    struct relayed *f;
    struct rm_pipe *p;
    int all;

    if (!*user)
        return refuse(ret, 401, "who calls is not known: authentication is required");
    if (!sv_has_prefix(http->uri, RM_RELAY_PREFIX)) /* an escaped letter of the prefix */
        return refuse(ret, 400, "the path is malformed");
    DL_COUNT(s->pipes.list, p, all);
    if (all >= AT_ONCE)
        return refuse(ret, 503, "too many requests to the services API at once");
    f = relayed_new(s, user, http);
    return f ? rm_pipe_start(&f->pipe, http) : -ENOMEM;
}

int rm_relay_new(struct sd_event *event, const char *socket, struct rm_relay **ret)
{
    struct rm_relay *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return -ENOMEM;
    s->socket = socket;
    r = rm_pipes_init(&s->pipes, event, &kind);
    if (r < 0) {
        free(s);
        return r;
    }
    *ret = s;
    return 0;
}

struct rm_relay *rm_relay_free(struct rm_relay *s)
{
    if (s)
        rm_pipes_free(&s->pipes);
    free(s);
    return NULL;
}
