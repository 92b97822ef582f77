/* See home.h. */
#include "nodemanager/amrmproxy/home.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/log.h"
#include "common/loop-guard.h"
#include "federation/cache.h"

#define AWAY_US 10000000 /* between looks at a store that is away */

struct question {
    struct nm_amrm_home *h;
    struct yarn_app_id app;
    nm_amrm_home_done done;
    void *userdata;
    uint64_t wait;
    sd_event_source *limit;
    struct question *prev, *next;
};

struct nm_amrm_home {
    sd_event *event;
    struct fed_policy_conf policy;
    struct fed_store *store;
    struct fed_cache *cache;
    sd_event_source *check;
    bool away;
    void (*unusable)(const char *why, void *userdata);
    void *userdata;
    struct question *open; /* utlist */
};

/* ---- The store at the start ---- */

static void check_later(struct nm_amrm_home *h, uint64_t usec)
{
    (void)sd_event_source_set_time_relative(h->check, usec);
    (void)sd_event_source_set_enabled(h->check, SD_EVENT_ONESHOT); /* ours, ignoring */
}

static void on_version(const struct fed_answer *a, void *userdata)
{
    struct nm_amrm_home *h = userdata;
    char why[SV_ERROR_TEXT_MAX];

    if (a->error == -ECANCELED)
        return;
    if (a->error >= 0) {
        if (h->away)
            sv_log_notice("%s: it is back", fed_store_text(h->store));
        h->away = false;
        return;
    }
    if (!fed_error_away(a->error) && a->error != -ENOMEM) {
        (void)snprintf(why, sizeof(why), "%s: %s", fed_store_text(h->store), a->reason);
        h->unusable(why, h->userdata);
        return;
    }
    if (!h->away)
        sv_log_warning("%s: %s; ApplicationMasters do not start here until it is back",
                       fed_store_text(h->store), a->reason);
    h->away = true;
    check_later(h, AWAY_US);
}

static int on_check(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct nm_amrm_home *h = userdata;

    (void)s;
    (void)usec;
    if (fed_store_call(h->store, &(struct fed_request){ .op = FED_VERSION_CHECK }, on_version, h,
                       NULL) < 0)
        check_later(h, AWAY_US);
    return 0;
}

/* ---- Questions ---- */

static void finish(struct question *q, int known, const char *why)
{
    nm_amrm_home_done done = q->done;
    void *userdata = q->userdata;

    DL_DELETE(q->h->open, q);
    sd_event_source_disable_unref(q->limit);
    free(q);
    done(known, why, userdata);
}

static void on_home(const struct fed_answer *a, void *userdata)
{
    struct question *q = userdata;

    if (a->error == -ENOENT)
        finish(q, 0, "");
    else
        finish(q, a->error < 0 ? a->error : 1, a->reason);
}

static int on_limit(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    struct question *q = userdata;

    (void)s;
    (void)usec;
    (void)fed_cache_cancel(q->h->cache, q->wait); /* it is open */
    finish(q, -ETIMEDOUT, "it did not answer in time");
    return 0;
}

int nm_amrm_home_ask(struct nm_amrm_home *h, struct yarn_app_id app, nm_amrm_home_done done,
                     void *userdata)
{
    const struct fed_request request = { .op = FED_HOME_GET, .home = { .app = app } };
    struct question *q = calloc(1, sizeof(*q));
    int r;

    if (!q)
        return -ENOMEM;
    *q = (struct question){ .h = h, .app = app, .done = done, .userdata = userdata };
    DL_APPEND(h->open, q);
    r = sd_event_add_time_relative(h->event, &q->limit, CLOCK_BOOTTIME,
                                   (uint64_t)NM_AMRM_HOME_MS * 1000, 0, on_limit, q);
    if (r >= 0)
        r = fed_cache_get(h->cache, &request, on_home, q, &q->wait);
    if (r >= 0)
        return 0;
    DL_DELETE(h->open, q);
    sd_event_source_disable_unref(q->limit);
    free(q);
    return -ENOMEM;
}

/* ---- Life ---- */

static int make(struct nm_amrm_home *h, struct sv_conf *conf, struct sv_error *err)
{
    int r = fed_policy_conf_load(conf, FED_SIDE_PROXY, &h->policy, err);

    if (r >= 0)
        r = fed_store_open(h->event, conf, &h->store, err);
    if (r < 0)
        return r;
    h->cache = fed_cache_new(h->store, h->policy.cache_ttl_ms, h->policy.cache_entries);
    r = h->cache
            ? sd_event_add_time_relative(h->event, &h->check, CLOCK_BOOTTIME, 0, 0, on_check, h)
            : -ENOMEM;
    return r < 0 ? sv_error_errno(err, r, "federation") : 0;
}

int nm_amrm_home_new(sd_event *event, struct sv_conf *conf,
                     void (*unusable)(const char *why, void *userdata), void *userdata,
                     struct nm_amrm_home **ret, struct sv_error *err)
{
    struct nm_amrm_home *h = calloc(1, sizeof(*h));
    int r;

    if (!h)
        return sv_error_errno(err, -ENOMEM, "federation");
    *h = (struct nm_amrm_home){ .event = event, .unusable = unusable, .userdata = userdata };
    r = make(h, conf, err);
    if (r < 0) {
        nm_amrm_home_free(h);
        return r;
    }
    *ret = h;
    return 0;
}

struct nm_amrm_home *nm_amrm_home_free(struct nm_amrm_home *h)
{
    if (!h)
        return NULL;
    h->cache = fed_cache_free(h->cache); /* ends the questions */
    h->store = fed_store_free(h->store);
    sd_event_source_disable_unref(h->check);
    fed_policy_conf_clear(&h->policy);
    free(h);
    return NULL;
}

struct fed_cache *nm_amrm_home_cache(const struct nm_amrm_home *h)
{
    return h->cache;
}

const struct fed_policy_conf *nm_amrm_home_policy(const struct nm_amrm_home *h)
{
    return &h->policy;
}
