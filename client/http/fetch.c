/* See fetch.h. */
#include "client/http/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <utlist.h>

#include "client/http/plain-get.h"
#include "common/buf.h"
#include "common/clock.h"
#include "common/web/curl-loop.h"

#define TOTAL_MS 20000L
#define CONNECT_MS 5000L
#define ACCEPT "Accept: application/json, */*;q=0.5" /* Apache's /conf writes XML otherwise */
#define HEAD_MAX ((size_t)64 << 10)                  /* bytes of an answer's headers */
#define BUFFER ((size_t)256 << 10) /* receive buffer of a connection, for large answers */
#define AT_ONCE 32L                /* connections per host; further requests queue inside curl */
#define AT_ONCE_ALL 500L           /* to all hosts: below the usual limit of descriptors */
#define UNDER_WAY 16               /* without cli_fetch_patience(): each has a handle, 20 KiB */

struct fetch_request {
    struct cli_fetch *f;
    char *url, *header, *data; /* header: the only one, or NULL; data: the body, or NULL */
    const char *method;        /* a literal; NULL: GET, or POST of data */
    CURL *easy;                /* NULL: queued */
    struct curl_slist *headers;
    struct sv_buf body;
    size_t head_bytes;
    bool cut;      /* `max` bytes were received: the rest is rejected */
    bool of_job;   /* its server may be hostile: no ticket */
    bool apart;    /* in no list: not queued yet, or under way without libcurl */
    long spent_ms; /* before libcurl */
    char error[CURL_ERROR_SIZE];
    cli_fetch_fn fn;
    void *userdata;
    struct fetch_request *prev, *next;
};

struct cli_fetch {
    sd_event *event;
    const struct sv_curl *curl; /* NULL before the first request */
    struct sv_curl_loop *loop;
    struct fetch_request *requests, *waiting;
    bool plain_first;
    struct fetch_request *plain; /* made without libcurl, by plain_get; NULL: none */
    struct cli_plain_get *plain_get;
    int64_t plain_began_ms;
    long under_way, under_way_max;
    CURL *idle[UNDER_WAY]; /* handles for further requests */
    size_t n_idle;
    long total_ms;
    char *extra[CLI_FETCH_HEADERS_MAX]; /* headers of all requests */
    size_t n_extra;
    unsigned long authentication; /* CURLAUTH_…; 0: none */
};

static CURL *take_handle(struct cli_fetch *f)
{
    return f->n_idle > 0 ? f->idle[--f->n_idle] : f->curl->easy_init();
}

static void put_handle(struct cli_fetch *f, CURL *easy)
{
    if (f->n_idle == UNDER_WAY) {
        f->curl->easy_cleanup(easy);
        return;
    }
    f->curl->easy_reset(easy);
    f->idle[f->n_idle++] = easy;
}

static void fetch_request_free(struct fetch_request *q)
{
    if (q->easy) {
        DL_DELETE(q->f->requests, q);
        q->f->under_way--;
        sv_curl_loop_remove(q->f->loop, q->easy); /* none, once it has ended */
        put_handle(q->f, q->easy);
        q->f->curl->slist_free_all(q->headers);
    } else if (!q->apart) {
        DL_DELETE(q->f->waiting, q);
    }
    sv_buf_free(&q->body);
    free(q->url);
    free(q->header);
    free(q->data);
    free(q);
}

static void begin_waiting(struct cli_fetch *f);

static int status_of(const struct fetch_request *q, CURLcode result)
{
    long code = 0;

    if (result == CURLE_COULDNT_CONNECT)
        return -ECONNREFUSED;
    if (result == CURLE_OPERATION_TIMEDOUT)
        return -ETIMEDOUT;
    if (result != CURLE_OK && !(result == CURLE_WRITE_ERROR && q->cut))
        return -EIO;
    (void)q->f->curl->easy_getinfo(q->easy, CURLINFO_RESPONSE_CODE, &code); /* 0 else, ignoring */
    return (int)code;
}

static void on_done(CURL *easy, CURLcode result, void *userdata)
{
    struct fetch_request *q = userdata;
    struct cli_fetch *f = q->f;
    int status = status_of(q, result);

    (void)easy;
    if (sv_buf_put_u8(&q->body, 0) < 0)
        q->fn(-ENOMEM, "", 0, "out of memory", q->userdata);
    else
        q->fn(status, (char *)q->body.data, q->body.len - 1,
              status < 0 ? (*q->error ? q->error : f->curl->easy_strerror(result)) : NULL,
              q->userdata);
    fetch_request_free(q);
    begin_waiting(f);
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

static size_t on_header(char *data, size_t size, size_t n, void *userdata)
{
    struct fetch_request *q = userdata;

    (void)data;
    q->head_bytes += size * n;
    return q->head_bytes > HEAD_MAX ? 0 : size * n;
}

int cli_fetch_new(sd_event *event, struct cli_fetch **ret)
{
    struct cli_fetch *f = calloc(1, sizeof(*f));

    if (!f)
        return -ENOMEM;
    f->event = sd_event_ref(event);
    f->total_ms = TOTAL_MS;
    f->under_way_max = UNDER_WAY;
    *ret = f;
    return 0;
}

/* Called for the first request by libcurl: most commands make none. */
static int start(struct cli_fetch *f)
{
    struct sv_error err = { 0 };
    int r;

    if (f->loop)
        return 0;
    r = sv_curl_load(&f->curl, &err);
    if (r < 0)
        fprintf(stderr, "selvedge: %s\n", err.text);
    else
        r = sv_curl_loop_new(f->curl, f->event, on_done, &f->loop);
    if (r >= 0)
        sv_curl_loop_connections(f->loop, AT_ONCE, AT_ONCE_ALL);
    return r;
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
    f->plain_get = cli_plain_get_free(f->plain_get);
    if (f->plain)
        cancel(f->plain);
    DL_FOREACH_SAFE (f->requests, q, next)
        cancel(q);
    DL_FOREACH_SAFE (f->waiting, q, next)
        cancel(q);
    while (f->n_idle > 0)
        f->curl->easy_cleanup(f->idle[--f->n_idle]);
    while (f->n_extra > 0)
        free(f->extra[--f->n_extra]);
    sv_curl_loop_free(f->loop);
    sd_event_unref(f->event);
    free(f);
    return NULL;
}

void cli_fetch_plain_first(struct cli_fetch *f)
{
    f->plain_first = true;
}

/* With a second method libcurl asks first without any, and takes what the server's 401 names;
 * Digest needs a name and a password, which there are none of. */
void cli_fetch_negotiate(struct cli_fetch *f, bool at_once)
{
    f->authentication = CURLAUTH_NEGOTIATE | (at_once ? 0 : CURLAUTH_DIGEST);
}

int cli_fetch_header(struct cli_fetch *f, const char *line)
{
    if (f->n_extra == CLI_FETCH_HEADERS_MAX)
        return -ENOSPC;
    f->extra[f->n_extra] = strdup(line);
    if (!f->extra[f->n_extra])
        return -ENOMEM;
    f->n_extra++;
    return 0;
}

void cli_fetch_patience(struct cli_fetch *f, long ms)
{
    f->total_ms = ms;
    f->under_way_max = AT_ONCE_ALL;
}

static void set_options(struct fetch_request *q)
{
#define SET(option, value) (void)q->f->curl->easy_setopt(q->easy, option, value)
    SET(CURLOPT_URL, q->url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_PROXY, ""); /* cluster addresses need no proxy */
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_QUICK_EXIT, 1L); /* a name service that hangs does not hold up the end */
    SET(CURLOPT_TIMEOUT_MS, SV_MAX(q->f->total_ms - q->spent_ms, 1L));
    SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    if (q->body.max - 1 > BUFFER)
        SET(CURLOPT_BUFFERSIZE, (long)BUFFER);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, q);
    SET(CURLOPT_WRITEFUNCTION, on_data);
    SET(CURLOPT_WRITEDATA, q);
    SET(CURLOPT_ERRORBUFFER, q->error);
    SET(CURLOPT_PRIVATE, q);
    SET(CURLOPT_HTTPHEADER, q->headers);
    if (q->f->authentication && !q->of_job) {
        SET(CURLOPT_HTTPAUTH, (long)q->f->authentication);
        SET(CURLOPT_USERPWD, ":"); /* whose ticket it is, the ticket says */
    }
    if (q->data)
        SET(CURLOPT_POSTFIELDS, q->data);
    if (q->method)
        SET(CURLOPT_CUSTOMREQUEST, q->method);
#undef SET
}

static int make_headers(struct fetch_request *q)
{
    const struct sv_curl *curl = q->f->curl;
    struct curl_slist *list = curl->slist_append(NULL, q->header ? q->header : ACCEPT), *longer;

    for (size_t i = 0; list && !q->of_job && i < q->f->n_extra; i++) {
        longer = curl->slist_append(list, q->f->extra[i]);
        if (!longer)
            curl->slist_free_all(list);
        list = longer;
    }
    q->headers = list;
    return list ? 0 : -ENOMEM;
}

/* Starts a queued request; on error it stays queued. */
static int begin(struct fetch_request *q)
{
    CURL *easy = take_handle(q->f);

    if (!easy)
        return -ENOMEM;
    if (make_headers(q) < 0) {
        put_handle(q->f, easy);
        return -ENOMEM;
    }
    DL_DELETE(q->f->waiting, q);
    DL_APPEND(q->f->requests, q);
    q->f->under_way++;
    q->easy = easy;
    set_options(q);
    return sv_curl_loop_add(q->f->loop, easy);
}

/* Called when requests have ended. */
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

struct wanted {
    const char *method, *url, *header, *data; /* as in struct fetch_request */
    size_t max;
    bool of_job;
};

/* ---- Without libcurl ---- */

/* The request as it was submitted, by libcurl. */
static void repeat(struct fetch_request *q)
{
    struct cli_fetch *f = q->f;
    int r = start(f);

    q->apart = false;
    q->spent_ms = (long)(sv_now_ms() - f->plain_began_ms);
    DL_APPEND(f->waiting, q);
    if (r >= 0)
        r = begin(q);
    if (r < 0) {
        q->fn(r, "", 0, strerror(-r), q->userdata);
        fetch_request_free(q);
    }
}

static void on_plain(int status, const char *body, size_t len, void *userdata)
{
    struct cli_fetch *f = userdata;
    struct fetch_request *q = f->plain;

    f->plain = NULL;
    f->plain_get = cli_plain_get_free(f->plain_get);
    if (status < 0) {
        repeat(q);
        return;
    }
    q->fn(status, body, len, NULL, q->userdata);
    fetch_request_free(q);
}

static bool begins_plain(struct cli_fetch *f, struct fetch_request *q)
{
    bool bare = q->of_job || (f->n_extra == 0 && !f->authentication);

    if (!f->plain_first || f->loop || f->plain || q->method || q->data || q->header || !bare)
        return false;
    if (cli_plain_get(f->event, q->url, ACCEPT, q->body.max - 1, on_plain, f, &f->plain_get) < 0)
        return false;
    f->plain = q;
    f->plain_began_ms = sv_now_ms();
    return true;
}

static int submit(struct cli_fetch *f, const struct wanted *w, cli_fetch_fn fn, void *userdata)
{
    struct fetch_request *q = calloc(1, sizeof(*q));
    int r = 0;

    if (!q)
        return -ENOMEM;
    q->f = f;
    q->body = SV_BUF_INIT(w->max + 1);
    q->fn = fn;
    q->userdata = userdata;
    q->method = w->method;
    q->of_job = w->of_job;
    q->apart = true;
    q->url = strdup(w->url);
    q->header = w->header ? strdup(w->header) : NULL;
    q->data = w->data ? strdup(w->data) : NULL;
    if (!q->url || (w->header && !q->header) || (w->data && !q->data))
        r = -ENOMEM;
    else if (begins_plain(f, q))
        return 0;
    else
        r = start(f);
    if (r >= 0) {
        q->apart = false;
        DL_APPEND(f->waiting, q);
    }
    if (r >= 0 && f->under_way < f->under_way_max)
        r = begin(q);
    if (r < 0)
        fetch_request_free(q);
    return r;
}

int cli_fetch_get(struct cli_fetch *f, const char *url, size_t max, cli_fetch_fn fn, void *userdata)
{
    return submit(f, &(struct wanted){ .url = url, .max = max }, fn, userdata);
}

int cli_fetch_get_of_job(struct cli_fetch *f, const char *url, size_t max, cli_fetch_fn fn,
                         void *userdata)
{
    return submit(f, &(struct wanted){ .url = url, .max = max, .of_job = true }, fn, userdata);
}

int cli_fetch_send(struct cli_fetch *f, const char *method, const char *url, const char *json,
                   size_t max, cli_fetch_fn fn, void *userdata)
{
    return submit(f,
                  &(struct wanted){ .method = method,
                                    .url = url,
                                    .header = json ? "Content-Type: application/json" : NULL,
                                    .data = json,
                                    .max = max },
                  fn, userdata);
}

int cli_fetch_post(struct cli_fetch *f, const char *url, const char *header, cli_fetch_fn fn,
                   void *userdata)
{
    const struct wanted w = {
        .url = url, .header = header, .data = "", .max = 65536, .of_job = true
    };

    return submit(f, &w, fn, userdata);
}
