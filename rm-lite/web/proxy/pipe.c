/* See pipe.h. */
#include "rm-lite/web/proxy/pipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/str.h"

int rm_pipe_init(struct rm_pipe *p, struct rm_pipes *all)
{
    p->all = all;
    DL_APPEND(all->list, p);
    p->easy = curl_easy_init();
    return p->easy && curl_easy_setopt(p->easy, CURLOPT_PRIVATE, p) == CURLE_OK ? 0 : -ENOMEM;
}

void rm_pipe_free(struct rm_pipe *p)
{
    DL_DELETE(p->all->list, p);
    if (p->easy)
        curl_easy_cleanup(p->easy);
    curl_slist_free_all(p->headers);
    p->all->kind->freed(p);
}

int rm_pipe_header(struct rm_pipe *p, const char *name, const char *value)
{
    _cleanup_free_ char *line = NULL;
    struct curl_slist *more;

    if (strpbrk(value, "\r\n"))
        return -EINVAL;
    /* libcurl's own syntax of a header without a value */
    if (sv_asprintf(&line, "%s%s%s", name, *value ? ": " : ":", value) < 0)
        return -ENOMEM;
    more = curl_slist_append(p->headers, line);
    if (!more)
        return -ENOMEM;
    p->headers = more;
    return 0;
}

size_t rm_pipe_data(struct rm_pipe *p, const char *data, size_t len)
{
    int r;

    if (p->bytes + len > p->all->kind->bytes_max)
        return 0;
    r = sv_http_stream_put(p->stream, data, len);
    if (r == -EAGAIN) {
        p->paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    p->bytes += len;
    return r < 0 ? 0 : len;
}

static void on_drained(void *userdata)
{
    struct rm_pipe *p = userdata;

    if (!p->paused)
        return;
    p->paused = false;
    (void)curl_easy_pause(p->easy, CURLPAUSE_CONT); /* times out, ignoring */
}

/* The server ends a request that it has begun. */
static void on_gone(void *userdata)
{
    struct rm_pipe *p = userdata;

    p->stream = NULL;
    sv_curl_loop_remove(p->all->curl, p->easy);
    rm_pipe_free(p);
}

static void on_done(CURL *easy, CURLcode result, void *userdata)
{
    struct rm_pipe *p = userdata;

    (void)easy;
    p->all->kind->done(p, result);
    rm_pipe_free(p);
}

int rm_pipe_start(struct rm_pipe *p, const struct sv_http_request *http)
{
    static const struct sv_http_stream_events events = { on_drained, on_gone };

    p->stream = sv_http_stream_new(http, &events, p);
    if (!p->stream) {
        rm_pipe_free(p);
        return -ENOMEM;
    }
    if (sv_curl_loop_add(p->all->curl, p->easy) < 0)
        on_done(p->easy, CURLE_OUT_OF_MEMORY, p);
    return SV_HTTP_LATER;
}

int rm_pipes_init(struct rm_pipes *all, struct sd_event *event, const struct rm_pipe_kind *kind)
{
    *all = (struct rm_pipes){ .kind = kind };
    return sv_curl_loop_new(&sv_curl_linked, event, on_done, &all->curl);
}

void rm_pipes_free(struct rm_pipes *all)
{
    struct rm_pipe *p, *tmp;

    DL_FOREACH_SAFE (all->list, p, tmp) {
        sv_curl_loop_remove(all->curl, p->easy);
        rm_pipe_free(p);
    }
    all->curl = sv_curl_loop_free(all->curl);
}
