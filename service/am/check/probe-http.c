/* See probe-http.h. */
#include "service/am/check/probe-http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <utlist.h>

#include "common/web/curl-loop.h"
#include "fs/policy.h"

#define HEAD_MAX ((size_t)16 << 10) /* bytes of an answer's headers */

struct svc_http_probe {
    struct svc_http_probes *owner;
    CURL *easy;
    struct curl_slist *connect_to;
    size_t head_bytes;
    bool refused; /* the address */
    svc_http_done done;
    void *userdata;
    struct svc_http_probe *prev, *next;
};

struct svc_http_probes {
    const struct sv_curl *curl;
    struct sv_curl_loop *loop;
    struct svc_http_probe *list;
};

struct svc_http_probe *svc_http_probe_free(struct svc_http_probe *q)
{
    struct svc_http_probes *p;

    if (!q)
        return NULL;
    p = q->owner;
    DL_DELETE(p->list, q);
    sv_curl_loop_remove(p->loop, q->easy); /* none, once it has ended */
    p->curl->easy_cleanup(q->easy);
    p->curl->slist_free_all(q->connect_to);
    free(q);
    return NULL;
}

static int status_of(const struct svc_http_probe *q, CURLcode result)
{
    long code = 0;

    if (q->refused)
        return -EPERM;
    (void)q->owner->curl->easy_getinfo(q->easy, CURLINFO_RESPONSE_CODE, &code); /* 0, ignoring */
    if (code > 0 && (result == CURLE_OK || result == CURLE_WRITE_ERROR))
        return (int)code;
    if (result == CURLE_COULDNT_CONNECT)
        return -ECONNREFUSED;
    return result == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EIO;
}

static void on_done(CURL *easy, CURLcode result, void *userdata)
{
    struct svc_http_probe *q = userdata;
    svc_http_done done = q->done;
    void *mine = q->userdata;
    int status = status_of(q, result);

    (void)easy;
    svc_http_probe_free(q);
    done(status, mine);
}

/* The status is known: the body is of no interest. */
static size_t on_body(char *data, size_t size, size_t n, void *userdata)
{
    (void)data;
    (void)size;
    (void)n;
    (void)userdata;
    return 0;
}

static size_t on_header(char *data, size_t size, size_t n, void *userdata)
{
    struct svc_http_probe *q = userdata;

    (void)data;
    q->head_bytes += size * n;
    return q->head_bytes > HEAD_MAX ? 0 : size * n;
}

static curl_socket_t on_socket(void *userdata, curlsocktype purpose, struct curl_sockaddr *a)
{
    struct svc_http_probe *q = userdata;

    if (purpose != CURLSOCKTYPE_IPCXN || !fs_policy_address(&fs_policy_jobs, &a->addr)) {
        q->refused = true;
        return CURL_SOCKET_BAD;
    }
    return socket(a->family, a->socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, a->protocol);
}

static int set_options(struct svc_http_probe *q, const struct svc_probe_target *target,
                       int64_t timeout_ms)
{
    const struct sv_curl *c = q->owner->curl;
    int bad = 0;

#define SET(option, value) bad |= c->easy_setopt(q->easy, option, value) != CURLE_OK
    SET(CURLOPT_URL, target->url);
    SET(CURLOPT_CONNECT_TO, q->connect_to);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    SET(CURLOPT_FRESH_CONNECT, 1L);
    SET(CURLOPT_FORBID_REUSE, 1L);
    SET(CURLOPT_BUFFERSIZE, 1024L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_USERAGENT, "selvedge-service-am");
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, q);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_OPENSOCKETDATA, q);
    SET(CURLOPT_PRIVATE, q);
#undef SET
    return bad ? -EINVAL : 0;
}

int svc_http_probe_start(struct svc_http_probes *p, const struct svc_probe_target *target,
                         int64_t timeout_ms, svc_http_done done, void *userdata,
                         struct svc_http_probe **ret)
{
    struct svc_http_probe *q = calloc(1, sizeof(*q));
    char to[SVC_PROBE_HOST_MAX + 16];
    int r;

    if (!q)
        return -ENOMEM;
    q->owner = p;
    q->done = done;
    q->userdata = userdata;
    q->easy = p->curl->easy_init();
    if (!q->easy) {
        free(q);
        return -ENOMEM;
    }
    DL_APPEND(p->list, q);
    (void)snprintf(to, sizeof(to), strchr(target->address, ':') ? "::[%s]:%u" : "::%s:%u",
                   target->address, target->port);
    q->connect_to = p->curl->slist_append(NULL, to);
    r = q->connect_to ? set_options(q, target, timeout_ms) : -ENOMEM;
    if (r == 0)
        r = sv_curl_loop_add(p->loop, q->easy);
    if (r < 0) {
        svc_http_probe_free(q);
        return r;
    }
    *ret = q;
    return 0;
}

int svc_http_probes_new(sd_event *event, struct svc_http_probes **ret, struct sv_error *err)
{
    struct svc_http_probes *p = calloc(1, sizeof(*p));
    int r = p ? sv_curl_load(&p->curl, err) : sv_error_errno(err, -ENOMEM, "readiness checks");

    if (r == 0) {
        r = sv_curl_loop_new(p->curl, event, on_done, &p->loop);
        if (r < 0)
            (void)sv_error_errno(err, r, "readiness checks");
    }
    if (r < 0) {
        free(p);
        return r;
    }
    *ret = p;
    return 0;
}

struct svc_http_probes *svc_http_probes_free(struct svc_http_probes *p)
{
    struct svc_http_probe *q, *next;

    if (!p)
        return NULL;
    DL_FOREACH_SAFE (p->list, q, next)
        svc_http_probe_free(q);
    sv_curl_loop_free(p->loop);
    free(p);
    return NULL;
}
