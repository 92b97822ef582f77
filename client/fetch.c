/* See fetch.h. Connects libcurl's multi interface to sd-event: curl registers sockets and a
 * timeout, the event loop reports readiness. */
#include "client/fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <utlist.h>

#include "client/plain-get.h"
#include "common/buf.h"

#define TOTAL_MS 20000L
#define CONNECT_MS 5000L
#define BUFFER ((size_t)64 << 10) /* of a connection, where much may come */
#define AT_ONCE 32L               /* connections per host; further requests queue inside curl */
#define AT_ONCE_ALL 500L          /* to all hosts: below the usual limit of descriptors */

struct fetch_request {
    struct cli_fetch *f;
    CURL *easy;
    struct curl_slist *headers;
    struct sv_buf body;
    bool cut; /* `max` bytes were received: the rest is rejected */
    char error[CURL_ERROR_SIZE];
    cli_fetch_fn fn;
    void *userdata;
    struct fetch_request *prev, *next;
};

struct cli_fetch {
    sd_event *event;
    CURLM *multi;
    sd_event_source *timer;
    struct fetch_request *requests;
    struct cli_plain *plain;
    long total_ms;
};

static void fetch_request_free(struct fetch_request *q)
{
    DL_DELETE(q->f->requests, q);
    curl_multi_remove_handle(q->f->multi, q->easy);
    curl_easy_cleanup(q->easy);
    curl_slist_free_all(q->headers);
    sv_buf_free(&q->body);
    free(q);
}

static void collect_finished(struct cli_fetch *f)
{
    CURLMsg *msg;
    int left;

    while ((msg = curl_multi_info_read(f->multi, &left))) {
        struct fetch_request *q = NULL;
        long code = 0;
        int status;

        if (msg->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&q);
        curl_easy_getinfo(msg->easy_handle, CURLINFO_RESPONSE_CODE, &code);
        if (msg->data.result == CURLE_OK || (msg->data.result == CURLE_WRITE_ERROR && q->cut))
            status = (int)code;
        else if (msg->data.result == CURLE_COULDNT_CONNECT)
            status = -ECONNREFUSED;
        else if (msg->data.result == CURLE_OPERATION_TIMEDOUT)
            status = -ETIMEDOUT;
        else
            status = -EIO;
        if (sv_buf_put_u8(&q->body, 0) < 0)
            q->fn(-ENOMEM, "", 0, "out of memory", q->userdata);
        else
            q->fn(status, (char *)q->body.data, q->body.len - 1,
                  status < 0 ? (*q->error ? q->error : curl_easy_strerror(msg->data.result)) : NULL,
                  q->userdata);
        fetch_request_free(q);
    }
}

static void run_curl(struct cli_fetch *f, curl_socket_t s, int what)
{
    int running;

    (void)curl_multi_socket_action(f->multi, s, what, &running);
    collect_finished(f);
}

static int on_io(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    int what = (revents & EPOLLIN ? CURL_CSELECT_IN : 0) |
               (revents & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (revents & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);

    (void)s;
    run_curl(userdata, fd, what);
    return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    (void)s;
    (void)usec;
    run_curl(userdata, CURL_SOCKET_TIMEOUT, 0);
    return 0;
}

static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *userdata, void *socketp)
{
    struct cli_fetch *f = userdata;
    sd_event_source *source = socketp;
    uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        sd_event_source_disable_unref(source);
        (void)curl_multi_assign(f->multi, fd, NULL);
        return 0;
    }
    if (source)
        return sd_event_source_set_io_events(source, events) < 0 ? -1 : 0;
    if (sd_event_add_io(f->event, &source, fd, events, on_io, f) < 0)
        return -1;
    (void)curl_multi_assign(f->multi, fd, source);
    return 0;
}

static int on_curl_timer(CURLM *multi, long ms, void *userdata)
{
    struct cli_fetch *f = userdata;
    uint64_t now;

    (void)multi;
    if (ms < 0)
        return sd_event_source_set_enabled(f->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
    if (sd_event_now(f->event, CLOCK_MONOTONIC, &now) < 0 ||
        sd_event_source_set_time(f->timer, now + (uint64_t)ms * 1000) < 0)
        return -1;
    return sd_event_source_set_enabled(f->timer, SD_EVENT_ONESHOT) < 0 ? -1 : 0;
}

static size_t on_data(char *data, size_t size, size_t n, void *userdata)
{
    struct fetch_request *q = userdata;
    size_t bytes = size * n, take = SV_MIN(bytes, q->body.max - 1 - q->body.len);

    if (sv_buf_put(&q->body, data, take) < 0)
        return 0;
    q->cut = take < bytes;
    return q->cut ? 0 : bytes;
}

int cli_fetch_new(sd_event *event, struct cli_fetch **ret)
{
    struct cli_fetch *f = calloc(1, sizeof(*f));
    int r;

    if (!f)
        return -ENOMEM;
    f->event = sd_event_ref(event);
    f->total_ms = TOTAL_MS;
    r = sd_event_add_time(event, &f->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, f);
    if (r >= 0)
        r = sd_event_source_set_enabled(f->timer, SD_EVENT_OFF);
    if (r < 0) {
        cli_fetch_free(f);
        return r;
    }
    *ret = f;
    return 0;
}

/* With the first request: most commands make none. */
static int start(struct cli_fetch *f)
{
    if (f->multi)
        return 0;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return -ELIBACC;
    f->multi = curl_multi_init();
    if (!f->multi)
        return -ENOMEM;
    curl_multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
    curl_multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
    curl_multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
    curl_multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
    curl_multi_setopt(f->multi, CURLMOPT_MAX_HOST_CONNECTIONS, AT_ONCE);
    curl_multi_setopt(f->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, AT_ONCE_ALL);
    return 0;
}

struct cli_fetch *cli_fetch_free(struct cli_fetch *f)
{
    struct fetch_request *q, *next;

    if (!f)
        return NULL;
    DL_FOREACH_SAFE (f->requests, q, next) {
        q->fn(-ECANCELED, "", 0, "canceled", q->userdata);
        fetch_request_free(q);
    }
    cli_plain_cancel(&f->plain);
    if (f->multi)
        curl_multi_cleanup(f->multi);
    sd_event_source_disable_unref(f->timer);
    sd_event_unref(f->event);
    free(f);
    return NULL;
}

void cli_fetch_patience(struct cli_fetch *f, long ms)
{
    f->total_ms = ms;
}

static int fetch_request_new(struct cli_fetch *f, const char *url, size_t max, cli_fetch_fn fn,
                             void *userdata, struct fetch_request **ret)
{
    struct fetch_request *q;
    int r = start(f);

    if (r < 0)
        return r;
    q = calloc(1, sizeof(*q));
    if (!q)
        return -ENOMEM;
    q->easy = curl_easy_init();
    if (!q->easy) {
        free(q);
        return -ENOMEM;
    }
    q->f = f;
    q->body = SV_BUF_INIT(max + 1);
    q->fn = fn;
    q->userdata = userdata;
    DL_APPEND(f->requests, q);
    curl_easy_setopt(q->easy, CURLOPT_URL, url);
    curl_easy_setopt(q->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(q->easy, CURLOPT_PROXY, ""); /* cluster addresses need no proxy */
    curl_easy_setopt(q->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(q->easy, CURLOPT_TIMEOUT_MS, f->total_ms);
    curl_easy_setopt(q->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    if (max > BUFFER)
        curl_easy_setopt(q->easy, CURLOPT_BUFFERSIZE, (long)BUFFER);
    curl_easy_setopt(q->easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(q->easy, CURLOPT_WRITEDATA, q);
    curl_easy_setopt(q->easy, CURLOPT_ERRORBUFFER, q->error);
    curl_easy_setopt(q->easy, CURLOPT_PRIVATE, q);
    *ret = q;
    return 0;
}

static int submit(struct fetch_request *q)
{
    if (curl_multi_add_handle(q->f->multi, q->easy) == CURLM_OK)
        return 0;
    fetch_request_free(q);
    return -ENOMEM;
}

int cli_fetch_get(struct cli_fetch *f, const char *url, size_t max, cli_fetch_fn fn, void *userdata)
{
    struct fetch_request *q = NULL;
    int r = fetch_request_new(f, url, max, fn, userdata, &q);

    return r < 0 ? r : submit(q);
}

int cli_fetch_get_plain(struct cli_fetch *f, const char *address, const char *path, size_t max,
                        cli_fetch_fn fn, void *userdata)
{
    return cli_plain_get(&f->plain, f->event, address, path, max, f->total_ms, fn, userdata);
}

int cli_fetch_post(struct cli_fetch *f, const char *url, const char *header, cli_fetch_fn fn,
                   void *userdata)
{
    struct fetch_request *q = NULL;
    int r = fetch_request_new(f, url, 65536, fn, userdata, &q);

    if (r < 0)
        return r;
    q->headers = curl_slist_append(NULL, header);
    if (!q->headers) {
        fetch_request_free(q);
        return -ENOMEM;
    }
    curl_easy_setopt(q->easy, CURLOPT_HTTPHEADER, q->headers);
    curl_easy_setopt(q->easy, CURLOPT_POSTFIELDS, "");
    return submit(q);
}
