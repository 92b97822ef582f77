/* See fetch.h. Connects libcurl's multi interface to sd-event: curl registers sockets and a
 * timeout, the event loop reports readiness. */
#include "client/http/fetch.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <utlist.h>

#include "client/http/plain-get.h"
#include "common/buf.h"

#define TOTAL_MS 20000L
#define CONNECT_MS 5000L
#define BUFFER ((size_t)256 << 10) /* of a connection, where much may come */
#define AT_ONCE 32L                /* connections per host; further requests queue inside curl */
#define AT_ONCE_ALL 500L           /* to all hosts: below the usual limit of descriptors */
#define UNDER_WAY 16               /* without cli_fetch_patience(): each has a handle, 20 KiB */

struct fetch_request {
    struct cli_fetch *f;
    char *url, *header; /* header: of a POST */
    CURL *easy;         /* NULL: it waits */
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
    struct fetch_request *requests, *waiting;
    long under_way, under_way_max;
    CURL *idle[UNDER_WAY]; /* handles for further requests */
    size_t n_idle;
    struct cli_plain *plain;
    long total_ms;
};

static CURL *take_handle(struct cli_fetch *f)
{
    return f->n_idle > 0 ? f->idle[--f->n_idle] : curl_easy_init();
}

static void put_handle(struct cli_fetch *f, CURL *easy)
{
    if (f->n_idle == UNDER_WAY) {
        curl_easy_cleanup(easy);
        return;
    }
    curl_easy_reset(easy);
    f->idle[f->n_idle++] = easy;
}

static void fetch_request_free(struct fetch_request *q)
{
    if (q->easy) {
        DL_DELETE(q->f->requests, q);
        q->f->under_way--;
        curl_multi_remove_handle(q->f->multi, q->easy);
        put_handle(q->f, q->easy);
        curl_slist_free_all(q->headers);
    } else {
        DL_DELETE(q->f->waiting, q);
    }
    sv_buf_free(&q->body);
    free(q->url);
    free(q->header);
    free(q);
}

static void begin_waiting(struct cli_fetch *f);

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
    begin_waiting(f);
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
    f->under_way_max = UNDER_WAY;
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

static void cancel(struct fetch_request *q)
{
    q->fn(-ECANCELED, "", 0, "canceled", q->userdata);
    fetch_request_free(q);
}

struct cli_fetch *cli_fetch_free(struct cli_fetch *f)
{
    struct fetch_request *q, *next;

    if (!f)
        return NULL;
    DL_FOREACH_SAFE (f->requests, q, next)
        cancel(q);
    DL_FOREACH_SAFE (f->waiting, q, next)
        cancel(q);
    cli_plain_cancel(&f->plain);
    while (f->n_idle > 0)
        curl_easy_cleanup(f->idle[--f->n_idle]);
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
    f->under_way_max = AT_ONCE_ALL;
}

static void set_options(struct fetch_request *q)
{
    curl_easy_setopt(q->easy, CURLOPT_URL, q->url);
    curl_easy_setopt(q->easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(q->easy, CURLOPT_PROXY, ""); /* cluster addresses need no proxy */
    curl_easy_setopt(q->easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(q->easy, CURLOPT_TIMEOUT_MS, q->f->total_ms);
    curl_easy_setopt(q->easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    if (q->body.max - 1 > BUFFER)
        curl_easy_setopt(q->easy, CURLOPT_BUFFERSIZE, (long)BUFFER);
    curl_easy_setopt(q->easy, CURLOPT_WRITEFUNCTION, on_data);
    curl_easy_setopt(q->easy, CURLOPT_WRITEDATA, q);
    curl_easy_setopt(q->easy, CURLOPT_ERRORBUFFER, q->error);
    curl_easy_setopt(q->easy, CURLOPT_PRIVATE, q);
    if (q->header) {
        curl_easy_setopt(q->easy, CURLOPT_HTTPHEADER, q->headers);
        curl_easy_setopt(q->easy, CURLOPT_POSTFIELDS, "");
    }
}

/* Of one that waits; it still does after an error. */
static int begin(struct fetch_request *q)
{
    CURL *easy = take_handle(q->f);

    if (!easy)
        return -ENOMEM;
    q->headers = q->header ? curl_slist_append(NULL, q->header) : NULL;
    if (q->header && !q->headers) {
        put_handle(q->f, easy);
        return -ENOMEM;
    }
    DL_DELETE(q->f->waiting, q);
    DL_APPEND(q->f->requests, q);
    q->f->under_way++;
    q->easy = easy;
    set_options(q);
    return curl_multi_add_handle(q->f->multi, easy) == CURLM_OK ? 0 : -ENOMEM;
}

/* When others have ended. */
static void begin_waiting(struct cli_fetch *f)
{
    while (f->waiting && f->under_way < f->under_way_max) {
        struct fetch_request *q = f->waiting;

        if (begin(q) < 0) {
            q->fn(-ENOMEM, "", 0, "out of memory", q->userdata);
            fetch_request_free(q);
        }
    }
}

static int submit(struct cli_fetch *f, const char *url, const char *header, size_t max,
                  cli_fetch_fn fn, void *userdata)
{
    struct fetch_request *q;
    int r = start(f);

    if (r < 0)
        return r;
    q = calloc(1, sizeof(*q));
    if (!q)
        return -ENOMEM;
    q->f = f;
    q->body = SV_BUF_INIT(max + 1);
    q->fn = fn;
    q->userdata = userdata;
    DL_APPEND(f->waiting, q);
    q->url = strdup(url);
    q->header = header ? strdup(header) : NULL;
    if (!q->url || (header && !q->header))
        r = -ENOMEM;
    else if (f->under_way < f->under_way_max)
        r = begin(q);
    if (r < 0)
        fetch_request_free(q);
    return r;
}

int cli_fetch_get(struct cli_fetch *f, const char *url, size_t max, cli_fetch_fn fn, void *userdata)
{
    return submit(f, url, NULL, max, fn, userdata);
}

int cli_fetch_post(struct cli_fetch *f, const char *url, const char *header, cli_fetch_fn fn,
                   void *userdata)
{
    return submit(f, url, header, 65536, fn, userdata);
}

int cli_fetch_get_plain(struct cli_fetch *f, const char *address, const char *path, size_t max,
                        cli_fetch_fn fn, void *userdata)
{
    return cli_plain_get(&f->plain, f->event, address, path, max, f->total_ms, fn, userdata);
}
