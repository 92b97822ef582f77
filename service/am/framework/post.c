/* See post.h. */
#include "service/am/framework/post.h"

#include <errno.h>
#include <string.h>

#include "common/buf.h"
#include "common/web/curl-loop.h"

#define CONNECT_MS 10000L
#define HEAD_MAX ((size_t)16 << 10) /* bytes of an answer's headers */

struct svc_post {
    const struct sv_curl *curl;
    struct sv_curl_loop *loop;
    struct curl_slist *headers;
    char *url;
    CURL *easy; /* NULL: none is open */
    char *json;
    struct sv_buf body;
    size_t head_bytes;
    char error[CURL_ERROR_SIZE];
    svc_post_fn fn;
    void *userdata;
};

static void end(struct svc_post *p)
{
    p->curl->easy_cleanup(p->easy);
    p->easy = NULL;
    free(p->json);
    p->json = NULL;
}

static int status_of(struct svc_post *p, CURLcode result)
{
    long code = 0;

    if (result != CURLE_OK)
        return result == CURLE_COULDNT_CONNECT      ? -ECONNREFUSED
               : result == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT
                                                    : -EIO;
    (void)p->curl->easy_getinfo(p->easy, CURLINFO_RESPONSE_CODE, &code); /* 0 else, ignoring */
    return (int)code;
}

static void on_done(CURL *easy, CURLcode result, void *userdata)
{
    struct svc_post *p = userdata;
    int status = status_of(p, result);
    const char *why = *p->error ? p->error : p->curl->easy_strerror(result);
    struct sv_buf body = p->body;

    (void)easy;
    p->body = SV_BUF_INIT(SVC_POST_ANSWER_MAX);
    end(p);
    if (sv_buf_put_u8(&body, 0) < 0)
        p->fn(-ENOMEM, "", 0, "out of memory", p->userdata);
    else
        p->fn(status, (char *)body.data, body.len - 1, status < 0 ? why : "", p->userdata);
    sv_buf_free(&body);
}

static size_t on_data(char *data, size_t size, size_t n, void *userdata)
{
    struct svc_post *p = userdata;

    return sv_buf_put(&p->body, data, size * n) < 0 ? 0 : size * n;
}

static size_t on_header(char *data, size_t size, size_t n, void *userdata)
{
    struct svc_post *p = userdata;

    (void)data;
    p->head_bytes += size * n;
    return p->head_bytes > HEAD_MAX ? 0 : size * n;
}

static bool set_options(struct svc_post *p, int64_t timeout_ms)
{
    const struct sv_curl *c = p->curl;
    bool bad = false;

#define SET(option, value) bad |= c->easy_setopt(p->easy, option, value) != CURLE_OK
    SET(CURLOPT_URL, p->url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    SET(CURLOPT_USERAGENT, "selvedge-service-am");
    SET(CURLOPT_HTTPHEADER, p->headers);
    SET(CURLOPT_POSTFIELDSIZE, (long)strlen(p->json));
    SET(CURLOPT_POSTFIELDS, p->json);
    SET(CURLOPT_WRITEFUNCTION, on_data);
    SET(CURLOPT_WRITEDATA, p);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, p);
    SET(CURLOPT_ERRORBUFFER, p->error);
    SET(CURLOPT_PRIVATE, p);
#undef SET
    return !bad;
}

int svc_post_send(struct svc_post *p, char *json, int64_t timeout_ms)
{
    int r = 0;

    if (p->easy) {
        free(json);
        return -EBUSY;
    }
    p->json = json;
    p->error[0] = '\0';
    p->head_bytes = 0;
    sv_buf_free(&p->body);
    p->easy = p->curl->easy_init();
    if (!p->easy) {
        free(json);
        p->json = NULL;
        return -ENOMEM;
    }
    r = set_options(p, timeout_ms) ? sv_curl_loop_add(p->loop, p->easy) : -EINVAL;
    if (r < 0)
        end(p);
    return r;
}

int svc_post_set_url(struct svc_post *p, const char *url)
{
    char *copy = strdup(url);

    if (!copy)
        return -ENOMEM;
    free(p->url); /* libcurl has its own copy */
    p->url = copy;
    return 0;
}

void svc_post_cancel(struct svc_post *p)
{
    if (!p->easy)
        return;
    sv_curl_loop_remove(p->loop, p->easy);
    end(p);
}

static bool add_header(struct svc_post *p, const char *line)
{
    struct curl_slist *longer = p->curl->slist_append(p->headers, line);

    if (longer)
        p->headers = longer;
    return longer != NULL;
}

int svc_post_new(sd_event *event, const char *url, const char *header, svc_post_fn fn,
                 void *userdata, struct svc_post **ret, struct sv_error *err)
{
    struct svc_post *p = calloc(1, sizeof(*p));
    int r = p ? sv_curl_load(&p->curl, err) : sv_error_errno(err, -ENOMEM, "%s", url);

    if (r == 0) {
        p->fn = fn;
        p->userdata = userdata;
        p->body = SV_BUF_INIT(SVC_POST_ANSWER_MAX);
        p->url = strdup(url);
        /* "Expect:" none: no wait for the server's "100 Continue". */
        r = p->url && add_header(p, "Content-Type: application/json") && add_header(p, "Expect:") &&
                    add_header(p, header)
                ? sv_curl_loop_new(p->curl, event, on_done, &p->loop)
                : -ENOMEM;
        if (r < 0)
            (void)sv_error_errno(err, r, "%s", url);
    }
    if (r < 0) {
        svc_post_free(p);
        return r;
    }
    *ret = p;
    return 0;
}

struct svc_post *svc_post_free(struct svc_post *p)
{
    if (!p)
        return NULL;
    if (p->loop)
        svc_post_cancel(p);
    sv_curl_loop_free(p->loop);
    if (p->curl)
        p->curl->slist_free_all(p->headers);
    sv_buf_free(&p->body);
    free(p->url);
    free(p);
    return NULL;
}
