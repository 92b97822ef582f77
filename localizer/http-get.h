/* One GET for the fetchers. The server is hostile: it may lie about lengths, never end, redirect
 * anywhere. No proxy, cookies, credentials, decompression or other protocol; redirects are followed
 * here, each url checked like the first and of the same scheme. */
#ifndef SELVEDGE_LOCALIZER_HTTP_GET_H
#define SELVEDGE_LOCALIZER_HTTP_GET_H

#include "localizer/fetch.h"
#include "fs/sigv4.h"

#define LOC_HTTP_URL_MAX (FS_URL_MAX + 1024) /* with a query that a fetcher appends */

struct loc_http_get {
    const struct loc_source *source;                      /* its limits, and its url for messages */
    const char *url;                                      /* at most LOC_HTTP_URL_MAX bytes */
    bool secure;                                          /* https */
    bool one_host;                                        /* redirects are not followed */
    const struct fs_sigv4_key *sign;                     /* S3, or NULL; with one_host */
    uint64_t limit;                                       /* bytes of the body */
    int (*sink)(void *userdata, const void *p, size_t n); /* the body of a 200, or -errno */
    void *userdata;
    /* Discards the data that the sink has received; NULL: no retry. If the connection breaks in the
     * body, one more request follows: for the rest, if the ETag or Last-Modified proves that the
     * content is unchanged, else from the start. */
    int (*restart)(void *userdata);
    /* Results. */
    long status;    /* HTTP status, 0: none */
    uint64_t bytes; /* bytes passed to the sink */
    int64_t mtime;  /* Last-Modified, seconds since 1970; -1 = none */
    bool over;      /* the body exceeded `limit` */
};

int loc_http_get(struct loc_http_get *g, enum loc_fail *ret_reason, struct sv_error *err)
    _must_use_;

#endif
