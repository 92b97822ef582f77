/* See curl-loop.h. libcurl registers its sockets and one timeout, the event loop reports readiness.
 */
#include "common/web/curl-loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "common/loop-guard.h"

struct sv_curl_loop {
    const struct sv_curl *curl;
    sd_event *event;
    CURLM *multi;
    sd_event_source *timer;
    sv_curl_done done;
};

static void act(struct sv_curl_loop *l, curl_socket_t fd, int what)
{
    CURLMsg *msg;
    int running, left;

    (void)l->curl->multi_socket_action(l->multi, fd, what, &running);
    while ((msg = l->curl->multi_info_read(l->multi, &left))) {
        CURL *easy = msg->easy_handle;
        CURLcode result = msg->data.result;
        void *userdata = NULL;

        if (msg->msg != CURLMSG_DONE)
            continue;
        (void)l->curl->easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&userdata);
        (void)l->curl->multi_remove_handle(l->multi, easy);
        l->done(easy, result, userdata);
    }
}

static int on_io(sd_event_source *s, int fd, uint32_t revents, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    act(userdata, fd,
        (revents & EPOLLIN ? CURL_CSELECT_IN : 0) | (revents & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
            (revents & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0));
    return 0;
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct sv_curl_loop *l = userdata;

    (void)s;
    (void)usec;
    act(l, CURL_SOCKET_TIMEOUT, 0);
    return 0;
}

/* CURLMOPT_SOCKETFUNCTION: starts or stops watching a socket. */
static int watch(CURL *easy, curl_socket_t fd, int what, void *userdata, void *assigned)
{
    struct sv_curl_loop *l = userdata;
    sd_event_source *source = assigned;
    uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        (void)sd_event_source_disable_unref(source);
        (void)l->curl->multi_assign(l->multi, fd, NULL);
        return 0;
    }
    if (source)
        return sd_event_source_set_io_events(source, events) < 0 ? -1 : 0;
    if (sd_event_add_io(l->event, &source, fd, events, on_io, l) < 0)
        return -1;
    (void)l->curl->multi_assign(l->multi, fd, source);
    return 0;
}

static int set_timer(CURLM *multi, long ms, void *userdata)
{
    struct sv_curl_loop *l = userdata;

    (void)multi;
    if (ms < 0)
        return sd_event_source_set_enabled(l->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
    if (sd_event_source_set_time_relative(l->timer, (uint64_t)ms * 1000) < 0)
        return -1;
    return sd_event_source_set_enabled(l->timer, SD_EVENT_ONESHOT) < 0 ? -1 : 0;
}

int sv_curl_loop_new(const struct sv_curl *curl, sd_event *event, sv_curl_done done,
                     struct sv_curl_loop **ret)
{
    struct sv_curl_loop *l = calloc(1, sizeof(*l));
    int r;

    if (!l)
        return -ENOMEM;
    l->curl = curl;
    l->event = sd_event_ref(event);
    l->done = done;
    if (curl->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(l->multi = l->curl->multi_init())) {
        (void)sv_curl_loop_free(l);
        return -ENOMEM;
    }
    r = sd_event_add_time_relative(event, &l->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, l);
    if (r >= 0)
        r = sd_event_source_set_enabled(l->timer, SD_EVENT_OFF);
    if (r < 0) {
        (void)sv_curl_loop_free(l);
        return r;
    }
    (void)l->curl->multi_setopt(l->multi, CURLMOPT_SOCKETFUNCTION, watch);
    (void)l->curl->multi_setopt(l->multi, CURLMOPT_SOCKETDATA, l);
    (void)l->curl->multi_setopt(l->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    (void)l->curl->multi_setopt(l->multi, CURLMOPT_TIMERDATA, l);
    *ret = l;
    return 0;
}

struct sv_curl_loop *sv_curl_loop_free(struct sv_curl_loop *l)
{
    if (!l)
        return NULL;
    if (l->multi)
        (void)l->curl->multi_cleanup(l->multi);
    l->timer = sd_event_source_disable_unref(l->timer);
    l->event = sd_event_unref(l->event);
    free(l);
    return NULL;
}

void sv_curl_loop_connections(struct sv_curl_loop *l, long per_host, long all)
{
    (void)l->curl->multi_setopt(l->multi, CURLMOPT_MAX_HOST_CONNECTIONS, per_host);
    (void)l->curl->multi_setopt(l->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, all);
}

/* libcurl resolves names in threads. Without QUICK_EXIT it waits for the request's thread when the
 * request ends or is removed, here in the loop, as long as a name server does not answer. */
int sv_curl_loop_add(struct sv_curl_loop *l, CURL *easy)
{
    (void)l->curl->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L); /* libcurl 7.87; before, ignoring */
    return l->curl->multi_add_handle(l->multi, easy) == CURLM_OK ? 0 : -ENOMEM;
}

void sv_curl_loop_remove(struct sv_curl_loop *l, CURL *easy)
{
    (void)l->curl->multi_remove_handle(l->multi, easy);
}
