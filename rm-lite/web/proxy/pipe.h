/* A request that another server answers: libcurl fetches the answer, a stream passes it to the
 * browser, and each side waits for the slower one. Proxy and relay decide who may ask for what and
 * which headers pass. Hostile: both sides; the bytes of an answer are bounded here. */
#ifndef SELVEDGE_RM_LITE_WEB_PROXY_PIPE_H
#define SELVEDGE_RM_LITE_WEB_PROXY_PIPE_H

#include "common/web/curl-loop.h"
#include "common/web/http-stream.h"

struct rm_pipe;

struct rm_pipe_kind {
    uint64_t bytes_max; /* of one answer */
    /* libcurl has ended: ends the stream, or answers in its place. */
    void (*done)(struct rm_pipe *p, CURLcode result);
    /* Frees what contains the pipe, which is unlinked and closed already. */
    void (*freed)(struct rm_pipe *p);
};

/* Part of a larger object, zeroed. */
struct rm_pipe {
    struct rm_pipes *all;
    struct sv_http_stream *stream;
    CURL *easy; /* its CURLOPT_PRIVATE is the pipe */
    struct curl_slist *headers;
    bool paused;
    uint64_t bytes;
    struct rm_pipe *prev, *next;
};

struct rm_pipes {
    const struct rm_pipe_kind *kind;
    struct sv_curl_loop *curl;
    struct rm_pipe *list;
};

struct sd_event;
int rm_pipes_init(struct rm_pipes *all, struct sd_event *event, const struct rm_pipe_kind *kind)
    _must_use_;
void rm_pipes_free(struct rm_pipes *all);

/* Links the pipe and makes its handle; free it by rm_pipe_free() after an error, too. */
int rm_pipe_init(struct rm_pipe *p, struct rm_pipes *all) _must_use_;
void rm_pipe_free(struct rm_pipe *p);
/* A header of the request: "Name: value", or none of this name for "", where libcurl has its own.
 * -EINVAL: a line break. */
int rm_pipe_header(struct rm_pipe *p, const char *name, const char *value) _must_use_;
/* Sends the request, for a handler of the HTTP server: SV_HTTP_LATER, or -ENOMEM; the pipe is the
 * loop's, or freed. */
int rm_pipe_start(struct rm_pipe *p, const struct sv_http_request *http) _must_use_;
/* For CURLOPT_WRITEFUNCTION, once the stream has begun: its result. */
size_t rm_pipe_data(struct rm_pipe *p, const char *data, size_t len);

#endif
