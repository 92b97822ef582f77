/* http: and https: urls with libcurl. The server is hostile: it may lie about lengths, never end,
 * redirect anywhere. No proxy, cookies, credentials, decompression or other protocol; redirects are
 * followed here, each url checked like the first and of the same scheme. */
#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/address.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/str.h"
#include "localizer/fetch-common.h"
#include "localizer/policy.h"

#define REDIRECTS_MAX 5
#define UNWANTED_MAX (1u << 20)
#define CONNECT_MS 20000L
#define SLOW_BYTES 1024L /* per second … */
#define SLOW_SECONDS 30L /* … during this time, else the transfer is aborted */

struct transfer {
    struct loc_source *source;
    CURL *curl;
    int fd;
    uint64_t bytes;
    uint64_t unwanted; /* discarded bytes of responses other than 200 */
    bool over;         /* more than the request allows */
    int write_error;
};

static void curl_freep(CURL **c)
{
    curl_easy_cleanup(*c);
}

static size_t on_data(char *p, size_t one, size_t n, void *userdata)
{
    struct transfer *t = userdata;
    const struct loc_fetch *q = t->source->request;
    uint64_t limit = q->size >= 0 ? SV_MIN((uint64_t)q->size, q->max_bytes) : q->max_bytes;

    long status = 0;

    (void)one; /* always 1 */
    (void)curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
        t->unwanted += n;
        return t->unwanted > UNWANTED_MAX ? 0 : n;
    }
    if (n > limit - t->bytes) {
        t->over = true;
        return 0;
    }
    t->write_error = sv_write_all(t->fd, p, n);
    if (t->write_error < 0)
        return 0;
    t->bytes += n;
    t->source->progress(t->source->progress_userdata, t->bytes);
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
    SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->source->request->max_bytes);
    SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(CURLOPT_WRITEFUNCTION, on_data);
    SET(CURLOPT_WRITEDATA, t);
#undef SET
    return r;
}

static int transfer_failed(CURLcode code, struct transfer *t, enum loc_fail *ret_reason,
                           struct sv_error *err)
{
    const char *url = t->source->request->url;

    if (t->write_error < 0) {
        *ret_reason = LOC_FAIL_DISK;
        return sv_error_errno(err, t->write_error, "write to the cache");
    }
    if (t->over && t->source->request->size >= 0) {
        *ret_reason = LOC_FAIL_CHANGED;
        return sv_error_set(err, -ESTALE,
                            "Resource %s changed on src filesystem - expected: %lld "
                            "bytes, was: more",
                            url, (long long)t->source->request->size);
    }
    if (t->over || code == CURLE_FILESIZE_EXCEEDED) {
        *ret_reason = LOC_FAIL_LIMIT;
        return sv_error_set(err, -EFBIG, "Resource %s is larger than the limit of %llu bytes", url,
                            (unsigned long long)t->source->request->max_bytes);
    }
    *ret_reason = code == CURLE_OPERATION_TIMEDOUT ? LOC_FAIL_LIMIT : LOC_FAIL_SOURCE;
    return sv_error_set(err, code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EIO,
                        "Resource %s: %s after %llu bytes", url, curl_easy_strerror(code),
                        (unsigned long long)t->bytes);
}

/* The next url of a redirect, checked; `url` is replaced. */
static int redirect(CURL *c, struct loc_source *s, char url[LOC_URL_MAX + 1], struct sv_error *err)
{
    struct loc_url next;
    char *to = NULL;
    int r;

    if (curl_easy_getinfo(c, CURLINFO_REDIRECT_URL, &to) != CURLE_OK || !to)
        return sv_error_set(err, -EINVAL, "Resource %s: redirect without a target",
                            s->request->url);
    r = loc_url_parse(to, &next, err);
    if (r < 0)
        return sv_error_wrap(err, "Resource %s: redirect", s->request->url);
    if (next.scheme != s->url.scheme)
        return sv_error_set(err, -EINVAL, "Resource %s: redirect to another scheme",
                            s->request->url);
    memcpy(url, to, strlen(to) + 1); /* loc_url_parse has checked the length */
    return 0;
}

static int verify(CURL *c, struct transfer *t, struct sv_error *err)
{
    struct loc_source *s = t->source;
    curl_off_t mtime = -1;
    int r;

    /* Hadoop's http file system has no times and reports 0: nothing to compare. */
    if (s->request->timestamp != 0) {
        if (curl_easy_getinfo(c, CURLINFO_FILETIME_T, &mtime) != CURLE_OK || mtime < 0)
            return sv_error_set(err, -ESTALE,
                                "Resource %s changed on src filesystem - the server "
                                "gave no Last-Modified",
                                s->request->url);
        /* The header has whole seconds. */
        r = loc_check_time(s, mtime * 1000 + s->request->timestamp % 1000, err);
        if (r < 0)
            return r;
    }
    return loc_check_size(s, t->bytes, err);
}

static int get(CURL *c, struct transfer *t, enum loc_fail *ret_reason, struct sv_error *err)
{
    struct loc_source *s = t->source;
    int64_t end = sv_now_ms() + s->request->deadline_ms;
    char url[LOC_URL_MAX + 1];

    memcpy(url, s->request->url, sizeof url);
    for (int hops = 0;; hops++) {
        int64_t left = end - sv_now_ms();
        long status = 0;
        CURLcode r;
        int k;

        curl_easy_reset(c);
        r = left > 0 ? set_options(c, t, left) : CURLE_OPERATION_TIMEDOUT;
        if (r == CURLE_OK)
            r = curl_easy_setopt(c, CURLOPT_URL, url);
        if (r == CURLE_OK)
            r = curl_easy_perform(c);
        if (r != CURLE_OK && t->unwanted <= UNWANTED_MAX)
            return transfer_failed(r, t, ret_reason, err);
        (void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
        if (status == 200)
            return 0;
        *ret_reason = LOC_FAIL_SOURCE;
        if (status != 301 && status != 302 && status != 303 && status != 307 && status != 308)
            return sv_error_set(err, status == 404 ? -ENOENT : -EIO,
                                "Resource %s: server answered %ld", s->request->url, status);
        *ret_reason = LOC_FAIL_URL;
        if (hops == REDIRECTS_MAX)
            return sv_error_set(err, -ELOOP, "Resource %s: more than %d redirects", s->request->url,
                                REDIRECTS_MAX);
        k = redirect(c, s, url, err);
        if (k < 0)
            return k;
    }
}

int loc_fetch_http(struct loc_source *s, enum loc_fail *ret_reason, struct sv_error *err)
{
    _cleanup_(curl_freep) CURL *c = NULL;
    struct transfer t = { .source = s, .fd = -1 };
    int r;

    *ret_reason = LOC_FAIL_INTERNAL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(c = curl_easy_init()))
        return sv_error_set(err, -ENOMEM, "http client cannot start");
    t.curl = c;
    *ret_reason = LOC_FAIL_DISK;
    s->fd = t.fd = loc_make_copy(s, err);
    if (s->fd < 0)
        return s->fd;
    r = get(c, &t, ret_reason, err);
    if (r < 0)
        return r;
    *ret_reason = LOC_FAIL_CHANGED;
    r = verify(c, &t, err);
    if (r < 0)
        return r;
    s->size = t.bytes;
    *ret_reason = LOC_FAIL_DISK;
    if (s->name && fchmod(s->fd, loc_mode_file(s->request->visibility == LOC_PUBLIC)) < 0)
        return sv_error_errno(err, -errno, "mode of a file in the cache");
    if (lseek(s->fd, 0, SEEK_SET) < 0)
        return sv_error_errno(err, -errno, "file in the cache");
    return 0;
}
