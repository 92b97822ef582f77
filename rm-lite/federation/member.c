/* Registration, heartbeats and departure. See member.h. */
#include "rm-lite/federation/member.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/loop-guard.h"
#include "common/str.h"
#include "federation/store/member-epoch.h"
#include "rm-lite/federation/member-internal.h"

#define AWAY_MS 10000        /* between heartbeats to a store that is away */
#define BACKOFF_MAX_MS 60000 /* between attempts to register */
#define ACCURACY_US 10000
#define GOODBYE_US 3000000 /* for the departure of a daemon that is stopped */

static void step(struct rm_member *m);

static int on_timer(sd_event_source *s, uint64_t usec, void *userdata)
{
    SV_LOOP_HANDLER();
    (void)s;
    (void)usec;
    step(userdata);
    return 0;
}

static void step_in(struct rm_member *m, int64_t ms)
{
    int r = sd_event_source_set_time_relative(m->timer, (uint64_t)ms * 1000);

    if (r >= 0)
        r = sd_event_source_set_enabled(m->timer, SD_EVENT_ONESHOT);
    if (r < 0)
        sv_log_err("federation: timer: %s", strerror(-r));
}

/* The store is away, or refuses this member for good. */
static void not_registered(struct rm_member *m, const struct fed_answer *a)
{
    const struct rm_conf *c = &m->rm->conf;
    int64_t wait = c->fed_sleep_ms;

    if (fed_error_away(a->error) && m->attempts < c->fed_retries) {
        for (int64_t i = 0; i < m->attempts && wait < BACKOFF_MAX_MS; i++)
            wait *= 2;
        wait = SV_MIN(wait, BACKOFF_MAX_MS);
        m->attempts++;
        sv_log_warning("federation: %s: %s; trying again in %lld ms (%lld of %lld)",
                       fed_store_text(m->store), a->reason, (long long)wait, (long long)m->attempts,
                       (long long)c->fed_retries);
        step_in(m, wait);
        return;
    }
    sv_log_err("federation: %s: %s; this ResourceManager is no member and ends: mend the state "
               "store, or set yarn.federation.enabled to false",
               fed_store_text(m->store), a->reason);
    (void)sd_event_exit(m->rm->event, a->error); /* the loop runs, ignoring */
}

/* ---- Epochs of the others ---- */

/* Members that are to come look at this one's. */
static void on_others(const struct fed_answer *a, void *userdata)
{
    struct rm_member *m = userdata;
    const struct rm *rm = m->rm;

    for (size_t i = 0; a->error == 0 && i < a->n; i++)
        if (fed_state_active(a->members[i].state) &&
            !sv_streq(a->members[i].id, rm->conf.cluster_id) &&
            fed_member_epoch(a->members[i].capability) == rm->epoch)
            sv_log_err("federation: %s has epoch %lld, too: containers that one application has "
                       "there and here get equal ids; set another yarn.resourcemanager.epoch on "
                       "one of them and restart it",
                       a->members[i].id, (long long)rm->epoch);
}

/* ---- Registration and heartbeats ---- */

static void on_registered(const struct fed_answer *a, void *userdata)
{
    struct rm_member *m = userdata;

    m->call = 0;
    if (a->error == -ECANCELED)
        return;
    if (a->error < 0) {
        not_registered(m, a);
        return;
    }
    m->registered = true;
    m->attempts = 0;
    sv_log_notice("federation: registered as %s in %s, epoch %lld", m->rm->conf.cluster_id,
                  fed_store_text(m->store), (long long)m->rm->epoch);
    if (fed_store_call(m->store, &(struct fed_request){ .op = FED_MEMBER_LIST }, on_others, m,
                       NULL) < 0)
        sv_log_warning("federation: epochs of other members are not compared: out of memory");
    step_in(m, m->rm->conf.fed_initial_ms);
}

static void on_checked(const struct fed_answer *a, void *userdata)
{
    struct rm_member *m = userdata;

    m->call = 0;
    if (a->error == -ECANCELED)
        return;
    if (a->error < 0) {
        not_registered(m, a);
        return;
    }
    m->checked = true;
    step(m);
}

static void on_heartbeat(const struct fed_answer *a, void *userdata)
{
    struct rm_member *m = userdata;
    const struct rm_conf *c = &m->rm->conf;

    m->call = 0;
    if (a->error == -ECANCELED)
        return;
    if (a->error == -ENOENT) {
        sv_log_warning("federation: %s has no row of %s any more: registering again",
                       fed_store_text(m->store), c->cluster_id);
        m->registered = false;
        step(m);
        return;
    }
    if (a->error < 0 && !m->away)
        sv_log_warning("federation: %s: %s; scheduling continues, and routers miss this member's "
                       "heartbeats until the state store is back",
                       fed_store_text(m->store), a->reason);
    if (a->error >= 0 && m->away)
        sv_log_notice("federation: %s is back", fed_store_text(m->store));
    m->away = a->error < 0;
    step_in(m, m->away ? SV_MIN(c->fed_interval_ms, AWAY_MS) : c->fed_interval_ms);
    rm_homes_run(m);
}

static int heartbeat(struct rm_member *m)
{
    _cleanup_free_ char *figures = m->figures(m->rm);

    if (!figures)
        return -ENOMEM;
    return fed_store_call(m->store,
                          &(struct fed_request){ .op = FED_MEMBER_HEARTBEAT,
                                                 .member = { .id = m->rm->conf.cluster_id,
                                                             .state = FED_RUNNING,
                                                             .capability = figures } },
                          on_heartbeat, m, &m->call);
}

static int join(struct rm_member *m)
{
    return fed_store_call(m->store,
                          &(struct fed_request){ .op = FED_MEMBER_REGISTER,
                                                 .member = { .id = m->rm->conf.cluster_id,
                                                             .am = m->am,
                                                             .client = m->client,
                                                             .admin = m->admin,
                                                             .web = m->web,
                                                             .state = FED_NEW,
                                                             .last_start_ms = m->rm->started_ms,
                                                             .capability = "" } },
                          on_registered, m, &m->call);
}

static void step(struct rm_member *m)
{
    int r;

    if (!m->checked)
        r = fed_store_call(m->store, &(struct fed_request){ .op = FED_VERSION_CHECK }, on_checked,
                           m, &m->call);
    else if (!m->registered)
        r = join(m);
    else
        r = heartbeat(m);
    if (r < 0) { /* no memory: later */
        m->call = 0;
        step_in(m, AWAY_MS);
    }
}

int rm_member_check(const struct rm_conf *c, struct sv_error *err)
{
    if (!c->federation)
        return 0;
    if (!c->cluster_id || !*c->cluster_id)
        return sv_error_set(err, -EINVAL,
                            "yarn.federation.enabled: yarn.resourcemanager.cluster-id is not set; "
                            "set it to the name of this cluster in the federation");
    if (strlen(c->cluster_id) > FED_NAME_MAX)
        return sv_error_set(err, -EINVAL,
                            "yarn.resourcemanager.cluster-id: %.64s… has %zu bytes; a member's "
                            "name has at most %d",
                            c->cluster_id, strlen(c->cluster_id), FED_NAME_MAX);
    if (c->am_expiry_ms <= c->nm_expiry_ms)
        return sv_error_set(
            err, -EINVAL,
            "yarn.am.liveness-monitor.expiry-interval-ms: %lld is not more than "
            "yarn.nm.liveness-monitor.expiry-interval-ms, %lld: with yarn.federation.enabled a "
            "master whose node is lost would lose its containers on other members before it is "
            "started again; set it to 900000",
            (long long)c->am_expiry_ms, (long long)c->nm_expiry_ms);
    return 0;
}

static int addresses(struct rm_member *m, struct sv_error *err)
{
    const struct rm *rm = m->rm;
    const struct {
        const struct rm_address *a;
        uint16_t port;
        char *buf;
    } all[] = {
        { &rm->conf.scheduler, rm->am_port, m->am },
        { &rm->conf.client, rm->client_port, m->client },
        { &rm->conf.admin, rm->admin_port, m->admin },
        { &rm->conf.web, rm->web_port, m->web },
    };

    for (size_t i = 0; i < SV_ARRAY_LEN(all); i++) {
        int r = rm_member_address(all[i].a, all[i].port, all[i].buf, FED_NAME_MAX + 1, err);

        if (r < 0)
            return r;
    }
    return 0;
}

int rm_member_start_on(struct rm *rm, struct fed_store *store, rm_member_figures figures,
                       struct sv_error *err)
{
    struct rm_member *m = calloc(1, sizeof(*m));
    int r;

    if (!m) {
        fed_store_free(store);
        return -ENOMEM;
    }
    *m = (struct rm_member){ .rm = rm, .store = store, .figures = figures };
    rm->member = m;
    rm->fed_store = store;
    r = addresses(m, err);
    if (r >= 0 && (r = sd_event_add_time_relative(rm->event, &m->timer, CLOCK_MONOTONIC, 0,
                                                  ACCURACY_US, on_timer, m)) < 0)
        r = sv_error_errno(err, r, "federation: timer");
    if (r < 0)
        rm_member_stop(rm);
    return r;
}

int rm_member_start(struct rm *rm, rm_member_figures figures, struct sv_error *err)
{
    struct fed_store *store = NULL;
    int r;

    if (!rm->conf.federation)
        return 0;
    r = fed_store_open(rm->event, rm->xml, &store, err);
    return r < 0 ? r : rm_member_start_on(rm, store, figures, err);
}

static void on_left(const struct fed_answer *a, void *userdata)
{
    int *result = userdata;

    *result = a->error;
    if (a->error < 0 && a->error != -ECANCELED)
        sv_log_warning("federation: not deregistered: %s", a->reason);
}

/* On a loop of its own: that of the daemon has ended. */
static void leave(struct rm *rm)
{
    const struct fed_request q = { .op = FED_MEMBER_DEREGISTER,
                                   .member = { .id = rm->conf.cluster_id,
                                               .state = FED_UNREGISTERED } };
    struct fed_store *store = NULL;
    uint64_t start_us, now_us;
    struct sv_error err = { 0 };
    sd_event *event = NULL;
    int result = 1, r = sd_event_new(&event);

    if (r >= 0)
        r = fed_store_open(event, rm->xml, &store, &err);
    if (r >= 0)
        r = fed_store_call(store, &q, on_left, &result, NULL);
    if (r >= 0)
        r = sd_event_now(event, CLOCK_MONOTONIC, &start_us);
    for (now_us = start_us = r >= 0 ? start_us : 0;
         r >= 0 && result > 0 && now_us < start_us + GOODBYE_US;) {
        r = sd_event_run(event, start_us + GOODBYE_US - now_us);
        if (r >= 0)
            r = sd_event_now(event, CLOCK_MONOTONIC, &now_us);
    }
    if (r < 0 || result > 0)
        sv_log_warning("federation: not deregistered: %s", err.text[0] ? err.text
                                                           : r < 0     ? strerror(-r)
                                                                       : "no answer within 3 s");
    fed_store_free(store);
    sd_event_unref(event);
}

void rm_member_stop(struct rm *rm)
{
    struct rm_member *m = rm->member;
    bool registered;

    if (!m)
        return;
    registered = m->registered;
    rm->member = NULL;
    rm->fed_store = NULL; /* before its calls end, whose callers would make others */
    m->store = fed_store_free(m->store);
    sd_event_source_disable_unref(m->timer);
    rm_homes_free(m);
    free(m);
    if (registered)
        leave(rm);
}

void rm_member_forget(struct rm *rm, struct yarn_app_id id)
{
    if (!rm->member)
        return;
    rm_homes_push(rm->member, id);
    rm_homes_run(rm->member);
}
