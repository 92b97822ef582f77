/* See http-get.h. Uses libcurl. */
#include "localizer/http-get.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/address.h"
#include "common/clock.h"

#define REDIRECTS_MAX 5
#define UNWANTED_MAX (1u << 20)
#define CONNECT_MS 20000L
#define VALIDATOR_MAX 512 /* bytes of an ETag or a time */
#define SLOW_SECONDS 30L  /* a transfer below the slowest rate for so long is aborted */

struct transfer {
    struct loc_http_get *g;
    CURL *curl;
    uint64_t unwanted; /* discarded bytes of other responses */
    int sink_error;
    /* A resume: requests the part that begins at g->bytes and must have this ETag or time. */
    bool resuming, mismatch;
    char header[16], validator[VALIDATOR_MAX + 1]; /* "ETag" or "Last-Modified", and its value */
};

static void curl_freep(CURL **c)
{
    curl_easy_cleanup(*c);
}

/* Returns a header of the current response, "" if absent or too long. */
static const char *header_of(CURL *c, const char *name)
{
    struct curl_header *h = NULL;

    if (curl_easy_header(c, name, 0, CURLH_HEADER, -1, &h) != CURLHE_OK)
        return "";
    return strlen(h->value) <= VALIDATOR_MAX ? h->value : "";
}

/* True if the Content-Range is "bytes FROM-…", the rest of the content. */
static bool is_the_rest(struct transfer *t)
{
    char wanted[64];

    (void)snprintf(wanted, sizeof(wanted), "bytes %llu-", (unsigned long long)t->g->bytes);
    return strncasecmp(header_of(t->curl, "Content-Range"), wanted, strlen(wanted)) == 0 &&
           strcmp(header_of(t->curl, t->header), t->validator) == 0;
}

/* Decides whether this response has the content. A server may ignore the range and send everything:
 * the sink then restarts. */
static int check_status(struct transfer *t, bool *ret_wanted)
{
    struct loc_http_get *g = t->g;
    long status = 0;

    (void)curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    *ret_wanted = status == (t->resuming ? 206 : 200);
    if (!t->resuming || g->status == status)
        return 0;
    g->status = status; /* status of the first bytes */
    t->mismatch = status == 206 && !is_the_rest(t);
    if (t->mismatch)
        return -ESTALE;
    if (status != 200)
        return 0;
    t->resuming = false;
    *ret_wanted = true;
    g->bytes = 0;
    return g->restart(g->userdata);
}

static size_t on_data(char *p, size_t one, size_t n, void *userdata)
{
    struct transfer *t = userdata;
    struct loc_http_get *g = t->g;
    bool wanted;

    (void)one; /* always 1 */
    t->sink_error = check_status(t, &wanted);
    if (t->sink_error < 0)
        return 0;
    if (!wanted) {
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
        sv_address_is_metadata(&a->addr))
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
    SET(CURLOPT_LOW_SPEED_LIMIT, (long)t->g->source->request->limits.slowest_rate);
    SET(CURLOPT_LOW_SPEED_TIME, SLOW_SECONDS);
    SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)t->g->source->request->limits.bytes);
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
            (unsigned long long)(g->over ? g->limit : g->source->request->limits.bytes));
    }
    *ret_reason = code == CURLE_OPERATION_TIMEDOUT ? LOC_FAIL_LIMIT : LOC_FAIL_SOURCE;
    return sv_error_set(err, code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EIO,
                        "Resource %s: %s after %llu bytes", g->source->request->url,
                        curl_easy_strerror(code), (unsigned long long)g->bytes);
}

/* Checks and returns the target of a redirect, replacing `url`. */
static int redirect(CURL *c, const struct loc_http_get *g, char url[LOC_HTTP_URL_MAX + 1],
                    struct sv_error *err)
{
    const char *name = g->source->request->url;
    struct fs_url next;
    char *to = NULL;
    int r;

    if (curl_easy_getinfo(c, CURLINFO_REDIRECT_URL, &to) != CURLE_OK || !to)
        return sv_error_set(err, -EINVAL, "Resource %s: redirect without a target", name);
    r = fs_url_parse(to, &next, err);
    if (r < 0)
        return sv_error_wrap(err, "Resource %s: redirect", name);
    if (next.scheme != (g->secure ? FS_SCHEME_HTTPS : FS_SCHEME_HTTP))
        return sv_error_set(err, -EINVAL, "Resource %s: redirect to another scheme", name);
    memcpy(url, to, strlen(to) + 1); /* fs_url_parse has checked the length */
    return 0;
}

static CURLcode add_header(struct curl_slist **headers, const char *name, const char *value)
{
    char text[LOC_SESSION_TOKEN_MAX + 64];
    struct curl_slist *more;

    (void)snprintf(text, sizeof(text), "%s: %s", name, value);
    more = curl_slist_append(*headers, text);
    if (!more)
        return CURLE_OUT_OF_MEMORY;
    *headers = more;
    return CURLE_OK;
}

/* Signs a GET; the url is "scheme://host/path", without a query. */
static CURLcode sign(const struct loc_http_get *g, const char *range, struct curl_slist **headers)
{
    char host[300] = "";
    const char *at = strstr(g->url, "://"), *path = at ? strchr(at + 3, '/') : NULL;
    const struct fs_sigv4_request q = {
        .host = host, .path = path, .range = range, .time_s = sv_wall_ms() / 1000
    };
    struct fs_sigv4 s;
    CURLcode r;

    if (!path || (size_t)(path - at - 3) >= sizeof(host))
        return CURLE_URL_MALFORMAT;
    memcpy(host, at + 3, (size_t)(path - at - 3));
    if (fs_sigv4_sign(g->sign, &q, &s) < 0)
        return CURLE_FAILED_INIT;
    r = add_header(headers, "Host", host);
    if (r == CURLE_OK)
        r = add_header(headers, "x-amz-date", s.date);
    if (r == CURLE_OK)
        r = add_header(headers, "x-amz-content-sha256", FS_SIGV4_EMPTY);
    if (r == CURLE_OK && g->sign->session_token[0])
        r = add_header(headers, "x-amz-security-token", g->sign->session_token);
    return r == CURLE_OK ? add_header(headers, "Authorization", s.authorization) : r;
}

/* Builds the headers of range and signature; the caller frees the list. */
static CURLcode set_headers(CURL *c, const struct transfer *t, struct curl_slist **headers)
{
    char range[40];
    CURLcode r = CURLE_OK;

    (void)snprintf(range, sizeof(range), "bytes=%llu-", (unsigned long long)t->g->bytes);
    if (t->resuming)
        r = curl_easy_setopt(c, CURLOPT_RANGE, range + strlen("bytes="));
    if (t->resuming && r == CURLE_OK)
        r = add_header(headers, "If-Range", t->validator);
    if (t->g->sign && r == CURLE_OK)
        r = sign(t->g, t->resuming ? range : NULL, headers);
    return *headers && r == CURLE_OK ? curl_easy_setopt(c, CURLOPT_HTTPHEADER, *headers) : r;
}

static void slist_freep(struct curl_slist **l)
{
    curl_slist_free_all(*l);
}

static CURLcode run(CURL *c, struct transfer *t, const char *url, int64_t end_ms)
{
    _cleanup_(slist_freep) struct curl_slist *headers = NULL;
    int64_t left = end_ms - sv_now_ms();
    CURLcode r;

    curl_easy_reset(c);
    t->g->status = 0;
    r = left > 0 ? set_options(c, t, left) : CURLE_OPERATION_TIMEDOUT;
    if (r == CURLE_OK)
        r = set_headers(c, t, &headers);
    if (r == CURLE_OK)
        r = curl_easy_setopt(c, CURLOPT_URL, url);
    if (r == CURLE_OK)
        r = curl_easy_perform(c);
    (void)curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &t->g->status);
    return t->unwanted > UNWANTED_MAX ? CURLE_OK : r; /* an error response anyway */
}

/* Performs one GET with its redirects, from the start or from g->bytes. *ret_code: result of a
 * broken transfer. */
static int follow(CURL *c, struct transfer *t, int64_t end_ms, CURLcode *ret_code,
                  enum loc_fail *ret_reason, struct sv_error *err)
{
    struct loc_http_get *g = t->g;
    const char *name = g->source->request->url;
    char url[LOC_HTTP_URL_MAX + 1];

    memcpy(url, g->url, strlen(g->url) + 1);
    for (int hops = 0;; hops++) {
        int r;

        *ret_code = run(c, t, url, end_ms);
        if (*ret_code != CURLE_OK)
            return transfer_failed(*ret_code, t, ret_reason, err);
        if (g->status == (t->resuming ? 206 : 200))
            return 0;
        *ret_reason = LOC_FAIL_SOURCE;
        if (g->one_host || (g->status != 301 && g->status != 302 && g->status != 303 &&
                            g->status != 307 && g->status != 308))
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
}

/* True if the connection was lost in the body of a successful response. */
static bool is_broken(const struct transfer *t, CURLcode code)
{
    return t->g->restart && t->g->status == 200 && t->sink_error == 0 && !t->g->over &&
           (code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING);
}

/* Selects a strong ETag, else the time. */
static bool find_validator(struct transfer *t)
{
    const char *names[] = { "ETag", "Last-Modified" };

    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        const char *value = header_of(t->curl, names[i]);

        if (!value[0] || strncmp(value, "W/", 2) == 0)
            continue;
        (void)snprintf(t->header, sizeof(t->header), "%s", names[i]);
        (void)snprintf(t->validator, sizeof(t->validator), "%s", value);
        return true;
    }
    return false;
}

/* Retries once: requests the rest, or everything if the server does not support it. */
static int try_again(CURL *c, struct transfer *t, int64_t end_ms, enum loc_fail *ret_reason,
                     struct sv_error *err)
{
    CURLcode code;
    int r;

    if (t->g->bytes > 0 && find_validator(t)) {
        t->resuming = true;
        r = follow(c, t, end_ms, &code, ret_reason, err);
        if (r == 0 || !(t->mismatch || t->g->status == 416))
            return r;
    }
    t->resuming = false;
    t->sink_error = 0;
    t->g->bytes = 0;
    r = t->g->restart(t->g->userdata);
    if (r < 0) {
        *ret_reason = LOC_FAIL_DISK;
        return sv_error_errno(err, r, "write to the cache");
    }
    return follow(c, t, end_ms, &code, ret_reason, err);
}

int loc_http_get(struct loc_http_get *g, enum loc_fail *ret_reason, struct sv_error *err)
{
    int64_t end = sv_now_ms() + g->source->request->deadline_ms;
    _cleanup_(curl_freep) CURL *c = NULL;
    struct transfer t = { .g = g };
    curl_off_t mtime = -1;
    CURLcode code;
    int r;

    *ret_reason = LOC_FAIL_INTERNAL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(c = curl_easy_init()))
        return sv_error_set(err, -ENOMEM, "http client cannot start");
    t.curl = c;
    r = follow(c, &t, end, &code, ret_reason, err);
    if (r < 0 && is_broken(&t, code))
        r = try_again(c, &t, end, ret_reason, err);
    if (r < 0)
        return r;
    g->mtime = curl_easy_getinfo(c, CURLINFO_FILETIME_T, &mtime) == CURLE_OK ? mtime : -1;
    return 0;
}
