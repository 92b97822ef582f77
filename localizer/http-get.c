/* See http-get.h. With libcurl. */
#include "localizer/http-get.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/address.h"
#include "common/clock.h"

#define REDIRECTS_MAX 5
#define UNWANTED_MAX (1u << 20)
#define CONNECT_MS 20000L
#define SLOW_BYTES 1024L /* per second … */
#define SLOW_SECONDS 30L /* … during this time, else the transfer is aborted */

struct transfer {
    struct loc_http_get *g;
    CURL *curl;
    uint64_t unwanted; /* discarded bytes of responses other than 200 */
    int sink_error;
};

static void curl_freep(CURL **c)
{
    curl_easy_cleanup(*c);
}

static size_t on_data(char *p, size_t one, size_t n, void *userdata)
{
    struct transfer *t = userdata;
    struct loc_http_get *g = t->g;
    long status = 0;

    (void)one; /* always 1 */
    (void)curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        t->unwanted += n;
        return t->unwanted > UNWANTED_MAX ? 0 : n;
    }
    if (n > g->limit - g->bytes) {
        g->over = true;
        return 0;
    }
    t->sink_error = g->sink(g->userdata, p, n);
    if (t->sink_error < 0)
        return 0;
    g->bytes += n;
    return n;
}

static curl_socket_t on_socket(void *userdata, curlsocktype purpose, struct curl_sockaddr *a)
{
    int fd;

    (void)userdata;
    if (purpose != CURLSOCKTYPE_IPCXN || (a->family != AF_INET && a->family != AF_INET6) ||
        sv_address_is_link_local(&a->addr))
        return CURL_SOCKET_BAD;
    fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

static CURLcode set_options(CURL *c, struct transfer *t, int64_t left_ms)
{
    CURLcode r = CURLE_OK;

#define SET(option, value) (r = r == CURLE_OK ? curl_easy_setopt(c, option, value) : r)
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    SET(CURLOPT_HTTP_CONTENT_DECODING, 0L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_FILETIME, 1L);
    SET(CURLOPT_USERAGENT, "selvedge-container-localizer");
    SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    SET(CURLOPT_TIMEOUT_MS, (long)left_ms);
    SET(CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
    SET(CURLOPT_LOW_SPEED_TIME, SLOW_SECONDS);
    SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->g->source->request->max_bytes);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_WRITEFUNCTION, on_data);
    SET(CURLOPT_WRITEDATA, t);
#undef SET
    return r;
}

static int transfer_failed(CURLcode code, struct transfer *t, enum loc_fail *ret_reason,
                           struct sv_error *err)
{
    struct loc_http_get *g = t->g;

    if (t->sink_error < 0) {
        *ret_reason = LOC_FAIL_DISK;
        return sv_error_errno(err, t->sink_error, "write to the cache");
    }
    if (g->over || code == CURLE_FILESIZE_EXCEEDED) {
        *ret_reason = LOC_FAIL_LIMIT;
        return sv_error_set(
            err, -EFBIG, "Resource %s is larger than the limit of %llu bytes",
            g->source->request->url,
            (unsigned long long)(g->over ? g->limit : g->source->request->max_bytes));
    }
    *ret_reason = code == CURLE_OPERATION_TIMEDOUT ? LOC_FAIL_LIMIT : LOC_FAIL_SOURCE;
    return sv_error_set(err, code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EIO,
                        "Resource %s: %s after %llu bytes", g->source->request->url,
                        curl_easy_strerror(code), (unsigned long long)g->bytes);
}

/* The next url of a redirect, checked; `url` is replaced. */
static int redirect(CURL *c, const struct loc_http_get *g, char url[LOC_HTTP_URL_MAX + 1],
                    struct sv_error *err)
{
    const char *name = g->source->request->url;
    struct loc_url next;
    char *to = NULL;
    int r;

    if (curl_easy_getinfo(c, CURLINFO_REDIRECT_URL, &to) != CURLE_OK || !to)
        return sv_error_set(err, -EINVAL, "Resource %s: redirect without a target", name);
    r = loc_url_parse(to, &next, err);
    if (r < 0)
        return sv_error_wrap(err, "Resource %s: redirect", name);
    if (next.scheme != (g->secure ? LOC_SCHEME_HTTPS : LOC_SCHEME_HTTP))
        return sv_error_set(err, -EINVAL, "Resource %s: redirect to another scheme", name);
    memcpy(url, to, strlen(to) + 1); /* loc_url_parse has checked the length */
    return 0;
}

static int run(CURL *c, struct transfer *t, const char *url, enum loc_fail *ret_reason,
               int64_t end_ms, struct sv_error *err)
{
    int64_t left = end_ms - sv_now_ms();
    CURLcode r;

    curl_easy_reset(c);
    r = left > 0 ? set_options(c, t, left) : CURLE_OPERATION_TIMEDOUT;
    if (r == CURLE_OK)
        r = curl_easy_setopt(c, CURLOPT_URL, url);
    if (r == CURLE_OK)
        r = curl_easy_perform(c);
    return r != CURLE_OK && t->unwanted <= UNWANTED_MAX ? transfer_failed(r, t, ret_reason, err)
                                                        : 0;
}

int loc_http_get(struct loc_http_get *g, enum loc_fail *ret_reason, struct sv_error *err)
{
    int64_t end = sv_now_ms() + g->source->request->deadline_ms;
    const char *name = g->source->request->url;
    _cleanup_(curl_freep) CURL *c = NULL;
    struct transfer t = { .g = g };
    char url[LOC_HTTP_URL_MAX + 1];
    curl_off_t mtime = -1;

    *ret_reason = LOC_FAIL_INTERNAL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(c = curl_easy_init()))
        return sv_error_set(err, -ENOMEM, "http client cannot start");
    t.curl = c;
    memcpy(url, g->url, strlen(g->url) + 1);
    for (int hops = 0;; hops++) {
        int r = run(c, &t, url, ret_reason, end, err);

        if (r < 0)
            return r;
        g->status = 0;
        (void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &g->status);
        if (g->status == 200)
            break;
        *ret_reason = LOC_FAIL_SOURCE;
        if (g->status != 301 && g->status != 302 && g->status != 303 && g->status != 307 &&
            g->status != 308)
            return sv_error_set(err, g->status == 404 ? -ENOENT : -EIO,
                                "Resource %s: server answered %ld", name, g->status);
        *ret_reason = LOC_FAIL_URL;
        if (hops == REDIRECTS_MAX)
            return sv_error_set(err, -ELOOP, "Resource %s: more than %d redirects", name,
                                REDIRECTS_MAX);
        r = redirect(c, g, url, err);
        if (r < 0)
            return r;
    }
    g->mtime = curl_easy_getinfo(c, CURLINFO_FILETIME_T, &mtime) == CURLE_OK ? mtime : -1;
    return 0;
}
