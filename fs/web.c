/* See web.h. */
#include "fs/web.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "common/clock.h"

#define CONNECT_MS 20000u
#define SLOW_SECONDS 30L /* a transfer below the slowest rate for so long is aborted */

/* ---- The client ---- */

int fs_web_open(struct fs_web *w, const struct fs_options *o, bool secure, struct sv_error *err)
{
    uint32_t ms = o->limits.io_timeout_ms;

    *w = (struct fs_web){ .curl = o->curl,
                          .policy = o->policy,
                          .program = o->program,
                          .secure = secure,
                          .connect_ms = ms ? SV_MIN(ms, CONNECT_MS) : CONNECT_MS,
                          .slowest_rate = o->limits.slowest_rate };
    if (!w->curl || w->curl->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return sv_error_set(err, -ELIBACC, "HTTP needs libcurl, which does not start");
    w->easy = w->curl->easy_init();
    w->answer = malloc(FS_WEB_ANSWER_MAX + 1);
    return w->easy && w->answer ? 0 : sv_error_errno(err, -ENOMEM, "HTTP");
}

void fs_web_close(struct fs_web *w)
{
    if (w->easy)
        w->curl->easy_cleanup(w->easy);
    free(w->answer);
}

static curl_socket_t on_socket(void *userdata, curlsocktype purpose, struct curl_sockaddr *a)
{
    const struct fs_web *w = userdata;
    int fd;

    if (purpose != CURLSOCKTYPE_IPCXN || !fs_policy_address(w->policy, &a->addr))
        return CURL_SOCKET_BAD;
    fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    return fd < 0 ? CURL_SOCKET_BAD : fd;
}

#define SET(c, option, value) (r = r == CURLE_OK ? w->curl->easy_setopt(c, option, value) : r)

CURLcode fs_web_setup(const struct fs_web *w, CURL *c, const char *url, char why[CURL_ERROR_SIZE])
{
    CURLcode r = CURLE_OK;

    w->curl->easy_reset(c);
    *why = '\0';
    SET(c, CURLOPT_ERRORBUFFER, why);
    SET(c, CURLOPT_URL, url);
    SET(c, CURLOPT_PROTOCOLS_STR, w->secure ? "https" : "http");
    SET(c, CURLOPT_FOLLOWLOCATION, 0L);
    SET(c, CURLOPT_NOSIGNAL, 1L);
    SET(c, CURLOPT_PROXY, "");
    SET(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    SET(c, CURLOPT_HTTP09_ALLOWED, 0L);
    SET(c, CURLOPT_HTTP_CONTENT_DECODING, 0L);
    SET(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(c, CURLOPT_SSL_VERIFYPEER, 1L);
    SET(c, CURLOPT_SSL_VERIFYHOST, 2L);
    SET(c, CURLOPT_FILETIME, 1L);
    SET(c, CURLOPT_USERAGENT, w->program);
    SET(c, CURLOPT_CONNECTTIMEOUT_MS, (long)w->connect_ms);
    SET(c, CURLOPT_OPENSOCKETFUNCTION, on_socket);
    SET(c, CURLOPT_OPENSOCKETDATA, w);
    return r;
}

/* ---- Answers ---- */

/* The HTTP status; 0: none. */
static int status_of(const struct fs_web *w)
{
    long status = 0;

    (void)w->curl->easy_getinfo(w->easy, CURLINFO_RESPONSE_CODE, &status); /* 0 else, ignoring */
    return (int)status;
}

/* A header of the current answer, "" if absent or too long. */
static const char *header_of(const struct fs_web *w, const char *name)
{
    struct curl_header *h = NULL;

    if (w->curl->easy_header(w->easy, name, 0, CURLH_HEADER, -1, &h) != CURLHE_OK)
        return "";
    return strlen(h->value) <= FS_WEB_VALIDATOR_MAX ? h->value : "";
}

/* True if the Content-Range is "bytes FROM-…", the rest of the content. */
static bool is_the_rest(const struct fs_web *w)
{
    char wanted[64];

    (void)snprintf(wanted, sizeof(wanted), "bytes %llu-", (unsigned long long)w->get->to->bytes);
    return strncasecmp(header_of(w, "Content-Range"), wanted, strlen(wanted)) == 0 &&
           strcmp(header_of(w, w->header), w->validator) == 0;
}

static int restart(struct fs_web *w)
{
    struct fs_stream *s = w->get->to;

    w->resuming = false;
    s->bytes = 0;
    return s->restart(s->userdata);
}

/* Decides with the first bytes of an answer whether they are the stream's. A server may ignore the
 * range and send everything: the sink then restarts. */
static int begin(struct fs_web *w)
{
    const struct fs_stream *s = w->get ? w->get->to : NULL;
    int status = status_of(w);
    curl_off_t length = -1;

    w->wanted = s && (status == 200 || (w->resuming && status == 206));
    if (!w->wanted)
        return 0;
    w->mismatch = status == 206 && !is_the_rest(w);
    if (w->mismatch)
        return -ESTALE;
    if (w->resuming && status == 200)
        w->sink_error = restart(w);
    if (w->sink_error < 0)
        return w->sink_error;
    (void)w->curl->easy_getinfo(w->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T,
                                &length); /* -1 else, ignoring */
    w->over = length > 0 && (uint64_t)length > w->get->max - s->bytes;
    return w->over ? -EFBIG : 0;
}

size_t fs_web_on_data(char *p, size_t one, size_t n, void *userdata)
{
    struct fs_web *w = userdata;
    struct fs_stream *s = w->get ? w->get->to : NULL;

    (void)one; /* always 1 */
    if (!w->begun && begin(w) < 0)
        return 0;
    w->begun = true;
    w->over = n > (w->wanted ? w->get->max - s->bytes : FS_WEB_ANSWER_MAX - w->answer_n);
    if (w->over)
        return 0;
    if (!w->wanted) {
        memcpy(w->answer + w->answer_n, p, n);
        w->answer_n += n;
        w->answer[w->answer_n] = 0;
        return n;
    }
    w->sink_error = s->sink(s->userdata, p, n);
    if (w->sink_error < 0)
        return 0;
    s->bytes += n;
    return n;
}

void fs_web_forget(struct fs_web *w)
{
    w->get = NULL;
    w->answer_n = 0;
    w->answer[0] = 0;
    w->begun = w->wanted = w->over = w->mismatch = false;
    w->sink_error = 0;
}

int fs_web_refused(int status, struct sv_error *err)
{
    return sv_error_set(err,
                        status == 404   ? -ENOENT
                        : status == 401 ? -EKEYREJECTED
                        : status == 403 ? -EACCES
                                        : -EREMOTEIO,
                        "server answered %d", status);
}

int fs_web_broken(const struct fs_web *w, CURLcode code, const char *why, struct sv_error *err)
{
    return sv_error_set(err, code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EIO, "%s",
                        *why ? why : w->curl->easy_strerror(code));
}

/* ---- Requests ---- */

static int failed(struct fs_web *w, struct sv_error *err)
{
    struct fs_stream *s = w->get ? w->get->to : NULL;
    int r;

    if (w->sink_error < 0) {
        s->sink_failed = true;
        return sv_error_errno(err, w->sink_error, "write");
    }
    if (w->over && w->wanted)
        return sv_error_set(err, -EFBIG, "more than %llu bytes", (unsigned long long)w->get->max);
    if (w->over)
        return sv_error_set(err, -EBADMSG, "its answer is too long");
    r = fs_web_broken(w, w->code, w->why, err);
    if (s && s->bytes)
        (void)sv_error_wrap(err, "after %llu bytes", (unsigned long long)s->bytes);
    return r;
}

CURLcode fs_web_header(const struct fs_web *w, struct curl_slist **headers, const char *name,
                       const char *value)
{
    char text[FS_WEB_URL_MAX];
    struct curl_slist *more;

    if (snprintf(text, sizeof(text), "%s: %s", name, value) >= (int)sizeof(text))
        return CURLE_BAD_FUNCTION_ARGUMENT;
    more = w->curl->slist_append(*headers, text);
    if (!more)
        return CURLE_OUT_OF_MEMORY;
    *headers = more;
    return CURLE_OK;
}

/* Builds the headers of range and signature; the caller frees the list. */
static CURLcode set_headers(const struct fs_web *w, struct curl_slist **headers)
{
    const struct fs_web_get *g = w->get;
    char range[40];
    CURLcode r = CURLE_OK;

    if (w->resuming) {
        (void)snprintf(range, sizeof(range), "bytes=%llu-", (unsigned long long)g->to->bytes);
        SET(w->easy, CURLOPT_RANGE, range + strlen("bytes="));
        if (r == CURLE_OK)
            r = fs_web_header(w, headers, "If-Range", w->validator);
    }
    if (g && g->sign && r == CURLE_OK)
        r = g->sign(g->userdata, w->resuming ? range : NULL, headers);
    return *headers && r == CURLE_OK ? SET(w->easy, CURLOPT_HTTPHEADER, *headers) : r;
}

static const char *posted(const struct fs_web *w)
{
    return w->get ? w->get->post : NULL;
}

/* One request. Returns the HTTP status. The length of an answer that is no success does not
 * matter. */
static int perform(struct fs_web *w, const char *method, const char *url, struct sv_error *err)
{
    int64_t left = w->end_ms ? w->end_ms - sv_now_ms() : 0; /* 0: any time */
    struct curl_slist *headers = NULL;
    CURLcode r = fs_web_setup(w, w->easy, url, w->why);

    if (posted(w))
        SET(w->easy, CURLOPT_POSTFIELDS, posted(w));
    SET(w->easy, CURLOPT_CUSTOMREQUEST, method);
    SET(w->easy, CURLOPT_TIMEOUT_MS, (long)left);
    SET(w->easy, CURLOPT_LOW_SPEED_LIMIT, (long)w->slowest_rate);
    SET(w->easy, CURLOPT_LOW_SPEED_TIME, SLOW_SECONDS);
    SET(w->easy, CURLOPT_WRITEFUNCTION, fs_web_on_data);
    SET(w->easy, CURLOPT_WRITEDATA, w);
    if (r == CURLE_OK)
        r = set_headers(w, &headers);
    if (r == CURLE_OK && w->end_ms && left <= 0)
        r = CURLE_OPERATION_TIMEDOUT;
    if (r == CURLE_OK)
        r = w->curl->easy_perform(w->easy);
    w->curl->slist_free_all(headers);
    w->code = r;
    if (r == CURLE_OK || (w->over && status_of(w) >= 300))
        return status_of(w);
    return failed(w, err);
}

int fs_web_request(struct fs_web *w, const char *method, const char *url, uint32_t timeout_ms,
                   struct sv_error *err)
{
    fs_web_forget(w);
    w->resuming = false;
    w->end_ms = timeout_ms ? sv_now_ms() + timeout_ms : 0;
    return perform(w, method, url, err);
}

int fs_web_redirect(struct fs_web *w, unsigned hops, char ret[FS_WEB_URL_MAX], struct sv_error *err)
{
    char *to = NULL;
    int r;

    (void)w->curl->easy_getinfo(w->easy, CURLINFO_REDIRECT_URL, &to); /* NULL else, ignoring */
    r = fs_policy_redirect(w->policy, to, w->secure ? FS_SCHEME_HTTPS : FS_SCHEME_HTTP, hops, err);
    if (r == 0)
        (void)snprintf(ret, FS_WEB_URL_MAX, "%s", to);
    return r;
}

static bool is_redirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* A target that the policy refuses is a bad url, whatever the rule. */
static int refuse(struct sv_error *err)
{
    if (err)
        err->code = -EINVAL;
    return -EINVAL;
}

/* A GET with its redirects, from the start or from get->to->bytes. Returns the HTTP status. */
static int follow(struct fs_web *w, const struct fs_web_get *g, struct sv_error *err)
{
    char url[FS_WEB_URL_MAX];

    (void)snprintf(url, sizeof(url), "%s", g->url);
    for (unsigned hops = 0;; hops++) {
        int r;

        fs_web_forget(w);
        w->get = g;
        r = perform(w, g->post ? "POST" : "GET", url, err);
        if (g->one_host || !is_redirect(r))
            return r;
        if (fs_web_redirect(w, hops, url, err) < 0)
            return refuse(err);
    }
}

/* True if the connection was lost in the body of the stream. */
static bool is_broken(const struct fs_web *w)
{
    return status_of(w) == 200 && !w->over && w->sink_error == 0 && w->get->to->restart &&
           (w->code == CURLE_PARTIAL_FILE || w->code == CURLE_RECV_ERROR ||
            w->code == CURLE_GOT_NOTHING);
}

/* Selects a strong ETag, else the time. */
static bool find_validator(struct fs_web *w)
{
    static const char *const names[] = { "ETag", "Last-Modified" };

    for (size_t i = 0; i < SV_ARRAY_LEN(names); i++) {
        const char *value = header_of(w, names[i]);

        if (!value[0] || strncmp(value, "W/", 2) == 0)
            continue;
        (void)snprintf(w->header, sizeof(w->header), "%s", names[i]);
        (void)snprintf(w->validator, sizeof(w->validator), "%s", value);
        return true;
    }
    return false;
}

/* Once more: requests the rest, or everything if the server does not support it. */
static int try_again(struct fs_web *w, const struct fs_web_get *g, struct sv_error *err)
{
    int r;

    if (g->to->bytes > 0 && find_validator(w)) {
        w->resuming = true;
        r = follow(w, g, err);
        if (!w->mismatch && r != 416)
            return r == 206 ? 200 : r;
    }
    w->sink_error = restart(w);
    return w->sink_error < 0 ? failed(w, err) : follow(w, g, err);
}

int fs_web_get(struct fs_web *w, const struct fs_web_get *g, struct sv_error *err)
{
    curl_off_t mtime = -1;
    int r;

    w->resuming = false;
    w->end_ms = g->timeout_ms ? sv_now_ms() + g->timeout_ms : 0;
    r = follow(w, g, err);
    if (r < 0 && g->to && is_broken(w))
        r = try_again(w, g, err);
    if (g->to && w->curl->easy_getinfo(w->easy, CURLINFO_FILETIME_T, &mtime) == CURLE_OK)
        g->to->mtime_ms = mtime < 0 ? -1 : mtime * 1000;
    return r;
}
