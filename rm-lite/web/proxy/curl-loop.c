/* See curl-loop.h. Names are resolved by libcurl's own threads. */
#include "rm-lite/web/proxy/curl-loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "common/loop-guard.h"

struct rm_curl {
    sd_event *event;
    CURLM *multi;
    sd_event_source *timer;
    rm_curl_done done;
};

static void act(struct rm_curl *c, curl_socket_t fd, int what)
{
    CURLMsg *msg;
    int running, left;

    (void)curl_multi_socket_action(c->multi, fd, what, &running);
    while ((msg = curl_multi_info_read(c->multi, &left))) {
        CURL *easy = msg->easy_handle;
        CURLcode result = msg->data.result;
        void *userdata = NULL;

        if (msg->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&userdata);
        (void)curl_multi_remove_handle(c->multi, easy);
        c->done(easy, result, userdata);
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
    struct rm_curl *c = userdata;

    (void)s;
    (void)usec;
    act(c, CURL_SOCKET_TIMEOUT, 0);
    return 0;
}

/* CURLMOPT_SOCKETFUNCTION: watches a socket, or stops watching it. */
static int watch(CURL *easy, curl_socket_t fd, int what, void *userdata, void *assigned)
{
    struct rm_curl *c = userdata;
    sd_event_source *source = assigned;
    uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        (void)sd_event_source_disable_unref(source);
        (void)curl_multi_assign(c->multi, fd, NULL);
        return 0;
    }
    if (source)
        return sd_event_source_set_io_events(source, events) < 0 ? -1 : 0;
    if (sd_event_add_io(c->event, &source, fd, events, on_io, c) < 0)
        return -1;
    (void)curl_multi_assign(c->multi, fd, source);
    return 0;
}

static int set_timer(CURLM *multi, long ms, void *userdata)
{
    struct rm_curl *c = userdata;

    (void)multi;
    if (ms < 0)
        return sd_event_source_set_enabled(c->timer, SD_EVENT_OFF) < 0 ? -1 : 0;
    if (sd_event_source_set_time_relative(c->timer, (uint64_t)ms * 1000) < 0)
        return -1;
    return sd_event_source_set_enabled(c->timer, SD_EVENT_ONESHOT) < 0 ? -1 : 0;
}

int rm_curl_new(sd_event *event, rm_curl_done done, struct rm_curl **ret)
{
    struct rm_curl *c = calloc(1, sizeof(*c));
    int r;

    if (!c)
        return -ENOMEM;
    c->event = sd_event_ref(event);
    c->done = done;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !(c->multi = curl_multi_init())) {
        (void)rm_curl_free(c);
        return -ENOMEM;
    }
    r = sd_event_add_time_relative(event, &c->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, c);
    if (r >= 0)
        r = sd_event_source_set_enabled(c->timer, SD_EVENT_OFF);
    if (r < 0) {
        (void)rm_curl_free(c);
        return r;
    }
    (void)curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, watch);
    (void)curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    (void)curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    (void)curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    *ret = c;
    return 0;
}

struct rm_curl *rm_curl_free(struct rm_curl *c)
{
    if (!c)
        return NULL;
    if (c->multi)
        (void)curl_multi_cleanup(c->multi);
    c->timer = sd_event_source_disable_unref(c->timer);
    c->event = sd_event_unref(c->event);
    free(c);
    return NULL;
}

int rm_curl_add(struct rm_curl *c, CURL *easy)
{
    return curl_multi_add_handle(c->multi, easy) == CURLM_OK ? 0 : -ENOMEM;
}

void rm_curl_remove(struct rm_curl *c, CURL *easy)
{
    (void)curl_multi_remove_handle(c->multi, easy);
}
