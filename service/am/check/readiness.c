/* See readiness.h. */
#include "service/am/check/readiness.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

#include "common/loop-guard.h"
#include "service/am/check/probe-http.h"
#include "service/am/check/probe-port.h"

#define SOON_MS 200  /* from one failed check to the next, at first; doubled up to the interval */
#define SPREAD_MS 50 /* first checks of containers that started together */
#define HOST_FIELDS 3

struct check {
    struct svc_checks *owner;
    struct yarn_container_id id;
    char key[YARN_ID_TEXT_MAX];
    struct svc_probe probe;
    char *url;
    char *texts[HOST_FIELDS]; /* ip, host, node */
    int64_t wait_ms;
    bool told, ready; /* the last result; whether there was one */
    bool waiting;     /* for a place among the open ones */
    sd_event_source *timer;
    struct svc_port_probe *port;
    struct svc_http_probe *http;
    struct check *prev, *next; /* of the waiting ones */
    UT_hash_handle hh;
};

struct svc_checks {
    sd_event *event;
    struct svc_checks_config cfg;
    struct svc_http_probes *http;
    struct check *table, *waiting;
    size_t open;
    bool serving; /* begin_waiting() runs */
};

static void begin(struct check *k);

static bool is_open(const struct check *k)
{
    return k->port || k->http;
}

/* A number of the container's, the same at each check: where in an interval it is done. */
static uint64_t phase(const struct check *k, uint64_t range_ms)
{
    return ((uint64_t)k->id.id * 2654435761u % 1000) * range_ms / 1000;
}

/* ---- Times ---- */

static int schedule(struct check *k, uint64_t ms)
{
    int r = sd_event_source_set_time_relative(k->timer, ms * 1000);

    return r < 0 ? r : sd_event_source_set_enabled(k->timer, SD_EVENT_ONESHOT);
}

static void begin_waiting(struct svc_checks *c)
{
    struct check *k;

    if (c->serving)
        return; /* below this function already */
    c->serving = true;
    while ((k = c->waiting) && c->open < SVC_CHECKS_OPEN) {
        DL_DELETE(c->waiting, k);
        k->waiting = false;
        begin(k);
    }
    c->serving = false;
}

/* The next check of a container that is ready is an interval later; of others soon, then later and
 * later. */
static uint64_t next_wait(struct check *k)
{
    int64_t interval = k->owner->cfg.interval_ms;

    if (k->ready) {
        k->wait_ms = SOON_MS;
        return (uint64_t)interval;
    }
    k->wait_ms = SV_MIN(k->wait_ms * 2, interval);
    return (uint64_t)k->wait_ms - phase(k, (uint64_t)k->wait_ms / 4);
}

/* Tells a result; the check may be gone afterwards. */
static void tell(struct check *k, bool ready, const char *why)
{
    struct svc_checks *c = k->owner;
    bool differs = !k->told || k->ready != ready;

    k->told = true;
    k->ready = ready;
    if (k->probe.type == SVC_READY_HTTP || k->probe.type == SVC_READY_PORT)
        (void)schedule(k, next_wait(k)); /* a timer that exists, ignoring */
    if (differs)
        c->cfg.report(k->id, ready, why, c->cfg.userdata);
    begin_waiting(c);
}

/* ---- Checks ---- */

static void on_port(int status, void *userdata)
{
    struct check *k = userdata;
    char why[128] = "";

    k->port = NULL;
    k->owner->open--;
    if (status < 0)
        (void)snprintf(why, sizeof(why), "port %lld: %s", (long long)k->probe.port,
                       strerror(-status));
    tell(k, status == 0, why);
}

static void on_http(int status, void *userdata)
{
    struct check *k = userdata;
    bool good = status >= k->probe.min_success && status <= k->probe.max_success;
    char why[256] = "";

    k->http = NULL;
    k->owner->open--;
    if (status < 0)
        (void)snprintf(why, sizeof(why), "%.128s: %s", k->probe.url, strerror(-status));
    else if (!good)
        (void)snprintf(why, sizeof(why), "%.128s: status %d, not %lld to %lld", k->probe.url,
                       status, (long long)k->probe.min_success, (long long)k->probe.max_success);
    tell(k, good, why);
}

static int start(struct check *k, const struct svc_probe_target *t, struct sv_error *err)
{
    struct svc_checks *c = k->owner;
    int r;

    if (k->probe.type == SVC_READY_PORT)
        r = svc_port_probe_start(c->event, t, k->probe.timeout_ms, on_port, k, &k->port);
    else if (!c->http && (r = svc_http_probes_new(c->event, &c->http, err)) < 0)
        return r;
    else
        r = svc_http_probe_start(c->http, t, k->probe.timeout_ms, on_http, k, &k->http);
    if (r < 0)
        return sv_error_errno(err, r, "readiness check");
    c->open++;
    return 0;
}

static void begin(struct check *k)
{
    const struct svc_probe_addresses a = { k->texts[0], k->texts[1], k->texts[2] };
    struct svc_probe_target target;
    struct sv_error err = { 0 };
    int r = svc_probe_aim(&k->probe, &a, &target, &err);

    if (r == 0)
        r = start(k, &target, &err);
    if (r < 0)
        tell(k, false, err.text);
}

/* A check without a connection: DEFAULT needs an address alone, by which the node says that the
 * container runs. */
static bool is_default(const struct check *k)
{
    return k->probe.type == SVC_READY_NONE || k->probe.type == SVC_READY_DEFAULT;
}

static int on_time(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct check *k = userdata;
    struct svc_checks *c = k->owner;

    (void)s;
    (void)usec;
    if (is_default(k)) {
        if (k->probe.type == SVC_READY_NONE || *k->texts[0])
            tell(k, true, "");
    } else if (c->open >= SVC_CHECKS_OPEN) {
        k->waiting = true;
        DL_APPEND(c->waiting, k);
    } else {
        begin(k);
    }
    return 0;
}

/* ---- The table ---- */

static struct check *find(const struct svc_checks *c, struct yarn_container_id id)
{
    char key[YARN_ID_TEXT_MAX];
    struct check *k;

    yarn_container_id_text(id, key);
    HASH_FIND_STR(c->table, key, k);
    return k;
}

static void free_check(struct svc_checks *c, struct check *k)
{
    if (is_open(k))
        c->open--;
    if (k->waiting)
        DL_DELETE(c->waiting, k);
    svc_port_probe_free(k->port);
    svc_http_probe_free(k->http);
    sd_event_source_disable_unref(k->timer);
    for (size_t i = 0; i < HOST_FIELDS; i++)
        free(k->texts[i]);
    free(k->url);
    free(k);
}

static int set_addresses(struct check *k, const struct svc_probe_addresses *a)
{
    const char *from[HOST_FIELDS] = { a->ip, a->host, a->node };

    for (size_t i = 0; i < HOST_FIELDS; i++) {
        char *copy = strdup(from[i] ? from[i] : "");

        if (!copy)
            return -ENOMEM;
        free(k->texts[i]);
        k->texts[i] = copy;
    }
    return 0;
}

int svc_checks_add(struct svc_checks *c, struct yarn_container_id id, const struct svc_probe *probe,
                   const struct svc_probe_addresses *a)
{
    struct check *k;
    int r;

    svc_checks_remove(c, id);
    k = calloc(1, sizeof(*k));
    if (!k)
        return -ENOMEM;
    k->owner = c;
    k->id = id;
    k->probe = *probe;
    k->wait_ms = SOON_MS / 2;
    yarn_container_id_text(id, k->key);
    k->probe.url = k->url = strdup(probe->url ? probe->url : "");
    k->probe.dns_address = "";
    r = k->url ? set_addresses(k, a) : -ENOMEM;
    if (r == 0)
        r = sd_event_add_time_relative(c->event, &k->timer, CLOCK_MONOTONIC,
                                       is_default(k) ? 0 : phase(k, SPREAD_MS) * 1000, 10000,
                                       on_time, k);
    if (r < 0) {
        free_check(c, k);
        return r;
    }
    HASH_ADD_STR(c->table, key, k);
    return 0;
}

void svc_checks_delay(struct svc_checks *c, struct yarn_container_id id, int64_t ms)
{
    struct check *k = find(c, id);

    if (k && (k->probe.type == SVC_READY_HTTP || k->probe.type == SVC_READY_PORT))
        (void)schedule(k, (uint64_t)ms); /* a timer that exists, ignoring */
}

int svc_checks_address(struct svc_checks *c, struct yarn_container_id id,
                       const struct svc_probe_addresses *a)
{
    struct check *k = find(c, id);
    int r = k ? set_addresses(k, a) : 0;

    if (k && r == 0 && is_default(k))
        (void)schedule(k, 0); /* a timer that exists, ignoring */
    return r;
}

void svc_checks_remove(struct svc_checks *c, struct yarn_container_id id)
{
    struct check *k = find(c, id);

    if (!k)
        return;
    HASH_DEL(c->table, k);
    free_check(c, k);
    begin_waiting(c);
}

size_t svc_checks_open(const struct svc_checks *c)
{
    return c->open;
}

/* ---- Life ---- */

int svc_checks_new(sd_event *event, const struct svc_checks_config *cfg, struct svc_checks **ret,
                   struct sv_error *err)
{
    struct svc_checks *c = calloc(1, sizeof(*c));
    int r = 0;

    if (!c)
        return sv_error_errno(err, -ENOMEM, "readiness checks");
    c->event = sd_event_ref(event);
    c->cfg = *cfg;
    if (cfg->http)
        r = svc_http_probes_new(event, &c->http, err);
    if (r < 0) {
        svc_checks_free(c);
        return r;
    }
    *ret = c;
    return 0;
}

struct svc_checks *svc_checks_free(struct svc_checks *c)
{
    struct check *k, *next;

    if (!c)
        return NULL;
    HASH_ITER (hh, c->table, k, next) {
        HASH_DEL(c->table, k);
        free_check(c, k);
    }
    svc_http_probes_free(c->http);
    sd_event_unref(c->event);
    free(c);
    return NULL;
}
