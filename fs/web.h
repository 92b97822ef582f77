/* Private to the web back ends: a client of HTTP servers. Hostile: servers, which may lie about
 * lengths, never end, redirect anywhere. No proxy, cookies, credentials, decompression or other
 * protocol; servers' certificates are verified; connections only where the policy allows them. */
#ifndef SELVEDGE_FS_WEB_H
#define SELVEDGE_FS_WEB_H

#include "common/web/curl.h"
#include "fs/backend.h"

#define FS_WEB_URL_MAX 8192
#define FS_WEB_ANSWER_MAX                                                                          \
    ((size_t)8 << 20)            /* bytes; a part of WebHDFS's listing has 1000 names              \
                                  */
#define FS_WEB_VALIDATOR_MAX 512 /* bytes of an ETag or a time */

struct fs_web_get {
    const char *url;      /* at most FS_WEB_URL_MAX - 1 bytes */
    uint32_t timeout_ms;  /* for all of it; 0: any time */
    struct fs_stream *to; /* gets the body of a 200, at most `max` bytes; NULL: it is an answer */
    uint64_t max;
    bool one_host; /* redirects are not followed */
    /* Body of a POST; NULL: it is a GET. Needs one_host: what is posted is for one server. */
    const char *post;
    /* Adds headers to each request (fs_web_header); `range`: value of its header Range, or NULL.
     * NULL: none are to be added. */
    CURLcode (*sign)(void *userdata, const char *range, struct curl_slist **headers);
    void *userdata;
};

struct fs_web {
    const struct sv_curl *curl;
    const struct fs_policy *policy;
    const char *program; /* the user agent */
    bool secure;         /* https */
    uint32_t connect_ms, slowest_rate;
    CURL *easy;
    char *answer; /* the last one that no stream got; ends with NUL */
    size_t answer_n;
    /* State of a transfer. */
    const struct fs_web_get *get; /* NULL: another request */
    int64_t end_ms;               /* 0: none */
    bool begun, wanted;           /* bytes of this answer have come; they are the stream's */
    bool over;                    /* the body is too long */
    int sink_error;
    CURLcode code;
    /* A resume: requests the part that begins at get->to->bytes, with this ETag or time. */
    bool resuming, mismatch;
    char header[16], validator[FS_WEB_VALIDATOR_MAX + 1]; /* "ETag" or "Last-Modified", its value */
    char why[CURL_ERROR_SIZE];                            /* libcurl's text of a failure */
};

/* close() is called after a failure, too. */
int fs_web_open(struct fs_web *w, const struct fs_options *o, bool secure, struct sv_error *err)
    _must_use_;
void fs_web_close(struct fs_web *w);

/* One GET with its redirects, each url checked like the first. If the connection breaks in the body
 * that a stream gets, and the stream can restart, one more GET follows: for the rest, if the ETag
 * or Last-Modified proves that the content is unchanged, else from the start. Returns the HTTP
 * status; -EINVAL: a redirect is refused; -EFBIG: more than `max` bytes. */
int fs_web_get(struct fs_web *w, const struct fs_web_get *g, struct sv_error *err) _must_use_;
/* One request without a body, whose answer is kept. Returns the HTTP status. */
int fs_web_request(struct fs_web *w, const char *method, const char *url, uint32_t timeout_ms,
                   struct sv_error *err) _must_use_;
/* The target of the last answer, a redirect, copied; `hops`: redirects before it. Errors of
 * fs_policy_redirect(). */
int fs_web_redirect(struct fs_web *w, unsigned hops, char ret[FS_WEB_URL_MAX], struct sv_error *err)
    _must_use_;
/* The error of an answer's status. */
int fs_web_refused(int status, struct sv_error *err);
/* The error of a transfer that libcurl ended; `why`: its text, or "". */
int fs_web_broken(const struct fs_web *w, CURLcode code, const char *why, struct sv_error *err);

/* For a transfer of a back end's own. Options of every transfer; forgets all former ones. */
CURLcode fs_web_setup(const struct fs_web *w, CURL *c, const char *url, char why[CURL_ERROR_SIZE])
    _must_use_;
/* libcurl's function for an answer; `userdata`: the struct fs_web, after fs_web_forget(). */
size_t fs_web_on_data(char *p, size_t one, size_t n, void *userdata);
/* Forgets the last answer. */
void fs_web_forget(struct fs_web *w);
CURLcode fs_web_header(const struct fs_web *w, struct curl_slist **headers, const char *name,
                       const char *value) _must_use_;

#endif
