/* See known-hosts.h. */
#include "rm-lite/security/known-hosts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/log.h"
#include "common/loop-guard.h"

#define LOOK_UP_AGAIN_US ((uint64_t)300 * 1000000)
#define ONE_LOOK_UP_US ((uint64_t)1000)

struct host {
    struct hdfs_server name;
    struct ipc_addresses addresses;
};

struct rm_known_hosts {
    sd_event *event;
    const char *what;
    struct host *v; /* [n] */
    size_t n, at;   /* `at`: the next one to look up */
    bool looked_up; /* all, once */
    struct ipc_resolve *resolve;
    sd_event_source *timer;
};

static void look_up_later(struct rm_known_hosts *k, uint64_t in_us)
{
    int r = sd_event_source_set_time_relative(k->timer, in_us);

    if (r >= 0)
        r = sd_event_source_set_enabled(k->timer, SD_EVENT_ONESHOT);
    if (r < 0)
        sv_log_warning("addresses of %ss: timer: %s", k->what, strerror(-r));
}

static void on_resolved(int status, const struct ipc_addresses *list, void *userdata)
{
    struct rm_known_hosts *k = userdata;

    k->resolve = ipc_resolve_free(k->resolve);
    if (status == 0)
        k->v[k->at].addresses = *list;
    else
        sv_log_warning("%s %s: its name has no address", k->what, k->v[k->at].name.host);
    k->at++;
    look_up_later(k, ONE_LOOK_UP_US);
}

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct rm_known_hosts *k = userdata;
    const struct hdfs_server *name;

    (void)s;
    (void)usec;
    if (k->at >= k->n) {
        k->looked_up = true;
        k->at = 0;
        look_up_later(k, LOOK_UP_AGAIN_US);
        return 0;
    }
    name = &k->v[k->at].name;
    if (ipc_resolve_start(k->event, name->host, name->port, on_resolved, k, &k->resolve) < 0) {
        k->at++;
        look_up_later(k, ONE_LOOK_UP_US);
    }
    return 0;
}

static bool has_address(const struct host *h, const struct in6_addr *ip)
{
    for (size_t i = 0; i < h->addresses.n; i++) {
        const struct in6_addr has = ipc_address_ip(&h->addresses.sa[i]);

        if (memcmp(&has, ip, sizeof(has)) == 0)
            return true;
    }
    return false;
}

int rm_known_hosts_find(const struct rm_known_hosts *k, const struct hdfs_server *at,
                        const struct hdfs_server **ret)
{
    struct ipc_addresses numeric;
    bool is_ip = ipc_resolve_numeric(at->host, at->port, &numeric);
    const struct in6_addr ip = is_ip ? ipc_address_ip(&numeric.sa[0]) : (struct in6_addr){ 0 };

    for (size_t i = 0; i < k->n; i++) {
        const struct host *h = &k->v[i];

        if (h->name.port == at->port &&
            (strcasecmp(h->name.host, at->host) == 0 || (is_ip && has_address(h, &ip)))) {
            *ret = &h->name;
            return 0;
        }
    }
    return is_ip && !k->looked_up ? -EAGAIN : -ENOENT;
}

int rm_known_hosts_addresses(const struct rm_known_hosts *k, const struct hdfs_server *at,
                             const struct ipc_addresses **ret)
{
    for (size_t i = 0; i < k->n; i++)
        if (k->v[i].name.port == at->port && strcasecmp(k->v[i].name.host, at->host) == 0 &&
            k->v[i].addresses.n > 0) {
            *ret = &k->v[i].addresses;
            return 0;
        }
    return k->looked_up ? -EHOSTUNREACH : -EAGAIN;
}

int rm_known_hosts_new(sd_event *event, const char *what, const struct hdfs_server *servers,
                       size_t n, struct rm_known_hosts **ret)
{
    struct rm_known_hosts *k = calloc(1, sizeof(*k));
    int r;

    if (!k)
        return -ENOMEM;
    k->event = event;
    k->what = what;
    k->v = calloc(n + 1, sizeof(*k->v));
    k->n = k->v ? n : 0;
    for (size_t i = 0; i < k->n; i++)
        k->v[i].name = servers[i];
    r = k->v ? sd_event_add_time_relative(event, &k->timer, CLOCK_MONOTONIC, 0, 0, on_timer, k)
             : -ENOMEM;
    if (r < 0) {
        rm_known_hosts_free(k);
        return r;
    }
    *ret = k;
    return 0;
}

struct rm_known_hosts *rm_known_hosts_free(struct rm_known_hosts *k)
{
    if (!k)
        return NULL;
    sd_event_source_disable_unref(k->timer);
    ipc_resolve_free(k->resolve);
    free(k->v);
    free(k);
    return NULL;
}
