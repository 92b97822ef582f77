/* One GET for the fetchers. The server is hostile: it may lie about lengths, never end, redirect
 * anywhere. No proxy, cookies, credentials, decompression or other protocol; redirects are followed
 * here, each url checked like the first and of the same scheme. */
#ifndef SELVEDGE_LOCALIZER_HTTP_GET_H
#define SELVEDGE_LOCALIZER_HTTP_GET_H

#include "localizer/fetch.h"
#include "localizer/sigv4.h"

#define LOC_HTTP_URL_MAX (LOC_URL_MAX + 1024) /* with a query that a fetcher appends */

struct loc_http_get {
    const struct loc_source *source;                      /* its limits, and its url for messages */
    const char *url;                                      /* at most LOC_HTTP_URL_MAX bytes */
    bool secure;                                          /* https */
    bool one_host;                                        /* redirects are not followed */
    const struct loc_sigv4_key *sign;                     /* S3: or NULL; with one_host */
    uint64_t limit;                                       /* bytes of the answer */
    int (*sink)(void *userdata, const void *p, size_t n); /* the body of a 200, or -errno */
    void *userdata;
    /* Forgets what the sink has got, or NULL. With it a connection that breaks in the body is
     * followed by one more: for the rest, if the server says by ETag or Last-Modified that the
     * content is still the same, else from the start. */
    int (*restart)(void *userdata);
    /* Results. */
    long status;    /* the server's, 0 = none */
    uint64_t bytes; /* that the sink has got */
    int64_t mtime;  /* Last-Modified, seconds since 1970; -1 = none */
    bool over;      /* there was more than `limit` */
};

int loc_http_get(struct loc_http_get *g, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;

#endif
